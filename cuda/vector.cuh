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
