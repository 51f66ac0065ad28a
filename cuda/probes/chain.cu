// A chain of multiply-adds, each of which needs the one before: the latency of an arithmetic instruction, and so of the
// registers that it reads and writes.
//
// Moves: nothing; registers alone.
//
// Threads: one.
//
// Shared memory: none.
//
// Launch: one block of one thread. p.steps is a multiple of 256.
//
// Bounds: none.

#include "probe.cuh"

extern "C" __global__ void chain(const unsigned int* source, Word64* state, const Probe p) {
    // Known only at run time, so that nothing can be computed ahead: one half.
    const float factor = 1.0f / (float)(1 + p.blocks);
    float value = (float)p.trap;
    const long long begin = clock64();
    for (unsigned int step = 0; step < p.steps; step += 256) {
#pragma unroll
        for (int k = 0; k < 256; k++) {
            value = __fmaf_rn(value, factor, factor);
        }
    }
    // The end of the chain decides when the clock is read.
    if (value < 0.0f) {
        state[0] = 1;
    }
    stop(state, begin);
}
