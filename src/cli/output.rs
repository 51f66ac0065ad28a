//! Output files: proven writable before anything is measured, written whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

/// A file that is known to be writable and is not yet written.
pub struct Output {
    path: PathBuf,
    sink: Sink,
}

enum Sink {
    /// Written beside the target and renamed over it, so that the target is never half-written.
    Beside(NamedTempFile),
    /// A pipe or a device, which cannot be renamed over.
    Direct(File),
}

impl Output {
    /// Makes sure that `path` can be written, and leaves what is there as it is.
    ///
    /// # Errors
    /// A sentence that names the path and why not.
    pub fn open(path: &Path) -> Result<Output, String> {
        Output::try_open(path).map_err(|error| format!("cannot write {}: {error}", path.display()))
    }

    fn try_open(path: &Path) -> io::Result<Output> {
        // A link is followed: its target is what is to be replaced.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let sink = match fs::metadata(&path) {
            Ok(found) if found.is_dir() => return Err(io::Error::from(io::ErrorKind::IsADirectory)),
            Ok(found) if !found.is_file() => Sink::Direct(OpenOptions::new().write(true).open(&path)?),
            Ok(_) => {
                // Replacing a file that the user may not write would work, and is not what was meant.
                OpenOptions::new().append(true).open(&path)?;
                Sink::Beside(beside(&path)?)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Sink::Beside(beside(&path)?),
            Err(error) => return Err(error),
        };
        Ok(Output { path, sink })
    }

    /// Writes `text` and puts it in place.
    ///
    /// # Errors
    /// A sentence that names the path and why not; what was there before is still there.
    pub fn write(self, text: &str) -> Result<(), String> {
        let failed = |error: io::Error| format!("cannot write {}: {error}", self.path.display());
        match self.sink {
            Sink::Direct(mut file) => file.write_all(text.as_bytes()).map_err(failed),
            Sink::Beside(mut file) => {
                file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
                file.persist(&self.path).map(drop).map_err(|error| failed(error.error))
            }
        }
    }

    /// Where it goes.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A new file in the folder of `path`, with the permissions that a plain new file would have.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = Builder::new();
    builder.prefix(".cornerturn-").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_file_stays_until_the_new_one_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.json");
        fs::write(&path, "old").unwrap();
        let output = Output::open(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        output.write("new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        drop(Output::open(&path).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no leftovers");
    }

    #[test]
    fn what_cannot_be_written_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("no/such/folder/out.json");
        for path in [folder.path(), &missing] {
            let message = Output::open(path).err().unwrap();
            assert!(message.contains(&path.display().to_string()), "{message}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_written_directly() {
        Output::open(Path::new("/dev/null")).unwrap().write("text").unwrap();
    }
}
