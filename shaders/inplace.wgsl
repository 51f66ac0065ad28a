// Transposes square matrices in place by accesses of 16 bytes: the fast one, where rows begin with a vector.
//
// Moves: a workgroup exchanges two tiles of TILE_ROWS × TILE_COLS elements that mirror each other, through workgroup
// memory, one after the other; a tile on the diagonal it transposes. 16 bytes are a vector, of LANES elements.
//
// Threads: as in vectorized.wgsl, on both sides. An invocation loads its vectors of both tiles before it uses one, keeps
// those of the second while the first goes through workgroup memory, and so both have been read when the first is written.
//
// Shared memory: as in vectorized.wgsl, without conflicts.
//
// Launch: BLOCK_X × BLOCK_Y invocations in one row; one workgroup a pair of tiles.
//
// Bounds: every row begins with a vector. Of a vector that reaches beyond a row's elements the rest is kept as it was;
// vectors beyond the edge stand for others within, and what comes of them is not written. `source` is not used.

// Columns of pairs that are taken together.
const STRIP = 1u;

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
    let pair = pair_of(number);
    let upper = corner_of(pair, pair.low, pair.high);
    let lower = corner_of(pair, pair.high, pair.low);
    let spot = spot_of(local.x);
    let first = fetch_own(upper, spot);
    let second = fetch_own(lower, spot);
    put(exchange(first), spot.x, spot.y);
    // Both tiles are fetched before any of them is written.
    storageBarrier();
    workgroupBarrier();
    store_tile(lower, local.x);
    // The same way for all invocations.
    if pair.low != pair.high {
        workgroupBarrier();
        put(exchange(second), spot.x, spot.y);
        workgroupBarrier();
        store_tile(upper, local.x);
    }
}

// An invocation's vectors of the tile with this first cell.
fn fetch_own(corner: vec3<u32>, spot: vec2<u32>) -> Block {
    let last = params.rows - 1u;
    let y = min(corner.y + spot.y + vec4(0u, row_of(1u), row_of(2u), row_of(3u)), vec4(last));
    let number = (index_of(vec3(min(corner.x + spot.x * LANES, last), 0u, corner.z)) + y * params.dst_ld) / LANES;
    var block: Block;
    block.a = destination[number.x];
    block.b = destination[number.y];
    if TAKEN > 2u {
        block.c = destination[number.z];
        block.d = destination[number.w];
    }
    return block;
}

// Stores what workgroup memory has where the mirrored tile is, whose first cell this is.
fn store_tile(corner: vec3<u32>, thread: u32) {
    let unit = thread % UNITS;
    for (var line = thread / UNITS; line < TILE_COLS / BREADTH; line += BLOCK_X / UNITS) {
        let row = corner.y + line / PER_WORD * LANES + line % PER_WORD;
        let vectors = take(line, unit);
        let cell = vec3(corner.x + unit * LANES, row, corner.z);
        store_own(cell, vectors.a);
        if BREADTH > 1u {
            store_own(cell + vec3(0u, PER_WORD, 0u), vectors.b);
        }
        if BREADTH > 2u {
            store_own(cell + vec3(0u, 2u * PER_WORD, 0u), vectors.c);
            store_own(cell + vec3(0u, 3u * PER_WORD, 0u), vectors.d);
        }
    }
}

// Stores a vector from this cell on, as far as the matrix goes.
fn store_own(cell: vec3<u32>, vector: vec4<u32>) {
    if any(cell.xy >= vec2(params.rows)) {
        return;
    }
    let number = index_of(cell) / LANES;
    let left = params.rows - cell.x;
    if left >= LANES {
        destination[number] = vector;
        return;
    }
    // Bits of each word that belong to the row; shifted in two steps, for a shift by 32 bits is one by none.
    let half = clamp(vec4(i32(left * WIDTH)) - vec4(0, 4, 8, 12), vec4(0), vec4(4)) * 4;
    let ours = ((vec4(1u) << vec4<u32>(half)) << vec4<u32>(half)) - 1u;
    destination[number] = (vector & ours) | (destination[number] & ~ours);
}
