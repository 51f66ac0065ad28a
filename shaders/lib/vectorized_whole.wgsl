// What vectorized.wgsl does with elements of 4, 8 and 16 bytes: a vector of a source row is a piece as it is.

// The parts of a unit, which are rows, exchanged with its columns.
fn columns(parts: Block) -> Block {
    if BREADTH == 1u {
        return parts;
    }
    if BREADTH == 2u {
        return Block(vec4(parts.a.xy, parts.b.xy), vec4(parts.a.zw, parts.b.zw), parts.c, parts.d);
    }
    return words_exchanged(parts);
}

// A piece of row y with those elements replaced that are in a row before their column's `end`.
fn replace_piece(own: vec4<u32>, below: vec4<u32>, end: vec4<u32>, y: u32) -> vec4<u32> {
    return select(own, below, end > vec4(y));
}
