//! One connection: its socket, and its state.

use crate::measured::OfConnection;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SendFlags, SocketFlags, SocketType, connect, send, socket_with, sockopt,
};
use std::net::SocketAddr;

/// State of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing is asked. It may be open or not.
    Free,
    /// Its socket is being connected, for a request.
    Connecting,
    /// The request is being written.
    Sending,
    /// The answer is waited for.
    Receiving,
}

#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) socket: Option<OwnedFd>,
    pub(crate) state: State,
    /// Bytes of the request that were written.
    written: usize,
    /// Received part of the answer.
    pub(crate) buffer: Vec<u8>,
    /// Due time of its request, ns.
    pub(crate) due_ns: u64,
    /// Begin of its request, ns.
    pub(crate) begun_ns: u64,
    pub(crate) had: OfConnection,
}

/// Progress of a write.
pub(crate) enum Written {
    /// All of it.
    Whole,
    /// The socket takes no more now.
    Part,
}

impl Connection {
    /// Creates a connection over an open socket.
    pub(crate) fn open(socket: OwnedFd) -> Connection {
        Connection {
            socket: Some(socket),
            ..Connection::closed()
        }
    }

    /// Creates a connection that is opened for each request.
    pub(crate) fn closed() -> Connection {
        Connection {
            socket: None,
            state: State::Free,
            written: 0,
            buffer: Vec::new(),
            due_ns: 0,
            begun_ns: 0,
            had: OfConnection::default(),
        }
    }

    /// Prepares it for a request that was due at `due_ns`.
    pub(crate) fn take_up(&mut self, due_ns: u64, now_ns: u64) {
        (self.due_ns, self.begun_ns) = (due_ns, now_ns);
        self.written = 0;
        self.buffer.clear();
    }

    /// Writes the rest of the request.
    pub(crate) fn write(&mut self, request: &[u8]) -> Result<Written, Errno> {
        let Some(socket) = &self.socket else {
            return Err(Errno::NOTCONN);
        };
        self.state = State::Sending;
        while self.written < request.len() {
            match send(socket, &request[self.written..], SendFlags::NOSIGNAL) {
                Ok(size) => self.written += size,
                Err(Errno::AGAIN) => return Ok(Written::Part),
                Err(Errno::INTR) => {}
                Err(why) => return Err(why),
            }
        }
        self.state = State::Receiving;
        Ok(Written::Whole)
    }

    /// Closes it in any state.
    pub(crate) fn close(&mut self) {
        self.socket = None;
        self.state = State::Free;
    }
}

/// Returns a socket that is connected, or still connecting (`false`).
pub(crate) fn begin_connect(address: SocketAddr) -> Result<(OwnedFd, bool), Errno> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    match connect(&socket, &address) {
        Ok(()) => Ok((socket, true)),
        Err(Errno::INPROGRESS) => Ok((socket, false)),
        Err(why) => Err(why),
    }
}

/// Returns the result of the connect.
pub(crate) fn end_connect(socket: &OwnedFd) -> Result<(), Errno> {
    sockopt::socket_error(socket)?
}
