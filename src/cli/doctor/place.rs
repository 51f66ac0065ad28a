//! Where the program runs: the kinds of machine in which a GPU is easily out of reach.

use super::finding::Finding;
use super::system::{System, name};

/// The vendors of GPUs, by the number under which the PCI bus knows them.
const VENDORS: [(&str, &str); 3] = [("0x10de", "NVIDIA"), ("0x1002", "AMD"), ("0x8086", "Intel")];

/// The vendors of the display controllers on the PCI bus, each once for each controller.
pub fn vendors(system: &System) -> Vec<&'static str> {
    let devices = system.list("/sys/bus/pci/devices");
    let vendor = |device: &String| {
        let class = system.text(&format!("{device}/class"))?;
        let id = system.text(&format!("{device}/vendor"))?;
        // Class 3 is that of display controllers, with a screen or without.
        let named = VENDORS.iter().find(|(number, _)| *number == id.trim());
        named.filter(|_| class.starts_with("0x03")).map(|(_, name)| *name)
    };
    devices.iter().filter_map(vendor).collect()
}

/// The GPUs that the PCI bus shows.
pub fn hardware(system: &System) -> Vec<Finding> {
    let vendors = vendors(system);
    if !system.is_folder("/sys/bus/pci/devices") {
        return Vec::new();
    }
    let count = |vendor: &str| vendors.iter().filter(|other| **other == vendor).count();
    let counts: Vec<String> = VENDORS
        .iter()
        .filter(|(_, vendor)| count(vendor) > 0)
        .map(|(_, vendor)| format!("{} {vendor}", count(vendor)))
        .collect();
    vec![if counts.is_empty() {
        Finding::warn(
            "GPUs on the bus",
            "none of NVIDIA, AMD or Intel",
            "in a virtual machine, pass a GPU through to it",
        )
    } else {
        Finding::ok("GPUs on the bus", counts.join(", "))
    }]
}

/// Windows' Linux, whose GPU is reached through Windows' driver.
pub fn wsl(system: &System) -> Vec<Finding> {
    let release = system.text("/proc/sys/kernel/osrelease").unwrap_or_default().to_lowercase();
    if !release.contains("microsoft") {
        return Vec::new();
    }
    if !system.exists("/dev/dxg") {
        let remedy = "update both: `wsl --update` and the GPU vendor's driver, in Windows; WSL 1 has no GPUs at all";
        return vec![Finding::fail("WSL", "there is no /dev/dxg, through which WSL 2 reaches a GPU", remedy)];
    }
    vec![Finding::ok("WSL", "WSL 2, with /dev/dxg; install no NVIDIA driver in here, Windows' own serves")]
}

/// A container, which sees only the devices and libraries that it was given.
pub fn container(system: &System) -> Vec<Finding> {
    let groups = system.text("/proc/1/cgroup").unwrap_or_default();
    let known = ["docker", "kubepods", "lxc", "libpod", "containerd"];
    let kind = if system.exists("/run/.containerenv") {
        "podman"
    } else if system.exists("/.dockerenv") {
        "docker"
    } else if let Some(kind) = known.into_iter().find(|kind| groups.contains(kind)) {
        kind
    } else if system.variable("KUBERNETES_SERVICE_HOST").is_some() {
        "kubernetes"
    } else if let Some(kind) = system.variable("container") {
        kind
    } else {
        return Vec::new();
    };
    let has_gpu = ["/dev/nvidiactl", "/dev/dri", "/dev/dxg"].into_iter().any(|path| system.exists(path));
    let remedy =
        "start it with `--gpus all` (NVIDIA, with nvidia-container-toolkit on the host) or `--device /dev/dri`";
    let mut findings = vec![if has_gpu {
        Finding::ok("container", format!("{kind}, with GPU devices in /dev"))
    } else {
        Finding::warn("container", format!("{kind}, with no GPU devices in /dev"), remedy)
    }];
    findings.extend(nvidia_variables(system));
    findings
}

/// What NVIDIA's container toolkit goes by.
fn nvidia_variables(system: &System) -> Vec<Finding> {
    let mut findings = Vec::new();
    let visible = "NVIDIA_VISIBLE_DEVICES";
    if let Some(value @ ("void" | "none")) = system.variable(visible) {
        let remedy = format!("start the container with `--gpus all`, or `-e {visible}=all`");
        findings.push(Finding::warn("container", format!("{visible} is {value}"), remedy));
    }
    let capabilities = "NVIDIA_DRIVER_CAPABILITIES";
    // Where it is not set, the toolkit gives what CUDA needs and nothing that Vulkan does.
    let given = system.variable(capabilities).unwrap_or("utility,compute");
    let has = |wanted: &&str| given.split(',').any(|part| part == "all" || part == *wanted);
    let missing: Vec<&str> = ["compute", "graphics", "utility"].into_iter().filter(|wanted| !has(wanted)).collect();
    if system.exists("/dev/nvidiactl") && !missing.is_empty() {
        let seen = format!(
            "{capabilities} is without {}: CUDA needs compute, Vulkan graphics, NVML utility",
            missing.join(" and ")
        );
        findings.push(Finding::warn("container", seen, format!("start it with `-e {capabilities}=all`")));
    }
    findings
}

/// The nodes of /dev/dri, through which Mesa's drivers reach GPUs.
pub fn render_nodes(system: &System) -> Vec<Finding> {
    let nodes: Vec<String> =
        system.list("/dev/dri").into_iter().filter(|path| name(path).starts_with("renderD")).collect();
    let refused = nodes.iter().find_map(|node| system.open(node).err().map(|error| (node, error)));
    if let Some((node, error)) = refused {
        let remedy =
            "add the user to the groups `render` and `video`: sudo usermod -aG render,video $USER, and log in again";
        return vec![Finding::fail("/dev/dri", format!("{node} cannot be opened: {error}"), remedy)];
    }
    let mesa = vendors(system).into_iter().find(|vendor| *vendor != "NVIDIA");
    match (nodes.len(), mesa) {
        (0, Some(vendor)) => {
            let remedy = "load the GPU's kernel module (amdgpu, i915 or xe); in a container, pass `--device /dev/dri`";
            vec![Finding::fail("/dev/dri", format!("no render node for the {vendor} GPU"), remedy)]
        }
        (0, None) => Vec::new(),
        (count, _) => vec![Finding::ok("/dev/dri", format!("{count} render nodes, all of which can be opened"))],
    }
}

/// The folder of the user's sockets, where OpenGL's library looks for a display.
pub fn runtime_folder(system: &System) -> Vec<Finding> {
    let variable = "XDG_RUNTIME_DIR";
    vec![match system.variable(variable) {
        None | Some(crate::cli::NO_RUNTIME_FOLDER) => Finding::ok(variable, "not set; nothing here needs it"),
        Some(folder) if system.is_folder(folder) => Finding::ok(variable, folder),
        Some(folder) => {
            let seen = format!("{folder} is no folder: OpenGL devices may not be found");
            Finding::warn(variable, seen, format!("set {variable} to a folder of your own, such as /run/user/1000"))
        }
    }]
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::super::system::folder;
    use super::*;

    /// The levels, and all that is said.
    fn told(findings: Vec<Finding>) -> (Vec<Level>, String) {
        let text = findings.iter().map(|finding| format!("{} -> {}\n", finding.seen, finding.remedy)).collect();
        (findings.iter().map(|finding| finding.level).collect(), text)
    }

    fn check(
        check: fn(&System) -> Vec<Finding>,
        files: &[(&str, &str)],
        variables: &[(&str, &str)],
    ) -> (Vec<Level>, String) {
        let root = folder(files);
        told(check(&System::of(root.path(), variables)))
    }

    const BUS: &str = "/sys/bus/pci/devices";

    #[test]
    fn gpus_are_counted_by_vendor() {
        let files = |class: &'static str, vendor: &'static str| {
            [(format!("{BUS}/0000:01:00.0/class"), class), (format!("{BUS}/0000:01:00.0/vendor"), vendor)]
        };
        let seen = |class, vendor| {
            let files = files(class, vendor);
            let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
            check(hardware, &files, &[])
        };
        assert_eq!(seen("0x030200\n", "0x10de\n"), (vec![Level::Ok], "1 NVIDIA -> \n".into()));
        assert_eq!(seen("0x030000\n", "0x1002\n").1, "1 AMD -> \n");
        // Its sound, and a network card.
        assert_eq!(seen("0x040300\n", "0x10de\n").0, [Level::Warn]);
        assert_eq!(seen("0x020000\n", "0x8086\n").0, [Level::Warn]);
        assert_eq!(check(hardware, &[], &[]).0, [], "no bus, nothing to say");
    }

    #[test]
    fn wsl_is_told_with_its_gpu_or_without() {
        let release = ("/proc/sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2\n");
        assert_eq!(check(wsl, &[("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n")], &[]).0, []);
        let (levels, text) = check(wsl, &[release], &[]);
        assert_eq!(levels, [Level::Fail]);
        assert!(text.contains("wsl --update"), "{text}");
        assert_eq!(check(wsl, &[release, ("/dev/dxg", "")], &[]).0, [Level::Ok]);
    }

    #[test]
    fn a_container_is_told_with_what_it_was_not_given() {
        assert_eq!(check(container, &[], &[]).0, []);
        let (levels, text) = check(container, &[("/.dockerenv", "")], &[]);
        assert_eq!(levels, [Level::Warn]);
        assert!(text.contains("docker, with no GPU devices") && text.contains("--gpus all"), "{text}");
        assert!(check(container, &[("/run/.containerenv", "")], &[]).1.contains("podman"));
        assert!(check(container, &[("/proc/1/cgroup", "0::/kubepods/x\n")], &[]).1.contains("kubepods"));
        for (variable, kind) in [("KUBERNETES_SERVICE_HOST", "kubernetes"), ("container", "10.0.0.1")] {
            assert!(check(container, &[], &[(variable, "10.0.0.1")]).1.contains(kind), "{variable}");
        }
        let given = [("/.dockerenv", ""), ("/dev/nvidiactl", "")];
        let (levels, text) = check(container, &given, &[]);
        assert_eq!(levels, [Level::Ok, Level::Warn]);
        assert!(text.contains("is without graphics") && text.contains("-e NVIDIA_DRIVER_CAPABILITIES=all"), "{text}");
        assert_eq!(check(container, &given, &[("NVIDIA_DRIVER_CAPABILITIES", "all")]).0, [Level::Ok]);
        let (_, text) = check(container, &given, &[("NVIDIA_DRIVER_CAPABILITIES", "graphics")]);
        assert!(text.contains("without compute and utility"), "{text}");
        let (levels, text) = check(container, &[("/.dockerenv", "")], &[("NVIDIA_VISIBLE_DEVICES", "void")]);
        assert_eq!((levels.len(), text.contains("NVIDIA_VISIBLE_DEVICES is void")), (2, true), "{text}");
    }

    #[test]
    fn render_nodes_must_open() {
        assert_eq!(check(render_nodes, &[], &[]).0, []);
        assert_eq!(check(render_nodes, &[("/dev/dri/renderD128", "")], &[]).0, [Level::Ok]);
        // A folder opens no better than a node without permission.
        let (levels, text) = check(render_nodes, &[("/dev/dri/renderD128/x", "")], &[]);
        assert_eq!(levels, [Level::Fail]);
        assert!(
            text.contains("/dev/dri/renderD128 cannot be opened") && text.contains("usermod -aG render,video"),
            "{text}"
        );
        let amd = [(&*format!("{BUS}/a/class"), "0x030000\n"), (&*format!("{BUS}/a/vendor"), "0x1002\n")];
        let (levels, text) = check(render_nodes, &amd, &[]);
        assert_eq!(levels, [Level::Fail]);
        assert!(text.contains("no render node for the AMD GPU"), "{text}");
    }

    #[test]
    fn the_runtime_folder_is_there_or_not_set() {
        let is = |value: &str, level| {
            let (levels, text) = check(runtime_folder, &[("/run/user/7/x", "")], &[("XDG_RUNTIME_DIR", value)]);
            assert_eq!(levels, [level], "{text}");
        };
        is("", Level::Ok);
        is(crate::cli::NO_RUNTIME_FOLDER, Level::Ok);
        is("/run/user/7", Level::Ok);
        is("/run/user/8", Level::Warn);
    }
}
