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

// Stores a word of the tile that begins in this column, x, and row, y. Of one that is not the tile's alone those bits are
// flipped that change, which are nobody else's.
fn store_word(number: u32, word: Word, old: Word, part: Part, rows: Rows, at: vec2<u32>) {
    let cols = part.cols - part.missing_cols;
    let col = at.x - part.missing_cols;
    // Else in a row of which the tile has all words as a whole, or where the matrix begins or ends.
    if at.y >= HALO && at.y < part.reach_rows && col < cols && cols - col >= PER_WORD {
        atomicStore(&destination[number], word);
        return;
    }
    var ours = 0u;
    for (var lane = 0u; lane < PER_WORD; lane++) {
        // The mirror image has to be in one of the words of the mirrored tile.
        let mirrored = first_word(rows.shift + (at.x + lane) * params.dst_ld);
        if col + lane < cols && at.y - mirrored < part.reach_rows {
            ours |= place(MASK, lane);
        }
    }
    atomicXor(&destination[number], (word ^ old) & ours);
}
