//! Vulkan and its relatives: loader, drivers, adapters.

use serde::Deserialize;

use super::Seen;
use super::finding::Finding;
use super::place::vendors;
use super::system::{System, name};
use crate::device::{Api, DeviceKind, TimerKind};

/// A driver's manifest, as far as it matters here.
#[derive(Deserialize)]
struct Manifest {
    #[serde(rename = "ICD")]
    icd: Icd,
}

#[derive(Deserialize)]
struct Icd {
    library_path: String,
}

/// Variables that name manifests or folders of them, in place of those that are installed; the first one counts.
const INSTEAD: [&str; 2] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];
/// A variable that names more of them.
const MORE: &str = "VK_ADD_DRIVER_FILES";

/// The manifests of Vulkan's drivers that its loader reads, and whether their libraries are there.
pub fn drivers(system: &System, seen: &Seen) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (mut manifests, mut instead) = (Vec::new(), false);
    let chosen = INSTEAD.into_iter().find(|variable| system.variable(variable).is_some());
    for variable in chosen.into_iter().chain([MORE]) {
        for path in paths(system.variable(variable)) {
            instead |= variable != MORE;
            if system.is_folder(path) {
                manifests.extend(manifests_in(system, path));
            } else if system.exists(path) {
                manifests.push(path.to_owned());
            } else {
                let seen = format!("{variable} names {path}, which is not there");
                findings.push(Finding::fail("Vulkan drivers", seen, format!("correct {variable}, or unset it")));
            }
        }
    }
    if !instead {
        manifests.extend(folders(system).iter().flat_map(|folder| manifests_in(system, folder)));
    }
    let usable: Vec<&str> = manifests
        .iter()
        .filter_map(|path| match broken(system, path) {
            None => Some(name(path)),
            Some(why) => {
                let remedy = "reinstall the driver that it belongs to, or remove the file";
                findings.push(Finding::warn("Vulkan drivers", format!("{path}: {why}"), remedy));
                None
            }
        })
        .collect();
    findings.insert(0, found(&usable, seen));
    if vendors(system).contains(&"NVIDIA") && !usable.iter().any(|name| name.contains("nvidia")) {
        let remedy = "install the GL part of NVIDIA's driver (Ubuntu: libnvidia-gl-…, Debian: nvidia-vulkan-icd); in a \
                      container, `-e NVIDIA_DRIVER_CAPABILITIES=all`";
        findings.push(Finding::warn("Vulkan drivers", "there is an NVIDIA GPU and no driver of NVIDIA's", remedy));
    }
    findings
}

fn found(usable: &[&str], seen: &Seen) -> Finding {
    let remedy = seen.absent(Api::Vulkan).map_or("", |absent| &absent.remedy);
    match usable {
        [] => Finding::warn("Vulkan drivers", "no manifest of a driver is installed (vulkan/icd.d/*.json)", remedy),
        names => Finding::ok("Vulkan drivers", names.join(", ")),
    }
}

fn paths(list: Option<&str>) -> impl Iterator<Item = &str> {
    list.unwrap_or("").split(':').filter(|path| !path.is_empty())
}

fn manifests_in(system: &System, folder: &str) -> Vec<String> {
    system.list(folder).into_iter().filter(|path| path.ends_with(".json")).collect()
}

/// The folders that the loader searches, as it documents them.
fn folders(system: &System) -> Vec<String> {
    let home = |below: &str| system.variable("HOME").map(|home| format!("{home}/{below}"));
    let one = |variable: &str, below: &str| system.variable(variable).map(str::to_owned).or_else(|| home(below));
    let mut bases: Vec<String> = one("XDG_CONFIG_HOME", ".config").into_iter().collect();
    bases.extend(paths(system.variable("XDG_CONFIG_DIRS").or(Some("/etc/xdg"))).map(str::to_owned));
    bases.extend(["/usr/local/etc", "/etc"].map(str::to_owned));
    bases.extend(one("XDG_DATA_HOME", ".local/share"));
    bases.extend(paths(system.variable("XDG_DATA_DIRS").or(Some("/usr/local/share:/usr/share"))).map(str::to_owned));
    bases.iter().map(|base| format!("{}/vulkan/icd.d", base.trim_end_matches('/'))).collect()
}

/// What is wrong with a manifest, if anything is.
fn broken(system: &System, path: &str) -> Option<String> {
    let text = system.text(path)?;
    let manifest: Manifest = match serde_json::from_str(&text) {
        Ok(manifest) => manifest,
        Err(error) => return Some(format!("no manifest: {error}")),
    };
    let library = manifest.icd.library_path;
    let folder = path.trim_end_matches(name(path));
    let file = match library.as_str() {
        absolute if absolute.starts_with('/') => absolute.to_owned(),
        relative if relative.contains('/') => format!("{folder}{relative}"),
        // A name alone is looked for by the system's linker.
        _ => return None,
    };
    (!system.exists(&file)).then(|| format!("its library {file} is not there"))
}

/// What Vulkan brings, or why it brings nothing.
pub fn vulkan(seen: &Seen) -> Vec<Finding> {
    match seen.absent(Api::Vulkan) {
        Some(absent) => vec![Finding::fail("Vulkan", &absent.reason, &absent.remedy)],
        None => seen.listed(Api::Vulkan),
    }
}

/// What the other APIs bring, where there is something to say about them: the system's own is missed, OpenGL is only
/// a way out.
pub fn others(seen: &Seen) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (api, name) in [(Api::Metal, "Metal"), (Api::Dx12, "Direct3D 12"), (Api::Gl, "OpenGL")] {
        findings.extend(match seen.absent(api) {
            None => seen.listed(api),
            // Where nothing would bring it, nothing is wrong.
            Some(absent) if absent.remedy.is_empty() => Vec::new(),
            Some(absent) => vec![Finding::warn(name, &absent.reason, &absent.remedy)],
        });
    }
    findings
}

/// Adapters that compute on the CPU, and those without a clock of their own.
pub fn adapters(seen: &Seen) -> Vec<Finding> {
    let adapters = || seen.devices.iter().filter(|device| !matches!(device.id.api, Api::Cpu | Api::Cuda));
    let mut findings = Vec::new();
    if adapters().next().is_some() && adapters().all(|device| device.kind == DeviceKind::Software) {
        let remedy = "install the GPU vendor's driver; figures of a software device say nothing about a GPU";
        findings.push(Finding::warn("adapters", "software devices only: the CPU pretends to be a GPU", remedy));
    }
    let untimed: Vec<String> =
        adapters().filter(|device| device.timer == TimerKind::Host).map(|device| device.id.to_string()).collect();
    if !untimed.is_empty() {
        let seen = format!("none on {}: the host's clock times them, less exactly", untimed.join(", "));
        findings.push(Finding::warn("timestamps", seen, "take another API of the same GPU, or a newer driver"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::super::system::folder;
    use super::*;
    use crate::backends::Absent;
    use crate::device::DeviceInfo;

    const MANIFEST: &str = r#"{"file_format_version": "1.0.0", "ICD": {"library_path": "LIB", "api_version": "1.3"}}"#;

    fn told(files: &[(&str, &str)], variables: &[(&str, &str)]) -> Vec<(Level, String)> {
        let files: Vec<(&str, String)> =
            files.iter().map(|(path, lib)| (*path, MANIFEST.replace("LIB", lib))).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
        let root = folder(&files);
        let absent = [Absent { api: Api::Vulkan, reason: "none".into(), remedy: "install a driver".into() }];
        let seen = Seen { devices: vec![], absent: &absent, cublas: None };
        let findings = drivers(&System::of(root.path(), variables), &seen);
        findings.into_iter().map(|finding| (finding.level, format!("{} -> {}", finding.seen, finding.remedy))).collect()
    }

    #[test]
    fn drivers_are_found_where_the_loader_looks() {
        let found = told(&[], &[]);
        assert!(
            found.len() == 1 && found[0].0 == Level::Warn && found[0].1.ends_with("-> install a driver"),
            "{found:?}"
        );
        let files = [
            ("/etc/vulkan/icd.d/nvidia_icd.json", "libGLX_nvidia.so.0"),
            ("/usr/share/vulkan/icd.d/lvp_icd.json", "/lib/lvp.so"),
            ("/me/.local/share/vulkan/icd.d/own.json", "../own.so"),
            ("/me/.local/share/vulkan/icd.d/readme.txt", ""),
            ("/lib/lvp.so", ""),
            ("/me/.local/share/vulkan/own.so", ""),
        ];
        let found = told(&files, &[("HOME", "/me")]);
        assert_eq!(found, [(Level::Ok, "nvidia_icd.json, own.json, lvp_icd.json -> ".into())]);
        let found = told(&files, &[("XDG_DATA_DIRS", "/nowhere")]);
        assert_eq!(found[0].1, "nvidia_icd.json -> ");
    }

    #[test]
    fn variables_take_the_place_of_the_folders() {
        let files = [("/usr/share/vulkan/icd.d/lvp.json", "x.so"), ("/a/one.json", "x.so"), ("/b/two.json", "x.so")];
        let names = |variables: &[(&str, &str)]| told(&files, variables)[0].1.clone();
        assert_eq!(names(&[("VK_DRIVER_FILES", "/a/one.json:/b")]), "one.json, two.json -> ");
        assert_eq!(names(&[("VK_ICD_FILENAMES", "/a/one.json")]), "one.json -> ");
        assert_eq!(names(&[("VK_DRIVER_FILES", "/b"), ("VK_ICD_FILENAMES", "/a/one.json")]), "two.json -> ");
        assert_eq!(names(&[("VK_ADD_DRIVER_FILES", "/b")]), "two.json, lvp.json -> ");
        let found = told(&files, &[("VK_DRIVER_FILES", "/a/none.json")]);
        assert!(found[1].0 == Level::Fail && found[1].1.starts_with("VK_DRIVER_FILES names /a/none.json"), "{found:?}");
    }

    #[test]
    fn a_manifest_that_leads_nowhere_is_told() {
        let found = told(&[("/etc/vulkan/icd.d/a.json", "/lib/none.so")], &[]);
        assert!(found[1].1.contains("a.json: its library /lib/none.so is not there"), "{found:?}");
        let found = told(&[("/etc/vulkan/icd.d/a.json", "\"")], &[]);
        assert!(found[1].1.contains("a.json: no manifest: "), "{found:?}");
    }

    #[test]
    fn software_and_missing_clocks_are_told() {
        let device = |id: &str, kind, timer| DeviceInfo {
            id: id.parse().unwrap(),
            name: "a".into(),
            driver: String::new(),
            kind,
            pci: None,
            memory_bytes: None,
            cache_bytes: None,
            peak: None,
            timer,
            has_bounds_checks: true,
            limits: vec![],
        };
        let of = |devices: &[DeviceInfo]| {
            let seen = Seen { devices: devices.iter().collect(), absent: &[], cublas: None };
            adapters(&seen).into_iter().map(|finding| finding.what).collect::<Vec<_>>()
        };
        use DeviceKind::{Cpu, Gpu, Software};
        let cpu = device("cpu", Cpu, TimerKind::Host);
        let llvmpipe = device("vulkan:0", Software, TimerKind::Device);
        assert_eq!(of(std::slice::from_ref(&cpu)), [""; 0]);
        assert_eq!(of(&[cpu.clone(), llvmpipe.clone()]), ["adapters"]);
        assert_eq!(of(&[cpu.clone(), llvmpipe.clone(), device("vulkan:1", Gpu, TimerKind::Device)]), [""; 0]);
        assert_eq!(of(&[cpu, llvmpipe, device("gl:0", Gpu, TimerKind::Host)]), ["timestamps"]);
    }
}
