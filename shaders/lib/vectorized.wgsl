// What the kernels share that exchange elements in registers: the tile in workgroup memory, an invocation's part in loading
// it, and how what it has loaded gets there. vectorized.wgsl says more.

// Columns of a piece, and pieces of a unit.
const BREADTH = LANES / PER_WORD;
// Vectors across a row of the tile, and in a column.
const ACROSS = TILE_COLS / LANES;
const UNITS = TILE_ROWS / LANES;

// Vectors that an invocation takes.
const TAKEN = TILE_ROWS * ACROSS / BLOCK_X;
const STEP = TILE_ROWS * PER_WORD / TAKEN;
const_assert TAKEN == 2u || TAKEN == 4u;
const_assert TAKEN % PER_WORD == 0u && TAKEN % BREADTH == 0u;
const_assert UNITS % 8u == 0u || (UNITS == 4u && PER_WORD % 2u == 0u);
const_assert BLOCK_Y == 1u && ACROSS % 8u == 0u && BLOCK_X % UNITS == 0u && PITCH == TILE_COLS;

// Not words: invocations write nothing but whole pieces.
var<workgroup> tile: array<vec4<u32>, TILE_COLS * UNITS>;

// The vectors that an invocation takes: the place along the tile's rows, in vectors, and the row of its first one.
fn spot_of(thread: u32) -> vec2<u32> {
    let lane = thread % 32u;
    let warp = thread / 32u;
    return vec2(lane % 8u + warp % (ACROSS / 8u) * 8u, (lane / 8u + warp / (ACROSS / 8u) * 4u) * PER_WORD);
}

// The row of an invocation's vector of this number, counted from that of its first one.
fn row_of(number: u32) -> u32 {
    return number % PER_WORD + number / PER_WORD * STEP;
}

// Puts the pieces of row y on into the tile.
fn put(pieces: Block, vector: u32, y: u32) {
    put_piece(pieces.a, 0u, vector, y);
    put_piece(pieces.b, 1u, vector, y);
    if TAKEN > 2u {
        put_piece(pieces.c, 2u, vector, y);
        put_piece(pieces.d, 3u, vector, y);
    }
}

fn put_piece(piece: vec4<u32>, number: u32, vector: u32, y: u32) {
    let row = y + number / PER_WORD * STEP;
    tile[place_in_tile(vector * PER_WORD + number % PER_WORD, row / PER_WORD % BREADTH, row / LANES)] = piece;
}

fn place_in_tile(line: u32, part: u32, unit: u32) -> u32 {
    let swizzle = (line / PER_WORD) ^ (line % PER_WORD * UNITS);
    return ((line * BREADTH + part) * UNITS + unit) ^ (swizzle % 8u);
}

// A unit of the columns of a line, a vector of each.
fn take(line: u32, unit: u32) -> Block {
    var parts: Block;
    parts.a = tile[place_in_tile(line, 0u, unit)];
    if BREADTH > 1u {
        parts.b = tile[place_in_tile(line, 1u, unit)];
    }
    if BREADTH > 2u {
        parts.c = tile[place_in_tile(line, 2u, unit)];
        parts.d = tile[place_in_tile(line, 3u, unit)];
    }
    return columns(parts);
}

// 4 × 4 words transposed.
fn words_exchanged(block: Block) -> Block {
    return Block(
        vec4(block.a.x, block.b.x, block.c.x, block.d.x),
        vec4(block.a.y, block.b.y, block.c.y, block.d.y),
        vec4(block.a.z, block.b.z, block.c.z, block.d.z),
        vec4(block.a.w, block.b.w, block.c.w, block.d.w),
    );
}
