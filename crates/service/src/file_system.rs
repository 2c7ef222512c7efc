//! The file system of a folder. In memory a commit "on the disk" costs nothing, so the costs would
//! not be those of a disk.

use nix::sys::statfs::{self, FsType};
use std::path::Path;

/// Linux's ramfs, which the crate `nix` does not name.
const RAMFS: FsType = FsType(0x8584_58f6_u32 as _);

/// File systems with known names. Those of ext have one number in common.
const NAMES: [(FsType, &str); 9] = [
    (statfs::EXT4_SUPER_MAGIC, "ext4"),
    (statfs::BTRFS_SUPER_MAGIC, "btrfs"),
    (statfs::XFS_SUPER_MAGIC, "xfs"),
    (statfs::F2FS_SUPER_MAGIC, "f2fs"),
    (statfs::OVERLAYFS_SUPER_MAGIC, "overlayfs"),
    (statfs::FUSE_SUPER_MAGIC, "fuse"),
    (statfs::NFS_SUPER_MAGIC, "nfs"),
    (statfs::TMPFS_MAGIC, "tmpfs"),
    (RAMFS, "ramfs"),
];

/// A file system, as far as costs depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// Its name, or its number in hexadecimal if it is not one of the usual ones.
    pub name: String,
    /// Whether its files are only in memory. A synchronous write then costs nothing, and is lost
    /// with the power.
    pub in_memory: bool,
}

impl FileSystem {
    /// Returns the file system of a folder, or `None` if the system does not tell.
    pub fn of(folder: &Path) -> Option<FileSystem> {
        Some(named(statfs::statfs(folder).ok()?.filesystem_type()))
    }
}

fn named(kind: FsType) -> FileSystem {
    let known = NAMES.iter().find(|(known, _)| *known == kind);
    FileSystem {
        name: known.map_or_else(
            || format!("file system {:#x}", kind.0),
            |(_, name)| (*name).to_owned(),
        ),
        in_memory: kind == statfs::TMPFS_MAGIC || kind == RAMFS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_told_from_disks() {
        assert!(named(statfs::TMPFS_MAGIC).in_memory && named(RAMFS).in_memory);
        assert_eq!(named(RAMFS).name, "ramfs");
        assert!(!named(statfs::EXT4_SUPER_MAGIC).in_memory);
        assert_eq!(named(FsType(0x7373)).name, "file system 0x7373");
    }

    #[test]
    fn linux_shares_memory_by_a_file_system_in_memory() {
        let shared = Path::new("/dev/shm");
        if shared.is_dir() {
            assert!(FileSystem::of(shared).is_some_and(|of| of.in_memory));
        }
        assert_eq!(FileSystem::of(Path::new("/no/such/folder")), None);
    }
}
