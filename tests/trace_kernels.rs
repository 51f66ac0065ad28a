//! Our own kernels on the tracer: they transpose, without races and within their buffers, and cost what is known.

use std::time::{Duration, Instant};

use cornerturn::element::Element;
use cornerturn::problem::{Layout, Problem};
use cornerturn::trace::{self, Finding, Kind, PATTERN, Report, Selection, Space, TraceError};
use cornerturn::variant::{Moves, Variant};

/// An element of each width.
const ELEMENTS: [Element; 5] = [Element::U8, Element::F16, Element::F32, Element::F64, Element::C128];

/// Traces all workgroups and checks every byte of the destination; `None` where the variant cannot run.
fn check(variant: Variant, problem: &Problem) -> Option<Report> {
    let (shader, mut dispatch) = match trace::kernel(variant, problem) {
        Err(TraceError::Binding(_)) => return None,
        made => made.unwrap_or_else(|error| panic!("{variant} {problem}: {error}")),
    };
    dispatch.workgroups = Selection::All;
    let traced = trace::trace(&shader, &dispatch).unwrap_or_else(|error| panic!("{variant} {problem}: {error}"));
    let width = problem.width().bytes();
    let mut got = vec![0; problem.destination_bytes() as usize];
    traced.read((0, 1), 0, &mut got).unwrap();
    for (index, element) in got.chunks(width).enumerate() {
        let index = index as u64;
        let from = match variant.spec().moves {
            // As many elements as there are, wherever they are.
            Moves::Copy => (index < problem.elements()).then_some(index),
            Moves::Transpose => problem.source_of(index),
        };
        // What is in a gap stays: in place, the pattern, and zeros elsewhere.
        let stays = if variant.is_in_place() { Some(index) } else { None };
        let expected = from.or(stays).map_or([0; 16], |index| PATTERN.element(index));
        assert_eq!(element, &expected[..width], "{variant} {problem}: element {index}");
    }
    let wrong: Vec<&Finding> = traced.report.findings.iter().collect();
    assert!(wrong.is_empty(), "{variant} {problem}: {wrong:#?}");
    Some(traced.report)
}

/// All kernels of these shapes; returns how many there were.
fn check_all(shapes: &[(u64, u64, u64)], gaps: [u64; 2]) -> usize {
    let mut checked = 0;
    for &variant in Variant::ALL {
        for element in ELEMENTS {
            for &(rows, cols, batch) in shapes {
                let source = Layout::with_gaps(rows, cols, gaps[0], 0);
                let destination = Layout::with_gaps(cols, rows, gaps[1], 0);
                let packed = Problem::new(rows, cols, batch, element).unwrap();
                let problem = packed.with_layouts(source, destination).unwrap();
                checked += usize::from(check(variant, &problem).is_some());
            }
        }
    }
    checked
}

#[test]
fn kernels_transpose_aligned_shapes() {
    assert!(check_all(&[(64, 64, 1), (128, 64, 2)], [0, 0]) >= 70);
}

#[test]
fn kernels_transpose_odd_shapes() {
    assert!(check_all(&[(67, 67, 1), (33, 101, 1), (5, 3, 3)], [0, 0]) >= 100);
}

#[test]
fn kernels_transpose_short_sides() {
    assert!(check_all(&[(300, 3, 1), (7, 500, 1)], [0, 0]) >= 80);
}

#[test]
fn kernels_transpose_between_gaps() {
    assert!(check_all(&[(37, 45, 1)], [3, 7]) >= 30);
    assert!(check_all(&[(48, 48, 1)], [16, 16]) >= 40);
}

fn large(variant: Variant) -> Report {
    let problem = Problem::new(4096, 4096, 1, Element::F32).unwrap();
    let (shader, dispatch) = trace::kernel(variant, &problem).unwrap();
    trace::trace(&shader, &dispatch).unwrap().report
}

#[test]
fn tiled_has_the_conflicts_that_padded_has_not() {
    for (variant, extra) in [(Variant::Tiled, 16_252_928), (Variant::Padded, 0), (Variant::Swizzled, 0)] {
        let report = large(variant);
        assert!(report.scaled && report.findings.is_empty());
        let loads = report.total(Space::Workgroup, Kind::Load);
        assert_eq!((loads.requests, loads.extra_passes()), (524_288, extra), "{variant}");
        assert_eq!(report.total(Space::Workgroup, Kind::Store).extra_passes(), 0, "{variant}");
        for kind in [Kind::Load, Kind::Store] {
            let counts = report.total(Space::Storage, kind);
            assert_eq!((counts.requests, counts.sectors), (524_288, 2_097_152), "{variant}");
            assert_eq!(counts.efficiency(), Some(1.0));
        }
    }
}

#[test]
fn naive_stores_take_a_sector_each() {
    let stores = large(Variant::Naive).total(Space::Storage, Kind::Store);
    assert_eq!((stores.requests, stores.sectors, stores.lines), (524_288, 16_777_216, 16_777_216));
    assert_eq!(stores.efficiency(), Some(0.125));
}

#[test]
fn a_workgroup_takes_milliseconds() {
    // Unoptimised, and on a machine with other things to do, it takes longer.
    let most = Duration::from_millis(if cfg!(debug_assertions) { 500 } else { 50 });
    for &variant in Variant::ALL {
        let problem = Problem::new(4096, 4096, 1, Element::F32).unwrap();
        let Ok((shader, mut dispatch)) = trace::kernel(variant, &problem) else { continue };
        dispatch.workgroups = Selection::Count(8);
        let start = Instant::now();
        let traced = trace::trace(&shader, &dispatch).unwrap().report.traced;
        let each = start.elapsed() / traced as u32;
        println!("{variant}: {:.2} ms a workgroup", each.as_secs_f64() * 1e3);
        assert!(each < most, "{variant}: {each:?}");
    }
}
