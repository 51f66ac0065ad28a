//! Directives at the beginning of a source.

use std::borrow::Cow;

/// An extension that naga has without knowing its name.
const SUBGROUPS: &str = "subgroups";

/// The source with spaces in place of `enable subgroups`: naga has subgroup operations, but not the extension that WGSL
/// has them in. All else stays where it is.
pub(super) fn without_subgroups(source: &str) -> Cow<'_, str> {
    let mut blanked: Option<String> = None;
    let mut at = 0;
    loop {
        at += blank(&source[at..]);
        let rest = &source[at..];
        let Some(end) = rest.find(';').filter(|_| is_directive(rest)) else { break };
        let directive = &rest[..=end];
        if let Some(kept) = without(directive) {
            blanked.get_or_insert_with(|| source.to_owned()).replace_range(at..at + directive.len(), &kept);
        }
        at += directive.len();
    }
    blanked.map_or(Cow::Borrowed(source), Cow::Owned)
}

/// The first line, and its number, that looks like one of a preprocessor's, a module's or a template's, which naga does
/// not take.
pub(super) fn unexpanded(source: &str) -> Option<(usize, &str)> {
    let is_foreign = |line: &str| {
        let rest = line.strip_prefix('#');
        rest.is_some_and(|rest| rest.trim_start().starts_with(|c: char| c.is_ascii_lowercase()))
            || ["import ", "use "].iter().any(|word| line.starts_with(word))
            || ["{{", "{%", "${"].iter().any(|mark| line.contains(mark))
    };
    let lines = source.lines().map(str::trim).zip(1..);
    lines.map(|(line, number)| (number, line)).find(|(_, line)| !line.starts_with("//") && is_foreign(line))
}

fn is_directive(text: &str) -> bool {
    ["enable", "requires", "diagnostic"].iter().any(|word| text.starts_with(word))
}

/// The directive without the extension, of the same length; `None` if it does not name it.
fn without(directive: &str) -> Option<String> {
    let list = directive.strip_prefix("enable")?.strip_suffix(';')?;
    if !list.starts_with(char::is_whitespace) {
        return None;
    }
    let names: Vec<&str> = list.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let kept: Vec<&str> = names.iter().copied().filter(|name| *name != SUBGROUPS).collect();
    if kept.len() == names.len() {
        return None;
    }
    let text = if kept.is_empty() { String::new() } else { format!("enable {};", kept.join(",")) };
    // Newlines keep their places, for the numbers of lines.
    let rest = directive.get(text.len()..)?;
    Some(
        text + &rest
            .chars()
            .map(|c| if c == '\n' { "\n".into() } else { " ".repeat(c.len_utf8()) })
            .collect::<String>(),
    )
}

/// The bytes of the source that are in no comment.
pub(super) fn without_comments(source: &str) -> impl Iterator<Item = u8> {
    let mut rest = source;
    std::iter::from_fn(move || {
        while rest.starts_with("//") || rest.starts_with("/*") {
            rest = match rest.starts_with("/*") {
                true => &rest[block(rest)..],
                false => rest.find('\n').map_or("", |end| &rest[end..]),
            };
        }
        let first = rest.chars().next()?;
        rest = &rest[first.len_utf8()..];
        // No byte of a character beyond ASCII means anything to WGSL.
        Some(if first.is_ascii() { first as u8 } else { b' ' })
    })
}

/// Bytes of spaces and comments.
fn blank(text: &str) -> usize {
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.find('\n').map_or("", |end| &comment[end..]);
        } else if rest.starts_with("/*") {
            rest = &rest[block(rest)..];
        } else {
            return text.len() - rest.len();
        }
    }
}

/// Bytes of a block comment, in which others may be.
fn block(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while let Some(next) = text.get(at..).and_then(|rest| rest.find(['/', '*'])) {
        at += next;
        match text.as_bytes().get(at..at + 2) {
            Some(b"/*") => depth += 1,
            Some(b"*/") => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_wgsl_is_found() {
        assert_eq!(unexpanded("// #import a\nfn main() { }\nconst used = 1;"), None);
        for line in ["#import a::b", "# ifdef X", "use a.wgsl;", "import a::b;", "const n = {{ n }};", "let x = ${n};"]
        {
            assert_eq!(unexpanded(&format!("fn f() {{ }}\n  {line}")), Some((2, line)));
        }
    }

    #[test]
    fn only_the_extension_goes() {
        let same = |source: &str| assert_eq!(without_subgroups(source), source);
        same("");
        same("fn main() {}");
        same("enable f16;\nfn main() {}");
        same("// enable subgroups;\nfn f() {} enable subgroups;");
        same("enable subgroups");
        assert_eq!(without_subgroups("enable subgroups;\nx"), "                 \nx");
        let found = without_subgroups("/* a /* b */ */ enable f16 ,\nsubgroups; // c\nenable subgroups;");
        assert!(found.contains("enable f16;") && !found.contains("subgroups"), "{found}");
        assert_eq!(found.matches('\n').count(), 2);
    }
}
