//! Pages of made-up records and of those below `benches/results/`, as a parser of HTML sees them.

use scraper::{Html, Selector};
use serde_json::Value;

use super::{Source, html};
use crate::record::{AnyRecord, Record};
use crate::report::tests::record;
use crate::report::{Report, bench, of};

fn page(record: &Record) -> Html {
    shown(&bench(record))
}

fn shown(report: &Report) -> Html {
    parsed(&html(&[Source { name: Some("a <b>.json"), report }]))
}

/// The page, if it is HTML without a mistake.
fn parsed(page: &str) -> Html {
    let html = Html::parse_document(page);
    assert_eq!(html.errors, [""; 0]);
    html
}

fn count(html: &Html, selector: &str) -> usize {
    html.select(&Selector::parse(selector).unwrap()).count()
}

fn texts(html: &Html, selector: &str) -> Vec<String> {
    html.select(&Selector::parse(selector).unwrap()).map(|found| found.text().collect()).collect()
}

fn attributes(html: &Html, selector: &str, name: &str) -> Vec<String> {
    let selector = Selector::parse(selector).unwrap();
    let found = html.select(&selector);
    found.filter_map(|element| element.attr(name).map(String::from)).collect()
}

/// Everything the records of real devices hold, of all kinds.
fn results() -> Vec<(String, AnyRecord)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/results");
    let folders = [folder.join("probes"), folder];
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap()).map(|file| file.unwrap().path());
    let mut records: Vec<_> = files.filter(|path| path.extension().is_some_and(|found| found == "json")).collect();
    records.sort();
    assert!(!records.is_empty());
    records.into_iter().map(|path| (path.display().to_string(), AnyRecord::read(&path).unwrap())).collect()
}

#[test]
fn a_page_has_a_title_landmarks_and_headings_in_order() {
    let html = page(&record());
    assert_eq!(texts(&html, "head > title"), ["Matrix transpose on Example GPU, soft|pipe <1>"]);
    assert_eq!(texts(&html, "h1"), texts(&html, "head > title"));
    for landmark in ["header", "main", "footer", "html[lang=en]", "a.skip[href='#main']"] {
        assert_eq!(count(&html, landmark), 1, "{landmark}");
    }
    let levels: Vec<String> = html
        .select(&Selector::parse("h1, h2, h3, h4").unwrap())
        .map(|heading| heading.value().name().to_owned())
        .collect();
    assert_eq!(levels[..3], ["h1", "h2", "h3"]);
    assert!(!levels.contains(&"h4".into()));
    let caveats = texts(&html, "figcaption").into_iter().filter(|text| text.contains("say nothing about a GPU"));
    assert_eq!(caveats.count(), 1);
    assert_eq!(texts(&html, ".warning"), ["Warning: The run was interrupted: rows are missing."]);
}

#[test]
fn tables_have_the_rows_of_the_layout() {
    let record = record();
    let html = page(&record);
    // The results of two pieces of hardware, one of them side by side, and the devices.
    assert_eq!(count(&html, "table"), 4);
    assert_eq!(count(&html, "table caption"), 4);
    assert_eq!(count(&html, "#record-0-part-0-table ~ tbody tr"), 6);
    assert_eq!(count(&html, "#record-0-part-1-table ~ tbody tr"), 3);
    assert_eq!(count(&html, "#record-0-part-2-table ~ tbody tr"), 2);
    assert_eq!(count(&html, "#record-0-devices ~ tbody tr"), record.devices.len());
    assert_eq!(
        texts(&html, "#record-0-part-1-table ~ tbody tr:nth-child(2) td"),
        ["naive", "f32", "120.5", "119.3", "0.99", "2, 3"]
    );
    let values = attributes(&html, "#record-0-part-0-table ~ tbody tr:nth-child(2) td", "data-value");
    let values: Vec<f64> = values.iter().map(|value| value.parse().unwrap()).collect();
    let near = |(value, expected): (&f64, &f64)| (value / expected - 1.0).abs() < 1e-9;
    assert!(values.iter().zip(&[120.5, 13.4, 12.1, 0.001_114, 0.4]).all(near) && values.len() == 5, "{values:?}");
    assert_eq!(count(&html, "ol li"), 6);
}

#[test]
fn references_lead_somewhere_and_ids_are_unique() {
    let named: Vec<(String, Report)> = results().into_iter().map(|(name, record)| (name, of(&record))).collect();
    let sources: Vec<Source> = named.iter().map(|(name, report)| Source { name: Some(name), report }).collect();
    let html = parsed(&html(&sources));
    let title = "Matrix transpose, Bank conflicts, Coalescing, Memory hierarchy, Hardware counters on NVIDIA H200";
    assert_eq!(texts(&html, "h1"), [title]);
    assert_eq!(count(&html, "h2"), named.len() + 1);
    let ids = attributes(&html, "[id]", "id");
    let unique: std::collections::HashSet<&String> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len());
    let links = attributes(&html, "a", "href");
    assert!(links.len() > named.len());
    let mut named: Vec<String> = attributes(&html, "[aria-labelledby]", "aria-labelledby");
    named.extend(attributes(&html, "[aria-describedby]", "aria-describedby"));
    named.extend(links.iter().map(|link| link.strip_prefix('#').unwrap().to_owned()));
    for id in named {
        assert!(unique.contains(&id), "{id}");
    }
}

#[test]
fn figures_show_every_row_that_counts() {
    for (name, record) in results() {
        let html = shown(&of(&record));
        let counted = matches!(record, AnyRecord::Profile(_));
        let (wide, narrow) = (count(&html, "svg.wide"), count(&html, "svg.narrow"));
        assert!((wide > 0) != counted && wide == narrow && wide == count(&html, "figure"), "{name}");
        assert_eq!(count(&html, "svg[role=img]"), 2 * wide, "{name}");
        assert_eq!(count(&html, "svg[role=img] > title"), 2 * wide, "{name}");
        assert_eq!(count(&html, "svg[role=img] > desc"), 2 * wide, "{name}");
    }
}

const EVIL: &str =
    "</title></svg></style><script>alert(1)</script><img src=x onerror=alert(1)>'\" &amp; a\u{1b}]0;x\u{7}b\n\u{202e}c";

/// Nothing of [`EVIL`] is an element or reaches the reader's screen but as text; the page.
fn harmless(page: &str) -> Html {
    assert!(page.chars().all(|c| c == '\n' || !(c.is_control() || c == '\u{202e}')));
    let html = parsed(page);
    for (selector, found) in [("script", 1), ("style", 1), ("img", 0), ("[onerror]", 0)] {
        assert_eq!(count(&html, selector), found, "{selector}");
    }
    html
}

#[test]
fn nothing_in_a_record_is_markup_or_turns_the_text() {
    let mut record = record();
    record.devices.iter_mut().for_each(|device| {
        device.name = EVIL.into();
        device.driver = EVIL.into();
        device.pci = Some(EVIL.into());
    });
    record.results.iter_mut().for_each(|row| {
        row.element = EVIL.into();
        row.limiter = Some(EVIL.into());
        row.reason = row.reason.as_ref().map(|_| EVIL.into());
        row.timer_note = row.timer_note.as_ref().map(|_| EVIL.into());
        row.chosen = Some(EVIL.into());
    });
    record.absent[0].reason = EVIL.into();
    record.absent[0].remedy = EVIL.into();
    record.environment.command = vec![EVIL.into()];
    record.environment.date = EVIL.into();
    record.environment.os = EVIL.into();
    record.environment.version = EVIL.into();
    let report = bench(&record);
    let html = harmless(&html(&[Source { name: Some(EVIL), report: &report }, Source { name: None, report: &report }]));
    let shown = EVIL.replace('\u{1b}', "\\u{1b}").replace('\u{7}', "\\u{7}").replace('\u{202e}', "\\u{202e}");
    let title = &texts(&html, "head > title")[0];
    assert_eq!(*title, format!("Matrix transpose on {shown}"));
}

/// The value with all texts replaced by [`EVIL`], but those that decide what a record is.
fn spoilt(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(spoilt),
        Value::Object(fields) => {
            let texts = fields.iter_mut().filter(|(name, _)| {
                !["schema", "kind", "source", "status", "timer", "device", "id"].contains(&name.as_str())
            });
            texts.for_each(|(_, value)| spoilt(value));
            fields.get_mut("device").filter(|device| device.is_object()).into_iter().for_each(spoilt);
        }
        Value::String(text) => *text = EVIL.into(),
        _ => {}
    }
}

#[test]
fn nothing_in_a_record_of_a_probe_is_markup_either() {
    for (name, _) in results() {
        let text = std::fs::read_to_string(&name).unwrap();
        let text = text.replace("\"cuda:0\"", &serde_json::to_string(EVIL).unwrap());
        let mut record: Value = serde_json::from_str(&text).unwrap();
        spoilt(&mut record);
        let report = of(&AnyRecord::from_json(&record.to_string(), &name).unwrap());
        harmless(&html(&[Source { name: Some(EVIL), report: &report }]));
    }
}

#[test]
fn a_page_loads_nothing_and_runs_only_its_own_script() {
    use base64::Engine;
    use sha2::{Digest, Sha256};
    let html = page(&record());
    let policy = &attributes(&html, "meta[http-equiv='Content-Security-Policy']", "content")[0];
    assert!(policy.starts_with("default-src 'none';"), "{policy}");
    for (element, directive) in [("style", "style-src"), ("script", "script-src")] {
        let text = &texts(&html, element)[0];
        let hash = base64::prelude::BASE64_STANDARD.encode(Sha256::digest(text));
        assert!(policy.contains(&format!("{directive} 'sha256-{hash}';")), "{policy}");
    }
    for attribute in ["src", "srcset", "style", "data", "action", "poster", "onclick", "onload"] {
        assert_eq!(count(&html, &format!("[{attribute}]")), 0, "{attribute}");
    }
    assert!(!texts(&html, "style")[0].contains("@import"));
    assert_eq!(count(&html, "link, iframe, object, embed, form, base"), 0);
}

#[test]
fn records_without_results_or_devices_are_pages_too() {
    let none = Record { results: vec![], ..record() };
    let html = page(&none);
    assert!(texts(&html, ".warning").contains(&"Warning: The record has no results.".into()));
    assert_eq!(count(&html, "figure"), 0);
    let html = page(&Record { devices: vec![], ..record() });
    assert_eq!(count(&html, "#record-0-part-0-table ~ tbody tr"), record().results.len());
}
