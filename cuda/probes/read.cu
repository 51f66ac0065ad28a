// Reads windows of a set again and again: the bandwidth of whatever level the set fits in.
//
// Moves: in each of p.steps rounds a block reads one window, p.window vectors of 16 bytes, and moves on by p.shift
// windows of the p.count that the set has. With a shift of 0 a block keeps to its own window, for L1; otherwise what it
// reads next was read by another block before.
//
// Threads: neighbouring threads load neighbouring vectors: coalesced. UNROLL loads of a thread are under way together.
//
// Shared memory: none.
//
// Launch: blocks of BLOCK threads; block n begins with window n, and there are at most p.count blocks. CACHED says
// whether loads may be served by L1.
//
// Bounds: a window is a multiple of BLOCK * UNROLL vectors.

#include "probe.cuh"

__device__ __forceinline__ uint4 load(const uint4* from) {
    uint4 v;
#if CACHED
    asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
#else
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
#endif
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(from));
    return v;
}

extern "C" __global__ void __launch_bounds__(BLOCK) read(const uint4* source, Word64* state, const Probe p) {
    uint4 sum = make_uint4(0, 0, 0, 0);
    unsigned int at = blockIdx.x;
    const long long begin = clock64();
    for (unsigned int step = 0; step < p.steps; step++) {
        const uint4* from = source + (Word64)at * p.window + threadIdx.x;
        for (unsigned int i = 0; i < p.window; i += BLOCK * UNROLL) {
            uint4 v[UNROLL];
#pragma unroll
            for (int k = 0; k < UNROLL; k++) {
                v[k] = load(from + i + k * BLOCK);
            }
#pragma unroll
            for (int k = 0; k < UNROLL; k++) {
                mix(sum, v[k]);
            }
        }
        at += p.shift;
        at -= at < p.count ? 0 : p.count;
    }
    use(state, fold(sum), p);
#if CYCLES
    stop(state, begin);
#endif
}
