// What vectorized.wgsl does with elements of 1 and 2 bytes, of which a word has PER_WORD.

// Blocks of PER_WORD × PER_WORD elements transposed, four to a vector of each row: vectors of PER_WORD rows become as
// many pieces. Word k of piece p has column k × PER_WORD + p.
fn exchange(rows: Block) -> Block {
    if PER_WORD == 2u {
        return Block(
            low_halves(rows.a, rows.b),
            high_halves(rows.a, rows.b),
            low_halves(rows.c, rows.d),
            high_halves(rows.c, rows.d),
        );
    }
    let even_ab = even_bytes(rows.a, rows.b);
    let odd_ab = odd_bytes(rows.a, rows.b);
    let even_cd = even_bytes(rows.c, rows.d);
    let odd_cd = odd_bytes(rows.c, rows.d);
    return Block(
        low_halves(even_ab, even_cd),
        low_halves(odd_ab, odd_cd),
        high_halves(even_ab, even_cd),
        high_halves(odd_ab, odd_cd),
    );
}

// Each of these is one byte permutation a word.
fn low_halves(first: vec4<u32>, second: vec4<u32>) -> vec4<u32> {
    return (first & vec4(0xffffu)) | (second << vec4(16u));
}

fn high_halves(first: vec4<u32>, second: vec4<u32>) -> vec4<u32> {
    return (first >> vec4(16u)) | (second & vec4(0xffff0000u));
}

fn even_bytes(first: vec4<u32>, second: vec4<u32>) -> vec4<u32> {
    return (first & vec4(0x00ff00ffu)) | ((second << vec4(8u)) & vec4(0xff00ff00u));
}

fn odd_bytes(first: vec4<u32>, second: vec4<u32>) -> vec4<u32> {
    return ((first >> vec4(8u)) & vec4(0x00ff00ffu)) | (second & vec4(0xff00ff00u));
}

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
