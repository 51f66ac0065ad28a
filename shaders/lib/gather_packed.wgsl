// What gather.wgsl does with elements of 1 and 2 bytes, of which a word has PER_WORD.
//
// Nothing is a loop, for that would depend on compilers to unroll it.

// The vector of the elements on a walk.
fn gathered(begin: Walk) -> vec4<u32> {
    var walk = begin;
    let x = gathered_word(&walk);
    let y = gathered_word(&walk);
    let z = gathered_word(&walk);
    return vec4(x, y, z, gathered_word(&walk));
}

fn gathered_word(walk: ptr<function, Walk>) -> u32 {
    var word = push(0u, walk);
    word = push(word, walk);
    if PER_WORD > 2u {
        word = push(word, walk);
        word = push(word, walk);
    }
    return word;
}

// A word without its lowest element and with the next one of the walk on top.
fn push(word: u32, walk: ptr<function, Walk>) -> u32 {
    let at = next(walk);
    // What is above the element is shifted out.
    let element = tile_word(at) >> (at % 4u * 8u);
    return (word >> BITS) | (element << (32u - BITS));
}
