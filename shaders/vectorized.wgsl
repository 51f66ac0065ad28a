// Transposes through a tile in workgroup memory with 16-byte loads and stores on both sides: elements change places in
// registers first, and the tile has no bank conflicts.
//
// Moves: a workgroup moves TILE_ROWS × TILE_COLS elements of one matrix. A vector is 16 bytes, LANES elements: of a
// source row on the read side, of a destination row, which is a source column, on the write side.
//
// Threads: read side: 8 invocations along x take 8 neighbouring vectors of a source row, and the 32 of a warp do so in
// four places; each takes the vectors of ROWS rows, one below the other. Then they hold ROWS rows of LANES columns and
// exchange elements until each vector has elements of ROWS rows instead: whole words of one column each where elements
// are packed (lib/vectorized_packed.wgsl), a whole vector of one column elsewhere (lib/vectorized_whole.wgsl). Write
// side: the invocations take the vectors of a destination row one after the other, UNITS in number, and then those of
// the next row.
//
// Shared memory: PITCH = TILE_COLS columns of UNITS vectors, the tile transposed and without padding. In column c, the
// vector of place u lies at u ^ (c / LANES % SPREAD). 8 neighbouring vectors take all the 32 banks once, and a warp's
// 16-byte accesses are served 8 invocations at a time. Writing, 8 invocations have the same u and c / LANES one after
// the other, so u ^ … takes 8 values that differ modulo 8. Reading, they have the same c and 8 neighbouring u: the same
// holds. Where elements are packed, accesses are 4 bytes and lib/vectorized_packed.wgsl says what else there is to it.
//
// Launch: BLOCK_X × BLOCK_Y invocations in one row; one workgroup a tile, with DOWN_FIRST down the source's rows first.
//
// Bounds: a vector of the destination belongs to the destination row and the tile in which its first element lies, and
// is written whole by one invocation. Where source rows begin within a vector, or the tile is not whole, a vector is
// put together from two of the source's; cells beyond the edge stand for others within, and what comes of them is not
// written. Where destination rows begin within a vector, one is put together from two of the tile's. What reaches past
// the end of its destination row or out of the tile is collected from the source, element by element, with neighbouring
// invocations on neighbouring destination rows. Whole tiles whose rows begin with a vector need none of this; all the
// invocations of a workgroup take the same way, on the read side and on the write side.

@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> destination: array<vec4<u32>>;

// Elements in a vector.
const LANES = 16u / WIDTH;
// Vectors across a row of the tile, and in a column.
const ACROSS = TILE_COLS / LANES;
const UNITS = TILE_ROWS / LANES;
const SPREAD = min(8u, UNITS);

// Vectors that an invocation takes, in a block or, where that has fewer, in blocks STEP rows apart.
const TAKEN = TILE_ROWS * ACROSS / BLOCK_X;
const STEP = TILE_ROWS * ROWS / TAKEN;
const_assert TAKEN % ROWS == 0u && (TAKEN == 2u || TAKEN == 4u);
const_assert BLOCK_Y == 1u && ACROSS % 8u == 0u && UNITS % 8u == 0u && BLOCK_X % UNITS == 0u;
const_assert PITCH == TILE_COLS && TILE_COLS <= BLOCK_X;

// The number of a vector within its block, which is its row and, once exchanged, its column there; and the rows from
// its block down from the first.
const ROW_A = 0u;
const ROW_B = 1u % ROWS;
const ROW_C = 2u % ROWS;
const ROW_D = 3u % ROWS;
const DOWN_B = 1u / ROWS * STEP;
const DOWN_C = 2u / ROWS * STEP;
const DOWN_D = 3u / ROWS * STEP;

// The vectors of an invocation; where it takes two, the last two have nothing.
struct Block {
    a: vec4<u32>,
    b: vec4<u32>,
    c: vec4<u32>,
    d: vec4<u32>,
}

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
    let rows = params.rows;
    let cols = params.cols;
    let block = block_place(number);
    let left = block.x * TILE_COLS;
    let top = block.y * TILE_ROWS;
    let whole = left + TILE_COLS <= cols && top + TILE_ROWS <= rows;

    let lane = local.x % 32u;
    let warp = local.x / 32u;
    let vector = lane % 8u + warp % (ACROSS / 8u) * 8u;
    let y = (lane / 8u + warp / (ACROSS / 8u) * 4u) * ROWS;
    let cell = vec3(left + vector * LANES, top + y, block.z);
    var taken: Block;
    if whole && cols % LANES == 0u {
        taken = load_aligned(source_index(cell) / LANES, cols / LANES);
    } else {
        taken = load(cell);
    }
    taken = exchange(taken);
    put(taken.a, vector, ROW_A, y);
    put(taken.b, vector, ROW_B, y + DOWN_B);
    if TAKEN > 2u {
        put(taken.c, vector, ROW_C, y + DOWN_C);
        put(taken.d, vector, ROW_D, y + DOWN_D);
    }
    workgroupBarrier();

    // A line is a column of the tile.
    let unit = local.x % UNITS;
    let first_line = local.x / UNITS;
    let first = destination_index(vec3(left + first_line, top, block.z));
    if whole && rows % LANES == 0u {
        for (var step = 0u; step < TILE_COLS; step += BLOCK_X / UNITS) {
            destination[first / LANES + unit + step * (rows / LANES)] = take(first_line + step, unit);
        }
        return;
    }
    // What the tile has of a destination row.
    let height = min(TILE_ROWS, rows - top);
    for (var step = 0u; step < TILE_COLS; step += BLOCK_X / UNITS) {
        let line = first_line + step;
        let begin = first + step * rows;
        let head = to_next_vector(begin);
        if head + (unit + 1u) * LANES <= height && left + line < cols {
            let next = take(line, (unit + 1u) % UNITS);
            destination[(begin + head) / LANES + unit] = funnel(take(line, unit), next, head * WIDTH);
        }
    }
    // The vector that begins there and reaches past it.
    if local.x < TILE_COLS && left + local.x < cols {
        let begin = destination_index(vec3(left + local.x, top, block.z));
        let end = begin + height;
        let last = end - end % LANES;
        if begin <= last && last < end {
            destination[last / LANES] = collect(vec3(left + local.x, top + (last - begin), block.z));
        }
    }
}

// An invocation's vectors from source rows that begin with a vector, given the first one and the vectors in a row.
fn load_aligned(first: u32, stride: u32) -> Block {
    var block: Block;
    block.a = source[first];
    block.b = source[first + (ROW_B + DOWN_B) * stride];
    if TAKEN > 2u {
        block.c = source[first + (ROW_C + DOWN_C) * stride];
        block.d = source[first + (ROW_D + DOWN_D) * stride];
    }
    return block;
}

// An invocation's vectors, wherever source rows begin, from a cell on.
fn load(cell: vec3<u32>) -> Block {
    var block: Block;
    block.a = load_vector(cell);
    block.b = load_vector(cell + vec3(0u, ROW_B + DOWN_B, 0u));
    if TAKEN > 2u {
        block.c = load_vector(cell + vec3(0u, ROW_C + DOWN_C, 0u));
        block.d = load_vector(cell + vec3(0u, ROW_D + DOWN_D, 0u));
    }
    return block;
}

// The elements of a source row from a cell on; instead of a cell beyond the edge, one within.
fn load_vector(cell: vec3<u32>) -> vec4<u32> {
    let index = source_index(min(cell, vec3(params.cols - 1u, params.rows - 1u, cell.z)));
    let first = source[index / LANES];
    if LANES == 1u {
        return first;
    }
    return funnel(first, source[min(index / LANES + 1u, params.vectors - 1u)], index % LANES * WIDTH);
}

// The 16 bytes that begin so many bytes into the first of two vectors: a multiple of WIDTH below 16.
fn funnel(first: vec4<u32>, second: vec4<u32>, bytes: u32) -> vec4<u32> {
    // By two words, by one word, and within words; six words, five and four are still wanted.
    var low = first;
    var high = second.xy;
    if WIDTH <= 8u {
        let by_two = (bytes & 8u) != 0u;
        low = select(first, vec4(first.zw, second.xy), by_two);
        high = select(second.xy, second.zw, by_two);
    }
    if WIDTH <= 4u {
        let by_one = (bytes & 4u) != 0u;
        low = select(low, vec4(low.yzw, high.x), by_one);
        high.x = select(high.x, high.y, by_one);
    }
    if WIDTH <= 2u {
        let bits = bytes % 4u * 8u;
        // In two steps to the left, for a shift by 32 bits is one by none.
        low = (low >> vec4(bits)) | ((vec4(low.yzw, high.x) << vec4(1u)) << vec4(31u - bits));
    }
    return low;
}

// Elements from an index on to the first one that begins a vector.
fn to_next_vector(index: u32) -> u32 {
    return (0u - index) & (LANES - 1u);
}

// The number within the tile of a vector, given its column by the vector of the source and the lane in it.
fn place_in_tile(vector: u32, lane: u32, unit: u32) -> u32 {
    return vector * LANES * UNITS + (unit ^ (vector % SPREAD)) + lane * UNITS;
}

// A vector of the destination from the cell of its first element on. What follows the last element of a destination row
// is the first one of the next row; what follows the last matrix is padding.
fn collect(start: vec3<u32>) -> vec4<u32> {
    var cell = start;
    var index = source_index(start);
    var vector = vec4<u32>();
    for (var lane = 0u; lane < LANES; lane++) {
        vector = append(vector, index, cell.z < params.batch);
        cell.y += 1u;
        index += params.cols;
        if cell.y == params.rows {
            cell = vec3(cell.x + 1u, 0u, cell.z);
            if cell.x == params.cols {
                cell = vec3(0u, 0u, cell.z + 1u);
            }
            index = source_index(cell);
        }
    }
    return vector;
}
