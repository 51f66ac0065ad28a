// What the probes share: their parameters.
//
// A probe's second binding is its state: words, of which the first is the probe's own.

// `Parameters` in src/probe/launch.rs.
struct Probe {
    blocks: u32,
    // Rounds of the timed loop.
    steps: u32,
    // The element that the first invocation accesses, and elements from one invocation's access to the next one's.
    first: u32,
    stride: u32,
    // Windows in the whole set, vectors of 16 bytes that a workgroup reads in a round, and windows by which it moves on
    // from round to round.
    count: u32,
    window: u32,
    shift: u32,
    // The sum that is stored if it is ever met.
    trap: u32,
}

@group(0) @binding(2) var<uniform> p: Probe;

// The block's number. The host folds the row of blocks over two dimensions; there may be numbers from p.blocks on,
// which have nothing to do.
fn block_number(group: vec3<u32>, groups: vec3<u32>) -> u32 {
    return group.y * groups.x + group.x;
}

fn fold(v: vec4<u32>) -> u32 {
    return v.x ^ v.y ^ v.z ^ v.w;
}
