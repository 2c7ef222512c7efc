//! Where the processes of a session meet: an anonymous file that its maker holds open.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::Ordering::{Relaxed, Release};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

use super::memory::{COMMON, FILE, Header, MAGIC, Map, RANKS};
use crate::platform::{LaunchInfo, Rank, Secret};

/// The bootstrap of a session over shared memory. Whoever starts the processes makes it and holds it while they run; its memory is the system's again when the
/// last of them, and it, are gone.
#[derive(Debug)]
pub struct Bootstrap {
    file: File,
    size: u32,
    secret: Secret,
}

impl Bootstrap {
    /// A place for `size` processes to begin with.
    ///
    /// # Errors
    /// The system has no anonymous files, or there are more processes than places.
    pub fn new(size: u32, secret: Secret) -> io::Result<Self> {
        if size > RANKS {
            return Err(io::Error::other(format!(
                "a session over shm has at most {RANKS} processes, not {size}: use tcp"
            )));
        }
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = File::from(memfd_create("antiphon-session", flags)?);
        file.set_len(FILE)?;
        // Nobody can shrink the file, which would take mapped memory away under its users.
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let map = Map::new(file.as_fd(), 0, COMMON)?;
        let header: &Header = map.view(0);
        header.size.store(size, Relaxed);
        header.next_rank.store(size, Relaxed);
        for (word, half) in header.secret.iter().zip(secret.0.chunks_exact(8)) {
            word.store(
                u64::from_le_bytes(half.try_into().expect("8 bytes")),
                Relaxed,
            );
        }
        header.magic.store(MAGIC, Release);
        Ok(Self { file, size, secret })
    }

    /// The launch info of one of the processes.
    #[must_use]
    pub fn launch_info(&self, rank: Rank) -> LaunchInfo {
        LaunchInfo {
            platform: "shm".into(),
            rank,
            size: self.size,
            name: format!("rank {rank}"),
            bootstrap: format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd()),
            address: None,
            silence: None,
            parent: None,
            starter: None,
            secret: self.secret,
        }
    }
}
