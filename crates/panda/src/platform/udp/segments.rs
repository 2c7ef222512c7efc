//! Segmentation: many datagrams to one peer in one call, and many of one peer as one.
//!
//! A long message is a run of frames of the longest datagram's length, except the last. Linux takes
//! such a run in one call and cuts it where it leaves the host (`UDP_SEGMENT`, since 4.18). It
//! hands over datagrams of one sender that came together as one (`UDP_GRO`, since 5.0); each holds
//! its length (see [`wire`](super::wire)). So a run passes the kernel's layers once.
//!
//! Devices may refuse to cut: those with shorter packets, or that leave checksums to the host on
//! older kernels. Then each datagram goes by a call of its own.

use std::io;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;

use crate::platform::option;

/// Longest UDP datagram over IPv4, in bytes of content.
const LONGEST: usize = 65_507;

/// Length of a run's datagrams, and whether the system cuts runs for a socket.
#[derive(Debug)]
pub struct Segments {
    /// Bytes of the longest datagram that carries a frame.
    pub length: usize,
    are: AtomicBool,
}

impl Segments {
    /// Asks the system to cut what this socket sends at `length`.
    pub fn begin(socket: &UdpSocket, length: usize) -> Self {
        let is_set = set(socket, libc::UDP_SEGMENT, length as libc::c_int);
        Self {
            length,
            are: AtomicBool::new(is_set.is_ok()),
        }
    }

    /// Returns the bytes of the longest run, which has whole segments.
    pub fn run(&self) -> usize {
        LONGEST / self.length * self.length
    }

    /// Returns whether the system cuts runs.
    pub fn are(&self) -> bool {
        self.are.load(Ordering::Relaxed)
    }

    /// Stops it, since the system does not cut runs after all. While asked to, it also refuses a
    /// single datagram that does not fit the card's packets.
    pub fn end(&self, socket: &UdpSocket) {
        self.are.store(false, Ordering::Relaxed);
        let _ = set(socket, libc::UDP_SEGMENT, 0);
    }
}

/// Asks the system to hand over datagrams that came together as one. Older systems hand over each
/// alone, which also works.
pub fn join_received(socket: &UdpSocket) {
    let _ = set(socket, libc::UDP_GRO, 1);
}

/// Returns whether a run was refused because it cannot be cut on its way.
pub fn is_refusal(error: Errno) -> bool {
    matches!(
        error,
        Errno::INVAL | Errno::IO | Errno::MSGSIZE | Errno::OPNOTSUPP
    )
}

fn set(socket: &UdpSocket, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
    option::set(socket, libc::SOL_UDP, option, value)
}
