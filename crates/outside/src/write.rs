//! Files that are replaced as a whole.

use rustix::fs::{Access, AtFlags, CWD, access, accessat};
use rustix::io::Errno;
use std::fs::{File, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Writes a file beside its place and renames it. After a full disk or a kill the old file is
/// complete, or still missing.
///
/// A link stays, and the file that it names is replaced. A file that is not regular, such as a
/// device or a FIFO, is written in place. So is a file in a folder that may not be written.
///
/// # Errors
/// The file cannot be written. No temporary file then remains.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let place = match std::fs::canonicalize(path) {
        Ok(place) => place,
        Err(error) if error.kind() == ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    let old = match std::fs::metadata(&place) {
        Ok(old) => Some(old),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return write_in_place(&place, bytes);
    }
    if old.is_some() {
        may_write(&place)?;
    }
    let folder = match place.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // As for any new file, the system applies the user's mask to this mode.
    let mut builder = tempfile::Builder::new();
    let beside = builder
        .prefix(".unfinished-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder);
    let mut beside = match beside {
        Err(error) if old.is_some() && is_refused(&error) => {
            return write_in_place(&place, bytes);
        }
        beside => beside?,
    };
    beside.write_all(bytes)?;
    if let Some(old) = old {
        beside.as_file().set_permissions(old.permissions())?;
    }
    // Some file systems report only now that there is no room.
    beside.as_file().sync_all()?;
    beside.persist(&place)?;
    Ok(())
}

/// Checks that a file may be written, because only then may it be replaced. It does not open the
/// file: a running executable may be replaced but not written.
fn may_write(path: &Path) -> io::Result<()> {
    match accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS) {
        // Containers may filter system calls. Filters that do not know the newer call answer with
        // this error.
        Err(Errno::PERM) => Ok(access(path, Access::WRITE_OK)?),
        asked => Ok(asked?),
    }
}

fn is_refused(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
    )
}

fn write_in_place(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::options().write(true).truncate(true).open(path)?;
    file.write_all(bytes)?;
    file.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap().flatten();
        let mut names: Vec<_> = entries
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_and_keeps_its_mode_and_its_links() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        write(&file, b"first").unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        symlink("file", &link).unwrap();
        write(&link, b"second").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"second");
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        assert!(link.is_symlink());
        assert_eq!(names(folder.path()), ["file", "link"]);
    }

    #[test]
    fn a_device_without_room_is_an_error_and_stays_a_device() {
        let full = Path::new("/dev/full");
        let error = write(full, b"a page").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageFull);
        write(Path::new("/dev/null"), b"a page").unwrap();
        assert!(!std::fs::metadata(full).unwrap().is_file());
    }

    /// A limit on file sizes stands for a full disk. The child with the limit fails within the
    /// second file.
    #[test]
    fn what_has_no_room_leaves_the_old_file_whole() {
        const NAME: &str = "write::tests::what_has_no_room_leaves_the_old_file_whole";
        const LARGE: usize = 1 << 20;
        if let Some(file) = std::env::var_os("ANTIPHON_TEST_FILE") {
            let written = write(Path::new(&file), &vec![b'x'; LARGE]);
            assert!(written.is_err());
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("page");
        write(&file, b"old and whole").unwrap();
        let test = std::env::current_exe().unwrap();
        let limited = "ulimit -f 100; trap '' XFSZ; exec \"$0\" --exact \"$1\"";
        // The child's output goes into pipes, because a file for it would have the limit, too.
        let child = std::process::Command::new("sh")
            .args(["-c", limited])
            .arg(test)
            .arg(NAME)
            .env("ANTIPHON_TEST_FILE", &file)
            .output()
            .unwrap();
        assert!(child.status.success(), "{child:?}");
        assert_eq!(std::fs::read(&file).unwrap(), b"old and whole");
        assert_eq!(names(folder.path()), ["page"]);
    }
}
