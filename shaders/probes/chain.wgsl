// A chain of multiply-adds, each of which needs the one before: the latency of an arithmetic instruction, and so of the
// registers that it reads and writes.
//
// Moves: nothing; registers alone.
//
// Threads: one.
//
// Shared memory: none.
//
// Launch: one workgroup of one invocation. p.steps is a multiple of 256.
//
// Bounds: none.

@group(0) @binding(1) var<storage, read_write> state: array<u32>;

fn eight(begin: f32, factor: f32) -> f32 {
    var value = begin;
    value = fma(value, factor, factor);
    value = fma(value, factor, factor);
    value = fma(value, factor, factor);
    value = fma(value, factor, factor);
    value = fma(value, factor, factor);
    value = fma(value, factor, factor);
    value = fma(value, factor, factor);
    value = fma(value, factor, factor);
    return value;
}

fn sixtyfour(begin: f32, factor: f32) -> f32 {
    var value = begin;
    value = eight(value, factor);
    value = eight(value, factor);
    value = eight(value, factor);
    value = eight(value, factor);
    value = eight(value, factor);
    value = eight(value, factor);
    value = eight(value, factor);
    value = eight(value, factor);
    return value;
}

@compute @workgroup_size(1)
fn main() {
    // Known only at run time, so that nothing can be computed ahead: one half.
    let factor = 1.0 / f32(1u + p.blocks);
    var value = f32(p.trap);
    for (var step = 0u; step < p.steps; step += 256u) {
        value = sixtyfour(value, factor);
        value = sixtyfour(value, factor);
        value = sixtyfour(value, factor);
        value = sixtyfour(value, factor);
    }
    if value < 0.0 {
        state[0] = 1u;
    }
}
