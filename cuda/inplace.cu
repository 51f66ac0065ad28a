// Transposes square matrices in place by accesses of 16 bytes: the fast one, where rows begin with a vector.
//
// Moves: a block exchanges two tiles of TILE_ROWS by TILE_COLS elements that mirror each other, through shared memory, one
// after the other; a tile on the diagonal it transposes. 16 bytes are a vector, of VECTOR elements.
//
// Threads: as in `vectorized`, on both sides. A thread loads its vectors of both tiles before it uses one, keeps those of
// the second while the first goes through shared memory, and so both have been read when the first is written.
//
// Shared memory: as in `vectorized`, shared[TILE_COLS][UNITS] of 16 bytes, without conflicts.
//
// Launch: blocks of BLOCK_X threads; a one-dimensional grid of one block a pair of tiles, numbered as pairs.cuh says, then
// matrix by matrix.
//
// Bounds: `dst` is aligned to 16 bytes, and so is every row. Vectors that reach beyond a row's elements are loaded and
// stored element by element; what is between rows is not touched. `src` is not used. All threads of a block reach the same
// barriers.

#include "exchange.cuh"
#include "pairs.cuh"

// Loads the vectors of a tile.
__device__ __forceinline__ void fetch(Loaded (&loaded)[LOADS], const Unit* matrices, Index ld, const Tile& tile) {
    const uint4* const vectors = reinterpret_cast<const uint4*>(matrices);
    const bool whole = tile.rows == TILE_ROWS && tile.cols == TILE_COLS;
#pragma unroll
    for (unsigned int step = 0; step < LOADS; step++) {
        const Spot at = spot(step);
#pragma unroll
        for (unsigned int k = 0; k < GROUP; k++) {
            if (whole || (at.row + k < tile.rows && at.col + VECTOR <= tile.cols)) {
                loaded[step].row[k] = vectors[(tile.begin + (at.row + k) * ld + at.col) / VECTOR];
            }
        }
    }
}

// Puts them into shared memory, and then what no vector holds.
__device__ __forceinline__ void put(
    const Loaded (&loaded)[LOADS], const Unit* matrices, Index ld, const Tile& tile) {
#pragma unroll
    for (unsigned int step = 0; step < LOADS; step++) {
        const Spot at = spot(step);
#pragma unroll
        for (unsigned int i = 0; i < VECTOR; i++) {
            *piece_at(at.col + i, at.row) = piece(loaded[step], i);
        }
    }
    // The same way for all threads.
    const unsigned int rest = tile.cols % VECTOR;
    if (rest != 0) {
        __syncthreads();
#pragma unroll 1
        for (unsigned int item = threadIdx.x; item < tile.rows * rest; item += BLOCK_X) {
            const unsigned int row = item / rest;
            const unsigned int col = tile.cols - 1 - item % rest;
            *element_at(col, row) = matrices[tile.begin + row * ld + col];
        }
    }
    __syncthreads();
}

// Stores what shared memory has where the mirrored tile is.
__device__ __forceinline__ void store_tile(Unit* matrices, Index ld, const Tile& tile) {
    const unsigned int unit = threadIdx.x % UNITS;
#pragma unroll
    for (unsigned int step = 0; step < STORES; step++) {
        const unsigned int row = threadIdx.x / UNITS + step * (BLOCK_X / UNITS);
        if (row >= tile.rows) {
            break;
        }
        Unit* const to = matrices + tile.begin + row * ld + unit * VECTOR;
        if ((unit + 1) * VECTOR <= tile.cols) {
            store(to, *unit_at(row, unit));
            continue;
        }
#pragma unroll 1
        for (unsigned int i = 0; unit * VECTOR + i < tile.cols; i++) {
            to[i] = *element_at(row, unit * VECTOR + i);
        }
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK_X) inplace(const Unit*, Unit* dst, const Matrices m) {
    const Pair pair = pair_of<1>(m);
    const Tile upper = tile_at(m, pair, pair.low, pair.high);
    const Tile lower = tile_at(m, pair, pair.high, pair.low);
    // The same way for all threads.
    const bool mirrored = pair.low != pair.high;
    Loaded first[LOADS];
    Loaded second[LOADS];
    fetch(first, dst, m.dst_ld, upper);
    if (mirrored) {
        fetch(second, dst, m.dst_ld, lower);
    }
    put(first, dst, m.dst_ld, upper);
    // Of the lower tile all has been read: only the last tiles of a row have what no vector holds.
    store_tile(dst, m.dst_ld, lower);
    if (mirrored) {
        __syncthreads();
        put(second, dst, m.dst_ld, lower);
        store_tile(dst, m.dst_ld, upper);
    }
}
