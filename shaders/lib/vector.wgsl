// What the kernels with 16-byte accesses share: the vector, 16 bytes of neighbouring elements, of which the source and
// the destination are arrays.
//
// A vector of the destination has one writer. It belongs to the destination row in which its first element lies, and
// may hold elements of later rows, even of another matrix, and gaps, which stay as they are.

// Elements of a vector, and of a sector, of which memory writes all or has to merge.
const LANES = 16u / WIDTH;
const SECTOR = 32u / WIDTH;

// Up to four vectors or pieces; where there are fewer, the last have nothing.
struct Block {
    a: vec4<u32>,
    b: vec4<u32>,
    c: vec4<u32>,
    d: vec4<u32>,
}

// So many vectors of the source.
fn fetch(number: vec4<u32>, count: u32) -> Block {
    var block: Block;
    block.a = source[number.x];
    if count > 1u {
        block.b = source[number.y];
    }
    if count > 2u {
        block.c = source[number.z];
        block.d = source[number.w];
    }
    return block;
}

// The 16 bytes that begin so many bytes into the first of two vectors: a multiple of WIDTH below 16.
fn funnel(first: vec4<u32>, second: vec4<u32>, bytes: u32) -> vec4<u32> {
    // By two words, by one word, and within words; six words, five and four are still wanted.
    var low = first;
    var high = second.xy;
    if WIDTH <= 8u {
        let by_two = (bytes & 8u) != 0u;
        low = select(first, vec4(first.zw, second.xy), by_two);
        high = select(second.xy, second.zw, by_two);
    }
    if WIDTH <= 4u {
        let by_one = (bytes & 4u) != 0u;
        low = select(low, vec4(low.yzw, high.x), by_one);
        high.x = select(high.x, high.y, by_one);
    }
    if WIDTH <= 2u {
        // To the left by a product, which is one instruction where a shift is two: a shift by 32 bits is one by none.
        let bits = bytes % 4u * 8u;
        low = (low >> vec4(bits)) | (vec4(low.yzw, high.x) * ((1u << (31u - bits)) << 1u));
    }
    return low;
}

// Writes the vector of the destination of this number, element by element, unless all of it is a gap. What follows the
// last element of a destination row is a gap, perhaps of none, and then the first one of the next row. What follows the
// last of all may be somebody else's.
fn collect(number: u32) {
    var vector = vec4<u32>();
    if has_gaps() || number + 1u == params.dst_vectors {
        vector = destination[number];
    }
    var cell = cell_at(number * LANES);
    // Counted in its matrix.
    var at = number * LANES - params.dst_first - cell.z * params.dst_stride;
    var index = source_index(cell);
    var found = false;
    for (var lane = 0u; lane < LANES; lane++) {
        let exists = is_cell(cell);
        found |= exists;
        vector = append(vector, index, exists);
        cell.y += 1u;
        at += 1u;
        index += params.src_ld;
        if number * LANES + lane + 1u == params.dst_first {
            cell = vec3<u32>();
            at = 0u;
            index = source_index(cell);
        } else if at == params.dst_stride {
            cell = vec3(0u, 0u, cell.z + 1u);
            at = 0u;
            index = source_index(cell);
        } else if cell.y == params.dst_ld {
            cell = vec3(cell.x + 1u, 0u, cell.z);
            index = source_index(cell);
        }
    }
    if found {
        destination[number] = vector;
    }
}
