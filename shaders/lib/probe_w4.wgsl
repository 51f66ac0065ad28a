// Elements of 4 bytes, as the probes have them.

alias Element = u32;

fn word(v: Element) -> u32 {
    return v;
}

fn element(v: u32) -> Element {
    return v;
}
