//! What the installation of NVIDIA's driver tells without its library.

/// Where the kernel module tells its version, on Linux.
pub const MODULE_FILE: &str = "/proc/driver/nvidia/version";

/// The first driver whose library takes the PTX of `cuda/ptx/`: the one of CUDA 12.0.
#[cfg(feature = "cli")]
pub const MIN_DRIVER: u32 = 525;

/// What installs it.
pub const UPDATE: &str = "install NVIDIA driver 525 or newer";

/// The version in the text of [`MODULE_FILE`]: the first word of dotted numbers in the line of the module, whose other
/// words differ between the kinds of module.
pub fn module_version(text: &str) -> Option<&str> {
    let line = text.lines().find_map(|line| line.strip_prefix("NVRM version:"))?;
    let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    line.split_whitespace().find(|word| word.contains('.') && word.split('.').all(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_version_is_found_in_every_wording() {
        let closed = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6 22:20:39 UTC 2023\n\
                      GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n";
        let open = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (dvs@x)\n";
        let two_parts = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  390.157  Wed Oct 12 09:19:07 UTC 2022";
        for (text, expected) in [
            (closed, Some("535.54.03")),
            (open, Some("580.159.04")),
            (two_parts, Some("390.157")),
            ("GCC version:  gcc version 12.2.0\n", None),
            ("NVRM version: none", None),
            ("NVRM version: . 1. .2", None),
            ("", None),
        ] {
            assert_eq!(module_version(text), expected, "{text}");
        }
    }
}
