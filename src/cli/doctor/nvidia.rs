//! NVIDIA's driver, from the kernel module to cuBLAS and the profiler.

use super::Seen;
use super::finding::Finding;
use super::place::vendors;
use super::system::{System, name};
use crate::device::Api;
use crate::nvidia::{MIN_DRIVER, MODULE_FILE, UPDATE, module_version};
use crate::profile::ProfileError;

/// Whether there is a GPU of NVIDIA's here, or was meant to be.
pub fn expected(system: &System) -> bool {
    vendors(system).contains(&"NVIDIA") || system.exists(MODULE_FILE) || system.exists(CONTROL)
}

const CONTROL: &str = "/dev/nvidiactl";

/// The kernel module and its version.
pub fn module(system: &System) -> Vec<Finding> {
    let what = "kernel module";
    let Some(text) = system.text(MODULE_FILE) else {
        let remedy = format!("{UPDATE}; where it is installed, `sudo modprobe nvidia` and see `sudo dmesg`");
        return vec![Finding::fail(what, format!("{MODULE_FILE} is not there: the module is not loaded"), remedy)];
    };
    let version = module_version(&text);
    let major = version.and_then(|version| version.split('.').next()?.parse::<u32>().ok());
    vec![match (version, major) {
        (Some(version), Some(major)) if major < MIN_DRIVER => {
            Finding::fail(what, format!("version {version}; CUDA needs {MIN_DRIVER} or newer"), UPDATE)
        }
        (Some(version), _) => Finding::ok(what, format!("version {version}")),
        (None, _) => Finding::warn(what, format!("{MODULE_FILE} does not tell a version"), UPDATE),
    }]
}

/// The nodes through which the driver's library reaches the module.
pub fn nodes(system: &System) -> Vec<Finding> {
    let what = "device nodes";
    let is_gpu = |path: &String| name(path).strip_prefix("nvidia").is_some_and(|number| number.parse::<u32>().is_ok());
    let gpus: Vec<String> = system.list("/dev").into_iter().filter(is_gpu).collect();
    let remedy = "sudo nvidia-modprobe -u -c 0; in a container, start it with `--gpus all`";
    if gpus.is_empty() {
        return vec![Finding::fail(what, "there is no /dev/nvidia0", remedy)];
    }
    let needed = [CONTROL, "/dev/nvidia-uvm"].map(String::from);
    let refused: Vec<Finding> = needed
        .iter()
        .chain(&gpus)
        .filter_map(|path| {
            let error = system.open(path).err()?;
            let remedy = if system.exists(path) {
                "let the user read and write it: see its group by `ls -l`, and NVreg_DeviceFileMode of the module"
            } else {
                remedy
            };
            Some(Finding::fail(what, format!("{path} cannot be opened: {error}"), remedy))
        })
        .collect();
    if refused.is_empty() {
        return vec![Finding::ok(what, format!("{} GPUs, all of which can be opened", gpus.len()))];
    }
    refused
}

/// GPUs that are divided into instances.
pub fn mig(system: &System) -> Vec<Finding> {
    let gpus = system.list("/proc/driver/nvidia/capabilities").into_iter().filter(|path| name(path).starts_with("gpu"));
    let instances =
        |gpu: &String| system.list(&format!("{gpu}/mig")).iter().filter(|path| name(path).starts_with("gi")).count();
    let divided: Vec<String> = gpus
        .map(|gpu| (name(&gpu).to_owned(), instances(&gpu)))
        .filter(|(_, count)| *count > 0)
        .map(|(gpu, count)| format!("{gpu} has {count} instances"))
        .collect();
    if divided.is_empty() {
        return Vec::new();
    }
    let remedy = "choose one by CUDA_VISIBLE_DEVICES=MIG-…, as `nvidia-smi -L` lists them";
    vec![Finding::warn("MIG", format!("{}; a process sees one of them", divided.join(", ")), remedy)]
}

/// What CUDA brings, or why it brings nothing.
pub fn cuda(system: &System, seen: &Seen) -> Vec<Finding> {
    match seen.absent(Api::Cuda) {
        None => seen.listed(Api::Cuda),
        Some(absent) if expected(system) => {
            vec![Finding::fail("CUDA", &absent.reason, &absent.remedy)]
        }
        Some(absent) if system.is_folder("/sys/bus/pci/devices") => {
            vec![Finding::ok("CUDA", format!("no NVIDIA GPU on the bus, and {}", absent.reason))]
        }
        Some(absent) => vec![Finding::warn("CUDA", &absent.reason, &absent.remedy)],
    }
}

/// cuBLAS, which the variant `geam` runs.
pub fn cublas(_: &System, seen: &Seen) -> Vec<Finding> {
    match &seen.cublas {
        None => Vec::new(),
        Some(Ok(())) => vec![Finding::ok("cuBLAS", "found, for the variant geam")],
        Some(Err(reason)) => {
            let remedy =
                "only the variant geam needs it: apt-get install libcublas-12-…, or pip install nvidia-cublas-cu12";
            vec![Finding::warn("cuBLAS", reason, remedy)]
        }
    }
}

/// Nsight Compute and the counters that it reads.
pub fn profiler(system: &System) -> Vec<Finding> {
    let elsewhere = || {
        let versions =
            system.list("/opt/nvidia/nsight-compute").into_iter().rev().map(|folder| format!("{folder}/ncu"));
        let toolkit = ["/usr/local/cuda/bin/ncu".to_owned()];
        toolkit.into_iter().chain(versions).find(|path| system.exists(path))
    };
    let program = match (system.program("ncu"), elsewhere()) {
        (Some(path), _) => Finding::ok("ncu", path),
        (None, Some(path)) => {
            let remedy = format!("add {} to the PATH", path.trim_end_matches("/ncu"));
            Finding::warn("ncu", format!("{path} is not on the PATH"), remedy)
        }
        (None, None) => warned("ncu", &ProfileError::Missing),
    };
    let parameters = system.text("/proc/driver/nvidia/params").unwrap_or_default();
    let restricted = parameters.lines().any(|line| line.replace(' ', "") == "RmProfilingAdminOnly:1");
    let counters = match restricted && !system.is_admin() {
        false => Finding::ok("counters", "this user may read them"),
        true => warned("counters", &ProfileError::Refused),
    };
    vec![program, counters]
}

/// What `cornerturn profile` would say, which has the reason before a colon and the remedy after it.
fn warned(what: &str, error: &ProfileError) -> Finding {
    let text = error.to_string();
    let (seen, remedy) = text.split_once(": ").unwrap_or((&text, ""));
    Finding::warn(what, seen, remedy)
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::super::system::folder;
    use super::*;

    fn check(check: fn(&System) -> Vec<Finding>, files: &[(&str, &str)]) -> Vec<(Level, String)> {
        let root = folder(files);
        let findings = check(&System::of(root.path(), &[("PATH", "/bin")]));
        findings.into_iter().map(|finding| (finding.level, format!("{} -> {}", finding.seen, finding.remedy))).collect()
    }

    /// What the only finding is.
    fn only(level: Level, text: &str, found: &[(Level, String)]) {
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].0 == level && found[0].1.contains(text), "{text} in {found:?}");
    }

    #[test]
    fn the_module_must_be_loaded_and_new_enough() {
        let version = |version: &str| {
            check(
                module,
                &[(MODULE_FILE, &format!("NVRM version: NVIDIA UNIX x86_64 Kernel Module  {version}  Tue\n"))],
            )
        };
        only(Level::Fail, "the module is not loaded -> install NVIDIA driver 525", &check(module, &[]));
        only(Level::Ok, "version 580.159.04", &version("580.159.04"));
        only(Level::Ok, "version 525.60.13", &version("525.60.13"));
        only(Level::Fail, "version 470.57.02; CUDA needs 525", &version("470.57.02"));
        only(Level::Warn, "does not tell a version", &version("none"));
    }

    #[test]
    fn the_nodes_must_be_there_and_open() {
        only(Level::Fail, "no /dev/nvidia0 -> sudo nvidia-modprobe", &check(nodes, &[]));
        let all = [("/dev/nvidiactl", ""), ("/dev/nvidia-uvm", ""), ("/dev/nvidia0", ""), ("/dev/nvidia1", "")];
        only(Level::Ok, "2 GPUs", &check(nodes, &all));
        only(Level::Fail, "/dev/nvidiactl cannot be opened: No such file", &check(nodes, &all[1..]));
        // A folder opens no better than a node without permission.
        let refused = [all[0], all[1], ("/dev/nvidia0/x", "")];
        only(Level::Fail, "-> let the user read and write it", &check(nodes, &refused));
    }

    #[test]
    fn instances_are_counted() {
        let folder = "/proc/driver/nvidia/capabilities";
        let file = |path: &str| format!("{folder}/{path}");
        only_empty(&check(mig, &[]));
        only_empty(&check(mig, &[(&file("gpu0/mig/config"), ""), (&file("mig/monitor"), "")]));
        let (one, other) = (file("gpu1/mig/gi1/access"), file("gpu1/mig/gi2/access"));
        only(Level::Warn, "gpu1 has 2 instances", &check(mig, &[(&one, ""), (&other, "")]));
    }

    fn only_empty(found: &[(Level, String)]) {
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn the_profiler_and_its_counters() {
        let found = check(profiler, &[]);
        assert!(found[0].1.contains("`ncu` is not on the PATH -> it comes with the CUDA toolkit"), "{found:?}");
        assert_eq!(found[1].0, Level::Ok, "{found:?}");
        let params = ("/proc/driver/nvidia/params", "ResmanDebugLevel: 4\nRmProfilingAdminOnly: 1\n");
        let user = ("/proc/self/status", "CapEff:\t0000000000000000\n");
        let found = check(profiler, &[("/opt/nvidia/nsight-compute/2024.1/ncu", ""), params, user]);
        assert!(found[0].1.contains("-> add /opt/nvidia/nsight-compute/2024.1 to the PATH"), "{found:?}");
        assert!(found[1].0 == Level::Warn && found[1].1.contains("NVreg_RestrictProfilingToAdminUsers=0"), "{found:?}");
        let admin = ("/proc/self/status", "CapEff:\t000001ffffffffff\n");
        let found = check(profiler, &[("/bin/ncu", ""), params, admin]);
        assert_eq!(found.iter().map(|found| found.0).collect::<Vec<_>>(), [Level::Ok; 2], "{found:?}");
    }

    #[test]
    fn cuda_is_missed_only_where_there_is_a_gpu() {
        use crate::backends::Absent;
        let absent = [Absent { api: Api::Cuda, reason: "no libcuda".into(), remedy: "install it".into() }];
        let seen = Seen { devices: vec![], absent: &absent, cublas: None };
        let level = |files: &[(&str, &str)]| cuda(&System::of(folder(files).path(), &[]), &seen)[0].level;
        let (class, vendor) = ("/sys/bus/pci/devices/a/class", "/sys/bus/pci/devices/a/vendor");
        assert_eq!(level(&[(class, "0x030200"), (vendor, "0x10de")]), Level::Fail);
        assert_eq!(level(&[(class, "0x030000"), (vendor, "0x1002")]), Level::Ok);
        assert_eq!(level(&[(CONTROL, "")]), Level::Fail);
        assert_eq!(level(&[]), Level::Warn);
    }
}
