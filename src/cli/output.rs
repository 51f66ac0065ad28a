//! Output files: proven writable before anything is measured, written whole or not at all.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use same_file::Handle;
use tempfile::{Builder, NamedTempFile};

/// Opens the files that are named. None may be named twice, under whatever names, nor be one of those that are `taken`.
///
/// # Errors
/// A sentence that names the file and what is wrong with it.
pub fn open_all<const N: usize>(
    paths: [&Option<PathBuf>; N],
    taken: &[&Output],
) -> Result<[Option<Output>; N], String> {
    let mut outputs = [const { None }; N];
    for (output, path) in outputs.iter_mut().zip(paths) {
        *output = path.as_deref().map(Output::open).transpose()?;
    }
    let all: Vec<&Output> = outputs.iter().flatten().chain(taken.iter().copied()).collect();
    let twice = |(index, output): (usize, &&Output)| all[..index].iter().any(|other| output.is_same(other));
    match all.iter().enumerate().find(|&(index, output)| twice((index, output))) {
        Some((_, output)) => Err(format!("{} is named for two outputs", output.path.display())),
        None => Ok(outputs),
    }
}

/// What makes the text of an output.
pub type Text<'a> = &'a dyn Fn() -> Result<String, String>;

/// Writes all of them, also those after one that fails.
///
/// # Errors
/// Sentences that name the files and what is wrong with them.
pub fn write_all<const N: usize>(outputs: [(Option<Output>, Text); N]) -> Result<(), String> {
    let write = |(output, text): (Option<Output>, Text)| output.map_or(Ok(()), |output| output.write(&text()?));
    let failures: Vec<String> = outputs.into_iter().map(write).filter_map(Result::err).collect();
    if failures.is_empty() { Ok(()) } else { Err(failures.join("; ")) }
}

/// A file that is known to be writable and is not yet written.
pub struct Output {
    path: PathBuf,
    sink: Sink,
    /// The file that is there already, which may have other names; none where there is none, or no plain file.
    there: Option<Handle>,
}

enum Sink {
    /// Written beside the target and renamed over it, so that the target is never half-written.
    Beside(NamedTempFile),
    /// Written where it is: a pipe or a device cannot be renamed over, and a file with several names, or of somebody
    /// else, would not be the same file afterwards.
    InPlace(File),
    /// Standard output or standard error, whatever is behind them.
    Stream(Box<dyn Write>),
}

/// The temporary files of this process, for a second Ctrl-C, which ends it without cleaning up after itself.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes what was not put in place yet.
pub fn remove_temporary_files() {
    for path in TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        // It is gone already where it was put in place.
        let _ = fs::remove_file(path);
    }
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
        fail_past_the_largest_file();
        if let Some(stream) = standard_stream(path) {
            return Ok(Output { path: path.into(), sink: Sink::Stream(stream), there: plain_file(path) });
        }
        let path = resolved(path)?;
        let sink = match fs::metadata(&path) {
            Ok(found) if found.is_dir() => return Err(io::Error::from(io::ErrorKind::IsADirectory)),
            // Not truncated: until there is something to write, what is there stays.
            Ok(found) => replacing(&path, OpenOptions::new().write(true).open(&path)?, &found)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Sink::Beside(beside(&path)?),
            Err(error) => return Err(error),
        };
        let there = plain_file(&path);
        Ok(Output { path, sink, there })
    }

    /// Writes `text` and puts it in place.
    ///
    /// # Errors
    /// A sentence that names the path and why not. What was there before is still there, unless it had to be written in
    /// place.
    pub fn write(self, text: &str) -> Result<(), String> {
        let path = self.path.clone();
        let written: io::Result<()> = self.put(true, |to| to.write_all(text.as_bytes()));
        written.map_err(|error| format!("cannot write {}: {error}", path.display()))
    }

    /// Has it filled and puts it in place, if that went well.
    ///
    /// # Errors
    /// That of `fill`, or why it cannot be put in place. The same holds for what was there before as with `write`.
    pub fn fill<E: From<io::Error>>(self, fill: impl FnOnce(&mut dyn Write) -> Result<(), E>) -> Result<(), E> {
        // A large file may take long to reach the disk, and can be made anew.
        self.put(false, fill)
    }

    /// With `sync`, a new file is on the disk before it takes the place of another.
    fn put<E: From<io::Error>>(self, sync: bool, fill: impl FnOnce(&mut dyn Write) -> Result<(), E>) -> Result<(), E> {
        match self.sink {
            Sink::Stream(mut stream) => {
                fill(&mut stream)?;
                Ok(stream.flush()?)
            }
            Sink::InPlace(mut file) => {
                truncate(&file)?;
                fill(&mut file)
            }
            Sink::Beside(mut file) => {
                // As a plain file: the errors of the other name the temporary file, which is nobody's business.
                fill(file.as_file_mut())?;
                if sync {
                    file.as_file().sync_all()?;
                }
                Ok(put_in_place(file, &self.path)?)
            }
        }
    }

    /// Whether both go to one file. What is no file may take several outputs, one after the other.
    fn is_same(&self, other: &Output) -> bool {
        let file = match &self.sink {
            Sink::Beside(_) => true,
            Sink::InPlace(file) => file.metadata().is_ok_and(|found| found.is_file()),
            Sink::Stream(_) => false,
        };
        let other_file = !matches!(other.sink, Sink::Stream(_));
        let same = || self.there.is_some() && self.there == other.there;
        file && other_file && (self.path == other.path || same())
    }

    /// Makes sure that it is none of these files, under whatever name, not even as what standard output goes to: they would
    /// be written over, and one of them while it is read.
    ///
    /// # Errors
    /// A sentence that names the file.
    pub fn spare<P: AsRef<Path>>(&self, inputs: &[P]) -> Result<(), String> {
        let taken = |input: &&P| self.there.is_some() && self.there == plain_file(input.as_ref());
        match inputs.iter().find(taken) {
            Some(input) => {
                let name = input.as_ref().display();
                Err(format!("{name} is input and output; name another file for one of them"))
            }
            None => Ok(()),
        }
    }
}

/// A file that is there, to tell whether it is the same as another; `None` for what is no plain file.
fn plain_file(path: &Path) -> Option<Handle> {
    // To open a pipe would wait for its other end.
    fs::metadata(path).ok()?.is_file().then(|| Handle::from_path(path).ok())?
}

/// Has writes past the size that the user's limits allow to a file fail; the system would end the program, and leave the
/// temporary file.
fn fail_past_the_largest_file() {
    #[cfg(unix)]
    // SAFETY: to ignore a signal runs no code, and nobody else heeds this one.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// How to replace what is at `path`, opened as `file`: by a new file where that makes no difference to anyone.
fn replacing(path: &Path, file: File, found: &Metadata) -> io::Result<Sink> {
    // Nothing is put beside a device: its folder is no place for files.
    if !found.is_file() {
        return Ok(Sink::InPlace(file));
    }
    match beside(path) {
        Ok(beside) if same_after_renaming(found, beside.as_file()) => {
            beside.as_file().set_permissions(found.permissions())?;
            Ok(Sink::Beside(beside))
        }
        _ => Ok(Sink::InPlace(file)),
    }
}

/// The stream that a path stands for, whatever it is redirected to: opened anew, it would have a place of its own.
fn standard_stream(path: &Path) -> Option<Box<dyn Write>> {
    match path.to_str()? {
        "/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1" => Some(Box::new(io::stdout())),
        "/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2" => Some(Box::new(io::stderr())),
        _ => None,
    }
}

/// The path without links and other spellings: a link's target is what is to be replaced, and one file should have one
/// name. Of a file that is not there yet, the folder is resolved.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    match (fs::canonicalize(path), path.file_name()) {
        (Ok(found), _) => Ok(found),
        // What a pipe of the shell's, such as /dev/fd/63, is a link to has no path.
        (Err(_), _) if fs::metadata(path).is_ok_and(|found| !found.is_file()) => Ok(path.into()),
        (Err(_), _) if path.is_symlink() => Err(io::Error::other("it is a link to what is not there")),
        (Err(error), None) => Err(error),
        // With a separator or a dot after its name.
        (Err(_), Some(name)) if !path.as_os_str().as_encoded_bytes().ends_with(name.as_encoded_bytes()) => {
            Err(io::Error::other("there is no such folder"))
        }
        (Err(_), Some(name)) => match fs::canonicalize(folder_of(path)) {
            Ok(folder) => Ok(folder.join(name)),
            Err(error) => Err(io::Error::new(error.kind(), format!("its folder: {error}"))),
        },
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether a file that takes the place of `found` is the same to everyone: one name, and our own.
#[cfg(unix)]
fn same_after_renaming(found: &Metadata, new: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    found.nlink() == 1 && new.metadata().is_ok_and(|new| (new.uid(), new.gid()) == (found.uid(), found.gid()))
}

#[cfg(not(unix))]
fn same_after_renaming(_: &Metadata, _: &File) -> bool {
    true
}

/// Puts a new file where it belongs.
fn put_in_place(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.persist(path).map(drop).or_else(|failed| {
        // What cannot be renamed over (a file mounted into a container) may still be written where it is.
        let mut target = OpenOptions::new().write(true).open(path).map_err(|_| failed.error)?;
        truncate(&target)?;
        io::copy(&mut failed.file.reopen()?, &mut target).map(drop)
    })
}

fn truncate(file: &File) -> io::Result<()> {
    // A pipe has no length to set.
    if file.metadata()?.is_file() { file.set_len(0) } else { Ok(()) }
}

/// A new file in the folder of `path`, with the permissions that a plain new file would have.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(".cornerturn-").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // The error as it comes names the temporary file, which is nobody's business.
    let file = builder.tempfile_in(folder_of(path)).map_err(|error| io::Error::from(error.kind()))?;
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).push(file.path().into());
    Ok(file)
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
    fn the_file_stays_the_same_to_everyone() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("private"), "old").unwrap();
        fs::set_permissions(path("private"), fs::Permissions::from_mode(0o600)).unwrap();
        Output::open(&path("private")).unwrap().write("new").unwrap();
        assert_eq!(fs::metadata(path("private")).unwrap().mode() & 0o777, 0o600);

        fs::hard_link(path("private"), path("second name")).unwrap();
        Output::open(&path("private")).unwrap().write("newer").unwrap();
        assert_eq!(fs::read_to_string(path("second name")).unwrap(), "newer");

        let [first, second] = ["private", "second name"].map(|name| Some(path(name)));
        assert!(open_all([&first, &second], &[]).err().unwrap().ends_with("is named for two outputs"));
        let taken = Output::open(&path("private")).unwrap();
        assert!(open_all([&second], &[&taken]).is_err());
        assert!(open_all([&second, &Some(path("third"))], &[]).is_ok());
        assert!(taken.spare(&[path("second name")]).unwrap_err().contains("is input and output"));
        assert_eq!(taken.spare(&[path("third"), folder.path().into()]), Ok(()));

        symlink("private", path("link")).unwrap();
        Output::open(&path("link")).unwrap().write("n").unwrap();
        assert!(path("link").is_symlink());
        assert_eq!(fs::read_to_string(path("private")).unwrap(), "n");
        symlink("nowhere", path("dangling")).unwrap();
        assert!(Output::open(&path("dangling")).err().unwrap().contains("a link to what is not there"));
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_written_directly() {
        Output::open(Path::new("/dev/null")).unwrap().write("text").unwrap();
    }
}
