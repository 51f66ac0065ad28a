// Transposes matrices with a short side, of which a tile would be empty for the most part.
//
// Moves: a workgroup moves a chunk: some neighbours along the long side, with all the elements that they have along the
// short side. On one side of the transpose a chunk is contiguous: whole rows of a tall source, or of the destination of
// a wide source. On the other side it is a piece of each of as many rows as the short side has elements, its lines. 16
// bytes are a vector, of LANES elements, and LANES neighbours along the long side, with all they have, are a segment. A
// chunk has as many segments, a power of two, as TILE_COLS elements have room for.
//
// Threads: neighbouring invocations load neighbouring vectors, in all four each: of a tall source in one piece, of a
// wide source those of a line, one a segment, and then those of the next line. On the other side they store
// neighbouring vectors likewise, each gathered from workgroup memory element by element.
//
// Shared memory: vectors as they are loaded. Of a tall source: a segment's elements of one line lie as far apart as the
// short side is long, and the same elements of neighbouring segments as many vectors: 4 banks times the short side.
// After every 8, 4, 2 or 1 segments, the more factors of two the short side has, a gap of one vector makes 8
// neighbouring segments meet 8 different fours of the 32 banks. In the 8 segments after them, nearly, the words of a
// vector change places, so that conflicts are of two or three. Of a wide source: the lines one after the other, each as
// far from the one before as its alignment wants. Which banks the elements of neighbouring vectors of the destination
// meet depends on the short side; a swizzle of all bits that number a bank, by bits above them, leaves conflicts of one
// to five, two in the mean, and up to seven where lines begin anywhere.
//
// Launch: BLOCK_X invocations in one row; one workgroup a chunk, along the long side, then matrix by matrix.
//
// Bounds: where lines begin anywhere, a chunk in workgroup memory has the elements of two segments more than it moves.
// Of each line of a tall source's destination, a workgroup stores the sectors of 32 bytes, two vectors, that begin in
// its part; of a wide source it loads all vectors that hold a part of its chunk, whatever else they hold. Vectors that
// the chunk does not have as a whole, at the ends of lines, and of pieces where a matrix begins within a vector, are
// collected from the source, element by element. All branches before the barrier go the same way for a workgroup.

@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> destination: array<vec4<u32>>;

// Vectors of a chunk, and those that an invocation loads.
const CHUNK = TILE_COLS / LANES;
const TAKEN = 4u;
const_assert BLOCK_Y == 1u && TILE_ROWS == 1u && TAKEN * BLOCK_X > CHUNK;
const_assert PITCH == CHUNK / 8u * 9u * LANES && PITCH / LANES % 8u == 0u;

var<workgroup> tile: array<vec4<u32>, PITCH / LANES>;

// What a workgroup moves.
struct Chunk {
    matrix: u32,
    // Elements of the short side, which are lines; segments, of which there are 2^log; and elements from workgroup to
    // workgroup along the long side.
    side: u32,
    log: u32,
    advance: u32,
    // Whether lines begin with a vector, or with a sector where that matters.
    aligned: bool,
    // Of this workgroup, along the long side, and elements from there on.
    begin: u32,
    left: u32,
    // Index of the first element on the contiguous side, and of that of the first line; elements from line to line.
    contiguous: u32,
    lines: u32,
    line_ld: u32,
    // How the tile lies in workgroup memory: elements from line to line of a wide source; and of a tall one the
    // segments from gap to gap, to base 2.
    pitch: u32,
    spread: u32,
    swizzle: Swizzle,
}

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
    if params.rows >= params.cols {
        let c = chunk_of(number, params.cols, params.rows, params.dst_ld, params.dst_stride, params.src_stride, SECTOR);
        load_contiguous(c, local.x);
        workgroupBarrier();
        store_lines(c, local.x);
    } else {
        let c = chunk_of(number, params.rows, params.cols, params.src_ld, params.src_stride, params.dst_stride, LANES);
        load_lines(c, local.x);
        workgroupBarrier();
        store_contiguous(c, local.x);
    }
}

// The chunk of a workgroup; lines want to begin with a `unit`.
fn chunk_of(
    number: u32,
    side: u32,
    long: u32,
    line_ld: u32,
    line_stride: u32,
    contiguous_stride: u32,
    unit: u32,
) -> Chunk {
    var c: Chunk;
    let blocks = params.across * params.down;
    c.matrix = number / blocks;
    c.side = side;
    c.log = firstLeadingBit(CHUNK / side);
    c.aligned = (line_ld | line_stride) % unit == 0u;
    c.advance = ((1u << c.log) - select(2u, 0u, c.aligned)) * LANES;
    c.begin = (number - c.matrix * blocks) * c.advance;
    c.left = long - c.begin;
    c.contiguous = c.matrix * contiguous_stride + c.begin * side;
    c.lines = c.matrix * line_stride + c.begin;
    c.line_ld = line_ld;
    c.pitch = (LANES << c.log) + line_ld % LANES;
    c.spread = 3u - min(countTrailingZeros(side), 3u);
    // Words or, where elements are larger, these change places: bits from 4, 8 or 16 bytes on to a row of the banks, or
    // to a vector of which segments are neighbours.
    let unswizzled = max(WIDTH, 4u) - 1u;
    if params.rows >= params.cols {
        c.swizzle = Swizzle(5u + firstLeadingBit(side), 15u & ~unswizzled);
    } else {
        c.swizzle = Swizzle(6u, 127u & ~unswizzled);
    }
    return c;
}

// Loads the chunk of a tall source, and what else its vectors hold.
fn load_contiguous(c: Chunk, thread: u32) {
    let elements = min(c.left, LANES << c.log) * c.side;
    let count = (c.contiguous % LANES + elements + LANES - 1u) / LANES;
    let number = thread + vec4(0u, 1u, 2u, 3u) * BLOCK_X;
    let loaded = fetch(c.contiguous / LANES + min(number, vec4(count - 1u)), TAKEN);
    // The quotient is exact for fewer than 2^10 vectors and a short side of at most 2^7.
    let segment = (number * ((1u << 20u) / c.side + 1u)) >> vec4(20u);
    let place = number + (segment >> vec4(c.spread));
    put_some(place, loaded, number < vec4(count), c.swizzle);
}

// Loads the lines of a wide source.
fn load_lines(c: Chunk, thread: u32) {
    let item = thread + vec4(0u, 1u, 2u, 3u) * BLOCK_X;
    let line = item >> vec4(c.log);
    let segment = item & vec4((1u << c.log) - 1u);
    let first = (c.lines + min(line, vec4(c.side - 1u)) * c.line_ld) / LANES;
    let loaded = fetch(min(first + segment, vec4(params.src_vectors - 1u)), TAKEN);
    let place = (c.lines % LANES + line * c.pitch) / LANES + segment;
    put_some(place, loaded, line < vec4(c.side), c.swizzle);
}

// Stores the lines of a tall source.
fn store_lines(c: Chunk, thread: u32) {
    let shift = c.contiguous % LANES;
    let step = c.side * WIDTH;
    let count = c.advance / LANES;
    for (var item = thread; item < c.side << c.log; item += BLOCK_X) {
        let line = item >> c.log;
        let number = item & ((1u << c.log) - 1u);
        let begin = c.lines + line * c.line_ld;
        let head = head_of(begin, c.aligned);
        let along = head + number * LANES;
        if number >= count || along + LANES > c.left {
            continue;
        }
        let vector = (begin + along) / LANES;
        if c.aligned && shift == 0u {
            // The elements are those of one segment.
            let at = segment_at(c, number) + line * WIDTH;
            destination[vector] = gathered(Walk(at, step, NEVER, 0u, 0u, c.swizzle));
        } else {
            // They are those of two neighbours.
            var segment = along / LANES;
            var within = along % LANES * c.side + line + shift;
            if within >= c.side * LANES {
                within -= c.side * LANES;
                segment += 1u;
            }
            let at = segment_at(c, segment);
            let edge = at + c.side * 16u;
            let jump = segment_at(c, segment + 1u) - edge;
            destination[vector] = gathered(Walk(at + within * WIDTH, step, edge, jump, NEVER / 2u, c.swizzle));
        }
    }
    if (c.begin == 0u || c.left < c.advance + SECTOR + LANES) && thread < c.side {
        let begin = c.lines + thread * c.line_ld;
        let head = head_of(begin, c.aligned);
        store_ends(begin, thread, c.begin == 0u, c.left, head, count);
    }
}

// Elements from an index on to the first one that begins a sector, unless all lines do.
fn head_of(index: u32, aligned: bool) -> u32 {
    return select((0u - index) % SECTOR, 0u, aligned);
}

// Where a segment begins in the tile, in bytes.
fn segment_at(c: Chunk, segment: u32) -> u32 {
    return (segment * c.side + (segment >> c.spread)) * 16u;
}

// Stores the destination of a wide source, where the chunk is contiguous.
fn store_contiguous(c: Chunk, thread: u32) {
    let elements = min(c.left, c.advance) * c.side;
    let shift = c.lines % LANES;
    let head = (0u - c.contiguous) % LANES;
    let step = c.pitch * WIDTH;
    let edge = c.side * step;
    for (var item = thread; head + (item + 1u) * LANES <= elements; item += BLOCK_X) {
        let element = head + item * LANES;
        // Along is that of the first element; after the last line comes the first one again, one element further along.
        let along = element / c.side;
        let line = element - along * c.side;
        let at = (shift + line * c.pitch + along) * WIDTH;
        destination[(c.contiguous + element) / LANES] = gathered(Walk(at, step, edge, WIDTH - edge, 0u, c.swizzle));
    }
    if thread == 0u {
        store_ends(c.contiguous, 0u, c.begin == 0u, elements, head, CHUNK);
    }
}
