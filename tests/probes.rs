//! The probes on every device of the machine: that each kernel accesses what the table says, and that the commands
//! write records which their schema allows.

use std::process::ExitCode;
use std::sync::Arc;

use cornerturn::backend::{BackendError, TransposeBackend, Workspace};
use cornerturn::backends::{self, Discovery};
use cornerturn::device::{Api, DeviceId, DeviceKind};
use cornerturn::kernel::Language;
use cornerturn::probe::{Launch, Parameters, Probe, TRAP, chain, space, state_bytes};
use libtest_mimic::{Arguments, Failed, Trial};

#[path = "probes/commands.rs"]
mod commands;
#[path = "common/devices.rs"]
mod devices;
#[path = "common/require.rs"]
mod require;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let discovery = Arc::new(backends::discover(&devices::wanted_apis()));
    let mut trials = Vec::new();
    for absent in &discovery.absent {
        let (required, reason) = (require::required(absent.api.name()), absent.reason.clone());
        let name = format!("{} ({reason})", absent.api);
        trials.push(Trial::test(name, move || Err(Failed::from(reason))).with_ignored_flag(!required));
    }
    for index in 0..discovery.devices.len() {
        let id = discovery.devices[index].device().id;
        if devices::wanted(id) {
            trials.extend(kernels(&discovery, index, id));
            trials.extend(commands::trials(id));
        }
    }
    trials.push(Trial::test("what the user gets wrong is refused", commands::wrong_input));
    trials.push(Trial::test("the schema is a schema and holds records apart", commands::schema_is_strict));
    #[cfg(unix)]
    trials.push(Trial::test("an interrupt keeps what is measured", commands::interrupted));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The checks of the kernels, on buffers of the device; a device without a probe has the reason.
type Check = fn(&dyn TransposeBackend) -> Result<(), Failed>;

fn kernels(discovery: &Arc<Discovery>, index: usize, id: DeviceId) -> Vec<Trial> {
    let all: [(&str, Check); 6] = [
        ("chase", chase),
        ("chase-shared", chase_shared),
        ("read", read),
        ("read of shared memory", read_shared),
        ("load", load),
        ("store", store),
    ];
    let here = if discovery.devices[index].device().kind == DeviceKind::Cpu { &all[..1] } else { &all[..] };
    let trial = |(name, check): &(&str, Check)| {
        let (discovery, check) = (Arc::clone(discovery), *check);
        Trial::test(format!("{id}/{name}"), move || check(discovery.devices[index].as_ref()))
    };
    here.iter().map(trial).collect()
}

fn language(device: &dyn TransposeBackend) -> Language {
    if device.device().id.api == Api::Cuda { Language::Cuda } else { Language::Wgsl }
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), Failed> {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found:x?}, not {expected:x?}").into()) }
}

fn word_at(bytes: &[u8], word: u64) -> u32 {
    u32::from_le_bytes(bytes[4 * word as usize..][..4].try_into().unwrap())
}

/// The first words of the destination.
fn state(workspace: &dyn Workspace, words: usize) -> Result<Vec<u32>, BackendError> {
    let mut bytes = vec![0; 4 * words];
    workspace.read_destination(0, 0, &mut bytes)?;
    Ok((0..words as u64).map(|word| word_at(&bytes, word)).collect())
}

/// Random data: the word at an index is a hash of it.
fn data(bytes: u64) -> Vec<u8> {
    (0..bytes / 4).flat_map(|word| (word as u32).wrapping_mul(0x9E37_79B1).rotate_left(13).to_le_bytes()).collect()
}

fn launch(workspace: &dyn Workspace, probe: Probe, parameters: Parameters) -> Result<(), Failed> {
    let mut run = workspace.prepare_probe(&Launch { probe, parameters })?;
    run.run(std::num::NonZeroU32::MIN)?;
    Ok(())
}

fn chase(device: &dyn TransposeBackend) -> Result<(), Failed> {
    const LINES: usize = 100;
    let workspace = device.workspace(&space(128 * LINES as u64, state_bytes(1)).unwrap(), 1)?;
    workspace.poison(0)?;
    let next = chain::cycle(LINES, 5);
    let begin = workspace.source_address(0);
    let mut set = vec![0; 128 * LINES];
    chain::write(&next, 0, begin.map_or(chain::Link::Index, chain::Link::Address), &mut set);
    workspace.write_source(0, 0, &set)?;
    let mut line = 0;
    // A launch goes on where the last one stopped; once around, and beyond.
    for steps in [8, 64, 128] {
        let parameters = Parameters { blocks: 1, steps, ..Parameters::default() };
        // By the host's clock a backend may launch more than once.
        let mut run = workspace.prepare_probe(&Launch { probe: Probe::Chase, parameters })?;
        let before = position(workspace.as_ref(), begin)?;
        run.run(std::num::NonZeroU32::MIN)?;
        let after = position(workspace.as_ref(), begin)?;
        expect("the line before", before, line)?;
        let walk = |from: usize, steps: u32| (0..steps).fold(from, |at, _| next[at] as usize);
        let launches = (1..=64).find(|launches| walk(line, launches * steps) == after);
        launches.ok_or_else(|| format!("no number of launches of {steps} steps ends in line {after}"))?;
        line = after;
    }
    Ok(())
}

/// The line at which a chase is.
fn position(workspace: &dyn Workspace, begin: Option<u64>) -> Result<usize, BackendError> {
    let words = state(workspace, 2)?;
    Ok(match begin {
        Some(begin) => match u64::from(words[0]) | u64::from(words[1]) << 32 {
            0 => 0,
            at => ((at - begin) / 128) as usize,
        },
        None => words[0] as usize / 32,
    })
}

fn chase_shared(device: &dyn TransposeBackend) -> Result<(), Failed> {
    let words = Probe::ChaseShared.define("RING", language(device)) as usize;
    let workspace = device.workspace(&space(4 * words as u64, state_bytes(1)).unwrap(), 1)?;
    let next = chain::cycle(words, 3);
    let ring: Vec<u8> = next.iter().flat_map(|word| word.to_le_bytes()).collect();
    workspace.write_source(0, 0, &ring)?;
    for steps in [8, 1000] {
        launch(workspace.as_ref(), Probe::ChaseShared, Parameters { blocks: 1, steps, ..Parameters::default() })?;
        let expected = (0..steps).fold(0, |at: u32, _| next[at as usize]);
        // Addresses are bytes.
        let unit = if language(device) == Language::Cuda { 4 } else { 1 };
        expect("the end of the chain", state(workspace.as_ref(), 1)?[0], unit * expected)?;
    }
    Ok(())
}

/// Runs a probe whose sum of a thread is `expected`, and again waiting for another.
fn meets(workspace: &dyn Workspace, probe: Probe, parameters: Parameters, expected: u32) -> Result<(), Failed> {
    assert!(expected != 0 && expected != TRAP);
    for (trap, stored) in [(expected, expected), (TRAP, 0)] {
        workspace.poison(0)?;
        launch(workspace, probe, Parameters { trap, ..parameters })?;
        expect(&format!("{} {parameters:?} waiting for {trap:x}", probe.name()), state(workspace, 1)?[0], stored)?;
    }
    Ok(())
}

/// The exclusive or of the four words of each of these vectors.
fn sum_of(data: &[u8], vectors: impl Iterator<Item = u64>) -> u32 {
    vectors.flat_map(|vector| (0..4).map(move |k| 4 * vector + k)).fold(0, |sum, word| sum ^ word_at(data, word))
}

fn read(device: &dyn TransposeBackend) -> Result<(), Failed> {
    const BLOCKS: u32 = 3;
    for probe in [Probe::ReadL1, Probe::ReadL2, Probe::ReadOnce1, Probe::ReadOnce2, Probe::ReadOnce4] {
        let (block, unroll) = (probe.block(language(device)), probe.define("UNROLL", language(device)));
        // Two rounds of the inner loop, and five windows of which three blocks move on by two.
        let (window, count) = (2 * block * unroll, 5);
        let bytes = u64::from(window) * 16 * count;
        let workspace = device.workspace(&space(bytes, state_bytes(BLOCKS)).unwrap(), 1)?;
        let data = data(bytes);
        workspace.write_source(0, 0, &data)?;
        for (shift, steps) in [(0, 1), (0, 3), (2, 1), (2, 4)] {
            let parameters =
                Parameters { blocks: BLOCKS, steps, window, count: count as u32, shift, ..Parameters::default() };
            for (number, thread) in [(0, 0), (1, 77), (2, block - 1)] {
                let windows = (0..steps).map(|step| u64::from(number + step * shift) % count * u64::from(window));
                let parts = (0..window / block).map(|i| u64::from(i * block + thread));
                let sum = sum_of(&data, windows.flat_map(|begin| parts.clone().map(move |i| begin + i)));
                meets(workspace.as_ref(), probe, parameters, sum)?;
            }
        }
    }
    Ok(())
}

fn read_shared(device: &dyn TransposeBackend) -> Result<(), Failed> {
    let tile = 16 * u64::from(Probe::ReadShared.define("TILE", language(device)));
    let workspace = device.workspace(&space(tile, state_bytes(1)).unwrap(), 1)?;
    let data = data(tile);
    workspace.write_source(0, 0, &data)?;
    for (thread, steps) in [(0, 1), (255, 1), (17, 2), (99, 3)] {
        let rounds = (0..steps).flat_map(|step| (0..8).map(move |k| thread + 256 * (step % 2) + 64 * k));
        let parameters = Parameters { blocks: 1, steps: steps as u32, ..Parameters::default() };
        meets(workspace.as_ref(), Probe::ReadShared, parameters, sum_of(&data, rounds))?;
    }
    for stride in [0, 1, 2, 32, 33] {
        for (lane, steps) in [(31, 1), (5, 2), (1, 3)] {
            let words =
                (0..steps).flat_map(|step| (0..16).map(move |k| lane * u64::from(stride) + 512 * (step % 2) + 32 * k));
            let sum = words.fold(0, |sum, word| sum ^ word_at(&data, word));
            let parameters = Parameters { blocks: 1, steps: steps as u32, stride, ..Parameters::default() };
            meets(workspace.as_ref(), Probe::Banks, parameters, sum)?;
        }
    }
    Ok(())
}

fn load(device: &dyn TransposeBackend) -> Result<(), Failed> {
    const BLOCKS: u32 = 3;
    for (probe, width) in [(Probe::Load4, 4_u64), (Probe::Load16, 16)] {
        let (block, unroll) = (probe.block(language(device)), probe.define("UNROLL", language(device)));
        for (stride, first) in [(1, 0), (1, 31), (3, 0), (33, 5)] {
            let elements = u64::from(first) + u64::from(BLOCKS * block * unroll) * u64::from(stride);
            let workspace = device.workspace(&space(elements * width, state_bytes(BLOCKS)).unwrap(), 1)?;
            let data = data(elements * width);
            workspace.write_source(0, 0, &data)?;
            for (number, thread) in [(0, 0), (1, 100), (2, block - 1)] {
                let access = |k| u64::from(number * block * unroll + k * block + thread);
                let touched = (0..unroll).map(|k| u64::from(first) + access(k) * u64::from(stride));
                let words = touched.flat_map(|element| (0..width / 4).map(move |k| element * width / 4 + k));
                let sum = words.fold(0, |sum, word| sum ^ word_at(&data, word));
                let parameters = Parameters { blocks: BLOCKS, first, stride, ..Parameters::default() };
                meets(workspace.as_ref(), probe, parameters, sum)?;
            }
        }
    }
    Ok(())
}

fn store(device: &dyn TransposeBackend) -> Result<(), Failed> {
    const BLOCKS: u32 = 2;
    const POISON: u32 = 0xA5A5_A5A5;
    for (probe, width) in [(Probe::Store4, 4_u64), (Probe::Store16, 16)] {
        let accesses = BLOCKS * probe.block(language(device)) * probe.define("UNROLL", language(device));
        for (stride, first) in [(1, 0), (1, 31), (3, 0), (33, 5)] {
            let elements = u64::from(first) + u64::from(accesses) * u64::from(stride);
            let workspace = device.workspace(&space(16, elements * width).unwrap(), 1)?;
            workspace.poison(POISON as u8)?;
            let parameters = Parameters { blocks: BLOCKS, first, stride, trap: TRAP, ..Parameters::default() };
            launch(workspace.as_ref(), probe, parameters)?;
            let words = state(workspace.as_ref(), (elements * width / 4) as usize)?;
            for (index, found) in words.into_iter().enumerate() {
                let (element, part) = (index as u64 * 4 / width, index as u64 % (width / 4));
                let access = element.checked_sub(first.into()).filter(|past| past % u64::from(stride) == 0);
                let value = access.map(|past| (past / u64::from(stride)) as u32 ^ TRAP);
                let expected = value.map_or(POISON, |value| if part % 2 == 0 { value } else { !value });
                expect(&format!("{} {parameters:?}: word {index}", probe.name()), found, expected)?;
            }
        }
    }
    Ok(())
}
