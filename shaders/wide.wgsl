// Transposes matrices with few rows, of which a tile would be empty for the most part.
//
// Moves: a workgroup moves a chunk: a piece of each source row, which are whole rows of the destination, and contiguous
// there: lib/skinny.wgsl says more.
//
// Threads: neighbouring invocations load neighbouring vectors of a line, one a segment, and then those of the next line,
// in all four each. They store neighbouring vectors of the destination, each gathered from workgroup memory element by
// element.
//
// Shared memory: the lines one after the other, vectors as they are loaded, each line as far from the one before as its
// alignment wants. Which banks the elements of neighbouring vectors of the destination meet depends on the number of
// rows; a swizzle of all bits that number a bank, by bits above them, leaves conflicts of one to five, two in the mean,
// and up to seven where lines begin anywhere.
//
// Launch: BLOCK_X invocations in one row; one workgroup a chunk, along the rows of the source, then matrix by matrix.
//
// Bounds: a workgroup loads all vectors that hold a part of its chunk, whatever else they hold. Vectors of the destination
// that the chunk does not have as a whole, where a matrix begins within a vector, are collected from the source, element
// by element. All branches before the barrier go the same way for a workgroup.

@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> destination: array<vec4<u32>>;

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
    let c = chunk_of(number, params.rows, params.cols, params.src_ld, params.src_stride, params.dst_stride, LANES);
    load_lines(c, local.x);
    workgroupBarrier();
    store(c, local.x);
}

// Elements from line to line in the tile.
fn pitch(c: Chunk) -> u32 {
    return (LANES << c.log) + c.line_ld % LANES;
}

// Words or, where elements are larger, these change places, up to a row of the banks.
fn turns() -> Swizzle {
    return Swizzle(6u, 127u & ~(max(WIDTH, 4u) - 1u));
}

// Loads the lines of a wide source.
fn load_lines(c: Chunk, thread: u32) {
    let item = thread + vec4(0u, 1u, 2u, 3u) * BLOCK_X;
    let line = item >> vec4(c.log);
    let segment = item & vec4((1u << c.log) - 1u);
    let first = (c.lines + min(line, vec4(c.side - 1u)) * c.line_ld) / LANES;
    let loaded = fetch(min(first + segment, vec4(params.src_vectors - 1u)), TAKEN);
    let place = (c.lines % LANES + line * pitch(c)) / LANES + segment;
    put_some(place, loaded, line < vec4(c.side), turns());
}

// Stores the destination of a wide source, where the chunk is contiguous.
fn store(c: Chunk, thread: u32) {
    let elements = min(c.left, c.advance) * c.side;
    let shift = c.lines % LANES;
    let head = (0u - c.contiguous) % LANES;
    let step = pitch(c) * WIDTH;
    let edge = c.side * step;
    for (var item = thread; head + (item + 1u) * LANES <= elements; item += BLOCK_X) {
        let element = head + item * LANES;
        // Along is that of the first element; after the last line comes the first one again, one element further along.
        let along = element / c.side;
        let line = element - along * c.side;
        let at = (shift + line * pitch(c) + along) * WIDTH;
        destination[(c.contiguous + element) / LANES] = gathered(Walk(at, step, edge, WIDTH - edge, 0u, turns()));
    }
    if thread == 0u {
        store_ends(c.contiguous, 0u, c.begin == 0u, elements, head, CHUNK);
    }
}
