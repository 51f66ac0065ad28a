//! What holds a measurement back, derived from the [access model](crate::model) and the measured ratios.

use crate::kernel::{Kernel, Language, Walk};
use crate::model::{self, Sectors};
use crate::problem::Problem;
use crate::variant::Variant;

/// What was measured on a GPU, for the derivation to hold the model against.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The variant.
    pub variant: Variant,
    /// The problem.
    pub problem: &'a Problem,
    /// The language its kernel is written in there.
    pub language: Language,
    /// Percent of the copy ceiling that it reached.
    pub percent_of_copy: f64,
    /// Percent of the theoretical peak that the copy ceiling itself reached, where the peak is known.
    pub ceiling_percent_of_peak: Option<f64>,
}

/// At this percentage of the ceiling nothing but the memory holds a kernel back.
const AT_CEILING: f64 = 95.0;
/// A copy that reaches less than this percentage of the peak has too little to do.
const TOO_SMALL: f64 = 50.0;
/// Bytes that are enough to do for any GPU: those of some 50 µs at 5 TB/s.
const MUCH_BYTES: u64 = 256 << 20;

/// The limiter in a few words.
pub fn limiter(evidence: &Evidence) -> String {
    if let Some(percent) = evidence.ceiling_percent_of_peak.filter(|percent| *percent < TOO_SMALL) {
        let why = if evidence.problem.bytes_moved() < MUCH_BYTES {
            "too little work"
        } else {
            "no fast copy to compare with"
        };
        return format!("{why}: the copy ceiling itself is at {percent:.0} % of peak");
    }
    if evidence.percent_of_copy >= AT_CEILING {
        return "memory bandwidth".into();
    }
    match evidence.variant.spec().kernel {
        Some(kernel) => predicted(evidence, kernel)
            .unwrap_or_else(|| "latency or block order: no excess in the access model".into()),
        None => "not a kernel of ours: no model of its accesses".into(),
    }
}

/// The worst excess that the model predicts for the variant's accesses, if there is one.
fn predicted(evidence: &Evidence, kernel: Kernel) -> Option<String> {
    let (width, problem) = (evidence.problem.width(), evidence.problem);
    let geometry = (kernel.geometry)(width, evidence.language);
    let access = (kernel.access)(width);
    let word = u64::from(evidence.language.word_bytes(width));
    let bytes = width.bytes() as u64;
    let side = |walk: Walk, ld: u64| model::sectors(walk, ld * bytes, word);
    let uncoalesced = |what: &str, sectors: Sectors| {
        (sectors.efficiency() <= 0.5).then(|| {
            let Sectors { touched, ideal } = sectors;
            format!("uncoalesced {what}: {touched} sectors a request where {ideal} hold the data")
        })
    };
    uncoalesced("stores", side(access.store, problem.destination().ld))
        .or_else(|| uncoalesced("loads", side(access.load, problem.source().ld)))
        .or_else(|| {
            let tile = access.tile?;
            let bytes = u64::from(geometry.tile_element_bytes);
            let degree = |element: fn(u64) -> u64| model::bank_conflict_degree(|lane| element(lane) * bytes, bytes);
            let worst = degree(tile.store).max(degree(tile.load));
            (worst > 1).then(|| format!("{worst}-way shared-memory bank conflicts"))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Element;

    fn of(variant: Variant, element: Element, percent_of_copy: f64, ceiling: Option<f64>) -> String {
        let problem = Problem::new(4096, 4096, 1, element).unwrap();
        limiter(&Evidence {
            variant,
            problem: &problem,
            language: Language::Cuda,
            percent_of_copy,
            ceiling_percent_of_peak: ceiling,
        })
    }

    #[test]
    fn the_model_explains_the_ladder() {
        let naive = of(Variant::Naive, Element::F32, 13.0, Some(84.0));
        assert_eq!(naive, "uncoalesced stores: 32 sectors a request where 4 hold the data");
        assert_eq!(of(Variant::Tiled, Element::F32, 42.0, None), "32-way shared-memory bank conflicts");
        assert_eq!(of(Variant::Tiled, Element::U8, 42.0, None), "8-way shared-memory bank conflicts");
        assert!(of(Variant::Padded, Element::F32, 88.0, None).starts_with("latency"));
        assert_eq!(of(Variant::Copy, Element::F32, 100.0, Some(84.0)), "memory bandwidth");
        assert!(of(Variant::Memcpy, Element::F32, 21.0, Some(84.0)).starts_with("not a kernel of ours"));
    }

    #[test]
    fn measurement_overrules_the_model() {
        assert_eq!(of(Variant::Tiled, Element::F32, 99.0, Some(80.0)), "memory bandwidth");
        assert!(of(Variant::Naive, Element::F32, 99.0, Some(12.0)).starts_with("too little work"));
    }

    #[test]
    fn a_naive_store_down_a_narrow_matrix_is_not_called_uncoalesced() {
        let problem = Problem::new(1, 1 << 24, 1, Element::F32).unwrap();
        let evidence = Evidence {
            variant: Variant::Naive,
            problem: &problem,
            language: Language::Wgsl,
            percent_of_copy: 80.0,
            ceiling_percent_of_peak: None,
        };
        assert!(limiter(&evidence).starts_with("latency"));
    }
}
