//! Text of strangers, made safe to print. Drivers, compilers and shells write what stands in a record.

/// The text with control characters spelled out, so that nothing in it can move the cursor, break a line or turn the
/// direction of what follows.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => safe.extend(c.escape_default()),
            // Line and paragraph separators, and the characters that override the direction of writing.
            '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                safe.extend(c.escape_unicode());
            }
            c if c.is_control() => safe.extend(c.escape_unicode()),
            c => safe.push(c),
        }
    }
    safe
}

/// The text with control characters [spelled out](escape), but with its line breaks.
pub fn escape_lines(text: &str) -> String {
    text.split('\n').map(escape).collect::<Vec<_>>().join("\n")
}

/// The text as Markdown that shows it literally, in a table as elsewhere.
pub(super) fn markdown(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in escape(text).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' | '#' => safe.extend(['\\', c]),
            c => safe.push(c),
        }
    }
    safe
}

/// A command line as one would type it into a POSIX shell.
pub(super) fn command(arguments: &[String]) -> String {
    let simple = |c: char| c.is_alphanumeric() || "@%+=:,./\\_-".contains(c);
    let quoted = arguments.iter().map(|argument| {
        if !argument.is_empty() && argument.chars().all(simple) {
            argument.clone()
        } else {
            format!("'{}'", argument.replace('\'', r"'\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_spelled_out() {
        assert_eq!(escape("a\u{1b}[31mb\nc\td\u{7f}\u{9b}\u{202e}é×"), r"a\u{1b}[31mb\nc\td\u{7f}\u{9b}\u{202e}é×");
    }

    #[test]
    fn lines_stay_lines() {
        assert_eq!(escape_lines("a\n\tb\r\n"), "a\n\\tb\\r\n");
    }

    #[test]
    fn markup_is_shown_literally() {
        assert_eq!(markdown("<b>|a*b_c`[x](y)\\|&"), r"&lt;b&gt;\|a\*b\_c\`\[x\](y)\\\|&amp;");
    }

    #[test]
    fn arguments_that_a_shell_would_split_are_quoted() {
        let arguments = ["cornerturn", "bench", "a b", "", "it's"].map(String::from);
        assert_eq!(command(&arguments), r"cornerturn bench 'a b' '' 'it'\''s'");
    }
}
