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
