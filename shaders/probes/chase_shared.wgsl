// Follows a chain of indices through workgroup memory: the latency of a load from there.
//
// Moves: all invocations bring RING words from global memory, each the index of the next one; then one invocation loads
// 4 bytes a step.
//
// Threads: in the chain one; each load needs the one before, so that nothing overlaps. Turning an index into an address
// takes a few cycles of each step.
//
// Shared memory: the chain, RING words.
//
// Launch: one workgroup of BLOCK invocations. p.steps is a multiple of 8.
//
// Bounds: the chain never leaves the ring.

@group(0) @binding(0) var<storage, read> source: array<u32>;
@group(0) @binding(1) var<storage, read_write> state: array<u32>;

var<workgroup> ring: array<u32, RING>;

@compute @workgroup_size(BLOCK)
fn main(@builtin(local_invocation_index) local: u32) {
    for (var i = local; i < RING; i += BLOCK) {
        ring[i] = source[i];
    }
    workgroupBarrier();
    if local == 0u {
        var at = 0u;
        for (var step = 0u; step < p.steps; step += 8u) {
            at = ring[at];
            at = ring[at];
            at = ring[at];
            at = ring[at];
            at = ring[at];
            at = ring[at];
            at = ring[at];
            at = ring[at];
        }
        state[0] = at;
    }
}
