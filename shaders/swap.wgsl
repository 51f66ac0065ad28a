// Transposes square matrices in place, an element at a time, wherever rows begin.
//
// Moves: a workgroup exchanges two tiles of TILE_ROWS × TILE_COLS elements (32 × 32) that mirror each other, through
// workgroup memory, one after the other; a tile on the diagonal it transposes.
//
// Threads: invocation (x, y) loads column x of rows y, y + BLOCK_Y, and so on of both tiles, four of each, so that
// neighbours read neighbouring elements of a row. Once one tile is in workgroup memory, each has there what belongs in the
// places of what it has of the other.
//
// Shared memory: tile[TILE_ROWS][PITCH], with one column more than the tile has, as in padded.wgsl: no conflicts. Of the
// widest elements there is no room for that within 16 KiB, and conflicts are of eight.
//
// Launch: BLOCK_X × BLOCK_Y invocations (32 × 8); one workgroup a pair of tiles.
//
// Bounds: elements outside the matrix are neither loaded nor stored. Packed elements share words with those of other
// rows, which other workgroups exchange at the same time: lib/bits_packed.wgsl. `source` is not used.

const_assert TILE_COLS == BLOCK_X && TILE_ROWS == 4u * BLOCK_Y && TILE_ROWS == TILE_COLS;

var<workgroup> tile: array<array<Word, PITCH>, TILE_ROWS>;

// What an invocation has of a tile.
struct Four {
    a: Word,
    b: Word,
    c: Word,
    d: Word,
}

@compute @workgroup_size(BLOCK_X, BLOCK_Y)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let number = block_number(group, groups);
    if number >= params.blocks {
        return;
    }
    let pair = pair_of(number);
    let upper = corner_of(pair, pair.low, pair.high);
    let lower = corner_of(pair, pair.high, pair.low);
    let first = load_four(upper + vec3(local.xy, 0u));
    let second = load_four(lower + vec3(local.xy, 0u));
    put_four(first, local.xy);
    workgroupBarrier();
    store_four(lower, local.xy, second);
    // The same way for all invocations.
    if pair.low != pair.high {
        workgroupBarrier();
        put_four(second, local.xy);
        workgroupBarrier();
        store_four(upper, local.xy, first);
    }
}

fn load_four(cell: vec3<u32>) -> Four {
    let step = vec3(0u, BLOCK_Y, 0u);
    return Four(load(cell), load(cell + step), load(cell + 2u * step), load(cell + 3u * step));
}

fn load(cell: vec3<u32>) -> Word {
    if any(cell.xy >= vec2(params.rows)) {
        return Word();
    }
    return load_element(index_of(cell));
}

fn put_four(four: Four, at: vec2<u32>) {
    tile[at.y][at.x] = four.a;
    tile[at.y + BLOCK_Y][at.x] = four.b;
    tile[at.y + 2u * BLOCK_Y][at.x] = four.c;
    tile[at.y + 3u * BLOCK_Y][at.x] = four.d;
}

// The elements of the mirrored tile that belong in an invocation's places.
fn mirrored(at: vec2<u32>) -> Four {
    let row = at.x;
    return Four(tile[row][at.y], tile[row][at.y + BLOCK_Y], tile[row][at.y + 2u * BLOCK_Y], tile[row][at.y + 3u * BLOCK_Y]);
}
