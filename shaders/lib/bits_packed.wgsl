// What swap.wgsl does with elements of 1 and 2 bytes, of which a word has PER_WORD, perhaps of two rows that two workgroups
// exchange at the same time. So no word is stored: of each word those bits are flipped that change, which are nobody
// else's.

@group(0) @binding(0) var<storage, read> source: array<u32>;
@group(0) @binding(1) var<storage, read_write> destination: array<atomic<u32>>;

// Words of a row of the tile, wherever it begins.
const WORDS = TILE_COLS / PER_WORD + 1u;

fn load_element(index: u32) -> Word {
    return element(atomicLoad(&destination[index / PER_WORD]), index);
}

// Stores what the tile has where the mirrored tile is, whose first cell this is, and which had `old` in an invocation's
// places.
fn store_four(corner: vec3<u32>, at: vec2<u32>, old: Four) {
    let new_ones = mirrored(at);
    workgroupBarrier();
    put_four(Four(old.a ^ new_ones.a, old.b ^ new_ones.b, old.c ^ new_ones.c, old.d ^ new_ones.d), at);
    workgroupBarrier();
    let rows = min(params.rows - corner.y, TILE_ROWS);
    let cols = min(params.rows - corner.x, TILE_COLS);
    for (var item = at.y * BLOCK_X + at.x; item < rows * WORDS; item += BLOCK_X * BLOCK_Y) {
        let row = item / WORDS;
        let begin = index_of(corner + vec3(0u, row, 0u));
        // The column of the word's first element; before the tile, so modulo 2^32.
        let first = item % WORDS * PER_WORD - begin % PER_WORD;
        var flipped = 0u;
        for (var lane = 0u; lane < PER_WORD; lane++) {
            let col = first + lane;
            if col < cols {
                flipped |= place(tile[row][col], lane);
            }
        }
        if flipped != 0u {
            atomicXor(&destination[begin / PER_WORD + item % WORDS], flipped);
        }
    }
}
