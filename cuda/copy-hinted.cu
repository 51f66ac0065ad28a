// Copies the source to the destination with a hint to L2: how far a hint takes a copy.
//
// Moves: a block moves BLOCK_X * 16 bytes (4 KiB) in one piece, like `copy`.
//
// Threads: as in `copy`. The loads carry the hint evict_last: of all lines, L2 should give these up last. Nothing is
// loaded twice here, so it is not about hits; what changes is which lines L2 picks to write back. An H200 copies 1 to 2 %
// faster with it, and nothing of it is left behind: a small copy after a large hinted one finds L2 as after a plain one.
//
// Shared memory: none.
//
// Launch: blocks of BLOCK_X threads, a one-dimensional grid of one block for each 4 KiB begun, in order of address.
// `across` and `down` are not needed.
//
// Bounds: as in `copy`.

#include "common.cuh"

static_assert(TILE_COLS * WIDTH == BLOCK_X * 16 && BLOCK_Y == 1 && TILE_ROWS == 1, "16 bytes a thread");

extern "C" __global__ void __launch_bounds__(BLOCK_X) copy_hinted(
    const Unit* __restrict__ src, Unit* __restrict__ dst, Index rows, Index cols, unsigned int across,
    unsigned int down) {
    const Index count = rows * cols;
    const Index col = ((Index)blockIdx.x * BLOCK_X + threadIdx.x) * (16 / WIDTH);
    if (col + 16 / WIDTH <= count) {
        *reinterpret_cast<uint4*>(dst + col) = load_hinted(reinterpret_cast<const uint4*>(src + col));
    } else {
#pragma unroll 1
        for (Index tail = col; tail < count; tail++) {
            dst[tail] = src[tail];
        }
    }
}
