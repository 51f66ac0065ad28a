//! What `cornerturn bench --tune` keeps from one run to the next: a file of winners in the user's cache folder.

use std::fs;
use std::path::{Path, PathBuf};

use directories::ProjectDirs;

use super::Failure;
use super::output::Output;
use crate::report::escape;
use crate::tune::Winners;

/// The file, read and known to be writable.
pub struct Tuning {
    pub winners: Winners,
    path: PathBuf,
    output: Output,
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
            // Another run may have added to it in the meantime.
            let mut all = read(&self.path)?;
            all.update(&self.winners);
            self.output.write(&all.to_json())?;
        }
        let file = escape(&self.path.display().to_string());
        Ok(format!("Tuning: {file}; winners measured and stored there: {measured}, taken from there: {taken}.\n"))
    }
}

/// What cannot be read is not overwritten: it may be of a later version, or somebody's own.
fn read(path: &Path) -> Result<Winners, String> {
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
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no leftovers");
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
