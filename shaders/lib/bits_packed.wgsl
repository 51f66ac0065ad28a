// What swap.wgsl does with elements of 1 and 2 bytes, of which a word has PER_WORD, perhaps of two rows that two workgroups
// exchange at the same time.

@group(0) @binding(0) var<storage, read> source: array<u32>;
@group(0) @binding(1) var<storage, read_write> destination: array<atomic<u32>>;

fn load_word(number: u32) -> Word {
    return atomicLoad(&destination[number]);
}

// Rows that invocations go through, for they take four steps at a time.
const REACH = (SIDE + 4u * BLOCK_Y - 1u) / (4u * BLOCK_Y) * (4u * BLOCK_Y);
// Where the last row begins, there is room for as many elements.
const LAST = TILE_ROWS * PITCH - REACH;
const_assert LAST >= (SIDE - 1u) * (LONGEST + PER_WORD - 1u) + HALO;

// Where the tile's rows from this one on begin that make a word; of those that it has not, anywhere.
fn places_of(rows: Rows, first: u32) -> vec4<u32> {
    // Rows from the first one to that before which there is the next gap.
    let gap = (0u - first) % PER_WORD;
    let begin = rows.shift + first * rows.pitch + ((first + gap) / PER_WORD - 1u) * rows.gap;
    let row = vec4(0u, 1u, 2u, 3u);
    return min(begin + row * rows.pitch + select(vec4(0u), vec4(rows.gap), row >= vec4(gap)), vec4(LAST));
}

// The word of the elements in these places.
fn gathered(places: Places) -> Word {
    let word = push(push(0u, places.words.x, places.shifts.x), places.words.y, places.shifts.y);
    if PER_WORD == 2u {
        return word;
    }
    return push(push(word, places.words.z, places.shifts.z), places.words.w, places.shifts.w);
}

// A word without its lowest element and with that of this word of the tile, after so many bits, on top.
fn push(word: u32, number: u32, shift: u32) -> u32 {
    // What is above the element is shifted out.
    return (word >> BITS) | ((tile[number] >> shift) << (32u - BITS));
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
