// What the kernels share that transpose square matrices in place: a block exchanges two tiles, one above the diagonal with
// the one that mirrors it, or transposes one on the diagonal.
//
// T tiles a side make T × (T + 1) / 2 pairs. They are numbered over a rectangle, of (T + 1) / 2 columns, rounded down, and T
// rows or, where T is even, T + 1: below its diagonal lie the pairs whose first tile is in the left half of the matrix, and
// above it, turned around, the others. Columns of the rectangle are taken in strips of STRIP, and pairs of a strip along its
// rows: then what runs together exchanges tiles that lie side by side, on both sides of the diagonal.

// The tiles of a block: row `low` and column `high` of tiles, and the other way round; low <= high.
struct Pair {
    Index begin; // index of the matrix's first element
    unsigned int low;
    unsigned int high;
};

template <unsigned int STRIP>
__device__ __forceinline__ Pair pair_of(const Matrices& m) {
    const unsigned int column = blockIdx.x / m.down;
    unsigned int row = blockIdx.x - column * m.down;
    const unsigned int matrix = column / m.across;
    unsigned int col = column - matrix * m.across;
    if (STRIP > 1) {
        const unsigned int first = col / STRIP * STRIP;
        const unsigned int width = m.across - first < STRIP ? m.across - first : STRIP;
        const unsigned int number = (col - first) * m.down + row;
        row = number / width;
        col = first + number - row * width;
    }
    const unsigned int even = 2 * m.across < m.down ? 1 : 0;
    const unsigned int tiles = m.down - even;
    const Index begin = m.dst_first + matrix * m.dst_stride;
    if (col + even <= row) {
        return {begin, col, row - even};
    }
    return {begin, tiles - even - col, tiles - 1 - row};
}

// A tile in its matrix.
struct Tile {
    Index begin;       // index of its first element
    unsigned int rows; // that the matrix has of it
    unsigned int cols;
};

__device__ __forceinline__ Tile tile_at(const Matrices& m, const Pair& pair, unsigned int down, unsigned int across) {
    static_assert(TILE_ROWS == TILE_COLS, "tiles mirror each other");
    const Index row = (Index)down * TILE_ROWS;
    const Index col = (Index)across * TILE_COLS;
    return {
        pair.begin + row * m.dst_ld + col,
        m.rows - row < TILE_ROWS ? static_cast<unsigned int>(m.rows - row) : TILE_ROWS,
        m.cols - col < TILE_COLS ? static_cast<unsigned int>(m.cols - col) : TILE_COLS,
    };
}
