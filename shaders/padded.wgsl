// Transposes through a tile in workgroup memory, both sides coalesced, without bank conflicts.
//
// Moves: a workgroup moves TILE_ROWS × TILE_COLS elements of one matrix, 32 × 32.
//
// Threads: read side: 32 invocations along x take 32 neighbouring elements of a source row, four rows one after the
// other. Write side: they take 32 neighbouring elements of a destination row, which is a column of the tile, four
// columns one after the other. Both are coalesced. Where elements are packed, an invocation writes a word: fewer
// invocations take a destination row, and as many more rows are written at a time.
//
// Shared memory: TILE_ROWS rows of PITCH elements, a word for each. PITCH is TILE_COLS + 1: the element at (y, x)
// lies in bank (33 y + x) mod 32 = (y + x) mod 32, so 32 neighbours of a row and 32 of a column each take all the
// 32 banks once. Elements of 8 and 16 bytes take 2 and 4 banks each and are served by halves and quarters of a
// warp, to which the same applies.
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
