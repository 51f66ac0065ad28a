//! A file's elements through a transpose and on to a writer, in bounded memory.

use std::io::{self, Write};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use memmap2::MmapMut;

use super::band::{Band, bands};
use crate::backend::{BAND_BYTES, BackendError, RunOptions, TransposeBackend};
use crate::backends::cpu::kernels;
use crate::problem::{LayoutError, Problem};
use crate::variant::Variant;

/// The bytes of a band on the CPU. Each goes once through the whole source, so that few and large ones are fast.
const CPU_BAND_BYTES: u64 = 256 << 20;
/// One is filled while the other is written.
const BANDS: usize = 2;
/// The bytes of the source that are looked at before it is told to forget.
const SPAN_BYTES: u64 = 256 << 20;
/// The bytes that are written at a time: while the system writes them, no interrupt is heard.
const PIECE_BYTES: usize = 4 << 20;

/// Elements in a file.
pub(crate) trait Source: Sync {
    /// All of them.
    fn bytes(&self) -> &[u8];

    /// Lets go of the memory that they have come to take; they are read anew when they are needed again.
    fn forget(&self);
}

/// Why elements did not get through.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StreamError {
    #[error("interrupted")]
    Interrupted,
    /// Its end, or its content, is no longer what it was.
    #[error("{0}")]
    Source(String),
    #[error("{0}")]
    Write(#[from] io::Error),
    #[error("no memory for a band of {bytes} B: {error}")]
    Memory { bytes: usize, error: io::Error },
    #[error(transparent)]
    Layout(#[from] LayoutError),
    #[error(transparent)]
    Device(#[from] BackendError),
}

/// Where elements go, who is told how many bytes have arrived, and who may stop them.
pub(crate) struct Sink<'a> {
    pub(crate) to: &'a mut dyn Write,
    pub(crate) arrived: &'a mut dyn FnMut(u64),
    pub(crate) stop: &'a AtomicBool,
}

impl Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), StreamError> {
        for piece in bytes.chunks(PIECE_BYTES) {
            self.to.write_all(piece).map_err(StreamError::Write)?;
            (self.arrived)(piece.len() as u64);
            self.check()?;
        }
        Ok(())
    }

    fn check(&self) -> Result<(), StreamError> {
        if self.stop.load(Ordering::Relaxed) { Err(StreamError::Interrupted) } else { Ok(()) }
    }
}

/// Writes the elements as they are.
pub(crate) fn copy(source: &dyn Source, sink: &mut Sink<'_>) -> Result<(), StreamError> {
    for piece in source.bytes().chunks(BAND_BYTES) {
        sink.write(piece)?;
        source.forget();
    }
    Ok(())
}

/// Memory for one band after the other.
#[derive(Default)]
struct Room {
    map: Option<MmapMut>,
    /// Bytes of the band that has it.
    length: usize,
}

impl Room {
    /// So many bytes, of any content, for the next band. They are asked for anew where there are not as many yet: in huge
    /// pages, if the system has them, for to touch small ones for the first time takes as long as to fill them.
    fn of(&mut self, length: usize) -> Result<&mut [u8], StreamError> {
        self.length = length;
        let map = match self.map.take().filter(|map| map.len() >= length) {
            Some(map) => map,
            None => {
                let no_memory = |error| StreamError::Memory { bytes: length, error };
                // A map has at least a byte.
                let map = MmapMut::map_anon(length.max(1)).map_err(no_memory)?;
                #[cfg(target_os = "linux")]
                // Small pages do as well.
                let _ = map.advise(memmap2::Advice::HugePage);
                map
            }
        };
        Ok(&mut self.map.insert(map)[..length])
    }

    /// Those of the band that has it.
    fn bytes(&self) -> &[u8] {
        self.map.as_ref().map_or(&[], |map| &map[..self.length])
    }
}

/// Transposes on the CPU and writes what is done meanwhile.
pub(crate) fn on_cpu(source: &dyn Source, problem: Problem, sink: &mut Sink<'_>) -> Result<(), StreamError> {
    on_cpu_by(CPU_BAND_BYTES, source, problem, sink)
}

fn on_cpu_by(band_bytes: u64, source: &dyn Source, problem: Problem, sink: &mut Sink<'_>) -> Result<(), StreamError> {
    let (full, filled) = sync_channel(BANDS);
    let (empty, emptied) = sync_channel(BANDS);
    for _ in 0..BANDS {
        // There is room for all of them, and its other end is here.
        let _ = empty.send(Room::default());
    }
    // Both ends are moved here, so that they are gone when this is over: nobody waits for them any more.
    thread::scope(move |scope| {
        scope.spawn(move || fill(band_bytes, source, problem, &full, &emptied));
        for band in filled {
            let band: Room = band?;
            sink.write(band.bytes())?;
            // When all bands are filled nobody waits for an empty one.
            let _ = empty.send(band);
        }
        Ok(())
    })
}

/// Fills bands until all are done or nobody takes them.
fn fill(
    band_bytes: u64,
    source: &dyn Source,
    problem: Problem,
    full: &SyncSender<Result<Room, StreamError>>,
    emptied: &Receiver<Room>,
) {
    for band in bands(problem, band_bytes) {
        let Ok(mut room) = emptied.recv() else { return };
        let done = band.map_err(StreamError::from).and_then(|band| {
            transpose(source, &band, room.of(band.problem.destination_bytes() as usize)?).map(|()| room)
        });
        if full.send(done).is_err() {
            return;
        }
    }
}

/// Fills a band, from a part of the source's rows at a time: of a file that is mapped, pages around those that are read
/// come to memory as well, and go when the source is told to forget.
fn transpose(source: &dyn Source, band: &Band, destination: &mut [u8]) -> Result<(), StreamError> {
    let (problem, width) = (band.problem, band.problem.width().bytes());
    let ld = problem.source().ld;
    let step = match problem.batch() {
        1 => (SPAN_BYTES / (ld * width as u64)).max(1),
        _ => problem.rows(),
    };
    for row in (0..problem.rows()).step_by(step as usize) {
        let rows = step.min(problem.rows() - row);
        let part = Problem::new(rows, problem.cols(), problem.batch(), problem.element()).map_err(LayoutError::from)?;
        let part = part.with_layouts(problem.source(), problem.destination())?;
        let begin = (band.source + row * ld) as usize * width;
        let from = &source.bytes()[begin..][..part.source_bytes() as usize];
        let to = &mut destination[row as usize * width..][..part.destination_bytes() as usize];
        kernels::tiled(&part, from, to);
        source.forget();
    }
    Ok(())
}

/// Transposes on a device that has room for the whole problem, twice.
pub(crate) fn on_device(
    device: &dyn TransposeBackend,
    source: &dyn Source,
    problem: Problem,
    sink: &mut Sink<'_>,
) -> Result<(), StreamError> {
    let workspace = device.workspace(&problem, 1)?;
    let mut offset = 0;
    for piece in source.bytes().chunks(BAND_BYTES) {
        sink.check()?;
        workspace.write_source(0, offset, piece)?;
        source.forget();
        offset += piece.len() as u64;
    }
    workspace.prepare(Variant::Auto, RunOptions::default())?.run(NonZeroU32::MIN)?;
    let mut buffer = vec![0; BAND_BYTES.min(problem.destination_bytes() as usize)];
    for offset in (0..problem.destination_bytes()).step_by(BAND_BYTES) {
        let length = (problem.destination_bytes() - offset).min(BAND_BYTES as u64) as usize;
        workspace.read_destination(0, offset, &mut buffer[..length])?;
        sink.write(&buffer[..length])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::cpu::Cpu;
    use crate::element::Element;
    use crate::pattern::Pattern;

    impl Source for Vec<u8> {
        fn bytes(&self) -> &[u8] {
            self
        }

        fn forget(&self) {}
    }

    /// A writer that fails once so many bytes have been written.
    struct Full(usize);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            match self.0.checked_sub(bytes.len()) {
                Some(left) => self.0 = left,
                None => return Err(io::ErrorKind::StorageFull.into()),
            }
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn source_of(problem: &Problem) -> Vec<u8> {
        let mut source = vec![0; problem.source_bytes() as usize];
        Pattern { seed: 1 }.fill(0, problem.width().bytes(), &mut source);
        source
    }

    #[test]
    fn cpu_and_device_give_the_transpose() {
        let shapes = [(3, 5, 7, Element::U8), (1000, 37, 2, Element::F64), (9_000, 2, 4, Element::U8)];
        for (rows, cols, batch, element) in shapes {
            let problem = Problem::new(rows, cols, batch, element).unwrap();
            let (source, width) = (source_of(&problem), problem.width().bytes());
            let of = |index: Option<u64>| &source[index.unwrap() as usize * width..][..width];
            // On the CPU in many bands, and on a device.
            for band_bytes in [Some(1000), Some(50_000), None] {
                let (mut written, mut arrived, stop) = (Vec::new(), 0, AtomicBool::new(false));
                let mut sink = Sink { to: &mut written, arrived: &mut |bytes| arrived += bytes, stop: &stop };
                match band_bytes {
                    Some(band_bytes) => on_cpu_by(band_bytes, &source, problem, &mut sink).unwrap(),
                    None => on_device(&Cpu::new(), &source, problem, &mut sink).unwrap(),
                }
                assert_eq!(arrived, problem.destination_bytes());
                let wrong = written.chunks(width).zip(problem.sources_from(0)).position(|(got, from)| got != of(from));
                assert_eq!((written.len(), wrong), (source.len(), None), "{rows}x{cols}x{batch} {element}");
            }
        }
    }

    #[test]
    fn a_full_disk_and_an_interrupt_end_it() {
        let problem = Problem::new(9_000, 2, 8, Element::U8).unwrap();
        let source = source_of(&problem);
        let stop = AtomicBool::new(false);
        let mut sink = Sink { to: &mut Full(100_000), arrived: &mut |_| (), stop: &stop };
        assert!(matches!(on_cpu_by(1000, &source, problem, &mut sink), Err(StreamError::Write(_))));
        assert!(matches!(copy(&source, &mut sink), Err(StreamError::Write(_))));
        let mut stopping = |_| stop.store(true, Ordering::Relaxed);
        let mut sink = Sink { to: &mut io::sink(), arrived: &mut stopping, stop: &stop };
        assert!(matches!(on_cpu_by(1000, &source, problem, &mut sink), Err(StreamError::Interrupted)));
        assert!(matches!(copy(&source, &mut sink), Err(StreamError::Interrupted)));
        assert!(matches!(on_device(&Cpu::new(), &source, problem, &mut sink), Err(StreamError::Interrupted)));
    }
}
