// What the kernels share that move an element at a time, or a word of packed ones, and so take source and destination as
// arrays of words.

// What belongs at this index of the destination, where the cell would be: from the source, or what is there.
fn elsewhere(cell: vec3<u32>, index: u32) -> Word {
    let found = settle(cell);
    if !exists(found) {
        return element(destination[index / PER_WORD], index);
    }
    let at = source_index(found);
    return element(source[at / PER_WORD], at);
}
