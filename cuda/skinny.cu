// Transposes matrices with a short side, of which a tile would be empty for the most part.
//
// Moves: a block moves a chunk: some neighbours along the long side, with all the elements that they have along the
// short side. On one side of the transpose a chunk is contiguous: whole rows of a tall source, or of the destination of
// a wide source. On the other side it is a piece of each of as many rows as the short side has elements, its lines. 16
// bytes are a vector, of VECTOR elements, and VECTOR neighbours along the long side, with all they have, are a segment.
// A chunk has as many segments, a power of two, as TILE_COLS elements have room for.
//
// Threads: on the contiguous side, neighbouring threads take neighbouring vectors, so a warp moves 512 bytes in one
// piece. On the other side they take neighbouring vectors of a line, one a segment, and then those of the next line. A
// thread gathers the elements of such a vector from shared memory one by one, or scatters them there.
//
// Shared memory: the contiguous side as it is, with gaps. A segment's elements of one line lie as far apart as the
// short side is long, and the same elements of neighbouring segments as many vectors: 4 banks times the short side.
// After every 8, 4, 2 or 1 segments, the more factors of two the short side has, a gap of one vector makes 8
// neighbouring segments meet 8 different fours of the 32 banks. Elements of 16 bytes are served 8 lanes at a time,
// which is enough. Those of 8 bytes are served 16 at a time, others 32, so the halves or words of a vector change
// places, another way in each of two or four groups of 8 segments. Elements have no conflicts; nor have vectors, which
// lie in one row of banks.
//
// Launch: blocks of BLOCK_X threads; a one-dimensional grid of one block a chunk, along the long side, then matrix by
// matrix.
//
// Bounds: `src` and `dst` are aligned to 16 bytes. Where lines begin anywhere, a block has the elements of two segments
// more than it moves: of a tall source it stores, of each line, the sectors of 32 bytes that begin in its part, and the
// elements before the first of these where the line begins; of a wide source it loads all vectors that hold a part of
// its chunk. What is no whole vector, at the ends of lines and of matrices, is moved one by one. Nothing outside the
// matrices is read, each element is stored once, and all threads of a block reach the same barriers.

#include "vector.cuh"

// Vectors of a chunk, and those that a thread moves.
constexpr unsigned int CHUNK = TILE_COLS / VECTOR;
constexpr unsigned int STEPS = CHUNK / BLOCK_X;

static_assert(BLOCK_Y == 1 && TILE_ROWS == 1 && CHUNK % BLOCK_X == 0, "whole steps");
static_assert(PITCH == CHUNK / 8 * 9 * VECTOR, "room for a gap after each eighth vector");

__shared__ uint4 shared[PITCH / VECTOR];

// What a block moves.
struct Chunk {
    unsigned int side;       // elements of the short side, which are lines
    unsigned int segments;   // segments in shared memory
    unsigned int log;        // of their number, to base 2
    unsigned int spread;     // likewise, of the segments from gap to gap
    unsigned int reciprocal; // of the short side, times 2^20
    unsigned int advance;    // elements from block to block along the long side
    bool aligned;            // whether lines begin with a vector, or with a sector where that matters
    Index begin;             // of this block, along the long side
    unsigned int left;       // elements from there on, or more than a block moves
    Index line_ld;           // elements from line to line
    Index contiguous;        // index of the first element on the contiguous side
    Index lines;             // and of that of the first line
};

// The segment of a vector, one of fewer than 2^10 and a short side of at most 2^7: near enough for an exact quotient.
__device__ __forceinline__ unsigned int segment_of(const Chunk& c, unsigned int vector) {
    return vector * c.reciprocal >> 20;
}

// Where shared memory has a vector of the contiguous side.
__device__ __forceinline__ uint4* vector_at(const Chunk& c, unsigned int vector) {
    return &shared[vector + (segment_of(c, vector) >> c.spread)];
}

// Where shared memory has an element of a segment.
__device__ __forceinline__ Unit* element_at(const Chunk& c, unsigned int segment, unsigned int element) {
    // The change of places of halves or words, in bytes.
    const unsigned int turn = WIDTH <= 4 ? segment / 8 % 4 * 4 : WIDTH == 8 ? segment / 8 % 2 * 8 : 0;
    char* const begin = reinterpret_cast<char*>(shared + segment * c.side + (segment >> c.spread));
    return reinterpret_cast<Unit*>(begin + (element * WIDTH ^ turn));
}

// Where shared memory has element `along` of a line.
__device__ __forceinline__ Unit* line_at(const Chunk& c, unsigned int line, unsigned int along) {
    return element_at(c, along / VECTOR, along % VECTOR * c.side + line);
}

// A vector of the contiguous side whose halves or words have changed places, which also undoes it.
__device__ __forceinline__ uint4 turned(const Chunk& c, uint4 v, unsigned int vector) {
    const unsigned int group = segment_of(c, vector) / 8;
    if (WIDTH <= 4 && group % 2 != 0) {
        v = make_uint4(v.y, v.x, v.w, v.z);
    }
    if (WIDTH <= 4 ? group / 2 % 2 != 0 : WIDTH == 8 && group % 2 != 0) {
        v = make_uint4(v.z, v.w, v.x, v.y);
    }
    return v;
}

// Moves the elements of the contiguous side from `first` on to before `elements` one by one.
template <bool LOAD>
__device__ __forceinline__ void move_rest(const Chunk& c, Unit* at, unsigned int first, unsigned int elements) {
#pragma unroll 1
    for (unsigned int i = first + threadIdx.x; i < elements; i += BLOCK_X) {
        const unsigned int segment = segment_of(c, i / VECTOR);
        Unit* const here = element_at(c, segment, i - segment * c.side * VECTOR);
        if (LOAD) {
            *here = at[i];
        } else {
            at[i] = *here;
        }
    }
}

// Loads `elements` elements of a tall source.
__device__ __forceinline__ void load_contiguous(const Chunk& c, const Unit* __restrict__ src, unsigned int elements) {
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

// Stores `elements` elements of a wide source's destination.
__device__ __forceinline__ void store_contiguous(const Chunk& c, Unit* __restrict__ dst, unsigned int elements) {
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

// Stores the lines of a tall source.
__device__ __forceinline__ void store_lines(const Chunk& c, Unit* __restrict__ dst) {
#pragma unroll
    for (unsigned int i = 0; i < STEPS; i++) {
        const unsigned int item = threadIdx.x + i * BLOCK_X;
        const unsigned int line = item >> c.log;
        const unsigned int segment = item & (c.segments - 1);
        const Index to = c.lines + line * c.line_ld;
        const unsigned int head = c.aligned ? 0 : (0 - to) % SECTOR;
        const unsigned int along = head + segment * VECTOR;
        if (line >= c.side || segment * VECTOR >= c.advance || along + VECTOR > c.left) {
            continue;
        }
        Unit units[VECTOR];
        if (c.aligned) {
#pragma unroll
            for (unsigned int k = 0; k < VECTOR; k++) {
                units[k] = *element_at(c, segment, k * c.side + line);
            }
        } else {
#pragma unroll
            for (unsigned int k = 0; k < VECTOR; k++) {
                units[k] = *line_at(c, line, along + k);
            }
        }
        store(dst + to + along, pack(units));
    }
}

// Stores the elements of lines before and after their vectors.
__device__ __forceinline__ void store_ends(const Chunk& c, Unit* __restrict__ dst) {
    const bool first = c.begin == 0 && !c.aligned;
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
        const unsigned int head = c.aligned ? 0 : (0 - to) % SECTOR;
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

// Loads the first `taken` elements of each line of a wide source, of which `end` is the index past the matrix.
__device__ __forceinline__ void load_lines(
    const Chunk& c, const Unit* __restrict__ src, unsigned int taken, Index end) {
    uint4 loaded[STEPS];
#pragma unroll
    for (unsigned int i = 0; i < STEPS; i++) {
        const unsigned int item = threadIdx.x + i * BLOCK_X;
        const Index at = (c.lines + (item >> c.log) * c.line_ld) / VECTOR + (item & (c.segments - 1));
        if (item >> c.log < c.side && (at + 1) * VECTOR <= end) {
            loaded[i] = reinterpret_cast<const uint4*>(src)[at];
        }
    }
#pragma unroll
    for (unsigned int i = 0; i < STEPS; i++) {
        const unsigned int item = threadIdx.x + i * BLOCK_X;
        const unsigned int line = item >> c.log;
        const unsigned int segment = item & (c.segments - 1);
        if (line >= c.side) {
            break;
        }
        // Away from the end of the lines, whose last vector may reach beyond the matrix. The same way for all threads.
        if (c.aligned && taken == c.advance) {
#pragma unroll
            for (unsigned int k = 0; k < VECTOR; k++) {
                *element_at(c, segment, k * c.side + line) = unpack(loaded[i], k);
            }
            continue;
        }
        const Index begin = c.lines + line * c.line_ld;
        const bool whole = (begin / VECTOR + segment + 1) * VECTOR <= end;
#pragma unroll
        for (unsigned int k = 0; k < VECTOR; k++) {
            const unsigned int along = segment * VECTOR + k - begin % VECTOR;
            if (along < taken) {
                *line_at(c, line, along) = whole ? unpack(loaded[i], k) : src[begin + along];
            }
        }
    }
}

// The bound keeps a thread to the registers that are enough, 48 in most widths, for 1280 threads to share a
// multiprocessor.
extern "C" __global__ void __launch_bounds__(BLOCK_X, (WIDTH == 8 ? 1024 : 1280) / BLOCK_X) skinny(
    const Unit* __restrict__ src, Unit* __restrict__ dst, const Matrices m) {
    // All branches outside loops go the same way for all threads.
    const bool tall = m.rows >= m.cols;
    const Index line_stride = tall ? m.dst_stride : m.src_stride;
    Chunk c;
    c.side = tall ? m.cols : m.rows;
    c.line_ld = tall ? m.dst_ld : m.src_ld;
    c.aligned = (c.line_ld | line_stride) % (tall ? SECTOR : VECTOR) == 0;
    c.log = 31 - __clz(CHUNK / c.side);
    c.segments = 1u << c.log;
    c.spread = 3 - min(__ffs(c.side) - 1, 3);
    c.reciprocal = (1u << 20) / c.side + 1;
    c.advance = (c.aligned ? c.segments : c.segments - 2) * VECTOR;
    const unsigned int blocks = m.across * m.down;
    const unsigned int matrix = blockIdx.x / blocks;
    c.begin = static_cast<Index>(blockIdx.x - matrix * blocks) * c.advance;
    const Index left = (tall ? m.rows : m.cols) - c.begin;
    c.left = left < 2 * TILE_COLS ? left : 2 * TILE_COLS;
    c.contiguous = matrix * (tall ? m.src_stride : m.dst_stride) + c.begin * c.side;
    c.lines = matrix * line_stride + c.begin;
    if (tall) {
        const unsigned int room = c.segments * VECTOR;
        load_contiguous(c, src, (c.left < room ? c.left : room) * c.side);
        __syncthreads();
        store_lines(c, dst);
        store_ends(c, dst);
    } else {
        const unsigned int taken = c.left < c.advance ? c.left : c.advance;
        load_lines(c, src, taken, matrix * line_stride + (m.rows - 1) * m.src_ld + m.cols);
        __syncthreads();
        store_contiguous(c, dst, taken * c.side);
    }
}
