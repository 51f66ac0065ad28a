// How gather.wgsl walks through workgroup memory, where it has vectors of the source as they are. Only whole vectors are
// written there, for invocations that write parts of one would need a barrier between them.

// Where a walk has no edge.
const NEVER = 0xffffffffu;

// From element to element of a vector, through places in the tile counted in bytes.
struct Walk {
    at: u32,
    step: u32,
    // The place from which on the walk goes on `jump` further on, or back; and from that edge to the next one.
    edge: u32,
    jump: u32,
    apart: u32,
}

// The place of the next element.
fn next(walk: ptr<function, Walk>) -> u32 {
    let at = (*walk).at;
    (*walk).at = at + (*walk).step;
    if (*walk).at >= (*walk).edge {
        (*walk).at += (*walk).jump;
        (*walk).edge += (*walk).apart;
    }
    return at;
}

// The word in this place.
fn tile_word(place: u32) -> u32 {
    return tile[place / 16u][place / 4u % 4u];
}
