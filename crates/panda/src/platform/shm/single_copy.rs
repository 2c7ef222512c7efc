//! Single copy: reads of a peer's memory, which copy a long frame once (`process_vm_readv(2)`).
//!
//! Yama, containers and namespaces may forbid it in many ways. So one read is tried when the peer
//! is met.
//!
//! Each read also proves that the memory is the peer's. It takes along the peer's *mark*, a word at
//! an address of its own that only processes of the session can know. The kernel holds on to one
//! address space for a whole call. With the right mark, all bytes came from the process that was
//! met, and not from a later one with its number.

use std::io;

use crate::platform::{Rank, Secret};

/// Most pieces of a frame that is read so.
pub const PIECES: usize = 10;
/// Bytes read in one call. Space is made only for these before they are known to be there.
const STEP: usize = 64 << 20;

/// A part of a peer's memory: its address there, and its length.
pub type Piece = (u64, usize);

/// A peer whose memory this process can read.
#[derive(Debug)]
pub struct PeerMemory {
    pid: i32,
    mark_at: u64,
    mark: u64,
}

/// Reason why a frame was not read.
#[derive(Debug)]
pub enum Unread {
    /// The process is gone, or is another program now.
    Gone,
    /// The system refused, or there is no memory for it on either side.
    Failed(io::Error),
}

/// Returns the mark that a process keeps in its memory to be known by.
pub fn mark(secret: Secret, rank: Rank) -> u64 {
    let key = secret.derive("antiphon panda: the mark in a process's memory");
    let mark = blake3::keyed_hash(&key, &rank.to_le_bytes());
    let first = mark.as_bytes().first_chunk();
    u64::from_le_bytes(*first.expect("a hash is longer"))
}

/// Permits peers to read this process's memory where Yama would permit only its ancestors
/// (`prctl(2)`, `PR_SET_PTRACER`). Open MPI does the same. The call can name one process or all of
/// the same user, and there are several peers.
pub fn permit() {
    // SAFETY: the call takes numbers only and touches no memory. Without Yama it is refused, and
    // not needed.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0) };
}

impl PeerMemory {
    /// Reads a peer's mark; returns `None` if that fails.
    pub fn probe(pid: u32, mark_at: u64, mark: u64) -> Option<Self> {
        let peer_memory = Self {
            pid: i32::try_from(pid).ok().filter(|&pid| pid > 0)?,
            mark_at,
            mark,
        };
        peer_memory
            .read(&[], &mut Vec::new())
            .ok()
            .map(|()| peer_memory)
    }

    /// Reads the pieces, behind what `into` holds.
    pub fn read(&self, pieces: &[Piece], into: &mut Vec<u8>) -> Result<(), Unread> {
        assert!(pieces.len() <= PIECES);
        let whole: usize = pieces.iter().map(|piece| piece.1).sum();
        let mut done = 0;
        loop {
            let step = (whole - done).min(STEP);
            into.try_reserve_exact(step)
                .map_err(|e| Unread::Failed(io::Error::other(e)))?;
            self.step(pieces, done, step, into)?;
            done += step;
            if done == whole {
                return Ok(());
            }
        }
    }

    /// Reads `step` bytes, those from `skip` on.
    fn step(
        &self,
        pieces: &[Piece],
        mut skip: usize,
        step: usize,
        into: &mut Vec<u8>,
    ) -> Result<(), Unread> {
        let remote = |at: u64, bytes| libc::iovec {
            iov_base: at as *mut libc::c_void,
            iov_len: bytes,
        };
        let mut theirs = [remote(0, 0); PIECES + 1];
        let (mut count, mut left) = (0, step);
        for &(at, bytes) in pieces {
            let begin = skip.min(bytes);
            let part = (bytes - begin).min(left);
            skip -= begin;
            left -= part;
            if part > 0 {
                theirs[count] = remote(at.wrapping_add(begin as u64), part);
                count += 1;
            }
        }
        let mut mark = 0_u64;
        theirs[count] = remote(self.mark_at, size_of::<u64>());
        count += 1;
        let ours = [
            libc::iovec {
                iov_base: into.spare_capacity_mut().as_mut_ptr().cast(),
                iov_len: step,
            },
            libc::iovec {
                iov_base: (&raw mut mark).cast(),
                iov_len: size_of::<u64>(),
            },
        ];
        debug_assert!(into.capacity() - into.len() >= step);
        // SAFETY: the kernel writes only to `ours`: spare capacity of at least `step` bytes, and a
        // word. It checks the addresses of the other process itself.
        let read = unsafe {
            libc::process_vm_readv(
                self.pid,
                ours.as_ptr(),
                ours.len() as libc::c_ulong,
                theirs.as_ptr(),
                count as libc::c_ulong,
                0,
            )
        };
        if read < 0 {
            let error = io::Error::last_os_error();
            return Err(match error.raw_os_error() {
                Some(libc::ESRCH) => Unread::Gone,
                _ => Unread::Failed(error),
            });
        }
        if read as usize != step + size_of::<u64>() {
            return Err(Unread::Failed(io::ErrorKind::UnexpectedEof.into()));
        }
        if mark != self.mark {
            return Err(Unread::Gone);
        }
        // SAFETY: the kernel has filled `step` bytes of the spare capacity.
        unsafe { into.set_len(into.len() + step) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(mark: &u64) -> Option<PeerMemory> {
        let at = std::ptr::from_ref(mark) as u64;
        let peer_memory = PeerMemory::probe(std::process::id(), at, 77);
        if peer_memory.is_none() && *mark == 77 {
            eprintln!("skipped: the system forbids process_vm_readv");
        }
        peer_memory
    }

    #[test]
    fn pieces_are_read_in_order_with_the_mark() {
        let Some(peer_memory) = own(&77) else {
            return;
        };
        let (a, b) = (vec![1_u8; 5000], vec![2_u8; 70_000]);
        let piece = |bytes: &[u8]| (bytes.as_ptr() as u64, bytes.len());
        let mut into = vec![9];
        peer_memory
            .read(&[piece(&a), piece(&[]), piece(&b)], &mut into)
            .expect("read");
        assert_eq!(into, [vec![9], a, b].concat());
    }

    #[test]
    fn who_has_not_the_mark_is_not_read_and_bad_addresses_are_errors() {
        assert!(own(&78).is_none());
        let Some(peer_memory) = own(&77) else {
            return;
        };
        let mut into = Vec::new();
        for piece in [(0, 10), (u64::MAX - 3, 10), (1 << 40, 1 << 45)] {
            let unread = peer_memory
                .read(&[piece], &mut into)
                .expect_err("no memory");
            assert!(matches!(unread, Unread::Failed(_)), "{piece:?}: {unread:?}");
            assert!(into.is_empty() && into.capacity() <= STEP);
        }
    }

    #[test]
    fn a_process_that_is_gone_is_gone() {
        let mut child = std::process::Command::new("true").spawn().expect("started");
        let pid = child.id();
        child.wait().expect("ended");
        let mark = 77_u64;
        let at = std::ptr::from_ref(&mark) as u64;
        let peer_memory = PeerMemory {
            pid: pid as i32,
            mark_at: at,
            mark,
        };
        assert!(matches!(
            peer_memory.read(&[], &mut Vec::new()),
            Err(Unread::Gone)
        ));
    }
}
