//! Input files: mapped into memory, whatever they are.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use crate::file::stream::Source;

/// A file that is read.
pub struct Input {
    /// What to call it.
    pub name: String,
    file: File,
    /// Its bytes.
    pub length: u64,
    /// Where it is; `None` for what has no place of its own.
    pub path: Option<PathBuf>,
}

impl Input {
    /// Opens `path`, or standard input for `-`. What is no regular file is read to its end first.
    ///
    /// # Errors
    /// A sentence that names the path and why not.
    pub fn open(path: &Path) -> Result<Input, String> {
        let standard = path == Path::new("-");
        let name = if standard { "standard input".into() } else { path.display().to_string() };
        Input::try_open(path, standard, name.clone()).map_err(|error| format!("cannot read {name}: {error}"))
    }

    fn try_open(path: &Path, standard: bool, name: String) -> io::Result<Input> {
        if standard {
            return Input::spooled(&mut io::stdin().lock(), name);
        }
        let mut file = File::open(path)?;
        let found = file.metadata()?;
        if found.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !found.is_file() {
            return Input::spooled(&mut file, name);
        }
        Ok(Input { name, file, length: found.len(), path: Some(path.canonicalize()?) })
    }

    /// A copy of a stream, in a file without a name.
    fn spooled(stream: &mut dyn Read, name: String) -> io::Result<Input> {
        let mut file = tempfile::tempfile()?;
        let length = io::copy(stream, &mut file)?;
        file.rewind()?;
        Ok(Input { name, file, length, path: None })
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
        // SAFETY: what the map shows changes if somebody writes to the file meanwhile, and reads past a new end are
        // fatal; as with every program that maps its input, nobody should.
        let map = unsafe { Mmap::map(&self.file) };
        let map = map.map_err(|error| format!("cannot map {}: {error}", self.name))?;
        Ok(Elements { map, offset: offset as usize })
    }
}

/// The part of a file that holds elements.
pub struct Elements {
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
