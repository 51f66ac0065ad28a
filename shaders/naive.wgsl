// Transposes straight from source to destination: reads coalesced, writes strided.
//
// Moves: a workgroup moves TILE_ROWS × TILE_COLS elements of one matrix, 8 × 32 words.
//
// Threads: each invocation writes one word of the destination. Read side: neighbouring invocations take neighbouring
// columns of a source row, so a load is coalesced. Write side: these columns are rows of the destination, so
// neighbouring invocations store a whole destination row apart, each into a sector of its own.
//
// Shared memory: none.
//
// Launch: BLOCK_X × BLOCK_Y invocations, x along the source's columns; one workgroup a tile, along source rows first.
//
// Bounds: past the last column or row, invocations write nothing. Where elements are packed, a word that begins in a
// destination row is written whole by the invocation that has its first element; what it has of a gap is kept. A word
// that begins in the gap before a destination row is a second one for the row's first invocation.

@group(0) @binding(0) var<storage, read> source: array<Word>;
@group(0) @binding(1) var<storage, read_write> destination: array<Word>;

@compute @workgroup_size(BLOCK_X, BLOCK_Y)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let number = block_number(group, groups);
    if number >= params.blocks {
        return;
    }
    let block = block_place(number);
    let col = block.x * TILE_COLS + local.x;
    let top = block.y * TILE_ROWS;
    let begin = destination_index(vec3(col, top, block.z));
    // The row of the first element of this invocation's word.
    let row = top + to_next_word(begin) + local.y * PER_WORD;
    if col >= params.cols {
        return;
    }
    if row < params.rows {
        write(vec3(col, row, block.z), begin + (row - top));
    }
    if PER_WORD > 1u && top + local.y == 0u {
        let before = lead(begin, col, PER_WORD);
        if before > 0u {
            write(vec3(col, 0u - before, block.z), begin - before);
        }
    }
}

// Writes the word at this index of the destination, where this cell is, or, modulo 2^32, would be before the first row.
fn write(cell: vec3<u32>, index: u32) {
    var word = Word();
    for (var lane = 0u; lane < PER_WORD; lane++) {
        word |= place(elsewhere(cell + vec3(0u, lane, 0u), index + lane), lane);
    }
    destination[index / PER_WORD] = word;
}
