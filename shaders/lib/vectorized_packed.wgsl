// What vectorized.wgsl does with elements of 1 and 2 bytes, of which a word has PER_WORD.

// The parts of a unit exchanged with its columns: each column's words, which come to be one after the other.
fn columns(parts: Block) -> Block {
    return words_exchanged(parts);
}

// A piece of row y on with those elements of each column replaced that are in rows before its `end`.
fn replace_piece(own: vec4<u32>, below: vec4<u32>, end: vec4<u32>, y: u32) -> vec4<u32> {
    // In two steps to the left, for a shift by 32 bits is one by none.
    let half = (clamp(end, vec4(y), vec4(y + PER_WORD)) - y) * (BITS / 2u);
    let kept = (vec4(0xffffffffu) << half) << half;
    return (own & kept) | (below & ~kept);
}
