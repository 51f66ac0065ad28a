// Independent multiply-adds in every invocation: how fast the registers bring operands.
//
// Moves: nothing; registers alone. A multiply-add reads three operands of 4 bytes and writes one.
//
// Threads: each has 8 chains of multiply-adds, so that none waits for the one before.
//
// Shared memory: none.
//
// Launch: workgroups of BLOCK invocations, any number of them.
//
// Bounds: none.

@group(0) @binding(1) var<storage, read_write> state: array<u32>;

@compute @workgroup_size(BLOCK)
fn main(@builtin(local_invocation_index) local: u32) {
    // Known only at run time, so that nothing can be computed ahead.
    let factor = 1.0 / f32(1u + p.blocks);
    let addend = f32(p.stride);
    var low = vec4(f32(local)) + vec4(0.0, 1.0, 2.0, 3.0);
    var high = vec4(f32(local)) + vec4(4.0, 5.0, 6.0, 7.0);
    for (var step = 0u; step < p.steps; step++) {
        low = fma(low, vec4(factor), vec4(addend));
        high = fma(high, vec4(factor), vec4(addend));
        low = fma(low, vec4(factor), vec4(addend));
        high = fma(high, vec4(factor), vec4(addend));
        low = fma(low, vec4(factor), vec4(addend));
        high = fma(high, vec4(factor), vec4(addend));
        low = fma(low, vec4(factor), vec4(addend));
        high = fma(high, vec4(factor), vec4(addend));
    }
    let sum = dot(low + high, vec4(1.0));
    if sum < 0.0 {
        state[0] = 1u;
    }
}
