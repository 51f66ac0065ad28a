//! A dispatch of a shader: what is bound, what is launched, and the run of it.

use std::collections::BTreeMap;

use naga::{AddressSpace, StorageAccess, TypeInner};

use super::binding::Binding;
use super::error::TraceError;
use super::findings::Findings;
use super::layout::Layouts;
use super::lines::Lines;
use super::machine::{Home, Limits, Machine, Region};
use super::memory::{Budget, Memory};
use super::race::{Clock, Owners, Shadow};
use super::record::{Log, Space};
use super::report::{Bound, Report};
use super::sample::{Sample, Selection, stratum_of};
use super::shader::Shader;
use super::stack;

/// A dispatch.
#[derive(Clone, Debug)]
pub struct Dispatch {
    /// Workgroups along x, y and z.
    pub grid: [u32; 3],
    /// The buffers, by group and binding.
    pub bindings: BTreeMap<(u32, u32), Binding>,
    /// Invocations of a subgroup, which make requests together: a power of two from 4 to 128.
    pub subgroup: u32,
    /// Which workgroups to trace.
    pub workgroups: Selection,
    /// What that may take.
    pub limits: Limits,
}

impl Dispatch {
    /// A dispatch of so many workgroups with nothing bound, in subgroups of 32 as NVIDIA GPUs have them.
    pub fn new(grid: [u32; 3]) -> Dispatch {
        Dispatch {
            grid,
            bindings: BTreeMap::new(),
            subgroup: 32,
            workgroups: Selection::Auto,
            limits: Limits::default(),
        }
    }
}

/// A shader that was run: its report, and what is in its buffers afterwards.
pub struct Traced {
    /// What was seen.
    pub report: Report,
    buffers: BTreeMap<(u32, u32), Memory>,
}

impl Traced {
    /// Reads bytes of a buffer as the workgroups that were traced left it; `None` if there is none, or it is shorter.
    pub fn read(&self, binding: (u32, u32), first: u64, bytes: &mut [u8]) -> Option<()> {
        let buffer = self.buffers.get(&binding)?;
        let end = first.checked_add(bytes.len() as u64)?;
        (end <= buffer.bytes).then(|| buffer.read(first, bytes))
    }
}

/// Runs workgroups of a dispatch, one after the other, and reports what they accessed.
///
/// # Errors
/// [`TraceError`] if the dispatch is none that the shader can have, or if it cannot be run.
pub fn trace(shader: &Shader, dispatch: &Dispatch) -> Result<Traced, TraceError> {
    stack::with_room(|| run(shader, dispatch))
}

fn run(shader: &Shader, dispatch: &Dispatch) -> Result<Traced, TraceError> {
    let lanes = check(shader, dispatch)?;
    let layouts = Layouts::new(&shader.module);
    let sample = Sample::new(dispatch.grid, dispatch.workgroups, dispatch.limits.workgroups)?;
    let several = sample.workgroups.len() > 1;
    let Resources { homes, regions, bound } = resources(shader, dispatch, &layouts, several)?;
    let subgroup = dispatch.subgroup as usize;
    let mut machine = Machine {
        module: &shader.module,
        info: &shader.info,
        layouts: &layouts,
        lines: Lines::new(&shader.source),
        entry: shader.entry(),
        entry_info: shader.entry_info(),
        lanes,
        subgroup,
        grid: dispatch.grid,
        workgroup: [0; 3],
        number: 0,
        homes,
        regions,
        privates: vec![Vec::new(); shader.module.global_variables.len()],
        constants: vec![None; shader.module.constants.len()],
        frames: Vec::new(),
        storage_clock: Clock::new(lanes, subgroup),
        workgroup_clock: Clock::new(lanes, subgroup),
        log: Log::default(),
        findings: Findings::default(),
        limits: dispatch.limits,
        budget: Budget { most: dispatch.limits.bytes, taken: 0 },
        steps: 0,
        depth: 0,
        at: naga::Span::UNDEFINED,
    };
    for (number, workgroup) in sample.workgroups.iter().enumerate() {
        machine.log.stratum = stratum_of(dispatch.grid, *workgroup);
        machine.run(*workgroup, number)?;
    }
    let report = Report::new(shader, dispatch, &sample, &machine, &bound);
    let regions = machine.regions;
    let buffers = bound.into_iter().zip(regions).map(|(bound, region)| ((bound.group, bound.binding), region.memory));
    Ok(Traced { report, buffers: buffers.collect() })
}

/// The invocations of a workgroup.
fn check(shader: &Shader, dispatch: &Dispatch) -> Result<usize, TraceError> {
    let Dispatch { subgroup, limits, .. } = *dispatch;
    if !subgroup.is_power_of_two() || !(4..=128).contains(&subgroup) {
        let message = format!("subgroups have a power of two of invocations from 4 to 128, not {subgroup}");
        return Err(TraceError::Grid(message));
    }
    let size = shader.workgroup_size();
    let invocations = size.iter().map(|&count| u128::from(count)).product::<u128>();
    // Numbers of invocations are kept in 16 bits.
    let most = limits.invocations.min(1 << 16);
    if invocations > most.into() {
        let what = format!("a workgroup of {} × {} × {}: invocations:", size[0], size[1], size[2]);
        return Err(TraceError::TooLarge { what, needed: invocations, most });
    }
    for axis in 0..3 {
        let along = u128::from(size[axis]) * u128::from(dispatch.grid[axis]);
        if along > MOST_ALONG.into() {
            let [x, y, z] = dispatch.grid;
            let what = format!("a grid of {x} × {y} × {z} workgroups: invocations along {}:", ["x", "y", "z"][axis]);
            return Err(TraceError::TooLarge { what, needed: along, most: MOST_ALONG });
        }
    }
    Ok(invocations as usize)
}

/// Invocations along an axis: as many as `global_invocation_id` can number.
const MOST_ALONG: u64 = 1 << 32;

/// What the entry point's variables are.
struct Resources {
    homes: Vec<Home>,
    /// Buffers first, in the order of `bound`, then workgroup variables.
    regions: Vec<Region>,
    bound: Vec<Bound>,
}

fn resources(shader: &Shader, dispatch: &Dispatch, layouts: &Layouts, several: bool) -> Result<Resources, TraceError> {
    let variables = &shader.module.global_variables;
    let mut homes = vec![Home::None; variables.len()];
    let (mut regions, mut bound, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    check_names(shader, dispatch)?;
    for (handle, variable) in shader.used() {
        let (space, access) = match variable.space {
            AddressSpace::Storage { access } => (Space::Storage, access),
            AddressSpace::Uniform => (Space::Uniform, StorageAccess::LOAD),
            _ => continue,
        };
        let Some(place) = &variable.binding else { continue };
        // Arrays of bindings are refused where they are used.
        if let TypeInner::BindingArray { .. } = layouts.inner(variable.ty) {
            continue;
        }
        let name = variable.name.clone().unwrap_or_else(|| "a variable".into());
        let ty = layouts.name(variable.ty);
        let needed = layouts.bytes(variable.ty);
        let Some(binding) = dispatch.bindings.get(&(place.group, place.binding)) else {
            missing.push(unbound(place.group, place.binding, variable, &name, &ty, needed));
            continue;
        };
        if binding.bytes < needed {
            let message = format!(
                "binding {}.{} has {} B, and `{name}: {ty}` takes at least {needed}",
                place.group, place.binding, binding.bytes
            );
            return Err(TraceError::Binding(message));
        }
        let granule = layouts.narrowest(variable.ty).unwrap_or(4);
        let written = access.contains(StorageAccess::STORE);
        homes[handle.index()] = Home::Region(regions.len());
        regions.push(Region {
            name: name.clone(),
            space,
            memory: Memory::new(binding.bytes, binding.contents.clone()),
            shadow: written.then(|| Shadow::new(granule)),
            owners: (written && several).then(|| Owners::new(granule)),
        });
        bound.push(Bound { group: place.group, binding: place.binding, name, ty, space, bytes: binding.bytes });
    }
    if !missing.is_empty() {
        return Err(TraceError::Unbound(format!("not bound: {}", missing.join("; "))));
    }
    for (handle, variable) in shader.used() {
        homes[handle.index()] = match variable.space {
            AddressSpace::WorkGroup => {
                let granule = layouts.narrowest(variable.ty).unwrap_or(4);
                regions.push(Region {
                    name: variable.name.clone().unwrap_or_else(|| "a variable".into()),
                    space: Space::Workgroup,
                    memory: Memory::new(layouts.bytes(variable.ty), super::binding::Contents::Zero),
                    shadow: Some(Shadow::new(granule)),
                    owners: None,
                });
                Home::Region(regions.len() - 1)
            }
            AddressSpace::Private => Home::Private(handle.index()),
            _ => homes[handle.index()],
        };
    }
    Ok(Resources { homes, regions, bound })
}

/// Refuses buffers for what the shader has not: most likely a slip of the pen.
fn check_names(shader: &Shader, dispatch: &Dispatch) -> Result<(), TraceError> {
    match dispatch.bindings.keys().find(|place| !shader.bindings.contains(place)) {
        Some((group, binding)) => Err(TraceError::Binding(format!("{} has no binding {group}.{binding}", shader.path))),
        None => Ok(()),
    }
}

fn unbound(group: u32, binding: u32, variable: &naga::GlobalVariable, name: &str, ty: &str, needed: u64) -> String {
    let place = if group == 0 { binding.to_string() } else { format!("{group}.{binding}") };
    let kind = match variable.space {
        AddressSpace::Uniform => "var<uniform>",
        _ => "var<storage>",
    };
    format!("{kind} `{name}: {ty}`, at least {needed} B: add --bind {place}=…")
}
