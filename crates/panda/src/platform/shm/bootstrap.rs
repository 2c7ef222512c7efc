//! The bootstrap of `shm`: an anonymous file that its maker holds open.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::Ordering::{Relaxed, Release, SeqCst};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use super::memory::{COMMON, FILE, Header, MAGIC, Map, RANKS, SLOTS_AT, Slot, state};
use crate::platform::{LaunchInfo, Rank, Secret, futex};

/// The bootstrap of a session over shared memory. The launcher of the processes makes it and holds
/// it while they run. The memory is freed when the last of them, and the bootstrap, are gone.
#[derive(Debug)]
pub struct Bootstrap {
    file: File,
    common: Map,
    size: u32,
    secret: Secret,
}

impl Bootstrap {
    /// Makes a bootstrap for `size` founders.
    ///
    /// # Errors
    ///
    /// The system has no anonymous files, or there are more processes than places.
    pub fn new(size: u32, secret: Secret) -> io::Result<Self> {
        if size > RANKS {
            return Err(io::Error::other(format!(
                "a session over shm has at most {RANKS} processes, not {size}: use tcp"
            )));
        }
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = File::from(memfd_create("antiphon-session", flags)?);
        // Beyond this limit, the system would end this process by a signal.
        let longest = getrlimit(Resource::Fsize).current;
        if longest.is_some_and(|longest| longest < FILE) {
            return Err(Errno::FBIG.into());
        }
        file.set_len(FILE)?;
        // No process can shrink the file, which would take mapped memory away under its users.
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let common = Map::new(file.as_fd(), 0, COMMON)?;
        let header: &Header = common.view(0);
        header.size.store(size, Relaxed);
        header.next_rank.store(size, Relaxed);
        for (word, half) in header.secret.iter().zip(secret.0.chunks_exact(8)) {
            word.store(
                u64::from_le_bytes(half.try_into().expect("8 bytes")),
                Relaxed,
            );
        }
        header.magic.store(MAGIC, Release);
        Ok(Self {
            file,
            common,
            size,
            secret,
        })
    }

    /// Notes that a process has ended, in whatever way. If it had not joined, the processes that
    /// wait for it are told. The others see the end of a joined process themselves.
    pub fn ended(&self, rank: Rank) {
        if rank >= RANKS {
            return;
        }
        let slot: &Slot = (self.common).view(SLOTS_AT + rank as usize * size_of::<Slot>());
        for before in [state::FREE, state::TAKEN] {
            let ended = state::NEVER_CAME;
            let changed = (slot.state).compare_exchange(before, ended, SeqCst, Relaxed);
            if changed.is_ok() {
                let changes = &self.common.view::<Header>(0).changes;
                changes.fetch_add(1, SeqCst);
                futex::wake(changes, i32::MAX as u32);
            }
        }
    }

    /// Returns the launch info of a process.
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
