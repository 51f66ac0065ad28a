//! Room to recurse: naga's parser and this interpreter call themselves for what is nested in a shader.

use std::thread;

use super::directives;
use super::error::TraceError;

/// Bytes of stack. They are address space: memory is taken as it is touched.
const STACK_BYTES: usize = 256 << 20;

/// Runs `work` with a stack that is large enough for whatever [`check`] lets pass.
///
/// # Errors
/// That of `work`, or one that says that it panicked or that there is no thread to run it.
pub(super) fn with_room<T: Send>(work: impl FnOnce() -> Result<T, TraceError> + Send) -> Result<T, TraceError> {
    thread::scope(|scope| {
        let spawned = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
        let failed = |message| TraceError::Failed { message };
        let thread = spawned.map_err(|error| failed(format!("no thread to run on: {error}")))?;
        thread.join().unwrap_or_else(|panic| {
            let message = panic.downcast_ref::<String>().cloned();
            let message = message.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Err(failed(message.unwrap_or_else(|| "it panicked".into())))
        })
    })
}

/// Operators in a row, those of what is nested included, and declarations of a module.
const MOST: u64 = 4_000;

/// Refuses what naga would need more stack for than there is: it descends into a sum of a thousand terms a thousand
/// times, and into declarations that need one another one by one.
///
/// # Errors
/// [`TraceError::TooLarge`].
pub(super) fn check(source: &str) -> Result<(), TraceError> {
    let (mut open, mut longest) = (vec![0u64], 0);
    let (mut chain, mut depth, mut declarations) = (0u64, 0u64, 0u64);
    for byte in directives::without_comments(source) {
        match byte {
            b'(' | b'[' => {
                open.push(1);
                chain += 1;
            }
            b')' | b']' => {
                chain -= open.pop().unwrap_or(0);
                // What comes after an index or a call may be another one.
                *last(&mut open) += 1;
                chain += 1;
            }
            b',' => {
                chain -= *last(&mut open);
                *last(&mut open) = 0;
            }
            b'{' | b'}' | b';' => {
                open = vec![0];
                chain = 0;
                match byte {
                    b'{' => depth += 1,
                    b'}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                declarations += u64::from(byte != b'{' && depth == 0);
            }
            b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^' | b'<' | b'>' | b'=' | b'!' | b'~' => {
                *last(&mut open) += 1;
                chain += 1;
            }
            _ => {}
        }
        longest = longest.max(chain);
    }
    let too_large = |what: &str, needed| TraceError::TooLarge { what: what.into(), needed, most: MOST };
    if longest > MOST {
        return Err(too_large("operators in one expression:", longest.into()));
    }
    if declarations > MOST {
        return Err(too_large("declarations:", declarations.into()));
    }
    Ok(())
}

/// The innermost of what is open.
fn last(open: &mut Vec<u64>) -> &mut u64 {
    if open.is_empty() {
        open.push(0);
    }
    let last = open.len() - 1;
    &mut open[last]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_very_long_is_refused() {
        let list = "1, -2, ".repeat(100_000);
        assert_eq!(check(&format!("const a = array({list}3);")), Ok(()));
        assert_eq!(check(&"a = b + c;\n".repeat(3_900)), Ok(()));
        let refused = |text: &str| matches!(check(text), Err(TraceError::TooLarge { needed: 4_001.., most: MOST, .. }));
        assert!(refused(&format!("a = {};", "1+".repeat(20_000))));
        assert!(refused(&format!("a = {};", "f(1, 2)+".repeat(20_000))));
        assert!(refused(&format!("a = b{};", "[0]".repeat(20_000))));
        assert!(refused(&"fn f() { }\n".repeat(20_000)));
        assert_eq!(check(")]}},,((("), Ok(()));
        let ruled = format!("// {0}\n/* {0} /* */ {0} */ fn f() {{ }}", "=".repeat(20_000));
        assert_eq!(check(&ruled), Ok(()));
        assert!(refused(&format!("a = 1 / {};", "2 / ".repeat(20_000))));
    }

    #[test]
    fn a_panic_is_an_error() {
        let failed = with_room(|| -> Result<(), TraceError> { Err(TraceError::Failed { message: "no".into() }) });
        assert_eq!(failed, Err(TraceError::Failed { message: "no".into() }));
        assert_eq!(with_room(|| Ok(5)), Ok(5));
    }
}
