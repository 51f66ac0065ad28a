// Elements of 16 bytes, as the probes have them.

alias Element = vec4<u32>;

fn word(v: Element) -> u32 {
    return fold(v);
}

fn element(v: u32) -> Element {
    return vec4(v, ~v, v, ~v);
}
