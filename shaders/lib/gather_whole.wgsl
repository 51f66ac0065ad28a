// What gather.wgsl does with elements of 4, 8 and 16 bytes.

// The vector of the elements on a walk.
fn gathered(begin: Walk) -> vec4<u32> {
    var walk = begin;
    if WIDTH == 16u {
        return tile[walk.at / 16u];
    }
    if WIDTH == 8u {
        let first = gathered_pair(&walk);
        return vec4(first, gathered_pair(&walk));
    }
    let x = tile_word(next(&walk));
    let y = tile_word(next(&walk));
    let z = tile_word(next(&walk));
    return vec4(x, y, z, tile_word(next(&walk)));
}

// An element of two words.
fn gathered_pair(walk: ptr<function, Walk>) -> vec2<u32> {
    let at = next(walk);
    return vec2(tile_word(at), tile_word(at + 4u));
}
