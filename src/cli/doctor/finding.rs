//! What a check has found.

use crate::report::escape;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// As it should be, or of no consequence.
    Ok,
    /// Something is missing that not everything needs.
    Warn,
    /// Something does not work that should.
    Fail,
}

/// A line of the report, and below it what helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub level: Level,
    /// What was looked at.
    pub what: String,
    /// What was seen.
    pub seen: String,
    /// What to install or set; empty where nothing is to be done, or can be.
    pub remedy: String,
}

impl Finding {
    pub fn ok(what: impl Into<String>, seen: impl Into<String>) -> Finding {
        Finding { level: Level::Ok, what: what.into(), seen: seen.into(), remedy: String::new() }
    }

    pub fn warn(what: impl Into<String>, seen: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { level: Level::Warn, remedy: remedy.into(), ..Finding::ok(what, seen) }
    }

    pub fn fail(what: impl Into<String>, seen: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { level: Level::Fail, remedy: remedy.into(), ..Finding::ok(what, seen) }
    }
}

/// Findings as lines, the words of their levels coloured where that is wanted.
pub fn lines(findings: &[Finding], colour: bool) -> String {
    let width = findings.iter().map(|finding| finding.what.chars().count()).max().unwrap_or(0);
    let line = |finding: &Finding| {
        let (what, seen) = (escape(&finding.what), escape(&finding.seen));
        let mut line = format!("  {}  {what:<width$}  {seen}\n", word(finding.level, colour));
        if !finding.remedy.is_empty() {
            line += &format!("{:10}{:width$}-> {}\n", "", "", escape(&finding.remedy));
        }
        line
    };
    findings.iter().map(line).collect()
}

/// The word of a level, four columns wide.
fn word(level: Level, colour: bool) -> String {
    let (word, code) = match level {
        Level::Ok => ("ok  ", 32),
        Level::Warn => ("warn", 33),
        Level::Fail => ("fail", 31),
    };
    if colour { format!("\u{1b}[{code}m{word}\u{1b}[0m") } else { word.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_aligned_and_escaped() {
        let findings =
            [Finding::ok("a", "one"), Finding::fail("long", "two\u{1b}[2J", "do\nthis"), Finding::warn("b", "x", "")];
        let text = "  ok    a     one\n  fail  long  two\\u{1b}[2J\n              -> do\\nthis\n  warn  b     x\n";
        assert_eq!(lines(&findings, false), text);
        assert!(lines(&findings, true).starts_with("  \u{1b}[32mok  \u{1b}[0m  a     one\n"));
    }
}
