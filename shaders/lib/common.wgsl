// What every kernel shares: its parameters, and the way from a workgroup's number to what it moves.
//
// A cell names one element of the source as a vector: x its column, y its row, z its matrix. Indices count elements
// over the whole batch. They fit 32 bits, even those of a tile that hangs over the edge: the host admits no problem
// of which that is not true.

struct Params {
    // Rows and columns of one source matrix, and the number of matrices.
    rows: u32,
    cols: u32,
    batch: u32,
    // Blocks along a source row, down the source's rows, and in all.
    across: u32,
    down: u32,
    blocks: u32,
    // 16-byte vectors that hold the source, or what a copy moves of it; the last of them perhaps with padding.
    vectors: u32,
    padding: u32,
}

@group(0) @binding(2) var<uniform> params: Params;

// The block's number. A dimension of a launch is short, so the host folds the row of blocks over two; the last row of
// the folding may have numbers from params.blocks on, which have nothing to do.
fn block_number(group: vec3<u32>, groups: vec3<u32>) -> u32 {
    return group.y * groups.x + group.x;
}

// Where the block lies, in tiles: x across, y down, z the matrix. Tiles along a source row vary fastest and then those
// down, or with DOWN_FIRST the other way round; then matrices.
fn block_place(number: u32) -> vec3<u32> {
    let fast = select(params.across, params.down, DOWN_FIRST == 1u);
    let slow = select(params.down, params.across, DOWN_FIRST == 1u);
    var line = number / fast;
    let step = number - line * fast;
    var matrix = 0u;
    // The same way for all invocations, and free of the second division for a single matrix.
    if line >= slow {
        matrix = line / slow;
        line -= matrix * slow;
    }
    return select(vec3(step, line, matrix), vec3(line, step, matrix), DOWN_FIRST == 1u);
}

// The index in the source of a cell of the source.
fn source_index(cell: vec3<u32>) -> u32 {
    return (cell.z * params.rows + cell.y) * params.cols + cell.x;
}

// The index in the destination at which a cell of the source belongs.
fn destination_index(cell: vec3<u32>) -> u32 {
    return (cell.z * params.cols + cell.x) * params.rows + cell.y;
}

// Elements from an index on to the first one that begins a word.
fn to_next_word(index: u32) -> u32 {
    return (0u - index) & (PER_WORD - 1u);
}
