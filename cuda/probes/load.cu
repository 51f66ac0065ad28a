// Loads elements of global memory with a stride: what coalescing is worth.
//
// Moves: each thread loads UNROLL elements of WIDTH bytes, BLOCK threads' accesses apart.
//
// Threads: thread n of the whole launch touches the element p.first + n * p.stride, so that a warp's 32 elements lie
// 31 * p.stride + 1 elements wide.
//
// Shared memory: none.
//
// Launch: blocks of BLOCK threads, in order; each has BLOCK * UNROLL accesses.
//
// Bounds: the source holds p.first + p.blocks * BLOCK * UNROLL * p.stride elements.

#include "probe.cuh"

#if WIDTH == 4
typedef unsigned int Element;
__device__ __forceinline__ unsigned int all(unsigned int v) { return v; }
#elif WIDTH == 16
typedef uint4 Element;
__device__ __forceinline__ unsigned int all(const uint4& v) { return fold(v); }
#else
#error "WIDTH is 4 or 16"
#endif

extern "C" __global__ void __launch_bounds__(BLOCK) load(
    const Element* __restrict__ source, Word64* state, const Probe p) {
    const Word64 access = (Word64)blockIdx.x * (BLOCK * UNROLL) + threadIdx.x;
    const Element* from = source + p.first + access * p.stride;
    const unsigned int apart = BLOCK * p.stride;
    Element v[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; k++) {
        v[k] = from[k * apart];
    }
    unsigned int sum = 0;
#pragma unroll
    for (int k = 0; k < UNROLL; k++) {
        sum ^= all(v[k]);
    }
    use(state, sum, p);
}
