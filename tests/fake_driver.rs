//! The CUDA backend on drivers that are no drivers: a library that is missing, too old, incomplete or without a
//! device has to be reported and never to panic, and one whose device is host memory has to run everything but the
//! kernels themselves. The same goes for cuBLAS and NVML beside it.
//!
//! Each case runs in a process of its own, this program again, whose loader finds the fake first: a process opens the
//! driver only once.

fn main() -> std::process::ExitCode {
    #[cfg(target_os = "linux")]
    return linux::main();
    #[cfg(not(target_os = "linux"))]
    std::process::ExitCode::SUCCESS
}

#[cfg(target_os = "linux")]
#[path = "common/missing.rs"]
mod missing;

#[cfg(target_os = "linux")]
#[path = "fake_driver/clocks.rs"]
mod clocks;
#[cfg(target_os = "linux")]
#[path = "fake_driver/enqueue.rs"]
mod enqueue;

#[cfg(target_os = "linux")]
#[path = "fake_driver/probes.rs"]
mod probes;

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeSet;
    use std::num::NonZeroU32;
    use std::path::{Path, PathBuf};
    use std::process::{Command, ExitCode};
    use std::sync::OnceLock;
    use std::{env, fs};

    use cornerturn::backend::{BackendError, RunOptions, Support, TransposeBackend};
    use cornerturn::backends::{self, cuda};
    use cornerturn::device::Api;
    use cornerturn::element::{Element, Width};
    use cornerturn::pattern::Pattern;
    use cornerturn::problem::{Layout, Problem};
    use cornerturn::timing::Timing;
    use cornerturn::variant::{Moves, Presence, Variant};
    use libtest_mimic::{Arguments, Failed, Trial};

    use crate::missing::unless_missing;

    /// Says to this program that it is a case's own process, and which scene it is to play.
    const SCENE: &str = "CORNERTURN_FAKE_SCENE";
    const SOURCE: &str = include_str!("fake_driver/libcuda.c");
    const CUBLAS_SOURCE: &str = include_str!("fake_driver/libcublas.c");

    /// What runs in the process of its own; what it prints is compared, and a panic fails the case.
    type Scene = fn();
    const SCENES: [(&str, Scene); 15] = [
        ("list", list),
        ("clocks", crate::clocks::clocks),
        ("transpose", transpose),
        ("errors", errors),
        ("allocate", allocate),
        ("prepare", prepare),
        ("run", run),
        ("geam", geam),
        ("enqueue", crate::enqueue::enqueue),
        ("host", crate::enqueue::host_fails),
        ("host_order", crate::enqueue::host_order),
        ("host_lost", crate::enqueue::host_lost),
        ("profile", profile),
        ("hierarchy", crate::probes::hierarchy),
        ("probes", crate::probes::all),
    ];

    pub fn main() -> ExitCode {
        if let Ok(name) = env::var(SCENE) {
            let scene = SCENES.into_iter().find(|(known, _)| *known == name);
            scene.expect("a known scene").1();
            return ExitCode::SUCCESS;
        }
        let help = "see whether `nvidia-smi -L` lists a GPU and CUDA_VISIBLE_DEVICES hides none";
        let update = "install NVIDIA driver 525 or newer";
        let mut trials = vec![
            Trial::test("symbols", symbols),
            case(
                "old_driver",
                Play { defines: &["-DOLD"], ..Play::scene("list") },
                format!("cuda absent: the driver supports CUDA 11.4, the kernels need 12.0; {update}\n"),
            ),
            case(
                "old_and_incomplete_driver",
                Play { defines: &["-DOLD", "-DBARE"], ..Play::scene("list") },
                format!("cuda absent: the driver supports CUDA 11.4, the kernels need 12.0; {update}\n"),
            ),
            case(
                "incomplete_driver",
                Play { defines: &["-DBARE"], ..Play::scene("list") },
                format!(
                    "cuda absent: the driver's library lacks {} of the functions needed, such as cuCtxGetCurrent; \
                     {update}\n",
                    cuda::SYMBOLS.len() - 1
                ),
            ),
            case(
                "no_version",
                Play { fake: &[("FAKE_FAIL", "cuDriverGetVersion:34")], ..Play::scene("list") },
                "cuda absent: cuDriverGetVersion failed: CUDA_ERROR_STUB_LIBRARY; take the toolkit's folder `stubs` \
                 out of the loader's path\n",
            ),
            case(
                "init_fails",
                Play { fake: &[("FAKE_FAIL", "cuInit:100")], ..Play::scene("list") },
                format!("cuda absent: cuInit failed: CUDA_ERROR_NO_DEVICE; {help}\n"),
            ),
            case(
                "no_devices",
                Play { fake: &[("FAKE_DEVICES", "0")], ..Play::scene("list") },
                format!("cuda absent: the driver lists no device; {help}\n"),
            ),
            case(
                "one_device_of_three_is_broken",
                Play { fake: &[("FAKE_DEVICES", "3"), ("FAKE_BROKEN", "1")], ..Play::scene("list") },
                "cuda:0 Fake 0 0000:c0:00.0 1073741824 B\ncuda:2 Fake 2 0000:c2:00.0 1073741824 B\n",
            ),
            case(
                "all_devices_are_broken",
                Play { fake: &[("FAKE_FAIL", "cuDeviceGetAttribute:999")], ..Play::scene("list") },
                format!(
                    "cuda absent: cuda:0 cannot be read: cuDeviceGetAttribute failed: CUDA_ERROR_UNKNOWN; {help}\n"
                ),
            ),
            case("misuse", Play::scene("errors"), ""),
            case(
                "out_of_memory_before_allocating",
                Play { fake: &[("FAKE_MEMORY", "8191")], ..Play::scene("allocate") },
                "out of memory: 8192 B requested, 8191 B free\n",
            ),
            case(
                "out_of_memory_while_allocating",
                Play { fake: &[("FAKE_FAIL", "cuMemAlloc_v2:2")], ..Play::scene("allocate") },
                "out of memory: 8192 B requested, 1073741824 B free\n",
            ),
            case(
                "context_fails",
                Play { fake: &[("FAKE_FAIL", "cuDevicePrimaryCtxRetain:46")], ..Play::scene("allocate") },
                "the device cannot be opened: cuDevicePrimaryCtxRetain: CUDA_ERROR_DEVICE_UNAVAILABLE\n",
            ),
            case(
                "ptx_refused",
                Play { fake: &[("FAKE_FAIL", "cuModuleLoadDataEx:222")], ..Play::scene("prepare") },
                "cuda/ptx/naive.w1.ptx does not compile: CUDA_ERROR_UNSUPPORTED_PTX_VERSION: ptxas fatal : not for \
                 this GPU\n",
            ),
            case(
                "kernel_missing",
                Play { fake: &[("FAKE_FAIL", "cuModuleGetFunction:500")], ..Play::scene("prepare") },
                "cuda/ptx/naive.w1.ptx does not compile: CUDA_ERROR_NOT_FOUND\n",
            ),
            case(
                "kernel_faults",
                Play { fake: &[("FAKE_FAIL", "cuEventQuery:700")], ..Play::scene("run") },
                "the device was lost: cuEventQuery: CUDA_ERROR_ILLEGAL_ADDRESS\n",
            ),
            case(
                "launch_fails_in_a_capture",
                Play { fake: &[("FAKE_FAIL", "cuLaunchKernel:701")], ..Play::scene("run") },
                "cuLaunchKernel failed: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES\n",
            ),
            case(
                "capture_fails",
                Play { fake: &[("FAKE_FAIL", "cuStreamEndCapture:900")], ..Play::scene("run") },
                "cuGraphInstantiate failed: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED\n",
            ),
        ];
        trials.extend(cublas());
        trials.extend(nvml());
        trials.extend(host());
        #[cfg(feature = "cli")]
        trials.extend(counters());
        trials.extend(probes());
        for width in Width::ALL {
            let play = Play { width, ..Play::scene("transpose") };
            trials.push(case(&format!("transpose::{width}"), play, ""));
            trials.push(case(
                &format!("enqueue::{width}"),
                Play { scene: "enqueue", fake: &[("FAKE_DEVICES", "2")], ..play },
                "",
            ));
        }
        libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
    }

    /// Cases of the probes of the memory hierarchy.
    fn probes() -> [Trial; 5] {
        let play = |scene, fake| Play { fake, width: Width::W4, ..Play::scene(scene) };
        let failed = "cuLaunchKernel failed: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES";
        [
            case(
                "probe_hierarchy",
                play("hierarchy", &[]),
                "cuda:0 ok -\nregisters Some(262144) None\nshared Some(233472) Some(232448)\nl1 None None\n\
                 l2 Some(62914560) None\nglobal Some(1073741824) None\n\
                 by the blocks' clock: [\"multiply\", \"read-shared\", \"read-l1\"]\n",
            ),
            case(
                "probe_hierarchy_fails",
                play("hierarchy", &[("FAKE_FAIL", "cuLaunchKernel:701")]),
                format!("cuda:0 failed {failed}\n"),
            ),
            case(
                "probe_hierarchy_without_memory",
                play("hierarchy", &[("FAKE_FAIL", "cuMemAlloc_v2:2")]),
                "cuda:0 failed out of memory: 32 B requested, 1073741824 B free\n",
            ),
            case(
                "probes",
                play("probes", &[]),
                "banks ok - Some(32) true\nload 4 measured\nload 16 measured\nstore 4 measured\nstore 16 measured\n",
            ),
            case(
                "probes_fail",
                play("probes", &[("FAKE_FAIL", "cuLaunchKernel:701")]),
                format!("banks failed {failed} Some(1) false\nload 4 {failed}\n"),
            ),
        ]
    }

    /// Cases of matrices of the host: what is put on which stream, and what fails on the way.
    fn host() -> [Trial; 9] {
        let fails = |name, fake, error: &str| case(name, Play { fake, ..Play::scene("host") }, error);
        [
            fails(
                "host_upload_fails",
                &[("FAKE_FAIL", "cuMemcpyHtoDAsync_v2:1")],
                "cuMemcpyHtoDAsync failed: CUDA_ERROR_INVALID_VALUE\n",
            ),
            fails(
                "host_launch_fails",
                &[("FAKE_FAIL", "cuLaunchKernel:701")],
                "cuLaunchKernel failed: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES\n",
            ),
            fails(
                "host_download_fails",
                &[("FAKE_FAIL", "cuMemcpyDtoHAsync_v2:1")],
                "cuMemcpyDtoHAsync failed: CUDA_ERROR_INVALID_VALUE\n",
            ),
            fails("host_memory_fails", &[("FAKE_FAIL", "cuMemHostAlloc:2")], "out of memory: 12288 B requested\n"),
            fails(
                "host_stream_fails",
                &[("FAKE_FAIL", "cuStreamCreate:2")],
                "cuStreamCreate failed: CUDA_ERROR_OUT_OF_MEMORY\n",
            ),
            fails(
                "host_wait_fails",
                &[("FAKE_FAIL", "cuStreamWaitEvent:1")],
                "cuStreamWaitEvent failed: CUDA_ERROR_INVALID_VALUE\n",
            ),
            fails(
                "host_kernel_faults",
                &[("FAKE_FAIL", "cuEventSynchronize:700")],
                "the device was lost: cuEventSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS\n",
            ),
            case("host_order", Play { fake: &[("FAKE_ORDER", "1")], ..Play::scene("host_order") }, {
                let window = "on 1 upload\non 1 record\non 2 wait\non 2 kernel\non 2 record\non 3 wait\n\
                              on 3 download\non 3 record\n";
                let [wait, end] = ["synchronize", "end"].map(|what| format!("on 1 {what}\non 2 {what}\non 3 {what}\n"));
                format!("{}{wait}{end}", window.repeat(4))
            }),
            case(
                "host_lost",
                Play {
                    fake: &[("FAKE_ORDER", "1"), ("FAKE_FAIL", "cuStreamSynchronize:719")],
                    ..Play::scene("host_lost")
                },
                "on 1 synchronize\non 2 synchronize\non 3 synchronize\n",
            ),
        ]
    }

    /// Cases of `cornerturn profile`, with an ncu that makes its counters up.
    #[cfg(feature = "cli")]
    fn counters() -> [Trial; 4] {
        let play = Play { width: Width::W4, ..Play::scene("profile") };
        [
            case(
                "ncu_counts",
                play,
                "exit code 0\ntiled l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum 7\n\
                 tiled dram__bytes_read.sum 1024\npadded l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum 7\n\
                 padded dram__bytes_read.sum 1024\n",
            ),
            case("ncu_is_refused", Play { fake: &[("FAKE_NCU", "refuse")], ..play }, "exit code 1\n"),
            case("ncu_is_missing", Play { fake: &[("PATH", "")], ..play }, "exit code 1\n"),
            case("ncu_runs_what_fails", Play { fake: &[("FAKE_FAIL", "cuLaunchKernel:701")], ..play }, "exit code 1\n"),
        ]
    }

    /// Prints the counters of two variants; under ncu it is what launches them.
    #[cfg(feature = "cli")]
    fn profile() {
        if env::args().any(|argument| argument == "--launch") {
            let code = cornerturn::cli::run(env::args_os());
            std::process::exit(if code == ExitCode::SUCCESS { 0 } else { 1 });
        }
        let file = env::var_os("FAKE_LOG").map(PathBuf::from).expect("a log").with_extension("json");
        let words = ["cornerturn", "profile", "--variant", "tiled,padded", "--size", "64x65", "--quiet", "--json"];
        let code = cornerturn::cli::run(words.map(std::ffi::OsString::from).into_iter().chain([file.clone().into()]));
        println!("exit code {}", if code == ExitCode::SUCCESS { 0 } else { 1 });
        let Ok(text) = fs::read_to_string(file) else { return };
        let profile: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        for row in profile["results"].as_array().expect("rows") {
            for counter in row["counters"].as_array().expect("counters") {
                if let Some(measured) = counter["measured"].as_f64() {
                    let name = |value: &serde_json::Value| value.as_str().expect("a name").to_owned();
                    println!("{} {} {measured}", name(&row["variant"]), name(&counter["metric"]));
                }
            }
        }
    }

    #[cfg(not(feature = "cli"))]
    fn profile() {}

    /// Cases of NVML: it is found by the device's address, or else by its UUID, and what it does not tell is missing.
    fn nvml() -> [Trial; 7] {
        let play = Play::scene("clocks");
        let counters = r#"[("power cap", 0), ("thermal slowdown", 0)]"#;
        [
            case("clocks", play, format!("cuda:0 SM Some(1980), memory Some(3201), Some([]), {counters}\n")),
            case(
                "clocks_held_down",
                // Idle, the user's setting, a power cap and a hardware slowdown.
                Play { fake: &[("FAKE_THROTTLE", "15"), ("FAKE_CAPPED_NS", "7")], ..play },
                "cuda:0 SM Some(1980), memory Some(3201), Some([\"power cap\", \"hardware slowdown\"]), \
                 [(\"power cap\", 7), (\"thermal slowdown\", 0)]\n",
            ),
            case(
                "clocks_without_counters",
                Play { fake: &[("FAKE_FAIL", "nvmlDeviceGetViolationStatus:3")], ..play },
                "cuda:0 SM Some(1980), memory Some(3201), Some([]), []\n",
            ),
            case(
                "clocks_by_uuid",
                Play { fake: &[("FAKE_FAIL", "nvmlDeviceGetHandleByPciBusId_v2:6")], ..play },
                format!("cuda:0 SM Some(1980), memory Some(3201), Some([]), {counters}\n"),
            ),
            case(
                "clocks_by_uuid_without_an_address",
                Play { fake: &[("FAKE_FAIL", "cuDeviceGetPCIBusId:1")], ..play },
                format!("cuda:0 SM Some(1980), memory Some(3201), Some([]), {counters}\n"),
            ),
            case(
                "clocks_of_another_device",
                // The second has neither the address nor the UUID that NVML knows.
                Play { fake: &[("FAKE_DEVICES", "2")], ..play },
                format!("cuda:0 SM Some(1980), memory Some(3201), Some([]), {counters}\ncuda:1 has no sensor\n"),
            ),
            case("no_nvml", Play { fake: &[("FAKE_FAIL", "nvmlInit_v2:9")], ..play }, "cuda:0 has no sensor\n"),
        ]
    }

    /// Cases of cuBLAS: where it is missing or incomplete, its row has a reason; what fails is an error.
    fn cublas() -> [Trial; 9] {
        let play = Play { width: Width::W4, ..Play::scene("geam") };
        let call = "geam 4 B, op 1 0, m 3, n 5, 1 a + 0 b, ld 5 3 3, b is c\n";
        [
            case(
                "cublas_missing",
                Play { cublas: Cublas::Missing, ..play },
                "unsupported: cuBLAS, libcublas.so or libcublas.so.12, cannot be opened: LD_LIBRARY_PATH has \
                 to name its folder, in the CUDA toolkit or in pip's nvidia-cublas-cu12\n",
            ),
            case(
                "cublas_incomplete",
                Play { cublas: Cublas::Incomplete, ..play },
                "unsupported: cuBLAS lacks 2 of the functions needed, such as cublasDgeam\n",
            ),
            // One call for each of two matrices.
            case("cublas_calls", play, format!("create\n{call}{call}destroy\n")),
            case("cublas_calls_doubles", Play { width: Width::W8, ..play }, {
                let call = call.replace("4 B", "8 B");
                format!("create\n{call}{call}destroy\n")
            }),
            case("cublas_calls_with_gaps", Play { fake: &[("FAKE_GAPS", "1")], ..play }, {
                let call = call.replace("ld 5 3 3", "ld 7 4 4");
                format!("create\n{call}{call}destroy\n")
            }),
            case(
                "cublas_create_fails",
                Play { fake: &[("FAKE_FAIL", "cublasCreate_v2:3")], ..play },
                "cublasCreate failed: CUBLAS_STATUS_ALLOC_FAILED\n",
            ),
            case(
                "cublas_stream_fails",
                Play { fake: &[("FAKE_FAIL", "cublasSetStream_v2:1")], ..play },
                "cublasSetStream failed: CUBLAS_STATUS_NOT_INITIALIZED\ncreate\ndestroy\n",
            ),
            case(
                "cublas_call_fails",
                Play { fake: &[("FAKE_FAIL", "cublasSgeam:14")], ..play },
                "cublasSgeam failed: CUBLAS_STATUS_INTERNAL_ERROR\ncreate\ndestroy\n",
            ),
            case(
                "cublas_launch_fails",
                Play { fake: &[("FAKE_FAIL", "cuLaunchKernel:719")], ..play },
                format!("cublasSgeam failed: CUBLAS_STATUS_EXECUTION_FAILED\ncreate\n{call}destroy\n"),
            ),
        ]
    }

    /// What there is of cuBLAS.
    #[derive(Clone, Copy, PartialEq)]
    enum Cublas {
        Whole,
        Incomplete,
        Missing,
    }

    /// A scene, the driver it runs on, and what the driver does.
    #[derive(Clone, Copy)]
    struct Play {
        scene: &'static str,
        defines: &'static [&'static str],
        fake: &'static [(&'static str, &'static str)],
        cublas: Cublas,
        width: Width,
    }

    impl Play {
        fn scene(scene: &'static str) -> Play {
            Play { scene, defines: &[], fake: &[], cublas: Cublas::Whole, width: Width::W1 }
        }
    }

    /// A case that plays a scene in a process of its own and compares what it prints.
    fn case(name: &str, play: Play, expected: impl Into<String>) -> Trial {
        let expected = expected.into();
        Trial::ignorable_test(name, move || unless_missing("cc", cc_usable(), || played(&play, &expected)))
    }

    fn played(play: &Play, expected: &str) -> Result<(), Failed> {
        let folder = tempfile::tempdir()?;
        build(folder.path(), play.defines, play.cublas)?;
        let output = Command::new(env::current_exe()?)
            .env(SCENE, play.scene)
            .env("LD_LIBRARY_PATH", folder.path())
            .env("PATH", path_from(folder.path())?)
            .env("FAKE_LOG", folder.path().join("log"))
            .env("FAKE_WIDTH", play.width.bytes().to_string())
            .envs(play.fake.iter().copied())
            .output()?;
        let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if !output.status.success() || stderr.contains("panicked") || stdout != expected {
            let told = format!("--- expected\n{expected}--- printed\n{stdout}--- errors\n{stderr}");
            return Err(format!("{}\n{told}", output.status).into());
        }
        Ok(())
    }

    /// Where programs are looked for: first where the fake ncu is put.
    fn path_from(folder: &Path) -> Result<std::ffi::OsString, Failed> {
        let ncu = folder.join("ncu");
        fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake_driver/ncu"), ncu)?;
        let others = env::var_os("PATH").unwrap_or_default();
        Ok(env::join_paths([folder.to_path_buf()].into_iter().chain(env::split_paths(&others)))?)
    }

    fn cc_usable() -> &'static Result<(), String> {
        static USABLE: OnceLock<Result<(), String>> = OnceLock::new();
        USABLE.get_or_init(|| match Command::new("cc").arg("--version").output() {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(format!("cc --version ends with {}", output.status)),
            Err(error) => Err(format!("cc does not start: {error}")),
        })
    }

    /// Compiles the driver, cuBLAS and NVML into `folder`, under the names by which they are looked for.
    fn build(folder: &Path, defines: &[&str], cublas: Cublas) -> Result<(), Failed> {
        let driver = folder.join("libcuda.so.1");
        compile("libcuda.c", &driver, defines)?;
        fs::copy(driver, folder.join("libcuda.so"))?;
        compile("libnvml.c", &folder.join("libnvidia-ml.so.1"), &[])?;
        let cublas_file = folder.join("libcublas.so");
        let here = format!("-L{}", folder.display());
        match cublas {
            // A driver without functions has none for cuBLAS to call either, which nothing is to notice.
            Cublas::Whole => compile("libcublas.c", &cublas_file, &[&here, "-lcuda"])?,
            Cublas::Incomplete => compile("libcublas.c", &cublas_file, &["-DNO_GEAM"])?,
            // Files that cannot be opened hide a cuBLAS of this machine under whatever name.
            Cublas::Missing => {
                for name in cudarc::get_lib_name_candidates("cublas") {
                    fs::write(folder.join(name), "")?;
                }
            }
        }
        Ok(())
    }

    /// Compiles `source` into a shared library.
    fn compile(source: &str, library: &Path, arguments: &[&str]) -> Result<(), Failed> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake_driver").join(source);
        let mut cc = Command::new("cc");
        cc.args(["-std=gnu11", "-shared", "-fPIC", "-fvisibility=hidden", "-w", "-o"]).arg(library).arg(source);
        let output = cc.args(arguments).output()?;
        match output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
        }
    }

    /// The fakes have what the backend says it calls and nothing else, so that `transpose` would panic if it called more.
    fn symbols() -> Result<(), Failed> {
        let name = |line: &'static str| line.strip_prefix("API ")?.split('(').next();
        let driver = [&cuda::SYMBOLS[..], &cuda::OPTIONAL_SYMBOLS].concat();
        for (source, symbols) in [(SOURCE, &driver[..]), (CUBLAS_SOURCE, &cuda::CUBLAS_SYMBOLS)] {
            let fake: BTreeSet<&str> = source.lines().filter_map(name).collect();
            let called: BTreeSet<&str> = symbols.iter().copied().collect();
            if fake != called {
                return Err(format!("on one side only: {:?}", fake.symmetric_difference(&called)).into());
            }
        }
        Ok(())
    }

    fn list() {
        let found = backends::discover(&[Api::Cuda]);
        for device in &found.devices {
            let info = device.device();
            let (pci, memory) = (info.pci.as_deref().unwrap_or("?"), info.memory_bytes.unwrap_or(0));
            println!("{} {} {pci} {memory} B", info.id, info.name);
        }
        for absent in &found.absent {
            println!("{} absent: {}; {}", absent.api, absent.reason, absent.remedy);
        }
        assert!(!log().contains("retain"), "listing devices opens none");
    }

    fn log() -> String {
        let path = env::var_os("FAKE_LOG").map(PathBuf::from).expect("a log");
        fs::read_to_string(path).unwrap_or_default()
    }

    fn device() -> Box<dyn TransposeBackend> {
        backends::discover(&[Api::Cuda]).devices.remove(0)
    }

    fn launches(count: u32) -> NonZeroU32 {
        NonZeroU32::new(count).expect("some launches")
    }

    /// Every variant, on more sets than one, with one launch, with a part of a graph and with several.
    fn transpose() {
        let bytes: usize = env::var("FAKE_WIDTH").expect("a width").parse().expect("a number");
        let width = Width::ALL.into_iter().find(|width| width.bytes() == bytes).expect("a width");
        let device = device();
        let packed = Problem::new(37, 70, 2, Element::of_width(width)).expect("a problem");
        // Gaps after rows and matrices, other ones on either side.
        let (from, to) = (Layout::with_gaps(37, 70, 3, 5), Layout::with_gaps(70, 37, 1, 0));
        let gappy = packed.with_layouts(from, to).expect("a problem");
        for problem in [packed, gappy] {
            transpose_all(device.as_ref(), &problem);
        }
        drop(device);
        let log = log();
        let count = |word: &str| log.lines().filter(|line| line.split(' ').next() == Some(word)).count();
        assert!(count("alloc") > 0 && count("load") > 0 && count("capture") > 0, "{log}");
        for (made, undone) in [("alloc", "free"), ("load", "unload"), ("capture", "forget"), ("retain", "release")] {
            assert_eq!(count(made), count(undone), "{made} and {undone}");
        }
        assert_eq!(count("retain"), 1);
        assert!(count("create") == count("destroy") && count("create") == count("use"), "{log}");
    }

    fn transpose_all(device: &dyn TransposeBackend, problem: &Problem) {
        const SETS: usize = 3;
        let width = problem.width();
        let present = Variant::ALL.iter().filter(|variant| variant.spec().cuda == Presence::Present);
        for &variant in present {
            if variant == Variant::Geam && !matches!(width, Width::W4 | Width::W8) {
                assert!(matches!(device.support(variant, problem), Support::Unsupported(_)));
                continue;
            }
            // They take squares, and these are none.
            if variant.is_in_place() {
                assert!(matches!(device.support(variant, problem), Support::Unsupported(_)));
                continue;
            }
            // They take short rows only one directly after the other.
            if matches!(variant, Variant::Tall | Variant::Wide) && !problem.is_packed() {
                assert!(matches!(device.support(variant, problem), Support::Unsupported(_)));
                continue;
            }
            assert_eq!(device.support(variant, problem), Support::Supported);
            // cuBLAS has a launch of its own for each matrix.
            let each = if variant == Variant::Geam { 2 } else { 1 };
            let workspace = device.workspace(problem, SETS).expect("a workspace");
            let (from, to) = (problem.source_bytes() as usize, problem.destination_bytes() as usize);
            let (mut sources, mut read) = (vec![vec![0; from]; SETS], vec![0; to]);
            for (set, source) in sources.iter_mut().enumerate() {
                Pattern { seed: set as u64 }.fill(0, width.bytes(), source);
                // In two bands, as a large matrix is written.
                let (head, tail) = source.split_at(from / 2);
                workspace.write_source(set, 0, head).expect("written");
                workspace.write_source(set, head.len() as u64, tail).expect("written");
            }
            workspace.poison(0xA5).expect("poisoned");
            let before = log().lines().filter(|line| line.starts_with("launch")).count();
            let mut run = workspace.prepare(variant, RunOptions::default()).expect("prepared");
            let mut expected_launches = 0;
            for (count, sets_done) in [(1, 1), (2, 2), (63, SETS), (64, SETS), (200, SETS), (1, SETS)] {
                let timing = run.run(launches(count)).expect("run");
                assert!(matches!(timing, Timing::Device(_)), "{timing:?}");
                expected_launches += each * count as usize;
                let after = log().lines().filter(|line| line.starts_with("launch")).count();
                assert_eq!(after - before, expected_launches, "{variant} {count}");
                for (set, source) in sources.iter().enumerate() {
                    workspace.read_destination(set, 0, &mut read).expect("read");
                    let expected = if set < sets_done { moved(problem, variant, source) } else { vec![0xA5; to] };
                    assert!(read == expected, "{variant}: set {set} after {count} launches");
                }
            }
        }
    }

    /// A poisoned destination after one launch.
    fn moved(problem: &Problem, variant: Variant, source: &[u8]) -> Vec<u8> {
        let width = problem.width().bytes();
        let from = |index: u64| match variant.spec().moves {
            Moves::Copy => (index < problem.elements()).then_some(index),
            Moves::Transpose => problem.source_of(index),
        };
        let poison = vec![0xA5; width];
        let element = |index| from(index).map_or(&poison[..], |index| &source[index as usize * width..][..width]);
        (0..problem.destination_extent()).flat_map(element).copied().collect()
    }

    /// What a caller can get wrong, and problems without elements.
    fn errors() {
        let device = device();
        let problem = Problem::new(4, 4, 1, Element::U8).expect("a problem");
        assert!(matches!(device.workspace(&problem, 0), Err(BackendError::Unsupported(_))));
        let workspace = device.workspace(&problem, 2).expect("a workspace");
        for (set, offset, length) in [(2, 0, 1), (0, 0, 17), (0, 16, 1), (0, u64::MAX, 1)] {
            let mut bytes = vec![0; length];
            let error = workspace.write_source(set, offset, &bytes).expect_err("outside");
            assert!(matches!(error, BackendError::Call { .. }), "{error}");
            workspace.read_destination(set, offset, &mut bytes).expect_err("outside");
        }
        let error = workspace.prepare(Variant::TransposeCrate, RunOptions::default()).err();
        let Presence::Absent(reason) = Variant::TransposeCrate.presence(Api::Cuda) else { panic!("it is a CPU's") };
        assert_eq!(error, Some(BackendError::Unsupported(reason.into())));
        drop(workspace);

        let empty = Problem::new(0, u64::MAX, 7, Element::F32).expect("a problem");
        let workspace = device.workspace(&empty, 1).expect("a workspace");
        workspace.write_source(0, 0, &[]).expect("written");
        workspace.poison(1).expect("poisoned");
        workspace.read_destination(0, 0, &mut []).expect("read");
        for variant in [Variant::Memcpy, Variant::Copy, Variant::Padded] {
            let mut run = workspace.prepare(variant, RunOptions::default()).expect("prepared");
            assert!(matches!(run.run(launches(100)), Ok(Timing::Host(_))));
        }
        assert!(!log().contains("launch"), "{}", log());
    }

    fn allocate() {
        let problem = Problem::new(32, 64, 1, Element::U8).expect("a problem");
        let device = device();
        println!("{}", device.workspace(&problem, 2).err().expect("no workspace"));
    }

    fn prepare() {
        let problem = Problem::new(32, 64, 1, Element::U8).expect("a problem");
        let device = device();
        let workspace = device.workspace(&problem, 2).expect("a workspace");
        println!("{}", workspace.prepare(Variant::Naive, RunOptions::default()).err().expect("not prepared"));
    }

    /// What cuBLAS is asked for, after the reason or the error if there is one.
    fn geam() {
        let bytes: usize = env::var("FAKE_WIDTH").expect("a width").parse().expect("a number");
        let element = if bytes == 8 { Element::F64 } else { Element::F32 };
        let packed = Problem::new(3, 5, 2, element).expect("a problem");
        let problem = match env::var("FAKE_GAPS") {
            Ok(_) => packed
                .with_layouts(Layout { first: 0, ld: 7, stride: 30 }, Layout { first: 0, ld: 4, stride: 19 })
                .expect("a problem"),
            Err(_) => packed,
        };
        let device = device();
        if let Support::Unsupported(reason) = device.support(Variant::Geam, &problem) {
            println!("unsupported: {reason}");
        }
        // `auto` never stands for it.
        assert_ne!(device.choose(Variant::Auto, &problem), Variant::Geam);
        let workspace = device.workspace(&problem, 1).expect("a workspace");
        let prepared = workspace.prepare(Variant::Geam, RunOptions::default());
        match prepared.map(|mut run| run.run(launches(1))) {
            Err(BackendError::Unsupported(_)) | Ok(Ok(_)) => {}
            Err(error) | Ok(Err(error)) => println!("{error}"),
        }
        drop(workspace);
        drop(device);
        let log = log();
        let last = |word: &str| log.lines().filter_map(|line| line.strip_prefix(word)).next_back().map(str::to_owned);
        assert!(last("use ").is_none_or(|stream| last("stream ") == Some(stream)), "{log}");
        for line in log.lines().filter(|line| ["create", "geam", "destroy"].contains(&line.split(' ').next().unwrap()))
        {
            println!("{line}");
        }
    }

    fn run() {
        let problem = Problem::new(32, 64, 1, Element::U8).expect("a problem");
        let device = device();
        let workspace = device.workspace(&problem, 2).expect("a workspace");
        let mut run = workspace.prepare(Variant::Naive, RunOptions::default()).expect("prepared");
        println!("{}", run.run(launches(10)).expect_err("not run"));
    }
}
