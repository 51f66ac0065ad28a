// What every kernel shares: the element as the kernel sees it, and the tile that a block moves.
//
// WIDTH, BLOCK_X, BLOCK_Y, TILE_ROWS, TILE_COLS, PITCH and DOWN_FIRST come from the variant table as defines.

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

// Where a block's tile lies.
struct Place {
    Index row;         // source row of the tile's first element
    Index col;         // source column of the tile's first element
    Index matrix;      // elements before the tile's matrix, on either side
    unsigned int rows; // rows from there on to the end of the matrix, at most TILE_ROWS
    unsigned int cols; // columns likewise, at most TILE_COLS
};

// Finds the tile from the block's number: tiles along a source row vary fastest and then those down, or with DOWN_FIRST
// the other way round; then matrices.
//
// A grid has fewer than 2^31 blocks, so 32 bits do; a 64-bit division would cost several times as much.
__device__ __forceinline__ Place locate(Index rows, Index cols, unsigned int across, unsigned int down) {
    const unsigned int fast = DOWN_FIRST ? down : across;
    const unsigned int slow = DOWN_FIRST ? across : down;
    unsigned int line = blockIdx.x / fast;
    const unsigned int step = blockIdx.x - line * fast;
    Place place;
    place.matrix = 0;
    // The same way for all threads, and free of the second division for a single matrix.
    if (line >= slow) {
        const unsigned int matrix = line / slow;
        line -= matrix * slow;
        place.matrix = matrix * (rows * cols);
    }
    place.row = (Index)(DOWN_FIRST ? step : line) * TILE_ROWS;
    place.col = (Index)(DOWN_FIRST ? line : step) * TILE_COLS;
    place.rows = rows - place.row < TILE_ROWS ? rows - place.row : TILE_ROWS;
    place.cols = cols - place.col < TILE_COLS ? cols - place.col : TILE_COLS;
    return place;
}
