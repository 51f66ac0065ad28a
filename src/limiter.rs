//! What holds a measurement back, derived from the [access model](crate::model) and the measured ratios.

use crate::kernel::Language;
use crate::problem::Problem;
use crate::variant::Variant;

/// What was measured on a GPU, for the derivation to hold the model against.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The variant.
    pub variant: Variant,
    /// The problem.
    pub problem: &'a Problem,
    /// In which it ran.
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
/// What is left where the accesses are as they should be.
const NO_EXCESS: &str = "latency or block order: no excess in the access model";

/// A kernel that uses less than this part of the bytes that it moves is uncoalesced.
#[cfg(feature = "explain")]
const UNCOALESCED: f64 = 0.5;
/// Conflicts that take fewer passes a request than this, in the mean, are not what holds a kernel back.
#[cfg(feature = "explain")]
const CONFLICTS: f64 = 1.5;

/// The limiter in a few words; `None` where it would take the tracer to tell, and this build leaves out the feature
/// `explain`.
pub fn limiter(evidence: &Evidence) -> Option<String> {
    Limiters::default().limiter(evidence)
}

/// Limiters of a run. A kernel accesses memory alike on all devices and with all settings, so that it is traced once for
/// each problem.
#[derive(Clone, Debug, Default)]
pub struct Limiters {
    #[cfg(feature = "explain")]
    traced: std::collections::HashMap<(Variant, Problem), Option<String>>,
}

impl Limiters {
    /// What [`limiter`] says.
    pub fn limiter(&mut self, evidence: &Evidence) -> Option<String> {
        if let Some(percent) = evidence.ceiling_percent_of_peak.filter(|percent| *percent < TOO_SMALL) {
            let why = if evidence.problem.bytes_moved() < MUCH_BYTES {
                "too little work"
            } else {
                "no fast copy to compare with"
            };
            return Some(format!("{why}: the copy ceiling itself is at {percent:.0} % of peak"));
        }
        if evidence.percent_of_copy >= AT_CEILING {
            return Some("memory bandwidth".into());
        }
        match evidence.variant.spec().kernel {
            Some(kernel) => {
                let excess = self.excess(evidence.variant, evidence.problem)?;
                let tiles = |language| (kernel.geometry)(evidence.problem.width(), language);
                let other = excess != NO_EXCESS && tiles(evidence.language) != tiles(Language::Wgsl);
                Some(if other { format!("{excess} in its WGSL twin, whose tiles are others") } else { excess })
            }
            None => Some("not a kernel of ours: no model of its accesses".into()),
        }
    }

    #[cfg(not(feature = "explain"))]
    fn excess(&self, _: Variant, _: &Problem) -> Option<String> {
        None
    }

    #[cfg(feature = "explain")]
    fn excess(&mut self, variant: Variant, problem: &Problem) -> Option<String> {
        self.traced.entry((variant, *problem)).or_insert_with(|| traced(variant, problem)).clone()
    }
}

/// The worst excess in the accesses of the kernel's WGSL, run on the problem by the [tracer](crate::trace), whose twins in
/// other languages access memory alike.
#[cfg(feature = "explain")]
fn traced(variant: Variant, problem: &Problem) -> Option<String> {
    use crate::trace::{self, Kind, Space};

    // What has no WGSL for the problem, such as one beyond its 32-bit indices, has no trace.
    let (shader, dispatch) = trace::kernel(variant, problem).ok()?;
    let report = trace::trace(&shader, &dispatch).ok()?.report;
    let uncoalesced = |what: &str, kind| {
        let counts = report.total(Space::Storage, kind);
        let efficiency = counts.efficiency().filter(|efficiency| *efficiency <= UNCOALESCED)?;
        let touched = counts.sectors_per_request()?;
        let ideal = (touched * efficiency).ceil();
        Some(format!("uncoalesced {what}: {touched:.0} sectors a request where {ideal:.0} hold the data"))
    };
    let degree = |kind| report.total(Space::Workgroup, kind).mean_degree().unwrap_or(1.0);
    let conflicts = || {
        let worst = degree(Kind::Store).max(degree(Kind::Load));
        (worst >= CONFLICTS).then(|| format!("{worst:.0}-way shared-memory bank conflicts"))
    };
    let excess = uncoalesced("stores", Kind::Store).or_else(|| uncoalesced("loads", Kind::Load)).or_else(conflicts);
    Some(excess.unwrap_or_else(|| NO_EXCESS.into()))
}

#[cfg(all(test, feature = "explain"))]
mod tests {
    use super::*;
    use crate::element::Element;

    fn of(variant: Variant, element: Element, percent_of_copy: f64, ceiling: Option<f64>) -> String {
        let problem = Problem::new(4096, 4096, 1, element).unwrap();
        let evidence = Evidence {
            variant,
            problem: &problem,
            language: Language::Cuda,
            percent_of_copy,
            ceiling_percent_of_peak: ceiling,
        };
        limiter(&evidence).unwrap()
    }

    #[test]
    fn the_model_explains_the_ladder() {
        let naive = of(Variant::Naive, Element::F32, 13.0, Some(84.0));
        assert_eq!(naive, "uncoalesced stores: 32 sectors a request where 4 hold the data");
        assert_eq!(of(Variant::Tiled, Element::F32, 42.0, None), "32-way shared-memory bank conflicts");
        assert_eq!(of(Variant::Tiled, Element::F64, 42.0, None), "16-way shared-memory bank conflicts");
        assert!(of(Variant::Padded, Element::F32, 88.0, None).starts_with("latency"));
        assert_eq!(of(Variant::Copy, Element::F32, 100.0, Some(84.0)), "memory bandwidth");
        assert!(of(Variant::Memcpy, Element::F32, 21.0, Some(84.0)).starts_with("not a kernel of ours"));
    }

    #[test]
    fn what_a_twin_with_other_tiles_has_is_told_of_the_twin() {
        assert_eq!(
            of(Variant::Gather, Element::F32, 90.0, None),
            "2-way shared-memory bank conflicts in its WGSL twin, whose tiles are others"
        );
    }

    #[test]
    fn a_kernel_is_traced_once_for_a_problem() {
        let problems = [4096, 64].map(|size| Problem::new(size, size, 1, Element::F32).unwrap());
        let mut limiters = Limiters::default();
        for (index, percent_of_copy) in [13.0, 14.0, 99.0].into_iter().enumerate() {
            for problem in &problems {
                let evidence = Evidence {
                    variant: Variant::Naive,
                    problem,
                    language: Language::Wgsl,
                    percent_of_copy,
                    ceiling_percent_of_peak: None,
                };
                assert_eq!(limiters.limiter(&evidence), limiter(&evidence), "{index}");
            }
        }
        assert_eq!(limiters.traced.len(), 2);
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
            language: Language::Cuda,
            percent_of_copy: 80.0,
            ceiling_percent_of_peak: None,
        };
        assert!(limiter(&evidence).unwrap().starts_with("latency"));
    }
}
