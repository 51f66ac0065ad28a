//! The variants on a CPU. Elements are arrays of bytes, so that one function serves every type of a width.

use rayon::prelude::*;

use crate::element::Width;
use crate::problem::Problem;
use crate::variant::Variant;

/// A variant bound to the CPU: reads the source, writes the destination.
pub type Kernel = fn(&Problem, &[u8], &mut [u8]);

/// The variant's kernel, where the CPU has one.
pub fn find(variant: Variant) -> Option<Kernel> {
    match variant {
        Variant::Memcpy => Some(memcpy),
        Variant::Copy => Some(copy),
        Variant::Naive => Some(|problem, source, destination| by_width(problem, source, destination, Cut::naive)),
        Variant::Tiled => Some(tiled),
        Variant::TransposeCrate => Some(transpose_crate),
        _ => None,
    }
}

/// Why the CPU's kernel of the variant does not take the problem, where that is for its gaps.
pub fn obstacle(variant: Variant, problem: &Problem) -> Option<String> {
    match variant {
        Variant::TransposeCrate => problem.packed_only("the `transpose` crate"),
        _ => None,
    }
}

/// In blocks that caches hold.
pub fn tiled(problem: &Problem, source: &[u8], destination: &mut [u8]) {
    by_width(problem, source, destination, Cut::tiled);
}

fn memcpy(problem: &Problem, source: &[u8], destination: &mut [u8]) {
    let bytes = problem.copied_bytes() as usize;
    destination[..bytes].copy_from_slice(&source[..bytes]);
}

/// Bytes that one task copies: large against the cost of a task, small against a cache.
const COPY_BYTES: usize = 1 << 20;

fn copy(problem: &Problem, source: &[u8], destination: &mut [u8]) {
    let bytes = problem.copied_bytes() as usize;
    let pieces = destination[..bytes].par_chunks_mut(COPY_BYTES).zip(source[..bytes].par_chunks(COPY_BYTES));
    pieces.for_each(|(to, from)| to.copy_from_slice(from));
}

/// How a destination matrix is cut into tasks: `band` rows × `segment` elements of each row; and how a task gathers
/// its rows from the source's columns.
#[derive(Clone, Copy)]
struct Cut {
    band: usize,
    segment: usize,
    blocked: bool,
}

impl Cut {
    /// One task a thread; each destination row is gathered from a whole column.
    fn naive(rows: usize, cols: usize) -> Cut {
        let threads = rayon::current_num_threads();
        // Long enough for any cache to be forgotten between its rows, short enough for its slices to take no memory.
        let band = cols.div_ceil(threads).min(4096);
        // With fewer rows than threads, the rows are shared out.
        let segment = if cols < threads { rows.div_ceil(threads) } else { rows };
        Cut { band, segment, blocked: false }
    }

    /// Tasks of 64 × 1024 elements, so that there are enough to go around and each is worth starting.
    fn tiled(_: usize, _: usize) -> Cut {
        Cut { band: 64, segment: 1024, blocked: true }
    }
}

/// The side of a block is as many elements as a cache line of 64 bytes holds, so that lines are used whole on both
/// sides; wide elements take several lines, to have more to do at a time.
fn by_width(problem: &Problem, source: &[u8], destination: &mut [u8], cut: fn(usize, usize) -> Cut) {
    match problem.width() {
        Width::W1 => transpose::<[u8; 1], 64>(problem, source, destination, cut),
        Width::W2 => transpose::<[u8; 2], 32>(problem, source, destination, cut),
        Width::W4 => transpose::<[u8; 4], 16>(problem, source, destination, cut),
        Width::W8 => transpose::<[u8; 8], 16>(problem, source, destination, cut),
        Width::W16 => transpose::<[u8; 16], 8>(problem, source, destination, cut),
    }
}

fn transpose<E: bytemuck::Pod + Send + Sync, const SIDE: usize>(
    problem: &Problem,
    source: &[u8],
    destination: &mut [u8],
    cut: fn(usize, usize) -> Cut,
) {
    if problem.is_empty() {
        return;
    }
    let (rows, cols) = (problem.rows() as usize, problem.cols() as usize);
    if problem.is_packed() && (rows == 1 || cols == 1) {
        // A single row or column has its elements in the same order either way, and without gaps in the same places.
        return copy(problem, source, destination);
    }
    let cut = cut(rows, cols);
    let (from, to) = (problem.source(), problem.destination());
    let source: &[E] = &bytemuck::cast_slice(source)[from.first as usize..];
    let destination: &mut [E] = &mut bytemuck::cast_slice_mut(destination)[to.first as usize..];
    let (source_ld, ld) = (from.ld as usize, to.ld as usize);
    // The last matrix may end before a stride does, and its last row before a leading dimension does.
    let matrices = destination.par_chunks_mut(to.stride as usize).zip(source.par_chunks(from.stride as usize));
    matrices.for_each(|(destination, source)| {
        let matrix = &mut destination[..(cols - 1) * ld + rows];
        bands(matrix, ld, cut).for_each(|(first_row, band)| {
            tasks(band, first_row, rows, ld, cut).into_par_iter().for_each(|mut task| match cut.blocked {
                true => task.turn_blocks::<SIDE>(source, source_ld),
                false => task.gather(source, source_ld),
            });
        });
    });
}

/// A rectangle of one destination matrix, as one slice for each of its rows: tasks share no element, which the borrow
/// checker can see.
struct Task<'a, E> {
    first_row: usize,
    first: usize,
    rows: Vec<&'a mut [E]>,
}

/// The bands of a destination matrix, each with the number of its first row.
fn bands<E: Send>(matrix: &mut [E], ld: usize, cut: Cut) -> impl ParallelIterator<Item = (usize, &mut [E])> {
    matrix.par_chunks_mut(ld * cut.band).enumerate().map(move |(band, rows)| (band * cut.band, rows))
}

/// The tasks of one band. There are as many slices as rows and segments, and only for as long as the band is moved.
fn tasks<E>(band: &mut [E], first_row: usize, row_len: usize, ld: usize, cut: Cut) -> Vec<Task<'_, E>> {
    let mut segments: Vec<_> = band.chunks_mut(ld).map(|row| row[..row_len].chunks_mut(cut.segment)).collect();
    let task = |first| Task { first_row, first, rows: segments.iter_mut().filter_map(Iterator::next).collect() };
    (0..row_len).step_by(cut.segment).map(task).collect()
}

impl<E: bytemuck::Pod> Task<'_, E> {
    /// Elements of each row.
    fn len(&self) -> usize {
        self.rows.first().map_or(0, |row| row.len())
    }

    /// Fills one row after the other from a column of the source, whose rows are `ld` apart.
    fn gather(&mut self, source: &[E], ld: usize) {
        let len = self.len();
        gather(&mut self.rows, 0, len, &source[self.first * ld + self.first_row..], ld);
    }

    /// Turns one block of `SIDE` × `SIDE` after the other; what is left at the edges is gathered.
    fn turn_blocks<const SIDE: usize>(&mut self, source: &[E], ld: usize) {
        let len = self.len();
        for (group, rows) in self.rows.chunks_mut(SIDE).enumerate() {
            let source = &source[self.first * ld + self.first_row + group * SIDE..];
            let whole = if rows.len() == SIDE { len - len % SIDE } else { 0 };
            for first in (0..whole).step_by(SIDE) {
                turn_block::<E, SIDE>(rows, first, &source[first * ld..], ld);
            }
            if whole < len {
                gather(rows, whole, len, &source[whole * ld..], ld);
            }
        }
    }
}

/// Fills the elements from `begin` to `end` of each row from a column of the source.
fn gather<E: Copy>(rows: &mut [&mut [E]], begin: usize, end: usize, source: &[E], ld: usize) {
    for (col, row) in rows.iter_mut().enumerate() {
        let column = source[col..].iter().step_by(ld);
        row[begin..end].iter_mut().zip(column).for_each(|(to, from)| *to = *from);
    }
}

/// Fills the `SIDE` elements from `first` on of each of `SIDE` rows.
///
/// The block is turned in a buffer of its own: where rows are a power of two apart, the block's lines in the matrix all
/// fall into the same few sets of a cache and push each other out.
fn turn_block<E: bytemuck::Pod, const SIDE: usize>(rows: &mut [&mut [E]], first: usize, source: &[E], ld: usize) {
    let mut block = [[E::zeroed(); SIDE]; SIDE];
    for (line, from) in block.iter_mut().zip(source.chunks(ld)) {
        line.copy_from_slice(&from[..SIDE]);
    }
    for (col, row) in rows.iter_mut().enumerate() {
        let to = &mut row[first..first + SIDE];
        for (to, line) in to.iter_mut().zip(&block) {
            *to = line[col];
        }
    }
}

fn transpose_crate(problem: &Problem, source: &[u8], destination: &mut [u8]) {
    match problem.width() {
        Width::W1 => library::<[u8; 1]>(problem, source, destination),
        Width::W2 => library::<[u8; 2]>(problem, source, destination),
        Width::W4 => library::<[u8; 4]>(problem, source, destination),
        Width::W8 => library::<[u8; 8]>(problem, source, destination),
        Width::W16 => library::<[u8; 16]>(problem, source, destination),
    }
}

fn library<E: bytemuck::Pod>(problem: &Problem, source: &[u8], destination: &mut [u8]) {
    if problem.is_empty() {
        return;
    }
    let (rows, cols) = (problem.rows() as usize, problem.cols() as usize);
    let source: &[E] = bytemuck::cast_slice(source);
    let matrices = bytemuck::cast_slice_mut(destination).chunks_exact_mut(rows * cols);
    for (to, from) in matrices.zip(source.chunks_exact(rows * cols)) {
        // The crate calls the columns of the source its width.
        ::transpose::transpose(from, to, cols, rows);
    }
}
