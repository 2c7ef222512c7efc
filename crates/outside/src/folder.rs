//! Folders that only this user may write, and the files in them.

use rustix::process::{getegid, geteuid};
use std::fs::{DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

const GROUP_WRITES: u32 = 0o020;
const OTHERS_WRITE: u32 = 0o002;
const STICKY: u32 = 0o1000;

/// Why a folder, or a file in it, is not trusted.
#[derive(Debug, thiserror::Error)]
pub enum Distrust {
    /// Another user owns it.
    #[error("{} belongs to user {owner}, and this process is user {user}'s", path.display())]
    Foreign {
        /// The folder or file.
        path: PathBuf,
        /// The number of the user that owns it.
        owner: u32,
        /// The number of this process's user.
        user: u32,
    },
    /// Other users may write it.
    #[error("{} may be written by other users (mode {:o}); `chmod go-w` it", path.display(), mode)]
    Open {
        /// The folder.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// It is a link instead of a folder or a file.
    #[error("{} is a link", path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// It is not a folder.
    #[error("{} is no folder", path.display())]
    NoFolder {
        /// Its path.
        path: PathBuf,
    },
    /// It cannot be made or read.
    #[error("{}: {source}", path.display())]
    File {
        /// The folder or file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Distrust {
    fn file(path: &Path) -> impl FnOnce(io::Error) -> Distrust {
        let path = path.to_owned();
        move |source| Distrust::File { path, source }
    }
}

/// Makes a folder that only this user may enter, and those above it, or checks an existing one.
/// That must belong to this user, be no link, and not be writable by others. No other user may be
/// able to replace it.
///
/// # Errors
/// See [`Distrust`].
pub fn private(path: &Path) -> Result<(), Distrust> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    match made {
        // An existing folder is checked below.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(Distrust::file(path)(error));
        }
        _ => {}
    }
    let found = found(path)?;
    check_folder(path, &found)?;
    if found.mode() & (GROUP_WRITES | OTHERS_WRITE) != 0 {
        return Err(open(path, &found));
    }
    // Anyone who may write a folder above it could rename it, unless the sticky bit prevents that.
    let whole = std::fs::canonicalize(path).map_err(Distrust::file(path))?;
    for above in whole.ancestors().skip(1) {
        let found = std::fs::metadata(above).map_err(Distrust::file(above))?;
        if found.mode() & OTHERS_WRITE != 0 && found.mode() & STICKY == 0 {
            return Err(open(above, &found));
        }
    }
    Ok(())
}

/// Checks that a file or folder from a private folder belongs to this user or root, and is no link.
///
/// # Errors
/// See [`Distrust`].
pub fn is_ours(path: &Path) -> Result<(), Distrust> {
    let found = found(path)?;
    if found.is_symlink() {
        return Err(Distrust::Link {
            path: path.to_owned(),
        });
    }
    check_owner(path, &found, &[geteuid().as_raw(), 0])
}

/// Checks a folder whose files are executed because this process found them there. It must belong
/// to this user or root. Neither others nor a group other than this process's own may write it. For
/// root under `sudo` it may also belong to the user who called `sudo`.
///
/// # Errors
/// See [`Distrust`].
pub fn is_trusted(path: &Path) -> Result<(), Distrust> {
    let found = std::fs::metadata(path).map_err(Distrust::file(path))?;
    let user = geteuid().as_raw();
    let caller = || std::env::var("SUDO_UID").ok()?.parse().ok();
    let caller: Option<u32> = if user == 0 { caller() } else { None };
    check_owner(path, &found, &[user, 0, caller.unwrap_or(0)])?;
    // Many systems give each user a group of their own, and let it write.
    let group_may = found.mode() & GROUP_WRITES != 0 && found.gid() != getegid().as_raw();
    let is_callers = caller == Some(found.uid());
    if found.mode() & OTHERS_WRITE != 0 || (group_may && !is_callers) {
        return Err(open(path, &found));
    }
    Ok(())
}

fn found(path: &Path) -> Result<Metadata, Distrust> {
    std::fs::symlink_metadata(path).map_err(Distrust::file(path))
}

fn check_folder(path: &Path, found: &Metadata) -> Result<(), Distrust> {
    let path = || path.to_owned();
    if found.is_symlink() {
        return Err(Distrust::Link { path: path() });
    }
    if !found.is_dir() {
        return Err(Distrust::NoFolder { path: path() });
    }
    check_owner(&path(), found, &[geteuid().as_raw()])
}

fn check_owner(path: &Path, found: &Metadata, users: &[u32]) -> Result<(), Distrust> {
    match users.contains(&found.uid()) {
        true => Ok(()),
        false => Err(Distrust::Foreign {
            path: path.to_owned(),
            owner: found.uid(),
            user: geteuid().as_raw(),
        }),
    }
}

fn open(path: &Path, found: &Metadata) -> Distrust {
    Distrust::Open {
        path: path.to_owned(),
        mode: found.mode() & 0o7777,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, create_dir, set_permissions, write};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    fn mode(path: &Path, mode: u32) {
        set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_private_folder_is_made_for_its_user_alone() {
        let within = tempfile::tempdir().unwrap();
        let folder = within.path().join("not/there/yet");
        private(&folder).unwrap();
        for made in [&folder, &within.path().join("not")] {
            let made = std::fs::metadata(made).unwrap();
            assert_eq!(made.mode() & 0o777, 0o700);
        }
        private(&folder).unwrap();
    }

    #[test]
    fn a_folder_that_others_could_have_filled_is_refused() {
        let within = tempfile::tempdir().unwrap();
        let folder = within.path().join("cache");
        create_dir(&folder).unwrap();
        for open in [0o777, 0o770, 0o1777] {
            mode(&folder, open);
            assert!(matches!(private(&folder), Err(Distrust::Open { .. })));
        }
        mode(&folder, 0o755);
        private(&folder).unwrap();
        let link = within.path().join("link");
        symlink(&folder, &link).unwrap();
        assert!(matches!(private(&link), Err(Distrust::Link { .. })));
        let file = within.path().join("file");
        write(&file, "").unwrap();
        assert!(matches!(private(&file), Err(Distrust::NoFolder { .. })));
    }

    #[test]
    fn a_folder_that_others_could_replace_is_refused() {
        let within = tempfile::tempdir().unwrap();
        let above = within.path().join("above");
        let folder = above.join("cache");
        private(&folder).unwrap();
        mode(&above, 0o777);
        assert!(matches!(private(&folder), Err(Distrust::Open { .. })));
        mode(&above, 0o1777);
        private(&folder).unwrap();
    }

    #[test]
    fn what_another_user_owns_is_refused() {
        let within = tempfile::tempdir().unwrap();
        let (folder, file) = (within.path().join("cache"), within.path().join("file"));
        private(&folder).unwrap();
        write(&file, "").unwrap();
        is_ours(&file).unwrap();
        is_trusted(&folder).unwrap();
        let link = within.path().join("link");
        symlink(&file, &link).unwrap();
        assert!(matches!(is_ours(&link), Err(Distrust::Link { .. })));
        mode(&folder, 0o777);
        assert!(matches!(is_trusted(&folder), Err(Distrust::Open { .. })));
        mode(&folder, 0o755);
        if !geteuid().is_root() {
            println!("skipped: only root gives files away");
            return;
        }
        chown(&folder, Some(65534), None).unwrap();
        chown(&file, Some(65534), None).unwrap();
        let refused = [private(&folder), is_ours(&file), is_trusted(&folder)];
        for refused in refused {
            assert!(matches!(
                refused,
                Err(Distrust::Foreign { owner: 65534, .. })
            ));
        }
    }
}
