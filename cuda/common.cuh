// What every kernel shares: the element as the kernel sees it, and the tile that a block moves.
//
// WIDTH, BLOCK_X, BLOCK_Y, TILE_ROWS, TILE_COLS and PITCH come from the variant table as defines.

// An element: WIDTH bytes that nobody looks into, moved by one load and one store.
#if WIDTH == 1
typedef unsigned char Unit;
#elif WIDTH == 2
typedef unsigned short Unit;
#elif WIDTH == 4
typedef unsigned int Unit;
#elif WIDTH == 8
typedef uint2 Unit;
#elif WIDTH == 16
typedef uint4 Unit;
#else
#error "WIDTH is 1, 2, 4, 8 or 16"
#endif
static_assert(sizeof(Unit) == WIDTH && alignof(Unit) == WIDTH, "an element is one aligned access");

// Offsets in elements need 64 bits: matrices of more than 2^32 elements fit into a GPU's memory.
typedef unsigned long long Index;

// What is to be moved, and how the blocks are laid over it; `Matrices` in backends/cuda/run.rs.
struct Matrices {
    Index rows; // rows and columns of one source matrix
    Index cols;
    Index src_ld; // leading dimensions: elements from the beginning of a row to that of the next
    Index dst_ld;
    Index src_stride; // batch strides: elements from matrix to matrix; 0 for a single one
    Index dst_stride;
    unsigned int across; // blocks along a source row
    unsigned int down;   // blocks down the source's rows
    unsigned int down_first;
    unsigned int segments; // of a block, in skinny.cuh
    unsigned int src_first; // indices of the first elements, less than a sector has
    unsigned int dst_first;
};

// Where a block's tile lies.
struct Place {
    Index row;         // source row of the tile's first element
    Index col;         // source column of the tile's first element
    Index from;        // index of that element in the source
    Index to;          // and in the destination
    unsigned int rows; // rows from there on to the end of the matrix, at most TILE_ROWS
    unsigned int cols; // columns likewise, at most TILE_COLS
};

// Finds the tile from the block's number: tiles along a source row vary fastest and then those down, or with down_first
// the other way round; then matrices.
//
// A grid has fewer than 2^31 blocks, so 32 bits do; a 64-bit division would cost several times as much.
__device__ __forceinline__ Place locate(const Matrices& m) {
    const unsigned int fast = m.down_first ? m.down : m.across;
    const unsigned int slow = m.down_first ? m.across : m.down;
    unsigned int line = blockIdx.x / fast;
    const unsigned int step = blockIdx.x - line * fast;
    Place place;
    place.from = m.src_first;
    place.to = m.dst_first;
    // The same way for all threads, and free of the second division for a single matrix.
    if (line >= slow) {
        const unsigned int matrix = line / slow;
        line -= matrix * slow;
        place.from += matrix * m.src_stride;
        place.to += matrix * m.dst_stride;
    }
    place.row = (Index)(m.down_first ? step : line) * TILE_ROWS;
    place.col = (Index)(m.down_first ? line : step) * TILE_COLS;
    place.from += place.row * m.src_ld + place.col;
    place.to += place.col * m.dst_ld + place.row;
    place.rows = m.rows - place.row < TILE_ROWS ? m.rows - place.row : TILE_ROWS;
    place.cols = m.cols - place.col < TILE_COLS ? m.cols - place.col : TILE_COLS;
    return place;
}
