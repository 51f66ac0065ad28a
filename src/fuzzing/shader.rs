//! Shaders to trace.

use super::refused;
use crate::trace::{self, Binding, Dispatch, Limits, Shader, TraceError};

/// Takes the bytes for WGSL and traces what is valid of it, within narrow limits. Returns whether it ran.
pub fn shader(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let shader = match Shader::new("fuzzed.wgsl", text.to_string(), None, &[]) {
        Err(TraceError::SeveralEntryPoints { names, .. }) => {
            let first = names.split(", ").next();
            Shader::new("fuzzed.wgsl", text.to_string(), first, &[])
        }
        other => other,
    };
    let shader = match shader {
        Ok(shader) => shader,
        // naga's own diagnostics have several lines.
        Err(TraceError::Invalid(_) | TraceError::Override(_)) => return false,
        Err(error) => return refused(&error),
    };
    let mut dispatch = Dispatch::new([3, 2, 1]);
    dispatch.limits = Limits { steps: 5_000, bytes: 16 << 20, invocations: 256, workgroups: 64 };
    for resource in shader.resources() {
        dispatch.bindings.insert((resource.group, resource.binding), Binding::zeros(resource.bytes.max(100)));
    }
    let report = match trace::trace(&shader, &dispatch) {
        Ok(traced) => traced.report,
        Err(error) => return refused(&error),
    };
    #[cfg(feature = "cli")]
    assert!(crate::report::explain(&report, true).ends_with('\n'));
    assert!(serde_json::to_string(&report).is_ok());
    true
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::element::Width;
    use crate::pattern::Pattern;
    use crate::source;
    use crate::variant::Variant;

    /// What our kernels do not do.
    const OTHER: &str = "
enable f16;
override scale: f32 = 2.0; override count: u32 = 4;
struct Inner { a: vec3<f32>, b: u32, c: mat3x2<f32>, d: array<vec2<i32>, 3>, e: atomic<u32> }
struct Outer { head: Inner, rest: array<Inner> }
@group(0) @binding(0) var<storage, read_write> outer: Outer;
@group(1) @binding(3) var<uniform> size: vec4<u32>;
@group(0) @binding(7) var<storage, read> half: array<f16>;
var<private> state: array<u32, 5>; var<workgroup> shared_: array<atomic<i32>, 8>; var<workgroup> flag: bool;
const TABLE = array<i32, 4>(1, -2, 3, -4);
fn helper(p: ptr<function, array<u32, 4>>, q: u32) -> vec3<f32> {
    (*p)[q % 4u] += state[q % 5u]; if q > 100u { return vec3(1.0); } return vec3<f32>(f32((*p)[1]), f32(half[q]), scale);
}
@compute @workgroup_size(count, 2, 3)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) i: u32, @builtin(subgroup_size) lanes: u32) {
    var a = array<u32, 4>(1u, 2u, 3u, 4u); var m = outer.head.c; var x = 1.0 / f32(i);
    for (var k = 0i; k < 3; k++) { m[k] = vec2(sin(x), pow(x, 2.5)) * m[0]; if k == TABLE[i % 4u] { continue; } x = fma(x, 2.0, -1.0); }
    loop { state[i % 5u] += 1u; continuing { break if state[i % 5u] > 3u; } }
    switch i32(id.x) % 4 { case 0, 1: { outer.head.b = a[2]; } case 2: { flag = true; } default: { x = length(helper(&a, id.x)); } }
    outer.rest[id.x].d[i % 3u] = vec2(i32(x), -7) / vec2(i32(id.z), TABLE[id.y % 4u]); let old = atomicAdd(&shared_[i % 8u], 3);
    workgroupBarrier(); let all = workgroupUniformLoad(&flag); let e = atomicCompareExchangeWeak(&outer.head.e, 0u, i);
    let s = subgroupAdd(i) + subgroupShuffleXor(i, 1u) + subgroupBallot(i > 3u).x; let f = frexp(x); let t = modf(vec3(x));
    outer.rest[i].a = select(t.fract, (m * vec3(x, f.fract, f32(f.exp))).xyx, all) + f32(old) + f32(s) + cross(vec3(x), vec3(1.0, 2.0, 3.0));
    outer.rest[1].b = extractBits(s, 3u, 40u) + pack4x8snorm(vec4(x)) + u32(unpack2x16float(s).y) + arrayLength(&outer.rest) + countOneBits(~s) << (s & 31u);
}";

    const WORDS: [&str; 60] = [
        "0",
        "1u",
        "-1",
        "4294967295u",
        "2147483648",
        "0x7fffffff",
        "-2147483648i",
        "1e38",
        "0.0",
        "-0.5f",
        "1h",
        "65504.0h",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ";",
        ",",
        "<",
        ">",
        "+",
        "-",
        "*",
        "/",
        "%",
        "<<",
        ">>",
        "&",
        "|",
        "^",
        "~",
        "!",
        "&&",
        "==",
        "=",
        "+=",
        "u32",
        "i32",
        "f32",
        "f16",
        "bool",
        "vec2",
        "vec4<f32>",
        "mat4x4<f32>",
        "array<u32, 70000>",
        "array<array<u32, 4096>, 4096>",
        "atomic<u32>",
        "ptr<function, u32>",
        "return",
        "break",
        "continue",
        "loop",
        "i",
        "x",
        "a",
        "workgroupBarrier();",
        "@workgroup_size(1024)",
        "abs",
    ];

    /// Changes the text in one place: puts a word for another, removes it, or doubles a stretch.
    fn change(text: &str, random: [u8; 8]) -> String {
        let number = u64::from_le_bytes(random);
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut at = (number >> 16) as usize % (text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let start = text[..at].rfind(|c| !is_word(c)).map_or(0, |before| before + 1);
        let end = at + text[at..].find(|c| !is_word(c)).unwrap_or(0);
        let (start, end) = if start < end { (start, end) } else { (at, (at + 1).min(text.len())) };
        let word = WORDS[(number >> 8) as usize % WORDS.len()];
        let stretch = text.get(start..(start + (number >> 48) as usize % 64).min(text.len())).unwrap_or("");
        let new = match number % 5 {
            0 => "",
            1 | 2 => word,
            // Another word of the same text, which means something there.
            3 => text
                .split(|c| !is_word(c))
                .filter(|word| !word.is_empty())
                .nth((number >> 40) as usize % 200)
                .unwrap_or(word),
            _ => stretch,
        };
        let keep = if number % 5 == 4 { start } else { end };
        match (text.get(..start), text.get(keep..)) {
            (Some(before), Some(after)) => format!("{before}{new}{after}"),
            _ => text.to_owned(),
        }
    }

    #[test]
    fn any_text_is_traced_or_refused() {
        let kernels = Variant::ALL.iter().filter_map(|&variant| source::wgsl(variant, Width::W2));
        let texts: Vec<String> = kernels.chain([OTHER.to_owned(), OTHER.to_owned(), OTHER.to_owned()]).collect();
        assert!(shader(OTHER.as_bytes()));
        // As long as somebody asks for, to look for more.
        let seconds = std::env::var("CORNERTURN_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
        let until = Instant::now() + Duration::from_secs(seconds.unwrap_or(0));
        let (mut taken, mut case) = (0, 0);
        while case < 400 || Instant::now() < until {
            let random = |index| Pattern { seed: 11 + seconds.unwrap_or(0) }.element(16 * case + index);
            let mut text = texts[case as usize % texts.len()].clone();
            for index in 0..1 + u64::from(random(0)[0]) % 3 {
                let bytes = random(1 + index);
                text = change(&text, std::array::from_fn(|at| bytes[8 + at] ^ bytes[at]));
            }
            let start = Instant::now();
            taken += u64::from(shader(text.as_bytes()));
            assert!(start.elapsed() < Duration::from_secs(20), "{:?}\n{text}", start.elapsed());
            case += 1;
        }
        println!("{taken} of {case} ran");
        assert!(taken > case / 20, "{taken} of {case}");
    }

    #[test]
    fn deep_and_long_texts_are_refused_or_traced() {
        let body = |text: &str| {
            format!(
                "@group(0) @binding(0) var<storage, read_write> o: array<u32>; @compute @workgroup_size(1) fn main() {{ {text} }}"
            )
        };
        for depth in [10, 100, 1000, 20_000] {
            let nested = |open: &str, middle: &str, close: &str| open.repeat(depth) + middle + &close.repeat(depth);
            shader(body(&nested("{", "o[0] = 1u;", "}")).as_bytes());
            shader(body(&nested("if o[0] == 0u {", "o[0] += 1u;", "}")).as_bytes());
            shader(body(&nested("loop {", "o[0] += 1u;", "break; }")).as_bytes());
            shader(body(&format!("o[0] = {};", nested("(", "1u", ")"))).as_bytes());
            shader(body(&format!("o[0] = {};", nested("(1u + ", "o[1]", ")"))).as_bytes());
            shader(body(&format!("o[0] = {};", nested("", "1u", " + o[1]"))).as_bytes());
            shader(body(&format!("o[0] = {};", nested("-", "o[0]", ""))).as_bytes());
            shader(body(&format!("o[0] = {}[0];", nested("array(", "1u", ")"))).as_bytes());
            shader(body(&format!("var x: {};", nested("array<", "u32", ", 2>"))).as_bytes());
            let calls: String = (0..depth).map(|at| format!("fn f{at}() {{ f{}(); }}\n", at + 1)).collect();
            shader((calls + &format!("fn f{depth}() {{ }}") + &body("f0();")).as_bytes());
        }
    }
}
