// Reads shared memory without conflicts: its bandwidth.
//
// Moves: a block fills TILE vectors of 16 bytes from global memory once; then each thread reads 8 of them a round.
//
// Threads: neighbouring threads read neighbouring vectors, so that the 8 lanes of a quarter of a warp read 128
// consecutive bytes: every bank once.
//
// Shared memory: the tile, TILE = 1024 vectors, 16 KiB.
//
// Launch: blocks of BLOCK threads, any number of them.
//
// Bounds: the indices 255 + 256 + 7 * 64 are below TILE.

#include "probe.cuh"

static_assert(TILE == 1024, "the indices of the rounds are made for it");

extern "C" __global__ void __launch_bounds__(BLOCK) read_shared(const uint4* source, Word64* state, const Probe p) {
    __shared__ uint4 tile[TILE];
    for (unsigned int i = threadIdx.x; i < TILE; i += BLOCK) {
        tile[i] = source[i];
    }
    __syncthreads();
    const unsigned int base = (unsigned int)__cvta_generic_to_shared(tile) + 16 * (threadIdx.x % 256);
    uint4 sum = make_uint4(0, 0, 0, 0);
    // Volatile for the assembler too, which otherwise sees that nothing is written meanwhile and reads once for all
    // rounds.
    const long long begin = clock64();
    for (unsigned int step = 0; step < p.steps; step++) {
        const unsigned int at = base + 16 * 256 * (step % 2);
        uint4 v[8];
#pragma unroll
        for (int k = 0; k < 8; k++) {
            asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(v[k].x), "=r"(v[k].y), "=r"(v[k].z), "=r"(v[k].w)
                         : "r"(at + 16 * 64 * k));
        }
#pragma unroll
        for (int k = 0; k < 8; k++) {
            mix(sum, v[k]);
        }
    }
    use(state, fold(sum), p);
    stop(state, begin);
}
