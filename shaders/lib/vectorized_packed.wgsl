// What vectorized.wgsl does with elements of 1 and 2 bytes, of which a word has PER_WORD: the invocations put words of
// one column into the tile, and take vectors out of it as four words.
//
// These are accesses of 4 bytes, which a warp makes all at once. So the words of a vector change places, too: word k
// lies at k ^ turn, where turn counts, modulo 4, groups of 8 vectors in the order in which they are read. Writing, 8
// invocations with different c / LANES take 8 vectors that differ modulo 8, as with vectors, and the four groups of 8
// in a warp have the four words of these. Reading word k of 32 vectors, a warp meets each of the 8 groups of four banks
// four times, each time with another turn. Either takes all the 32 banks once.

// Rows of a block: those of a word.
const ROWS = PER_WORD;

// Words, since invocations write them apart: in WGSL, a write to one component of a vector may touch the others.
var<workgroup> tile: array<u32, TILE_ROWS * PITCH / PER_WORD>;

// Blocks of PER_WORD × PER_WORD elements transposed, four to a vector of each row: the vector of a row becomes that of
// a column, whose words belong to columns PER_WORD apart.
fn exchange(block: Block) -> Block {
    if PER_WORD == 2u {
        return Block(
            low_halves(block.a, block.b),
            high_halves(block.a, block.b),
            low_halves(block.c, block.d),
            high_halves(block.c, block.d),
        );
    }
    let even_ab = even_bytes(block.a, block.b);
    let odd_ab = odd_bytes(block.a, block.b);
    let even_cd = even_bytes(block.c, block.d);
    let odd_cd = odd_bytes(block.c, block.d);
    return Block(
        low_halves(even_ab, even_cd),
        low_halves(odd_ab, odd_cd),
        high_halves(even_ab, even_cd),
        high_halves(odd_ab, odd_cd),
    );
}

// Each of these is one byte permutation a word.
fn low_halves(first: vec4<u32>, second: vec4<u32>) -> vec4<u32> {
    return (first & vec4(0xffffu)) | (second << vec4(16u));
}

fn high_halves(first: vec4<u32>, second: vec4<u32>) -> vec4<u32> {
    return (first >> vec4(16u)) | (second & vec4(0xffff0000u));
}

fn even_bytes(first: vec4<u32>, second: vec4<u32>) -> vec4<u32> {
    return (first & vec4(0x00ff00ffu)) | ((second << vec4(8u)) & vec4(0xff00ff00u));
}

fn odd_bytes(first: vec4<u32>, second: vec4<u32>) -> vec4<u32> {
    return ((first >> vec4(8u)) & vec4(0x00ff00ffu)) | (second & vec4(0xff00ff00u));
}

// Puts the words of row y on into the tile, of columns PER_WORD apart from this lane on.
fn put(words: vec4<u32>, vector: u32, lane: u32, y: u32) {
    put_word(words.x, vector, lane, y);
    put_word(words.y, vector, lane + PER_WORD, y);
    put_word(words.z, vector, lane + 2u * PER_WORD, y);
    put_word(words.w, vector, lane + 3u * PER_WORD, y);
}

fn put_word(word: u32, vector: u32, lane: u32, y: u32) {
    let unit = y / LANES;
    tile[4u * place_in_tile(vector, lane, unit) + ((y / PER_WORD) ^ turn(lane, unit)) % 4u] = word;
}

// How the words of a vector lie. The lane stands for its column, from which it differs by a multiple of 4.
fn turn(lane: u32, unit: u32) -> u32 {
    return (lane * (UNITS / 8u)) ^ (unit / 8u);
}

// The vector of this place in this column.
fn take(col: u32, unit: u32) -> vec4<u32> {
    let first = 4u * place_in_tile(col / LANES, col % LANES, unit) + turn(col % LANES, unit) % 4u;
    return vec4(tile[first], tile[first ^ 1u], tile[first ^ 2u], tile[first ^ 3u]);
}

// A vector with the element of this index at its end, or a zero, and without the one at its beginning.
fn append(vector: vec4<u32>, index: u32, exists: bool) -> vec4<u32> {
    var last = 0u;
    if exists {
        last = element(source[index / LANES][index / PER_WORD % 4u], index);
    }
    return (vector >> vec4(BITS)) | (vec4(vector.yzw, last) << vec4(32u - BITS));
}
