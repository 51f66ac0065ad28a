// What vectorized.wgsl does with elements of 4, 8 and 16 bytes: the invocations put whole vectors of one column into
// the tile.

// Rows of a block: those of a vector.
const ROWS = LANES;
// Words of an element.
const WORDS = WIDTH / 4u;

var<workgroup> tile: array<vec4<u32>, TILE_COLS * UNITS>;

// A block of LANES × LANES elements transposed: the vector of a row becomes that of a column.
fn exchange(block: Block) -> Block {
    if LANES == 1u {
        return block;
    }
    if LANES == 2u {
        return Block(vec4(block.a.xy, block.b.xy), vec4(block.a.zw, block.b.zw), block.c, block.d);
    }
    return Block(
        vec4(block.a.x, block.b.x, block.c.x, block.d.x),
        vec4(block.a.y, block.b.y, block.c.y, block.d.y),
        vec4(block.a.z, block.b.z, block.c.z, block.d.z),
        vec4(block.a.w, block.b.w, block.c.w, block.d.w),
    );
}

// Puts the vector of row y on into the tile, of the column of this lane.
fn put(value: vec4<u32>, vector: u32, lane: u32, y: u32) {
    tile[place_in_tile(vector, lane, y / LANES)] = value;
}

// The vector of this place in this column.
fn take(col: u32, unit: u32) -> vec4<u32> {
    return tile[place_in_tile(col / LANES, col % LANES, unit)];
}

// A vector with the element of this index at its end, or a zero, and without the one at its beginning.
fn append(vector: vec4<u32>, index: u32, exists: bool) -> vec4<u32> {
    var result = vector;
    for (var word = 0u; word < WORDS; word++) {
        var last = 0u;
        if exists {
            last = source[index / LANES][index % LANES * WORDS + word];
        }
        result = vec4(result.yzw, last);
    }
    return result;
}
