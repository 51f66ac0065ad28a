// What swap.wgsl does with elements of 4, 8 and 16 bytes: they have words of their own, and are simply stored.

@group(0) @binding(0) var<storage, read> source: array<Word>;
@group(0) @binding(1) var<storage, read_write> destination: array<Word>;

fn load_word(number: u32) -> Word {
    return destination[number];
}

// Where this row of the tile begins.
fn places_of(rows: Rows, row: u32) -> vec4<u32> {
    return vec4(row * PITCH);
}

// The element in the first of these places, or another one where the tile has none.
fn gathered(places: Places) -> Word {
    return tile[min(places.words.x, TILE_ROWS * PITCH - 1u)];
}

// Stores an element.
fn store_word(number: u32, word: Word, old: Word, part: Part, rows: Rows, at: vec2<u32>) {
    destination[number] = word;
}
