//! Many datagrams to one peer in one call, and many of one peer as one.
//!
//! A long message is a run of frames that all are as long as a datagram may be, but the last. Linux takes such a run in one call and cuts it where it leaves the host
//! (`UDP_SEGMENT`, since 4.18), and hands over datagrams of one sender that came together as one (`UDP_GRO`, since 5.0; each says how long it is, see [`wire`](super::wire)). The way
//! through the kernel's layers is then gone once for the run. Devices may refuse to cut: one whose packets are shorter than ours, or that leaves checksums to the host on older kernels. Then each goes by a call of its own.

use std::io;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;

use crate::platform::option;

/// What a UDP datagram over IPv4 holds.
const LONGEST: usize = 65_507;

/// How long the datagrams of a run are, and whether the system cuts runs apart for a socket.
#[derive(Debug)]
pub struct Segments {
    /// Bytes of the longest datagram that carries a frame.
    pub length: usize,
    are: AtomicBool,
}

impl Segments {
    /// Asks the system to cut whatever is longer that this socket sends.
    pub fn begin(socket: &UdpSocket, length: usize) -> Self {
        let is_set = set(socket, libc::UDP_SEGMENT, length as libc::c_int);
        Self {
            length,
            are: AtomicBool::new(is_set.is_ok()),
        }
    }

    /// Bytes of the longest run, which is of whole segments.
    pub fn run(&self) -> usize {
        LONGEST / self.length * self.length
    }

    /// Whether it does.
    pub fn are(&self) -> bool {
        self.are.load(Ordering::Relaxed)
    }

    /// It does not after all. While it is asked to, it does not send a single datagram either that does not fit the card's packets.
    pub fn end(&self, socket: &UdpSocket) {
        self.are.store(false, Ordering::Relaxed);
        let _ = set(socket, libc::UDP_SEGMENT, 0);
    }
}

/// Asks the system to hand over what came together as one. Older ones hand over each alone, which is as well.
pub fn join_received(socket: &UdpSocket) {
    let _ = set(socket, libc::UDP_GRO, 1);
}

/// Whether a run was not sent because it cannot be cut on its way.
pub fn is_refusal(error: Errno) -> bool {
    matches!(
        error,
        Errno::INVAL | Errno::IO | Errno::MSGSIZE | Errno::OPNOTSUPP
    )
}

fn set(socket: &UdpSocket, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
    option::set(socket, libc::SOL_UDP, option, value)
}
