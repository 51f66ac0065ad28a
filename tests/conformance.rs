//! Conformance: every backend × variant × width × shape, one named case each, on the devices of this machine.
//!
//! A case fills sources, poisons destinations twice, runs the variant on two sets and compares every bit.
//!
//! `CORNERTURN_REQUIRE=vulkan,gl,…` names the APIs that must be here: a missing one fails. Otherwise it is skipped, by
//! name and with the reason. `CORNERTURN_DEVICES=cuda:0,…` restricts the run to some devices.

#[path = "common/devices.rs"]
mod devices;
#[path = "common/require.rs"]
mod require;

use std::num::NonZeroU32;
use std::sync::Arc;

use cornerturn::backend::{RunOptions, Support, TransposeBackend};
use cornerturn::backends::{self, Discovery};
use cornerturn::device::{Api, DeviceKind};
use cornerturn::element::{Element, Width};
use cornerturn::kernel::Language;
use cornerturn::problem::{Layout, Problem};
use cornerturn::variant::{Moves, Variant};
use cornerturn::verify::{self, POISON};
use libtest_mimic::{Arguments, Failed, Trial};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Shapes as (rows, cols, batch). Tiles are 32 wide and words hold up to 4 elements, so the neighbours of multiples of
/// both are here, and primes, and skinny matrices both ways.
const SHAPES: &[(u64, u64, u64)] = &[
    (0, 5, 1),
    (5, 0, 1),
    (3, 3, 0),
    (1, 1, 1),
    (1, 7, 1),
    (7, 1, 1),
    (2, 2, 1),
    (5, 7, 1),
    (8, 8, 1),
    (31, 31, 1),
    (31, 33, 1),
    (32, 32, 1),
    (33, 31, 1),
    (33, 33, 1),
    (64, 1, 1),
    (1, 64, 1),
    (61, 127, 1),
    (127, 61, 1),
    (1000, 3, 1),
    (3, 1000, 1),
    (2, 4099, 1),
    (4099, 2, 1),
    (257, 129, 1),
    (1, 1, 5),
    (3, 2, 7),
    (5, 7, 3),
    (33, 31, 4),
    // Around the larger tiles of `vectorized`, with rows that begin at any place in 16 bytes, on either side.
    (127, 129, 1),
    (128, 256, 1),
    (129, 257, 1),
    (144, 256, 1),
    (143, 255, 2),
    (257, 513, 2),
    (130, 258, 3),
    (272, 271, 2),
    (61, 1000, 1),
    (16, 16, 5),
    // Only one side's rows begin with 16 bytes, in tiles above and beside one another.
    (145, 272, 2),
    (272, 145, 2),
];

/// A shape with gaps: then come the elements between rows of source and destination, then those between matrices.
type Gaps = ((u64, u64, u64), [u64; 2], [u64; 2]);

/// Squares for what works in place: of one tile and of several, of an even number of tiles and of an odd one, that end with
/// a tile, with a vector and anywhere; and batches.
const SQUARE_SHAPES: &[(u64, u64, u64)] = &[
    (16, 16, 1),
    (16, 16, 3),
    (48, 48, 2),
    (65, 65, 2),
    (80, 80, 1),
    (96, 96, 1),
    (127, 127, 1),
    (128, 128, 2),
    (129, 129, 1),
    (144, 144, 1),
    (160, 160, 3),
    (255, 255, 1),
    (256, 256, 1),
    (257, 257, 1),
    (272, 272, 2),
    (300, 300, 1),
    (400, 400, 1),
    (528, 528, 1),
];

/// A shape with gaps that begins later: then come the elements between rows, then those before the first one.
type Firsts = ((u64, u64, u64), [u64; 2], [u64; 2]);

/// Parts of larger matrices, beginning anywhere in a word, a vector or a sector, on one side and on both.
const FIRSTS: &[Firsts] = &[
    ((5, 7, 1), [0, 0], [1, 0]),
    ((5, 7, 1), [0, 0], [0, 1]),
    ((5, 7, 3), [1, 1], [2, 3]),
    ((33, 31, 1), [3, 1], [5, 7]),
    ((33, 31, 2), [0, 1], [0, 35]),
    ((64, 64, 2), [0, 0], [8, 8]),
    ((64, 64, 1), [64, 64], [17, 0]),
    ((64, 64, 1), [64, 64], [0, 17]),
    ((128, 256, 1), [16, 16], [16, 48]),
    ((128, 256, 1), [16, 16], [1, 1]),
    ((129, 257, 1), [0, 0], [1, 1]),
    ((130, 129, 3), [3, 5], [9, 2]),
    ((257, 130, 2), [1, 2], [15, 17]),
    ((207, 40, 1), [0, 17], [0, 33]),
    ((300, 300, 1), [700, 700], [100, 203]),
    ((1000, 3, 1), [0, 0], [1, 0]),
    ((1000, 3, 1), [0, 0], [0, 1]),
    ((1000, 3, 2), [0, 2], [16, 5]),
    // A workgroup's memory is full with these short sides.
    ((1100, 8, 1), [0, 0], [1, 0]),
    ((400, 23, 1), [0, 0], [1, 0]),
    ((300, 85, 1), [0, 0], [1, 0]),
    ((3, 1000, 1), [0, 0], [1, 0]),
    ((3, 1000, 1), [0, 0], [0, 1]),
    ((3, 1000, 2), [2, 0], [5, 16]),
    ((1, 1000, 1), [0, 0], [3, 5]),
    ((1000, 1, 1), [0, 0], [5, 3]),
    ((1, 7, 5), [0, 1], [2, 13]),
    ((1, 1, 5), [0, 0], [1, 2]),
    ((1, 1, 1), [0, 0], [0, 15]),
];

/// Rows that lose or keep the alignment of a vector of 16 bytes, on one side and on both, with gaps from one element to
/// more than a row; and batches whose matrices do so.
const GAPS: &[Gaps] = &[
    ((5, 7, 1), [1, 0], [0, 0]),
    ((5, 7, 1), [0, 1], [0, 0]),
    ((33, 31, 1), [3, 1], [0, 0]),
    ((64, 48, 1), [16, 16], [0, 0]),
    ((128, 256, 1), [1, 0], [0, 0]),
    ((128, 256, 1), [0, 1], [0, 0]),
    ((129, 257, 1), [0, 3], [0, 0]),
    ((129, 257, 1), [3, 0], [0, 0]),
    ((257, 130, 1), [1000, 4099], [0, 0]),
    ((130, 129, 3), [0, 0], [1, 0]),
    ((130, 129, 3), [0, 0], [0, 1]),
    ((61, 127, 2), [1, 3], [3, 1]),
    ((32, 64, 4), [64, 32], [4096, 16]),
    // Single rows and columns, which without gaps are copies.
    ((1, 1000, 1), [5, 3], [0, 0]),
    ((1000, 1, 1), [3, 5], [0, 0]),
    ((1, 7, 5), [0, 0], [1, 3]),
    ((1, 1, 5), [0, 0], [3, 1]),
    ((2, 4099, 1), [1, 1], [0, 0]),
    // Destination rows of more than one tile that end at any place in a word, a vector or a sector of 32 bytes, with
    // gaps that end in the same one or in a later one.
    ((95, 270, 1), [0, 1], [0, 0]),
    ((143, 70, 1), [0, 1], [0, 0]),
    ((100, 40, 1), [0, 2], [0, 0]),
    ((131, 35, 1), [0, 3], [0, 0]),
    ((290, 33, 1), [0, 5], [0, 0]),
    ((97, 40, 1), [0, 15], [0, 0]),
    ((96, 40, 1), [0, 16], [0, 0]),
    ((207, 40, 1), [0, 17], [0, 0]),
    ((100, 40, 1), [0, 33], [0, 0]),
    // Rows that begin with a vector in the first matrix and not in the second one.
    ((64, 256, 2), [0, 0], [5, 16]),
    ((64, 256, 2), [0, 0], [16, 3]),
    // Several destination rows, with their gaps, in a word or a vector; and gaps of many vectors.
    ((1, 50, 1), [0, 1], [0, 0]),
    ((1, 50, 3), [0, 2], [0, 3]),
    ((3, 40, 2), [0, 1], [0, 0]),
    ((5, 40, 3), [0, 2], [0, 1]),
    ((2, 33, 2), [0, 100], [0, 7]),
    // Matrices that end in a word or vector with less of a gap than is left of it, or in one with the next matrix.
    ((7, 5, 4), [0, 0], [0, 1]),
    ((7, 5, 3), [0, 1], [0, 2]),
    ((100, 3, 3), [0, 0], [0, 3]),
    ((131, 3, 3), [0, 3], [0, 0]),
    ((33, 4, 5), [0, 31], [0, 1]),
    ((1, 1, 9), [0, 0], [0, 16]),
    // A last matrix that begins with a vector and ends with a whole tile, unlike the one before: the end of the source.
    ((128, 256, 3), [0, 0], [8, 0]),
    ((64, 64, 3), [0, 0], [2, 0]),
    ((32, 32, 3), [0, 0], [1, 0]),
];

/// Shapes for `tall` and `wide` alone: one block and many, the last of them with almost nothing or almost everything, short
/// sides of all kinds, and matrices that begin at any place in 16 bytes.
const SKINNY_SHAPES: &[(u64, u64, u64)] = &[
    (5003, 1, 3),
    (1, 5003, 3),
    (20011, 2, 1),
    (2, 20011, 1),
    (14347, 3, 3),
    (3, 14347, 3),
    (8192, 4, 2),
    (4, 8192, 2),
    (9001, 5, 1),
    (5, 9001, 1),
    (5000, 8, 1),
    (8, 5000, 1),
    (5001, 16, 1),
    (16, 5001, 1),
    (2047, 31, 1),
    (31, 2047, 1),
    (1024, 32, 3),
    (32, 1024, 3),
    (1027, 33, 3),
    (33, 1027, 3),
    (5003, 56, 1),
    (56, 5003, 1),
    (1029, 64, 1),
    (64, 1029, 1),
    (515, 112, 3),
    (112, 515, 3),
    (1031, 127, 3),
    (127, 1031, 3),
    (127, 127, 1),
    // As many as one or the other takes, and one more.
    (1031, 128, 1),
    (128, 1031, 3),
    (191, 1031, 1),
    (255, 1040, 3),
    (256, 1031, 1),
    // Matrices smaller than a segment, and than 16 bytes.
    (9, 3, 50),
    (3, 9, 50),
    (2, 2, 50),
    (3, 1, 50),
];

/// The same with gaps, of which there are none between the rows of the short side.
const SKINNY_GAPS: &[Gaps] = &[
    ((5003, 3, 1), [0, 1], [0, 0]),
    ((3, 5003, 1), [1, 0], [0, 0]),
    ((5000, 7, 3), [0, 16], [5, 3]),
    ((7, 5000, 3), [16, 0], [5, 3]),
    ((4096, 5, 2), [0, 32], [16, 32]),
    ((5, 4096, 2), [32, 0], [16, 32]),
    ((1021, 33, 3), [0, 3], [1, 1]),
    ((33, 1021, 3), [3, 0], [1, 1]),
    ((300, 127, 2), [0, 1000], [7, 4099]),
    ((127, 300, 2), [1000, 0], [7, 4099]),
    // Several lines, or matrices, in 16 bytes.
    ((3, 2, 50), [0, 1], [0, 2]),
    ((2, 3, 50), [1, 0], [2, 1]),
    ((1, 1, 50), [0, 0], [1, 2]),
    ((5, 2, 50), [0, 17], [3, 40]),
];

/// Shapes for `gather` alone: several of its tiles along both sides, with rows that begin at any place in 32 bytes, the
/// last tile with almost nothing or almost everything.
const GATHER_SHAPES: &[(u64, u64, u64)] = &[
    (193, 191, 1),
    (191, 193, 2),
    (300, 203, 3),
    (288, 288, 1),
    (130, 241, 3),
    (97, 97, 5),
    (111, 500, 1),
    (500, 111, 1),
    (1009, 307, 1),
];

/// A problem for each choice of the planner on a GPU; `gather` is for CUDA alone.
const PLANNED: &[(Variant, Width, (u64, u64, u64))] = &[
    (Variant::Copy, Width::W4, (1, 1000, 1)),
    (Variant::Gather, Width::W2, (1031, 1033, 1)),
    (Variant::Vectorized, Width::W4, (3104, 3104, 1)),
    (Variant::Compact, Width::W4, (512, 512, 1)),
    (Variant::Tall, Width::W1, (5003, 17, 1)),
    (Variant::Wide, Width::W1, (17, 5003, 1)),
];

/// One on each side of where a dispatch has more than 65,535 workgroups along a dimension: tiles of 32 columns, and the
/// naive kernel's 8 rows; and of where a copy has, at 4 KiB a workgroup. Run with the narrowest and a wide element.
const THRESHOLDS: &[(u64, u64, u64)] = &[
    (1, 65_535 * 32, 1),
    (1, 65_535 * 32 + 1, 1),
    (65_535 * 32, 1, 1),
    (65_535 * 32 + 1, 1, 1),
    (65_535 * 8 + 1, 1, 1),
    (3, 5, 65_535),
    (3, 5, 65_536),
];

/// Bytes on either side of the copy's threshold.
const COPY_THRESHOLD_BYTES: u64 = 65_535 * 4096;

/// What every WebGPU device binds at least (WebGPU, "Limits", maxStorageBufferBindingSize).
const DEFAULT_BINDING_BYTES: u64 = 128 << 20;

fn main() {
    let args = Arguments::from_args();
    let discovery = Arc::new(backends::discover(&devices::wanted_apis()));
    let mut trials = Vec::new();
    for absent in &discovery.absent {
        trials.push(absence(absent));
    }
    for index in 0..discovery.devices.len() {
        if devices::wanted(discovery.devices[index].device().id) {
            trials.extend(device_trials(&discovery, index));
        }
    }
    let conclusion = libtest_mimic::run(&args, trials);
    // Drivers dislike being unloaded by the exit handlers of a process that still holds devices.
    drop(discovery);
    conclusion.exit();
}

/// An API without a device: a failure where it is required, a skip with the reason in its name elsewhere.
fn absence(absent: &backends::Absent) -> Trial {
    let name = format!("{} ({})", absent.api, absent.reason);
    let required = require::required(absent.api.name());
    let reason = absent.reason.clone();
    Trial::test(name, move || Err(Failed::from(reason))).with_ignored_flag(!required)
}

fn device_trials(discovery: &Arc<Discovery>, index: usize) -> Vec<Trial> {
    let info = discovery.devices[index].device();
    let software = info.kind == DeviceKind::Software;
    let mut trials = Vec::new();
    for &variant in Variant::ALL {
        for width in Width::ALL {
            for bounds_checks in [false, true] {
                // The setting touches our kernels alone. A software device is slow, and has the setting tried on one of
                // the packed and one of the whole widths.
                let tried = !software || (info.id.api == Api::Vulkan && matches!(width, Width::W1 | Width::W4));
                if bounds_checks && !(info.has_bounds_checks && variant.spec().kernel.is_some() && tried) {
                    continue;
                }
                let options = RunOptions { bounds_checks };
                let (shapes, gaps): (&[_], &[_]) = match variant {
                    Variant::Tall | Variant::Wide => (SKINNY_SHAPES, SKINNY_GAPS),
                    Variant::Gather => (GATHER_SHAPES, &[]),
                    Variant::Inplace | Variant::Swap => (SQUARE_SHAPES, &[]),
                    _ => (&[], &[]),
                };
                for &shape in SHAPES.iter().chain(shapes) {
                    trials.push(trial(discovery, index, variant, packed(width, shape), options));
                }
                for &gaps in GAPS.iter().chain(gaps) {
                    trials.push(trial(discovery, index, variant, with_gaps(width, gaps), options));
                }
                for &firsts in FIRSTS {
                    trials.push(trial(discovery, index, variant, with_firsts(width, firsts), options));
                }
            }
            let options = RunOptions { bounds_checks: false };
            // Millions of workgroups of a few lanes each take a software device too long in every width.
            if width == Width::W1 || (width == Width::W4 && !software) {
                for &shape in THRESHOLDS {
                    trials.push(trial(discovery, index, variant, packed(width, shape), options));
                }
            }
            if width == Width::W16 && variant == Variant::Copy {
                for bytes in [COPY_THRESHOLD_BYTES, COPY_THRESHOLD_BYTES + 16] {
                    trials.push(trial(discovery, index, variant, packed(width, (1, bytes / 16, 1)), options));
                }
            }
        }
        trials.push(random_trial(discovery, index, variant));
        // Arithmetic may change them.
        if variant != Variant::Geam {
            trials.push(odd_numbers_trial(discovery, index, variant));
        }
    }
    if info.kind != DeviceKind::Cpu {
        let here = |planned: &&(Variant, _, _)| info.id.api == Api::Cuda || planned.0 != Variant::Gather;
        let planned = PLANNED.iter().filter(here).map(|&(variant, width, shape)| (variant, packed(width, shape)));
        trials.extend(planned.map(|(variant, problem)| planned_trial(discovery, index, variant, problem)));
    }
    trials
}

fn packed(width: Width, (rows, cols, batch): (u64, u64, u64)) -> Problem {
    Problem::new(rows, cols, batch, Element::of_width(width)).expect("the shapes are small")
}

fn with_gaps(width: Width, (shape, rows_of, matrices_of): Gaps) -> Problem {
    let (rows, cols, _) = shape;
    // The last row of a matrix has no gap but the matrix's.
    let layout = |rows: u64, cols, side: usize| {
        let ld = cols + rows_of[side];
        Layout { first: 0, ld, stride: rows.saturating_sub(1) * ld + cols + matrices_of[side] }
    };
    let (source, destination) = (layout(rows, cols, 0), layout(cols, rows, 1));
    packed(width, shape).with_layouts(source, destination).expect("the shapes are small")
}

/// A part of a larger matrix on either side: the same with elements before the first one.
fn with_firsts(width: Width, (shape, rows_of, [from, to]): Firsts) -> Problem {
    begun(with_gaps(width, (shape, rows_of, [0, 0])), from, to)
}

/// The same with so many elements before the first one.
fn begun(problem: Problem, from: u64, to: u64) -> Problem {
    let (source, destination) = (problem.source().starting_at(from), problem.destination().starting_at(to));
    problem.with_layouts(source, destination).expect("the shapes are small")
}

/// Such as `5x7x3`, with `,ld8-5,stride40-35` where there are gaps, and `,from1-2` where matrices begin later.
fn shape_name(problem: &Problem) -> String {
    let (source, destination) = (problem.source(), problem.destination());
    let mut name = format!("{}x{}x{}", problem.rows(), problem.cols(), problem.batch());
    if !problem.is_packed() {
        name += &format!(",ld{}-{},stride{}-{}", source.ld, destination.ld, source.stride, destination.stride);
    }
    if [source.first, destination.first] != [0, 0] {
        name += &format!(",from{}-{}", source.first, destination.first);
    }
    name
}

fn trial(discovery: &Arc<Discovery>, index: usize, variant: Variant, problem: Problem, options: RunOptions) -> Trial {
    let id = discovery.devices[index].device().id;
    let checks = if options.bounds_checks { "/checked" } else { "" };
    let name = format!("{id}/{variant}/{}/{}{checks}", problem.width(), shape_name(&problem));
    match discovery.devices[index].support(variant, &problem) {
        Support::Unsupported(reason) => {
            // Where an API is required, everything that the table says is present must run; but no device owes a
            // larger binding than WebGPU's default, nor cuBLAS, nor that cuBLAS takes every width and batch, nor what a
            // kernel does not take by its nature. Nor does the `transpose` crate owe gaps, nor a copy that it stops within
            // 16 bytes.
            let copies = variant.spec().moves == Moves::Copy && !problem.copied_bytes().is_multiple_of(16);
            let packed_only = copies || variant == Variant::TransposeCrate;
            let obstacle = variant.spec().kernel.zip(Language::of(id.api));
            let obstacle = obstacle.and_then(|(kernel, language)| (kernel.obstacle)(&problem, language));
            let absent = matches!(variant.presence(id.api), cornerturn::variant::Presence::Absent(_));
            let excused = absent
                || variant == Variant::Geam
                || obstacle.is_some()
                || problem.copied_bytes() > DEFAULT_BINDING_BYTES
                || ((packed_only || variant.is_in_place()) && !problem.is_packed())
                || !require::required(id.api.name());
            let name = format!("{name} ({reason})");
            Trial::test(name, move || Err(Failed::from(reason))).with_ignored_flag(excused)
        }
        Support::Supported => {
            let discovery = Arc::clone(discovery);
            Trial::test(name, move || Ok(check(discovery.devices[index].as_ref(), variant, &problem, options)?))
        }
    }
}

fn check(
    backend: &dyn TransposeBackend,
    variant: Variant,
    problem: &Problem,
    options: RunOptions,
) -> Result<(), String> {
    const SETS: usize = 2;
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let workspace = backend.workspace(problem, SETS).map_err(|error| text(&error))?;
    verify::fill_sources(workspace.as_ref(), problem, SETS, &|| false).map_err(|error| text(&error))?;
    let mut run = workspace.prepare(variant, options).map_err(|error| text(&error))?;
    for poison in POISON {
        let moves = variant.spec().moves;
        verify::check_run(run.as_mut(), workspace.as_ref(), problem, moves, SETS, poison, &|| false)
            .map_err(|error| text(&error))?;
    }
    Ok(())
}

/// That `auto` stands for a variant on a problem, and is right.
fn planned_trial(discovery: &Arc<Discovery>, index: usize, expected: Variant, problem: Problem) -> Trial {
    let id = discovery.devices[index].device().id;
    let discovery = Arc::clone(discovery);
    Trial::test(format!("{id}/auto/{expected}/{}", shape_name(&problem)), move || {
        let backend = discovery.devices[index].as_ref();
        let chosen = backend.choose(Variant::Auto, &problem);
        if chosen != expected {
            return Err(format!("{problem}: chose {chosen}, not {expected}").into());
        }
        Ok(check(backend, Variant::Auto, &problem, RunOptions::default())?)
    })
}

/// Random shapes, gaps and widths; what fails is shrunk and printed.
fn random_trial(discovery: &Arc<Discovery>, index: usize, variant: Variant) -> Trial {
    let id = discovery.devices[index].device().id;
    let discovery = Arc::clone(discovery);
    Trial::test(format!("{id}/{variant}/random shapes"), move || {
        let backend = discovery.devices[index].as_ref();
        let shape = (0u64..200, 0u64..200, 0u64..4);
        // Half of them none.
        let gaps = || prop_oneof![Just([0, 0]), [0u64..20, 0u64..20]];
        let width = proptest::sample::select(Width::ALL.to_vec());
        let problem = (width, (shape, gaps(), gaps()), gaps())
            .prop_map(|(width, gaps, [from, to])| begun(with_gaps(width, gaps), from, to));
        let mut runner = TestRunner::new(Config { cases: 48, failure_persistence: None, ..Config::default() });
        let tested = runner.run(&(problem, any::<bool>()), |(problem, bounds_checks)| {
            match backend.support(variant, &problem) {
                Support::Unsupported(_) => Ok(()),
                Support::Supported => check(backend, variant, &problem, RunOptions { bounds_checks })
                    .map_err(|error| TestCaseError::fail(format!("{problem}: {error}"))),
            }
        });
        tested.map_err(|error| Failed::from(error.to_string()))
    })
}

/// Moves bits that are NaNs with a payload, denormal numbers and zeros of either sign when read as numbers: the pattern
/// has none of them, and whatever takes elements for numbers may change them.
fn odd_numbers_trial(discovery: &Arc<Discovery>, index: usize, variant: Variant) -> Trial {
    let id = discovery.devices[index].device().id;
    let discovery = Arc::clone(discovery);
    Trial::test(format!("{id}/{variant}/odd numbers"), move || {
        let backend = discovery.devices[index].as_ref();
        for width in [Width::W4, Width::W8, Width::W16] {
            // One shape that fits the tiles and one that does not.
            for (rows, cols) in [(256, 256), (61, 127)] {
                let problem = packed(width, (rows, cols, 1));
                if backend.support(variant, &problem) == Support::Supported {
                    for single in [true, false] {
                        move_odd_numbers(backend, variant, &problem, single)
                            .map_err(|error| format!("{problem}: {error}"))?;
                    }
                }
            }
        }
        Ok(())
    })
}

fn move_odd_numbers(
    backend: &dyn TransposeBackend,
    variant: Variant,
    problem: &Problem,
    single: bool,
) -> Result<(), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let (width, side) = (problem.width().bytes(), problem.copied_bytes() as usize);
    let numbers = (0..).flat_map(|at| if single { odd_f32(at).to_vec() } else { odd_f64(at).to_vec() });
    let source: Vec<u8> = numbers.take(side).collect();
    let from = |index: u64| match variant.spec().moves {
        Moves::Copy => index,
        Moves::Transpose => problem.source_of(index).expect("no gaps"),
    };
    let element = |index: u64| &source[from(index) as usize * width..][..width];
    let expected: Vec<u8> = (0..problem.elements()).flat_map(element).copied().collect();

    let workspace = backend.workspace(problem, 1).map_err(|error| text(&error))?;
    workspace.write_source(0, 0, &source).map_err(|error| text(&error))?;
    workspace.poison(POISON[0]).map_err(|error| text(&error))?;
    let mut run = workspace.prepare(variant, RunOptions::default()).map_err(|error| text(&error))?;
    run.run(NonZeroU32::MIN).map_err(|error| text(&error))?;
    let mut got = vec![0; side];
    workspace.read_destination(0, 0, &mut got).map_err(|error| text(&error))?;
    match got.iter().zip(&expected).position(|(got, expected)| got != expected) {
        Some(byte) => Err(format!("byte {byte} is {:02x} instead of {:02x}", got[byte], expected[byte])),
        None => Ok(()),
    }
}

/// A signalling NaN of either sign, then a zero or denormal number of either sign.
fn odd_f32(at: u32) -> [u8; 4] {
    let sign = (at & 1) << 31;
    (sign | if at & 2 == 0 { 0x7F80_0001 + at } else { at / 4 }).to_le_bytes()
}

/// The same with 8 bytes.
fn odd_f64(at: u32) -> [u8; 8] {
    let (at, sign) = (u64::from(at), u64::from(at & 1) << 63);
    (sign | if at & 2 == 0 { 0x7FF0_0000_0000_0001 + at } else { at / 4 }).to_le_bytes()
}
