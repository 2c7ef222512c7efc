//! Receipt of datagrams: one, by the cheapest call there is, or several in one call
//! (`recvmmsg(2)`). The latter also tells that there are no more.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

use rustix::io::Errno;
use rustix::net::{RecvFlags, recvfrom};
use socket2::{SockAddr, SockAddrStorage};

/// Number of receipts at a time, of datagrams or of runs that the system joined.
pub const TURN: usize = 16;
/// Room for one receipt, the longest UDP datagram. Untouched pages take no memory.
const SLOT: usize = 1 << 16;

/// Whether to wait for a datagram if none is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patient {
    /// Waits as long as the socket is set to.
    Yes,
    No,
}

/// Buffers for received datagrams.
pub struct Batch {
    space: Vec<u8>,
    names: Vec<libc::sockaddr_storage>,
    _pieces: Vec<libc::iovec>,
    /// Headers, which point into the other three; those are never moved or resized.
    headers: Vec<libc::mmsghdr>,
    count: usize,
}

// SAFETY: the pointers are to memory that the batch itself owns, and moves with it.
unsafe impl Send for Batch {}

impl Default for Batch {
    fn default() -> Self {
        let mut space = vec![0; TURN * SLOT];
        // SAFETY: both are plain C structures without content yet, for which zeros are a value.
        let (mut names, mut headers): (Vec<libc::sockaddr_storage>, Vec<libc::mmsghdr>) = unsafe {
            (
                vec![std::mem::zeroed(); TURN],
                vec![std::mem::zeroed(); TURN],
            )
        };
        let mut pieces: Vec<libc::iovec> = space
            .chunks_exact_mut(SLOT)
            .map(|space| libc::iovec {
                iov_base: space.as_mut_ptr().cast(),
                iov_len: space.len(),
            })
            .collect();
        for ((header, name), piece) in headers.iter_mut().zip(&mut names).zip(&mut pieces) {
            header.msg_hdr.msg_name = std::ptr::from_mut(name).cast();
            header.msg_hdr.msg_iov = piece;
            header.msg_hdr.msg_iovlen = 1;
        }
        Self {
            space,
            names,
            _pieces: pieces,
            headers,
            count: TURN,
        }
    }
}

impl Batch {
    /// Takes the next datagram. An interruption counts as none.
    pub fn receive_one(
        &mut self,
        socket: &UdpSocket,
        patient: Patient,
    ) -> Option<(&[u8], SocketAddr)> {
        let flags = match patient {
            Patient::Yes => RecvFlags::empty(),
            Patient::No => RecvFlags::DONTWAIT,
        };
        let space = &mut self.space[..SLOT];
        for _ in 0..TURN {
            match recvfrom(socket, &mut *space, flags) {
                Ok((length, _, sender)) => {
                    let sender = SocketAddr::try_from(sender?).ok()?;
                    return Some((&self.space[..length], sender));
                }
                Err(Errno::AGAIN | Errno::INTR) => return None,
                // An error of an earlier datagram of ours, such as a closed port, hides what is
                // there.
                Err(_) => {}
            }
        }
        None
    }

    /// Takes up to `most` datagrams, and returns how many it took.
    pub fn receive(&mut self, socket: &UdpSocket, patient: Patient, most: usize) -> usize {
        // An error of an earlier datagram hides what is there, as above.
        let is_hidden = |error: io::Error| {
            !matches!(
                error.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
            )
        };
        (0..TURN).find(|_| {
            !self
                .try_receive(socket, patient, most)
                .is_err_and(is_hidden)
        });
        self.count
    }

    fn try_receive(&mut self, socket: &UdpSocket, patient: Patient, most: usize) -> io::Result<()> {
        let flags = match patient {
            Patient::Yes => libc::MSG_WAITFORONE,
            Patient::No => libc::MSG_DONTWAIT,
        };
        for header in &mut self.headers[..self.count] {
            header.msg_hdr.msg_namelen = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
        }
        // SAFETY: the headers describe memory of this batch, to which no reference exists now.
        let received = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                most.min(TURN) as libc::c_uint,
                flags,
                std::ptr::null_mut(),
            )
        };
        self.count = usize::try_from(received).unwrap_or(0);
        if received < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    /// Returns the datagrams that were taken.
    pub fn received(&self) -> impl Iterator<Item = (&[u8], SocketAddr)> {
        (0..self.count).filter_map(|at| {
            let length = (self.headers[at].msg_len as usize).min(SLOT);
            let begin = at * SLOT;
            Some((&self.space[begin..begin + length], self.sender(at)?))
        })
    }

    fn sender(&self, at: usize) -> Option<SocketAddr> {
        let length = self.headers[at].msg_hdr.msg_namelen;
        let mut storage = SockAddrStorage::zeroed();
        // SAFETY: `SockAddrStorage` may be viewed as a `sockaddr_storage`, and the kernel wrote an
        // address of that length there.
        unsafe {
            *storage.view_as::<libc::sockaddr_storage>() = self.names[at];
            SockAddr::new(storage, length)
        }
        .as_socket()
    }
}
