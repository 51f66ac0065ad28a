// Transposes square matrices in place, wherever rows begin: loads of 16 bytes, stores of words, and elements from shared
// memory.
//
// Moves: a block exchanges two tiles of TILE_ROWS by TILE_COLS elements that mirror each other, through shared memory, one
// after the other; a tile on the diagonal it transposes. 16 bytes are a vector, of VECTOR elements. A word has 4 bytes, and
// PER_WORD elements, or one wider element.
//
// Threads: a row of the tile lies, wherever it begins, in a window of BLOCK_X words, which begins with one of ALIGN
// elements: with a sector where a row takes more than one warp, so that no sector is asked for twice. On the read side
// neighbouring threads load the neighbouring vectors of windows, those of both tiles before one is used. One tile after the
// other, threads put them into shared memory as they are; then thread (x, y) gathers from there, element by element, what
// belongs in word x of rows y, y + BLOCK_Y, and so on of the other tile, and stores it.
//
// Shared memory: rows of the tile one after the other, each as far from the one before as its alignment wants: the pitch is
// the vectors that hold a row and as many elements as rows are apart modulo a vector. So vectors stay aligned. They are put
// along: no conflicts. When elements are gathered, lanes of neighbouring words are PER_WORD rows apart, which is the pitch
// times a word: where the pitch is odd, another bank for each lane. Where it is even, two lanes or four share a bank, but
// no more, for where it is a multiple of 8, there is a gap of one vector after every VECTOR rows.
//
// Launch: blocks of BLOCK_X by BLOCK_Y threads; a one-dimensional grid of one block a pair of tiles, numbered as pairs.cuh
// says, then matrix by matrix.
//
// Bounds: `dst` is aligned to 32 bytes. Vectors at the ends of a tile's rows may also hold elements of other tiles, which
// other blocks exchange at the same time, or gaps: what else they hold is not used. A vector that would reach beyond the end
// of its matrix is not loaded, and its elements are, one by one. Only whole words of the tile are stored as such, and the
// elements at the ends of its rows one by one. `src` is not used; all threads of a block reach the same barriers.

#include "vector.cuh"
// After the elements.
#include "pairs.cuh"

#if WIDTH < 4
typedef unsigned int Word;
#else
typedef Unit Word;
#endif
constexpr unsigned int PER_WORD = sizeof(Word) / WIDTH;
constexpr unsigned int THREADS = BLOCK_X * BLOCK_Y;
// Elements that a window has to spare, and, of these, one of how many it begins with.
constexpr unsigned int SPARE = BLOCK_X * PER_WORD - TILE_COLS;
constexpr unsigned int ALIGN = SPARE + 1 < SECTOR ? VECTOR : SECTOR;
// Vectors of a window, windows that a block loads at a time, and how many times it loads and it stores.
constexpr unsigned int SPAN = BLOCK_X * PER_WORD / VECTOR;
constexpr unsigned int STRIDE = THREADS / SPAN;
constexpr unsigned int LOADS = (TILE_ROWS + STRIDE - 1) / STRIDE;
constexpr unsigned int STORES = (TILE_ROWS + BLOCK_Y - 1) / BLOCK_Y;
// Elements of the vectors that hold a row.
constexpr unsigned int ROOM = (TILE_COLS + 2 * VECTOR - 2) / VECTOR * VECTOR;

static_assert(SPARE + 1 >= VECTOR && BLOCK_X * PER_WORD % VECTOR == 0, "room for a row wherever it begins");
static_assert(PITCH == ROOM + VECTOR - 1 && TILE_ROWS * PITCH % VECTOR == 0, "room for the largest pitch");
static_assert(VECTOR > 1 || PITCH % 2 == 1, "no conflicts");

__shared__ uint4 shared[TILE_ROWS * PITCH / VECTOR];

// How the rows of a tile lie in shared memory, in elements.
struct Rows {
    unsigned int shift; // before the first one
    unsigned int pitch;
    unsigned int gap;
};

__device__ __forceinline__ Rows rows_of(const Matrices& m, const Tile& tile) {
    const unsigned int pitch = ROOM + static_cast<unsigned int>(m.dst_ld) % VECTOR;
    return {static_cast<unsigned int>(tile.begin) % VECTOR, pitch, pitch % 8 == 0 ? VECTOR : 0};
}

// Where a row's first element is.
__device__ __forceinline__ unsigned int position(const Rows& in, unsigned int row) {
    return in.shift + row * in.pitch + row / VECTOR * in.gap;
}

// The column of the first of those elements of a window that are `item` elements from its beginning, where the row begins
// at this index; before the tile, so modulo 2^32.
__device__ __forceinline__ unsigned int column(Index begin, unsigned int item) {
    return item - static_cast<unsigned int>(begin) % ALIGN;
}

// Vectors that a thread has loaded of a tile.
struct Loaded {
    uint4 row[LOADS];
};

// A thread's vector of a row of a tile.
struct Spot {
    unsigned int row;
    unsigned int col; // of its first element; before the tile, so modulo 2^32
    Index at;         // index of that element
    bool wanted;      // whether it has elements of the tile
};

// The same tile, as if nobody knew: what has been computed of it is computed anew instead of being kept in registers.
__device__ __forceinline__ Tile anew(Tile tile) {
    asm volatile("" : "+l"(tile.begin), "+r"(tile.rows), "+r"(tile.cols));
    return tile;
}

// Calls `each` with the number and the place of every vector that a thread takes of a tile.
template <typename Each>
__device__ __forceinline__ void for_vectors(const Tile& tile, Index ld, Each each) {
    const unsigned int thread = threadIdx.y * BLOCK_X + threadIdx.x;
    const unsigned int first = thread / SPAN;
    Index begin = tile.begin + first * ld;
#pragma unroll
    for (unsigned int i = 0; i < LOADS; i++, begin += STRIDE * ld) {
        const unsigned int row = first + i * STRIDE;
        const unsigned int col = column(begin, thread % SPAN * VECTOR);
        const bool wanted = row < tile.rows & col + (VECTOR - 1) < tile.cols + (VECTOR - 1);
        each(i, Spot{row, col, begin + static_cast<int>(col), wanted});
    }
}

// Loads the vectors of a tile of a matrix with this end. No condition is a branch, so that no load waits for another.
__device__ __forceinline__ void load(Loaded& loaded, const Unit* dst, Index ld, const Tile& tile, Index end) {
    for_vectors(tile, ld, [&](unsigned int i, const Spot& spot) {
        if (spot.wanted & spot.at + VECTOR <= end) {
            loaded.row[i] = *reinterpret_cast<const uint4*>(dst + spot.at);
        }
    });
}

// Puts them into shared memory.
__device__ __forceinline__ void put(const Loaded& loaded, Index ld, const Tile& tile, const Rows& in) {
    for_vectors(anew(tile), ld, [&](unsigned int i, const Spot& spot) {
        if (spot.wanted) {
            shared[(position(in, spot.row) + spot.col) / VECTOR] = loaded.row[i];
        }
    });
}

// Puts there the elements of the vector that has not been loaded, which may be of several rows.
__device__ __forceinline__ void put_rest(const Unit* dst, Index ld, const Tile& tile, const Rows& in, Index end) {
    const Index whole = end / VECTOR * VECTOR;
    // The same way for all threads.
    if (VECTOR == 1 || tile.begin + (tile.rows - 1) * ld + tile.cols <= whole) {
        return;
    }
    __syncthreads();
#pragma unroll 1
    for (unsigned int item = threadIdx.y * BLOCK_X + threadIdx.x; item < tile.rows * VECTOR; item += THREADS) {
        const unsigned int row = item / VECTOR;
        const unsigned int col = tile.cols - 1 - item % VECTOR;
        const Index from = tile.begin + row * ld + col;
        if (item % VECTOR < tile.cols && from >= whole) {
            reinterpret_cast<Unit*>(shared)[position(in, row) + col] = dst[from];
        }
    }
}

// The word of these elements.
__device__ __forceinline__ Word join(const Unit (&units)[PER_WORD]) {
#if WIDTH == 1
    return __byte_perm(__byte_perm(units[0], units[1], 0x0040), __byte_perm(units[2], units[3], 0x0040), 0x5410);
#elif WIDTH == 2
    return __byte_perm(units[0], units[1], 0x5410);
#else
    return units[0];
#endif
}

// Stores the whole words of a tile, where shared memory has the mirrored one, with gaps or without.
template <bool GAPS>
__device__ __forceinline__ void store_words(Unit* dst, Index ld, const Tile& tile, const Rows& in) {
    const unsigned int whole = tile.cols < PER_WORD ? 0 : tile.cols - PER_WORD + 1;
    Index begin = tile.begin + threadIdx.y * ld;
#pragma unroll 4
    for (unsigned int i = 0; i < STORES; i++, begin += BLOCK_Y * ld) {
        const unsigned int row = threadIdx.y + i * BLOCK_Y;
        const unsigned int col = column(begin, threadIdx.x * PER_WORD);
        const bool wanted = row < tile.rows & col < whole;
        // What is not wanted is gathered from elsewhere, so that nothing depends on a branch.
        const unsigned int first = wanted ? col : 0;
        const Unit* from = reinterpret_cast<const Unit*>(shared) + position(in, first) + (wanted ? row : 0);
        Unit units[PER_WORD];
#pragma unroll
        for (unsigned int k = 0; k < PER_WORD; k++) {
            from += GAPS && k > 0 && first % VECTOR + k == VECTOR ? in.gap : 0;
            units[k] = *from;
            from += in.pitch;
        }
        if (wanted) {
            *reinterpret_cast<Word*>(dst + begin + static_cast<int>(col)) = join(units);
        }
    }
}

// Stores the elements before a row's first whole word and after its last one, one by one.
__device__ __forceinline__ void store_edges(Unit* dst, Index ld, const Tile& tile, const Rows& in) {
    const unsigned int thread = threadIdx.y * BLOCK_X + threadIdx.x;
    const unsigned int item = thread % PER_WORD;
    const bool last = thread / PER_WORD % 2 != 0;
#pragma unroll 1
    for (unsigned int row = thread / (2 * PER_WORD); row < tile.rows; row += THREADS / (2 * PER_WORD)) {
        const Index begin = tile.begin + row * ld;
        const unsigned int head = (0 - static_cast<unsigned int>(begin)) % PER_WORD;
        const unsigned int tail = (static_cast<unsigned int>(begin) + tile.cols) % PER_WORD;
        const unsigned int col = last ? tile.cols - 1 - item : item;
        // Of a row within a word all comes before its first whole one.
        if (item < tile.cols && (last ? item < tail && col >= head : item < head)) {
            dst[begin + col] = reinterpret_cast<const Unit*>(shared)[position(in, col) + row];
        }
    }
}

__device__ __forceinline__ void store_tile(Unit* dst, Index ld, const Tile& tile, const Rows& in) {
    // The same way for all threads.
    if (PER_WORD > 1 && in.gap != 0) {
        store_words<true>(dst, ld, tile, in);
    } else {
        store_words<false>(dst, ld, tile, in);
    }
    if (PER_WORD > 1) {
        store_edges(dst, ld, tile, in);
    }
}

// The bound keeps a thread to 64 registers, for 1024 threads to share a multiprocessor.
extern "C" __global__ void __launch_bounds__(THREADS, 1024 / THREADS) swap(const Unit*, Unit* dst, const Matrices m) {
    const Pair pair = pair_of(m);
    const Tile upper = tile_at(m, pair, pair.low, pair.high);
    const Tile lower = tile_at(m, pair, pair.high, pair.low);
    const Index end = pair.begin + (m.rows - 1) * m.dst_ld + m.cols;
    Loaded first;
    Loaded second;
    load(first, dst, m.dst_ld, lower, end);
    // On the diagonal the same once more, for without a branch no load waits for another.
    load(second, dst, m.dst_ld, upper, end);
    const Rows of_lower = rows_of(m, lower);
    put(first, m.dst_ld, lower, of_lower);
    put_rest(dst, m.dst_ld, lower, of_lower, end);
    __syncthreads();
    store_tile(dst, m.dst_ld, upper, of_lower);
    // The same way for all threads.
    if (pair.low != pair.high) {
        __syncthreads();
        // All of it has been loaded: no tile above the diagonal is at the end of the matrix.
        const Rows of_upper = rows_of(m, upper);
        put(second, m.dst_ld, upper, of_upper);
        __syncthreads();
        store_tile(dst, m.dst_ld, lower, of_upper);
    }
}
