// Independent multiply-adds in every thread: how fast the registers bring operands.
//
// Moves: nothing; registers alone. A multiply-add reads three operands of 4 bytes and writes one.
//
// Threads: each has 8 chains of multiply-adds, so that none waits for the one before.
//
// Shared memory: none.
//
// Launch: blocks of BLOCK threads, any number of them.
//
// Bounds: none.

#include "probe.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK) multiply(const unsigned int* source, Word64* state, const Probe p) {
    // Known only at run time, so that nothing can be computed ahead.
    const float factor = 1.0f / (float)(1 + p.blocks);
    const float addend = (float)p.stride;
    float value[8];
#pragma unroll
    for (int k = 0; k < 8; k++) {
        value[k] = (float)(threadIdx.x + k);
    }
    const long long begin = clock64();
    for (unsigned int step = 0; step < p.steps; step++) {
#pragma unroll
        for (int k = 0; k < 32; k++) {
            value[k % 8] = __fmaf_rn(value[k % 8], factor, addend);
        }
    }
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        sum += value[k];
    }
    if (sum < 0.0f) {
        state[0] = 1;
    }
    stop(state, begin);
}
