// Transposes square matrices in place, wherever rows begin, by accesses of words to global memory, and of elements to
// workgroup memory.
//
// Moves: a workgroup exchanges two tiles of TILE_ROWS × TILE_COLS elements that mirror each other, through workgroup
// memory, one after the other; a tile on the diagonal it transposes. A word has 4 bytes, and PER_WORD elements, or one
// wider element.
//
// Threads: a row of the tile lies, wherever it begins, in a window of BLOCK_X words, which begins with one of ALIGN
// elements: with a sector where there is room for that, so that no sector is asked for twice. Invocation (x, y) has word x
// of rows y, y + BLOCK_Y, and so on, at most sixteen. It loads those of both tiles before it uses one. Then, one tile after
// the other, it puts them into workgroup memory as they are, and gathers from there, element by element, what belongs in
// its words of the other tile.
//
// Shared memory: rows of the tile one after the other, each as far from the one before as its alignment wants: the pitch is
// the words that hold a row and as many elements as rows are apart modulo a word. So words stay as they are. They are put
// along: no conflicts. When elements are gathered, invocations of neighbouring words are PER_WORD rows apart, which is the
// pitch times a word: where the pitch is odd, another bank for each. Where it is even, a gap of one word after every
// PER_WORD rows makes it odd. Where a warp has parts of two rows, there may be conflicts of two.
//
// Launch: BLOCK_X × BLOCK_Y invocations; one workgroup a pair of tiles.
//
// Bounds: words at the ends of a tile's rows may also hold elements of other tiles, which other workgroups exchange at the
// same time, or gaps: what else they hold is not used, and stays as it is: lib/bits_packed.wgsl. Words beyond the edge
// stand for others within, and what comes of them is not stored. `source` is not used.

// Elements that a window has to spare, and, of these, one of how many it begins with.
const SPARE = BLOCK_X * PER_WORD - TILE_COLS;
const ALIGN = select(32u / WIDTH, PER_WORD, SPARE + 1u < 32u / WIDTH);
// Elements of the words that hold a row.
const ROOM = (TILE_COLS + 2u * PER_WORD - 2u) / PER_WORD * PER_WORD;
const_assert SPARE + 1u >= PER_WORD && TILE_ROWS <= 16u * BLOCK_Y;
const_assert PITCH >= ROOM + PER_WORD - 1u && TILE_ROWS * PITCH % PER_WORD == 0u;

var<workgroup> tile: array<Word, TILE_ROWS * PITCH / PER_WORD>;

// A tile in its matrix.
struct Place {
    // Index of its first element.
    begin: u32,
    // What the matrix has of it.
    rows: u32,
    cols: u32,
}

// How the rows of a tile lie in workgroup memory, in elements.
struct Rows {
    // Before the first element.
    shift: u32,
    pitch: u32,
    gap: u32,
}

// Words of four rows, and of sixteen.
struct Four {
    a: Word,
    b: Word,
    c: Word,
    d: Word,
}

struct Sixteen {
    a: Four,
    b: Four,
    c: Four,
    d: Four,
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
    let upper = place_of(corner_of(pair, pair.low, pair.high));
    let lower = place_of(corner_of(pair, pair.high, pair.low));
    let first = load_all(lower, local.xy);
    let second = load_all(upper, local.xy);
    // All have loaded what one of them will store.
    storageBarrier();
    put_all(first, lower, local.xy);
    workgroupBarrier();
    store_all(upper, rows_of(lower), local.xy, second);
    // The same way for all invocations.
    if pair.low != pair.high {
        workgroupBarrier();
        put_all(second, upper, local.xy);
        workgroupBarrier();
        store_all(lower, rows_of(upper), local.xy, first);
    }
}

fn place_of(corner: vec3<u32>) -> Place {
    let left = min(vec2(params.rows) - corner.xy, vec2(TILE_COLS, TILE_ROWS));
    return Place(index_of(corner), left.y, left.x);
}

fn rows_of(place: Place) -> Rows {
    if PER_WORD == 1u {
        return Rows(0u, PITCH, 0u);
    }
    let pitch = ROOM + params.dst_ld % PER_WORD;
    return Rows(place.begin % PER_WORD, pitch, select(0u, PER_WORD, pitch % 2u == 0u));
}

// The column of the first element of word `x` of the window of a row that begins at this index; before the tile, so modulo
// 2^32.
fn column(begin: u32, x: u32) -> u32 {
    return x * PER_WORD - begin % ALIGN;
}

// Whether a word that begins in this column has elements of a row of so many.
fn has_some(col: u32, cols: u32) -> bool {
    return col + (PER_WORD - 1u) < cols + (PER_WORD - 1u);
}

fn load_all(place: Place, at: vec2<u32>) -> Sixteen {
    var words: Sixteen;
    words.a = load_four(place, at);
    if TILE_ROWS > 4u * BLOCK_Y {
        words.b = load_four(place, at + vec2(0u, 4u * BLOCK_Y));
    }
    if TILE_ROWS > 8u * BLOCK_Y {
        words.c = load_four(place, at + vec2(0u, 8u * BLOCK_Y));
    }
    if TILE_ROWS > 12u * BLOCK_Y {
        words.d = load_four(place, at + vec2(0u, 12u * BLOCK_Y));
    }
    return words;
}

fn load_four(place: Place, at: vec2<u32>) -> Four {
    let step = vec2(0u, BLOCK_Y);
    return Four(load(place, at), load(place, at + step), load(place, at + 2u * step), load(place, at + 3u * step));
}

// An invocation's word of a row, or the nearest one that the tile has.
fn load(place: Place, at: vec2<u32>) -> Word {
    let begin = place.begin + min(at.y, place.rows - 1u) * params.dst_ld;
    let shift = begin % ALIGN;
    let across = clamp(at.x, shift / PER_WORD, (shift + place.cols - 1u) / PER_WORD);
    return load_word((begin - shift) / PER_WORD + across);
}

fn put_all(words: Sixteen, place: Place, at: vec2<u32>) {
    let rows = rows_of(place);
    put_four(words.a, place, rows, at);
    if TILE_ROWS > 4u * BLOCK_Y {
        put_four(words.b, place, rows, at + vec2(0u, 4u * BLOCK_Y));
    }
    if TILE_ROWS > 8u * BLOCK_Y {
        put_four(words.c, place, rows, at + vec2(0u, 8u * BLOCK_Y));
    }
    if TILE_ROWS > 12u * BLOCK_Y {
        put_four(words.d, place, rows, at + vec2(0u, 12u * BLOCK_Y));
    }
}

fn put_four(words: Four, place: Place, rows: Rows, at: vec2<u32>) {
    let step = vec2(0u, BLOCK_Y);
    put(words.a, place, rows, at);
    put(words.b, place, rows, at + step);
    put(words.c, place, rows, at + 2u * step);
    put(words.d, place, rows, at + 3u * step);
}

fn put(word: Word, place: Place, rows: Rows, at: vec2<u32>) {
    let row = at.y;
    let col = column(place.begin + row * params.dst_ld, at.x);
    if row < place.rows && has_some(col, place.cols) {
        tile[(rows.shift + row * rows.pitch + row / PER_WORD * rows.gap + col) / PER_WORD] = word;
    }
}

// Stores what the tile has where the mirrored tile is, of which an invocation had loaded `old`.
fn store_all(place: Place, rows: Rows, at: vec2<u32>, old: Sixteen) {
    store_four(place, rows, at, old.a);
    if TILE_ROWS > 4u * BLOCK_Y {
        store_four(place, rows, at + vec2(0u, 4u * BLOCK_Y), old.b);
    }
    if TILE_ROWS > 8u * BLOCK_Y {
        store_four(place, rows, at + vec2(0u, 8u * BLOCK_Y), old.c);
    }
    if TILE_ROWS > 12u * BLOCK_Y {
        store_four(place, rows, at + vec2(0u, 12u * BLOCK_Y), old.d);
    }
}

fn store_four(place: Place, rows: Rows, at: vec2<u32>, old: Four) {
    let step = vec2(0u, BLOCK_Y);
    store(place, rows, at, old.a);
    store(place, rows, at + step, old.b);
    store(place, rows, at + 2u * step, old.c);
    store(place, rows, at + 3u * step, old.d);
}

fn store(place: Place, rows: Rows, at: vec2<u32>, old: Word) {
    let begin = place.begin + at.y * params.dst_ld;
    let col = column(begin, at.x);
    // Whether it is wanted or not, so that nothing depends on a branch.
    let word = gathered(rows, col, at.y);
    if at.y < place.rows && has_some(col, place.cols) {
        store_word((begin + col) / PER_WORD, word, old, col, place.cols);
    }
}
