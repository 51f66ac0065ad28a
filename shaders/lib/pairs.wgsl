// What the kernels share that transpose square matrices in place: a workgroup exchanges two tiles, one above the diagonal
// with the one that mirrors it, or transposes one on the diagonal. How pairs are numbered stands in cuda/pairs.cuh.

// The tiles of a workgroup: row `low` and column `high` of tiles, and the other way round; low <= high.
struct Pair {
    matrix: u32,
    low: u32,
    high: u32,
}

fn pair_of(number: u32) -> Pair {
    let column = number / params.down;
    var row = number - column * params.down;
    let matrix = column / params.across;
    var col = column - matrix * params.across;
    if STRIP > 1u {
        let first = col / STRIP * STRIP;
        let width = min(params.across - first, STRIP);
        let within = (col - first) * params.down + row;
        row = within / width;
        col = first + within - row * width;
    }
    let even = select(0u, 1u, 2u * params.across < params.down);
    let tiles = params.down - even;
    if col + even <= row {
        return Pair(matrix, col, row - even);
    }
    return Pair(matrix, tiles - even - col, tiles - 1u - row);
}

// The cell of a tile's first element.
fn corner_of(pair: Pair, down: u32, across: u32) -> vec3<u32> {
    return vec3(across * TILE_COLS, down * TILE_ROWS, pair.matrix);
}

// The index of a cell where it is, which is where the mirrored one belongs: source and destination are one.
fn index_of(cell: vec3<u32>) -> u32 {
    return destination_index(cell.yxz);
}
