// Reads workgroup memory without conflicts: its bandwidth.
//
// Moves: a workgroup fills TILE vectors of 16 bytes from global memory once; then each invocation reads 8 of them a
// round.
//
// Threads: neighbouring invocations read neighbouring vectors, so that the 8 lanes of a quarter of a warp read 128
// consecutive bytes: every bank once.
//
// Shared memory: the tile, TILE = 1024 vectors, 16 KiB.
//
// Launch: workgroups of BLOCK invocations, any number of them.
//
// Bounds: the indices 255 + 256 + 7 * 64 are below TILE.

@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> state: array<u32>;

var<workgroup> tile: array<vec4<u32>, TILE>;

@compute @workgroup_size(BLOCK)
fn main(@builtin(local_invocation_index) local: u32) {
    for (var i = local; i < TILE; i += BLOCK) {
        tile[i] = source[i];
    }
    workgroupBarrier();
    var sum = vec4(0u);
    for (var step = 0u; step < p.steps; step++) {
        let at = local % 256u + 256u * (step % 2u);
        let v0 = tile[at + 0u];
        let v1 = tile[at + 64u];
        let v2 = tile[at + 128u];
        let v3 = tile[at + 192u];
        let v4 = tile[at + 256u];
        let v5 = tile[at + 320u];
        let v6 = tile[at + 384u];
        let v7 = tile[at + 448u];
        sum ^= v0 ^ v1 ^ v2 ^ v3 ^ v4 ^ v5 ^ v6 ^ v7;
    }
    if fold(sum) == p.trap {
        state[0] = fold(sum);
    }
}
