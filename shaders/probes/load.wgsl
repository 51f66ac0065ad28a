// Loads elements of global memory with a stride: what coalescing is worth.
//
// Moves: each invocation loads UNROLL elements of WIDTH bytes, BLOCK invocations' accesses apart.
//
// Threads: invocation n of the whole launch touches the element p.first + n * p.stride, so that a warp's 32 elements
// lie 31 * p.stride + 1 elements wide.
//
// Shared memory: none.
//
// Launch: workgroups of BLOCK invocations, in order; each has BLOCK * UNROLL accesses.
//
// Bounds: the source holds p.first + p.blocks * BLOCK * UNROLL * p.stride elements.

@group(0) @binding(0) var<storage, read> source: array<Element>;
@group(0) @binding(1) var<storage, read_write> state: array<u32>;

@compute @workgroup_size(BLOCK)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let number = block_number(group, groups);
    if number >= p.blocks {
        return;
    }
    let at = p.first + (number * BLOCK * UNROLL + local) * p.stride;
    let apart = BLOCK * p.stride;
    var sum = source[at] ^ source[at + apart] ^ source[at + 2u * apart] ^ source[at + 3u * apart];
    if UNROLL == 8u {
        sum ^= source[at + 4u * apart] ^ source[at + 5u * apart] ^ source[at + 6u * apart] ^ source[at + 7u * apart];
    }
    if word(sum) == p.trap {
        state[0] = word(sum);
    }
}
