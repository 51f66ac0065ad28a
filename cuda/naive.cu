// Transposes straight from source to destination: coalesced reads, strided writes.
//
// Moves: a block moves a tile of TILE_ROWS rows by TILE_COLS columns (8 by 32) of one matrix, one element a thread.
//
// Threads: thread (x, y) loads the element in column x, row y of the tile, so a warp reads 32 neighbouring elements of
// a source row: coalesced. It stores that element to row x, column y of the transposed tile, so a warp writes to 32
// different destination rows, one element each, `rows` elements apart: not coalesced. Each element opens a 32-byte
// sector of its own, and only the neighbouring warps of the block, which write the neighbouring columns, can fill it
// while it is still in the cache.
//
// Shared memory: none.
//
// Launch: blocks of BLOCK_X by BLOCK_Y threads (32 by 8), a one-dimensional grid of one block a tile, numbered along
// the source's rows, then down, then matrix by matrix.
//
// Bounds: threads outside the matrix do nothing.

#include "common.cuh"

static_assert(TILE_COLS == BLOCK_X && TILE_ROWS == BLOCK_Y, "one element a thread");

extern "C" __global__ void __launch_bounds__(BLOCK_X * BLOCK_Y) naive(
    const Unit* __restrict__ src, Unit* __restrict__ dst, const Matrices m) {
    const Place place = locate(m);
    if (threadIdx.y < place.rows && threadIdx.x < place.cols) {
        dst[place.to + threadIdx.x * m.dst_ld + threadIdx.y] = src[place.from + threadIdx.y * m.src_ld + threadIdx.x];
    }
}
