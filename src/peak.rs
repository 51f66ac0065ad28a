//! The theoretical peak bandwidth of a device: from the user, from the driver, or from a table of datasheets.

use crate::device::{DeviceInfo, DeviceKind, Peak, PeakSource};

/// Peaks by product name, in GB/s, from the vendors' datasheets. Products that were sold with several memories under
/// one name are left out.
const TABLE: &[(&str, f64)] = &[
    ("NVIDIA H200", 4800.0),
    ("NVIDIA H100 80GB HBM3", 3352.0),
    ("NVIDIA A100-SXM4-80GB", 2039.0),
    ("NVIDIA A100-SXM4-40GB", 1555.0),
    ("NVIDIA A100-PCIE-40GB", 1555.0),
    ("NVIDIA L40S", 864.0),
    ("NVIDIA L4", 300.0),
    ("NVIDIA A10", 600.0),
    ("Tesla V100-SXM2-16GB", 900.0),
    ("Tesla V100-SXM2-32GB", 900.0),
    ("NVIDIA GeForce RTX 5090", 1792.0),
    ("NVIDIA GeForce RTX 5080", 960.0),
    ("NVIDIA GeForce RTX 4090", 1008.0),
    ("NVIDIA GeForce RTX 3090", 936.2),
    ("AMD Radeon RX 7900 XTX", 960.0),
    ("AMD Radeon RX 7900 XT", 800.0),
    ("AMD Radeon RX 6900 XT", 512.0),
    ("AMD Radeon RX 6800 XT", 512.0),
    ("AMD Radeon RX 6800", 512.0),
    ("AMD Instinct MI300X", 5300.0),
    ("Intel(R) Arc(TM) B580 Graphics", 456.0),
    ("Apple M1", 68.25),
    ("Apple M1 Pro", 204.8),
    ("Apple M1 Max", 409.6),
    ("Apple M1 Ultra", 819.2),
    ("Apple M2", 102.4),
    ("Apple M2 Pro", 204.8),
    ("Apple M2 Max", 409.6),
    ("Apple M2 Ultra", 819.2),
    ("Apple M3", 102.4),
    ("Apple M3 Pro", 153.6),
    ("Apple M4", 120.0),
    ("Apple M4 Pro", 273.0),
];

/// The peak of `device`: what the user gave, else what its driver reports, else what the driver of a `sibling` (the
/// same hardware through another API) reports, else the table's.
///
/// A software device has none: its memory is the host's, shared with everything else.
pub fn resolve(device: &DeviceInfo, user: Option<f64>, sibling: Option<Peak>) -> Option<Peak> {
    if device.kind == DeviceKind::Software {
        return None;
    }
    let user = user.map(|gbps| Peak { gbps, source: PeakSource::User });
    user.or(device.peak).or(sibling).or_else(|| from_table(&device.name))
}

fn from_table(name: &str) -> Option<Peak> {
    // Drivers append a bus or a chip to the name: `NVIDIA H200/PCIe/SSE2`, `AMD Radeon RX 6800 (RADV NAVI21)`.
    let plain = |entry: &str| {
        let rest = name.strip_prefix(entry)?.trim_start();
        (rest.is_empty() || rest.starts_with(['/', '('])).then_some(())
    };
    let (_, gbps) = TABLE.iter().find(|(entry, _)| plain(entry).is_some())?;
    Some(Peak { gbps: *gbps, source: PeakSource::Table })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_matches_whole_names_only() {
        let gbps = |name| from_table(name).map(|peak| peak.gbps);
        assert_eq!(gbps("NVIDIA H200/PCIe/SSE2"), Some(4800.0));
        assert_eq!(gbps("AMD Radeon RX 6800 (RADV NAVI21)"), Some(512.0));
        assert_eq!(gbps("AMD Radeon RX 6800 XT (RADV NAVI21)"), Some(512.0));
        assert_eq!(gbps("Apple M1 Max"), Some(409.6));
        assert_eq!(gbps("NVIDIA GeForce RTX 4090 Laptop GPU"), None);
        assert_eq!(gbps("NVIDIA L400"), None);
        assert_eq!(gbps(""), None);
    }
}
