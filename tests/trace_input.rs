//! The tracer on input that somebody got wrong, or made to be difficult.

use cornerturn::trace::{self, Binding, Dispatch, Report, Shader, TraceError};

const HEAD: &str = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n";

fn main_of(declarations: &str, body: &str) -> String {
    format!(
        "{declarations}\n{HEAD}@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {{
{body}
}}"
    )
}

/// A shader with `out` of 1024 words, and values for overrides.
fn trace(wgsl: &str, grid: [u32; 3], overrides: &[(&str, f64)]) -> Result<Report, TraceError> {
    let overrides: Vec<_> = overrides.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let shader = Shader::new("test.wgsl", wgsl.into(), None, &overrides)?;
    let mut dispatch = Dispatch::new(grid);
    dispatch.bindings.insert((0, 0), Binding::zeros(4096));
    trace::trace(&shader, &dispatch).map(|traced| traced.report)
}

fn refused(wgsl: &str, overrides: &[(&str, f64)], expected: &[&str]) {
    let error = trace(wgsl, [1; 3], overrides).unwrap_err();
    let text = error.to_string();
    assert!(expected.iter().all(|part| text.contains(part)), "{text}");
}

#[test]
fn arrays_have_the_length_of_their_override() {
    let wgsl = main_of(
        "override N: u32; override M = 2 * N; var<workgroup> a: array<u32, N>; var<workgroup> b: array<vec2<f32>, M + 1>;",
        "a[i] = i; b[2u * i + 3u].y = 1.0; workgroupBarrier(); out[i] = a[63u - i] + u32(b[i].x);",
    );
    assert_eq!(trace(&wgsl, [1; 3], &[("N", 64.0), ("M", 129.0)]).unwrap().findings.len(), 0);
    let found = trace(&wgsl, [1; 3], &[("N", 64.0)]).unwrap().findings;
    assert!(found.len() == 1 && found[0].to_string().contains("index 129 of b, which has 129"), "{found:?}");
    let found = trace(&wgsl, [1; 3], &[("N", 63.0), ("M", 129.0)]).unwrap().findings;
    assert!(found[0].to_string().contains("index 63 of a, which has 63"), "{found:?}");
    refused(&wgsl, &[("N", 0.0)], &["overrides: "]);
}

#[test]
fn overrides_take_what_their_types_have() {
    let wgsl = main_of(
        "enable f16; override a: u32; override b: i32 = 1; @id(7) override c: bool; override d: f32; override e: f16 = 1.0;
         override unused: u32;",
        "if c { out[0] = a + u32(b) + u32(d) + u32(e); }",
    );
    let good = [("a", 4294967295.0), ("b", -2147483648.0), ("7", 1.0), ("d", 1e38), ("e", 65504.0)];
    assert!(trace(&wgsl, [1; 3], &good).is_ok());
    for (name, value) in [
        ("a", 4294967296.0),
        ("a", -1.0),
        ("a", 4.5),
        ("b", 2147483648.0),
        ("7", 2.0),
        ("d", 1e39),
        ("e", 65520.0),
        ("unused", -1.0),
    ] {
        let values: Vec<_> = good.iter().copied().filter(|(other, _)| *other != name).chain([(name, value)]).collect();
        refused(&wgsl, &values, &["overrides: `", &format!("cannot be {value}")]);
    }
    refused(
        &wgsl,
        &[("b", 1.0)],
        &["`override a: u32`: add --set a=…; `@id(7) override c: bool`: add --set 7=…", "d=…"],
    );
    refused(&wgsl, &[("c", 1.0)], &["there is no `c`; c is given by its number, --set 7=…"]);
    refused(&wgsl, &[("f", 1.0)], &["there is no `f`, but a, b, 7, d, e, unused"]);
    refused(&wgsl, &[("a", 1.0), ("a", 2.0)], &["`a` is given twice"]);
}

#[test]
fn grids_end_where_invocations_have_no_numbers() {
    let wgsl = main_of("", "out[i] = 1u;");
    assert!(trace(&wgsl, [1 << 26, 1, u32::MAX], &[]).is_ok());
    let error = trace(&wgsl, [(1 << 26) + 1, 1, 1], &[]).unwrap_err();
    assert!(error.is_input() && error.to_string().contains("along x: 4294967360; the most is 4294967296"), "{error}");
}

#[test]
fn diagnostics_say_where_and_what_is_no_wgsl() {
    refused("#import a::b\nfn main() {", &[], &["test.wgsl:1:1", "note: line 1 is no WGSL", "`#import a::b`"]);
    refused("const a = {{ a }};", &[], &["test.wgsl:1:11", "`const a = {{ a }};`"]);
    // naga has no place for this one.
    let structs = main_of("struct S { a: u32 }", "var a: S; var b: S; if a > b { }");
    refused(&structs, &[], &["test.wgsl"]);
    let plain = trace("fn main() {", [1; 3], &[]).unwrap_err().to_string();
    assert!(!plain.contains("note: line"), "{plain}");
}

#[test]
fn what_goes_on_for_ever_or_too_deep_is_told_with_its_place() {
    refused(&main_of("", "loop { }"), &[], &["more than 10000000 steps at line 5, column 1"]);
    let ladder = "if i == 0u { }".to_owned() + &"\nelse if i == 1u { }".repeat(1000);
    refused(&main_of("", &ladder), &[], &["calls and blocks more than 500 deep at line"]);
}
