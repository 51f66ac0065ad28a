// What the kernels share that gather the vectors that they store: the vectors at the ends of destination rows, which
// they cannot gather.

// Stores those vectors of a piece of a destination row that the tile may not have as a whole. The piece begins at
// `begin`, in this column of the source, where its row has `length` elements to go, and `starts` says whether the row
// begins there. Of its vectors, `count` at the most are gathered, the first one `head` elements further on.
fn store_ends(begin: u32, col: u32, starts: bool, length: u32, head: u32, count: u32) {
    let gathered = (begin + head) / LANES;
    let end = begin + length;
    // The first vector that belongs to the row. Of a piece further on, all before those gathered are another block's.
    let own = (begin + select(LANES - 1u, 0u, lead(begin, col, LANES) > 0u)) / LANES;
    // At most two.
    for (var number = select(gathered, own, starts); number < min(gathered, (end + LANES - 1u) / LANES); number++) {
        collect(number);
    }
    let last = end / LANES;
    if end % LANES != 0u && gathered <= last && last - gathered < count {
        collect(last);
    }
}
