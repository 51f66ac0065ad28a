// Copies the source to the destination: the ceiling that every transpose is held against.
//
// Moves: a block moves BLOCK_X * 16 bytes (4 KiB) in one piece. The matrices are one row of `cols` elements to it,
// whose transpose is no business of a copy.
//
// Threads: thread t of a block loads the 16 bytes at 16 * t of the block's piece and stores them at the same place of
// the destination, so a warp reads 512 consecutive bytes and writes 512 consecutive bytes.
//
// Shared memory: none.
//
// Launch: blocks of BLOCK_X threads, a one-dimensional grid of one block for each 4 KiB begun, in order of address.
// Only `cols` of the parameters is needed.
//
// Bounds: the last thread that has bytes left may have fewer than 16; it moves them element by element. Nothing past
// the last element is read or written. `src` and `dst` are aligned to 16 bytes.

#include "common.cuh"

static_assert(TILE_COLS * WIDTH == BLOCK_X * 16 && BLOCK_Y == 1 && TILE_ROWS == 1, "16 bytes a thread");

extern "C" __global__ void __launch_bounds__(BLOCK_X) copy(
    const Unit* __restrict__ src, Unit* __restrict__ dst, const Matrices m) {
    const Index count = m.cols;
    const Index col = ((Index)blockIdx.x * BLOCK_X + threadIdx.x) * (16 / WIDTH);
    if (col + 16 / WIDTH <= count) {
        *reinterpret_cast<uint4*>(dst + col) = *reinterpret_cast<const uint4*>(src + col);
    } else {
#pragma unroll 1
        for (Index tail = col; tail < count; tail++) {
            dst[tail] = src[tail];
        }
    }
}
