//! The keeper: a small process between us and each child, which outlives us just long enough to
//! clean up.
//!
//! ```text
//!   this process ──fork──▶ keeper ──fork──▶ child ──▶ what the child starts
//!        └──── socket ───────┘
//! ```
//!
//! The keeper waits for three things at once: an order from us, the end of the child, the child's
//! deadline. When the socket closes, on purpose or by any death of ours, it kills everything. It is
//! the child's parent and a *subreaper*: a grandchild whose parent ends becomes the keeper's own.
//! This holds even outside the process group, so nothing escapes. If the keeper itself is killed,
//! the system kills the child (`PR_SET_PDEATHSIG`).
//!
//! Over a FIFO child the keeper runs one priority higher, on any processor. It thus reaches a
//! spinning child when nothing else on the machine does. It becomes ordinary after the end of the
//! child. Before that, a real-time keeper reaps no other process: a real-time wait for a process
//! that ends in real time may block that end (`leave_real_time` explains it).

mod after_fork;
mod descendants;
mod wire;

pub(crate) use after_fork::{Conditions, become_keeper, now_ns, set_fifo};
pub(crate) use wire::{Kind, Order, OrderKind, Report, Step};

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, Shutdown, SockFlag, SockType, recv, send, shutdown, socketpair,
};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// Creates two connected sockets that keep message boundaries: ours and the keeper's.
pub(crate) fn socket_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(
        AddressFamily::Unix,
        SockType::SeqPacket,
        None,
        SockFlag::SOCK_CLOEXEC,
    )?)
}

/// Sends an order. A keeper that is gone needs no orders, so that is no error.
pub(crate) fn order(socket: &OwnedFd, order: Order) {
    let _ = send(
        socket.as_raw_fd(),
        order.as_bytes(),
        MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT,
    );
}

/// Returns the next report: `WouldBlock` when there is none yet, `UnexpectedEof` when the keeper is
/// gone.
pub(crate) fn report(socket: &OwnedFd) -> io::Result<Report> {
    let mut report = Report::default();
    loop {
        let received = recv(
            socket.as_raw_fd(),
            report.as_bytes_mut(),
            MsgFlags::MSG_DONTWAIT,
        );
        return match received {
            Ok(size) if size == size_of::<Report>() => Ok(report),
            Ok(_) => Err(io::ErrorKind::UnexpectedEof.into()),
            // The keeper ended and left an order unread. The system says so once, before it returns
            // the keeper's reports.
            Err(Errno::ECONNRESET) => continue,
            Err(errno) => Err(errno.into()),
        };
    }
}

/// Tells the keeper that no more orders will come: it kills everything and ends.
pub(crate) fn let_go(socket: &OwnedFd) {
    let _ = shutdown(socket.as_raw_fd(), Shutdown::Write);
}
