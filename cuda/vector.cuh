// What the kernels with 16-byte accesses share: the vector, 16 bytes of neighbouring elements, and the sector.

#include "common.cuh"

// Elements of a vector.
constexpr unsigned int VECTOR = 16 / WIDTH;
// Elements of a sector, of which memory writes all or has to merge.
constexpr unsigned int SECTOR = 32 / WIDTH;

// The vector of these elements.
__device__ __forceinline__ uint4 pack(const Unit (&units)[VECTOR]) {
#if WIDTH <= 2
    unsigned int words[4];
#pragma unroll
    for (unsigned int i = 0; i < 4; i++) {
        const Unit* const of_word = units + i * VECTOR / 4;
#if WIDTH == 1
        const unsigned int low = __byte_perm(of_word[0], of_word[1], 0x0040);
        const unsigned int high = __byte_perm(of_word[2], of_word[3], 0x0040);
#else
        const unsigned int low = of_word[0];
        const unsigned int high = of_word[1];
#endif
        words[i] = __byte_perm(low, high, 0x5410);
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
#elif WIDTH == 4
    return make_uint4(units[0], units[1], units[2], units[3]);
#elif WIDTH == 8
    return make_uint4(units[0].x, units[0].y, units[1].x, units[1].y);
#else
    return units[0];
#endif
}

// Element `i` of a vector.
__device__ __forceinline__ Unit unpack(const uint4& vector, unsigned int i) {
#if WIDTH <= 4
    const unsigned int words[4] = {vector.x, vector.y, vector.z, vector.w};
    return static_cast<Unit>(words[i * WIDTH / 4] >> i * WIDTH % 4 * 8);
#elif WIDTH == 8
    return i == 0 ? make_uint2(vector.x, vector.y) : make_uint2(vector.z, vector.w);
#else
    return vector;
#endif
}

// Stores a vector to global memory by one access. Of a vector just put together the compiler makes stores of single
// elements instead, four times as many requests.
__device__ __forceinline__ void store(Unit* to, const uint4& vector) {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(to), "r"(vector.x), "r"(vector.y), "r"(vector.z), "r"(vector.w));
}

// The vector that begins at element `shift` of two neighbouring vectors.
__device__ __forceinline__ uint4 funnel(const uint4& low, const uint4& high, unsigned int shift) {
    const unsigned int bytes = shift * WIDTH;
    unsigned int words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
    for (unsigned int i = 0; i < 6; i++) {
        words[i] = WIDTH <= 8 && (bytes & 8) != 0 ? words[i + 2] : words[i];
    }
#pragma unroll
    for (unsigned int i = 0; i < 5; i++) {
        words[i] = WIDTH <= 4 && (bytes & 4) != 0 ? words[i + 1] : words[i];
    }
#pragma unroll
    for (unsigned int i = 0; i < 4; i++) {
        // Takes the shift modulo 32 bits.
        words[i] = WIDTH < 4 ? __funnelshift_r(words[i], words[i + 1], 8 * bytes) : words[i];
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
}

// Elements of a destination row that begins at this index before its first sector.
__device__ __forceinline__ unsigned int head_of(Index to) {
    return static_cast<unsigned int>(0 - to) % SECTOR;
}

// Stores the elements of a tile's destination rows before their vectors, where a row begins, and after them, where it
// ends, one by one. A row's first vector begins at the first of `align` elements, 1, VECTOR or SECTOR, that lie in it;
// `left` says how many there are from the tile's first source row to the matrix's end, or more than the tile has.
// `element` tells the element of a column and a row of the tile, and `past` that of a row that may lie beyond it. A block
// has a multiple of SECTOR threads, so that each keeps its place in the rows.
template <typename First, typename Last>
__device__ __forceinline__ void store_ends(
    Unit* __restrict__ dst, Index ld, const Place& tile, unsigned int left, unsigned int align, First element,
    Last past) {
    // Where rows begin modulo a sector, for which 32 bits do.
    const unsigned int begin = static_cast<unsigned int>(tile.to);
    const unsigned int step = static_cast<unsigned int>(ld);
    if (tile.row == 0 && align > 1) {
        const unsigned int row = threadIdx.x % SECTOR;
#pragma unroll 1
        for (unsigned int col = threadIdx.x / SECTOR; col < tile.cols; col += BLOCK_X / SECTOR) {
            const unsigned int head = (0 - (begin + col * step)) & (align - 1);
            if (row < head && row < left) {
                dst[tile.to + col * ld + row] = element(col, row);
            }
        }
    }
    if (left < TILE_ROWS + align) {
#pragma unroll 1
        for (unsigned int col = threadIdx.x / VECTOR; col < tile.cols; col += BLOCK_X / VECTOR) {
            const unsigned int head = (0 - (begin + col * step)) & (align - 1);
            const unsigned int tail = (left - head) % VECTOR;
            if (head <= left && left <= TILE_ROWS + head && threadIdx.x % VECTOR < tail) {
                const unsigned int row = left - tail + threadIdx.x % VECTOR;
                dst[tile.to + col * ld + row] = past(col, row);
            }
        }
    }
}
