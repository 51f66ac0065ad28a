//! What a trace says, as text: a summary, the source with what its lines access, and what is wrong.

use std::fmt::{Result, Write};

use super::escape;
use crate::trace::{Figures, Line, Report, Space};

/// The width of what stands before a line of the source.
const GUTTER: usize = 67;

/// Lines of a source that is shown whole.
const SHORT: usize = 100;
/// Lines before and after an access that are shown of a longer one.
const CONTEXT: u32 = 3;

/// So many times the sectors that would do are marked, as are bank conflicts.
const POOR: u64 = 2;

/// The report of a trace for a reader. Of a long source only what is near an access is shown, unless it is to be `whole`.
pub fn explain(report: &Report, whole: bool) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = summary(report, &mut out)
        .and_then(|()| annotated(report, whole, &mut out))
        .and_then(|()| found(report, &mut out));
    out
}

/// A line of somebody's source, without what a terminal might take for commands.
fn shown(line: &str) -> String {
    escape(&line.replace('\t', "    "))
}

fn summary(report: &Report, out: &mut String) -> Result {
    let times = |[x, y, z]: [u32; 3]| format!("{x} × {y} × {z}");
    writeln!(
        out,
        "{}, entry point {}: {} workgroups of {} invocations, in subgroups of {}",
        report.shader,
        report.entry,
        times(report.grid),
        times(report.workgroup_size),
        report.subgroup
    )?;
    match (report.scaled, report.traced, report.workgroups) {
        (true, traced, all) => writeln!(out, "sampled {traced} of {all} workgroups; totals are scaled to all")?,
        (false, 1, all) if all > 1 => {
            let [x, y, z] = report.traced_workgroups.first().copied().unwrap_or_default();
            writeln!(out, "traced workgroup {x},{y},{z} of {all}; totals are its own")?;
        }
        (false, 1, _) => writeln!(out, "traced the one workgroup")?,
        (false, traced, _) => writeln!(out, "traced all {traced} workgroups")?,
    }
    for bound in &report.bindings {
        let (group, binding) = (bound.group, bound.binding);
        writeln!(out, "  {group}.{binding} {}: {}, {} B", bound.name, bound.ty, bound.bytes)?;
    }
    if report.totals.is_empty() {
        return writeln!(out, "\nIt accesses no memory that invocations share.");
    }
    writeln!(
        out,
        "\n{:<18} {:>12} {:>13} {:>9} {:>7} {:>14} {:>8} {:>14}",
        "", "requests", "sectors", "a request", "useful", "moved", "conflict", "extra passes"
    )?;
    for total in &report.totals {
        let Figures { counts, moved_bytes, .. } = total.figures;
        let (storage, banked) = (total.space == Space::Storage, total.space == Space::Workgroup);
        let when = |holds: bool, text: String| if holds { text } else { String::new() };
        writeln!(
            out,
            "{:<18} {:>12} {:>13} {:>9} {:>7} {:>14} {:>8} {:>14}",
            format!("{} {}", total.space.name(), total.kind.name()),
            counts.requests,
            when(storage, counts.sectors.to_string()),
            per_request(&total.figures),
            useful(&total.figures),
            when(storage, bytes(moved_bytes)),
            degree(&total.figures),
            when(banked, total.figures.extra_passes.to_string()),
        )?;
    }
    Ok(())
}

fn annotated(report: &Report, whole: bool, out: &mut String) -> Result {
    if report.lines.is_empty() {
        return Ok(());
    }
    let heading = format!("{:<22} {:>10} {:>7} {:>7} {:>16}", "access", "requests", "sectors", "useful", "conflicts");
    writeln!(out, "\n  {heading:<GUTTER$}|")?;
    // They are in order.
    let known = |number: u32| report.lines.binary_search_by_key(&number, |line| line.line).ok();
    let whole = whole || report.source.lines().count() <= SHORT;
    let near = |number: u32| {
        let next = report.lines.partition_point(|line| line.line + CONTEXT < number);
        report.lines.get(next).is_some_and(|line| line.line.abs_diff(number) <= CONTEXT)
    };
    let mut left_out = false;
    for (number, text) in (1..).zip(report.source.lines()) {
        if !whole && !near(number) {
            left_out = true;
            continue;
        }
        if std::mem::take(&mut left_out) {
            writeln!(out, "  {:<GUTTER$}|   ⋮", "")?;
        }
        match known(number) {
            Some(index) => annotate(out, &report.lines[index], number, &shown(text))?,
            None => writeln!(out, "  {:<GUTTER$}|{number:>4}  {}", "", shown(text))?,
        }
    }
    if let Some(index) = known(0) {
        annotate(out, &report.lines[index], 0, "(of no place in the source)")?;
    }
    Ok(())
}

fn found(report: &Report, out: &mut String) -> Result {
    if report.findings.is_empty() {
        return writeln!(out, "\nNo data race and nothing out of bounds in what was traced.");
    }
    for finding in &report.findings {
        writeln!(out, "\n{finding}")?;
        for location in finding.locations() {
            let text = report.source.lines().nth(location.line as usize - 1).unwrap_or("");
            writeln!(out, "{:>6} | {}", location.line, shown(text))?;
        }
    }
    if report.findings_beyond > 0 {
        writeln!(out, "\n{} findings of yet other places are left out", report.findings_beyond)?;
    }
    Ok(())
}

/// A line with its accesses: the first of them before it, others below.
fn annotate(out: &mut String, line: &Line, number: u32, text: &str) -> Result {
    for (index, access) in line.accesses.iter().enumerate() {
        let figures = &access.figures;
        let gutter = format!(
            "{:<22.22} {:>10} {:>7} {:>7} {:>16}",
            format!("{} {} {}", short(access.space), access.kind.name(), access.variable),
            figures.counts.requests,
            per_request(figures),
            useful(figures),
            conflicts(figures),
        );
        let mark = if is_poor(figures) { '!' } else { ' ' };
        match index {
            0 => writeln!(out, "{mark} {gutter:<GUTTER$}|{number:>4}  {text}")?,
            _ => writeln!(out, "{mark} {gutter:<GUTTER$}|")?,
        }
    }
    Ok(())
}

fn is_poor(figures: &Figures) -> bool {
    let counts = &figures.counts;
    (counts.sectors > 0 && counts.sectors / POOR >= counts.least_sectors) || counts.worst_degree > 1
}

fn short(space: Space) -> &'static str {
    match space {
        Space::Storage => "st",
        Space::Uniform => "un",
        Space::Workgroup => "wg",
    }
}

fn per_request(figures: &Figures) -> String {
    figures.sectors_per_request.map_or(String::new(), |sectors| format!("{sectors:.2}"))
}

fn useful(figures: &Figures) -> String {
    figures.efficiency.map_or(String::new(), |part| format!("{:.1} %", 100.0 * part))
}

/// The conflict degree: the mean, and the worst where that is another.
fn degree(figures: &Figures) -> String {
    let worst = figures.counts.worst_degree;
    match figures.mean_degree {
        None => String::new(),
        Some(mean) if mean == worst as f64 => format!("{worst}-way"),
        Some(mean) => format!("{mean:.1}/{worst}"),
    }
}

fn conflicts(figures: &Figures) -> String {
    match figures.extra_passes {
        0 => figures.mean_degree.map_or(String::new(), |_| "none".into()),
        extra => format!("{} +{extra}", degree(figures)),
    }
}

fn bytes(count: u64) -> String {
    match count {
        0..10_000_000 => format!("{count} B"),
        10_000_000..10_000_000_000 => format!("{:.1} MB", count as f64 / 1e6),
        _ => format!("{:.1} GB", count as f64 / 1e9),
    }
}
