//! Input files: mapped into memory, whatever they are.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use memmap2::Mmap;

use super::Failure;
use super::lost::Watch;
use crate::file::stream::Source;

/// The bytes of a stream that are read before they are written.
const PIECE_BYTES: u64 = 64 << 10;

/// A file that is read.
pub struct Input {
    /// What to call it.
    pub name: String,
    file: File,
    /// Its bytes.
    pub length: u64,
    /// Where it is; `None` for what has no place of its own.
    pub path: Option<PathBuf>,
    /// When it was written to last.
    modified: Option<SystemTime>,
}

impl Input {
    /// Opens `path`, or standard input for `-`. What is no regular file is read to its end first.
    ///
    /// # Errors
    /// A sentence that names the path and why not: bad input if it cannot be read.
    pub fn open(path: &Path) -> Result<Input, Failure> {
        if path == Path::new("-") {
            return Input::spooled(&mut io::stdin().lock(), "standard input".into());
        }
        let name = path.display().to_string();
        let unreadable = |error| unreadable(&name, &error);
        let mut file = File::open(path).map_err(unreadable)?;
        let found = file.metadata().map_err(unreadable)?;
        if found.is_dir() {
            return Err(unreadable(io::ErrorKind::IsADirectory.into()));
        }
        if !found.is_file() {
            return Input::spooled(&mut file, name);
        }
        Ok(Input { name, file, length: found.len(), path: Some(path.into()), modified: found.modified().ok() })
    }

    /// A copy of a stream, in a file without a name.
    fn spooled(stream: &mut dyn Read, name: String) -> Result<Input, Failure> {
        let mut length = 0;
        let no_room = |error: io::Error, length: u64| {
            let folder = std::env::temp_dir();
            let message = format!("cannot keep {name} in {}: {error}, after {length} B", folder.display());
            Failure::Run(format!("{message}; TMPDIR can name a folder with more room"))
        };
        let mut file = tempfile::tempfile().map_err(|error| no_room(error, length))?;
        let mut piece = Vec::new();
        loop {
            piece.clear();
            stream.take(PIECE_BYTES).read_to_end(&mut piece).map_err(|error| unreadable(&name, &error))?;
            if piece.is_empty() {
                break;
            }
            file.write_all(&piece).map_err(|error| no_room(error, length))?;
            length += piece.len() as u64;
        }
        file.rewind().map_err(|error| no_room(error, length))?;
        Ok(Input { name, file, length, path: None, modified: None })
    }

    /// The file, to read its beginning.
    pub fn reader(&mut self) -> &mut dyn Read {
        &mut self.file
    }

    /// What is in it from byte `offset` on.
    ///
    /// # Errors
    /// A sentence that names the file and why not.
    pub fn elements(&self, offset: u64) -> Result<Elements, String> {
        // SAFETY: what the map shows changes if somebody writes to the file meanwhile. Nothing but the elements depends on
        // it, and then there is no result. Reads past a new end are watched over.
        let map = unsafe { Mmap::map(&self.file) };
        let mapped = map.and_then(|map| Ok((Watch::over(&map)?, map)));
        let (watch, map) = mapped.map_err(|error| format!("cannot map {}: {error}", self.name))?;
        Ok(Elements { watch, map, offset: offset as usize })
    }

    /// Why what was read of `elements` is not what the file held when it was opened; `None` where it is.
    pub fn changed(&self, elements: &Elements) -> Option<String> {
        let name = &self.name;
        match self.file.metadata() {
            Err(error) => Some(format!("cannot read {name}: {error}")),
            Ok(found) if found.len() != self.length => {
                let (had, has) = (self.length, found.len());
                Some(format!("{name} was changed while it was read: it had {had} B and has {has} B"))
            }
            Ok(_) if elements.watch.lost() => Some(format!("cannot read {name}: a part of it could not be read")),
            Ok(found) if self.path.is_some() && found.modified().ok() != self.modified => {
                Some(format!("{name} was changed while it was read: its {} B were written to", self.length))
            }
            Ok(_) => None,
        }
    }
}

fn unreadable(name: &str, error: &io::Error) -> Failure {
    Failure::Input(format!("cannot read {name}: {error}"))
}

/// The part of a file that holds elements.
pub struct Elements {
    // Dropped before the map is.
    watch: Watch,
    map: Mmap,
    offset: usize,
}

impl Source for Elements {
    fn bytes(&self) -> &[u8] {
        &self.map[self.offset..]
    }

    fn forget(&self) {
        #[cfg(unix)]
        {
            // SAFETY: the map is of a file and nobody writes to it, so that what is read again is the same.
            // It is advice: where it is not taken, memory stays in use.
            let _ = unsafe { self.map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
        }
    }
}
