// Transposes matrices with few rows, of which a tile would be empty for the most part.
//
// Moves: a block moves a chunk: a piece of each source row, which are the lines. In the destination these are whole
// rows, which are contiguous: skinny.cuh says more.
//
// Threads: neighbouring threads load neighbouring vectors of a line, one a segment, and then those of the next line.
// Where lines begin anywhere, they load the aligned vectors that hold them, and what a lane has loaded is a part of its
// vector of the line; the rest comes from the next lane. They scatter the elements to shared memory one by one, and
// store neighbouring vectors of the destination, so a warp writes 512 bytes in one piece.
//
// Shared memory: skinny.cuh.
//
// Launch: blocks of BLOCK_X threads; a one-dimensional grid of one block a chunk, along the rows of the source, then
// matrix by matrix.
//
// Bounds: `src` and `dst` are aligned to 16 bytes. Vectors that hold a part of a line may also hold elements of its
// neighbours, but none that lies outside the matrices: a vector that would reach beyond them is not loaded, and its
// elements are, one by one. So are those stored that are no whole vector, at the ends of matrices. Each element is
// stored once, and all threads of a block reach the same barriers.

#include "skinny.cuh"

// Loads the vectors of the lines, of which the first `taken` elements are wanted; with SHIFTED these begin anywhere.
// `end` is the index past the matrix.
template <bool SHIFTED>
__device__ __forceinline__ void load_lines(
    const Chunk& c, const Unit* __restrict__ src, unsigned int taken, Index end) {
    uint4 loaded[STEPS];
#pragma unroll
    for (unsigned int i = 0; i < STEPS; i++) {
        const Item item = item_of<SHIFTED>(c, i);
        const Index at = (c.lines + item.line * c.line_ld) / VECTOR + item.segment;
        if (item.line < c.side && (at + 1) * VECTOR <= end) {
            loaded[i] = reinterpret_cast<const uint4*>(src)[at];
        }
    }
#pragma unroll
    for (unsigned int i = 0; i < STEPS; i++) {
        const Item item = item_of<SHIFTED>(c, i);
        const Index begin = c.lines + item.line * c.line_ld;
        const unsigned int shift = SHIFTED ? begin % VECTOR : 0;
        const uint4 vector = SHIFTED ? shifted(loaded[i], shift) : loaded[i];
        if (item.line >= c.side || (SHIFTED && !item.paired)) {
            continue;
        }
        if ((begin / VECTOR + item.segment + (shift != 0 ? 2 : 1)) * VECTOR <= end) {
#pragma unroll
            for (unsigned int k = 0; k < VECTOR; k++) {
                *element_at(c, item.segment, k * c.side + item.line) = unpack(vector, k);
            }
            continue;
        }
        // Near the end of the matrix.
#pragma unroll 1
        for (unsigned int along = item.segment * VECTOR; along < min(taken, (item.segment + 1) * VECTOR); along++) {
            *line_at(c, item.line, along) = src[begin + along];
        }
    }
}

// Stores `elements` elements of the destination.
__device__ __forceinline__ void store_rows(const Chunk& c, Unit* __restrict__ dst, unsigned int elements) {
    Unit* const to = dst + c.contiguous;
    const unsigned int whole = c.contiguous % VECTOR == 0 ? elements / VECTOR : 0;
#pragma unroll
    for (unsigned int i = 0; i < STEPS; i++) {
        const unsigned int vector = threadIdx.x + i * BLOCK_X;
        if (vector < whole) {
            store(to + vector * VECTOR, turned(c, *vector_at(c, vector), vector));
        }
    }
    move_rest<false>(c, to, whole * VECTOR, elements);
}

extern "C" __global__ void __launch_bounds__(BLOCK_X, 1152 / BLOCK_X) wide(
    const Unit* __restrict__ src, Unit* __restrict__ dst, const Matrices m) {
    // All branches outside loops go the same way for all threads.
    const bool aligned = (m.src_ld | m.src_stride | m.src_first) % VECTOR == 0;
    const Chunk c = chunk_of(m, m.rows, m.cols, aligned ? 0 : 1, source_layout(m), destination_layout(m));
    const unsigned int taken = c.left < c.advance ? c.left : c.advance;
    const Index end = m.src_first + c.matrix * m.src_stride + (m.rows - 1) * m.src_ld + m.cols;
    if (aligned) {
        load_lines<false>(c, src, taken, end);
    } else {
        load_lines<true>(c, src, taken, end);
    }
    __syncthreads();
    store_rows(c, dst, taken * c.side);
}
