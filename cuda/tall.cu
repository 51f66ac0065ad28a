// Transposes matrices with short rows, of which a tile would be empty for the most part.
//
// Moves: a block moves a chunk of whole source rows, which are contiguous. In the destination that is a piece of each
// row, which are the lines: skinny.cuh says more.
//
// Threads: neighbouring threads load neighbouring vectors, so a warp reads 512 bytes in one piece. They store
// neighbouring vectors of a line, one a segment, and then those of the next line, and gather the elements of such a
// vector from shared memory one by one. Where lines begin anywhere, what a lane has gathered is a part of its vector,
// and the rest comes from the next lane.
//
// Shared memory: skinny.cuh.
//
// Launch: blocks of BLOCK_X threads; a one-dimensional grid of one block a chunk, along the rows of the destination,
// then matrix by matrix.
//
// Bounds: `src` and `dst` are aligned to 16 bytes. Where lines begin anywhere, a block loads two segments more than it
// moves: it stores, of each line, the sectors that begin in its part, and the elements before the first of these where
// the line begins. What is no whole vector, at the ends of lines and of matrices, is moved one by one. Nothing outside
// the matrices is read, each element is stored once, and all threads of a block reach the same barriers.

#include "skinny.cuh"

// Loads `elements` elements of the source.
__device__ __forceinline__ void load(const Chunk& c, const Unit* __restrict__ src, unsigned int elements) {
    const Unit* const from = src + c.contiguous;
    const unsigned int whole = c.contiguous % VECTOR == 0 ? elements / VECTOR : 0;
    uint4 loaded[STEPS];
#pragma unroll
    for (unsigned int i = 0; i < STEPS; i++) {
        const unsigned int vector = threadIdx.x + i * BLOCK_X;
        if (vector < whole) {
            loaded[i] = reinterpret_cast<const uint4*>(from)[vector];
        }
    }
#pragma unroll
    for (unsigned int i = 0; i < STEPS; i++) {
        const unsigned int vector = threadIdx.x + i * BLOCK_X;
        if (vector < whole) {
            *vector_at(c, vector) = turned(c, loaded[i], vector);
        }
    }
    move_rest<true>(c, const_cast<Unit*>(from), whole * VECTOR, elements);
}

// Stores the vectors of the lines; with SHIFTED these begin anywhere.
template <bool SHIFTED>
__device__ __forceinline__ void store_lines(const Chunk& c, Unit* __restrict__ dst) {
#pragma unroll
    for (unsigned int i = 0; i < STEPS; i++) {
        const Item item = item_of<SHIFTED>(c, i);
        if (!SHIFTED && item.line >= c.side) {
            break;
        }
        // Otherwise all lanes go on, for others need what they have.
        const unsigned int line = SHIFTED ? min(item.line, c.side - 1) : item.line;
        Unit* const to = dst + c.lines + line * c.line_ld;
        Unit units[VECTOR];
#pragma unroll
        for (unsigned int k = 0; k < VECTOR; k++) {
            units[k] = *element_at(c, item.segment, k * c.side + line);
        }
        const uint4 own = pack(units);
        if (!SHIFTED) {
            if ((item.segment + 1) * VECTOR <= c.left) {
                store(to + item.segment * VECTOR, own);
            }
            continue;
        }
        const unsigned int head = head_of(c.lines + line * c.line_ld);
        const uint4 vector = shifted(own, head % VECTOR);
        const unsigned int along = item.segment * VECTOR + head % VECTOR;
        const bool mine = item.line < c.side && item.paired && along >= head && along < head + c.advance;
        if (mine && along + VECTOR <= c.left) {
            store(to + along, vector);
        }
    }
}

// Stores the elements of lines before and after their vectors.
template <bool SHIFTED>
__device__ __forceinline__ void store_ends(const Chunk& c, Unit* __restrict__ dst) {
    const bool first = SHIFTED && c.first;
    const bool last = c.left < c.advance + SECTOR;
    if (!first && !last) {
        return;
    }
    // Of each line at most a sector before the vectors, and less than a vector after them.
#pragma unroll 1
    for (unsigned int item = threadIdx.x; item < c.side * (SECTOR + VECTOR); item += BLOCK_X) {
        const unsigned int line = item / (SECTOR + VECTOR);
        const unsigned int i = item % (SECTOR + VECTOR);
        const Index to = c.lines + line * c.line_ld;
        const unsigned int head = SHIFTED ? head_of(to) : 0;
        unsigned int along = i;
        bool mine = first && i < SECTOR && i < head && i < c.left;
        if (last && i >= SECTOR) {
            along = c.left - (c.left - head) % VECTOR + (i - SECTOR);
            mine = head <= c.left && c.left <= head + c.advance && along < c.left;
        }
        if (mine) {
            dst[to + along] = *line_at(c, line, along);
        }
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK_X, 1280 / BLOCK_X) tall(
    const Unit* __restrict__ src, Unit* __restrict__ dst, const Matrices m) {
    // All branches outside loops go the same way for all threads.
    const bool aligned = (m.dst_ld | m.dst_stride | m.dst_first) % SECTOR == 0;
    const Chunk c = chunk_of(m, m.cols, m.rows, aligned ? 0 : 2, destination_layout(m), source_layout(m));
    const unsigned int room = c.segments * VECTOR;
    load(c, src, (c.left < room ? c.left : room) * c.side);
    __syncthreads();
    if (aligned) {
        store_lines<false>(c, dst);
        store_ends<false>(c, dst);
    } else {
        store_lines<true>(c, dst);
        store_ends<true>(c, dst);
    }
}
