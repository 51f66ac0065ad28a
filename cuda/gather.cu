// Transposes matrices whose rows begin anywhere, by accesses of 16 bytes to global memory and of elements to shared
// memory.
//
// Moves: a block moves a tile of TILE_ROWS by TILE_COLS elements of one matrix, through shared memory. 16 bytes are a
// vector, of VECTOR elements. SPAN aligned vectors hold a row of the tile wherever it begins.
//
// Threads: on the read side thread t loads vector t % SPAN of row t / SPAN and of every STRIDE-th row from there on, so
// a warp reads pieces of 128 bytes or more of source rows. It stores them to shared memory as they are. On the write
// side a thread gathers the elements of one vector of the destination from there, one by one, and stores it. Of a
// warp's lanes, 8 take neighbouring vectors of a destination row, and 4 take other rows, which are the tile's columns.
//
// Shared memory: rows of the tile one after the other, each as far from the one before as its alignment wants: the
// pitch is SPAN * VECTOR elements and as many as source rows are apart modulo a vector. So vectors stay aligned.
// Vectors are stored along: no conflicts. When elements are loaded, lanes of neighbouring vectors are VECTOR rows apart,
// which is the pitch times 16 bytes: where the pitch is odd, an odd number of times around 4 of the 32 banks, so 8 lanes
// take 8 different fours of banks. Where it is even, a gap of one vector after every VECTOR rows makes it odd. The 4
// columns of a warp take the 4 banks of a four: `Spread` says how. Elements of up to 4 bytes have no conflicts, nor have
// those of 16; those of 8 have some where leading dimensions are odd.
//
// Launch: blocks of BLOCK_X threads; a one-dimensional grid of one block a tile, numbered as the host says, then matrix
// by matrix.
//
// Bounds: `src` is aligned to 16 bytes, `dst` to 32. Vectors that hold a part of the tile may also hold elements of its
// neighbours, but none that lies outside the matrices: a vector that would reach beyond its matrix is not loaded, and
// its elements are, one by one. A sector of the destination, 32 bytes, belongs to the tile that has its first element;
// for what it has of the tile below, a block loads SECTOR rows more. Only at the ends of destination rows, which share
// a sector with the next row, elements are stored one by one. Each element is stored once. All threads of a block reach
// the same barriers.

#include "vector.cuh"

// Vectors of a row of the tile.
constexpr unsigned int SPAN = (TILE_COLS + 2 * VECTOR - 2) / VECTOR;
// Rows that are loaded at the most, at a time, and how many times.
constexpr unsigned int MOST_ROWS = TILE_ROWS + SECTOR;
constexpr unsigned int STRIDE = BLOCK_X / SPAN;
constexpr unsigned int LOADS = (MOST_ROWS + STRIDE - 1) / STRIDE;
// Vectors along a destination row of the tile, destination rows at a time, and how many times.
constexpr unsigned int UNITS = TILE_ROWS / VECTOR;
constexpr unsigned int STEP = BLOCK_X / UNITS;
constexpr unsigned int STORES = (TILE_COLS + STEP - 1) / STEP;

static_assert(BLOCK_Y == 1 && BLOCK_X % SPAN == 0 && BLOCK_X % UNITS == 0, "whole rows at a time");
static_assert(UNITS % 8 == 0 && STEP % 4 == 0, "whole warps");
static_assert(BLOCK_X % SECTOR == 0, "a thread keeps its place in the ends of rows");
static_assert(WIDTH >= 4 || STEP * STORES % (16 / WIDTH) == 0, "whole fours of columns that lie apart");
static_assert(PITCH % VECTOR == 0 && TILE_ROWS * PITCH >= MOST_ROWS * (SPAN * VECTOR + VECTOR) + 2 * VECTOR,
              "room for the largest pitch and its gaps");

__shared__ uint4 shared[TILE_ROWS * PITCH / VECTOR];

// How the rows of the tile lie in shared memory.
struct Rows {
    unsigned int shift; // elements before the first one
    unsigned int pitch;
    unsigned int gap;
};

// Where a row's first element is.
__device__ __forceinline__ unsigned int position(const Rows& in, unsigned int row) {
    return in.shift + row * in.pitch + row / VECTOR * in.gap;
}

// Loads `taken` rows of the tile. The vector that begins at `end` would reach beyond the matrix.
__device__ __forceinline__ void load(
    const Unit* __restrict__ src, Index ld, const Place& tile, const Rows& in, unsigned int taken, Index end) {
    const uint4* const vectors = reinterpret_cast<const uint4*>(src);
    const unsigned int across = threadIdx.x % SPAN;
    const unsigned int first = threadIdx.x / SPAN;
    // Far from the end of the matrix, nothing needs to be asked. The same way for all threads.
    const bool inside = tile.from + MOST_ROWS * ld + SPAN * VECTOR <= end;
    uint4 loaded[LOADS];
#pragma unroll
    for (unsigned int i = 0; i < LOADS; i++) {
        const unsigned int row = first + i * STRIDE;
        const Index at = (tile.from + row * ld) / VECTOR + across;
        if (inside ? i < TILE_ROWS / STRIDE || row < taken : row < taken && at < end / VECTOR) {
            loaded[i] = vectors[at];
        }
    }
#pragma unroll
    for (unsigned int i = 0; i < LOADS; i++) {
        const unsigned int row = first + i * STRIDE;
        if (inside && i < TILE_ROWS / STRIDE || row < taken) {
            shared[position(in, row) / VECTOR + across] = loaded[i];
        }
    }
    // The elements from `end` on, of which a row has fewer than VECTOR, and only its last ones.
    if (tile.from + (taken - 1) * ld + tile.cols > end) {
        __syncthreads();
#pragma unroll 1
        for (unsigned int item = threadIdx.x; item < taken * VECTOR; item += BLOCK_X) {
            const unsigned int row = item / VECTOR;
            const unsigned int col = tile.cols - 1 - item % VECTOR;
            const Index from = tile.from + row * ld + col;
            if (item % VECTOR < tile.cols && from >= end) {
                reinterpret_cast<Unit*>(shared)[position(in, row) + col] = src[from];
            }
        }
    }
}

// Elements of a word of shared memory.
constexpr unsigned int PER_WORD = WIDTH < 4 ? 4 / WIDTH : 1;

// A vector whose words are turned by so many places, so that they are in theirs.
__device__ __forceinline__ uint4 turned(uint4 v, unsigned int turn) {
    v = turn % 2 != 0 ? make_uint4(v.w, v.x, v.y, v.z) : v;
    return turn / 2 != 0 ? make_uint4(v.z, v.w, v.x, v.y) : v;
}

// How the four columns of a warp come to different words of a vector.
//
// One column further on, vectors begin `dst_ld` rows earlier modulo a sector, and the tile has their elements one element
// further on less so many times `src_ld`, modulo a vector: at 1 - src_ld * dst_ld. That decides; tried for all leading
// dimensions modulo a vector and a sector.
struct Spread {
    unsigned int log; // from one of the columns to the next, to base 2
    bool turned;      // whether each begins with another word of its vectors, for they are alike modulo one
};

__device__ __forceinline__ Spread spread_of(const Matrices& m) {
    const unsigned int product = static_cast<unsigned int>(m.src_ld) * static_cast<unsigned int>(m.dst_ld);
    if (product % 2 == 0) {
        return {PER_WORD / 2, false};
    }
    return {PER_WORD == 4 && product % 4 == 3, WIDTH <= 4 && product % (2 * PER_WORD) == 1};
}

// The column of a slot: of each four slots in turn the columns lie so far apart.
__device__ __forceinline__ unsigned int col_of(unsigned int slot, unsigned int log) {
    const unsigned int four = slot / 4;
    return ((four >> log) * 4 + slot % 4 << log) + (four & ((1u << log) - 1));
}

// Stores the tile's vectors. `left` says how many rows there are from the tile's first one to the matrix's end, or more
// than the tile has; a destination row's first vector begins at the first of `align` elements. Between a vector's
// elements there may be a gap before every EACH-th one. With TURNED there is none, and each of the warp's four columns
// begins with another word of a vector.
template <unsigned int EACH, bool TURNED>
__device__ __forceinline__ void store_vectors(
    Unit* __restrict__ dst, Index ld, const Place& tile, const Rows& in, unsigned int left, unsigned int align,
    unsigned int log) {
    const unsigned int lane = threadIdx.x % 32;
    const unsigned int warp = threadIdx.x / 32;
    const unsigned int unit = lane % 8 + warp % (UNITS / 8) * 8;
    const unsigned int turn = TURNED ? lane / 8 : 0;
#pragma unroll 1
    for (unsigned int i = 0; i < STORES; i++) {
        const unsigned int slot = lane / 8 + warp / (UNITS / 8) * 4 + i * STEP;
        const unsigned int col = PER_WORD > 1 ? col_of(slot, log) : slot;
        Unit* const to = dst + tile.to + col * ld;
        const unsigned int head = (0 - (tile.to + col * ld)) & (align - 1);
        const unsigned int row = head + unit * VECTOR;
        if (col < tile.cols && row + VECTOR <= left) {
            const Unit* from =
                reinterpret_cast<const Unit*>(shared) + position(in, row) + turn * PER_WORD * in.pitch + col;
            // Where the next VECTOR rows begin.
            const unsigned int gap = VECTOR - head % VECTOR;
            Unit units[VECTOR];
#pragma unroll
            for (unsigned int k = 0; k < VECTOR; k++) {
                if (k > 0 && k % EACH == 0) {
                    from += k == gap ? in.gap : 0;
                }
                // After the last word comes the first one.
                if (TURNED && k > 0 && k % PER_WORD == 0) {
                    from -= k == (4 - turn) * PER_WORD ? VECTOR * in.pitch : 0;
                }
                units[k] = *from;
                from += in.pitch;
            }
            store(to + row, turned(pack(units), turn));
        }
    }
}

// The bound keeps a thread to 48 registers for 1280 threads to share a multiprocessor. For wider elements the compiler
// finds a better measure itself.
#if WIDTH <= 4
#define BOUNDS __launch_bounds__(BLOCK_X, 1280 / BLOCK_X)
#else
#define BOUNDS __launch_bounds__(BLOCK_X)
#endif
extern "C" __global__ void BOUNDS gather(
    const Unit* __restrict__ src, Unit* __restrict__ dst, const Matrices m) {
    const Place tile = locate(m);
    const Index below = m.rows - tile.row;
    const unsigned int left = below < 2 * MOST_ROWS ? below : 2 * MOST_ROWS;
    const unsigned int pitch = SPAN * VECTOR + static_cast<unsigned int>(m.src_ld) % VECTOR;
    const Rows in = {static_cast<unsigned int>(tile.from) % VECTOR, pitch, pitch % 2 == 0 ? VECTOR : 0};
    // Where destination rows are aligned, a tile has all that it stores.
    const unsigned int align = (m.dst_ld | m.dst_stride | m.dst_first) % SECTOR == 0 ? 1 : SECTOR;
    const unsigned int wanted = align == 1 ? TILE_ROWS : MOST_ROWS;
    const unsigned int taken = left < wanted ? left : wanted;
    load(src, m.src_ld, tile, in, taken, (tile.from + (below - 1) * m.src_ld + m.cols - tile.col) / VECTOR * VECTOR);
    __syncthreads();
    // The same way for all threads.
    const Spread spread = spread_of(m);
    if (WIDTH <= 4 && spread.turned) {
        store_vectors<VECTOR, WIDTH <= 4>(dst, m.dst_ld, tile, in, left, align, spread.log);
    } else if (in.gap == 0 || align == 1) {
        store_vectors<VECTOR, false>(dst, m.dst_ld, tile, in, left, align, spread.log);
    } else if ((m.dst_ld | m.dst_stride | m.dst_first) % 4 == 0) {
        store_vectors<4, false>(dst, m.dst_ld, tile, in, left, align, spread.log);
    } else {
        store_vectors<1, false>(dst, m.dst_ld, tile, in, left, align, spread.log);
    }
    const auto element = [&](unsigned int col, unsigned int row) {
        return reinterpret_cast<const Unit*>(shared)[position(in, row) + col];
    };
    store_ends(dst, m.dst_ld, tile, left, align, element, element);
}
