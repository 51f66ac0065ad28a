// Transposes matrices with few rows, of which a tile would be empty for the most part.
//
// Moves: a workgroup moves a chunk: a piece of each source row, which are whole rows of the destination, and contiguous
// there: lib/skinny.wgsl says more.
//
// Threads: invocations load the vectors of lines, by items, and store vectors in one piece: lib/skinny.wgsl.
//
// Shared memory: lib/skinny.wgsl. Where elements are smaller than words, a word's worth of them along a row of the
// destination may lie in two words: its part with which a word begins is put there, and after a barrier the other part is
// added to the word that another invocation has begun.
//
// Launch: BLOCK_X invocations in one row; one workgroup a chunk, along the rows of the source, then matrix by matrix.
//
// Bounds: of a line that begins within a vector, two neighbours are loaded for each vector. Vectors of the destination
// that the chunk does not have as a whole, at the ends of pieces where a matrix begins within a vector, are collected from
// the source, element by element. Where the destination is such a piece, the tile begins with its vector, without gaps,
// and conflicts. All branches before a barrier go the same way for a workgroup.

@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> destination: array<vec4<u32>>;

const TALL = false;

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
    let c = chunk_of(number, source_layout(), destination_layout());
    load_lines(c, local.x);
    workgroupBarrier();
    store(c, local.x);
    // The vectors that the chunk does not have as a whole.
    if local.x == 0u && (c.shift > 0u || c.left < c.advance) {
        let length = min(c.left, c.advance) * c.side;
        store_ends(c.contiguous, 0u, c.begin == 0u, length, head_of(c.contiguous), TAKEN * BLOCK_X);
    }
}

// Loads the lines.
fn load_lines(c: Chunk, thread: u32) {
    let item = items(c, thread, c.shift);
    let index = c.lines + min(item.line, vec4(c.side - 1u)) * c.line_ld + item.segment * LANES;
    let last = vec4(params.src_vectors - 1u);
    var lines: Block;
    // Two ways apart, each with all its loads before the first use of one.
    if c.aligned {
        lines = fetch(min(index / LANES, last), TAKEN);
    } else {
        let first = fetch(min(index / LANES, last), TAKEN);
        let second = fetch(min(index / LANES + 1u, last), TAKEN);
        let bytes = index % LANES * WIDTH;
        lines.a = funnel(first.a, second.a, bytes.x);
        lines.b = funnel(first.b, second.b, bytes.y);
        lines.c = funnel(first.c, second.c, bytes.z);
        lines.d = funnel(first.d, second.d, bytes.w);
    }
    put_lines(c, item, lines);
}

// Stores the destination, where the chunk is contiguous.
fn store(c: Chunk, thread: u32) {
    let elements = min(c.left, c.advance) * c.side;
    let count = (c.shift + elements) / LANES;
    let number = numbers(thread);
    let word = words_of(c, min(number, vec4(max(count, 1u) - 1u)));
    let vectors = Block(take_vector(word.x), take_vector(word.y), take_vector(word.z), take_vector(word.w));
    // The first one may begin with what is another workgroup's.
    let wanted = (number * LANES >= vec4(c.shift)) & (number < vec4(count));
    store_some(c.contiguous / LANES + number, vectors, wanted);
}
