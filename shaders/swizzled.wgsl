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
// a word that begins in the tile is written whole; what it has beyond the tile comes straight from the source.

@group(0) @binding(0) var<storage, read> source: array<Word>;
@group(0) @binding(1) var<storage, read_write> destination: array<Word>;

var<workgroup> tile: array<array<Word, PITCH>, TILE_ROWS>;

// Words of one destination row that begin in the tile.
const WORDS = TILE_ROWS / PER_WORD;

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
    let rows = params.rows;
    let cols = params.cols;
    let block = block_place(number);
    let left = block.x * TILE_COLS;
    let top = block.y * TILE_ROWS;

    let col = left + local.x;
    let first = source_index(vec3(col, top + local.y, block.z));
    for (var step = 0u; step < TILE_ROWS; step += BLOCK_Y) {
        let y = local.y + step;
        if top + y < rows && col < cols {
            let index = first + step * cols;
            tile[y][local.x ^ y] = element(source[index / PER_WORD], index);
        }
    }
    workgroupBarrier();

    // x and y are places in the tile, of a column and of the first row of a word.
    let line = local.y * PER_WORD + local.x / WORDS;
    let corner = destination_index(vec3(left + line, top, block.z));
    for (var step = 0u; step < TILE_COLS; step += BLOCK_Y * PER_WORD) {
        let x = line + step;
        let begin = corner + step * rows;
        let y = to_next_word(begin) + (local.x % WORDS) * PER_WORD;
        let row = top + y;
        if row < rows && left + x < cols {
            var word = Word();
            for (var lane = 0u; lane < PER_WORD; lane++) {
                if in_tile(y + lane, row + lane) {
                    word |= place(tile[y + lane][x ^ (y + lane)], lane);
                } else {
                    let cell = settle(vec3(left + x, row + lane, block.z));
                    if exists(cell) {
                        let index = source_index(cell);
                        word |= place(element(source[index / PER_WORD], index), lane);
                    }
                }
            }
            destination[(begin + y) / PER_WORD] = word;
        }
    }
}
