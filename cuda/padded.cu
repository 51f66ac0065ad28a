// Transposes through a tile in shared memory, both sides coalesced, without bank conflicts.
//
// Moves: a block moves a tile of TILE_ROWS by TILE_COLS elements (32 by 32) of one matrix, through shared memory.
//
// Threads: on the read side thread (x, y) loads column x of the tile's rows y, y + BLOCK_Y, and so on, so a warp reads
// 32 neighbouring elements of a source row. On the write side it stores the element of the tile's row x to the
// destination rows y, y + BLOCK_Y, and so on, so a warp writes 32 neighbouring elements of a destination row, which is
// a source column. Both sides are coalesced; the turn happens in shared memory.
//
// Shared memory: tile[TILE_ROWS][PITCH] with a pitch of 33 elements, one more than a row has. Rows are stored along,
// without conflicts. Columns are loaded down, 33 elements from lane to lane. At 4 bytes, lane x meets bank x. At 8 and
// 16 bytes the hardware serves half a warp and a quarter of a warp at a time, whose lanes lie 2 and 4 banks apart. At 2
// bytes lanes lie 16.5 banks apart, at 1 byte 8.25: the even and odd, or every fourth, of them fill each other's gaps,
// and no two lanes want different words of one bank. So no width has conflicts.
//
// Launch: blocks of BLOCK_X by BLOCK_Y threads (32 by 8), each thread moving TILE_ROWS / BLOCK_Y elements (4); a
// one-dimensional grid of one block a tile, numbered along the source's rows, then down, then matrix by matrix.
//
// Bounds: elements outside the matrix are neither loaded nor stored; every thread reaches the barrier.

#include "common.cuh"

static_assert(TILE_COLS == BLOCK_X && TILE_ROWS == BLOCK_X && TILE_ROWS % BLOCK_Y == 0, "a square tile, whole steps");

extern "C" __global__ void __launch_bounds__(BLOCK_X * BLOCK_Y) padded(
    const Unit* __restrict__ src, Unit* __restrict__ dst, const Matrices m) {
    __shared__ Unit tile[TILE_ROWS][PITCH];
    const Place place = locate(m);

    // Along the source's rows, BLOCK_Y of them a step.
    const Unit* from = src + place.from + threadIdx.y * m.src_ld + threadIdx.x;
#pragma unroll
    for (unsigned int step = 0; step < TILE_ROWS; step += BLOCK_Y) {
        if (threadIdx.y + step < place.rows && threadIdx.x < place.cols) {
            tile[threadIdx.y + step][threadIdx.x] = *from;
        }
        from += BLOCK_Y * m.src_ld;
    }
    __syncthreads();

    // Along the destination's rows, BLOCK_Y of them a step: the threads change places in the tile. Leaving at the edge,
    // and not skipping, makes the compiler load and store step by step: 7 % faster on an H200 where the tile has bank
    // conflicts, 1 % slower where it has none.
    const unsigned int steps = threadIdx.x < place.rows ? place.cols : 0;
    Unit* to = dst + place.to + threadIdx.y * m.dst_ld + threadIdx.x;
#pragma unroll
    for (unsigned int step = 0; step < TILE_COLS; step += BLOCK_Y) {
        if (threadIdx.y + step >= steps) {
            return;
        }
        *to = tile[threadIdx.x][threadIdx.y + step];
        to += BLOCK_Y * m.dst_ld;
    }
}
