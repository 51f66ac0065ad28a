// Follows a chain of pointers through global memory: the latency of a load.
//
// Moves: one thread loads 8 bytes a step, the address of the next ones. The host lays the chain so that it goes through
// all 128-byte lines of a set in random order before it comes back.
//
// Threads: one. Each load needs the one before, so that nothing overlaps. The loads go through L1 (the
// read-only way, which does so on every architecture) and L2, which makes the latency a function of the set's size.
//
// Shared memory: none.
//
// Launch: one block of one thread. A launch goes on where the last one stopped; state[0] is the address, 0 before the
// first. p.steps is a multiple of 8.
//
// Bounds: the chain never leaves the set.

#include "probe.cuh"

extern "C" __global__ void chase(const unsigned char* source, Word64* state, const Probe p) {
    Word64 at = state[0] != 0 ? state[0] : (Word64)source;
    const long long begin = clock64();
    for (unsigned int step = 0; step < p.steps; step += 8) {
#pragma unroll
        for (int k = 0; k < 8; k++) {
            asm volatile("ld.global.nc.u64 %0, [%0];" : "+l"(at));
        }
    }
    stop(state, begin);
    state[0] = at;
}
