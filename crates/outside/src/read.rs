//! Untrusted files, read within bounds.

use rustix::fs::OFlags;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Reads a regular file of at most `most` bytes. A FIFO, a device or a folder is refused at once,
/// because reading it could wait or continue for ever.
///
/// # Errors
/// The file cannot be read, is not regular, or is longer.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    // Opening a FIFO would otherwise wait for a writer.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    let found = file.metadata()?;
    let refused = |why: &str| io::Error::new(io::ErrorKind::InvalidInput, why.to_owned());
    if found.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !found.is_file() {
        return Err(refused("it is no regular file; copy its content into one"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(found.len().min(most)).unwrap_or(0));
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    match u64::try_from(bytes.len()) {
        Ok(length) if length <= most => Ok(bytes),
        _ => Err(refused(&format!("it is longer than {most} bytes"))),
    }
}

/// Reads text as [`read()`] reads bytes.
///
/// # Errors
/// As [`read()`], or it is not UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read(path, most)?).map_err(|_| {
        let why = "stream did not contain valid UTF-8";
        io::Error::new(io::ErrorKind::InvalidData, why)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_bound() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "12345678").unwrap();
        assert_eq!(read_text(&path, 8).unwrap(), "12345678");
        let error = read(&path, 7).unwrap_err();
        assert!(error.to_string().contains("longer than 7 bytes"), "{error}");
        std::fs::write(&path, [0xff]).unwrap();
        assert!(read_text(&path, 8).is_err());
    }

    #[test]
    fn what_could_give_bytes_or_wait_for_ever_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, kind, mode, 0).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        for path in [&fifo, &link, folder.path()] {
            assert!(read(path, 100).is_err(), "{}", path.display());
        }
    }
}
