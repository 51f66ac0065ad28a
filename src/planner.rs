//! What `auto` stands for: the variant that the shape, the width and the device call for.
//!
//! The choice is a function of its arguments alone. Nothing is measured.

use crate::backend::Support;
use crate::problem::Problem;
use crate::variant::Variant;

/// The transposes, the fastest first as measured (docs/kernels.md); on a CPU those that it has.
const BY_SPEED: [Variant; 5] =
    [Variant::Vectorized, Variant::Swizzled, Variant::Padded, Variant::Tiled, Variant::Naive];

/// The variant to run for `variant`: another one only for [`Variant::Auto`].
///
/// `support` says what the device can run of the problem. Where it can run nothing, the first candidate is returned, so
/// that asking whether that is supported gives the reason.
pub fn choose(variant: Variant, problem: &Problem, support: impl Fn(Variant) -> Support) -> Variant {
    if variant != Variant::Auto {
        return variant;
    }
    let can = |candidate: &Variant| support(*candidate) == Support::Supported;
    candidates(problem).find(can).or_else(|| candidates(problem).next()).unwrap_or(Variant::Naive)
}

fn candidates(problem: &Problem) -> impl Iterator<Item = Variant> {
    // The transpose of a single row or column has its elements in the same order, and without gaps in the same places.
    let copy = (problem.is_packed() && (problem.rows() == 1 || problem.cols() == 1)).then_some(Variant::Copy);
    copy.into_iter().chain(BY_SPEED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Element;
    use crate::problem::Layout;

    fn chosen(rows: u64, cols: u64, missing: &[Variant]) -> Variant {
        let problem = Problem::new(rows, cols, 3, Element::F32).unwrap();
        choose(Variant::Auto, &problem, |variant| match missing.contains(&variant) {
            true => Support::Unsupported("missing".into()),
            false => Support::Supported,
        })
    }

    #[test]
    fn the_fastest_that_is_there() {
        assert_eq!(chosen(1000, 1000, &[]), Variant::Vectorized);
        assert_eq!(chosen(1000, 1000, &[Variant::Vectorized]), Variant::Swizzled);
        assert_eq!(chosen(1000, 1000, &[Variant::Vectorized, Variant::Swizzled, Variant::Padded]), Variant::Tiled);
        assert_eq!(chosen(1000, 1000, &BY_SPEED), Variant::Vectorized, "to say why not");
    }

    #[test]
    fn a_single_row_or_column_is_copied() {
        assert_eq!(chosen(1, 1000, &[]), Variant::Copy);
        assert_eq!(chosen(1000, 1, &[]), Variant::Copy);
        assert_eq!(chosen(1000, 1, &[Variant::Copy]), Variant::Vectorized);
    }

    #[test]
    fn a_column_with_gaps_is_not_copied() {
        let column = Problem::new(1000, 1, 1, Element::F32).unwrap();
        let spread = column.with_layouts(Layout { ld: 5, stride: 0 }, Layout::packed(1, 1000)).unwrap();
        assert_eq!(choose(Variant::Auto, &spread, |_| Support::Supported), Variant::Vectorized);
    }

    #[test]
    fn what_is_named_is_taken() {
        let problem = Problem::new(1, 5, 1, Element::U8).unwrap();
        assert_eq!(choose(Variant::Naive, &problem, |_| Support::Unsupported(String::new())), Variant::Naive);
    }
}
