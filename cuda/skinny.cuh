// What the kernels for matrices with a short side share: `tall`, whose source has it along rows, and `wide`, whose
// destination has.
//
// A block moves a chunk: some neighbours along the long side, with all the elements that they have along the short
// side. On one side of the transpose a chunk is contiguous. On the other it is a piece of each of as many rows as the
// short side has elements: its lines. 16 bytes are a vector, of VECTOR elements, and VECTOR neighbours along the long
// side, with all they have, are a segment. The host says how many segments a chunk has: no more than CHUNK vectors of
// all lines together or, where lines begin anywhere, than 31 of 32 of these.
//
// Shared memory has the contiguous side as it is, with gaps. A segment's elements of one line lie as far apart as the
// short side is long, and the same elements of neighbouring segments as many vectors: 4 banks times the short side.
// After every 8, 4, 2 or 1 segments, the more factors of two the short side has, a gap of one vector makes 8
// neighbouring segments meet 8 different fours of the 32 banks. Elements of 16 bytes are served 8 lanes at a time,
// which is enough. Those of 8 bytes are served 16 at a time, others 32, so the halves or words of a vector change
// places, another way in each of two or four groups of 8 segments. Elements have no conflicts but where a warp goes on
// to the next line; nor have vectors, which lie in one row of banks.

#include "vector.cuh"

// Vectors of a chunk, and those that a thread moves.
constexpr unsigned int CHUNK = TILE_COLS / VECTOR;
constexpr unsigned int STEPS = CHUNK / BLOCK_X;

static_assert(BLOCK_Y == 1 && TILE_ROWS == 1 && CHUNK % BLOCK_X == 0 && BLOCK_X % 32 == 0, "whole steps");
static_assert(CHUNK < 1 << 11 && PITCH == CHUNK / 8 * 9 * VECTOR, "room for a gap after each eighth vector");

__shared__ uint4 shared[PITCH / VECTOR];

// What a block moves.
struct Chunk {
    Index matrix;            // its number
    unsigned int side;       // elements of the short side, which are lines
    unsigned int segments;   // segments in shared memory
    unsigned int advance;    // elements from block to block along the long side
    unsigned int spread;     // segments from gap to gap, to base 2
    unsigned int per_side;   // the reciprocal of `side`, times 2^20
    unsigned int per_line;   // and that of `segments`, times 2^22
    unsigned int left;       // elements along the long side, or more than a block moves
    bool first;              // whether none come before them
    Index line_ld;           // elements from line to line
    Index contiguous;        // index of the first element on the contiguous side
    Index lines;             // and of that of the first line
};

// How one side's matrices lie.
struct Layout {
    unsigned int first;
    Index ld;
    Index stride;
};

__device__ __forceinline__ Layout source_layout(const Matrices& m) {
    return {m.src_first, m.src_ld, m.src_stride};
}

__device__ __forceinline__ Layout destination_layout(const Matrices& m) {
    return {m.dst_first, m.dst_ld, m.dst_stride};
}

// The block's chunk, of as many segments as the host says, of which `spared` are another block's, too. The long side has
// `length` elements.
__device__ __forceinline__ Chunk chunk_of(
    const Matrices& m, unsigned int side, Index length, unsigned int spared, const Layout& lines,
    const Layout& contiguous) {
    const unsigned int blocks = m.across * m.down;
    Chunk c;
    c.matrix = blockIdx.x / blocks;
    c.side = side;
    c.segments = m.segments;
    c.advance = (m.segments - spared) * VECTOR;
    c.spread = 3 - min(__ffs(side) - 1, 3);
    c.per_side = (1u << 20) / side + 1;
    c.per_line = (1u << 22) / m.segments + 1;
    const Index begin = (blockIdx.x - c.matrix * blocks) * c.advance;
    const Index left = length - begin;
    c.left = left < 2 * TILE_COLS ? left : 2 * TILE_COLS;
    c.first = begin == 0;
    c.line_ld = lines.ld;
    c.contiguous = contiguous.first + c.matrix * contiguous.stride + begin * side;
    c.lines = lines.first + c.matrix * lines.stride + begin;
    return c;
}

// The segment of a vector of the contiguous side: near enough for an exact quotient, since both the vector's number
// times the short side and, below, an item's times the segments of a line are less than the power of two.
__device__ __forceinline__ unsigned int segment_of(const Chunk& c, unsigned int vector) {
    return vector * c.per_side >> 20;
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

// A vector of a line.
struct Item {
    unsigned int line;
    unsigned int segment;
    bool paired; // whether the next lane has the line's next one
};

// What a thread moves in a step. With SHIFTED the last lane of a warp has the same as the first one of the next warp.
template <bool SHIFTED>
__device__ __forceinline__ Item item_of(const Chunk& c, unsigned int step) {
    const unsigned int lane = threadIdx.x % 32;
    const unsigned int warp = threadIdx.x / 32 + step * (BLOCK_X / 32);
    const unsigned int number = warp * (SHIFTED ? 31 : 32) + lane;
    const unsigned int line = number * c.per_line >> 22;
    const unsigned int segment = number - line * c.segments;
    return {line, segment, lane < 31 && segment + 1 < c.segments};
}

// The vector that begins at element `shift` of a lane's own and the next lane's. All lanes of a warp must ask.
__device__ __forceinline__ uint4 shifted(const uint4& own, unsigned int shift) {
    if (VECTOR == 1) {
        return own;
    }
    const uint4 next = make_uint4(
        __shfl_down_sync(0xffffffff, own.x, 1), __shfl_down_sync(0xffffffff, own.y, 1),
        __shfl_down_sync(0xffffffff, own.z, 1), __shfl_down_sync(0xffffffff, own.w, 1));
    return funnel(own, next, shift);
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
