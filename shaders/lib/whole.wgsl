// Elements of 4, 8 and 16 bytes: one to a word, so everything that packed.wgsl does for its neighbours is nothing here.

// Elements in a word.
const PER_WORD = 1u;

// The element with this index, out of the word that holds it.
fn element(word: Word, index: u32) -> Word {
    return word;
}

// The word that has the element in this lane and zeros elsewhere.
fn place(value: Word, lane: u32) -> Word {
    return value;
}

// Whether a cell lies in the tile, given its row counted from the tile's top.
fn in_tile(tile_row: u32, row: u32) -> bool {
    return true;
}

// The cell itself: a word never reaches past the end of a destination row.
fn settle(cell: vec3<u32>) -> vec3<u32> {
    return cell;
}

// Whether there is such a cell.
fn exists(cell: vec3<u32>) -> bool {
    return true;
}
