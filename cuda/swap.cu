// Transposes square matrices in place, an element at a time, wherever rows begin.
//
// Moves: a block exchanges two tiles of TILE_ROWS by TILE_COLS elements (32 by 32) that mirror each other, through shared
// memory; a tile on the diagonal it transposes.
//
// Threads: thread (x, y) loads column x of rows y, y + BLOCK_Y, and so on of both tiles, so that a warp reads 32
// neighbouring elements of a row; and it stores there what shared memory has of the mirrored tile. All is coalesced.
//
// Shared memory: tile[TILE_ROWS][PITCH] with both tiles side by side, each with one column more than it has, as in
// `padded`: no conflicts.
//
// Launch: blocks of BLOCK_X by BLOCK_Y threads (32 by 8); a one-dimensional grid of one block a pair of tiles, numbered as
// pairs.cuh says, then matrix by matrix.
//
// Bounds: elements outside the matrix are neither loaded nor stored; `src` is not used; every thread reaches the barrier.

#include "common.cuh"
#include "pairs.cuh"

static_assert(TILE_COLS == BLOCK_X && TILE_ROWS % BLOCK_Y == 0 && PITCH == 2 * (TILE_COLS + 1), "two square tiles");

extern "C" __global__ void __launch_bounds__(BLOCK_X * BLOCK_Y) swap(const Unit*, Unit* dst, const Matrices m) {
    __shared__ Unit tile[TILE_ROWS][PITCH];
    const Pair pair = pair_of(m);
    const Tile upper = tile_at(m, pair, pair.low, pair.high);
    const Tile lower = tile_at(m, pair, pair.high, pair.low);
    const unsigned int second = TILE_COLS + 1;
#pragma unroll
    for (unsigned int y = threadIdx.y; y < TILE_ROWS; y += BLOCK_Y) {
        if (y < upper.rows && threadIdx.x < upper.cols) {
            tile[y][threadIdx.x] = dst[upper.begin + y * m.dst_ld + threadIdx.x];
        }
        if (y < lower.rows && threadIdx.x < lower.cols) {
            tile[y][second + threadIdx.x] = dst[lower.begin + y * m.dst_ld + threadIdx.x];
        }
    }
    __syncthreads();
#pragma unroll
    for (unsigned int y = threadIdx.y; y < TILE_ROWS; y += BLOCK_Y) {
        if (y < lower.rows && threadIdx.x < lower.cols) {
            dst[lower.begin + y * m.dst_ld + threadIdx.x] = tile[threadIdx.x][y];
        }
        // On the diagonal both are one tile, which is written once.
        if (pair.low != pair.high && y < upper.rows && threadIdx.x < upper.cols) {
            dst[upper.begin + y * m.dst_ld + threadIdx.x] = tile[threadIdx.x][second + y];
        }
    }
}
