// Transposes matrices with short rows, of which a tile would be empty for the most part.
//
// Moves: a workgroup moves a chunk of whole source rows, which are contiguous: lib/skinny.wgsl says more.
//
// Threads: neighbouring invocations load neighbouring vectors, in all four each. They store neighbouring vectors of a
// line, one a segment, and then those of the next line, each gathered from workgroup memory element by element.
//
// Shared memory: vectors as they are loaded. A segment's elements of one line lie as far apart as rows are long, and
// the same elements of neighbouring segments as many vectors: 4 banks times that. After every 8, 4, 2 or 1 segments, the
// more factors of two the length has, a gap of one vector makes 8 neighbouring segments meet 8 different fours of the 32
// banks. In the 8 segments after them, nearly, the words of a vector change places, so that conflicts are of two or
// three.
//
// Launch: BLOCK_X invocations in one row; one workgroup a chunk, along the rows of the destination, then matrix by
// matrix.
//
// Bounds: of each line a workgroup stores the sectors of 32 bytes, two vectors, that begin in its part. Vectors that the
// chunk does not have as a whole, at the ends of lines, are collected from the source, element by element. All branches
// before the barrier go the same way for a workgroup.

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
    let c = chunk_of(number, params.cols, params.rows, params.dst_ld, params.dst_stride, params.src_stride, SECTOR);
    load(c, local.x);
    workgroupBarrier();
    store_lines(c, local.x);
}

// Segments from gap to gap, to base 2.
fn spread(c: Chunk) -> u32 {
    return 3u - min(countTrailingZeros(c.side), 3u);
}

// Words or, where elements are larger, these change places by the row of banks.
fn turns(c: Chunk) -> Swizzle {
    return Swizzle(5u + firstLeadingBit(c.side), 15u & ~(max(WIDTH, 4u) - 1u));
}

// Loads the chunk of a tall source, and what else its vectors hold.
fn load(c: Chunk, thread: u32) {
    let elements = min(c.left, LANES << c.log) * c.side;
    let count = (c.contiguous % LANES + elements + LANES - 1u) / LANES;
    let number = thread + vec4(0u, 1u, 2u, 3u) * BLOCK_X;
    let loaded = fetch(c.contiguous / LANES + min(number, vec4(count - 1u)), TAKEN);
    // The quotient is exact for fewer than 2^10 vectors and a short side of at most 2^7.
    let segment = (number * ((1u << 20u) / c.side + 1u)) >> vec4(20u);
    let place = number + (segment >> vec4(spread(c)));
    put_some(place, loaded, number < vec4(count), turns(c));
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
            destination[vector] = gathered(Walk(at, step, NEVER, 0u, 0u, turns(c)));
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
            destination[vector] = gathered(Walk(at + within * WIDTH, step, edge, jump, NEVER / 2u, turns(c)));
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
    return (segment * c.side + (segment >> spread(c))) * 16u;
}
