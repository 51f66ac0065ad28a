// Elements of 1 and 2 bytes: four or two to a 32-bit word, the first one lowest.
//
// A word of the destination may begin in one destination row, or in the gap before it, and end in a later one, even in
// that of another matrix. It belongs to the row in which its first element lies: whoever moves that row collects all
// the word's elements and keeps what it has of gaps, so that every word has one writer.

// Elements in a word.
const PER_WORD = 4u / WIDTH;
const BITS = 8u * WIDTH;
const MASK = (1u << BITS) - 1u;

// The element with this index, out of the word that holds it.
fn element(word: Word, index: u32) -> Word {
    return (word >> ((index % PER_WORD) * BITS)) & MASK;
}

// The word that has the element in this lane and zeros elsewhere.
fn place(value: Word, lane: u32) -> Word {
    return value << (lane * BITS);
}

// Whether a cell lies in the tile, given its row counted from the tile's top: what a word has beyond its destination
// row, or beyond the tile, must come from the source.
fn in_tile(tile_row: u32, row: u32) -> bool {
    return tile_row < TILE_ROWS && row < params.rows;
}

// The cell of an element that a word has beyond its destination row: with a row past the last, or, modulo 2^32, before
// the first, a cell stands for what lies there.
fn settle(cell: vec3<u32>) -> vec3<u32> {
    if cell.y < params.rows {
        return cell;
    }
    return cell_at(destination_index(cell));
}

// Whether there is such a cell; elsewhere a word has a part of a gap, or padding.
fn exists(cell: vec3<u32>) -> bool {
    return is_cell(cell);
}
