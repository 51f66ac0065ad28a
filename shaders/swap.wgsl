// Transposes square matrices in place, wherever rows begin, by accesses of words to global memory, and of elements to
// workgroup memory.
//
// Moves: a workgroup exchanges two tiles of TILE_ROWS × TILE_COLS elements that mirror each other, through workgroup
// memory, one after the other; a tile on the diagonal it transposes. A word has 4 bytes, and PER_WORD elements, or one
// wider element. Columns are counted from where a row's first word begins, and rows, for the mirror image, likewise; so a
// tile has words as a whole, but for those of HALO rows at its top and at its bottom, some elements of which are counted
// to the tile and some to the next one.
//
// Threads: a row's words lie, wherever they begin, in a window of BLOCK_X words, which begins with one of ALIGN elements:
// with a sector where there is room for that, so that no sector is asked for twice. BLOCK_Y is a multiple of that. Invocation (x, y) has word x of rows y,
// y + BLOCK_Y, and so on, at most sixteen. It loads those of both tiles before it uses one. Then, one tile after the other,
// it puts them into workgroup memory as they are, and gathers from there, element by element, what belongs in its words of
// the other tile.
//
// Shared memory: rows of the tile one after the other, each as far from the one before as its alignment wants: the pitch is
// the words that hold a row and as many elements as rows are apart modulo a word. So words stay as they are. They are put
// along: no conflicts. When elements are gathered, invocations of neighbouring words are PER_WORD rows apart, which is the
// pitch times a word: where the pitch is odd, another bank for each. Where it is even, a gap of one word after every
// PER_WORD rows makes it odd. Where a warp has parts of two rows, there may be conflicts of two.
//
// Launch: BLOCK_X × BLOCK_Y invocations; one workgroup a pair of tiles.
//
// Bounds: words of a tile's rows may also hold elements of other tiles, which other workgroups exchange at the same time, or
// gaps: what else they hold is not used, and stays as it is: lib/bits_packed.wgsl. Words that a tile has not stand for others
// that it has, and what comes of them is not stored. `source` is not used.

// Elements by which a row's words may begin earlier than the row, and rows and columns of a tile with them.
const HALO = PER_WORD - 1u;
const SIDE = TILE_ROWS + HALO;
// Elements of a row's words at the most: where the matrix ends, the tile has all that are left.
const LONGEST = select(TILE_COLS, TILE_COLS + PER_WORD, HALO > 0u);
// Elements of which a window begins with one.
const ALIGN = select(32u / WIDTH, PER_WORD, BLOCK_X * PER_WORD < LONGEST + 32u / WIDTH - PER_WORD);
// Columns of pairs that are taken together.
const STRIP = 8u;
const_assert BLOCK_Y % ALIGN == 0u && BLOCK_Y % PER_WORD == 0u;
const_assert TILE_COLS % PER_WORD == 0u && BLOCK_X * PER_WORD >= LONGEST && SIDE <= 16u * BLOCK_Y;
const_assert TILE_ROWS * PITCH >= SIDE * (LONGEST + PER_WORD - 1u) + HALO && TILE_ROWS * PITCH % PER_WORD == 0u;

var<workgroup> tile: array<Word, TILE_ROWS * PITCH / PER_WORD>;

// A tile in its matrix, with the HALO rows and columns in which its first words may begin.
struct Part {
    // Index of the first element, which may be before the matrix, modulo 2^32.
    begin: u32,
    // From there on to the end of the matrix, at most SIDE.
    rows: u32,
    cols: u32,
    // Of the first ones, those before the matrix.
    missing_rows: u32,
    missing_cols: u32,
    // Elements of the tile's words in a column, counted as the mirrored tile's in a row, and in a row.
    reach_rows: u32,
    reach_cols: u32,
}

// How the rows of a tile lie in workgroup memory, in elements.
struct Rows {
    // Before the first element.
    shift: u32,
    pitch: u32,
    gap: u32,
}

// Where a word's elements lie in workgroup memory: words, and bits in them.
struct Places {
    words: vec4<u32>,
    shifts: vec4<u32>,
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
    let upper = part_of(corner_of(pair, pair.low, pair.high));
    let lower = part_of(corner_of(pair, pair.high, pair.low));
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

fn part_of(corner: vec3<u32>) -> Part {
    let left = vec2(params.rows) - corner.xy;
    let missing = select(vec2(0u), vec2(HALO), corner.xy == vec2(0u));
    let reach = select(vec2(LONGEST), vec2(TILE_COLS), left > vec2(TILE_COLS));
    return Part(
        index_of(corner) - HALO * (params.dst_ld + 1u),
        min(left.y, TILE_ROWS) + HALO,
        min(left.x, TILE_COLS) + HALO,
        missing.y,
        missing.x,
        reach.y,
        reach.x,
    );
}

fn rows_of(part: Part) -> Rows {
    if PER_WORD == 1u {
        return Rows(0u, PITCH, 0u);
    }
    let pitch = LONGEST + params.dst_ld % PER_WORD;
    return Rows(part.begin % PER_WORD, pitch, select(0u, PER_WORD, pitch % 2u == 0u));
}

// Column of the first of the tile's words in a row that begins at this index.
fn first_word(begin: u32) -> u32 {
    return (0u - begin) % PER_WORD;
}

// What is the same for all words of an invocation: BLOCK_Y rows on, a row begins at the same place of ALIGN elements.
struct Lane {
    // Column of a word's first element; before the tile, modulo 2^32.
    col: u32,
    // Whether the tile has words of this column.
    has: bool,
}

fn lane_of(part: Part, at: vec2<u32>) -> Lane {
    let begin = part.begin + at.y * params.dst_ld;
    let first = first_word(begin);
    let col = first + at.x * PER_WORD - (begin + first) % ALIGN;
    return Lane(col, col - first < part.reach_cols && col < part.cols);
}

fn has_row(part: Part, y: u32) -> bool {
    return y - part.missing_rows < part.rows - part.missing_rows;
}

fn load_all(part: Part, at: vec2<u32>) -> Sixteen {
    let lane = lane_of(part, at);
    // An element of the word, or the nearest one that the tile has.
    let col = u32(clamp(i32(lane.col), i32(part.missing_cols), i32(part.cols) - 1));
    var words: Sixteen;
    words.a = load_four(part, col, at.y);
    if SIDE > 4u * BLOCK_Y {
        words.b = load_four(part, col, at.y + 4u * BLOCK_Y);
    }
    if SIDE > 8u * BLOCK_Y {
        words.c = load_four(part, col, at.y + 8u * BLOCK_Y);
    }
    if SIDE > 12u * BLOCK_Y {
        words.d = load_four(part, col, at.y + 12u * BLOCK_Y);
    }
    return words;
}

fn load_four(part: Part, col: u32, y: u32) -> Four {
    return Four(
        load(part, col, y),
        load(part, col, y + BLOCK_Y),
        load(part, col, y + 2u * BLOCK_Y),
        load(part, col, y + 3u * BLOCK_Y),
    );
}

// The word of this column in this row, or in the nearest one that the tile has.
fn load(part: Part, col: u32, y: u32) -> Word {
    return load_word((part.begin + clamp(y, part.missing_rows, part.rows - 1u) * params.dst_ld + col) / PER_WORD);
}

fn put_all(words: Sixteen, part: Part, at: vec2<u32>) {
    let lane = lane_of(part, at);
    if !lane.has {
        return;
    }
    let rows = rows_of(part);
    let place = rows.shift + at.y * rows.pitch + at.y / PER_WORD * rows.gap + lane.col;
    let step = BLOCK_Y * rows.pitch + BLOCK_Y / PER_WORD * rows.gap;
    put_four(words.a, part, at.y, place, step);
    if SIDE > 4u * BLOCK_Y {
        put_four(words.b, part, at.y + 4u * BLOCK_Y, place + 4u * step, step);
    }
    if SIDE > 8u * BLOCK_Y {
        put_four(words.c, part, at.y + 8u * BLOCK_Y, place + 8u * step, step);
    }
    if SIDE > 12u * BLOCK_Y {
        put_four(words.d, part, at.y + 12u * BLOCK_Y, place + 12u * step, step);
    }
}

fn put_four(words: Four, part: Part, y: u32, place: u32, step: u32) {
    put(words.a, part, y, place);
    put(words.b, part, y + BLOCK_Y, place + step);
    put(words.c, part, y + 2u * BLOCK_Y, place + 2u * step);
    put(words.d, part, y + 3u * BLOCK_Y, place + 3u * step);
}

fn put(word: Word, part: Part, y: u32, place: u32) {
    if has_row(part, y) {
        tile[place / PER_WORD] = word;
    }
}

// Stores what the tile has where the mirrored tile is, of which an invocation had loaded `old`.
fn store_all(part: Part, rows: Rows, at: vec2<u32>, old: Sixteen) {
    let lane = lane_of(part, at);
    if !lane.has {
        return;
    }
    // Where the elements of the invocation's first word are; of what the tile has not, anywhere. In its other rows they are
    // whole words further on.
    let first = places_of(rows, lane.col) + at.y;
    let places = Places(first / PER_WORD, first % PER_WORD * (32u / PER_WORD));
    store_four(part, rows, lane.col, places, at.y, old.a);
    if SIDE > 4u * BLOCK_Y {
        store_four(part, rows, lane.col, further(places, 4u), at.y + 4u * BLOCK_Y, old.b);
    }
    if SIDE > 8u * BLOCK_Y {
        store_four(part, rows, lane.col, further(places, 8u), at.y + 8u * BLOCK_Y, old.c);
    }
    if SIDE > 12u * BLOCK_Y {
        store_four(part, rows, lane.col, further(places, 12u), at.y + 12u * BLOCK_Y, old.d);
    }
}

// The places in the invocation's row so many steps on.
fn further(places: Places, steps: u32) -> Places {
    return Places(places.words + steps * (BLOCK_Y / PER_WORD), places.shifts);
}

fn store_four(part: Part, rows: Rows, col: u32, places: Places, y: u32, old: Four) {
    store(part, rows, col, places, y, old.a);
    store(part, rows, col, further(places, 1u), y + BLOCK_Y, old.b);
    store(part, rows, col, further(places, 2u), y + 2u * BLOCK_Y, old.c);
    store(part, rows, col, further(places, 3u), y + 3u * BLOCK_Y, old.d);
}

fn store(part: Part, rows: Rows, col: u32, places: Places, y: u32, old: Word) {
    // Whether it is wanted or not, so that nothing depends on a branch.
    let word = gathered(places);
    if has_row(part, y) {
        store_word((part.begin + y * params.dst_ld + col) / PER_WORD, word, old, part, rows, vec2(col, y));
    }
}
