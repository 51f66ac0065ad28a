//! `cornerturn devices`.

use std::process::ExitCode;

use super::Failure;
use crate::backends::{self, Absent};
use crate::device::{Api, DeviceKind, Limit};
use crate::harness::{self, Target};
use crate::report;

/// Lists the devices, and why the others are not here.
pub fn run() -> Result<ExitCode, Failure> {
    let discovery = backends::discover(&Api::ALL);
    let targets = harness::targets(discovery.devices.iter().map(Box::as_ref), |_| None);
    let mut text = String::new();
    for target in &targets {
        text += &describe(target);
    }
    if !discovery.absent.is_empty() {
        text += "not here\n";
        discovery.absent.iter().for_each(|absent| text += &describe_absent(absent));
    }
    super::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn describe(target: &Target) -> String {
    let info = target.info();
    let kind = match info.kind {
        DeviceKind::Gpu => "GPU",
        DeviceKind::Software => "software device: a CPU that pretends to be a GPU",
        DeviceKind::Cpu => "CPU",
    };
    let unknown = || "not told by the API".to_string();
    let peak = target.peak.map(|peak| format!("{:.0} GB/s (source: {})", peak.gbps, report::peak_source(peak.source)));
    let limits: Vec<String> = info.limits.iter().map(limit).collect();
    let lines = [
        ("API", info.id.api.to_string()),
        ("driver", info.driver.clone()),
        ("kind", kind.to_string()),
        ("PCI", info.pci.clone().unwrap_or_else(unknown)),
        ("memory", info.memory_bytes.map_or_else(unknown, report::bytes)),
        ("cache", target.cache_bytes.map_or_else(unknown, report::bytes)),
        ("peak", peak.unwrap_or_else(|| no_peak(info.kind).into())),
        ("timer", format!("{} clock", info.timer)),
        ("limits", limits.join(", ")),
    ];
    let mut text = format!("{}  {}\n", info.id, report::escape(&info.name));
    for (name, value) in lines.iter().filter(|(_, value)| !value.is_empty()) {
        text += &format!("    {name:<8}{}\n", report::escape(value));
    }
    text + "\n"
}

fn no_peak(kind: DeviceKind) -> &'static str {
    match kind {
        DeviceKind::Software => "none: its memory is the host's",
        _ => "unknown; bench takes it with --peak",
    }
}

fn limit(limit: &Limit) -> String {
    match limit.unit {
        "B" => format!("{} {}", limit.name, report::bytes(limit.value)),
        unit => format!("{} {} {unit}", limit.name, limit.value).trim_end().to_string(),
    }
}

fn describe_absent(absent: &Absent) -> String {
    let remedy = if absent.remedy.is_empty() { String::new() } else { format!("\n            {}", absent.remedy) };
    format!("    {:<8}{}{}\n", absent.api.name(), report::escape(&absent.reason), report::escape_lines(&remedy))
}
