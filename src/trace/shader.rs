//! Shaders: parsed and validated by naga, with one compute entry point.

use naga::valid::{Capabilities, FunctionInfo, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, EntryPoint, GlobalVariable, Handle, Module, ShaderStage};

use super::directives;
use super::error::TraceError;
use super::layout::Layouts;
use super::overrides;
use super::record::Space;
use super::report::Bound;
use super::stack;

/// A shader that can be traced: valid WGSL, one of its compute entry points, and all overrides with their values.
#[derive(Debug)]
pub struct Shader {
    /// What to call it.
    pub(super) path: String,
    pub(super) source: String,
    pub(super) module: Module,
    pub(super) info: ModuleInfo,
    /// Group and binding of all variables, also of those that the entry point does not use.
    pub(super) bindings: Vec<(u32, u32)>,
    entry: usize,
}

impl Shader {
    /// Reads a shader from WGSL.
    ///
    /// `path` is what diagnostics call it. `entry` names the entry point, and may be left out where there is only one.
    /// `overrides` are values for overrides, by name or, for those with an `@id`, by its number.
    ///
    /// # Errors
    /// [`TraceError`] for whatever of it is wrong.
    pub fn new(
        path: &str,
        source: String,
        entry: Option<&str>,
        overrides: &[(String, f64)],
    ) -> Result<Shader, TraceError> {
        stack::check(&source)?;
        stack::with_room(|| read(path, source, entry, overrides))
    }

    /// The WGSL.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The entry point's name.
    pub fn entry_name(&self) -> &str {
        &self.entry().name
    }

    /// Invocations of a workgroup along x, y and z.
    pub fn workgroup_size(&self) -> [u32; 3] {
        self.entry().workgroup_size
    }

    /// The buffers that the entry point uses, each with the fewest bytes that it can have.
    pub fn resources(&self) -> Vec<Bound> {
        let layouts = Layouts::new(&self.module);
        let used = self.used().filter_map(|(_, variable)| {
            let space = match variable.space {
                AddressSpace::Storage { .. } => Space::Storage,
                AddressSpace::Uniform => Space::Uniform,
                _ => return None,
            };
            let place = variable.binding.as_ref()?;
            Some(Bound {
                group: place.group,
                binding: place.binding,
                name: variable.name.clone().unwrap_or_else(|| "a variable".into()),
                ty: layouts.name(variable.ty),
                space,
                bytes: layouts.bytes(variable.ty),
            })
        });
        used.collect()
    }

    /// The variables that the entry point uses.
    pub(super) fn used(&self) -> impl Iterator<Item = (Handle<GlobalVariable>, &GlobalVariable)> {
        self.module.global_variables.iter().filter(|(handle, _)| !self.entry_info()[*handle].is_empty())
    }

    pub(super) fn entry(&self) -> &EntryPoint {
        &self.module.entry_points[self.entry]
    }

    pub(super) fn entry_info(&self) -> &FunctionInfo {
        self.info.get_entry_point(self.entry)
    }
}

fn read(path: &str, source: String, entry: Option<&str>, values: &[(String, f64)]) -> Result<Shader, TraceError> {
    let invalid = |text: String| TraceError::Invalid(diagnostic(path, &source, &text));
    let module = naga::front::wgsl::parse_str(&directives::without_subgroups(&source))
        .map_err(|error| invalid(error.emit_to_string_with_path(&source, path)))?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&module)
        .map_err(|error| invalid(error.emit_to_string_with_path(&source, path)))?;
    let name = choose(path, &module, entry)?;
    let places = module.global_variables.iter().filter_map(|(_, variable)| variable.binding.as_ref());
    let bindings = places.map(|place| (place.group, place.binding)).collect();
    let (module, info) = overrides::resolve(&module, &info, &name, values)?;
    let is_entry = |entry: &EntryPoint| entry.stage == ShaderStage::Compute && entry.name == name;
    let entry = module.entry_points.iter().position(is_entry).unwrap_or(0);
    Ok(Shader { path: path.into(), source, module, info, bindings, entry })
}

/// naga's diagnostic, with the path where it has no place, and a note where the source is not WGSL yet.
fn diagnostic(path: &str, source: &str, text: &str) -> String {
    // What prints an error says that it is one.
    let text = text.trim_end().trim_start_matches("error: ");
    let place = if text.contains(path) { String::new() } else { format!("{path}: ") };
    let note = directives::unexpanded(source).map_or(String::new(), |(line, text)| {
        format!("\n  = note: line {line} is no WGSL but a preprocessor's or a template's, `{text}`: complete the source first")
    });
    format!("{place}{text}{note}")
}

/// The entry point's name.
fn choose(path: &str, module: &Module, wanted: Option<&str>) -> Result<String, TraceError> {
    let compute = module.entry_points.iter().filter(|entry| entry.stage == ShaderStage::Compute);
    let names: Vec<&str> = compute.map(|entry| entry.name.as_str()).collect();
    let path = path.to_owned();
    match (wanted, names.as_slice()) {
        (_, []) => {
            let others: Vec<_> =
                module.entry_points.iter().map(|entry| format!("{} ({:?})", entry.name, entry.stage)).collect();
            let others = if others.is_empty() {
                String::new()
            } else {
                format!(", only those of other stages: {}", others.join(", "))
            };
            Err(TraceError::NoEntryPoint { path, others })
        }
        (Some(name), names) if names.contains(&name) => Ok(name.to_owned()),
        (Some(name), names) => Err(TraceError::UnknownEntryPoint { path, name: name.into(), names: names.join(", ") }),
        (None, [name]) => Ok((*name).to_owned()),
        (None, names) => Err(TraceError::SeveralEntryPoints { path, names: names.join(", ") }),
    }
}
