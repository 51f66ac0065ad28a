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

#include "exchange.cuh"

static_assert(BLOCK_X % SECTOR == 0, "a thread keeps its place in the ends of rows");

// The piece whose first `count` elements, of GROUP at the most, are those of `below`.
__device__ __forceinline__ Piece merge(const Piece& own, const Piece& below, int count) {
#if WIDTH < 4
    const int bits = 8 * WIDTH * (count < 0 ? 0 : count > static_cast<int>(GROUP) ? GROUP : count);
    const unsigned int mask = static_cast<unsigned int>((1ull << bits) - 1);
    return (own & ~mask) | (below & mask);
#elif WIDTH == 4
    return make_uint4(
        count > 0 ? below.x : own.x, count > 1 ? below.y : own.y, count > 2 ? below.z : own.z,
        count > 3 ? below.w : own.w);
#elif WIDTH == 8
    return make_uint4(
        count > 0 ? below.x : own.x, count > 0 ? below.y : own.y, count > 1 ? below.z : own.z,
        count > 1 ? below.w : own.w);
#else
    return count > 0 ? below : own;
#endif
}

// Loads a tile and puts it into shared memory: all loads before the first use of one, for the compiler moves none
// forward. With SHIFTED source rows begin anywhere, and a vector comes from the two aligned ones that hold it; every
// thread loads, and what is not wanted from where it harms nobody: that costs less than asking each time. With NEAR_END
// no vector after `last` is touched; without, there must be none to touch. With BELOW, elements before the first sector
// of a destination row are replaced by those of the tile below, as in `wrap`.
template <bool SHIFTED, bool NEAR_END, bool BELOW>
__device__ __forceinline__ void load(
    const Unit* __restrict__ src, const Matrices& m, const Place& tile, Index last) {
    const uint4* const vectors = reinterpret_cast<const uint4*>(src);
    constexpr unsigned int ALL = LOADS + (BELOW ? 1 : 0);
    const auto start = [&](unsigned int step) {
        const Spot at = spot(step < LOADS ? step : 0);
        const unsigned int row = at.row + (step < LOADS ? 0 : TILE_ROWS);
        return tile.from + row * m.src_ld + (!SHIFTED || at.col < tile.cols ? at.col : 0);
    };
    Loaded loaded[ALL];
#pragma unroll
    for (unsigned int step = 0; step < ALL; step++) {
        Index from = start(step);
#pragma unroll
        for (unsigned int k = 0; k < GROUP; k++) {
            const Index at = from / VECTOR;
            loaded[step].row[k] = vectors[NEAR_END && at > last ? last : at];
            from += m.src_ld;
        }
    }
    // After all first vectors the second ones, which are neighbours' first ones mostly, and found in L1.
#pragma unroll
    for (unsigned int step = 0; step < ALL && SHIFTED && VECTOR > 1; step++) {
        Index from = start(step);
#pragma unroll
        for (unsigned int k = 0; k < GROUP; k++) {
            const Index at = from / VECTOR;
            const uint4 second = vectors[NEAR_END && at >= last ? last : at + 1];
            loaded[step].row[k] = funnel(loaded[step].row[k], second, from % VECTOR);
            from += m.src_ld;
        }
    }
#pragma unroll
    for (unsigned int step = 0; step < LOADS; step++) {
        const Spot at = spot(step);
#pragma unroll
        for (unsigned int i = 0; i < VECTOR; i++) {
            Piece* const into = piece_at(at.col + i, at.row);
            Piece own = piece(loaded[step], i);
            if (BELOW && step == 0) {
                const unsigned int head = head_of(tile.to + (at.col + i) * m.dst_ld);
                own = merge(own, piece(loaded[LOADS], i), static_cast<int>(head - at.row));
            }
            *into = own;
        }
    }
}

// Loads the elements from the matrix's last whole vector on, of which a row has fewer than VECTOR, and only its last
// ones.
__device__ __forceinline__ void load_rest(
    const Unit* __restrict__ src, const Matrices& m, const Place& tile, Index end) {
#pragma unroll 1
    for (unsigned int item = threadIdx.x; item < tile.rows * VECTOR; item += BLOCK_X) {
        const unsigned int row = item / VECTOR;
        const unsigned int col = tile.cols - 1 - item % VECTOR;
        const Index from = tile.from + row * m.src_ld + col;
        if (item % VECTOR < tile.cols && from >= end) {
            *element_at(col, row) = src[from];
        }
    }
}

// Replaces, in each column, the elements before the first sector of the destination by as many from below the tile, as
// far as the matrix has them: `below` rows. So a column goes on at its own beginning.
__device__ __forceinline__ void wrap(
    const Unit* __restrict__ src, const Matrices& m, const Place& tile, unsigned int below) {
    // As many loads as there are registers for before the first use of one.
    constexpr unsigned int AT_ONCE = WIDTH == 1 ? 16 : 2;
#pragma unroll 1
    for (unsigned int first = threadIdx.x; first < SECTOR * TILE_COLS; first += AT_ONCE * BLOCK_X) {
        Unit loaded[AT_ONCE];
#pragma unroll
        for (unsigned int i = 0; i < AT_ONCE; i++) {
            const unsigned int col = (first + i * BLOCK_X) % TILE_COLS;
            const unsigned int row = (first + i * BLOCK_X) / TILE_COLS;
            if (col < tile.cols && row < below && row < SECTOR) {
                loaded[i] = src[tile.from + (TILE_ROWS + row) * m.src_ld + col];
            }
        }
#pragma unroll
        for (unsigned int i = 0; i < AT_ONCE; i++) {
            const unsigned int col = (first + i * BLOCK_X) % TILE_COLS;
            const unsigned int row = (first + i * BLOCK_X) / TILE_COLS;
            if (col < tile.cols && row < below && row < head_of(tile.to + col * m.dst_ld)) {
                *element_at(col, row) = loaded[i];
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

// Stores a tile that may be cut off by the matrix's edges, and whose destination rows begin anywhere. `left` says how
// many rows there are from the tile's first one to the matrix's end. With `sectors` it stores the sectors that begin in
// it; otherwise, where destination rows are aligned or in one tile from end to end, the vectors inside it. All branches
// outside the loops go the same way for all threads.
__device__ __forceinline__ void store_any(
    const Unit* __restrict__ src, Unit* __restrict__ dst, const Matrices& m, const Place& tile, unsigned int left,
    bool sectors) {
    const unsigned int align = sectors ? SECTOR : VECTOR;

    // Up to the end of the last sector or of the destination row.
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

    // Before its first sector the tile may have elements of the tile below.
    const auto element = [&](unsigned int col, unsigned int row) { return src[tile.from + row * m.src_ld + col]; };
    const auto past = [&](unsigned int col, unsigned int row) { return *element_at(col, row % TILE_ROWS); };
    store_ends(dst, m.dst_ld, tile, left, align, element, past);
}

// The bound keeps a thread to 40 registers for 1536 threads to share a multiprocessor, which are enough but for
// elements of 1 byte: what they need for loads of misaligned rows to be all under way is worth more than threads.
extern "C" __global__ void __launch_bounds__(BLOCK_X, (WIDTH == 1 ? 1024 : 1536) / BLOCK_X) vectorized(
    const Unit* __restrict__ src, Unit* __restrict__ dst, const Matrices m) {
    const Place tile = locate(m);
    const Index rows = m.rows - tile.row;
    const unsigned int left = rows < 4 * TILE_ROWS ? rows : 4 * TILE_ROWS;
    // The vector that begins at `end` would reach beyond the matrix.
    const Index end = (tile.from + (rows - 1) * m.src_ld + m.cols - tile.col) / VECTOR * VECTOR;
    // All branches go the same way for all threads, or for all of a warp.
    const bool aligned = (m.dst_ld | m.dst_stride | m.dst_first) % VECTOR == 0;
    const bool sectors = !aligned && m.rows > TILE_ROWS;
    const unsigned int below = sectors ? left - tile.rows : 0;
    const bool whole = tile.rows == TILE_ROWS && tile.cols == TILE_COLS && (below == 0 || below >= SECTOR);
    const bool straight = whole && (m.src_ld | m.src_stride | m.src_first) % VECTOR == 0;
    // Pairs of vectors of the tile below, too, have enough registers with elements of 1 byte alone.
    const bool shifted = WIDTH == 1 && !straight && below >= SECTOR &&
                         tile.from + (TILE_ROWS + SECTOR - 1) * m.src_ld + TILE_COLS + VECTOR <= end;
    if (straight && below > 0 && spot(0).row < SECTOR) {
        load<false, false, true>(src, m, tile, 0);
    } else if (straight) {
        load<false, false, false>(src, m, tile, 0);
    } else if (shifted && spot(0).row < SECTOR) {
        load<true, false, WIDTH == 1>(src, m, tile, 0);
    } else if (tile.from + (TILE_ROWS - 1) * m.src_ld + TILE_COLS + VECTOR <= end) {
        load<true, false, false>(src, m, tile, 0);
    } else if (end != 0) {
        load<true, true, false>(src, m, tile, end / VECTOR - 1);
    }
    if (tile.from + (tile.rows - 1) * m.src_ld + tile.cols > end) {
        __syncthreads();
        load_rest(src, m, tile, end);
    }
    __syncthreads();
    if (below > 0 && !straight && !shifted) {
        wrap(src, m, tile, below);
        __syncthreads();
    }
    if (aligned && tile.rows == TILE_ROWS && tile.cols == TILE_COLS) {
        store_whole(dst, m.dst_ld, tile);
    } else {
        store_any(src, dst, m, tile, left, sectors);
    }
}
