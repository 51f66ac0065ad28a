//! The tracer on shaders whose answers are known.

use cornerturn::trace::{
    self, Access, Binding, Dispatch, Finding, Kind, Report, Selection, Shader, Space, TraceError, Traced,
};

/// A shader with `out` as 0.0, of so many words, in a grid.
fn run(wgsl: &str, grid: [u32; 3], words: u64) -> Traced {
    try_run(wgsl, grid, words).unwrap_or_else(|error| panic!("{error}\n{wgsl}"))
}

fn try_run(wgsl: &str, grid: [u32; 3], words: u64) -> Result<Traced, TraceError> {
    let shader = Shader::new("test.wgsl", wgsl.into(), None, &[])?;
    let mut dispatch = Dispatch::new(grid);
    dispatch.bindings.insert((0, 0), Binding::zeros(4 * words));
    trace::trace(&shader, &dispatch)
}

/// The words of `out`.
fn words(traced: &Traced, count: usize) -> Vec<u32> {
    let mut bytes = vec![0; 4 * count];
    traced.read((0, 0), 0, &mut bytes).unwrap();
    bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn only(report: &Report, space: Space, kind: Kind) -> Access {
    let mut found = report.lines.iter().flat_map(|line| &line.accesses);
    let access = found.find(|access| access.space == space && access.kind == kind).unwrap();
    access.clone()
}

const HEAD: &str = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n";

fn one_workgroup(size: u32, body: &str) -> String {
    format!(
        "{HEAD}
var<workgroup> tile: array<u32, 2048>;
@compute @workgroup_size({size})
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3<u32>) {{
{body}
}}"
    )
}

#[test]
fn sectors_of_strides_and_misaligned_starts() {
    for (index, sectors, lines) in [
        ("i", 4, 1),
        ("i + 1u", 5, 2),
        ("2u * i", 8, 2),
        ("8u * i", 32, 8),
        ("32u * i", 32, 32),
        ("0u", 1, 1),
        ("i / 2u", 2, 1),
        ("31u - i", 4, 1),
    ] {
        let report = run(&one_workgroup(32, &format!("_ = out[{index}];")), [1; 3], 4096).report;
        let figures = only(&report, Space::Storage, Kind::Load).figures;
        assert_eq!(
            (figures.counts.requests, figures.counts.sectors, figures.counts.lines),
            (1, sectors, lines),
            "{index}"
        );
        assert_eq!(figures.sectors_per_request, Some(sectors as f64), "{index}");
    }
    let report = run(&one_workgroup(32, "out[8u * i] = 1u;"), [1; 3], 4096).report;
    let store = only(&report, Space::Storage, Kind::Store);
    assert_eq!((store.figures.efficiency, store.figures.moved_bytes, store.bytes), (Some(0.125), 1024, 4));
}

#[test]
fn wide_accesses_are_one_request_and_composites_are_split() {
    let wgsl = "
struct Pair { a: u32, b: vec4<f32>, m: mat2x3<f32> }
@group(0) @binding(0) var<storage, read_write> out: array<Pair>;
@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) { let pair = out[i]; out[i].b = pair.b; }";
    let report = run(wgsl, [1; 3], 32 * 16).report;
    let loads: Vec<_> =
        report.lines.iter().flat_map(|line| &line.accesses).filter(|one| one.kind == Kind::Load).collect();
    let found: Vec<_> = loads.iter().map(|one| (one.bytes, one.figures.counts.requests)).collect();
    assert_eq!(found, [(4, 1), (12, 2), (16, 1)], "a u32, two columns and a vector");
    let store = only(&report, Space::Storage, Kind::Store).figures.counts;
    assert_eq!((store.requests, store.sectors, store.useful_bytes), (1, 32, 512));
}

#[test]
fn subgroups_make_requests_of_their_own() {
    let shader = Shader::new("test.wgsl", one_workgroup(96, "out[i] = 1u;"), None, &[]).unwrap();
    for (subgroup, requests, sectors) in [(4, 24, 24), (8, 12, 12), (32, 3, 12), (64, 2, 12), (128, 1, 12)] {
        let mut dispatch = Dispatch::new([1; 3]);
        dispatch.subgroup = subgroup;
        dispatch.bindings.insert((0, 0), Binding::zeros(4096));
        let store = trace::trace(&shader, &dispatch).unwrap().report.total(Space::Storage, Kind::Store);
        assert_eq!((store.requests, store.sectors), (requests, sectors), "{subgroup}");
    }
}

#[test]
fn conflicts_of_strides() {
    for (index, degree, extra) in [
        ("i", 1, 0),
        ("2u * i", 2, 1),
        ("32u * i", 32, 31),
        ("33u * i", 1, 0),
        ("0u", 1, 0),
        ("3u * i", 1, 0),
        ("16u * i", 16, 15),
    ] {
        let report = run(&one_workgroup(32, &format!("out[i] = tile[{index}];")), [1; 3], 4096).report;
        let figures = only(&report, Space::Workgroup, Kind::Load).figures;
        assert_eq!((figures.counts.worst_degree, figures.extra_passes), (degree, extra), "{index}");
    }
    let wide = "
@group(0) @binding(0) var<storage, read_write> out: array<vec4<u32>>;
var<workgroup> tile: array<vec4<u32>, 256>;
@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) { out[i] = tile[8u * i]; }";
    let figures = only(&run(wide, [1; 3], 128).report, Space::Workgroup, Kind::Load).figures;
    assert_eq!((figures.counts.passes, figures.counts.least_passes, figures.mean_degree), (32, 4, Some(8.0)));
}

#[test]
fn only_what_reads_and_writes_at_once_takes_turns() {
    let atomics = "
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<workgroup> total: atomic<u32>;
@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
    atomicStore(&total, 5u);
    workgroupBarrier();
    out[i] = atomicLoad(&total);
    atomicAdd(&total, i);
}";
    let report = run(atomics, [1; 3], 32).report;
    for (kind, passes) in [(Kind::Store, 1), (Kind::Load, 1), (Kind::Atomic, 32)] {
        assert_eq!(report.total(Space::Workgroup, kind).passes, passes, "{kind:?}");
    }
    assert_eq!(report.findings, []);
}

#[test]
fn only_active_invocations_and_subgroups_count() {
    let report = run(&one_workgroup(64, "if i < 40u && i % 2u == 0u { out[i] = 1u; }"), [1; 3], 64).report;
    let counts = report.total(Space::Storage, Kind::Store);
    assert_eq!((counts.requests, counts.accesses, counts.sectors), (2, 20, 5));
    let report = run(&one_workgroup(64, "for (var k = 0u; k < i / 16u; k++) { out[i] = k; }"), [1; 3], 64).report;
    let counts = report.total(Space::Storage, Kind::Store);
    assert_eq!((counts.requests, counts.accesses), (1 + 3, 16 + 32 + 48));
}

#[test]
fn a_missing_barrier_is_a_race_and_a_right_kernel_is_clean() {
    let kernel = |barrier: &str| one_workgroup(64, &format!("tile[i] = i;\n{barrier}\nout[i] = tile[63u - i];"));
    let right = run(&kernel("workgroupBarrier();"), [1; 3], 64);
    assert_eq!(right.report.findings, []);
    assert_eq!(words(&right, 64), (0..64).rev().collect::<Vec<_>>());
    let racy = run(&kernel(""), [1; 3], 64).report;
    let [Finding::DataRace { variable, space, accesses: [a, b], byte, other_barrier, .. }] = &racy.findings[..] else {
        panic!("{:?}", racy.findings)
    };
    assert_eq!((variable.as_str(), *space, *byte, *other_barrier), ("tile", Space::Workgroup, 252, false));
    assert_eq!((a.kind, a.location.unwrap().line, a.invocation), (Kind::Store, 6, Some([63, 0, 0])));
    assert_eq!((b.kind, b.location.unwrap().line, b.invocation), (Kind::Load, 8, Some([0, 0, 0])));
    let wrong = run(&kernel("storageBarrier();"), [1; 3], 64).report;
    assert!(matches!(wrong.findings[..], [Finding::DataRace { other_barrier: true, .. }]), "{:?}", wrong.findings);
    assert_eq!(run(&kernel("_ = workgroupUniformLoad(&tile[0]);"), [1; 3], 64).report.findings, []);
}

#[test]
fn writes_to_one_place_race_and_atomics_do_not() {
    let report = run(&one_workgroup(32, "out[0] = 7u;"), [1; 3], 1).report;
    assert!(
        matches!(report.findings[..], [Finding::DataRace { same_value: true, count: 31, .. }]),
        "{:?}",
        report.findings
    );
    let report = run(&one_workgroup(32, "out[0] = i;"), [1; 3], 1).report;
    assert!(matches!(report.findings[..], [Finding::DataRace { same_value: false, .. }]), "{:?}", report.findings);
    let atomic = "
@group(0) @binding(0) var<storage, read_write> out: array<atomic<u32>, 4>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    let old = atomicAdd(&out[0], 2u);
    atomicMax(&out[1], i);
    if atomicCompareExchangeWeak(&out[2], 0u, 9u).exchanged { atomicOr(&out[3], 1u << (i + 1u)); }
}";
    let traced = run(atomic, [2, 1, 1], 4);
    assert_eq!(traced.report.findings, []);
    assert_eq!(words(&traced, 4), [256, 63, 9, 2]);
}

#[test]
fn workgroups_in_conflict_are_found() {
    let report = run(&one_workgroup(32, "out[i] = group.x;"), [2, 1, 1], 32).report;
    assert!(
        matches!(&report.findings[..], [Finding::WorkgroupConflict { accesses: [a, b], .. }]
            if a.workgroup == [0, 0, 0] && b.workgroup == [1, 0, 0]),
        "{:?}",
        report.findings
    );
    let report =
        run(&one_workgroup(32, "out[32u * group.x + i] = out[32u * (group.x ^ 1u) + i];"), [2, 1, 1], 64).report;
    assert!(!report.findings.is_empty());
    let report = run(&one_workgroup(32, "out[32u * group.x + i] = out[32u * group.x + i];"), [2, 1, 1], 64).report;
    assert_eq!(report.findings, []);
}

#[test]
fn out_of_bounds_is_zero_dropped_and_told() {
    let traced = run(&one_workgroup(32, "out[i + 1u] = 5u + out[i + 32u];"), [1; 3], 32);
    assert_eq!(words(&traced, 3), [0, 5, 5]);
    let counts = traced.report.findings.iter().map(|finding| match finding {
        Finding::OutOfBounds { access, index, length, invocation, count, .. } => {
            (access.as_str(), *index, *length, *invocation, *count)
        }
        other => panic!("{other:?}"),
    });
    assert_eq!(counts.collect::<Vec<_>>(), [("load", 32, 32, [0, 0, 0], 32), ("store", 32, 32, [31, 0, 0], 1)]);
    let report =
        run(&one_workgroup(32, "var a = array<u32, 4>(); a[i] = 1u; out[i] = a[i32(i) - 1];"), [1; 3], 32).report;
    assert_eq!(report.findings.len(), 2, "{:?}", report.findings);
    assert!(report.findings.iter().any(|finding| matches!(finding, Finding::OutOfBounds { index: -1, length: 4, .. })));
}

#[test]
fn a_barrier_that_some_do_not_reach_is_told() {
    let report = run(&one_workgroup(32, "if i < 16u { workgroupBarrier(); }"), [1; 3], 32).report;
    assert!(
        matches!(report.findings[..], [Finding::DivergentBarrier { reached: 16, missing: [16, 0, 0], .. }]),
        "{:?}",
        report.findings
    );
    let report = run(&one_workgroup(32, "if i == 31u { return; }\nworkgroupBarrier();"), [1; 3], 32).report;
    assert!(matches!(report.findings[..], [Finding::DivergentBarrier { reached: 31, .. }]), "{:?}", report.findings);
}

#[test]
fn totals_of_large_grids_are_scaled_stratum_by_stratum() {
    // The last workgroup along x has half the work.
    let wgsl = one_workgroup(32, "if group.x < 99u || i < 16u { out[(group.y * 100u + group.x) * 32u + i] = 1u; }");
    let report = run(&wgsl, [100, 100, 1], 320_000).report;
    assert!(report.scaled && report.traced < 20);
    let store = report.total(Space::Storage, Kind::Store);
    assert_eq!((store.accesses, store.requests, store.sectors), (99 * 100 * 32 + 100 * 16, 10_000, 99 * 400 + 200));
    let shader = Shader::new("test.wgsl", wgsl, None, &[]).unwrap();
    let mut dispatch = Dispatch::new([100, 100, 1]);
    dispatch.bindings.insert((0, 0), Binding::zeros(1_280_000));
    dispatch.workgroups = Selection::All;
    assert_eq!(trace::trace(&shader, &dispatch).unwrap().report.total(Space::Storage, Kind::Store), store);
    dispatch.workgroups = Selection::One([99, 3, 0]);
    assert_eq!(trace::trace(&shader, &dispatch).unwrap().report.total(Space::Storage, Kind::Store).accesses, 16);
}

#[test]
fn control_flow_goes_where_it_should() {
    let body = "
    var sum = 0u;
    for (var k = 0u; k < 10u; k++) {
        if k == i { continue; }
        switch k { case 3u, 4u: { sum += 100u; } case 5u: { if i == 1u { break; } sum += 1000u; } case 7u: { continue; } default: { sum += 1u; } }
        if k == 8u && i > 4u { break; }
    }
    var k = 0u;
    loop { if k > i { break; } k += 1u; continuing { sum += 10000u; break if k == 3u; } }
    out[i] = helper(sum, i);
}
fn helper(sum: u32, i: u32) -> u32 {
    if i == 2u { return 7u; }
    return sum;";
    let host = |i: u32| {
        let mut sum = 0;
        for k in (0..10).filter(|k| *k != i) {
            match k {
                3 | 4 => sum += 100,
                5 => sum += if i == 1 { 0 } else { 1000 },
                7 => continue,
                _ => sum += 1,
            }
            if k == 8 && i > 4 {
                break;
            }
        }
        if i == 2 { 7 } else { sum + 10000 * (i + 1).min(3) }
    };
    assert_eq!(words(&run(&one_workgroup(12, body), [1; 3], 12), 12), (0..12).map(host).collect::<Vec<_>>());
}

#[test]
fn pointers_overrides_and_workgroup_ids() {
    let wgsl = "
override SIZE: u32 = 8; @id(3) override factor: f32;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
struct S { a: array<vec3<u32>, 3>, b: u32 }
var<private> mine: S;
fn bump(p: ptr<function, u32>, q: ptr<private, u32>) { *p += 1u; *q += *p; }
@compute @workgroup_size(SIZE, 2)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    var v = array<u32, 4>(1u, 2u, 3u, 4u);
    mine.a[1].z = id.x;
    bump(&v[id.x % 4u], &mine.b);
    out[id.y * SIZE * groups.x + id.x] = mine.b * 1000u + mine.a[1][2] * u32(factor) + arrayLength(&out);
}";
    let overrides = [("SIZE".to_owned(), 4.0), ("3".to_owned(), 10.0)];
    let shader = Shader::new("test.wgsl", wgsl.into(), None, &overrides).unwrap();
    assert_eq!(shader.workgroup_size(), [4, 2, 1]);
    let mut dispatch = Dispatch::new([2, 1, 1]);
    dispatch.bindings.insert((0, 0), Binding::zeros(64));
    let traced = trace::trace(&shader, &dispatch).unwrap();
    let expected: Vec<u32> = (0..16).map(|at| at % 8).map(|x| (x % 4 + 2) * 1000 + x * 10 + 16).collect();
    assert_eq!(words(&traced, 16), expected);
    assert_eq!(traced.report.findings, []);
}

#[test]
fn subgroup_operations() {
    let wgsl = "enable subgroups;
@group(0) @binding(0) var<storage, read_write> out: array<vec4<u32>>;
@compute @workgroup_size(48)
fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_size) size: u32, @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_id) id: u32, @builtin(num_subgroups) number: u32) {
    let votes = subgroupBallot(i % 3u == 0u);
    out[i] = vec4(subgroupAdd(i), subgroupExclusiveAdd(1u), subgroupInclusiveMul(select(1u, 2u, lane < 2u)), votes.x);
    out[48u + i] = vec4(subgroupShuffleXor(i, 1u), subgroupBroadcastFirst(i), subgroupShuffleUp(i, 1u), subgroupMax(i));
    out[96u + i] = vec4(size, id, number, select(0u, 2u, subgroupAny(i == 40u)) + select(0u, 4u, subgroupAll(i < 40u)));
}";
    let traced = run(wgsl, [1; 3], 4 * 144);
    let found = words(&traced, 4 * 144);
    let at = |row: usize, i: usize| &found[4 * (48 * row + i)..][..4];
    assert_eq!(at(0, 5), [496, 5, 4, 0x4924_9249]);
    assert_eq!(at(0, 33), [(32..48).sum::<u32>(), 1, 4, 0x4924 >> 1]);
    assert_eq!(at(1, 40), [41, 32, 39, 47]);
    assert_eq!(at(2, 0), [32, 0, 2, 4]);
    assert_eq!(at(2, 40), [32, 1, 2, 2]);
}

#[test]
fn bad_input_is_told() {
    let message = |error: Result<Traced, TraceError>| {
        let error = error.err().unwrap();
        (error.is_input(), error.to_string())
    };
    let refused = |wgsl: &str, expected: &str, input: bool| {
        let (is_input, text) = message(try_run(wgsl, [1; 3], 1024));
        assert!(text.contains(expected) && is_input == input, "{text}");
    };
    refused("fn main( {", "test.wgsl:1:10", true);
    refused("@compute @workgroup_size(1) fn main() { main(); }", "main", true);
    refused("fn f() { f(); } @compute @workgroup_size(1) fn main() { f(); }", "test.wgsl", true);
    refused(
        "@vertex fn v() -> @builtin(position) vec4<f32> { return vec4(0.0); }",
        "only those of other stages: v (Vertex)",
        true,
    );
    let two = "@compute @workgroup_size(1) fn a() {} @compute @workgroup_size(1) fn b() {}";
    refused(two, "name one with --entry: a, b", true);
    let more = HEAD.to_owned()
        + "@group(1) @binding(2) var<uniform> size: vec4<u32>; @compute @workgroup_size(1) fn main() { out[0] = size.x; }";
    refused(&more, "var<uniform> `size: vec4<u32>`, at least 16 B: add --bind 1.2=", true);
    refused(
        "@group(0) @binding(0) var<storage> a: array<u32, 1025>; @compute @workgroup_size(1) fn main() { _ = a[0]; }",
        "has 4096 B",
        true,
    );
    refused("@compute @workgroup_size(1) fn main() { }", "has no binding 0.0", true);
    refused(
        &one_workgroup(1, "loop { out[0] += 1u; if out[1] > 0u { break; } }"),
        "more than 10000000 steps at line",
        false,
    );
    refused("override n: u32; @compute @workgroup_size(n) fn main() {}", "overrides", true);
    refused(
        &(HEAD.to_owned() + "@compute @workgroup_size(16384, 16384, 16384) fn main() { out[0] = 1u; }"),
        "4398046511104",
        true,
    );
    let private = "var<private> big: array<u32, 100000000>;";
    refused(&(private.to_owned() + &one_workgroup(64, "big[i] = 1u; out[i] = big[i];")), "51200000000", true);
    let texture = "@group(1) @binding(0) var t: texture_2d<f32>;";
    refused(
        &(texture.to_owned() + &one_workgroup(1, "out[0] = u32(textureLoad(t, vec2(0), 0).x);")),
        "not supported: textures (a load) at line",
        false,
    );
}

#[test]
fn enormous_grids_are_sampled_in_bounded_time() {
    let traced = run(
        &one_workgroup(1, "out[i] = atomics(group);\n}\nfn atomics(group: vec3<u32>) -> u32 { return group.x;"),
        [u32::MAX; 3],
        32,
    );
    assert_eq!(traced.report.workgroups, u128::from(u32::MAX).pow(3));
    assert!(traced.report.traced <= 27);
    assert!(traced.report.total(Space::Storage, Kind::Store).requests > 1 << 60);
}

#[test]
fn narrow_and_wide_scalars() {
    let wgsl = "enable f16;
@group(0) @binding(0) var<storage, read_write> out: array<f16>;
var<private> big: u64 = 0xFFFFFFFFFFlu;
@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
    let x = f16(i) * 0.1h;
    let y = u32((big + u64(i)) >> 36u) + u32(f64(i) / 3.0lf);
    out[i] = x;
    out[32u + i] = f16(y);
}";
    let traced = run(wgsl, [1; 3], 32);
    assert_eq!(traced.report.findings, [], "neighbouring halves of a word are no race");
    let stores = traced.report.total(Space::Storage, Kind::Store);
    assert_eq!((stores.requests, stores.sectors, stores.useful_bytes), (2, 4, 128));
    let halves: Vec<u16> = words(&traced, 32).iter().flat_map(|word| [*word as u16, (word >> 16) as u16]).collect();
    assert_eq!((halves[0], halves[1], halves[10]), (0, 0x2e66, 0x3c00));
    // 15, and 16 with a carry and a third of 31.
    assert_eq!((halves[32], halves[63]), (0x4b80, 0x4e80));
}
