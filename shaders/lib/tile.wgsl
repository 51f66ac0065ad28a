// What the kernels with a tile of single elements share: all but where a row of the tile has an element of a column,
// which is their own: slot(x, y).

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
            let index = first + step * params.src_ld;
            tile[y][slot(local.x, y)] = element(source[index / PER_WORD], index);
        }
    }
    workgroupBarrier();

    // x and y are places in the tile, of a column and of the first row of a word.
    let line = local.y * PER_WORD + local.x / WORDS;
    let corner = destination_index(vec3(left + line, top, block.z));
    for (var step = 0u; step < TILE_COLS; step += BLOCK_Y * PER_WORD) {
        let x = line + step;
        let begin = corner + step * params.dst_ld;
        let y = to_next_word(begin) + (local.x % WORDS) * PER_WORD;
        if top + y < rows && left + x < cols {
            write(vec3(left, top, block.z), x, y, begin + y);
        }
    }
    if PER_WORD > 1u && top == 0u && local.y == 0u && col < cols {
        let begin = destination_index(vec3(col, 0u, block.z));
        let before = lead(begin, col, PER_WORD);
        if before > 0u {
            write(vec3(left, 0u, block.z), local.x, 0u - before, begin - before);
        }
    }
}

// Writes the word at this index of the destination. x and y are the place of its first element in the tile, whose first
// cell is `corner`; before the tile, y is so modulo 2^32.
fn write(corner: vec3<u32>, x: u32, y: u32, index: u32) {
    let cell = corner + vec3(x, y, 0u);
    var word = Word();
    for (var lane = 0u; lane < PER_WORD; lane++) {
        if in_tile(y + lane, cell.y + lane) {
            word |= place(tile[y + lane][slot(x, y + lane)], lane);
        } else {
            word |= place(elsewhere(cell + vec3(0u, lane, 0u), index + lane), lane);
        }
    }
    destination[index / PER_WORD] = word;
}
