//! The parts of a page that tell of a record.

use maud::{Markup, html};

use super::{Source, footnotes, list, section as block, table};
use crate::device::DeviceKind;
use crate::record::{Device, Record};
use crate::report::layout::{self, Grid, Layout, left, right};
use crate::report::number::{self, NONE};
use crate::report::{method, notes, text};

/// Names of the devices in records, each once.
pub(super) fn title(sources: &[Source]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for device in sources.iter().flat_map(|source| &source.record.devices) {
        if !names.contains(&device.name.as_str()) {
            names.push(&device.name);
        }
    }
    let names = if names.is_empty() { "no devices".into() } else { names.join(", ") };
    format!("Matrix transpose on {names}")
}

fn heading(i: usize, source: &Source) -> String {
    let date = date(source.record);
    match source.name {
        Some(name) => format!("{name}, measured {date}"),
        None if i == 0 => format!("Measured {date}"),
        None => format!("Record {}, measured {date}", i + 1),
    }
}

/// When the run began, as people write it.
fn date(record: &Record) -> String {
    record.environment.date.replace('T', " ").replace('Z', " UTC")
}

/// Links to the records of a page.
pub(super) fn contents(sources: &[Source]) -> Markup {
    html! {
        nav aria-label="Records" {
            ul { @for (i, source) in sources.iter().enumerate() { li { a href={ "#record-" (i) } { (heading(i, source)) } } } }
        }
    }
}

/// Everything of a record.
pub(super) fn section(i: usize, source: &Source) -> Markup {
    let Layout { facts: _, warnings, sections, notes: _, footnotes: texts } = layout::of(source.record);
    let id = format!("record-{i}");
    let notes = format!("{id}-note-");
    html! {
        section aria-labelledby=(id) {
            h2 id=(id) { (heading(i, source)) }
            @for warning in &warnings { p.warning { strong { "Warning: " } (warning) } }
            @for (k, part) in sections.iter().enumerate() { (block(part, &format!("{id}-part-{k}"), &notes)) }
            (footnotes(&texts, &notes))
            (environment(source.record, &id))
        }
    }
}

/// The machine, the program, the devices, and what was not there.
fn environment(record: &Record, id: &str) -> Markup {
    let environment = &record.environment;
    let absent = notes::absent(&record.absent);
    html! {
        h3 id={ (id) "-environment" } { "Environment" }
        dl {
            dt { "Command" } dd { code { (text::command(&environment.command)) } }
            dt { "Date" } dd { (date(record)) }
            dt { "Program" } dd { "cornerturn " (environment.version) }
            dt { "System" } dd { (environment.os) " " (environment.arch) ", " (environment.cpus) " processors" }
            @if let Some(told) = method::of(record) { dt { "Measured" } dd { (told) } }
        }
        (table::table(&devices(&record.devices), "Devices", &format!("{id}-devices"), ""))
        @if !absent.is_empty() { h3 { "Not here" } (list(&absent)) }
    }
}

fn devices(devices: &[Device]) -> Grid {
    let row = |device: &Device| {
        let kind = match device.kind {
            DeviceKind::Gpu => "GPU",
            DeviceKind::Software => "software: a CPU that pretends to be a GPU",
            DeviceKind::Cpu => "CPU",
        };
        let peak = device.peak.map_or(NONE.into(), |peak| {
            format!("{} GB/s, from {}", number::significant(peak.gbps), notes::peak_source(peak.source))
        });
        let size = |bytes: Option<u64>| bytes.map_or(NONE.into(), number::bytes);
        let known = |text: &str| if text.is_empty() { NONE.into() } else { text.to_owned() };
        vec![
            device.id.clone(),
            device.name.clone(),
            kind.into(),
            known(&device.driver),
            device.pci.clone().unwrap_or(NONE.into()),
            size(device.memory_bytes),
            size(device.cache_bytes),
            peak,
        ]
    };
    let texts = ["device", "name", "kind", "driver", "PCI"].map(left);
    let sizes = ["memory", "last-level cache"].map(right);
    let columns = texts.into_iter().chain(sizes).chain([left("theoretical peak")]).collect();
    Grid { columns, rows: devices.iter().map(row).collect(), ..Grid::default() }
}

/// How figures come about, and what they mean.
pub(super) fn method(sources: &[Source]) -> Markup {
    let gaps = sources.iter().flat_map(|source| &source.record.results).any(|row| row.layouts().is_some());
    html! {
        section aria-labelledby="method" {
            h2 id="method" { "How it was measured" }
            (list(&notes::MEANING))
            (list(&method::METHOD))
            @if gaps { p { (notes::LAYOUTS) } }
        }
    }
}
