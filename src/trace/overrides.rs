//! Overrides: which value each has.

use std::collections::BTreeMap;

use half::f16;
use naga::back::PipelineConstants;
use naga::back::pipeline_constants::{PipelineConstantError, process_overrides};
use naga::valid::ModuleInfo;
use naga::{Module, Override, Scalar, ScalarKind, ShaderStage};

use super::error::TraceError;
use super::layout::Layouts;

/// The module with one entry point alone, and all of its overrides with their values.
///
/// # Errors
/// [`TraceError::Override`] for a value of none, one given twice or out of range, and overrides that have none.
pub(super) fn resolve(
    module: &Module,
    info: &ModuleInfo,
    entry: &str,
    values: &[(String, f64)],
) -> Result<(Module, ModuleInfo), TraceError> {
    let mut constants = BTreeMap::new();
    for (name, value) in values {
        check(module, name, *value)?;
        if constants.insert(name.clone(), *value).is_some() {
            return Err(TraceError::Override(format!("`{name}` is given twice")));
        }
    }
    let mut constants: PipelineConstants = constants.into_iter().collect();
    let mut missing = Vec::new();
    loop {
        match process_overrides(module, info, Some((ShaderStage::Compute, entry)), &constants) {
            // naga names one at a time: with a value for it, it goes on to the next.
            Err(PipelineConstantError::MissingValue(name)) => {
                if constants.insert(name.clone(), 1.0).is_some() {
                    return Err(TraceError::Override(format!("`{name}` has no value")));
                }
                missing.push(name);
            }
            _ if !missing.is_empty() => return Err(without_value(module, &missing)),
            Ok((module, info)) => return Ok((module.into_owned(), info.into_owned())),
            Err(error) => return Err(TraceError::Override(reasons(&error))),
        }
    }
}

/// The name by which an override is given its value: its number, where it has one.
fn key(of: &Override) -> Option<String> {
    of.id.map(|id| id.to_string()).or_else(|| of.name.clone())
}

/// The override as WGSL writes it.
fn described(module: &Module, of: &Override) -> String {
    let id = of.id.map_or(String::new(), |id| format!("@id({id}) "));
    let name = of.name.as_deref().unwrap_or("_");
    format!("`{id}override {name}: {}`", Layouts::new(module).name(of.ty))
}

fn without_value(module: &Module, missing: &[String]) -> TraceError {
    let of = |name: &String| module.overrides.iter().find(|(_, of)| key(of).as_ref() == Some(name));
    let described = |name| of(name).map_or_else(|| format!("`{name}`"), |(_, of)| described(module, of));
    let each = missing.iter().map(|name| format!("{}: add --set {name}=…", described(name)));
    TraceError::Override(format!("without a value: {}", each.collect::<Vec<_>>().join("; ")))
}

/// Refuses a value of what is none, and one that its type has not.
fn check(module: &Module, name: &str, value: f64) -> Result<(), TraceError> {
    let overrides = || module.overrides.iter().map(|(_, of)| of);
    let Some(found) = overrides().find(|of| key(of).as_deref() == Some(name)) else {
        let numbered = overrides().find(|of| of.name.as_deref() == Some(name));
        let hint = match numbered.and_then(key) {
            Some(id) => format!("; {name} is given by its number, --set {id}=…"),
            None => {
                let names: Vec<_> = overrides().filter_map(key).collect();
                if names.is_empty() { String::new() } else { format!(", but {}", names.join(", ")) }
            }
        };
        return Err(TraceError::Override(format!("there is no `{name}`{hint}")));
    };
    match module.types[found.ty].inner.scalar().is_none_or(|scalar| has(scalar, value)) {
        true => Ok(()),
        false => Err(TraceError::Override(format!("{} cannot be {value}", described(module, found)))),
    }
}

/// Whether a type has a value.
fn has(scalar: Scalar, value: f64) -> bool {
    let bits = i32::from(scalar.width) * 8;
    let whole = value.fract() == 0.0;
    match scalar.kind {
        ScalarKind::Bool => value == 0.0 || value == 1.0,
        ScalarKind::Uint => whole && value >= 0.0 && value < 2f64.powi(bits),
        ScalarKind::Sint => whole && value >= -2f64.powi(bits - 1) && value < 2f64.powi(bits - 1),
        ScalarKind::Float if scalar.width == 2 => f16::from_f64(value).is_finite(),
        ScalarKind::Float if scalar.width == 4 => (value as f32).is_finite(),
        _ => value.is_finite(),
    }
}

/// What an error says, and what those that it comes of say.
fn reasons(error: &dyn std::error::Error) -> String {
    let mut texts = vec![error.to_string()];
    let mut source = error.source();
    while let Some(error) = source {
        texts.push(error.to_string());
        source = error.source();
    }
    texts.join(": ")
}
