// Stores elements to global memory with a stride: what coalescing is worth.
//
// Moves: each invocation stores UNROLL elements of WIDTH bytes, BLOCK invocations' accesses apart. What it stores tells
// the access: its number, exclusive-or p.trap.
//
// Threads: invocation n of the whole launch touches the element p.first + n * p.stride, so that a warp's 32 elements
// lie 31 * p.stride + 1 elements wide.
//
// Shared memory: none.
//
// Launch: workgroups of BLOCK invocations, in order; each has BLOCK * UNROLL accesses.
//
// Bounds: the destination holds p.first + p.blocks * BLOCK * UNROLL * p.stride elements.

@group(0) @binding(1) var<storage, read_write> destination: array<Element>;

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
    let access = number * BLOCK * UNROLL + local;
    let at = p.first + access * p.stride;
    let apart = BLOCK * p.stride;
    for (var k = 0u; k < UNROLL; k++) {
        destination[at + k * apart] = element((access + k * BLOCK) ^ p.trap);
    }
}
