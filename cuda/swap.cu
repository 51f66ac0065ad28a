// Transposes square matrices in place, wherever rows begin: loads of 16 bytes, stores of words, and elements from shared
// memory.
//
// Moves: a block exchanges two tiles of TILE_ROWS by TILE_COLS elements that mirror each other, through shared memory, one
// after the other; a tile on the diagonal it transposes. 16 bytes are a vector, of VECTOR elements. A word has 4 bytes, and
// PER_WORD elements, or one wider element. Columns are counted from where a row's first word begins, and rows, for the
// mirror image, likewise; so a tile has words as a whole, but for those of HALO rows at its top and at its bottom, some
// elements of which are counted to the tile and some to the next one.
//
// Threads: a row's words lie, wherever they begin, in a window of BLOCK_X words, which begins with one of ALIGN elements:
// with a sector where a row takes more than one warp, so that no sector is asked for twice. On the read side neighbouring
// threads load the neighbouring vectors of windows, those of both tiles before one is used. One tile after the other, threads
// put them into shared memory as they are; then thread (x, y) gathers from there, element by element, what belongs in word
// x of rows y, y + BLOCK_Y, and so on of the other tile, and stores it.
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
// of its matrix is not loaded, and its elements are, one by one. What is no whole word of the tile's own is stored element
// by element. `src` is not used; all threads of a block reach the same barriers.

#include "vector.cuh"

#include "pairs.cuh"

#if WIDTH < 4
typedef unsigned int Word;
#else
typedef Unit Word;
#endif
constexpr unsigned int PER_WORD = sizeof(Word) / WIDTH;
constexpr unsigned int THREADS = BLOCK_X * BLOCK_Y;
// Columns of pairs that are taken together.
constexpr unsigned int STRIP = 8;
// Elements by which a row's words may begin earlier than the row, and rows and columns of a tile with them.
constexpr unsigned int HALO = PER_WORD - 1;
constexpr unsigned int SIDE = TILE_ROWS + HALO;
// Elements of a row's words at the most: where the matrix ends, the tile has all that are left.
constexpr unsigned int LONGEST = TILE_COLS + (HALO > 0 ? PER_WORD : 0);
// Elements of which a window begins with one.
constexpr unsigned int ALIGN = BLOCK_X * PER_WORD < LONGEST + SECTOR - PER_WORD ? VECTOR : SECTOR;
// Vectors of a window, windows that a block loads at a time, and how many times it loads.
constexpr unsigned int SPAN = BLOCK_X * PER_WORD / VECTOR;
constexpr unsigned int STRIDE = THREADS / SPAN;
constexpr unsigned int LOADS = (SIDE + STRIDE - 1) / STRIDE;
// Turns in which a thread stores: BLOCK_Y times so many rows on, a row begins at the same place of ALIGN elements, and all else
// that depends on its beginning is the same.
constexpr unsigned int TURNS = ALIGN > BLOCK_Y ? ALIGN / BLOCK_Y : 1;
// Elements of the vectors that hold a row's words.
constexpr unsigned int ROOM = (LONGEST + 2 * VECTOR - PER_WORD - 1) / VECTOR * VECTOR;

static_assert(TILE_COLS % PER_WORD == 0 && BLOCK_X * PER_WORD % VECTOR == 0, "whole words, and whole vectors");
static_assert(BLOCK_X * PER_WORD >= LONGEST + VECTOR - PER_WORD, "room for a row wherever it begins");
static_assert(TILE_ROWS * PITCH % VECTOR == 0 && TILE_ROWS * PITCH >= SIDE * (ROOM + VECTOR - 1) + HALO,
              "room for the largest pitch");
static_assert(STRIDE % ALIGN == 0 && TURNS * BLOCK_Y % ALIGN == 0, "a thread's rows have the same columns");
static_assert(VECTOR > 1 || ROOM % 2 == 1, "no conflicts");

__shared__ uint4 shared[TILE_ROWS * PITCH / VECTOR];

// A tile in its matrix, with the HALO rows and columns in which its first words may begin.
struct Part {
    Index begin;               // index of the first element, which may be before the matrix, modulo 2^64
    unsigned int rows;         // from there on to the end of the matrix, at most SIDE
    unsigned int cols;         // likewise
    unsigned int missing_rows; // of the first ones, those before the matrix
    unsigned int missing_cols;
    unsigned int reach_rows; // elements of the tile's words in a column, counted as the mirrored tile's in a row
    unsigned int reach_cols; // and in a row
};

__device__ __forceinline__ Part part_at(const Matrices& m, const Pair& pair, unsigned int down, unsigned int across) {
    const Tile tile = tile_at(m, pair, down, across);
    return {
        tile.begin - HALO * (m.dst_ld + 1),
        tile.rows + HALO,
        tile.cols + HALO,
        down == 0 ? HALO : 0,
        across == 0 ? HALO : 0,
        (down + 1) * (Index)TILE_ROWS < m.rows ? TILE_ROWS : LONGEST,
        (across + 1) * (Index)TILE_COLS < m.cols ? TILE_COLS : LONGEST,
    };
}

// Column of the first of the tile's words in a row that begins at this index.
__device__ __forceinline__ unsigned int first_word(unsigned int begin) {
    return (0 - begin) % PER_WORD;
}

// Column of what lies `item` elements from the beginning of the window of such a row; before the tile, modulo 2^32.
__device__ __forceinline__ unsigned int column(unsigned int begin, unsigned int item) {
    const unsigned int first = first_word(begin);
    return first + item - (begin + first) % ALIGN;
}

// How the rows of a tile lie in shared memory, in elements.
struct Rows {
    unsigned int shift; // before the first one
    unsigned int pitch;
    unsigned int gap;
};

__device__ __forceinline__ Rows rows_of(const Matrices& m, const Part& tile) {
    const unsigned int pitch = ROOM + static_cast<unsigned int>(m.dst_ld) % VECTOR;
    return {static_cast<unsigned int>(tile.begin) % VECTOR, pitch, pitch % 8 == 0 ? VECTOR : 0};
}

// Where a row's first element is.
__device__ __forceinline__ unsigned int position(const Rows& in, unsigned int row) {
    return in.shift + row * in.pitch + row / VECTOR * in.gap;
}

// Vectors that a thread has loaded of a tile.
struct Loaded {
    uint4 row[LOADS];
};

// A thread's vector of a row of a tile.
struct Spot {
    unsigned int row;
    unsigned int col; // of its first element; before the tile, modulo 2^32
    Index at;         // index of that element
    bool wanted;      // whether it has elements of the tile
};

// The same tile, as if nobody knew: what has been computed of it is computed anew instead of being kept in registers.
__device__ __forceinline__ Part anew(Part tile) {
    asm volatile("" : "+l"(tile.begin), "+r"(tile.rows), "+r"(tile.cols));
    return tile;
}

// Calls `each` with the number and the place of every vector that a thread takes of a tile.
template <typename Each>
__device__ __forceinline__ void for_vectors(const Part& tile, Index ld, Each each) {
    const unsigned int thread = threadIdx.y * BLOCK_X + threadIdx.x;
    const unsigned int first = thread / SPAN;
    const Index begin = tile.begin + first * ld;
    const unsigned int low = static_cast<unsigned int>(begin);
    const unsigned int col = column(low, thread % SPAN * VECTOR);
    const unsigned int within = col - first_word(low) + (VECTOR - 1);
    const bool in_row = within < tile.reach_cols + VECTOR - 1 & static_cast<int>(col) < static_cast<int>(tile.cols);
    Index at = begin + static_cast<int>(col);
#pragma unroll
    for (unsigned int i = 0; i < LOADS; i++, at += STRIDE * ld) {
        const unsigned int row = first + i * STRIDE;
        each(i, Spot{row, col, at, in_row & row - tile.missing_rows < tile.rows - tile.missing_rows});
    }
}

// Loads the vectors of a tile, but for one that would reach beyond the end of the matrix. No condition is a branch, so that
// no load waits for another.
__device__ __forceinline__ void load(Loaded& loaded, const Unit* dst, Index ld, const Part& tile, Index end) {
    for_vectors(tile, ld, [&](unsigned int i, const Spot& spot) {
        if (spot.wanted & spot.at + VECTOR <= end) {
            loaded.row[i] = *reinterpret_cast<const uint4*>(dst + spot.at);
        }
    });
}

// Puts them into shared memory.
__device__ __forceinline__ void put(const Loaded& loaded, Index ld, const Part& tile, const Rows& in) {
    for_vectors(anew(tile), ld, [&](unsigned int i, const Spot& spot) {
        if (spot.wanted) {
            shared[(position(in, spot.row) + spot.col) / VECTOR] = loaded.row[i];
        }
    });
}

// Puts there the elements of the vector that has not been loaded, which may be of several rows.
__device__ __forceinline__ void put_rest(const Unit* dst, Index ld, const Part& tile, const Rows& in, Index end) {
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
        const Index begin = tile.begin + row * ld;
        const unsigned int first = max(first_word(static_cast<unsigned int>(begin)), tile.missing_cols);
        if (row >= tile.missing_rows && col - first < tile.cols - first && begin + col >= whole) {
            reinterpret_cast<Unit*>(shared)[position(in, row) + col] = dst[begin + col];
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

// Stores the words of a tile that are all its own, where shared memory has the mirrored one, with gaps or without.
template <bool GAPS>
__device__ __forceinline__ void store_words(Unit* dst, Index ld, const Part& tile, const Rows& in) {
    const unsigned int rows = tile.rows < tile.reach_rows ? tile.rows : tile.reach_rows;
    const unsigned int cols = tile.cols - tile.missing_cols;
    const unsigned int whole = tile.cols < tile.missing_cols + PER_WORD ? 0 : cols - HALO;
#pragma unroll
    for (unsigned int turn = 0; turn < TURNS; turn++) {
        const unsigned int top = HALO + threadIdx.y + turn * BLOCK_Y;
        const Index begin = tile.begin + top * ld;
        const unsigned int col = column(static_cast<unsigned int>(begin), threadIdx.x * PER_WORD);
        const bool in_row = col - tile.missing_cols < whole;
        // What is not wanted is gathered from elsewhere, so that nothing depends on a branch.
        const unsigned int first = in_row ? col : 0;
        const Unit* from[PER_WORD];
        from[0] = reinterpret_cast<const Unit*>(shared) + position(in, first);
#pragma unroll
        for (unsigned int k = 1; k < PER_WORD; k++) {
            from[k] = from[k - 1] + in.pitch + (GAPS && first % VECTOR + k == VECTOR ? in.gap : 0);
        }
        Unit* to = dst + begin + static_cast<int>(col);
#pragma unroll
        for (unsigned int row = 0; row < TILE_ROWS - turn * BLOCK_Y; row += TURNS * BLOCK_Y, to += TURNS * BLOCK_Y * ld) {
            const bool wanted = in_row & top + row < rows;
            const unsigned int there = TILE_ROWS % BLOCK_Y == 0 || wanted ? top + row : 0;
            Unit units[PER_WORD];
#pragma unroll
            for (unsigned int k = 0; k < PER_WORD; k++) {
                units[k] = from[k][there];
            }
            if (wanted) {
                *reinterpret_cast<Word*>(to) = join(units);
            }
        }
    }
}

// Stores an element.
__device__ __forceinline__ void store_element(
    Unit* dst, Index ld, const Part& tile, const Rows& in, unsigned int row, unsigned int col) {
    dst[tile.begin + row * ld + col] = reinterpret_cast<const Unit*>(shared)[position(in, col) + row];
}

// Stores the tile's elements in those rows that it has only parts of.
__device__ __forceinline__ void store_border(Unit* dst, Index ld, const Part& tile, const Rows& in) {
    const unsigned int step = static_cast<unsigned int>(ld);
    // Where the matrix ends, the last rows are whole.
    const unsigned int lines = tile.reach_rows == TILE_ROWS ? 2 * HALO : HALO;
#pragma unroll 1
    for (unsigned int item = threadIdx.y * BLOCK_X + threadIdx.x; item < lines * SIDE; item += THREADS) {
        const unsigned int line = item / SIDE;
        const unsigned int row = line < HALO ? line : line - HALO + TILE_ROWS;
        const unsigned int col = item % SIDE;
        const bool exists = row - tile.missing_rows < tile.rows - tile.missing_rows &
                            col - tile.missing_cols < tile.cols - tile.missing_cols;
        // It is in one of the tile's words, and its mirror image in one of the mirrored tile's.
        const unsigned int first = first_word(static_cast<unsigned int>(tile.begin) + row * step);
        const unsigned int mirrored = first_word(in.shift + col * step);
        if (exists & col - first < tile.reach_cols & row - mirrored < tile.reach_rows) {
            store_element(dst, ld, tile, in, row, col);
        }
    }
}

// Stores the elements before a row's first whole word, where the matrix begins, and after its last one, where it ends.
__device__ __forceinline__ void store_edges(Unit* dst, Index ld, const Part& tile, const Rows& in) {
    const unsigned int thread = threadIdx.y * BLOCK_X + threadIdx.x;
    const unsigned int item = thread % PER_WORD;
    const bool at_end = thread / PER_WORD % 2 != 0;
    const unsigned int rows = tile.rows < tile.reach_rows ? tile.rows : tile.reach_rows;
#pragma unroll 1
    for (unsigned int row = HALO + thread / (2 * PER_WORD); row < rows; row += THREADS / (2 * PER_WORD)) {
        const unsigned int begin = static_cast<unsigned int>(tile.begin) + row * static_cast<unsigned int>(ld);
        const unsigned int head = tile.missing_cols + (0 - (begin + tile.missing_cols)) % PER_WORD;
        const unsigned int tail = (begin + tile.cols) % PER_WORD;
        const unsigned int col = at_end ? tile.cols - 1 - item : tile.missing_cols + item;
        // Of a row within a word all comes before its first whole one.
        const bool first = tile.missing_cols != 0 & col < head & col < tile.cols;
        const bool last =
            tile.reach_cols != TILE_COLS & item < tail & static_cast<int>(col) >= static_cast<int>(head);
        if (at_end ? last : first) {
            store_element(dst, ld, tile, in, row, col);
        }
    }
}

__device__ __forceinline__ void store_tile(Unit* dst, Index ld, const Part& tile, const Rows& in) {
    // Each of these goes the same way for all threads.
    if (PER_WORD > 1 && in.gap != 0) {
        store_words<true>(dst, ld, tile, in);
    } else {
        store_words<false>(dst, ld, tile, in);
    }
    if (PER_WORD > 1) {
        store_border(dst, ld, tile, in);
        if (tile.missing_cols != 0 || tile.reach_cols != TILE_COLS) {
            store_edges(dst, ld, tile, in);
        }
    }
}

// The bound keeps a thread to 64 registers, for 1024 threads to share a multiprocessor.
extern "C" __global__ void __launch_bounds__(THREADS, 1024 / THREADS) swap(const Unit*, Unit* dst, const Matrices m) {
    const Pair pair = pair_of<STRIP>(m);
    const Part upper = part_at(m, pair, pair.low, pair.high);
    const Part lower = part_at(m, pair, pair.high, pair.low);
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
