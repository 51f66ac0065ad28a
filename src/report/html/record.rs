//! The parts of a page that tell of a record.

use maud::{Markup, html};

use super::{Source, footnotes, list, section as block, table};
use crate::device::DeviceKind;
use crate::record::{Device, Environment};
use crate::report::about::{About, Subject};
use crate::report::layout::{Grid, Layout, left, right};
use crate::report::number::{self, NONE};
use crate::report::{distinct, notes, text};

/// What was measured, and the names of the devices, each once.
pub(super) fn title(sources: &[Source]) -> String {
    let subjects = subjects(sources);
    let subjects = subjects.iter().map(|subject| subject.name).collect::<Vec<_>>().join(", ");
    let names = distinct(sources.iter().flat_map(|source| &source.report.about.devices).map(|device| &device.name));
    let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
    let names = if names.is_empty() { "no devices".into() } else { names.join(", ") };
    format!("{subjects} on {names}")
}

/// The kinds of records, each once.
fn subjects(sources: &[Source]) -> Vec<&'static Subject> {
    distinct(sources.iter().map(|source| source.report.about.subject))
}

/// A record among others: with what it is of, where these differ in that.
fn heading(i: usize, source: &Source, all: &[Source]) -> String {
    let About { subject, environment, .. } = &source.report.about;
    let date = date(environment);
    let heading = match source.name {
        Some(name) => format!("{name}, measured {date}"),
        None if i == 0 => format!("Measured {date}"),
        None => format!("Record {}, measured {date}", i + 1),
    };
    if subjects(all).len() > 1 { format!("{}: {heading}", subject.name) } else { heading }
}

/// When the run began, as people write it.
fn date(environment: &Environment) -> String {
    environment.date.replace('T', " ").replace('Z', " UTC")
}

/// Links to the records of a page.
pub(super) fn contents(sources: &[Source]) -> Markup {
    html! {
        nav aria-label="Records" {
            ul {
                @for (i, source) in sources.iter().enumerate() {
                    li { a href={ "#record-" (i) } { (heading(i, source, sources)) } }
                }
            }
        }
    }
}

/// Everything of a record.
pub(super) fn section(i: usize, source: &Source, all: &[Source]) -> Markup {
    let Layout { facts: _, warnings, sections, notes: _, footnotes: texts } = &source.report.layout;
    let id = format!("record-{i}");
    let notes = format!("{id}-note-");
    html! {
        section aria-labelledby=(id) {
            h2 id=(id) { (heading(i, source, all)) }
            @for warning in warnings { p.warning { strong { "Warning: " } (warning) } }
            @for (k, part) in sections.iter().enumerate() { (block(part, &format!("{id}-part-{k}"), &notes)) }
            (footnotes(texts, &notes))
            (environment(&source.report.about, &id))
        }
    }
}

/// The machine, the program, the devices, and what was not there.
fn environment(about: &About, id: &str) -> Markup {
    let environment = &about.environment;
    let absent = notes::absent(&about.absent);
    html! {
        h3 id={ (id) "-environment" } { "Environment" }
        dl {
            dt { "Command" } dd { code { (text::command(&environment.command)) } }
            dt { "Date" } dd { (date(environment)) }
            dt { "Program" } dd { "cornerturn " (environment.version) }
            dt { "System" } dd { (environment.os) " " (environment.arch) ", " (environment.cpus) " processors" }
            @if let Some(told) = &about.told { dt { "Measured" } dd { (told) } }
        }
        (table::table(&devices(&about.devices), "Devices", &format!("{id}-devices"), ""))
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

/// How figures come about, and what they mean: for each kind of records, under its name where there are several.
pub(super) fn method(sources: &[Source]) -> Markup {
    let subjects = subjects(sources);
    let of = |subject: &'static Subject| {
        let all = sources.iter().map(|source| &source.report.about).filter(move |about| about.subject == subject);
        distinct(all.flat_map(|about| about.meaning().chain(subject.method.iter().copied())))
    };
    html! {
        section aria-labelledby="method" {
            h2 id="method" { "How it was measured" }
            @for subject in &subjects {
                @if subjects.len() > 1 { h3 { (subject.name) } }
                (list(&of(subject)))
            }
        }
    }
}
