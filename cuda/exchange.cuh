// What the kernels share that exchange elements in registers: the tile in shared memory, a thread's part in loading it, and
// what that becomes in registers. `vectorized` says more.

#include "vector.cuh"

// Source rows of which a thread takes a vector each: enough for a word, or for a vector where that takes few registers.
constexpr unsigned int GROUP = WIDTH < 4 ? 4 / WIDTH : VECTOR;
// Vectors along a source row of the tile, and how many of them a warp takes.
constexpr unsigned int ACROSS = TILE_COLS / VECTOR;
constexpr unsigned int LANES = WIDTH < 4 || ACROSS < 16 ? 8 : 16;
// Vectors along a destination row of the tile.
constexpr unsigned int UNITS = TILE_ROWS / VECTOR;
// How often a thread loads, and how often it stores.
constexpr unsigned int LOADS = ACROSS * (TILE_ROWS / GROUP) / BLOCK_X;
constexpr unsigned int STORES = TILE_COLS * UNITS / BLOCK_X;

static_assert(BLOCK_Y == 1 && PITCH == TILE_COLS, "the tile is packed");
static_assert(ACROSS % LANES == 0 && UNITS % 8 == 0, "whole warps, whole trips around the banks");
static_assert(LOADS * GROUP == STORES && STORES * BLOCK_X * VECTOR == TILE_ROWS * TILE_COLS, "whole steps");

// GROUP elements of one column.
#if WIDTH < 4
typedef unsigned int Piece;
#else
typedef uint4 Piece;
#endif
static_assert(sizeof(Piece) == GROUP * WIDTH, "a piece is one access");

__shared__ uint4 shared[TILE_COLS][UNITS];

// Where the tile has unit `unit` of a column.
__device__ __forceinline__ uint4* unit_at(unsigned int col, unsigned int unit) {
    return &shared[col][unit ^ col / VECTOR % 8];
}

// Where the tile has an element.
__device__ __forceinline__ Unit* element_at(unsigned int col, unsigned int row) {
    return reinterpret_cast<Unit*>(unit_at(col, row / VECTOR)) + row % VECTOR;
}

// Where the tile has the piece that begins at a row.
__device__ __forceinline__ Piece* piece_at(unsigned int col, unsigned int row) {
    return reinterpret_cast<Piece*>(element_at(col, row));
}

// Vectors that a thread has loaded.
struct Loaded {
    uint4 row[GROUP];
};

// Where in the tile a thread loads: the vector from column `col` on of each of the GROUP rows from `row` on.
struct Spot {
    unsigned int row;
    unsigned int col;
};

__device__ __forceinline__ Spot spot(unsigned int step) {
    const unsigned int item = threadIdx.x + step * BLOCK_X;
    const unsigned int lane = item % 32;
    const unsigned int warp = item / 32;
    const unsigned int across = lane % LANES + LANES * (warp % (ACROSS / LANES));
    const unsigned int down = lane / LANES + 32 / LANES * (warp / (ACROSS / LANES));
    return {down * GROUP, across * VECTOR};
}

// Word `i` of a vector.
__device__ __forceinline__ unsigned int word(const uint4& vector, unsigned int i) {
    return i == 0 ? vector.x : i == 1 ? vector.y : i == 2 ? vector.z : vector.w;
}

// The piece of column `col` of the loaded vectors.
__device__ __forceinline__ Piece piece(const Loaded& loaded, unsigned int col) {
    const uint4(&row)[GROUP] = loaded.row;
#if WIDTH == 1
    // Each permute serves two columns or more; the compiler does the same one only once.
    const unsigned int pairs = col % 4 < 2 ? 0x5140 : 0x7362;
    const unsigned int upper = __byte_perm(word(row[0], col / 4), word(row[1], col / 4), pairs);
    const unsigned int lower = __byte_perm(word(row[2], col / 4), word(row[3], col / 4), pairs);
    return __byte_perm(upper, lower, col % 2 == 0 ? 0x5410 : 0x7632);
#elif WIDTH == 2
    return __byte_perm(word(row[0], col / 2), word(row[1], col / 2), col % 2 == 0 ? 0x5410 : 0x7632);
#elif WIDTH == 4
    return make_uint4(word(row[0], col), word(row[1], col), word(row[2], col), word(row[3], col));
#elif WIDTH == 8
    return make_uint4(
        word(row[0], 2 * col), word(row[0], 2 * col + 1), word(row[1], 2 * col), word(row[1], 2 * col + 1));
#else
    return row[0];
#endif
}
