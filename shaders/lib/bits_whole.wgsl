// What swap.wgsl does with elements of 4, 8 and 16 bytes: they have words of their own, and are simply stored.

@group(0) @binding(0) var<storage, read> source: array<Word>;
@group(0) @binding(1) var<storage, read_write> destination: array<Word>;

fn load_word(number: u32) -> Word {
    return destination[number];
}

// The element in this row and column of the tile, or another one where it has none.
fn gathered(rows: Rows, row: u32, col: u32) -> Word {
    return tile[min(row * PITCH + col, TILE_ROWS * PITCH - 1u)];
}

// Stores an element.
fn store_word(number: u32, word: Word, old: Word, part: Part, rows: Rows, at: vec2<u32>) {
    destination[number] = word;
}
