// What the kernels for matrices with a short side share: `tall`, whose source has it along rows, and `wide`, whose
// destination has. Each says by TALL which it is.
//
// A workgroup moves a chunk: some neighbours along the long side, with all the elements that they have along the short
// side. On one side of the transpose a chunk is contiguous. On the other it is a piece of each of as many rows as the
// short side has elements: its lines. 16 bytes are a vector, of LANES elements, and LANES neighbours along the long
// side, with all they have, are a segment. A chunk has as many segments as the tile and the invocations have room for;
// the host says how many.
//
// Neighbouring invocations take neighbouring vectors, two or four each in all: on the contiguous side in one piece, on
// the other side those of a line, one a segment, and then those of the next line. There an invocation takes PER_WORD
// lines of one segment at once, an item, and exchanges their elements in registers, so that it accesses the tile by
// words.
//
// Workgroup memory has words in the order of the contiguous side, with a gap of one after each segment. So segments are
// an odd number of words apart, and neighbouring ones meet different banks. Vectors of the contiguous side are taken word
// by word, with conflicts of up to four.

// Vectors of an invocation, two or four, of which PER_WORD are an item.
const TAKEN = TILE_COLS / LANES / BLOCK_X;
const_assert BLOCK_Y == 1u && TILE_ROWS == 1u && (TAKEN == 2u || TAKEN == 4u) && TAKEN >= PER_WORD;
const NUMBERS = vec4(0u, 1u, 2u, 3u);

// What a workgroup moves.
struct Chunk {
    // Elements of the short side, which are lines, and elements from workgroup to workgroup along the long side.
    side: u32,
    advance: u32,
    // Whether lines begin with a vector.
    aligned: bool,
    // Of this workgroup, along the long side, and elements from there on.
    begin: u32,
    left: u32,
    // Index of the first element on the contiguous side, and what its vector has before it.
    contiguous: u32,
    shift: u32,
    // Index of the first element of the first line, and elements from line to line.
    lines: u32,
    line_ld: u32,
    // Words from segment to segment in the tile.
    pitch: u32,
}

// The vectors that an invocation has on the side of the lines.
struct Items {
    line: vec4<u32>,
    segment: vec4<u32>,
    // Where the tile has the first one of its pieces, a piece being a word's worth of neighbours along the short side:
    // the word in which that begins, and the bits of it that are before.
    word: vec4<u32>,
    bits: vec4<u32>,
}

// How one side's matrices lie.
struct Layout {
    first: u32,
    ld: u32,
    stride: u32,
}

fn source_layout() -> Layout {
    return Layout(params.src_first, params.src_ld, params.src_stride);
}

fn destination_layout() -> Layout {
    return Layout(params.dst_first, params.dst_ld, params.dst_stride);
}

// The chunk of a workgroup, with its lines on one side and contiguous on the other.
fn chunk_of(number: u32, lines: Layout, contiguous: Layout) -> Chunk {
    var c: Chunk;
    c.side = select(params.rows, params.cols, TALL);
    c.line_ld = lines.ld;
    c.aligned = (lines.ld | lines.stride | lines.first) % LANES == 0u;
    c.advance = (params.segments - select(0u, 1u, TALL && !c.aligned)) * LANES;
    var matrix = 0u;
    var block = number;
    // Free of the division for a single matrix.
    if params.batch > 1u {
        let blocks = params.across * params.down;
        matrix = number / blocks;
        block -= matrix * blocks;
    }
    c.begin = block * c.advance;
    c.left = select(params.cols, params.rows, TALL) - c.begin;
    c.contiguous = contiguous.first + matrix * contiguous.stride + c.begin * c.side;
    c.shift = c.contiguous % LANES;
    c.lines = lines.first + matrix * lines.stride + c.begin;
    c.pitch = 4u * c.side + select(0u, 1u, TALL || c.shift == 0u);
    return c;
}

// The quotients by the short side or the number of segments, of which this is the inverse, times 2^20 and rounded up:
// exact for what is below 2^10.
fn divided(number: vec4<u32>, inverse: u32) -> vec4<u32> {
    return (number * inverse) >> vec4(20u);
}

// The vectors of an invocation on the contiguous side.
fn numbers(thread: u32) -> vec4<u32> {
    return thread + NUMBERS * BLOCK_X;
}

// The words of the tile with which they begin.
fn words_of(c: Chunk, number: vec4<u32>) -> vec4<u32> {
    return number * 4u + divided(number, params.side_inverse) * (c.pitch - 4u * c.side);
}

// The vectors of an invocation on the side of the lines; the tile has so many elements before the chunk's first one.
fn items(c: Chunk, thread: u32, shift: u32) -> Items {
    let item = thread + NUMBERS / PER_WORD * BLOCK_X;
    let group = divided(item, params.segments_inverse);
    let segment = item - group * params.segments;
    // Of an item, vectors of lines and of pieces are as many: the n-th piece is that of the segment's n-th along.
    let within = NUMBERS % PER_WORD;
    let bytes = (within * c.side + group * PER_WORD + shift) * WIDTH;
    return Items(group * PER_WORD + within, segment, segment * c.pitch + bytes / 4u, bytes % 4u * 8u);
}

// Stores those of the vectors that are wanted.
fn store_some(number: vec4<u32>, vectors: Block, wanted: vec4<bool>) {
    if wanted.x {
        destination[number.x] = vectors.a;
    }
    if wanted.y {
        destination[number.y] = vectors.b;
    }
    if TAKEN > 2u && wanted.z {
        destination[number.z] = vectors.c;
    }
    if TAKEN > 2u && wanted.w {
        destination[number.w] = vectors.d;
    }
}

// Elements from an index on to the first one that begins a vector.
fn head_of(index: u32) -> u32 {
    return (0u - index) % LANES;
}
