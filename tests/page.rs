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

/// A page to look at.
struct Page {
    name: &'static str,
    /// The records below `benches/results/`, without `nvidia-h200-` and the ending.
    records: &'static [&'static str],
    /// Whether the device has a name that would do harm.
    evil: bool,
    /// The column of its first table that is sorted.
    column: &'static str,
}

const fn page(name: &'static str, records: &'static [&'static str], column: &'static str) -> Page {
    Page { name, records, evil: false, column }
}

const PAGES: [Page; 9] = [
    page("ladder", &["ladder"], "GB/s"),
    page("square", &["square"], "GB/s"),
    page("misaligned", &["misaligned"], "GB/s"),
    Page { evil: true, ..page("checks", &["checks"], "GB/s") },
    page("hierarchy", &["probes/hierarchy"], "driver says"),
    page("coalescing", &["probes/coalescing"], "GB/s"),
    page("banks", &["probes/banks"], "ns"),
    page("profile", &["probes/profile"], "measured"),
    Page {
        evil: true,
        ..page("all", &["probes/banks", "ladder", "probes/hierarchy", "probes/coalescing", "probes/profile"], "cycles")
    },
];

const EVIL: &str = r#"<img src=x onerror=alert(1)></title><script>alert(1)</script>'\"\u001b[31m\u202e"#;

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
    nameless: Vec<String>,
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
    for page in PAGES {
        write_page(folder.path(), &page)?;
        let Page { name, column, .. } = page;
        let frame = |width| {
            format!(
                "<iframe src=\"{name}.html\" data-column=\"{column}\" style=\"width:{width}px;height:900px\"></iframe>\n"
            )
        };
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

fn write_page(folder: &Path, page: &Page) -> Result<(), Failed> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cornerturn"));
    command.arg("report");
    for name in page.records {
        let (probes, name) = name.rsplit_once('/').unwrap_or(("", name));
        let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/results").join(probes);
        let record = fs::read_to_string(results.join(format!("nvidia-h200-{name}.json")))?;
        let json = folder.join(format!("{}-{name}.json", page.name));
        fs::write(&json, if page.evil { record.replace("NVIDIA H200", EVIL) } else { record })?;
        command.arg(json);
    }
    let output = command.arg("-o").arg(folder.join(format!("{}.html", page.name))).output()?;
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
        ((seen.figures > 0) != (seen.page == "profile.html"), "it has figures, but where counters are listed"),
        (seen.drawings == seen.figures, "each figure shows one drawing"),
        (seen.nameless.is_empty(), "each drawing has a title and a description"),
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
