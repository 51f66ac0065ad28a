// Reads shared memory with a stride: what bank conflicts cost.
//
// Moves: a block fills WORDS words from global memory once; then each thread reads 16 of them a round.
//
// Threads: lane n of a warp reads word n * p.stride, and then the words 32, 64, ... further on, which lie in the same
// bank.
//
// Shared memory: WORDS = 2048 words. The requests of one warp meet in as many banks as the stride leaves different;
// those of different warps are alike and do not meet at all.
//
// Launch: blocks of BLOCK threads, any number of them.
//
// Bounds: with a stride of at most 33, the indices 31 * 33 + 512 + 15 * 32 are below WORDS.

#include "probe.cuh"

static_assert(WORDS == 2048, "the indices of the rounds are made for it");

extern "C" __global__ void __launch_bounds__(BLOCK) banks(const unsigned int* source, Word64* state, const Probe p) {
    __shared__ unsigned int words[WORDS];
    for (unsigned int i = threadIdx.x; i < WORDS; i += BLOCK) {
        words[i] = source[i];
    }
    __syncthreads();
    const unsigned int base = (unsigned int)__cvta_generic_to_shared(words) + 4 * (threadIdx.x % 32 * p.stride);
    unsigned int sum = 0;
    // Volatile for the assembler too, which otherwise sees that nothing is written meanwhile and reads once for all
    // rounds.
    const long long begin = clock64();
    for (unsigned int step = 0; step < p.steps; step++) {
        const unsigned int at = base + 4 * 512 * (step % 2);
        unsigned int v[16];
#pragma unroll
        for (int k = 0; k < 16; k++) {
            asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v[k]) : "r"(at + 4 * 32 * k));
        }
#pragma unroll
        for (int k = 0; k < 16; k++) {
            sum ^= v[k];
        }
    }
    use(state, sum, p);
    stop(state, begin);
}
