// Reads windows of a set again and again: the bandwidth of whatever level the set fits in.
//
// Moves: in each of p.steps rounds a workgroup reads one window, p.window vectors of 16 bytes, and moves on by p.shift
// windows of the p.count that the set has. With a shift of 0 a workgroup keeps to its own window, for L1; otherwise
// what it reads next was read by another workgroup before.
//
// Threads: neighbouring invocations load neighbouring vectors: coalesced. UNROLL loads of an invocation are under way
// together.
//
// Shared memory: none.
//
// Launch: workgroups of BLOCK invocations; workgroup n begins with window n, and there are at most p.count workgroups.
//
// Bounds: a window is a multiple of BLOCK * UNROLL vectors.

@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> state: array<u32>;

@compute @workgroup_size(BLOCK)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    var at = block_number(group, groups);
    if at >= p.blocks {
        return;
    }
    var sum = vec4(0u);
    for (var step = 0u; step < p.steps; step++) {
        let begin = at * p.window + local;
        for (var i = begin; i < begin + p.window; i += BLOCK * UNROLL) {
            if UNROLL == 8u {
                sum ^= source[i] ^ source[i + BLOCK] ^ source[i + 2u * BLOCK] ^ source[i + 3u * BLOCK]
                    ^ source[i + 4u * BLOCK] ^ source[i + 5u * BLOCK] ^ source[i + 6u * BLOCK] ^ source[i + 7u * BLOCK];
            } else if UNROLL == 4u {
                sum ^= source[i] ^ source[i + BLOCK] ^ source[i + 2u * BLOCK] ^ source[i + 3u * BLOCK];
            } else if UNROLL == 2u {
                sum ^= source[i] ^ source[i + BLOCK];
            } else {
                sum ^= source[i];
            }
        }
        at += p.shift;
        at -= select(p.count, 0u, at < p.count);
    }
    if fold(sum) == p.trap {
        state[0] = fold(sum);
    }
}
