// Transposes by accesses of 16 bytes throughout: the fast one.
//
// Moves: a block moves a tile of TILE_ROWS by TILE_COLS elements of one matrix, through shared memory. 16 bytes are a
// vector, of VECTOR elements.
//
// Threads: on the read side a thread loads one vector from each of GROUP neighbouring source rows, a warp LANES vectors
// along by 32 / LANES groups down, so that it reads whole lines of 128 bytes. What the thread then has of one column it
// puts together in registers, as a piece of GROUP elements, 4 bytes for narrow elements and 16 for others, and stores
// piece by piece to shared memory. On the write side a thread loads a vector of one column from there and stores it to
// the destination row which that column is; neighbouring threads take neighbouring vectors of the row.
//
// Shared memory: shared[TILE_COLS][UNITS] of 16 bytes: the tile transposed, a row of it for each source column. Unit u
// of row c lies at u ^ (c / VECTOR) % 8, and 8 units are a trip around the 32 banks of 4 bytes. Loads go along rows,
// where that only reorders: no conflicts. Stores of pieces go down, from lane to lane by VECTOR columns, hence the
// division. The hardware serves 16-byte stores 8 lanes at a time: 8 vectors along of the same u, at 8 different units.
// It serves 4-byte stores 32 lanes at a time: 8 vectors along, at 8 different units, by 4 groups down, which are the 4
// words of a unit. No width has conflicts.
//
// Launch: blocks of BLOCK_X threads, each moving 2 or 4 vectors; a one-dimensional grid of one block a tile, numbered
// down the source's rows, then along, then matrix by matrix: what runs together writes along the same destination rows.
//
// Bounds: `src` and `dst` are aligned to 16 bytes, rows begin anywhere. A whole tile of aligned source rows is loaded
// without a check. Of any other each wanted vector is loaded as the two aligned vectors that hold it, and taken out of
// them in registers. These may hold elements of neighbouring rows, but none that lies outside the matrices: an aligned
// vector that reaches beyond its matrix is replaced by another, and the few elements in it are loaded one by one. A
// whole tile of aligned destination rows is stored without a check. Where they are not aligned, memory would pay for
// each sector of 32 bytes that two blocks write parts of; `dst` is aligned to 32 bytes, as is all that CUDA allocates,
// though only speed depends on that. So a sector inside a destination row belongs to the tile that has its first
// element. What it has of the tile below is fetched from the source, into the places of those elements before the
// tile's first sector that the tile above stores. Only at the ends of destination rows, which share a sector with the
// next row, elements are stored one by one: those before the row's first sector, and the fewer than VECTOR ones after
// its last vector. Rows that lie in one tile are stored by the vectors inside and, one by one, the fewer than VECTOR
// elements before and after these. Each element is stored once. All threads of a block reach the same barriers.

#include "vector.cuh"

// Source rows of which a thread takes a vector each: enough for a word, or for a vector where that takes few registers.
constexpr unsigned int GROUP = WIDTH < 4 ? 4 / WIDTH : VECTOR;
// Vectors along a source row of the tile, and how many of them a warp takes.
constexpr unsigned int ACROSS = TILE_COLS / VECTOR;
constexpr unsigned int LANES = WIDTH < 4 || ACROSS < 16 ? 8 : 16;
// Vectors along a destination row of the tile.
constexpr unsigned int UNITS = TILE_ROWS / VECTOR;
// How often a thread loads, and how often it stores.
constexpr unsigned int LOADS = ACROSS * (TILE_ROWS / GROUP) / BLOCK_X;
constexpr unsigned int STORES = TILE_COLS * UNITS / BLOCK_X;

static_assert(BLOCK_Y == 1 && PITCH == TILE_COLS, "the tile is packed");
static_assert(ACROSS % LANES == 0 && UNITS % 8 == 0, "whole warps, whole trips around the banks");
static_assert(LOADS * GROUP == STORES && STORES * BLOCK_X * VECTOR == TILE_ROWS * TILE_COLS, "whole steps");

// GROUP elements of one column.
#if WIDTH < 4
typedef unsigned int Piece;
#else
typedef uint4 Piece;
#endif
static_assert(sizeof(Piece) == GROUP * WIDTH, "a piece is one access");

__shared__ uint4 shared[TILE_COLS][UNITS];

// Where the tile has unit `unit` of a column.
__device__ __forceinline__ uint4* unit_at(unsigned int col, unsigned int unit) {
    return &shared[col][unit ^ col / VECTOR % 8];
}

// Where the tile has an element.
__device__ __forceinline__ Unit* element_at(unsigned int col, unsigned int row) {
    return reinterpret_cast<Unit*>(unit_at(col, row / VECTOR)) + row % VECTOR;
}

// Where the tile has the piece that begins at a row.
__device__ __forceinline__ Piece* piece_at(unsigned int col, unsigned int row) {
    return reinterpret_cast<Piece*>(element_at(col, row));
}

// Vectors that a thread has loaded.
struct Loaded {
    uint4 row[GROUP];
};

// Where in the tile a thread loads: the vector from column `col` on of each of the GROUP rows from `row` on.
struct Spot {
    unsigned int row;
    unsigned int col;
};

__device__ __forceinline__ Spot spot(unsigned int step) {
    const unsigned int item = threadIdx.x + step * BLOCK_X;
    const unsigned int lane = item % 32;
    const unsigned int warp = item / 32;
    const unsigned int across = lane % LANES + LANES * (warp % (ACROSS / LANES));
    const unsigned int down = lane / LANES + 32 / LANES * (warp / (ACROSS / LANES));
    return {down * GROUP, across * VECTOR};
}

// Word `i` of a vector.
__device__ __forceinline__ unsigned int word(const uint4& vector, unsigned int i) {
    return i == 0 ? vector.x : i == 1 ? vector.y : i == 2 ? vector.z : vector.w;
}

// The piece of column `col` of the loaded vectors.
__device__ __forceinline__ Piece piece(const Loaded& loaded, unsigned int col) {
    const uint4(&row)[GROUP] = loaded.row;
#if WIDTH == 1
    // Each permute serves two columns or more; the compiler does the same one only once.
    const unsigned int pairs = col % 4 < 2 ? 0x5140 : 0x7362;
    const unsigned int upper = __byte_perm(word(row[0], col / 4), word(row[1], col / 4), pairs);
    const unsigned int lower = __byte_perm(word(row[2], col / 4), word(row[3], col / 4), pairs);
    return __byte_perm(upper, lower, col % 2 == 0 ? 0x5410 : 0x7632);
#elif WIDTH == 2
    return __byte_perm(word(row[0], col / 2), word(row[1], col / 2), col % 2 == 0 ? 0x5410 : 0x7632);
#elif WIDTH == 4
    return make_uint4(word(row[0], col), word(row[1], col), word(row[2], col), word(row[3], col));
#elif WIDTH == 8
    return make_uint4(
        word(row[0], 2 * col), word(row[0], 2 * col + 1), word(row[1], 2 * col), word(row[1], 2 * col + 1));
#else
    return row[0];
#endif
}

// Puts into the tile what a thread has loaded.
__device__ __forceinline__ void put(const Loaded (&loaded)[LOADS]) {
#pragma unroll
    for (unsigned int step = 0; step < LOADS; step++) {
        const Spot at = spot(step);
#pragma unroll
        for (unsigned int col = 0; col < VECTOR; col++) {
            *piece_at(at.col + col, at.row) = piece(loaded[step], col);
        }
    }
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

// Loads a whole tile whose source rows are aligned.
__device__ __forceinline__ void load_whole(const Unit* __restrict__ src, Index ld, const Place& tile) {
    Loaded loaded[LOADS];
#pragma unroll
    for (unsigned int step = 0; step < LOADS; step++) {
        const Spot at = spot(step);
        const Unit* from = src + tile.from + at.row * ld + at.col;
#pragma unroll
        for (unsigned int k = 0; k < GROUP; k++) {
            loaded[step].row[k] = *reinterpret_cast<const uint4*>(from);
            from += ld;
        }
    }
    put(loaded);
}

// Loads a tile whose source rows begin anywhere, each vector from the two aligned ones that hold it. Every thread
// loads, and what is not wanted from where it harms nobody: that costs less than asking each time. With NEAR_END no
// vector after `last` is touched; without, there must be none to touch.
template <bool NEAR_END>
__device__ __forceinline__ void load_shifted(const Unit* __restrict__ src, Index ld, const Place& tile, Index last) {
    const uint4* const vectors = reinterpret_cast<const uint4*>(src);
    Loaded loaded[LOADS];
#pragma unroll
    for (unsigned int step = 0; step < LOADS; step++) {
        const Spot at = spot(step);
        Index from = tile.from + at.row * ld + (at.col < tile.cols ? at.col : 0);
#pragma unroll
        for (unsigned int k = 0; k < GROUP; k++) {
            const Index first = from / VECTOR;
            loaded[step].row[k] = vectors[NEAR_END && first > last ? last : first];
            from += ld;
        }
    }
    // After all first vectors the second ones, which are neighbours' first ones mostly, and found in L1.
#pragma unroll
    for (unsigned int step = 0; step < LOADS && VECTOR > 1; step++) {
        const Spot at = spot(step);
        Index from = tile.from + at.row * ld + (at.col < tile.cols ? at.col : 0);
#pragma unroll
        for (unsigned int k = 0; k < GROUP; k++) {
            const Index first = from / VECTOR;
            const uint4 second = vectors[NEAR_END && first >= last ? last : first + 1];
            loaded[step].row[k] = funnel(loaded[step].row[k], second, from % VECTOR);
            from += ld;
        }
    }
    put(loaded);
}

// Loads a tile that may be cut off by the matrix's edges, and whose source rows begin anywhere. The vector that begins
// at `end` would reach beyond the matrix.
__device__ __forceinline__ void load_any(const Unit* __restrict__ src, Index ld, const Place& tile, Index end) {
    // All branches go the same way for all threads.
    if (tile.from + (TILE_ROWS - 1) * ld + TILE_COLS + VECTOR <= end) {
        load_shifted<false>(src, ld, tile, 0);
    } else if (end != 0) {
        load_shifted<true>(src, ld, tile, end / VECTOR - 1);
    }
    // The elements from `end` on, of which a row has fewer than VECTOR, and only its last ones.
    if (tile.from + (tile.rows - 1) * ld + tile.cols > end) {
        __syncthreads();
#pragma unroll 1
        for (unsigned int item = threadIdx.x; item < tile.rows * VECTOR; item += BLOCK_X) {
            const unsigned int row = item / VECTOR;
            const unsigned int col = tile.cols - 1 - item % VECTOR;
            const Index from = tile.from + row * ld + col;
            if (item % VECTOR < tile.cols && from >= end) {
                *element_at(col, row) = src[from];
            }
        }
    }
}

// Stores a whole tile whose destination rows are aligned.
__device__ __forceinline__ void store_whole(Unit* __restrict__ dst, Index ld, const Place& tile) {
    const unsigned int unit = threadIdx.x % UNITS;
    const unsigned int col = threadIdx.x / UNITS;
    Unit* to = dst + tile.to + col * ld + unit * VECTOR;
#pragma unroll
    for (unsigned int step = 0; step < STORES; step++) {
        *reinterpret_cast<uint4*>(to) = *unit_at(col + step * (BLOCK_X / UNITS), unit);
        to += BLOCK_X / UNITS * ld;
    }
}

// Elements that `wrap` replaces at a time, and the words that hold them.
#if WIDTH == 1
constexpr unsigned int PART = 16;
typedef uint4 Words;
#else
constexpr unsigned int PART = 4;
typedef uint2 Words;
#endif

// Replaces, in each column, the elements before the first sector of the destination by as many from below the tile, as
// far as the matrix has them: `below` rows. So a column goes on at its own beginning.
__device__ __forceinline__ void wrap(
    const Unit* __restrict__ src, const Matrices& m, const Place& tile, unsigned int below) {
    // Neighbouring threads take neighbouring columns, each a vector of its own.
#pragma unroll 1
    for (unsigned int item = threadIdx.x; item < TILE_COLS * (SECTOR / VECTOR); item += BLOCK_X) {
        const unsigned int col = item % TILE_COLS;
        const unsigned int unit = item / TILE_COLS;
        const unsigned int head = (0 - (tile.to + col * m.dst_ld)) % SECTOR;
        const unsigned int end = col >= tile.cols ? 0 : head < below ? head : below;
        const unsigned int row = unit * VECTOR;
        if (row >= end) {
            continue;
        }
        const Unit* from = src + tile.from + (TILE_ROWS + row) * m.src_ld + col;
#if WIDTH < 4
        // As many elements at a time as there are registers for.
#pragma unroll 1
        for (unsigned int part = row; part < row + VECTOR; part += PART) {
            unsigned int loaded[PART];
#pragma unroll
            for (unsigned int k = 0; k < PART; k++) {
                loaded[k] = part + k < end ? *from : 0;
                from += m.src_ld;
            }
            Words* const into = reinterpret_cast<Words*>(element_at(col, part));
            Words words = *into;
#pragma unroll
            for (unsigned int k = 0; k < PART; k++) {
                unsigned int& word = reinterpret_cast<unsigned int*>(&words)[k * WIDTH / 4];
                // The word with this element replaced.
                const unsigned int bytes = WIDTH == 2   ? (k % 2 == 0 ? 0x3254 : 0x5410)
                                           : k % 4 == 0 ? 0x3214
                                           : k % 4 == 1 ? 0x3240
                                           : k % 4 == 2 ? 0x3410
                                                        : 0x4210;
                word = part + k < end ? __byte_perm(word, loaded[k], bytes) : word;
            }
            *into = words;
        }
#else
#pragma unroll
        for (unsigned int k = 0; k < VECTOR; k++) {
            if (row + k < end) {
                *element_at(col, row + k) = *from;
            }
            from += m.src_ld;
        }
#endif
    }
}

// Stores a tile that may be cut off by the matrix's edges, and whose destination rows begin anywhere. `left` says how
// many rows there are from the tile's first one to the matrix's end. With `sectors` it stores the sectors that begin in
// it; otherwise, where destination rows are aligned or in one tile from end to end, the vectors inside it. All branches
// outside the loops go the same way for all threads.
__device__ __forceinline__ void store_any(
    const Unit* __restrict__ src, Unit* __restrict__ dst, const Matrices& m, const Place& tile, unsigned int left,
    bool sectors) {
    const unsigned int align = sectors ? SECTOR : VECTOR;

    // The elements before the first sector, or vector.
    if (tile.row == 0) {
#pragma unroll 1
        for (unsigned int item = threadIdx.x; item < tile.cols * SECTOR; item += BLOCK_X) {
            const unsigned int col = item / SECTOR;
            const unsigned int row = item % SECTOR;
            const Index to = tile.to + col * m.dst_ld;
            if (row < ((0 - to) & (align - 1)) && row < tile.rows) {
                dst[to + row] = *element_at(col, row);
            }
        }
    }

    if (sectors && left > TILE_ROWS) {
        const unsigned int below = left - TILE_ROWS;
        if (tile.row == 0) {
            __syncthreads();
        }
        wrap(src, m, tile, below < SECTOR ? below : SECTOR);
        __syncthreads();
    }

    // The vectors from there on, up to the end of the last sector or of the destination row.
    uint4* const vectors = reinterpret_cast<uint4*>(dst);
    const unsigned int unit = threadIdx.x % UNITS;
#pragma unroll
    for (unsigned int step = 0; step < STORES; step++) {
        const unsigned int col = threadIdx.x / UNITS + step * (BLOCK_X / UNITS);
        const Index to = tile.to + col * m.dst_ld;
        const unsigned int head = (0 - to) & (align - 1);
        const unsigned int row = head + unit * VECTOR;
        if (col < tile.cols && row + VECTOR <= left) {
            const unsigned int at = row / VECTOR;
            const uint4 low = *unit_at(col, at % UNITS);
            const uint4 high = head % VECTOR != 0 ? *unit_at(col, (at + 1) % UNITS) : low;
            vectors[(to + row) / VECTOR] = funnel(low, high, head % VECTOR);
        }
    }

    // The elements after these, where the destination row ends.
    if (left < TILE_ROWS + align) {
#pragma unroll 1
        for (unsigned int item = threadIdx.x; item < tile.cols * VECTOR; item += BLOCK_X) {
            const unsigned int col = item / VECTOR;
            const Index to = tile.to + col * m.dst_ld;
            const unsigned int head = (0 - to) & (align - 1);
            const unsigned int tail = (left - head) % VECTOR;
            if (head <= left && left <= TILE_ROWS + head && item % VECTOR < tail) {
                const unsigned int row = left - tail + item % VECTOR;
                dst[to + row] = *element_at(col, row % TILE_ROWS);
            }
        }
    }
}

// The bound keeps a thread to 40 registers for 1536 threads to share a multiprocessor, which are enough but for
// elements of 1 byte: what they need for loads of misaligned rows to be all under way is worth more than threads.
extern "C" __global__ void __launch_bounds__(BLOCK_X, (WIDTH == 1 ? 1024 : 1536) / BLOCK_X) vectorized(
    const Unit* __restrict__ src, Unit* __restrict__ dst, const Matrices m) {
    const Place tile = locate(m);
    const Index below = m.rows - tile.row;
    const unsigned int left = below < 4 * TILE_ROWS ? below : 4 * TILE_ROWS;
    // All branches go the same way for all threads.
    const bool whole = tile.rows == TILE_ROWS && tile.cols == TILE_COLS;
    if (whole && (m.src_ld | m.src_stride) % VECTOR == 0) {
        load_whole(src, m.src_ld, tile);
    } else {
        load_any(src, m.src_ld, tile, (tile.from + (below - 1) * m.src_ld + m.cols - tile.col) / VECTOR * VECTOR);
    }
    __syncthreads();
    const bool aligned = (m.dst_ld | m.dst_stride) % VECTOR == 0;
    if (whole && aligned) {
        store_whole(dst, m.dst_ld, tile);
    } else {
        store_any(src, dst, m, tile, left, !aligned && m.rows > TILE_ROWS);
    }
}
