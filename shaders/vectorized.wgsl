// Transposes through a tile in workgroup memory with 16-byte accesses throughout, to the tile too: elements change
// places in registers before it and behind it, and it has no bank conflicts.
//
// Moves: a workgroup moves TILE_ROWS × TILE_COLS elements of one matrix. A vector is 16 bytes, LANES elements: of a
// source row on the read side, of a destination row, which is a source column, on the write side.
//
// Threads: read side: 8 invocations along x take 8 neighbouring vectors of a source row, and the 32 of a warp do so in
// four places; each takes those of PER_WORD rows below one another, and as many again STEP rows below until it has
// TAKEN. Packed elements it exchanges within words (lib/vectorized_packed.wgsl), so that PER_WORD vectors become as
// many pieces: 16 bytes, PER_WORD rows of BREADTH columns that lie PER_WORD apart. Write side: an invocation takes the
// BREADTH pieces that make LANES rows of such columns, exchanges whole words, and has a vector of each of the columns.
// Neighbouring invocations take neighbouring vectors of the same destination rows.
//
// Shared memory: PITCH = TILE_COLS columns without padding. The columns of a piece are a line, LANES rows of a line are
// a unit, and a unit's BREADTH pieces are its parts. Piece (line, part, unit) has the number (line × BREADTH + part) ×
// UNITS + unit, and the lowest three bits of that are XORed so that nothing conflicts: 8 pieces take all the 32 banks
// once, and a warp's 16-byte accesses are served 8 invocations at a time, so the numbers of 8 neighbours must differ
// modulo 8. Reading, they have one line and part and 8 neighbouring units: they do. Writing, they have one part and
// unit in 8 neighbouring vectors, whose numbers are equal modulo 8; the XOR with the vector's number tells them apart.
// Where a column has only 4 units, 8 neighbours read those of two lines of a vector; the XOR with 4 in every other line
// of a vector tells these apart.
//
// Launch: BLOCK_X × BLOCK_Y invocations in one row; one workgroup a tile, with down_first down the source's rows first.
//
// Bounds: whole tiles of destination rows that begin with a vector are stored without a check. Where source rows begin
// within a vector, or the tile hangs over the right edge, a vector is put together from two of the source's; cells
// beyond the edge stand for others within, and what comes of them is not written. Where destination rows begin within
// a vector, memory would pay for each sector of 32 bytes, two vectors, that two workgroups write parts of. So a sector
// belongs to the destination row and the tile in which its first element lies. What it has of the tile below is loaded
// into the place of those elements before the column's first sector that the tile above writes: a column goes on at its
// own beginning, and a vector is put together from two neighbouring units. The last sector of a destination row reaches
// into a gap or the next row; its vectors from the one in which the row ends on are collected from the source, element
// by element, with neighbouring invocations on neighbouring destination rows. Where a row begins in a sector that begins
// in the gap before it, so are those from the one in which the row begins on. Where all rows begin with a vector, it is
// only the one in which a row ends. A collected vector keeps what it has of gaps, and is not written if it has nothing
// else. All the invocations of a workgroup take the same way on the write side, all those of a warp on the read side.

@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> destination: array<vec4<u32>>;

const_assert STEP >= SECTOR;

@compute @workgroup_size(BLOCK_X, BLOCK_Y)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let number = block_number(group, groups);
    if number >= params.blocks {
        return;
    }
    let rows = params.rows;
    let block = block_place(number);
    let left = block.x * TILE_COLS;
    let top = block.y * TILE_ROWS;
    let inside = left + TILE_COLS <= params.cols;
    let ragged = is_ragged();

    let spot = spot_of(local.x);
    let vector = spot.x;
    let y = spot.y;
    let cell = vec3(left + vector * LANES, top + y, block.z);
    let aligned = inside && (params.src_ld | params.src_stride | params.src_first) % LANES == 0u;
    let wrapped = ragged && y < SECTOR && top + TILE_ROWS < rows;
    // Four ways apart, each with all its loads before the first use of one: where ways share loads, or loads follow an
    // exchange, compilers let some wait for others.
    if aligned {
        let own = indices(cell);
        if wrapped {
            let begin = destination_index(vec3(cell.x, top, cell.z));
            let below = indices(cell + vec3(0u, TILE_ROWS, 0u));
            let own_first = fetch(own / LANES, TAKEN);
            let below_first = fetch(below / LANES, PER_WORD);
            put(replace(exchange(own_first), exchange(below_first), begin, y), vector, y);
        } else {
            put(exchange(fetch(own / LANES, TAKEN)), vector, y);
        }
    } else if wrapped {
        let begin = destination_index(vec3(cell.x, top, cell.z));
        let own = indices(cell);
        let below = indices(cell + vec3(0u, TILE_ROWS, 0u));
        let own_first = fetch(own / LANES, TAKEN);
        let own_second = fetch(after(own), TAKEN);
        let below_first = fetch(below / LANES, PER_WORD);
        let below_second = fetch(after(below), PER_WORD);
        let taken = exchange(join(own_first, own_second, own, TAKEN));
        put(replace(taken, exchange(join(below_first, below_second, below, PER_WORD)), begin, y), vector, y);
    } else {
        let own = indices(cell);
        let first = fetch(own / LANES, TAKEN);
        let second = fetch(after(own), TAKEN);
        put(exchange(join(first, second, own, TAKEN)), vector, y);
    }
    workgroupBarrier();

    let unit = local.x % UNITS;
    let whole = !ragged && inside && top + TILE_ROWS <= rows;
    for (var line = local.x / UNITS; line < TILE_COLS / BREADTH; line += BLOCK_X / UNITS) {
        let col = left + line / PER_WORD * LANES + line % PER_WORD;
        let begin = destination_index(vec3(col, top, block.z));
        let low = take(line, unit);
        if whole {
            let first = begin / LANES + unit;
            let stride = PER_WORD * params.dst_ld / LANES;
            destination[first] = low.a;
            if BREADTH > 1u {
                destination[first + stride] = low.b;
            }
            if BREADTH > 2u {
                destination[first + 2u * stride] = low.c;
                destination[first + 3u * stride] = low.d;
            }
        } else {
            let high = take(line, (unit + 1u) % UNITS);
            let stride = PER_WORD * params.dst_ld;
            store(low.a, high.a, unit, begin, rows - top, col);
            if BREADTH > 1u {
                store(low.b, high.b, unit, begin + stride, rows - top, col + PER_WORD);
            }
            if BREADTH > 2u {
                store(low.c, high.c, unit, begin + 2u * stride, rows - top, col + 2u * PER_WORD);
                store(low.d, high.d, unit, begin + 3u * stride, rows - top, col + 3u * PER_WORD);
            }
        }
    }
    // Only after a gap may a destination row begin in a sector of its own.
    let heads = ragged && top == 0u && has_gaps();
    if (!ragged && rows % LANES == 0u) || (top + TILE_ROWS + SECTOR <= rows && !heads) {
        return;
    }
    // The sector in which a destination row ends, from the vector on in which it does; then that in which it begins.
    let size = sector_size();
    let count = TILE_COLS * (size / LANES);
    for (var item = local.x; item < select(count, 2u * count, heads); item += BLOCK_X) {
        let head = item >= count;
        let col = left + item % TILE_COLS;
        let begin = destination_index(vec3(col, top, block.z));
        let edge = select(begin + rows - top, begin, head);
        let sector = edge - (edge & (size - 1u));
        let number = edge / LANES + ((item / TILE_COLS) & (size / LANES - 1u));
        let ends = begin <= sector && sector < begin + TILE_ROWS && sector < edge;
        let ours = col < params.cols && select(ends, lead(begin, col, size) > 0u, head);
        if ours && number < (sector + size) / LANES && number < params.dst_vectors {
            collect(number);
        }
    }
}

// Whether some destination rows begin within a vector.
fn is_ragged() -> bool {
    return (params.dst_ld | params.dst_stride | params.dst_first) % LANES != 0u;
}

// Elements of what one workgroup writes in one piece. Where all destination rows begin with a vector, or each is in one
// tile from end to end, so that workgroups meet only at its ends, that is a vector.
fn sector_size() -> u32 {
    return select(SECTOR, LANES, params.rows <= TILE_ROWS || !is_ragged());
}

// Where the vectors of an invocation begin in the source; instead of cells beyond the edge, others within.
fn indices(cell: vec3<u32>) -> vec4<u32> {
    let y = min(cell.y + vec4(0u, row_of(1u), row_of(2u), row_of(3u)), vec4(params.rows - 1u));
    return params.src_first + cell.z * params.src_stride + y * params.src_ld + min(cell.x, params.cols - 1u);
}

// The numbers of the vectors after those that have these indices, but of none after the last.
fn after(index: vec4<u32>) -> vec4<u32> {
    return min(index / LANES + 1u, vec4(params.src_vectors - 1u));
}

// So many vectors that begin at these indices, from the source's that have these and those after.
fn join(first: Block, second: Block, index: vec4<u32>, count: u32) -> Block {
    let bytes = index % LANES * WIDTH;
    var block: Block;
    block.a = funnel(first.a, second.a, bytes.x);
    if count > 1u {
        block.b = funnel(first.b, second.b, bytes.y);
    }
    if count > 2u {
        block.c = funnel(first.c, second.c, bytes.z);
        block.d = funnel(first.d, second.d, bytes.w);
    }
    return block;
}

// The pieces of row y on with those elements replaced that are before the first sector of their column, which begins at
// this index for the vector's first one.
fn replace(own: Block, below: Block, begin: u32, y: u32) -> Block {
    // The columns of the first piece.
    let begins = begin + vec4(0u, 1u, 2u, 3u) * BREADTH / 4u * PER_WORD * params.dst_ld;
    var block = own;
    block.a = replace_piece(own.a, below.a, to_next_sector(begins), y);
    if PER_WORD > 1u {
        block.b = replace_piece(own.b, below.b, to_next_sector(begins + params.dst_ld), y);
    }
    if PER_WORD > 2u {
        block.c = replace_piece(own.c, below.c, to_next_sector(begins + 2u * params.dst_ld), y);
        block.d = replace_piece(own.d, below.d, to_next_sector(begins + 3u * params.dst_ld), y);
    }
    return block;
}

// Elements from an index on to the first one that begins a sector.
fn to_next_sector(index: vec4<u32>) -> vec4<u32> {
    return (0u - index) & vec4(SECTOR - 1u);
}

// Writes the vector of this unit, if the matrix has it and all of it is in this destination row, which has its part
// from this tile on at `begin` with `length` elements. The column is a ring: what is before its first sector, and then
// comes from the tile below, is TILE_ROWS further on.
fn store(low: vec4<u32>, high: vec4<u32>, unit: u32, begin: u32, length: u32, col: u32) {
    let head = (0u - begin) & (sector_size() - 1u);
    var row = unit * LANES + head % LANES;
    row += select(0u, TILE_ROWS, row < head);
    if col < params.cols && row + LANES <= length {
        destination[(begin + row) / LANES] = funnel(low, high, head % LANES * WIDTH);
    }
}
