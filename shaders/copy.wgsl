// Copies the source to the destination: the ceiling that every transpose is held against.
//
// Moves: a workgroup moves 4 KiB, the next 256 vectors of 16 bytes of one long row, whatever the elements are.
//
// Threads: each invocation loads one vector and stores it at the same place; neighbours take neighbouring vectors, so
// both sides are coalesced, and what runs at the same time touches neighbouring addresses.
//
// Shared memory: none.
//
// Launch: BLOCK_X invocations, one workgroup for each 4 KiB, in order.
//
// Bounds: the last workgroup hangs over the end. The buffers are padded to whole vectors; there are params.src_vectors.

@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> destination: array<vec4<u32>>;

@compute @workgroup_size(BLOCK_X, BLOCK_Y)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let number = block_number(group, groups);
    if number >= params.blocks {
        return;
    }
    let index = number * BLOCK_X + local.x;
    if index < params.src_vectors {
        destination[index] = source[index];
    }
}
