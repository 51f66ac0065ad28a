// What vectorized.wgsl does with elements of 4, 8 and 16 bytes: a vector of a source row is a piece as it is.

// Words of an element.
const WORDS = WIDTH / 4u;

// Nothing to exchange within words.
fn exchange(rows: Block) -> Block {
    return rows;
}

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

// A vector with the element of this index at its end, or a zero, and without the one at its beginning.
fn append(vector: vec4<u32>, index: u32, exists: bool) -> vec4<u32> {
    var result = vector;
    for (var word = 0u; word < WORDS; word++) {
        var last = 0u;
        if exists {
            last = source[index / LANES][index % LANES * WORDS + word];
        }
        result = vec4(result.yzw, last);
    }
    return result;
}
