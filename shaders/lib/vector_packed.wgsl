// What vector.wgsl does with elements of 1 and 2 bytes, of which a word has PER_WORD.

// A vector without the element at its beginning, and with that of this index at its end, or, if none exists, with the
// one that was at its beginning.
fn append(vector: vec4<u32>, index: u32, exists: bool) -> vec4<u32> {
    var last = vector.x;
    if exists {
        last = element(source[index / LANES][index / PER_WORD % 4u], index);
    }
    return (vector >> vec4(BITS)) | (vec4(vector.yzw, last) << vec4(32u - BITS));
}

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
