//! The tracer against a device, bit for bit: what both compute must be the same, wherever WGSL says what that is.
//!
//! `CORNERTURN_REQUIRE=vulkan` fails where there is no device; otherwise such a machine has nothing to compare with.

#[path = "common/require.rs"]
mod require;

use std::fmt::Write;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use cornerturn::trace::{self, Binding, Dispatch, Shader};
use cornerturn::wgpu::{self, BufferUsages};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

/// Invocations, and words that each of them has.
const LANES: u32 = 64;
const WORDS: usize = 256;

struct Gpu {
    device: wgpu::Device,
    queue: wgpu::Queue,
}

/// The device, if there is one.
fn gpu() -> Option<&'static Gpu> {
    static GPU: OnceLock<Option<Gpu>> = OnceLock::new();
    let open = || {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = wgpu::Backends::VULKAN;
        let instance = wgpu::Instance::new(descriptor);
        let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN));
        // Software first: it computes as IEEE 754 says.
        let software = |adapter: &wgpu::Adapter| adapter.get_info().device_type == wgpu::DeviceType::Cpu;
        let adapter = adapters.iter().find(|adapter| software(adapter))?;
        let (device, queue) = pollster::block_on(adapter.request_device(&Default::default())).expect("a device");
        Some(Gpu { device, queue })
    };
    let gpu = GPU.get_or_init(open).as_ref();
    assert!(gpu.is_some() || !require::required("vulkan"), "there is no software Vulkan device");
    if gpu.is_none() {
        println!("skipped: there is no software Vulkan device to compare with");
    }
    gpu
}

impl Gpu {
    /// Runs a shader with the words as 0.0, and returns what they are afterwards.
    fn run(&self, wgsl: &str, words: &[u32], groups: u32) -> Vec<u32> {
        let device = &self.device;
        let bytes: &[u8] = bytemuck_bytes(words);
        let buffer = |usage| {
            let size = bytes.len() as u64;
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
        };
        let data = buffer(BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST);
        let staging = buffer(BufferUsages::MAP_READ | BufferUsages::COPY_DST);
        self.queue.write_buffer(&data, 0, bytes);
        let source = wgpu::ShaderSource::Wgsl(wgsl.into());
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            cache: None,
        });
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: data.as_entire_binding() }],
        });
        let mut encoder = device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(groups, 1, 1);
        }
        encoder.copy_buffer_to_buffer(&data, 0, &staging, 0, bytes.len() as u64);
        self.queue.submit([encoder.finish()]);
        let slice = staging.slice(..);
        slice.map_async(wgpu::MapMode::Read, |result| result.expect("the buffer is mapped"));
        device.poll(wgpu::PollType::wait_indefinitely()).expect("the device is done");
        let content = slice.get_mapped_range().expect("it is mapped").to_vec();
        to_words(&content)
    }
}

fn bytemuck_bytes(words: &[u32]) -> &[u8] {
    bytemuck::cast_slice(words)
}

fn to_words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

/// The same on the tracer.
fn traced(wgsl: &str, words: &[u32], groups: u32) -> Vec<u32> {
    let shader = Shader::new("test.wgsl", wgsl.into(), None, &[]).unwrap_or_else(|error| panic!("{error}\n{wgsl}"));
    let mut dispatch = Dispatch::new([groups, 1, 1]);
    dispatch.bindings.insert((0, 0), Binding::of_bytes(bytemuck_bytes(words)));
    let traced = trace::trace(&shader, &dispatch).unwrap_or_else(|error| panic!("{error}\n{wgsl}"));
    assert!(traced.report.findings.is_empty(), "{:?}\n{wgsl}", traced.report.findings);
    let mut bytes = vec![0; 4 * words.len()];
    traced.read((0, 0), 0, &mut bytes).unwrap();
    to_words(&bytes)
}

/// Words of all kinds: small and large, and such as are odd floats.
fn words(seed: u64) -> Vec<u32> {
    let special = [
        0,
        1,
        2,
        31,
        32,
        33,
        0xFFFF_FFFF,
        0x8000_0000,
        0x7FFF_FFFF,
        0x3F80_0000,
        0xBF80_0000,
        0x4F00_0000,
        0x3F00_0000,
        0x4B80_0001,
        0xCF00_0001,
        0x4F80_0000,
        0x4020_0000,
        0x3FC0_0000,
        0xC020_0000,
        0x477F_E000,
    ];
    let mut state = seed | 1;
    (0..WORDS)
        .map(|index| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let random = (state >> 32) as u32;
            match index % 3 {
                0 => special[random as usize % special.len()],
                1 => random >> (random & 31),
                _ => random,
            }
        })
        .collect()
}

/// Runs on both and compares.
fn compare(wgsl: &str, seed: u64) {
    let Some(gpu) = gpu() else { return };
    let words = words(seed);
    let (expected, got) = (gpu.run(wgsl, &words, 1), traced(wgsl, &words, 1));
    let wrong = (0..words.len()).find(|at| expected[*at] != got[*at]);
    if let Some(at) = wrong {
        let (lane, input) = (at % LANES as usize, &words);
        let inputs: Vec<_> = (0..4).map(|of| format!("{:#x}", input[of * LANES as usize + lane])).collect();
        panic!("word {at}: {:#x} on the device, {:#x} traced, of {inputs:?}\n{wgsl}", expected[at], got[at]);
    }
}

/// A shader that has the words of its invocation as a to d, in three types, and writes back as many.
fn shader(body: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> data: array<u32, {WORDS}>;
// Floats that are finite and neither denormal nor very large, so that no device has a choice.
fn tame(x: u32) -> f32 {{ return f32(i32(x) >> 8u) * exp2(-12.0); }}
// A zero may lose its sign wherever a device likes.
fn bits(x: vec4<f32>) -> vec4<u32> {{ return select(bitcast<vec4<u32>>(x), vec4(0u), x == vec4(0.0)); }}
@compute @workgroup_size({LANES})
fn main(@builtin(local_invocation_index) i: u32) {{
    let u = vec4(data[i], data[i + {LANES}u], data[i + 2u * {LANES}u], data[i + 3u * {LANES}u]);
    let s = bitcast<vec4<i32>>(u);
    let f = vec4(tame(u.x), tame(u.y), tame(u.z), tame(u.w));
    var r = vec4<u32>();
    // Variables, for of constants the compiler would compute more, and refuse what overflows.
    var u1 = 7u; var u2 = 0x80000000u; var s1 = -3i; var s2 = i32(-2147483648); var f1 = 0.5f; var f2 = -3.0f; var yes = true;
{body}
    data[i] = r.x; data[i + {LANES}u] = r.y; data[i + 2u * {LANES}u] = r.z; data[i + 3u * {LANES}u] = r.w;
}}
"
    )
}

/// Every one of these, in turn on all seeds.
fn each(expressions: &[&str]) {
    for (index, expression) in expressions.iter().enumerate() {
        let body = match expression.contains(';') {
            true => (*expression).to_owned(),
            false => format!("    r = {expression};"),
        };
        for seed in 0..2 {
            compare(&shader(&body), 1000 * index as u64 + seed);
        }
    }
}

#[test]
fn integer_operators_and_functions() {
    each(&[
        "u + u.yzwx",
        "u - u.yzwx",
        "u * u.yzwx",
        "u / u.yzwx",
        "u % u.yzwx",
        "u & u.yzwx",
        "u | u.yzwx",
        "u ^ u.yzwx",
        "~u",
        "u << (u.yzwx & vec4(31u))",
        "u >> (u.yzwx & vec4(31u))",
        "bitcast<vec4<u32>>(s + s.yzwx)",
        "bitcast<vec4<u32>>(s * s.yzwx)",
        "bitcast<vec4<u32>>(s / s.yzwx)",
        "bitcast<vec4<u32>>(s % s.yzwx)",
        "bitcast<vec4<u32>>(-s)",
        "bitcast<vec4<u32>>(s >> (u.yzwx & vec4(31u)))",
        "bitcast<vec4<u32>>(abs(s))",
        "bitcast<vec4<u32>>(sign(s))",
        "bitcast<vec4<u32>>(min(s, s.wzyx))",
        "bitcast<vec4<u32>>(max(s, s.wzyx))",
        "bitcast<vec4<u32>>(clamp(s, min(s.yzwx, s.zwxy), max(s.yzwx, s.zwxy)))",
        "min(u, u.wzyx)",
        "max(u, u.wzyx)",
        "clamp(u, min(u.yzwx, u.zwxy), max(u.yzwx, u.zwxy))",
        "countOneBits(u)",
        "countLeadingZeros(u)",
        "countTrailingZeros(u)",
        "reverseBits(u)",
        "firstLeadingBit(u)",
        "firstTrailingBit(u)",
        "bitcast<vec4<u32>>(firstLeadingBit(s))",
        "bitcast<vec4<u32>>(firstTrailingBit(s))",
        "bitcast<vec4<u32>>(countLeadingZeros(s))",
        "bitcast<vec4<u32>>(reverseBits(s))",
        "extractBits(u, u.y & 31u, u.z & 31u)",
        "bitcast<vec4<u32>>(extractBits(s, u.y & 31u, u.z & 31u))",
        "insertBits(u, u.yzwx, u.z & 31u, u.w & 31u)",
        "extractBits(u, u.y, u.z)",
        "insertBits(u, u.wzyx, u.y, u.z)",
        "vec4(dot(u, u.wzyx))",
        "vec4(bitcast<u32>(dot(s, s.yzwx)))",
        "vec4(dot4U8Packed(u.x, u.y), bitcast<u32>(dot4I8Packed(u.x, u.y)), 0u, 0u)",
        "select(u, u.wzyx, u < u.yzwx)",
        "select(u, u.wzyx, s <= s.yzwx)",
        "select(u, u.wzyx, u == u.yxwz)",
        "vec4(select(0u, 1u, all(u > vec4(5u))), select(0u, 1u, any(s < vec4(0))), 0u, 0u)",
    ]);
}

#[test]
fn conversions_and_packing() {
    each(
        &[
            "bitcast<vec4<u32>>(vec4<f32>(u))",
            "bitcast<vec4<u32>>(vec4<f32>(s))",
            "vec4<u32>(f)",
            "vec4<u32>(vec4<i32>(f))",
            "vec4<u32>(vec4<bool>(u))",
            "vec4<u32>(vec4<bool>(f))",
            "bitcast<vec4<u32>>(f)",
            "vec4<u32>(f * 1e6)",
            "bitcast<vec4<u32>>(vec4<i32>(f * 1e6))",
            "bitcast<vec4<u32>>(vec4<f32>(u < u.yzwx))",
            "pack4xU8(u)",
            "unpack4xU8(u.x)",
            "bitcast<vec4<u32>>(unpack4xI8(u.x))",
            "vec4(pack4xI8(s))",
            "vec4(pack4xU8Clamp(u))",
            "vec4(pack4xI8Clamp(s))",
            "bitcast<vec4<u32>>(vec4(unpack2x16float((u.x & 0x8fff8fffu) | 0x04000400u), 0.0, 0.0))",
        ]
        .map(|text| if text == "pack4xU8(u)" { "vec4(pack4xU8(u))" } else { text }),
    );
}

#[test]
fn floats_that_are_rounded_once() {
    each(&[
        "bits(f + f.yzwx)",
        "bits(f - f.yzwx)",
        "bits(f * f.yzwx)",
        "bits(-f)",
        "bits(abs(f))",
        "bits(floor(f))",
        "bits(ceil(f))",
        "bits(trunc(f))",
        "bits(round(f))",
        "bits(sign(f))",
        "bits(min(f, f.wzyx))",
        "bits(max(f, f.wzyx))",
        "bits(clamp(f, min(f.yzwx, f.zwxy), max(f.yzwx, f.zwxy)))",
        "bits(saturate(f))",
        "bits(step(f, f.yzwx))",
        "select(u, u.wzyx, f < f.yzwx)",
        "select(u, u.wzyx, f >= f.yzwx)",
        "select(u, u.wzyx, f == f.yzwx)",
        "select(u, u.wzyx, f != f.yzwx)",
        "bits(fract(f))",
        "bits(modf(f).whole)",
        "bits(modf(f).fract)",
        "bits(frexp(f).fract)",
        "bitcast<vec4<u32>>(frexp(f).exp)",
        "bits(ldexp(f, vec4<i32>(u & vec4(31u)) - 16))",
        "bits(transpose(mat2x4(f, f.yzwx))[3].xyxy)",
    ]);
}

#[test]
fn memory_control_flow_and_functions() {
    each(&[
        "    var a = array<u32, 8>(); for (var k = 0u; k < 8u; k++) { a[k] = u.x >> k; } r = vec4(a[u.y % 8u], a[u.z % 8u], a[7], a[0]);",
        "    var v = u; v[u.x % 4u] = 7u; v.z += 1u; r = v; r[u.y & 3u] ^= v[u.w & 3u];",
        "    var m = mat3x2<f32>(); m[u.x % 3u] = f.xy; m[1].y = f.z; r = bitcast<vec4<u32>>(vec4(m[0], m[u.y % 3u]));",
        "    var k = 0u; loop { k += 1u; if (u.x >> (k & 31u)) % 3u == 0u { continue; } r.x += k; if k > 40u { break; } continuing { r.y += 2u; break if k > 60u; } }",
        "    for (var k = 0u; k < 16u; k++) { switch (u.x >> k) & 7u { case 0u: { r.x += 1u; } case 1u, 2u: { r.y += k; } case 3u: { continue; } case 4u: { if k > 3u { break; } r.w += 9u; } default: { r.z ^= k; } } r.w += 1u; }",
        "    while r.x < (u.x & 63u) { r.x += 3u; if r.x == (u.y & 63u) { r.y = 1u; break; } }",
        "    if u.x % 2u == 0u { if u.y % 3u == 0u { r = u; } else { r = u.wzyx; } } else if u.z > 5u { r = u + 1u; }",
    ]);
}

/// An expression of a type, as text.
fn expression(ty: char, depth: u32) -> BoxedStrategy<String> {
    let leaf = match ty {
        'u' => prop_oneof![Just("u.x"), Just("u.y"), Just("u.z"), Just("u.w"), Just("u1"), Just("u2"), Just("r.x")]
            .prop_map(str::to_owned)
            .boxed(),
        'i' => prop_oneof![Just("s.x"), Just("s.y"), Just("s.z"), Just("s.w"), Just("s1"), Just("s2")]
            .prop_map(str::to_owned)
            .boxed(),
        'f' => prop_oneof![Just("f.x"), Just("f.y"), Just("f.z"), Just("f.w"), Just("f1"), Just("f2")]
            .prop_map(str::to_owned)
            .boxed(),
        _ => prop_oneof![Just("(u.x < u.y)"), Just("(s.z > s.w)"), Just("yes")].prop_map(str::to_owned).boxed(),
    };
    if depth == 0 {
        return leaf;
    }
    let sub = |ty| expression(ty, depth - 1);
    let binary = |ty, ops: &'static [&'static str]| {
        let ops = proptest::sample::select(ops);
        (sub(ty), ops, sub(ty)).prop_map(|(a, op, b)| format!("({a} {op} {b})")).boxed()
    };
    let call = |ty, names: &'static [&'static str]| {
        (proptest::sample::select(names), sub(ty)).prop_map(|(name, a)| format!("{name}({a})")).boxed()
    };
    let pair = |ty, names: &'static [&'static str]| {
        let names = proptest::sample::select(names);
        (names, sub(ty), sub(ty)).prop_map(|(name, a, b)| format!("{name}({a}, {b})")).boxed()
    };
    let choice = move |ty| (sub(ty), sub(ty), sub('b')).prop_map(|(a, b, c)| format!("select({a}, {b}, {c})")).boxed();
    match ty {
        'u' => prop_oneof![
            leaf,
            binary('u', &["+", "-", "*", "/", "%", "&", "|", "^"]),
            (sub('u'), sub('u')).prop_map(|(a, b)| format!("({a} << ({b} & 31u))")),
            (sub('u'), sub('u')).prop_map(|(a, b)| format!("({a} >> ({b} & 31u))")),
            call(
                'u',
                &[
                    "~",
                    "countOneBits",
                    "countLeadingZeros",
                    "countTrailingZeros",
                    "reverseBits",
                    "firstLeadingBit",
                    "firstTrailingBit"
                ]
            ),
            pair('u', &["min", "max", "dot4U8Packed"]),
            call('i', &["bitcast<u32>", "u32"]),
            call('f', &["u32"]),
            call('b', &["u32"]),
            choice('u'),
        ]
        .boxed(),
        'i' => prop_oneof![
            leaf,
            binary('i', &["+", "-", "*", "/", "%", "&", "|", "^"]),
            (sub('i'), sub('u')).prop_map(|(a, b)| format!("({a} >> ({b} & 31u))")),
            call('i', &["abs", "sign", "~", "-", "firstLeadingBit"]),
            pair('i', &["min", "max"]),
            pair('u', &["dot4I8Packed"]),
            call('u', &["bitcast<i32>", "i32"]),
            call('f', &["i32"]),
            choice('i'),
        ]
        .boxed(),
        // Without sums of products, which a device may contract.
        'f' => prop_oneof![
            leaf,
            call('f', &["abs", "floor", "ceil", "trunc", "round", "sign", "saturate", "-"]),
            pair('f', &["min", "max", "step"]),
            call('u', &["f32"]),
            call('i', &["f32"]),
            choice('f'),
        ]
        .boxed(),
        _ => prop_oneof![
            leaf,
            binary('u', &["<", "<=", "==", "!=", ">", ">="]),
            binary('i', &["<", "<=", "==", "!=", ">", ">="]),
            binary('f', &["<", "<=", "==", "!=", ">", ">="]),
            binary('b', &["&&", "||", "==", "!="]),
            call('b', &["!"]),
        ]
        .boxed(),
    }
}

/// Statements that set parts of r.
fn statements(depth: u32) -> BoxedStrategy<String> {
    let part = || proptest::sample::select(&["x", "y", "z", "w"][..]);
    let set = (part(), expression('u', 3)).prop_map(|(part, value)| format!("r.{part} = {value};\n"));
    let of_float =
        (part(), expression('f', 3)).prop_map(|(part, value)| format!("r.{part} = bits(vec4({value})).x;\n"));
    if depth == 0 {
        return prop_oneof![set, of_float].boxed();
    }
    let inner = || statements(depth - 1);
    prop_oneof![
        2 => set,
        2 => of_float,
        2 => (inner(), inner()).prop_map(|(a, b)| a + &b),
        1 => (expression('b', 2), inner(), inner()).prop_map(|(c, a, b)| format!("if {c} {{\n{a}}} else {{\n{b}}}\n")),
        1 => (1..4u32, expression('b', 2), inner()).prop_map(|(n, c, a)| {
            format!("for (var k = 0u; k < {n}u; k++) {{\n{a}if {c} {{ break; }}\nr.y += k;\n}}\n")
        }),
        1 => (expression('u', 2), inner(), inner()).prop_map(|(e, a, b)| {
            format!("switch {e} & 3u {{ case 0u: {{\n{a}}} case 1u, 2u: {{\n{b}}} default: {{ r.w += 1u; }} }}\n")
        }),
    ]
    .boxed()
}

#[test]
fn random_programs() {
    if gpu().is_none() {
        return;
    }
    // As long as somebody asks for, each time with other programs.
    let seconds = std::env::var("CORNERTURN_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let until = Instant::now() + Duration::from_secs(seconds.unwrap_or(0));
    let mut seed = 5 + seconds.unwrap_or(0);
    loop {
        programs_of(seed);
        seed += 1;
        if Instant::now() >= until {
            break;
        }
    }
    println!("the last seed was {}", seed - 1);
}

/// Compares 160 programs.
fn programs_of(seed: u64) {
    // A shader takes the device much longer to compile than to run, so that one has several programs.
    let config = Config { cases: 40, rng_seed: RngSeed::Fixed(seed), failure_persistence: None, ..Config::default() };
    let programs = proptest::collection::vec(statements(3), 4);
    let mut runner = proptest::test_runner::TestRunner::new(config);
    runner
        .run(&(programs, any::<u64>()), |(programs, seed)| {
            let mut body = String::new();
            for program in programs {
                write!(body, "{{\n{program}}}\n").unwrap();
            }
            // No fast-math rewriting can be told from outside: comparisons of NaNs are kept out by `tame`.
            compare(&shader(&body), seed);
            Ok(())
        })
        .unwrap();
}

/// Compares the floats of r, of which each may be off by so many units in the last place, or by an absolute error.
fn close(expression: &str, units: f64, absolute: f64) {
    let Some(gpu) = gpu() else { return };
    let wgsl = shader(&format!("    r = bitcast<vec4<u32>>({expression});"));
    let words = words(3);
    let (expected, got) = (gpu.run(&wgsl, &words, 1), traced(&wgsl, &words, 1));
    for (at, (expected, got)) in expected.iter().zip(&got).enumerate() {
        let (a, b) = (f32::from_bits(*expected), f32::from_bits(*got));
        let unit = f64::from(f32::EPSILON) * f64::from(b.abs().max(f32::MIN_POSITIVE));
        let error = (f64::from(a) - f64::from(b)).abs();
        assert!(
            a == b || error <= units * unit || error <= absolute,
            "{expression}, word {at}: {a:e} on the device, {b:e} traced"
        );
    }
}

#[test]
fn inexact_functions_are_within_what_wgsl_allows() {
    // Arguments from about 0.001 to 2, where WGSL says how exact they are.
    let x = "(abs(fract(f * 0.37)) * 2.0 + 0.001)";
    for (expression, units, absolute) in [
        (format!("f / {x}"), 2.5, 0.0),
        (format!("sqrt({x})"), 4.0, 0.0),
        (format!("inverseSqrt({x})"), 2.0, 0.0),
        (format!("sin({x})"), 0.0, 2f64.powi(-11)),
        (format!("cos({x})"), 0.0, 2f64.powi(-11)),
        (format!("tan({x} * 0.5)"), 0.0, 1e-2),
        (format!("exp({x})"), 3.0 + 2.0 * 2.1, 0.0),
        (format!("exp2({x})"), 3.0 + 2.0 * 2.1, 0.0),
        (format!("log({x} + 2.0)"), 3.0, 2f64.powi(-21)),
        (format!("log2({x} + 2.0)"), 3.0, 2f64.powi(-21)),
        (format!("pow({x}, vec4(1.5))"), 64.0, 0.0),
        (format!("atan2({x}, {x}.yzwx)"), 4096.0, 0.0),
        (format!("mix({x}, {x}.yzwx, vec4(0.25))"), 8.0, 1e-6),
        (format!("smoothstep(vec4(0.0), vec4(2.5), {x})"), 64.0, 1e-6),
        (format!("normalize({x})"), 64.0, 0.0),
        (format!("vec4(length({x}), distance({x}, {x}.yzwx), dot({x}, {x}), 0.0)"), 64.0, 1e-6),
        (format!("vec4(cross({x}.xyz, {x}.yzw), 1.0)"), 64.0, 1e-5),
        (format!("reflect({x}, normalize({x}.wzyx))"), 64.0, 1e-5),
        (format!("mat4x4({x}, {x}.yzwx, {x}.zwxy, {x}.wxyz) * {x}"), 64.0, 1e-5),
        (format!("{x} * mat4x4({x}, {x}.yzwx, {x}.zwxy, {x}.wxyz)"), 64.0, 1e-5),
        (
            format!(
                "vec4((mat2x2({x}.xy, {x}.zw) * mat2x2({x}.yz, {x}.wx))[1], determinant(mat2x2({x}.xy, {x}.zw)), 1.0)"
            ),
            64.0,
            1e-5,
        ),
        (format!("fma({x}, {x}.yzwx, {x}.zwxy)"), 8.0, 1e-6),
        (format!("unpack4x8unorm(pack4x8unorm({x} * 0.4))"), 2.0, 1.0 / 255.0),
        (format!("unpack4x8snorm(pack4x8snorm({x} - 1.0))"), 2.0, 1.0 / 127.0),
    ] {
        close(&expression, units, absolute);
    }
}

#[test]
fn our_kernels_write_the_same_bytes() {
    use std::num::NonZeroU32;

    use cornerturn::backend::{RunOptions, Support};
    use cornerturn::backends;
    use cornerturn::device::{Api, DeviceKind};
    use cornerturn::element::Element;
    use cornerturn::problem::Problem;
    use cornerturn::trace::{PATTERN, Selection};
    use cornerturn::variant::Variant;

    if gpu().is_none() {
        return;
    }
    let found = backends::discover(&[Api::Vulkan]);
    let software = found.devices.iter().find(|device| device.device().kind == DeviceKind::Software).expect("a device");
    let mut compared = 0;
    for (rows, cols) in [(64, 64), (45, 70), (70, 70), (130, 3)] {
        for element in [Element::U8, Element::F16, Element::F32, Element::C128] {
            let problem = Problem::new(rows, cols, 1, element).unwrap();
            let workspace = software.workspace(&problem, 1).unwrap();
            let mut source = vec![0; problem.source_bytes() as usize];
            PATTERN.fill(0, problem.width().bytes(), &mut source);
            workspace.write_source(0, 0, &source).unwrap();
            for &variant in Variant::ALL {
                let Ok((shader, mut dispatch)) = trace::kernel(variant, &problem) else { continue };
                if software.support(variant, &problem) != Support::Supported {
                    continue;
                }
                // What of the destination is no element is zero in both.
                workspace.poison(0).unwrap();
                let mut run = workspace.prepare(variant, RunOptions::default()).unwrap();
                run.run(NonZeroU32::MIN).unwrap();
                let mut expected = vec![0; problem.destination_bytes() as usize];
                workspace.read_destination(0, 0, &mut expected).unwrap();
                dispatch.workgroups = Selection::All;
                let mut got = vec![0; expected.len()];
                trace::trace(&shader, &dispatch).unwrap().read((0, 1), 0, &mut got).unwrap();
                assert!(got == expected, "{variant} {problem}");
                compared += 1;
            }
        }
    }
    assert!(compared > 80, "{compared}");
}
