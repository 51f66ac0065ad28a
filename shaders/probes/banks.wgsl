// Reads workgroup memory with a stride: what bank conflicts cost.
//
// Moves: a workgroup fills WORDS words from global memory once; then each invocation reads 16 of them a round.
//
// Threads: lane n of a warp reads word n * p.stride, and then the words 32, 64, ... further on, which lie in the same
// bank.
//
// Shared memory: WORDS = 2048 words. The requests of one warp meet in as many banks as the stride leaves different;
// those of different warps are alike and do not meet at all.
//
// Launch: workgroups of BLOCK invocations, any number of them.
//
// Bounds: with a stride of at most 33, the indices 31 * 33 + 512 + 15 * 32 are below WORDS.

@group(0) @binding(0) var<storage, read> source: array<u32>;
@group(0) @binding(1) var<storage, read_write> state: array<u32>;

var<workgroup> words: array<u32, WORDS>;

@compute @workgroup_size(BLOCK)
fn main(@builtin(local_invocation_index) local: u32) {
    for (var i = local; i < WORDS; i += BLOCK) {
        words[i] = source[i];
    }
    workgroupBarrier();
    let base = local % 32u * p.stride;
    var sum = 0u;
    for (var step = 0u; step < p.steps; step++) {
        let at = base + 512u * (step % 2u);
        let v0 = words[at + 0u];
        let v1 = words[at + 32u];
        let v2 = words[at + 64u];
        let v3 = words[at + 96u];
        let v4 = words[at + 128u];
        let v5 = words[at + 160u];
        let v6 = words[at + 192u];
        let v7 = words[at + 224u];
        let v8 = words[at + 256u];
        let v9 = words[at + 288u];
        let v10 = words[at + 320u];
        let v11 = words[at + 352u];
        let v12 = words[at + 384u];
        let v13 = words[at + 416u];
        let v14 = words[at + 448u];
        let v15 = words[at + 480u];
        sum ^= v0 ^ v1 ^ v2 ^ v3 ^ v4 ^ v5 ^ v6 ^ v7 ^ v8 ^ v9 ^ v10 ^ v11 ^ v12 ^ v13 ^ v14 ^ v15;
    }
    if sum == p.trap {
        state[0] = sum;
    }
}
