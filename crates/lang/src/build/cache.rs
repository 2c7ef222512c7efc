//! The place of executables: a folder for each, which appears complete. The least used are removed.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use antiphon_outside::folder::{is_ours, private};

use super::{BuildError, Executable, Runtime};

/// The executable's name in its folder.
pub(super) const PROGRAM: &str = "program";

/// The file with the warnings. Its time is that of the last use.
const WARNINGS: &str = "warnings";

/// The most executables that are kept. One has about half a megabyte.
const MOST: usize = 400;

/// The age of an unfinished folder from which on its build must have been killed.
const ABANDONED: Duration = Duration::from_secs(3600);

const UNFINISHED: &str = "unfinished-";

#[derive(Debug, Clone)]
pub(super) struct Cache {
    folder: PathBuf,
}

impl Cache {
    pub(super) fn new(folder: &Path) -> Cache {
        // The path is absolute, because the compiler may run in another folder.
        Cache {
            folder: std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()),
        }
    }

    pub(super) fn place(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Makes the folder for this user alone, or checks that it is so, because its files are
    /// executed.
    pub(super) fn ready(&self) -> Result<(), BuildError> {
        private(&self.folder).map_err(BuildError::NotOurs)
    }

    /// Returns the executable of this name, and records its use. Returns `None` for one that
    /// another user put there.
    pub(super) fn find(&self, key: &str) -> Option<Executable> {
        let place = self.place(key);
        let path = place.join(PROGRAM);
        for found in [&place, &path] {
            is_ours(found).ok()?;
        }
        let warnings = fs::read_to_string(place.join(WARNINGS)).ok()?;
        // A cache that cannot be written can still be read.
        if let Ok(file) = fs::File::open(place.join(WARNINGS)) {
            let _ = file.set_modified(SystemTime::now());
        }
        path.is_file().then_some(Executable { path, warnings })
    }

    /// Returns the folder with a run-time's files, and writes them if they are not there yet.
    pub(super) fn unpacked(&self, runtime: &Runtime) -> Result<PathBuf, BuildError> {
        let place = self.place(&format!("runtime-{}", runtime.key));
        if place.is_dir() {
            self.check_all(&place)?;
            return Ok(place);
        }
        let folder = self.unfinished()?;
        for (name, bytes) in runtime.files {
            let path = folder.path().join(name);
            fs::write(&path, bytes).map_err(BuildError::file(&path))?;
        }
        self.move_to(folder, &place)?;
        Ok(place)
    }

    /// Makes a folder to build in. It is removed unless it is moved to its place.
    pub(super) fn unfinished(&self) -> Result<TempDir, BuildError> {
        self.ready()?;
        tempfile::Builder::new()
            .prefix(UNFINISHED)
            .tempdir_in(&self.folder)
            .map_err(BuildError::file(&self.folder))
    }

    /// Checks that a folder and all files in it are this user's.
    fn check_all(&self, place: &Path) -> Result<(), BuildError> {
        is_ours(place).map_err(BuildError::NotOurs)?;
        let entries = fs::read_dir(place).map_err(BuildError::file(place))?;
        for entry in entries {
            let entry = entry.map_err(BuildError::file(place))?;
            is_ours(&entry.path()).map_err(BuildError::NotOurs)?;
        }
        Ok(())
    }

    /// Moves a folder to its place. If another process of this user was faster, its folder is
    /// equally good.
    pub(super) fn move_to(&self, folder: TempDir, place: &Path) -> Result<(), BuildError> {
        match fs::rename(folder.path(), place) {
            Ok(()) => {
                let _ = folder.keep();
                Ok(())
            }
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists
                ) =>
            {
                self.check_all(place)
            }
            Err(error) => Err(BuildError::file(place)(error)),
        }
    }

    /// Moves a folder with an executable to its place, and removes those used least.
    pub(super) fn keep(
        &self,
        key: &str,
        folder: TempDir,
        warnings: &str,
    ) -> Result<Executable, BuildError> {
        let path = folder.path().join(WARNINGS);
        fs::write(&path, warnings).map_err(BuildError::file(&path))?;
        let place = self.place(key);
        self.move_to(folder, &place)?;
        self.tidy(key);
        Ok(Executable {
            path: place.join(PROGRAM),
            warnings: warnings.to_owned(),
        })
    }

    /// Keeps C that the compiler refused, for the report of that fault.
    pub(super) fn keep_refused(&self, key: &str, text: &str) -> Result<PathBuf, BuildError> {
        let path = self.place(&format!("refused-{key}.c"));
        fs::write(&path, text).map_err(BuildError::file(&path))?;
        Ok(path)
    }

    /// Removes the executables that were unused for longest, and the folders of killed builds.
    /// Errors are ignored, because nothing depends on it.
    fn tidy(&self, newest: &str) {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return;
        };
        let mut kept = Vec::new();
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with(UNFINISHED) {
                if age(&path).is_some_and(|age| age > ABANDONED) {
                    let _ = fs::remove_dir_all(&path);
                }
            } else if let Some(age) = age(&path.join(WARNINGS)).filter(|_| name != newest) {
                kept.push((age, path));
            }
        }
        kept.sort();
        for (_, path) in kept.iter().skip(MOST - 1) {
            let _ = fs::remove_dir_all(path);
        }
    }
}

fn age(path: &Path) -> Option<Duration> {
    fs::metadata(path).ok()?.modified().ok()?.elapsed().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(cache: &Cache, key: &str) -> PathBuf {
        let folder = cache.unfinished().unwrap();
        fs::write(folder.path().join(PROGRAM), key).unwrap();
        let kept = cache.keep(key, folder, "a warning").unwrap();
        kept.path.parent().unwrap().to_owned()
    }

    fn age_by(path: &Path, seconds: u64) {
        let file = fs::File::open(path).unwrap();
        let then = SystemTime::now() - Duration::from_secs(seconds);
        file.set_modified(then).unwrap();
    }

    #[test]
    fn what_is_kept_is_found_whole_and_twice_the_same_is_once() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(&folder.path().join("not/there/yet"));
        assert_eq!(cache.find("a"), None);
        entry(&cache, "a");
        entry(&cache, "a");
        let found = cache.find("a").unwrap();
        assert_eq!(fs::read_to_string(found.path).unwrap(), "a");
        assert_eq!(found.warnings, "a warning");
        assert_eq!(fs::read_dir(cache.place("")).unwrap().count(), 1);
    }

    #[test]
    fn the_least_used_and_the_abandoned_go() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        for number in 0..MOST {
            let place = entry(&cache, &format!("key{number}"));
            age_by(&place.join(WARNINGS), 10_000 - number as u64);
        }
        let abandoned = cache.place("unfinished-old");
        fs::create_dir(&abandoned).unwrap();
        age_by(&abandoned, 2 * ABANDONED.as_secs());
        let runtime = cache.place("runtime-1");
        fs::create_dir(&runtime).unwrap();
        // The oldest has just been used, so the next oldest is removed.
        assert!(cache.find("key0").is_some());
        entry(&cache, "newest");
        assert!(cache.find("key0").is_some());
        assert!(cache.find("key1").is_none());
        assert!(cache.find("key2").is_some() && cache.find("newest").is_some());
        assert!(!abandoned.exists() && runtime.exists());
    }

    #[test]
    fn an_executable_that_another_user_planted_is_not_found() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        let place = entry(&cache, "planted");
        let program = place.join(PROGRAM);
        let elsewhere = folder.path().join("elsewhere");
        fs::rename(&program, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &program).unwrap();
        assert_eq!(cache.find("planted"), None);
        let built = cache.unfinished().unwrap();
        fs::write(built.path().join(PROGRAM), "ours").unwrap();
        let refused = cache.keep("planted", built, "").unwrap_err();
        assert!(matches!(refused, BuildError::NotOurs(_)), "{refused}");
    }

    #[test]
    fn a_cache_that_others_may_write_is_refused_with_the_mend() {
        let folder = tempfile::tempdir().unwrap();
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        fs::set_permissions(folder.path(), open).unwrap();
        let refused = Cache::new(folder.path()).ready().unwrap_err().to_string();
        assert!(refused.contains("ANTIPHON_CACHE"), "{refused}");
    }
}
