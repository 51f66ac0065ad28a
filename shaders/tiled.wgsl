// Transposes through a tile in workgroup memory, both sides coalesced, but with bank conflicts.
//
// Moves: a workgroup moves TILE_ROWS × TILE_COLS elements of one matrix, 32 × 32.
//
// Threads: read side: 32 invocations along x take 32 neighbouring elements of a source row, four rows one after the
// other. Write side: they take 32 neighbouring elements of a destination row, which is a column of the tile, four
// columns one after the other. Both are coalesced. Where elements are packed, an invocation writes a word: fewer
// invocations take a destination row, and as many more rows are written at a time.
//
// Shared memory: TILE_ROWS rows of PITCH elements, a word for each. PITCH is TILE_COLS, a multiple of the 32 banks:
// a row of the tile is written without conflict, but in a column every element lies in the same bank, and reading
// it takes one access after the other.
//
// Launch: BLOCK_X × BLOCK_Y invocations, x along the source's columns; one workgroup a tile, along source rows first.
//
// Bounds: only cells of the matrix are loaded into the tile, and only they are read from it. Where elements are packed,
// a word that begins in the tile is written whole; what it has beyond the tile comes straight from the source, and what
// it has of a gap from the destination. So is a word that begins in the gap before a destination row, by the tile in
// which the row begins.

@group(0) @binding(0) var<storage, read> source: array<Word>;
@group(0) @binding(1) var<storage, read_write> destination: array<Word>;

// Where row y of the tile has the element of column x.
fn slot(x: u32, y: u32) -> u32 {
    return x;
}
