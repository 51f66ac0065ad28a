// Transposes matrices whose rows begin anywhere, by accesses of 16 bytes to global memory; what is stored as 16 bytes
// is gathered from workgroup memory element by element.
//
// Moves: a workgroup moves a tile of TILE_ROWS × TILE_COLS elements of one matrix. 16 bytes are a vector, of LANES
// elements. SPAN aligned vectors hold a row of the tile wherever it begins.
//
// Threads: read side: the vectors of the tile's rows one after the other are numbered, and neighbouring invocations
// load neighbouring vectors, four each. They put them into the tile as they are. Write side: the UNITS vectors of the
// tile's destination rows, which are its columns, are numbered likewise; neighbouring invocations gather and store
// neighbouring vectors.
//
// Shared memory: rows of the tile one after the other, each as far from the one before as its alignment wants: the
// pitch is SPAN × LANES elements and as many as source rows are apart modulo a vector. So vectors stay aligned. When
// elements are gathered, invocations of neighbouring vectors are LANES rows apart, which is the pitch times 16 bytes:
// where the pitch is odd, an odd number of times around 4 of the 32 banks, so 8 invocations take 8 different fours of
// banks. Where it is even, a gap of one vector after every LANES rows makes it odd. The others of a warp have
// neighbouring columns, and so the same words or neighbouring ones, with few conflicts. Where destination rows begin
// anywhere, each column has other rows, and conflicts are of two to four.
//
// Launch: BLOCK_X invocations in one row; one workgroup a tile, with down_first down the source's rows first.
//
// Bounds: the vectors of a row of the tile may also hold elements of other tiles or matrices; instead of those beyond
// the source, its last one is loaded. A sector of the destination, 32 bytes, belongs to the tile that has its first
// element; for what it has of the tile below, a workgroup loads SECTOR rows more. Where destination rows begin with a
// sector, or elements are vectors, there is no need to. Vectors at the ends of destination rows, which hold elements of
// other rows or gaps, are collected from the source, element by element. All invocations of a workgroup reach the
// barrier.

@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> destination: array<vec4<u32>>;

// Vectors of a row of the tile, and in a column.
const SPAN = (TILE_COLS + 2u * LANES - 2u) / LANES;
const UNITS = TILE_ROWS / LANES;
// Rows that are loaded at the most, and vectors that an invocation loads.
const MOST_ROWS = TILE_ROWS + SECTOR;
const TAKEN = 4u;
const_assert BLOCK_Y == 1u && TILE_ROWS % LANES == 0u;
const_assert BLOCK_X >= TILE_COLS && BLOCK_X * TAKEN >= MOST_ROWS * SPAN;
// Room for the largest pitch and its gaps.
const_assert TILE_ROWS * PITCH >= MOST_ROWS * (SPAN * LANES + max(LANES - 1u, 1u)) + LANES;

var<workgroup> tile: array<vec4<u32>, TILE_ROWS * PITCH / LANES>;

// How the rows of the tile lie in workgroup memory, in elements.
struct Rows {
    // Before the first element.
    shift: u32,
    pitch: u32,
    gap: u32,
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
    let block = block_place(number);
    let corner = vec3(block.x * TILE_COLS, block.y * TILE_ROWS, block.z);
    let start = source_index(corner);
    // Rows from the tile's first one to the end of the matrix.
    let left = params.rows - corner.y;
    // Elements of what one workgroup writes in one piece. Where each destination row is in one tile from end to end,
    // that is a vector; where all begin with a sector, their pieces do.
    let unit = select(SECTOR, LANES, WIDTH == 16u || params.rows <= TILE_ROWS);
    let ragged = (params.dst_ld | params.dst_stride | params.dst_first) % unit != 0u;
    let taken = min(left, select(TILE_ROWS, MOST_ROWS, ragged));
    let pitch = SPAN * LANES + params.src_ld % LANES;
    let rows = Rows(start % LANES, pitch, select(0u, LANES, pitch % 2u == 0u));

    let item = local.x + vec4(0u, 1u, 2u, 3u) * BLOCK_X;
    let row = item / SPAN;
    let across = item % SPAN;
    let first = (start + min(row, vec4(taken - 1u)) * params.src_ld) / LANES;
    let loaded = fetch(min(first + across, vec4(params.src_vectors - 1u)), TAKEN);
    let place = position(rows, row) / LANES + across;
    let wanted = row < vec4(taken);
    if wanted.x {
        tile[place.x] = loaded.a;
    }
    if wanted.y {
        tile[place.y] = loaded.b;
    }
    if wanted.z {
        tile[place.z] = loaded.c;
    }
    if wanted.w {
        tile[place.w] = loaded.d;
    }
    workgroupBarrier();

    let cols = min(params.cols - corner.x, TILE_COLS);
    let step = pitch * WIDTH;
    for (var item = local.x; item < TILE_COLS * UNITS; item += BLOCK_X) {
        let col = item / UNITS;
        let begin = destination_index(corner + vec3(col, 0u, 0u));
        let head = select(0u, (0u - begin) % unit, ragged);
        let row = head + item % UNITS * LANES;
        if col >= cols || row + LANES > left {
            continue;
        }
        let vector = (begin + row) / LANES;
        let at = (position(rows, vec4(row)).x + col) * WIDTH;
        if ragged {
            // Where the next LANES rows begin.
            let edge = at + (LANES - row % LANES) * step;
            destination[vector] = gathered(Walk(at, step, edge, rows.gap * WIDTH, NEVER / 2u));
        } else {
            destination[vector] = gathered(Walk(at, step, NEVER, 0u, 0u));
        }
    }
    if (corner.y == 0u || left < TILE_ROWS + SECTOR + LANES) && local.x < cols {
        let begin = destination_index(corner + vec3(local.x, 0u, 0u));
        let head = select(0u, (0u - begin) % unit, ragged);
        store_ends(begin, corner.x + local.x, corner.y == 0u, left, head, UNITS);
    }
}

// Where rows begin in the tile.
fn position(rows: Rows, row: vec4<u32>) -> vec4<u32> {
    return rows.shift + row * rows.pitch + row / LANES * rows.gap;
}
