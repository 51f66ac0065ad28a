// Stores elements to global memory with a stride: what coalescing is worth.
//
// Moves: each thread stores UNROLL elements of WIDTH bytes, BLOCK threads' accesses apart. What it stores tells the
// access: its number, exclusive-or p.trap.
//
// Threads: thread n of the whole launch touches the element p.first + n * p.stride, so that a warp's 32 elements lie
// 31 * p.stride + 1 elements wide.
//
// Shared memory: none.
//
// Launch: blocks of BLOCK threads, in order; each has BLOCK * UNROLL accesses.
//
// Bounds: the destination holds p.first + p.blocks * BLOCK * UNROLL * p.stride elements.

#include "probe.cuh"

#if WIDTH == 4
typedef unsigned int Element;
__device__ __forceinline__ Element all(unsigned int v) { return v; }
#elif WIDTH == 16
typedef uint4 Element;
__device__ __forceinline__ Element all(unsigned int v) { return make_uint4(v, ~v, v, ~v); }
#else
#error "WIDTH is 4 or 16"
#endif

extern "C" __global__ void __launch_bounds__(BLOCK) store(
    const unsigned int* source, Element* destination, const Probe p) {
    const unsigned int access = blockIdx.x * (BLOCK * UNROLL) + threadIdx.x;
    Element* to = destination + p.first + (Word64)access * p.stride;
    const unsigned int apart = BLOCK * p.stride;
#pragma unroll
    for (int k = 0; k < UNROLL; k++) {
        to[k * apart] = all((access + k * BLOCK) ^ p.trap);
    }
}
