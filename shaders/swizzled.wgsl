// Transposes through a tile in workgroup memory, both sides coalesced, without bank conflicts and without padding.
//
// Moves: a workgroup moves TILE_ROWS × TILE_COLS elements of one matrix, 32 × 32.
//
// Threads: read side: 32 invocations along x take 32 neighbouring elements of a source row, four rows one after the
// other. Write side: they take 32 neighbouring elements of a destination row, which is a column of the tile, four
// columns one after the other. Both are coalesced. Where elements are packed, an invocation writes a word: fewer
// invocations take a destination row, and as many more rows are written at a time.
//
// Shared memory: TILE_ROWS rows of PITCH elements, a word for each. PITCH is TILE_COLS; the element of row y and column
// x lies at x ^ y of its row. A row is stored in another order, but to all of the row's banks as before. A column is
// loaded from x ^ y for 32 rows y, which is each of the 32 places once: no two invocations meet in a bank, in any width,
// and no memory is spent on padding.
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
    return x ^ y;
}
