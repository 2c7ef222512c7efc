//! The registry of running sessions: files by which a process that a user starts by hand finds a
//! session of the same user.
//!
//! ```text
//!   $XDG_RUNTIME_DIR/antiphon    directory, 0700, this user's
//!     NAME                       file, 0600, this user's: a launch info, one variable a line
//! ```
//!
//! Without that variable, as in containers, the directory is below `/tmp/antiphon-UID`, 0700 as
//! well.
//!
//! A file holds the session's secret, so nothing is read from, or put into, a place that others may
//! read or change. The process that makes a file holds a lock on it while the session can be
//! joined. A file without a lock is of a session that is over: the next process that looks at it
//! removes it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, RenameFlags, fchmod, flock, fstat,
    mkdirat, openat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::{JoinError, LaunchInfo, Platform, Shm, Tcp, Udp, bootstrap, shm, udp};

/// The variable that names the directory of what belongs to the user's running processes.
const BASE: &str = "XDG_RUNTIME_DIR";
/// This system's directory in it.
const FOLDER: &str = "antiphon";
/// The longest name of a session, and the longest file that is read, in bytes.
const NAME_MAX: usize = 64;
const FILE_MAX: u64 = 64 << 10;

/// Reason why a running session was not found, or cannot be announced.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The user has no directory.
    #[error(
        "XDG_RUNTIME_DIR does not name a directory, where running sessions are found: log in by a session manager, or set it to a directory of yours of mode 0700 (export XDG_RUNTIME_DIR=/run/user/$(id -u))"
    )]
    NoFolder,
    /// A file or directory that others could read or change.
    #[error("{} {what}: {help}", path.display())]
    Unsafe {
        /// Where.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
        /// What to do.
        help: &'static str,
    },
    /// The name is no valid name.
    #[error(
        "`{0}` is no name for a session: take at most 64 letters, digits, `-`, `_` and `.`, and no `.` at the beginning"
    )]
    BadName(String),
    /// A session of that name runs.
    #[error("a session named `{0}` runs already: take another name, or end it")]
    Taken(String),
    /// There is no such session.
    #[error(
        "no session named `{name}` of this user can be joined{}: start one with `antiphon launch --joinable {name}`",
        others(running)
    )]
    Unknown {
        /// The name.
        name: String,
        /// Names of the sessions that can be joined.
        running: Vec<String>,
    },
    /// There is no session at all.
    #[error(
        "no session of this user can be joined: start one with `antiphon launch --joinable NAME`"
    )]
    Nobody,
    /// There are several.
    #[error("several sessions of this user can be joined, {}: say which by its name", .0.join(", "))]
    Ambiguous(Vec<String>),
    /// A file holds no launch info.
    #[error("{} describes no session: {why}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What it lacks.
        why: String,
    },
    /// A system call failed.
    #[error("cannot {what} {}: {source}", path.display())]
    System {
        /// What was tried.
        what: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

fn others(running: &[String]) -> String {
    match running {
        [] => String::new(),
        _ => format!(" (those that can: {})", running.join(", ")),
    }
}

/// A session that can be joined.
#[derive(Debug, Clone)]
pub struct RunningSession {
    /// Its name.
    pub name: String,
    /// The launch info that its processes have in common; its rank is of no process.
    pub info: LaunchInfo,
}

/// The running sessions of a user.
#[derive(Debug, Clone)]
pub struct Registry {
    base: PathBuf,
}

/// An announced session, which can be found until this is dropped.
#[derive(Debug)]
pub struct Joinable {
    folder: OwnedFd,
    name: String,
    /// The locked file.
    file: File,
}

impl Registry {
    /// Returns this user's registry.
    ///
    /// # Errors
    ///
    /// `XDG_RUNTIME_DIR` names no directory. Or it is not set, and the directory in its place is
    /// another user's, or others may look into it.
    pub fn of_user() -> Result<Self, RegistryError> {
        let Some(base) = std::env::var_os(BASE).filter(|base| !base.is_empty()) else {
            return Self::own_below(&std::env::temp_dir());
        };
        let base = PathBuf::from(base);
        match base.is_absolute() && base.is_dir() {
            true => Ok(Self { base }),
            false => Err(RegistryError::NoFolder),
        }
    }

    /// Returns a registry in this user's directory, below a directory that all users may write to.
    fn own_below(shared: &Path) -> Result<Self, RegistryError> {
        let base = shared.join(format!("antiphon-{}", geteuid().as_raw()));
        // Another process may have made it meanwhile.
        let _ = mkdirat(CWD, &base, Mode::RWXU);
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(CWD, &base, flags, Mode::empty());
        let folder = opened.map_err(|errno| RegistryError::System {
            what: "make",
            path: base.clone(),
            source: errno.into(),
        })?;
        check_private(&folder, &base, FileType::Directory)?;
        Ok(Self { base })
    }

    /// Returns a registry in a given directory.
    #[must_use]
    pub fn below(base: impl Into<PathBuf>) -> Self {
        Self { base: base.into() }
    }

    /// Announces a session under a name. `info` is the launch info of any of its processes.
    ///
    /// # Errors
    ///
    /// The name is invalid or taken, or the directory is not private.
    pub fn announce(&self, name: &str, info: &LaunchInfo) -> Result<Joinable, RegistryError> {
        check_name(name)?;
        let folder = self.open(true)?.ok_or(RegistryError::NoFolder)?;
        let path = self.path(name);
        let failed = |what| {
            let path = path.clone();
            move |errno: Errno| RegistryError::System {
                what,
                path,
                source: errno.into(),
            }
        };
        let draft = format!(".{name}.{}", std::process::id());
        let _ = unlinkat(&folder, &draft, AtFlags::empty());
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        let private = Mode::RUSR | Mode::WUSR;
        let file = openat(&folder, &draft, flags, private).map_err(failed("make"))?;
        let made = fchmod(&file, private)
            .and_then(|()| flock(&file, FlockOperation::NonBlockingLockExclusive));
        let mut file = File::from(file);
        let put = made
            .map_err(failed("lock"))
            .and_then(|()| {
                let written = file.write_all(text(info).as_bytes());
                written.map_err(|source| RegistryError::System {
                    what: "write",
                    path: path.clone(),
                    source,
                })
            })
            .and_then(|()| self.put(&folder, &draft, name));
        if put.is_err() {
            let _ = unlinkat(&folder, &draft, AtFlags::empty());
        }
        put.map(|()| Joinable {
            folder,
            name: name.into(),
            file,
        })
    }

    /// Gives a draft its final name, which an ended session may still have.
    fn put(&self, folder: &OwnedFd, draft: &str, name: &str) -> Result<(), RegistryError> {
        loop {
            match renameat_with(folder, draft, folder, name, RenameFlags::NOREPLACE) {
                Ok(()) => return Ok(()),
                // A look at an ended session's file removes the file.
                Err(Errno::EXIST) => {
                    if self.look(folder, name)?.is_some() {
                        return Err(RegistryError::Taken(name.into()));
                    }
                }
                Err(errno) => {
                    return Err(RegistryError::System {
                        what: "make",
                        path: self.path(name),
                        source: errno.into(),
                    });
                }
            }
        }
    }

    /// Returns all sessions that can be joined, by their names.
    ///
    /// # Errors
    ///
    /// The directory or a file in it is not private, or describes no session.
    pub fn running(&self) -> Result<Vec<RunningSession>, RegistryError> {
        let Some(folder) = self.open(false)? else {
            return Ok(Vec::new());
        };
        let path = self.base.join(FOLDER);
        let failed = |errno: Errno| RegistryError::System {
            what: "read",
            path: path.clone(),
            source: errno.into(),
        };
        let mut running = BTreeMap::new();
        for entry in Dir::read_from(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if check_name(&name).is_ok()
                && let Some(info) = self.look(&folder, &name)?
            {
                running.insert(name, info);
            }
        }
        let session = |(name, info)| RunningSession { name, info };
        Ok(running.into_iter().map(session).collect())
    }

    /// Returns the session of a name, or the only one.
    ///
    /// # Errors
    ///
    /// There is no such session, or there are several, which the error names.
    pub fn find(&self, name: Option<&str>) -> Result<RunningSession, RegistryError> {
        name.map_or(Ok(()), check_name)?;
        let mut running = self.running()?;
        let names = |running: &[RunningSession]| {
            let names = running.iter().map(|session| session.name.clone());
            names.collect::<Vec<_>>()
        };
        let Some(name) = name else {
            return match running.len() {
                0 => Err(RegistryError::Nobody),
                1 => Ok(running.remove(0)),
                _ => Err(RegistryError::Ambiguous(names(&running))),
            };
        };
        match running.iter().position(|session| session.name == name) {
            Some(at) => Ok(running.remove(at)),
            None => Err(RegistryError::Unknown {
                name: name.into(),
                running: names(&running),
            }),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.base.join(FOLDER).join(name)
    }

    /// Opens the directory, if it is there or `makes` says to make it.
    fn open(&self, makes: bool) -> Result<Option<OwnedFd>, RegistryError> {
        let path = self.base.join(FOLDER);
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut opened = openat(CWD, &path, flags, Mode::empty());
        if matches!(opened, Err(Errno::NOENT)) && makes {
            // Another process may have made it meanwhile.
            let _ = mkdirat(CWD, &path, Mode::RWXU);
            opened = openat(CWD, &path, flags, Mode::empty());
        }
        match opened {
            Ok(folder) => {
                check_private(&folder, &path, FileType::Directory)?;
                Ok(Some(folder))
            }
            Err(Errno::NOENT) if !makes => Ok(None),
            Err(Errno::LOOP | Errno::NOTDIR) => Err(RegistryError::Unsafe {
                path,
                what: "is a link or no directory".into(),
                help: "remove it",
            }),
            Err(errno) => Err(RegistryError::System {
                what: "open",
                path,
                source: errno.into(),
            }),
        }
    }

    /// Returns a file's launch info; `None` if its session is over. Then the file is removed.
    fn look(&self, folder: &OwnedFd, name: &str) -> Result<Option<LaunchInfo>, RegistryError> {
        let path = self.path(name);
        // `NONBLOCK`: the open must not wait if another user has put a pipe there.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(folder, name, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => {
                return Err(RegistryError::Unsafe {
                    path,
                    what: "is a link".into(),
                    help: "remove it",
                });
            }
            Err(errno) => {
                return Err(RegistryError::System {
                    what: "open",
                    path,
                    source: errno.into(),
                });
            }
        };
        check_private(&file, &path, FileType::RegularFile)?;
        if flock(&file, FlockOperation::NonBlockingLockShared).is_ok() {
            // No process holds the lock, so the session is over. While this process holds it, no
            // other takes the session for a running one.
            if is_at(folder, name, &file) {
                let _ = unlinkat(folder, name, AtFlags::empty());
            }
            return Ok(None);
        }
        let mut text = String::new();
        let read = File::from(file).take(FILE_MAX).read_to_string(&mut text);
        read.map_err(|source| RegistryError::System {
            what: "read",
            path: path.clone(),
            source,
        })?;
        let variables: BTreeMap<&str, &str> = text
            .lines()
            .filter_map(|line| line.split_once('='))
            .collect();
        let info = LaunchInfo::from_variables(|name| variables.get(name).map(|v| (*v).to_owned()));
        info.map(Some).map_err(|why| RegistryError::Malformed {
            path,
            why: why.to_string(),
        })
    }
}

impl Joinable {
    /// Returns the session's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Joinable {
    fn drop(&mut self) {
        if is_at(&self.folder, &self.name, &self.file) {
            let _ = unlinkat(&self.folder, &*self.name, AtFlags::empty());
        }
    }
}

/// Formats a launch info for one more process, without the values of a single process.
fn text(info: &LaunchInfo) -> String {
    let common = LaunchInfo {
        rank: 0,
        name: String::new(),
        parent: None,
        ..info.clone()
    };
    let lines = common.to_environment().into_iter();
    lines
        .map(|(name, value)| format!("{name}={value}\n"))
        .collect()
}

fn check_name(name: &str) -> Result<(), RegistryError> {
    let is_good = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let is_name =
        (1..=NAME_MAX).contains(&name.len()) && name.chars().all(is_good) && !name.starts_with('.');
    match is_name {
        true => Ok(()),
        false => Err(RegistryError::BadName(name.into())),
    }
}

/// Checks that a file is of a kind, is this user's, and that no other user may read or change it.
fn check_private(file: &OwnedFd, path: &Path, kind: FileType) -> Result<(), RegistryError> {
    let found = fstat(file).map_err(|errno| RegistryError::System {
        what: "look at",
        path: path.to_owned(),
        source: errno.into(),
    })?;
    let refused = |what: String, help| {
        Err(RegistryError::Unsafe {
            path: path.to_owned(),
            what,
            help,
        })
    };
    let (wanted, help) = match kind {
        FileType::Directory => (0o700, "run chmod 0700 on it"),
        _ => (
            0o600,
            "end its session and remove it: others may have read its secret",
        ),
    };
    let mode = found.st_mode & 0o7777;
    if FileType::from_raw_mode(found.st_mode) != kind {
        return refused("is no regular file".into(), "remove it");
    }
    if found.st_uid != geteuid().as_raw() {
        return refused(
            format!("belongs to another user, number {}", found.st_uid),
            "have it removed, or set XDG_RUNTIME_DIR to a directory of yours",
        );
    }
    match mode == wanted {
        true => Ok(()),
        false => refused(format!("has mode {mode:04o}, not {wanted:04o}"), help),
    }
}

/// Returns whether a name still is that of an open file.
fn is_at(folder: &OwnedFd, name: &str, file: impl std::os::fd::AsFd) -> bool {
    let named = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    named.is_ok_and(|named| {
        fstat(file).is_ok_and(|own| (own.st_dev, own.st_ino) == (named.st_dev, named.st_ino))
    })
}

impl LaunchInfo {
    /// Gets a rank in a running session of this user: the one of a name, or the only one that can
    /// be joined.
    ///
    /// # Errors
    ///
    /// There is no such session, or there are several, or the session takes no more processes.
    pub fn of_running_session(name: Option<&str>) -> Result<Self, JoinError> {
        Self::of_session_in(&Registry::of_user()?, name)
    }

    /// Gets a rank in a running session of a registry.
    ///
    /// # Errors
    ///
    /// As for [`of_running_session`](Self::of_running_session).
    pub fn of_session_in(registry: &Registry, name: Option<&str>) -> Result<Self, JoinError> {
        let RunningSession { info, .. } = registry.find(name)?;
        let rank = match info.platform.as_str() {
            Shm::NAME => shm::allot_one(&info)?,
            Tcp::NAME => bootstrap::allot(&info, Tcp::NAME, 1)?[0].rank,
            Udp::NAME => udp::allot_one(&info)?,
            other => {
                let why =
                    "a session over it cannot be joined by hand: launch it over shm, tcp or udp";
                return Err(JoinError::Refused {
                    platform: "panda",
                    why: format!("{other}: {why}"),
                });
            }
        };
        Ok(Self {
            rank,
            name: format!("rank {rank}"),
            ..info
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::platform::Secret;

    #[test]
    fn a_user_without_a_runtime_directory_has_a_private_one() {
        let shared = tempfile::tempdir().unwrap();
        let registry = Registry::own_below(shared.path()).unwrap();
        let mode = fs::metadata(&registry.base).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o700);
        let again = Registry::own_below(shared.path()).unwrap();
        assert_eq!(again.base, registry.base);
        fs::set_permissions(&registry.base, fs::Permissions::from_mode(0o755)).unwrap();
        let open = Registry::own_below(shared.path());
        assert!(matches!(open, Err(RegistryError::Unsafe { .. })));
        let other = shared.path().join("other");
        fs::rename(&registry.base, &other).unwrap();
        symlink(&other, &registry.base).unwrap();
        assert!(Registry::own_below(shared.path()).is_err());
    }

    fn info(platform: &str) -> LaunchInfo {
        LaunchInfo {
            platform: platform.into(),
            rank: 3,
            size: 4,
            name: "node7:3".into(),
            bootstrap: "127.0.0.1:9 unicast".into(),
            address: None,
            silence: None,
            parent: Some(1),
            starter: Some("127.0.0.1:10".into()),
            secret: Secret([7; 16]),
        }
    }

    fn names(registry: &Registry) -> Vec<String> {
        let running = registry.running().expect("readable").into_iter();
        running.map(|session| session.name).collect()
    }

    #[test]
    fn a_session_is_found_while_it_is_announced() {
        let base = tempfile::tempdir().expect("a directory");
        let registry = Registry::below(base.path());
        assert!(matches!(registry.find(None), Err(RegistryError::Nobody)));
        let joinable = registry.announce("first", &info("tcp")).expect("free");
        let found = registry.find(None).expect("the only one");
        let common = LaunchInfo {
            rank: 0,
            name: String::new(),
            parent: None,
            ..info("tcp")
        };
        assert_eq!((found.name.as_str(), found.info), ("first", common));
        let taken = registry
            .announce("first", &info("udp"))
            .expect_err("it runs");
        assert!(matches!(taken, RegistryError::Taken(_)), "{taken}");
        let _second = registry.announce("second", &info("udp")).expect("free");
        let several = registry.find(None).expect_err("there are two").to_string();
        assert!(several.contains("first, second"), "{several}");
        let unknown = registry.find(Some("third")).expect_err("none").to_string();
        assert!(
            unknown.contains("those that can: first, second"),
            "{unknown}"
        );
        let second = registry.find(Some("second")).expect("it runs");
        assert_eq!(second.info.platform, "udp");
        drop(joinable);
        assert_eq!(names(&registry), ["second"]);
        let left: Vec<_> = fs::read_dir(base.path().join(FOLDER))
            .expect("there")
            .collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[test]
    fn files_of_sessions_that_are_over_are_removed() {
        let base = tempfile::tempdir().expect("a directory");
        let registry = Registry::below(base.path());
        let gone = registry.announce("gone", &info("tcp")).expect("free");
        let path = registry.path("gone");
        // This is as if the session's process had been killed: the lock is released, and the file
        // stays.
        let copy = fs::read(&path).expect("readable");
        drop(gone);
        let put_back = || {
            fs::write(&path, &copy).expect("written");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("set");
        };
        put_back();
        assert!(names(&registry).is_empty() && !path.exists());
        put_back();
        let again = registry.announce("gone", &info("tcp")).expect("it is over");
        assert_eq!(
            (names(&registry), again.name()),
            (vec!["gone".into()], "gone")
        );
    }

    #[test]
    fn what_others_could_have_made_or_read_is_refused_with_the_mend() {
        let base = tempfile::tempdir().expect("a directory");
        let registry = Registry::below(base.path());
        let folder = base.path().join(FOLDER);
        let said = |registry: &Registry| registry.running().expect_err("refused").to_string();
        let elsewhere = tempfile::tempdir().expect("a directory");
        symlink(elsewhere.path(), &folder).expect("linked");
        assert!(said(&registry).contains("is a link or no directory: remove it"));
        assert!(registry.announce("one", &info("tcp")).is_err());
        fs::remove_file(&folder).expect("removed");
        let _one = registry.announce("one", &info("tcp")).expect("free");
        let mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
        };
        mode(&folder, 0o755);
        assert!(said(&registry).contains("has mode 0755, not 0700: run chmod 0700"));
        mode(&folder, 0o700);
        mode(&folder.join("one"), 0o640);
        assert!(said(&registry).contains("has mode 0640, not 0600: end its session"));
        mode(&folder.join("one"), 0o600);
        symlink("one", folder.join("two")).expect("linked");
        assert!(said(&registry).contains("two is a link: remove it"));
        fs::remove_file(folder.join("two")).expect("removed");
        if geteuid().is_root() {
            std::os::unix::fs::chown(folder.join("one"), Some(65534), None).expect("root may");
            assert!(said(&registry).contains("belongs to another user, number 65534"));
            std::os::unix::fs::chown(folder.join("one"), Some(0), None).expect("root may");
        }
        assert_eq!(names(&registry), ["one"]);
        for bad in ["", ".one", "a/b", "../x", "a b", &"n".repeat(65)] {
            let refused = registry.announce(bad, &info("tcp")).expect_err(bad);
            assert!(matches!(refused, RegistryError::BadName(_)), "{refused}");
        }
    }
}
