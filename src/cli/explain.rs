//! `cornerturn explain`.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::Failure;
use super::output::Output;
use super::parse;
use crate::device::DeviceKind;
use crate::element::Element;
use crate::harness::Plan;
use crate::report;
use crate::trace::{self, Binding, Dispatch, Limits, Report, Selection, Shader, TraceError};
use crate::variant::Variant;

/// Bytes of the longest source that is read; there is nothing like it.
const MOST_SOURCE: u64 = 16 << 20;
/// Bytes of all files that are bound, which are kept in memory.
const MOST_BOUND: u64 = 1 << 30;

/// The options of `cornerturn explain`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cornerturn explain tiled
  cornerturn explain gather --element u8 --size 1000x1007
  cornerturn explain reduce.wgsl --grid 4096 --bind 0=16777216xf32 --bind 1=4096xf32
  cornerturn explain blur.wgsl --entry main --grid 16,16 --set RADIUS=3 --bind 0=u32:256,256 --bind 1.0=1MiB

It runs the shader on the CPU, all invocations of a workgroup together, and counts for each line what its accesses to \
storage buffers and workgroup memory cost on a GPU that makes one request for each subgroup: 32-byte sectors, and \
passes over 32 banks of 4 bytes. ! marks accesses that take at least twice the sectors that they need, and those with \
bank conflicts. Below are data races, conflicts between workgroups, accesses out of bounds, and barriers in control flow \
that is not uniform.

Buffers, --bind [GROUP.]BINDING=…, the group 0 where none is given:
  COUNTxTYPE[:FILL]   such as 16777216xf32; filled with zeros, or as FILL says: zero, random (floats from 0 to 1, \
integers of all values), index (0, 1, 2, …), or a value for all
  SIZE[:random]       bytes, such as 4096, 64KiB, 1GiB, 2TiB
  TYPE:VALUE,…        values, such as u32:4096,4096; of several types, as in u32:4096,4096;f32:0.5
  @FILE               what is in a file, of up to 1 GiB
TYPE is u8 i8 u16 i16 f16 bf16 u32 i32 f32 u64 i64 f64. Only what is touched takes memory.

docs/TRACE.md says what each figure means, and what the tracer cannot run.
Exit codes: 0 traced, whatever was found; 1 it could not be run, or --fail-on-findings and something was found; 2 bad \
input.")]
pub struct Args {
    /// A variant of cornerturn's, such as tiled, or a file with WGSL; - is standard input
    #[arg(value_name = "VARIANT|FILE.wgsl")]
    target: String,

    /// Of a variant: the element type, such as f32 [default: f32]
    #[arg(long, value_name = "NAME")]
    element: Option<Element>,

    /// Of a variant: the matrix [default: 4096x4096]
    #[arg(long, value_name = "ROWSxCOLS", value_parser = parse::size)]
    size: Option<(u64, u64)>,

    /// Of a variant: matrices, one after the other [default: 1]
    #[arg(long, value_name = "COUNT")]
    batch: Option<u64>,

    /// Of a variant: elements between the end of a row and the beginning of the next [default: 0,0]
    #[arg(long, value_name = "SOURCE,DESTINATION", value_parser = parse::sides, allow_hyphen_values = true)]
    pad: Option<[u64; 2]>,

    /// Of a file: the compute entry point, where there are several
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,

    /// Of a file: workgroups along x, y and z [default: 1]
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = parse::grid)]
    grid: Option<[u32; 3]>,

    /// Of a file: a buffer; once for each
    #[arg(long, value_name = "[GROUP.]BINDING=BUFFER", value_parser = bind)]
    bind: Vec<Bound>,

    /// Of a file: the value of an override, by name or @id; once for each
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse::setting)]
    set: Vec<(String, f64)>,

    /// Invocations that make requests together: a power of two from 4 to 128
    #[arg(long, value_name = "COUNT", default_value_t = 32)]
    subgroup: u32,

    /// Workgroups to trace: all, so many, or one as X,Y,Z [default: all of up to 64, else about 12, with totals scaled]
    #[arg(long, value_name = "all|COUNT|X,Y,Z", value_parser = workgroups)]
    workgroups: Option<Selection>,

    /// Statements and expressions that a workgroup may take, before a loop is called endless
    #[arg(long, value_name = "COUNT", default_value_t = Limits::default().steps)]
    max_steps: u64,

    /// Write the report as JSON; - is standard output, instead of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Show all lines of a source of more than 100, and not only those near an access
    #[arg(long)]
    whole: bool,

    /// Exit with 1 if there is a data race, an access out of bounds, or another finding
    #[arg(long)]
    fail_on_findings: bool,
}

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Where a buffer goes, and how it is written; a file is read later.
#[derive(Clone, Debug, PartialEq)]
struct Bound {
    place: (u32, u32),
    buffer: Buffer,
}

#[derive(Clone, Debug, PartialEq)]
enum Buffer {
    Described(Binding),
    File(PathBuf),
}

fn bind(text: &str) -> Result<Bound, String> {
    let wrong = || format!("`{text}` is no binding; write [GROUP.]BINDING=BUFFER, such as 0=16777216xf32");
    let (place, buffer) = text.split_once('=').ok_or_else(wrong)?;
    let (group, binding) = place.split_once('.').unwrap_or(("0", place));
    let number = |digits: &str| digits.parse().map_err(|_| wrong());
    let buffer = match buffer.strip_prefix('@') {
        Some(path) => Buffer::File(path.into()),
        None => Buffer::Described(Binding::parse(buffer)?),
    };
    Ok(Bound { place: (number(group)?, number(binding)?), buffer })
}

fn workgroups(text: &str) -> Result<Selection, String> {
    if text == "all" {
        return Ok(Selection::All);
    }
    if text.split(',').count() == 3 {
        return parse::grid(text).map(Selection::One);
    }
    match text.parse() {
        Ok(count) if count > 0 => Ok(Selection::Count(count)),
        _ => Err(format!("`{text}` are no workgroups; write all, a number of them, or one as X,Y,Z")),
    }
}

/// Traces and presents.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let output = match &args.json {
        Some(path) if path != Path::new("-") => Some(Output::open(path).map_err(Failure::Input)?),
        _ => None,
    };
    let (shader, mut dispatch) = match args.target.parse::<Variant>() {
        Ok(variant) => of_variant(args, variant)?,
        Err(_) => {
            output.as_ref().map_or(Ok(()), |output| output.spare(&inputs(args))).map_err(Failure::Input)?;
            of_file(args)?
        }
    };
    dispatch.subgroup = args.subgroup;
    dispatch.workgroups = args.workgroups.unwrap_or_default();
    dispatch.limits.steps = args.max_steps;
    let report = trace::trace(&shader, &dispatch).map_err(failure)?.report;
    // Rust's floats and integers and text all have a form in JSON.
    let json = || serde_json::to_string_pretty(&report).map(|json| json + "\n").map_err(|error| error.to_string());
    match (&args.json, output) {
        (None, _) => super::print(&report::explain(&report, args.whole))?,
        (Some(_), None) => super::print(&json().map_err(Failure::Run)?)?,
        (Some(_), Some(output)) => {
            super::print(&report::explain(&report, args.whole))?;
            output.write(&json().map_err(Failure::Run)?).map_err(Failure::Run)?;
        }
    }
    Ok(ExitCode::from(exit_code(args, &report)))
}

fn exit_code(args: &Args, report: &Report) -> u8 {
    (args.fail_on_findings && !report.findings.is_empty()).into()
}

/// The files that are read where no variant is traced.
fn inputs(args: &Args) -> Vec<&Path> {
    let buffers = args.bind.iter().filter_map(|bound| match &bound.buffer {
        Buffer::File(path) => Some(path.as_path()),
        Buffer::Described(_) => None,
    });
    std::iter::once(Path::new(&args.target)).chain(buffers).collect()
}

fn failure(error: TraceError) -> Failure {
    if error.is_input() { Failure::Input(error.to_string()) } else { Failure::Run(error.to_string()) }
}

/// The kernel of a variant as the wgpu backend launches it.
fn of_variant(args: &Args, variant: Variant) -> Result<(Shader, Dispatch), Failure> {
    let of_files = [
        ("--entry", args.entry.is_some()),
        ("--grid", args.grid.is_some()),
        ("--bind", !args.bind.is_empty()),
        ("--set", !args.set.is_empty()),
    ];
    if let Some((option, _)) = of_files.into_iter().find(|(_, given)| *given) {
        let message =
            format!("{option} is for files; what {variant} is launched with follows from --size and --element");
        return Err(Failure::Input(message));
    }
    let plan = Plan {
        sizes: Some(vec![args.size.unwrap_or((4096, 4096))]),
        batch: args.batch.unwrap_or(1),
        pad: args.pad.unwrap_or_default(),
        elements: vec![args.element.unwrap_or(Element::F32)],
        ..Plan::default()
    };
    let problems = plan.problems(DeviceKind::Gpu).map_err(|error| Failure::Input(error.to_string()))?;
    trace::kernel(variant, &problems[0]).map_err(failure)
}

fn of_file(args: &Args) -> Result<(Shader, Dispatch), Failure> {
    let of_variants = [
        ("--element", args.element.is_some()),
        ("--size", args.size.is_some()),
        ("--batch", args.batch.is_some()),
        ("--pad", args.pad.is_some()),
    ];
    if let Some((option, _)) = of_variants.into_iter().find(|(_, given)| *given) {
        let message = format!("{option} is for variants, and {} is none; write --grid and --bind", args.target);
        return Err(Failure::Input(message));
    }
    let path = Path::new(&args.target);
    let bytes = match path == Path::new("-") {
        true => read(&mut std::io::stdin().lock(), "standard input", MOST_SOURCE),
        false => open(path, MOST_SOURCE).map_err(|message| hint(&args.target, message)),
    }
    .map_err(Failure::Input)?;
    let name = if path == Path::new("-") { "standard input".into() } else { path.display().to_string() };
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::Input(format!("{name} is no text in UTF-8: byte {at} is wrong"))
    })?;
    // Some editors begin a file with a byte order mark, which is none of the source.
    if text.starts_with(BYTE_ORDER_MARK) {
        text.remove(0);
    }
    let shader = Shader::new(&name, text, args.entry.as_deref(), &args.set).map_err(failure)?;
    let mut dispatch = Dispatch::new(args.grid.unwrap_or([1; 3]));
    dispatch.bindings = bindings(&args.bind)?;
    Ok((shader, dispatch))
}

/// What else somebody may have meant who named what is no file.
fn hint(target: &str, message: String) -> String {
    if target.contains(['.', '/', '\\']) {
        return message;
    }
    let kernels = Variant::ALL.iter().filter(|variant| variant.spec().kernel.is_some());
    let names: Vec<_> = kernels.map(|variant| variant.name()).collect();
    format!("{message}; the variants are {}", names.join(", "))
}

fn open(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let name = path.display();
    let mut file = std::fs::File::open(path).map_err(|error| format!("cannot read {name}: {error}"))?;
    read(&mut file, &name.to_string(), most)
}

fn read(from: &mut dyn Read, name: &str, most: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = from.take(most.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| format!("cannot read {name}: {error}"))?;
    if bytes.len() as u64 > most {
        return Err(format!("{name} has more than {most} B, the most that is read of it"));
    }
    Ok(bytes)
}

fn bindings(list: &[Bound]) -> Result<BTreeMap<(u32, u32), Binding>, Failure> {
    let mut bindings = BTreeMap::new();
    let mut room = MOST_BOUND;
    for Bound { place, buffer } in list {
        let binding = match buffer {
            Buffer::Described(binding) => binding.clone(),
            Buffer::File(path) => {
                let bytes = open(path, room).map_err(Failure::Input)?;
                room -= bytes.len() as u64;
                Binding::of_bytes(bytes)
            }
        };
        if bindings.insert(*place, binding).is_some() {
            return Err(Failure::Input(format!("binding {}.{} is given twice", place.0, place.1)));
        }
    }
    Ok(bindings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_workgroups_are_read_from_text() {
        let bound = bind("1.2=u32:7").unwrap();
        assert_eq!((bound.place, bound.buffer), ((1, 2), Buffer::Described(Binding::of_bytes(vec![7, 0, 0, 0]))));
        assert_eq!(bind("3=@a=b").unwrap().buffer, Buffer::File("a=b".into()));
        for text in ["", "0", "=4", "x=4", "1.=4", ".1=4", "1.2.3=4", "0=", "-1=4"] {
            assert!(bind(text).is_err(), "{text}");
        }
        assert_eq!(workgroups("all"), Ok(Selection::All));
        assert_eq!(workgroups("7"), Ok(Selection::Count(7)));
        assert_eq!(workgroups("7,1,0"), Ok(Selection::One([7, 1, 0])));
        for text in ["", "0", "-1", "some", "1,2", "1,2,3,4", "1,x,2"] {
            assert!(workgroups(text).is_err(), "{text}");
        }
    }
}
