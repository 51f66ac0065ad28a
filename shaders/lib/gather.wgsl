// What the kernels share that keep vectors of the source in workgroup memory as they are, and gather from there,
// element by element, the vectors that they store. Only whole vectors are written there, for invocations that write
// parts of one would need a barrier between them.

// Where a walk has no edge.
const NEVER = 0xffffffffu;

// From element to element of a vector, through places in the tile counted in bytes.
struct Walk {
    at: u32,
    step: u32,
    // The place from which on the walk goes on `jump` further on, or back; and from that edge to the next one.
    edge: u32,
    jump: u32,
    apart: u32,
    swizzle: Swizzle,
}

// Against bank conflicts: bits of a place that are XORed with those so much higher. It keeps vectors together.
struct Swizzle {
    shift: u32,
    mask: u32,
}

// The place of the next element.
fn next(walk: ptr<function, Walk>) -> u32 {
    let at = (*walk).at;
    (*walk).at = at + (*walk).step;
    if (*walk).at >= (*walk).edge {
        (*walk).at += (*walk).jump;
        (*walk).edge += (*walk).apart;
    }
    return at;
}

// Where workgroup memory has what is in this place.
fn swizzled(place: u32, swizzle: Swizzle) -> u32 {
    return place ^ ((place >> swizzle.shift) & swizzle.mask);
}

// The word in this place.
fn tile_word(place: u32, swizzle: Swizzle) -> u32 {
    let at = swizzled(place, swizzle);
    return tile[at / 16u][at / 4u % 4u];
}

// Puts a vector into the tile.
fn put(number: u32, vector: vec4<u32>, swizzle: Swizzle) {
    let at = swizzled(number * 16u, swizzle);
    // Its words change places, too.
    let by_one = select(vector, vector.yxwz, (at & 4u) != 0u);
    tile[at / 16u] = select(by_one, by_one.zwxy, (at & 8u) != 0u);
}

// Puts those of four vectors into the tile that belong there.
fn put_some(place: vec4<u32>, vectors: Block, wanted: vec4<bool>, swizzle: Swizzle) {
    if wanted.x {
        put(place.x, vectors.a, swizzle);
    }
    if wanted.y {
        put(place.y, vectors.b, swizzle);
    }
    if wanted.z {
        put(place.z, vectors.c, swizzle);
    }
    if wanted.w {
        put(place.w, vectors.d, swizzle);
    }
}

// Stores those vectors of a piece of a destination row that the tile may not have as a whole. The piece begins at
// `begin`, in this column of the source, where its row has `length` elements to go, and `starts` says whether the row
// begins there. Of its vectors, `count` at the most are gathered, the first one `head` elements further on.
fn store_ends(begin: u32, col: u32, starts: bool, length: u32, head: u32, count: u32) {
    let gathered = (begin + head) / LANES;
    let end = begin + length;
    // The first vector that belongs to the row. Of a piece further on, all before those gathered are another block's.
    let own = (begin + select(LANES - 1u, 0u, lead(begin, col, LANES) > 0u)) / LANES;
    // At most two.
    for (var number = select(gathered, own, starts); number < min(gathered, (end + LANES - 1u) / LANES); number++) {
        collect(number);
    }
    let last = end / LANES;
    if end % LANES != 0u && gathered <= last && last - gathered < count {
        collect(last);
    }
}
