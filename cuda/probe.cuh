// What the probes share: their parameters, and what they report.
//
// A probe's second argument is its state, 64-bit words: the first is the probe's own, and from the second on each block
// puts down the cycles it took.

typedef unsigned long long Word64;

// `Parameters` in src/probe/launch.rs.
struct Probe {
    unsigned int blocks;
    unsigned int steps;  // rounds of the timed loop
    unsigned int first;  // the element that the first thread accesses
    unsigned int stride; // elements from one thread's access to the next one's
    unsigned int count;  // windows in the whole set
    unsigned int window; // vectors of 16 bytes that a block reads in a round
    unsigned int shift;  // windows by which a block moves on from round to round
    unsigned int trap;   // the sum that is stored if it is ever met
};

__device__ __forceinline__ unsigned int fold(const uint4& v) { return v.x ^ v.y ^ v.z ^ v.w; }

__device__ __forceinline__ void mix(uint4& sum, const uint4& v) {
    sum.x ^= v.x;
    sum.y ^= v.y;
    sum.z ^= v.z;
    sum.w ^= v.w;
}

// Makes use of what was read, so that no compiler may leave the reading out, and all but never stores it.
__device__ __forceinline__ void use(Word64* state, unsigned int sum, const Probe& p) {
    if (sum == p.trap) {
        state[0] = sum;
    }
}

// Puts down the cycles since `begin`, when all threads of the block are done.
__device__ __forceinline__ void stop(Word64* state, long long begin) {
    __syncthreads();
    if (threadIdx.x == 0) {
        state[1 + blockIdx.x] = clock64() - begin;
    }
}
