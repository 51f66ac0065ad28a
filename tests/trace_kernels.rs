//! Our own kernels on the tracer: they transpose, without races and within their buffers.

use std::time::Instant;

use cornerturn::element::Element;
use cornerturn::problem::Problem;
use cornerturn::trace::{self, Kind, Selection, Space};
use cornerturn::variant::Variant;

#[test]
fn figures() {
    for &variant in Variant::ALL {
        if variant.spec().kernel.is_none() {
            continue;
        }
        let problem = Problem::new(4096, 4096, 1, Element::F32).unwrap();
        let (shader, mut dispatch) = match trace::kernel(variant, &problem) {
            Ok(found) => found,
            Err(error) => {
                println!("{error}");
                continue;
            }
        };
        dispatch.workgroups = Selection::Count(12);
        let start = Instant::now();
        let traced = trace::trace(&shader, &dispatch).unwrap();
        let report = traced.report;
        println!(
            "{variant}: {:.2} ms a workgroup of {:?}",
            start.elapsed().as_secs_f64() * 1e3 / report.traced as f64,
            report.workgroup_size
        );
        for space in [Space::Storage, Space::Workgroup] {
            for kind in [Kind::Load, Kind::Store] {
                let t = report.total(space, kind);
                println!("   {space:?} {kind:?} {t:?} extra {}", t.extra_passes());
            }
        }
        for f in &report.findings {
            println!("  {f:?}");
        }
    }
}
