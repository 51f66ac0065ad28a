//! Pages as a browser shows them: whether they load without a complaint, show their figures, sort, and fit a phone.
//!
//! `CORNERTURN_REQUIRE=chromium` fails where Chromium is missing; otherwise the test is skipped. The environment
//! variable `CHROMIUM` names another program than `chromium`.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};
use missing::unless_missing;
use scraper::{Html, Selector};
use serde::Deserialize;

#[path = "common/missing.rs"]
mod missing;

/// Records, and what is replaced in them by what.
const PAGES: [(&str, &str, &str); 4] = [
    ("ladder", "", ""),
    ("square", "", ""),
    ("misaligned", "", ""),
    ("checks", "NVIDIA H200", r#"<img src=x onerror=alert(1)></title><script>alert(1)</script>'\"\u001b[31m\u202e"#),
];

/// A phone and a desk, in pixels.
const WIDTHS: [u32; 2] = [390, 1280];

/// What `page/wrapper.js` saw of a page.
#[derive(Debug, Deserialize)]
struct Seen {
    page: String,
    width: u32,
    scrolled_width: u32,
    figures: usize,
    drawings: usize,
    clipped: Vec<String>,
    overlapping: Vec<String>,
    scripts: usize,
    images: usize,
    sorting: [(Option<String>, Vec<f64>); 4],
}

fn main() -> ExitCode {
    let trial = Trial::ignorable_test("chromium_shows_the_pages", || unless_missing("chromium", &usable(), shown));
    libtest_mimic::run(&Arguments::from_args(), vec![trial]).exit_code()
}

fn chromium() -> Command {
    Command::new(std::env::var_os("CHROMIUM").unwrap_or_else(|| "chromium".into()))
}

fn usable() -> Result<(), String> {
    match chromium().arg("--version").output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("Chromium fails: {}", String::from_utf8_lossy(&output.stderr))),
        Err(error) => Err(format!("Chromium does not start: {error}")),
    }
}

/// All in one start of the browser: the pages stand in frames.
fn shown() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let mut frames = String::new();
    for (name, text, replacement) in PAGES {
        write_page(folder.path(), name, text, replacement)?;
        let frame = |width| format!("<iframe src=\"{name}.html\" style=\"width:{width}px;height:900px\"></iframe>\n");
        frames.extend(WIDTHS.map(frame));
    }
    let script = include_str!("page/wrapper.js");
    let wrapper =
        format!("<!doctype html><style>iframe {{ border: 0 }}</style><script>{script}</script><body>{frames}</body>");
    let path = folder.path().join("wrapper.html");
    fs::write(&path, wrapper)?;
    let output = chromium()
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"])
        // A frame from a file may be looked into; a page has as long as it takes, in time that passes quickly.
        .args(["--allow-file-access-from-files", "--virtual-time-budget=20000"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}", path.display()))
        .output()?;
    let log = String::from_utf8_lossy(&output.stderr);
    let said: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    // The wrapper's own word shows that complaints would be here.
    if !matches!(said[..], [own] if own.contains("looking at the pages")) {
        return Err(format!("{}, the console says: {said:#?}\n{log}", output.status).into());
    }
    let document = Html::parse_document(&String::from_utf8_lossy(&output.stdout));
    let result = document.select(&Selector::parse("#result")?).next().ok_or("the wrapper has no result")?;
    let seen: Vec<Seen> = serde_json::from_str(&result.text().collect::<String>())?;
    if seen.len() != PAGES.len() * WIDTHS.len() {
        return Err(format!("{} pages were seen", seen.len()).into());
    }
    seen.iter().try_for_each(check)
}

fn write_page(folder: &Path, name: &str, text: &str, replacement: &str) -> Result<(), Failed> {
    let record = format!("{}/benches/results/nvidia-h200-{name}.json", env!("CARGO_MANIFEST_DIR"));
    let record = fs::read_to_string(record)?;
    let record = if text.is_empty() { record } else { record.replace(text, replacement) };
    let (json, html) = (folder.join(format!("{name}.json")), folder.join(format!("{name}.html")));
    fs::write(&json, record)?;
    let output = Command::new(env!("CARGO_BIN_EXE_cornerturn")).arg("report").arg(json).arg("-o").arg(html).output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}

fn check(seen: &Seen) -> Result<(), Failed> {
    let sorted = |order: fn(&f64, &f64) -> bool, values: &[f64]| {
        // Rows without a figure come last.
        let figures: Vec<f64> = values.iter().copied().take_while(|value| *value >= 0.0).collect();
        !figures.is_empty() && figures.is_sorted_by(order) && values[figures.len()..].iter().all(|value| *value < 0.0)
    };
    let [(before, original), (down, descending), (up, ascending), (after, again)] = &seen.sorting;
    for (holds, what) in [
        (seen.scrolled_width <= seen.width, "it does not scroll sideways"),
        (seen.figures > 0 && seen.drawings == seen.figures, "each figure shows one drawing"),
        (seen.clipped.is_empty(), "no text is clipped"),
        (seen.overlapping.is_empty(), "no text is over another"),
        ((seen.scripts, seen.images) == (1, 0), "nothing in a record is an element"),
        (before.is_none() && after.is_none() && original == again, "the order comes back"),
        (down.as_deref() == Some("descending") && sorted(|one, next| one >= next, descending), "from the highest"),
        (up.as_deref() == Some("ascending") && sorted(|one, next| one <= next, ascending), "from the lowest"),
        (original.len() == descending.len() && original != descending, "sorting moves rows"),
    ] {
        if !holds {
            return Err(format!("{} at {} px: {what}: {seen:#?}", seen.page, seen.width).into());
        }
    }
    Ok(())
}
