//! The system as the checks see it, so that a test can show them another.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io;
#[cfg(test)]
use std::path::Path;
use std::path::PathBuf;

/// Files under a root folder, and variables of the environment.
pub struct System {
    root: PathBuf,
    variables: HashMap<String, String>,
}

impl System {
    /// This one.
    pub fn here() -> System {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
        };
        System { root: PathBuf::from("/"), variables: std::env::vars_os().filter_map(text).collect() }
    }

    #[cfg(test)]
    pub fn of(root: &Path, variables: &[(&str, &str)]) -> System {
        let variables = variables.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        System { root: root.into(), variables }
    }

    /// Where an absolute path is.
    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// The value of a variable, where it is set and not empty.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    pub fn exists(&self, path: &str) -> bool {
        self.at(path).exists()
    }

    pub fn is_folder(&self, path: &str) -> bool {
        self.at(path).is_dir()
    }

    /// The text of a file; `None` where there is none.
    pub fn text(&self, path: &str) -> Option<String> {
        fs::read(self.at(path)).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The paths of what is in a folder, in the order of their names; none where there is no folder.
    pub fn list(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.at(folder)).into_iter().flatten().flatten();
        let name = |entry: fs::DirEntry| entry.file_name().into_string().ok();
        let folder = folder.trim_end_matches('/');
        let mut paths: Vec<String> = entries.filter_map(name).map(|name| format!("{folder}/{name}")).collect();
        paths.sort();
        paths
    }

    /// Whether a device may be opened as a driver's library opens it.
    pub fn open(&self, path: &str) -> io::Result<()> {
        OpenOptions::new().read(true).write(true).open(self.at(path)).map(drop)
    }

    /// Where a program is on the PATH.
    pub fn program(&self, name: &str) -> Option<String> {
        let folders = self.variable("PATH")?.split(':').filter(|folder| folder.starts_with('/'));
        folders.map(|folder| format!("{folder}/{name}")).find(|path| self.at(path).is_file())
    }

    /// Whether this process may administer the system, as far as the kernel tells.
    pub fn is_admin(&self) -> bool {
        /// The bit of CAP_SYS_ADMIN in a set of capabilities.
        const ADMIN: u64 = 1 << 21;
        let status = self.text("/proc/self/status").unwrap_or_default();
        let set = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
        set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).is_some_and(|set| set & ADMIN != 0)
    }
}

/// The last part of a path.
pub fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A folder of a test, with files in it.
#[cfg(test)]
pub fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path.trim_start_matches('/'));
        fs::create_dir_all(Path::parent(&path).unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_variables_are_those_of_the_folder() {
        let root = folder(&[
            ("/a/b", "text"),
            ("/a/c", ""),
            ("/bin/ncu", ""),
            ("/proc/self/status", "CapEff:\t000001ffffffffff\n"),
        ]);
        let system = System::of(root.path(), &[("PATH", "relative:/nowhere:/bin"), ("EMPTY", "")]);
        assert_eq!(system.list("/a/"), ["/a/b", "/a/c"]);
        assert_eq!((system.text("/a/b").as_deref(), system.text("/a/z")), (Some("text"), None));
        assert_eq!((system.program("ncu").as_deref(), system.program("nsys")), (Some("/bin/ncu"), None));
        assert_eq!((system.variable("EMPTY"), system.is_admin()), (None, true));
        assert!(system.open("/a/b").is_ok() && system.open("/a").is_err() && system.open("/a/z").is_err());
    }
}
