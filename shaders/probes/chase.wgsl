// Follows a chain of indices through global memory: the latency of a load.
//
// Moves: one invocation loads 4 bytes a step, the index of the next ones. The host lays the chain so that it goes
// through all 128-byte lines of a set in random order before it comes back.
//
// Threads: one. Each load needs the one before, so that nothing overlaps. It caches wherever the device caches, which
// is what makes the latency a function of the set's size. Turning an index into an address takes a few cycles of each
// step.
//
// Shared memory: none.
//
// Launch: one workgroup of one invocation. A launch goes on where the last one stopped; state[0] is the index. p.steps
// is a multiple of 8.
//
// Bounds: the chain never leaves the set.

@group(0) @binding(0) var<storage, read> source: array<u32>;
@group(0) @binding(1) var<storage, read_write> state: array<u32>;

@compute @workgroup_size(1)
fn main() {
    var at = state[0];
    for (var step = 0u; step < p.steps; step += 8u) {
        at = source[at];
        at = source[at];
        at = source[at];
        at = source[at];
        at = source[at];
        at = source[at];
        at = source[at];
        at = source[at];
    }
    state[0] = at;
}
