// Follows a chain of addresses through shared memory: the latency of a load from there.
//
// Moves: all threads bring RING words from global memory, each the index of the next one; then one thread loads 4 bytes
// a step.
//
// Threads: in the chain one; each load needs the one before, so that nothing overlaps.
//
// Shared memory: the chain, RING words, as addresses in shared memory, so that a step is a load and nothing else.
//
// Launch: one block of BLOCK threads. p.steps is a multiple of 8.
//
// Bounds: the chain never leaves the ring.

#include "probe.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK) chase_shared(
    const unsigned int* source, Word64* state, const Probe p) {
    __shared__ unsigned int ring[RING];
    const unsigned int base = (unsigned int)__cvta_generic_to_shared(ring);
    for (unsigned int i = threadIdx.x; i < RING; i += BLOCK) {
        ring[i] = base + 4 * source[i];
    }
    __syncthreads();
    unsigned int at = base;
    const long long begin = clock64();
    if (threadIdx.x == 0) {
        for (unsigned int step = 0; step < p.steps; step += 8) {
#pragma unroll
            for (int k = 0; k < 8; k++) {
                asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at));
            }
        }
        state[0] = at - base;
    }
    stop(state, begin);
}
