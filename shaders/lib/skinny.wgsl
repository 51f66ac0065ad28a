// What the kernels for matrices with a short side share: `tall`, whose source has it along rows, and `wide`, whose
// destination has.
//
// A workgroup moves a chunk: some neighbours along the long side, with all the elements that they have along the short
// side. On one side of the transpose a chunk is contiguous. On the other it is a piece of each of as many rows as the
// short side has elements: its lines. 16 bytes are a vector, of LANES elements, and LANES neighbours along the long
// side, with all they have, are a segment. A chunk has as many segments, a power of two, as TILE_COLS elements have room
// for; where lines begin anywhere, two of them are another chunk's, too.

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
    return c;
}
