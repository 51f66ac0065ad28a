// What swap.wgsl does with elements of 1 and 2 bytes, of which a word has PER_WORD, perhaps of two rows that two workgroups
// exchange at the same time.

@group(0) @binding(0) var<storage, read> source: array<u32>;
@group(0) @binding(1) var<storage, read_write> destination: array<atomic<u32>>;

fn load_word(number: u32) -> Word {
    return atomicLoad(&destination[number]);
}

// The word of PER_WORD elements of this column of the tile, from row `first` on; of those that the tile has not, which may
// be before it, modulo 2^32, there is something else.
fn gathered(rows: Rows, first: u32, col: u32) -> Word {
    // Rows from the first one to that before which there is the next gap.
    let gap = (0u - first) % PER_WORD;
    let at = rows.shift + first * rows.pitch + ((first + gap) / PER_WORD - 1u) * rows.gap + col;
    var word = push(0u, at + select(0u, rows.gap, gap == 0u));
    word = push(word, at + rows.pitch + select(0u, rows.gap, gap <= 1u));
    if PER_WORD > 2u {
        word = push(word, at + 2u * rows.pitch + select(0u, rows.gap, gap <= 2u));
        word = push(word, at + 3u * rows.pitch + rows.gap);
    }
    return word;
}

// A word without its lowest element and with that of this place in the tile on top.
fn push(word: u32, place: u32) -> u32 {
    let at = min(place, TILE_ROWS * PITCH - 1u);
    // What is above the element is shifted out.
    return (word >> BITS) | ((tile[at / PER_WORD] >> (at % PER_WORD * BITS)) << (32u - BITS));
}

// Stores a word that begins in this column of a row of `cols`. Of one that is not the row's alone those bits are flipped
// that change, which are nobody else's.
fn store_word(number: u32, word: Word, old: Word, col: u32, cols: u32) {
    if col < cols && cols - col >= PER_WORD {
        atomicStore(&destination[number], word);
        return;
    }
    // Elements of the word before the row, and to its end.
    let before = select(0u, 0u - col, col >= cols);
    let count = min(cols - col, PER_WORD);
    let ours = (0xffffffffu << (before * BITS)) & (0xffffffffu >> ((PER_WORD - count) * BITS));
    atomicXor(&destination[number], (word ^ old) & ours);
}
