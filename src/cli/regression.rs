//! `--fail-on-regression`, of `cornerturn compare` and `cornerturn bench`.

use super::parse;
use crate::compare::{Comparison, Pair};
use crate::report;

/// The option.
#[derive(clap::Args, Clone, Copy)]
pub struct Gate {
    /// Exit with 1 if a row has lost more than so many percent of its bandwidth (5 if none is given), or runs no more
    #[arg(
        long, value_name = "PERCENT", num_args = 0..=1, require_equals = true, value_parser = parse::percent,
        default_missing_value = "5"
    )]
    pub(super) fail_on_regression: Option<f64>,
}

/// Rows that a message names; the table has them all.
const NAMED: usize = 3;

impl Gate {
    /// Whether it is given.
    pub fn is_set(self) -> bool {
        self.fail_on_regression.is_some()
    }

    /// Whether a comparison passes, as everything does where the option is not given.
    ///
    /// # Errors
    /// A sentence that says how many rows have regressed, and names the first of them.
    pub fn check(self, comparison: &Comparison) -> Result<(), String> {
        let Some(percent) = self.fail_on_regression else { return Ok(()) };
        let regressions: Vec<&Pair> = comparison.regressions(percent).collect();
        let count = regressions.len();
        if count == 0 {
            return Ok(());
        }
        let mut named: Vec<String> =
            regressions.iter().take(NAMED).map(|pair| report::told(pair, comparison)).collect();
        named.extend((count > NAMED).then(|| format!("and {} more", count - NAMED)));
        let rows = if count == 1 { "row has" } else { "rows have" };
        let named = named.join("; ");
        Err(format!("{count} {rows} lost more than {percent} % of the bandwidth, or run no more: {named}"))
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, Command, FromArgMatches};

    use super::*;
    use crate::compare::REGRESSION_PERCENT;

    #[test]
    fn the_default_is_that_of_the_library() {
        let command = Gate::augment_args(Command::new("compare"));
        let matches = command.try_get_matches_from(["compare", "--fail-on-regression"]).unwrap();
        assert_eq!(Gate::from_arg_matches(&matches).unwrap().fail_on_regression, Some(REGRESSION_PERCENT));
    }
}
