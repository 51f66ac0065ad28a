// What swap.wgsl does with elements of 4, 8 and 16 bytes: they have words of their own, and are simply stored.

@group(0) @binding(0) var<storage, read> source: array<Word>;
@group(0) @binding(1) var<storage, read_write> destination: array<Word>;

fn load_element(index: u32) -> Word {
    return destination[index];
}

// Stores what the tile has where the mirrored tile is, whose first cell this is, and which had `old` in an invocation's
// places.
fn store_four(corner: vec3<u32>, at: vec2<u32>, old: Four) {
    let new_ones = mirrored(at);
    let cell = corner + vec3(at, 0u);
    let step = vec3(0u, BLOCK_Y, 0u);
    store_one(cell, new_ones.a);
    store_one(cell + step, new_ones.b);
    store_one(cell + 2u * step, new_ones.c);
    store_one(cell + 3u * step, new_ones.d);
}

fn store_one(cell: vec3<u32>, value: Word) {
    if all(cell.xy < vec2(params.rows)) {
        destination[index_of(cell)] = value;
    }
}
