// Transposes matrices with short rows, of which a tile would be empty for the most part.
//
// Moves: a workgroup moves a chunk of whole source rows, which are contiguous: lib/skinny.wgsl says more.
//
// Threads: invocations load vectors in one piece, and store those of the lines, by items: lib/skinny.wgsl. Where lines
// begin within a vector, an invocation takes a vector of one line at a time and gathers its elements one by one.
//
// Shared memory: lib/skinny.wgsl. Where elements are smaller than words, a word's worth of them along a source row may lie
// in two words, and is read out of both.
//
// Launch: BLOCK_X invocations in one row; one workgroup a chunk, along the rows of the destination, then matrix by
// matrix.
//
// Bounds: of a line that begins within a vector, a workgroup stores the vectors that begin in its part, and has one
// segment more than it moves. Vectors that the chunk does not have as a whole, at the ends of lines, are collected from
// the source, element by element. All branches before a barrier go the same way for a workgroup.

@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> destination: array<vec4<u32>>;

const TALL = true;

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
    let c = chunk_of(number, destination_layout(), source_layout());
    load(c, local.x);
    workgroupBarrier();
    if c.aligned && c.shift == 0u {
        store_lines(c, local.x);
    } else {
        store_ragged_lines(c, local.x);
    }
    // The vectors that the chunk does not have as a whole.
    if local.x < c.side && (c.begin == 0u || c.left < c.advance + 2u * LANES) {
        let begin = c.lines + local.x * c.line_ld;
        store_ends(begin, local.x, c.begin == 0u, c.left, head_of(begin), c.advance / LANES);
    }
}

// Loads the chunk, and what else its vectors hold.
fn load(c: Chunk, thread: u32) {
    let elements = min(c.left, params.segments * LANES) * c.side;
    let count = (c.shift + elements + LANES - 1u) / LANES;
    let number = numbers(thread);
    let loaded = fetch(c.contiguous / LANES + min(number, vec4(count - 1u)), TAKEN);
    let word = words_of(c, number);
    let wanted = number < vec4(count);
    put_vector(word.x, loaded.a, wanted.x);
    put_vector(word.y, loaded.b, wanted.y);
    if TAKEN > 2u {
        put_vector(word.z, loaded.c, wanted.z);
        put_vector(word.w, loaded.d, wanted.w);
    }
}

fn put_vector(at: u32, vector: vec4<u32>, wanted: bool) {
    if wanted {
        put(at, vector.x);
        put(at + 1u, vector.y);
        put(at + 2u, vector.z);
        put(at + 3u, vector.w);
    }
}

// Stores the lines where they begin with a vector.
fn store_lines(c: Chunk, thread: u32) {
    let item = items(c, thread, 0u);
    var pieces: Block;
    pieces.a = take_pieces(item.word.x, item.bits.x, c.side);
    pieces.b = take_pieces(item.word.y, item.bits.y, c.side);
    // Otherwise there are none, and their places may be beyond the tile.
    if TAKEN > 2u {
        pieces.c = take_pieces(item.word.z, item.bits.z, c.side);
        pieces.d = take_pieces(item.word.w, item.bits.w, c.side);
    }
    let lines = exchange(pieces);
    let number = (c.lines + item.line * c.line_ld) / LANES + item.segment;
    store_some(number, lines, (item.line < vec4(c.side)) & (item.segment < vec4(c.left / LANES)));
}

// Stores the lines where they, or its matrices, begin anywhere.
fn store_ragged_lines(c: Chunk, thread: u32) {
    let size = c.side * LANES;
    for (var item = thread; item < c.side * params.segments; item += BLOCK_X) {
        let line = divided(vec4(item), params.segments_inverse).x;
        let number = item - line * params.segments;
        let begin = c.lines + line * c.line_ld;
        let along = head_of(begin) + number * LANES;
        if number >= c.advance / LANES || along + LANES > c.left {
            continue;
        }
        // Where the first element is, in its segment or in the next one; its last ones are in the one after that.
        let first = along % LANES * c.side + line + c.shift;
        let over = select(0u, 1u, first >= size);
        let at = (along / LANES + over) * c.pitch;
        let place = at * 4u + (first - over * size) * WIDTH;
        destination[(begin + along) / LANES] = gathered(place, at + 4u * c.side, c.side);
    }
}
