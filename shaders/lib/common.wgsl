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
    // Indices of the first elements of the first matrices.
    src_first: u32,
    dst_first: u32,
    // Leading dimensions and batch strides: elements from the beginning of a row to that of the next, and from matrix to
    // matrix; the stride of a single matrix is 0.
    src_ld: u32,
    dst_ld: u32,
    src_stride: u32,
    dst_stride: u32,
    // Blocks along a source row, down the source's rows, and in all.
    across: u32,
    down: u32,
    blocks: u32,
    // Whether blocks are numbered down the source's rows first.
    down_first: u32,
    // 16-byte vectors that hold the source and the destination, the last of them perhaps with padding.
    src_vectors: u32,
    dst_vectors: u32,
    // In lib/skinny.wgsl: segments of a workgroup, and the inverses, times 2^20 and rounded up, of the short side and of
    // them.
    segments: u32,
    side_inverse: u32,
    segments_inverse: u32,
}

@group(0) @binding(2) var<uniform> params: Params;

// The block's number. A dimension of a launch is short, so the host folds the row of blocks over two; the last row of
// the folding may have numbers from params.blocks on, which have nothing to do.
fn block_number(group: vec3<u32>, groups: vec3<u32>) -> u32 {
    return group.y * groups.x + group.x;
}

// Where the block lies, in tiles: x across, y down, z the matrix. Tiles along a source row vary fastest and then those
// down, or with down_first the other way round; then matrices.
fn block_place(number: u32) -> vec3<u32> {
    let fast = select(params.across, params.down, params.down_first == 1u);
    let slow = select(params.down, params.across, params.down_first == 1u);
    var line = number / fast;
    let step = number - line * fast;
    var matrix = 0u;
    // The same way for all invocations, and free of the second division for a single matrix.
    if line >= slow {
        matrix = line / slow;
        line -= matrix * slow;
    }
    return select(vec3(step, line, matrix), vec3(line, step, matrix), params.down_first == 1u);
}

// The index in the source of a cell of the source.
fn source_index(cell: vec3<u32>) -> u32 {
    return params.src_first + cell.z * params.src_stride + cell.y * params.src_ld + cell.x;
}

// The index in the destination at which a cell of the source belongs.
fn destination_index(cell: vec3<u32>) -> u32 {
    return params.dst_first + cell.z * params.dst_stride + cell.x * params.dst_ld + cell.y;
}

// The cell of the source that belongs at an index of the destination. In a gap, before the first element, which here is
// far past the end, modulo 2^32, and past the end there is none.
fn cell_at(index: u32) -> vec3<u32> {
    var matrix = 0u;
    var rest = index - params.dst_first;
    // The same way for all invocations.
    if params.dst_stride > 0u {
        matrix = rest / params.dst_stride;
        rest -= matrix * params.dst_stride;
    }
    let col = rest / params.dst_ld;
    return vec3(col, rest - col * params.dst_ld, matrix);
}

// Whether there is such a cell.
fn is_cell(cell: vec3<u32>) -> bool {
    return all(cell < vec3(params.cols, params.rows, params.batch));
}

// Whether there are gaps in the destination.
fn has_gaps() -> bool {
    return params.dst_first > 0u || params.dst_ld > params.rows || params.dst_stride > params.cols * params.rows;
}

// Elements of the gap in which the unit of `size` elements, a power of two, begins that holds the beginning of a
// destination row, at this index. 0 where the unit begins with the row, or holds elements of an earlier one, whose it
// is. The row is this column of the source.
fn lead(index: u32, col: u32, size: u32) -> u32 {
    let row_gap = params.dst_ld - params.rows;
    let matrix_gap = params.dst_stride - (params.cols - 1u) * params.dst_ld - params.rows;
    let before = index & (size - 1u);
    let gap = select(select(row_gap, matrix_gap, col == 0u), params.dst_first, index == params.dst_first);
    return select(0u, before, before <= gap);
}

// Elements from an index on to the first one that begins a word.
fn to_next_word(index: u32) -> u32 {
    return (0u - index) & (PER_WORD - 1u);
}
