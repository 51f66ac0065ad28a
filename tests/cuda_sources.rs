//! The CUDA sources without a GPU: that the committed PTX is what `cuda/*.cu` compiles to, and that it assembles for
//! today's devices without spilling.
//!
//! With `CORNERTURN_BLESS=1` the PTX is written instead of compared; `scripts/ptx` does all that.

use std::ffi::{CStr, CString, c_char};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::OnceLock;

use cornerturn::element::Width;
use cornerturn::kernel::Language;
use cornerturn::probe::Probe;
use cornerturn::source;
use cornerturn::variant::Variant;
use cudarc::nvrtc::{result as nvrtc, sys};
use libtest_mimic::{Arguments, Trial};
use missing::unless_missing;

#[path = "common/missing.rs"]
mod missing;

/// The compiler whose PTX (ISA 8.0) the oldest supported driver, 525, takes.
const NVRTC_VERSION: (i32, i32) = (12, 0);
/// The lowest architecture that this compiler knows, so that the PTX loads on every device the driver runs.
const ARCHITECTURE: &str = "--gpu-architecture=compute_50";
/// NVRTC puts its header `<nv/target>` before every source, and dozens of unused globals from it into the PTX. This is
/// that header's include guard.
const NO_TARGETS: &str = "-D__NV_TARGET_H";
/// Turing, both Amperes, Ada and Hopper: for these the PTX must assemble without spilling.
const SMS: [u32; 5] = [75, 80, 86, 89, 90];
/// The headers that kernels may include.
const HEADERS: [&str; 6] = ["common.cuh", "vector.cuh", "exchange.cuh", "pairs.cuh", "skinny.cuh", "probe.cuh"];

fn main() -> ExitCode {
    let bless = std::env::var_os("CORNERTURN_BLESS").is_some_and(|value| value == "1");
    let mut trials = Vec::new();
    for &variant in Variant::ALL {
        if variant.spec().kernel.is_some() {
            trials.extend(Width::ALL.into_iter().flat_map(|width| cases(Ptx::Variant(variant, width), bless)));
        }
    }
    trials.extend(Probe::ALL.iter().flat_map(|&probe| cases(Ptx::Probe(probe), bless)));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// One file of PTX.
#[derive(Clone, Copy)]
enum Ptx {
    Variant(Variant, Width),
    Probe(Probe),
}

impl Ptx {
    fn file(self) -> String {
        match self {
            Ptx::Variant(variant, width) => source::ptx_file(variant, width),
            Ptx::Probe(probe) => probe.ptx_file(),
        }
    }

    fn source(self) -> String {
        match self {
            Ptx::Variant(variant, _) => source::cuda_file(variant),
            Ptx::Probe(probe) => probe.cuda_file(),
        }
    }

    fn defines(self) -> Option<Vec<String>> {
        match self {
            Ptx::Variant(variant, width) => source::cuda_defines(variant, width),
            Ptx::Probe(probe) => Some(probe.cuda_defines()),
        }
    }

    /// Bytes of shared memory that the table gives a block.
    fn shared_bytes(self) -> Option<u32> {
        match self {
            Ptx::Variant(variant, width) => {
                Some((variant.spec().kernel?.geometry)(width, Language::Cuda).shared_bytes())
            }
            Ptx::Probe(probe) => Some(probe.shared_bytes()),
        }
    }
}

fn cases(ptx: Ptx, bless: bool) -> Vec<Trial> {
    let file = ptx.file();
    let mut trials = vec![Trial::ignorable_test(file.clone(), move || {
        unless_missing("nvrtc", nvrtc_usable(), || Ok(if bless { write(ptx) } else { compare(ptx) }?))
    })];
    // What is being written cannot be assembled at the same time.
    for sm in SMS.into_iter().filter(|_| !bless) {
        trials.push(Trial::ignorable_test(format!("{file} on sm_{sm}"), move || {
            unless_missing("ptxas", ptxas_usable(), || Ok(assemble(ptx, sm, read(&ptx.file())?)?))
        }));
    }
    if matches!(ptx, Ptx::Variant(..)) && !bless {
        trials.push(Trial::ignorable_test(format!("{file} streamed"), move || {
            unless_missing("ptxas", ptxas_usable(), || {
                let streamed = source::streamed(&read(&ptx.file())?);
                match streamed.lines().find(|line| keeps_lines(line)) {
                    Some(line) => Err(format!("{line} is not marked"))?,
                    None => Ok(assemble(ptx, SMS[SMS.len() - 1], streamed)?),
                }
            })
        }));
    }
    trials
}

/// Whether a line of PTX has an access to global memory, or to memory of any kind, that is not marked as streaming.
fn keeps_lines(line: &str) -> bool {
    let accesses = |word: &str| ["ld.", "st.", "atom.", "red."].iter().any(|access| word.starts_with(access));
    let elsewhere =
        |word: &str| ["ld.param.", "ld.shared.", "st.shared."].iter().any(|access| word.starts_with(access));
    line.split_whitespace().any(|word| accesses(word) && !elsewhere(word) && !word.contains(".global.cs."))
}

fn path(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(relative)
}

fn read(relative: &str) -> Result<String, String> {
    // A checkout may have turned the line ends around; the compiler does not.
    fs::read_to_string(path(relative)).map(|text| text.replace("\r\n", "\n")).map_err(|e| format!("{relative}: {e}"))
}

fn compare(ptx: Ptx) -> Result<(), String> {
    let file = ptx.file();
    let committed = read(&file)?;
    let compiled = compile(ptx)?;
    if committed == compiled {
        return Ok(());
    }
    let differing = committed.lines().zip(compiled.lines()).take_while(|(a, b)| a == b).count();
    Err(format!(
        "{file} is stale: from line {} on, {} compiles to something else; run scripts/ptx",
        differing + 1,
        ptx.source()
    ))
}

fn write(ptx: Ptx) -> Result<(), String> {
    let file = ptx.file();
    fs::write(path(&file), compile(ptx)?).map_err(|e| format!("{file}: {e}"))
}

fn nvrtc_usable() -> &'static Result<(), String> {
    static USABLE: OnceLock<Result<(), String>> = OnceLock::new();
    USABLE.get_or_init(|| {
        // SAFETY: loads and unloads the library, whose initialisers have no preconditions.
        if !unsafe { sys::is_culib_present() } {
            return Err("libnvrtc is not on the loader's path (scripts/ptx --env)".into());
        }
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the library is there, every version of it has this function, and both pointers are valid.
        unsafe { sys::nvrtcVersion(&mut major, &mut minor) }.result().map_err(|e| format!("nvrtcVersion: {e}"))?;
        if (major, minor) == NVRTC_VERSION {
            return Ok(());
        }
        Err(format!("NVRTC is version {major}.{minor}, the PTX comes from {}.{}", NVRTC_VERSION.0, NVRTC_VERSION.1))
    })
}

/// Compiles the source of `ptx`.
fn compile(ptx: Ptx) -> Result<String, String> {
    // NVRTC gets texts and names, never a path of this machine, so that none can end up in the PTX.
    let c_string = |text: String| CString::new(text).map_err(|e| e.to_string());
    let file = ptx.source();
    let text = c_string(read(&file)?)?;
    let name = c_string(file)?;
    let headers = HEADERS.map(|header| read(&format!("cuda/{header}")).and_then(c_string));
    let headers = headers.into_iter().collect::<Result<Vec<_>, _>>()?;
    let header_names = HEADERS.map(|header| c_string(header.into())).into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut options = ptx.defines().ok_or("no kernel")?;
    options.extend([ARCHITECTURE.into(), NO_TARGETS.into()]);
    let program = Program::new(&text, &name, &headers, &header_names)?;
    program.compile(&options)
}

/// A program of NVRTC, destroyed when dropped.
struct Program(sys::nvrtcProgram);

impl Program {
    fn new(text: &CStr, name: &CStr, headers: &[CString], header_names: &[CString]) -> Result<Program, String> {
        let pointers = |strings: &[CString]| strings.iter().map(|s| s.as_ptr()).collect::<Vec<*const c_char>>();
        let (texts, names) = (pointers(headers), pointers(header_names));
        let mut program = std::ptr::null_mut();
        // SAFETY: all strings end in NUL and outlive the call, which copies them; both arrays have `texts.len()`
        // entries.
        let created = unsafe {
            sys::nvrtcCreateProgram(
                &mut program,
                text.as_ptr(),
                name.as_ptr(),
                texts.len() as i32,
                texts.as_ptr(),
                names.as_ptr(),
            )
        };
        created.result().map_err(|e| format!("nvrtcCreateProgram: {e}"))?;
        Ok(Program(program))
    }

    fn compile(&self, options: &[String]) -> Result<String, String> {
        // SAFETY: the program was created and is not destroyed yet.
        if let Err(error) = unsafe { nvrtc::compile_program(self.0, options) } {
            // SAFETY: as above.
            let log = unsafe { nvrtc::get_program_log(self.0) }.map(text).unwrap_or_default();
            return Err(format!("nvrtcCompileProgram: {error}\n{log}"));
        }
        // SAFETY: as above, and it is compiled.
        unsafe { nvrtc::get_ptx(self.0) }.map(text).map_err(|e| format!("nvrtcGetPTX: {e}"))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: created in `new` and destroyed only here. There is nothing to do about an error.
        let _ = unsafe { nvrtc::destroy_program(self.0) };
    }
}

/// The text that NVRTC returns, without the NUL (and newlines before it) at its end.
fn text(chars: Vec<c_char>) -> String {
    let bytes: Vec<u8> = chars.into_iter().map(|c| c as u8).collect();
    let text = String::from_utf8_lossy(&bytes);
    format!("{}\n", text.trim_end_matches(['\0', '\n']))
}

fn ptxas() -> PathBuf {
    std::env::var_os("PTXAS").map_or_else(|| "ptxas".into(), PathBuf::from)
}

fn ptxas_usable() -> &'static Result<(), String> {
    static USABLE: OnceLock<Result<(), String>> = OnceLock::new();
    USABLE.get_or_init(|| match Command::new(ptxas()).arg("--version").output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("{} --version ends with {}", ptxas().display(), output.status)),
        Err(error) => Err(format!("{} does not start: {error} (scripts/ptx --env)", ptxas().display())),
    })
}

/// Assembles a text of this PTX for `sm` and checks what it takes.
fn assemble(ptx: Ptx, sm: u32, text: String) -> Result<(), String> {
    let file = ptx.file();
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let assembled = folder.path().join("in.ptx");
    fs::write(&assembled, text).map_err(|e| e.to_string())?;
    let output = Command::new(ptxas())
        .args(["--verbose", &format!("--gpu-name=sm_{sm}"), "--output-file"])
        .arg(folder.path().join("out.cubin"))
        .arg(assembled)
        .output()
        .map_err(|e| e.to_string())?;
    let log = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(format!("ptxas does not take {file}:\n{log}"));
    }
    let shared = ptx.shared_bytes().ok_or("no kernel")?;
    for (what, unit, expected) in [
        ("stack frame", "bytes stack frame", 0),
        ("spill stores", "bytes spill stores", 0),
        ("spill loads", "bytes spill loads", 0),
        ("shared memory", "bytes smem", shared),
    ] {
        let found = number_before(&log, unit);
        // ptxas leaves shared memory out where there is none, but always tells of stack and spills.
        let found = if what == "shared memory" { found.or(Some(0)) } else { found };
        if found != Some(expected) {
            return Err(format!("{file} for sm_{sm}: {what} is {found:?} B, expected {expected} B\n{log}"));
        }
    }
    Ok(())
}

/// The number before the first `unit` of `log`: 48 in `48 bytes smem`.
fn number_before(log: &str, unit: &str) -> Option<u32> {
    let before = &log[..log.find(unit)?];
    before.split_whitespace().next_back()?.parse().ok()
}
