//! The page around it all.

use std::sync::LazyLock;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::report::svg;
use crate::report::text::escape_lines;

const SCRIPT: &str = include_str!("sort.js");

static STYLE: LazyLock<String> =
    LazyLock::new(|| [include_str!("style.css"), &svg::css(), &svg::pattern_css()].concat());

/// A page with a title and what is below it.
///
/// Whatever a text holds, nothing on the page can be fetched, and no script runs but its own; control characters are
/// spelled out.
pub(super) fn page(title: &str, body: &Markup) -> String {
    let policy = format!(
        "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
        source(&STYLE),
        source(SCRIPT)
    );
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "cornerturn " (env!("CARGO_PKG_VERSION")) };
                title { (title) }
                style { (PreEscaped(STYLE.as_str())) }
            }
            body {
                a.skip href="#main" { "Skip to the results" }
                svg.patterns width="0" height="0" aria-hidden="true" focusable="false" { (PreEscaped(svg::patterns())) }
                header { h1 { (title) } }
                main id="main" { (body) }
                footer { p { "Made by cornerturn " (env!("CARGO_PKG_VERSION")) ". Everything is on this page; it loads nothing." } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    // Last of all, so that no text gets past it.
    escape_lines(&page.into_string()) + "\n"
}

/// A script or style sheet as a policy names it: by the hash of its text.
fn source(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)))
}
