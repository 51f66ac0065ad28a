//! What `cornerturn bench --tune` keeps from one run to the next: a file of winners in the user's cache folder.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use directories::ProjectDirs;
use fd_lock::RwLock;

use super::Failure;
use super::output::Output;
use crate::report::escape;
use crate::tune::Winners;

/// The file, read and known to be writable.
pub struct Tuning {
    pub winners: Winners,
    path: PathBuf,
    pub output: Output,
}

impl Tuning {
    /// Reads the file, if there is one, and makes sure that it can be written.
    pub fn open() -> Result<Tuning, Failure> {
        let Some(folders) = ProjectDirs::from("", "", "cornerturn") else {
            return Err(Failure::Input("--tune has no place for what it measures: the user has no home folder".into()));
        };
        Tuning::open_in(folders.cache_dir())
    }

    fn open_in(folder: &Path) -> Result<Tuning, Failure> {
        fs::create_dir_all(folder).map_err(|error| {
            Failure::Input(format!("--tune cannot make {} for what it measures: {error}", folder.display()))
        })?;
        let path = folder.join("tuning.json");
        let winners = read(&path).map_err(Failure::Input)?;
        let output = Output::open(&path).map_err(Failure::Input)?;
        Ok(Tuning { winners, path, output })
    }

    /// Adds what was measured to the file and says in a line what was kept and what was taken.
    pub fn store(self) -> Result<String, String> {
        let (measured, taken) = (self.winners.measured(), self.winners.taken());
        if measured > 0 {
            // Another run may have added to it in the meantime, or be about to.
            let mut lock = lock_of(&self.path)?;
            let _guard = lock.write().map_err(|error| format!("cannot lock {}: {error}", self.path.display()))?;
            let mut all = read(&self.path)?;
            all.update(&self.winners);
            self.output.write(&all.to_json())?;
        }
        let file = escape(&self.path.display().to_string());
        Ok(format!("Tuning: {file}; winners measured and stored there: {measured}, taken from there: {taken}.\n"))
    }
}

/// The lock under which the file is read and replaced: a file beside it, since the file itself becomes another.
fn lock_of(path: &Path) -> Result<RwLock<File>, String> {
    let path = path.with_extension("lock");
    let file = OpenOptions::new().create(true).write(true).truncate(false).open(&path);
    file.map(RwLock::new).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// What cannot be read is not overwritten: it may be of a later version, or somebody's own.
fn read(path: &Path) -> Result<Winners, String> {
    // A pipe would keep us waiting, and some devices have no end.
    if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Err(format!("{} is no regular file; once it is removed, all is measured anew", path.display()));
    }
    Winners::read(path).map_err(|error| format!("{error}; once it is removed, all is measured anew"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::TransposeBackend;
    use crate::backends::cpu::Cpu;
    use crate::element::Element;
    use crate::problem::Problem;
    use crate::tune::Key;
    use crate::variant::Variant;

    fn key(rows: u64) -> Key {
        Key::new(Cpu::new().device(), &Problem::new(rows, 7, 1, Element::F32).unwrap(), None)
    }

    fn open_in(folder: &Path) -> Tuning {
        Tuning::open_in(folder).unwrap_or_else(|_| panic!("{} is there", folder.display()))
    }

    #[test]
    fn two_runs_at_once_lose_nothing_of_each_other() {
        let cache = tempfile::tempdir().unwrap();
        let folder = cache.path().join("new/cornerturn");
        let (mut one, mut other) = (open_in(&folder), open_in(&folder));
        one.winners.insert(key(1), Variant::Naive);
        other.winners.insert(key(2), Variant::Tiled);
        one.store().unwrap();
        other.store().unwrap();
        let read = open_in(&folder);
        assert_eq!(
            (read.winners.find(&key(1)), read.winners.find(&key(2))),
            (Some(Variant::Naive), Some(Variant::Tiled))
        );
        assert!(read.store().unwrap().ends_with("measured and stored there: 0, taken from there: 0.\n"));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "no leftovers but the lock");
    }

    #[test]
    fn many_runs_that_end_together_lose_nothing_of_each_other() {
        const RUNS: usize = 16;
        let cache = tempfile::tempdir().unwrap();
        let ready = std::sync::Barrier::new(RUNS);
        let run = |rows| {
            let mut tuning = open_in(cache.path());
            tuning.winners.insert(key(rows), Variant::Tiled);
            ready.wait();
            tuning.store().unwrap();
        };
        std::thread::scope(|scope| {
            for rows in 1..=RUNS {
                scope.spawn(move || run(rows as u64));
            }
        });
        let read = open_in(cache.path());
        assert!((1..=RUNS).all(|rows| read.winners.find(&key(rows as u64)) == Some(Variant::Tiled)));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_not_waited_for() {
        let cache = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/dev/full", cache.path().join("tuning.json")).unwrap();
        match Tuning::open_in(cache.path()) {
            Err(Failure::Input(text)) => assert!(text.contains("is no regular file"), "{text}"),
            _ => panic!("it was read"),
        }
    }

    #[test]
    fn what_was_spoilt_in_the_meantime_is_not_overwritten() {
        let cache = tempfile::tempdir().unwrap();
        let mut tuning = open_in(cache.path());
        let path = cache.path().join("tuning.json");
        fs::write(&path, "spoilt").unwrap();
        tuning.winners.insert(key(1), Variant::Naive);
        assert!(tuning.store().unwrap_err().contains("once it is removed"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "spoilt");
    }
}
