// What vector.wgsl does with elements of 4, 8 and 16 bytes.

// Words of an element.
const WORDS = WIDTH / 4u;

// A vector without the element at its beginning, and with that of this index at its end, or, if none exists, with the
// one that was at its beginning.
fn append(vector: vec4<u32>, index: u32, exists: bool) -> vec4<u32> {
    var result = vector;
    for (var word = 0u; word < WORDS; word++) {
        var last = result.x;
        if exists {
            last = source[index / LANES][index % LANES * WORDS + word];
        }
        result = vec4(result.yzw, last);
    }
    return result;
}

// Nothing to exchange within words.
fn exchange(rows: Block) -> Block {
    return rows;
}
