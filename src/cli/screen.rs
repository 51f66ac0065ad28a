//! The terminal that tables go to.

use std::env;

use console::Term;

use crate::report::Screen;

/// What standard output is, if it is a terminal.
pub fn screen() -> Option<Screen> {
    let terminal = Term::stdout();
    if !terminal.features().is_attended() {
        return None;
    }
    let (_, columns) = terminal.size_checked()?;
    let variable = |name: &str| env::var(name).ok();
    Some(Screen {
        columns: columns.into(),
        // Whether it shows them is asked of the terminal itself, which `CLICOLOR_FORCE` would not do.
        colour: terminal.features().colors_supported() && wants_colour(variable),
        unicode: cfg!(windows) || is_utf8(variable),
    })
}

/// What the user says of colours: <https://no-color.org>, and `CLICOLOR=0`.
fn wants_colour(variable: impl Fn(&str) -> Option<String>) -> bool {
    variable("NO_COLOR").is_none_or(|value| value.is_empty()) && variable("CLICOLOR").is_none_or(|value| value != "0")
}

/// Whether the locale of characters is UTF-8: the first of these that is set says so.
fn is_utf8(variable: impl Fn(&str) -> Option<String>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(variable).find(|value| !value.is_empty());
    locale.is_some_and(|locale| {
        let locale = locale.to_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(set: &'static [(&str, &str)]) -> impl Fn(&str) -> Option<String> {
        |name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
    }

    #[test]
    fn colours_are_given_up_where_asked() {
        assert!(wants_colour(with(&[])));
        assert!(wants_colour(with(&[("NO_COLOR", ""), ("CLICOLOR", "1")])));
        assert!(!wants_colour(with(&[("NO_COLOR", "0")])));
        assert!(!wants_colour(with(&[("CLICOLOR", "0")])));
    }

    #[test]
    fn the_first_variable_that_is_set_names_the_locale() {
        assert!(is_utf8(with(&[("LANG", "de_DE.UTF-8")])));
        assert!(is_utf8(with(&[("LC_ALL", ""), ("LC_CTYPE", "C.utf8"), ("LANG", "C")])));
        assert!(!is_utf8(with(&[("LC_ALL", "C"), ("LANG", "en_GB.UTF-8")])));
        assert!(!is_utf8(with(&[])));
    }
}
