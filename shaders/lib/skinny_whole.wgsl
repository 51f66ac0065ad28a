// What tall.wgsl and wide.wgsl do with elements of 4, 8 and 16 bytes: a piece is a word of an element.

var<workgroup> tile: array<u32, PITCH * WIDTH / 4u>;

fn put(at: u32, word: u32) {
    tile[at] = word;
}

// A vector of the contiguous side. Every second eight invocations begin with its second half, so that conflicts are of
// two, not four. Where vectors are put, and for smaller elements, that costs more than it gives.
fn take_vector(at: u32) -> vec4<u32> {
    let by = at / 32u % 2u * 2u;
    let vector = vec4(tile[at + by], tile[at + by + 1u], tile[at + 2u - by], tile[at + 3u - by]);
    return select(vector, vector.zwxy, by > 0u);
}

// Where the tile has the words of a line's vector that begins here.
fn places(word: u32, side: u32) -> vec4<u32> {
    if WIDTH == 4u {
        return word + NUMBERS * side;
    }
    if WIDTH == 8u {
        return word + vec4(0u, 1u, 2u * side, 2u * side + 1u);
    }
    return word + NUMBERS;
}

// The vector of a line that begins with this word.
fn take_pieces(word: u32, bits: u32, side: u32) -> vec4<u32> {
    let at = places(word, side);
    return vec4(tile[at.x], tile[at.y], tile[at.z], tile[at.w]);
}

// Puts vectors of lines of a wide source into the tile.
fn put_lines(c: Chunk, item: Items, lines: Block) {
    let exists = item.line < vec4(c.side);
    if exists.x {
        put_line(item.word.x, c.side, lines.a);
    }
    if exists.y {
        put_line(item.word.y, c.side, lines.b);
    }
    if exists.z {
        put_line(item.word.z, c.side, lines.c);
    }
    if exists.w {
        put_line(item.word.w, c.side, lines.d);
    }
}

fn put_line(word: u32, side: u32, vector: vec4<u32>) {
    let at = places(word, side);
    tile[at.x] = vector.x;
    tile[at.y] = vector.y;
    tile[at.z] = vector.z;
    tile[at.w] = vector.w;
}

// The vector of elements of a line of which the tile has the first one in this place, counted in bytes. The words of its
// segment end before `end`, where there is a gap.
fn gathered(place: u32, end: u32, side: u32) -> vec4<u32> {
    let word = places(place / 4u, side);
    let at = word + select(vec4(0u), vec4(1u), word >= vec4(end));
    return vec4(tile[at.x], tile[at.y], tile[at.z], tile[at.w]);
}
