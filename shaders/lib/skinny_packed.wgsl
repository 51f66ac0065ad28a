// What tall.wgsl and wide.wgsl do with elements of 1 and 2 bytes, of which a word has PER_WORD. A piece is PER_WORD elements that
// neighbouring lines have of one along; a vector of pieces, PER_WORD along apart, takes the same place in its words.

var<workgroup> tile: array<atomic<u32>, PITCH * WIDTH / 4u>;

fn put(at: u32, word: u32) {
    atomicStore(&tile[at], word);
}

fn take(at: u32) -> u32 {
    return atomicLoad(&tile[at]);
}

// A vector of the contiguous side.
fn take_vector(at: u32) -> vec4<u32> {
    return vec4(take(at), take(at + 1u), take(at + 2u), take(at + 3u));
}

// A vector of pieces, the first of which begins in this word after so many bits.
fn take_pieces(word: u32, bits: u32, side: u32) -> vec4<u32> {
    let at = word + NUMBERS * side;
    let low = vec4(take(at.x), take(at.y), take(at.z), take(at.w));
    let high = vec4(take(at.x + 1u), take(at.y + 1u), take(at.z + 1u), take(at.w + 1u));
    // To the left by a product, for a shift by 32 bits is one by none.
    return (low >> vec4(bits)) | (high * ((1u << (31u - bits)) << 1u));
}

// Puts vectors of lines of a wide source into the tile. A word has parts of up to three pieces. First those are put with
// which words begin, one in each; the others are added.
fn put_lines(c: Chunk, item: Items, lines: Block) {
    let exists = item.line < vec4(c.side);
    // Where there are fewer lines than an item has, the last elements of pieces are zeros.
    let pieces = exchange(Block(
        lines.a,
        select(vec4<u32>(), lines.b, exists.y),
        select(vec4<u32>(), lines.c, exists.z),
        select(vec4<u32>(), lines.d, exists.w),
    ));
    let group = item.line - NUMBERS % PER_WORD;
    let wanted = group < vec4(c.side);
    let fills = item.bits / BITS + c.side - group;
    let begins = wanted & ((item.bits == vec4(0u)) | (fills > vec4(PER_WORD)));
    put_begun(item.word, item.bits, c.side, pieces, begins);
    if (c.side | c.shift) % PER_WORD > 0u {
        workgroupBarrier();
        add_rest(item.word, item.bits, c.side, pieces, wanted & (item.bits > vec4(0u)));
    }
}

// Puts the parts of pieces with which words begin.
fn put_begun(word: vec4<u32>, bits: vec4<u32>, side: u32, pieces: Block, wanted: vec4<bool>) {
    let first = word + select(vec4(0u), vec4(1u), bits > vec4(0u));
    let away = (32u - bits) % 32u;
    if wanted.x {
        put_words(first.x + NUMBERS * side, pieces.a >> vec4(away.x));
    }
    if wanted.y {
        put_words(first.y + NUMBERS * side, pieces.b >> vec4(away.y));
    }
    if TAKEN > 2u && wanted.z {
        put_words(first.z + NUMBERS * side, pieces.c >> vec4(away.z));
    }
    if TAKEN > 2u && wanted.w {
        put_words(first.w + NUMBERS * side, pieces.d >> vec4(away.w));
    }
}

fn put_words(at: vec4<u32>, words: vec4<u32>) {
    put(at.x, words.x);
    put(at.y, words.y);
    put(at.z, words.z);
    put(at.w, words.w);
}

// Adds the parts of pieces with which words do not begin.
fn add_rest(word: vec4<u32>, bits: vec4<u32>, side: u32, pieces: Block, wanted: vec4<bool>) {
    if wanted.x {
        add_words(word.x + NUMBERS * side, pieces.a << vec4(bits.x));
    }
    if wanted.y {
        add_words(word.y + NUMBERS * side, pieces.b << vec4(bits.y));
    }
    if TAKEN > 2u && wanted.z {
        add_words(word.z + NUMBERS * side, pieces.c << vec4(bits.z));
    }
    if TAKEN > 2u && wanted.w {
        add_words(word.w + NUMBERS * side, pieces.d << vec4(bits.w));
    }
}

fn add_words(at: vec4<u32>, words: vec4<u32>) {
    atomicOr(&tile[at.x], words.x);
    atomicOr(&tile[at.y], words.y);
    atomicOr(&tile[at.z], words.z);
    atomicOr(&tile[at.w], words.w);
}

// The vector of elements of a line of which the tile has the first one in this place, counted in bytes. The words of its
// segment end before `end`, where there is a gap.
fn gathered(place: u32, end: u32, side: u32) -> vec4<u32> {
    let byte = place + NUMBERS * (side * WIDTH);
    // PER_WORD elements on, they lie as many words further on, in the same place of these.
    let word = byte / 4u;
    let bits = byte % 4u * 8u;
    let step = side * WIDTH;
    let first = gathered_elements(word, bits, end);
    let second = gathered_elements(word + step, bits, end);
    if PER_WORD == 2u {
        return vec4(first.xz | (first.yw << vec2(16u)), second.xz | (second.yw << vec2(16u)));
    }
    let third = gathered_elements(word + 2u * step, bits, end);
    let fourth = gathered_elements(word + 3u * step, bits, end);
    return vec4(joined(first), joined(second), joined(third), joined(fourth));
}

// Elements that begin in these words after so many bits, without what is before or behind.
fn gathered_elements(word: vec4<u32>, bits: vec4<u32>, end: u32) -> vec4<u32> {
    let at = word + select(vec4(0u), vec4(1u), word >= vec4(end));
    return (vec4(take(at.x), take(at.y), take(at.z), take(at.w)) >> bits) & vec4(MASK);
}

// The word of four elements.
fn joined(elements: vec4<u32>) -> u32 {
    return (elements.x | (elements.y << 8u)) | ((elements.z | (elements.w << 8u)) << 16u);
}
