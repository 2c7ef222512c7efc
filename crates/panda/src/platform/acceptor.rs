//! The acceptor of connections from any host, with a thread for each. Bootstraps and starters use
//! it.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use antiphon_panda_core::Chance;
use parking_lot::Mutex;
use socket2::{Domain, Socket, Type};

use super::Rank;
use super::handshake::{Accepting, NO_RANK, Progress, Purpose};
use super::launch_info::Secret;

/// Time that a caller has to prove that it knows the secret.
const PATIENCE: Duration = Duration::from_secs(5);
/// Number of unproven connections, besides those of the processes that come at once.
const STRANGERS_MAX: usize = 64;

/// Number of connections that the system keeps until they are accepted: all processes of a session
/// may come at once. The system may allow fewer (`net.core.somaxconn`).
const BACKLOG: i32 = 4096;

/// Listens at an address of this host (port 0: any).
///
/// # Errors
/// The address is none of this host's, or no port or descriptor is left.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    // A port can be used again while its last connections still end. The standard library does the
    // same.
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Returns how many connections the system keeps until they are accepted, if that is fewer than are
/// asked for.
pub fn backlog() -> Option<i32> {
    let most = std::fs::read_to_string("/proc/sys/net/core/somaxconn").ok()?;
    let most = most.trim().parse().ok()?;
    (most < BACKLOG).then_some(most)
}

/// Returns whether an accept failed because this process or the system has nothing left for it.
pub fn is_shortage(error: &io::Error) -> bool {
    let number = error.raw_os_error();
    [libc::EMFILE, libc::ENFILE, libc::ENOMEM, libc::ENOBUFS]
        .iter()
        .any(|shortage| number == Some(*shortage))
}

/// Waits before the next accept after a failed one. With no descriptor left, the system fails at
/// once each time.
pub fn pause() {
    std::thread::sleep(Duration::from_millis(10));
}

/// Connections that have not proven to know the secret.
///
/// One of them, drawn by lot, makes room for the newest. So silent strangers keep no process out.
/// In a flood of strangers, a process that proves itself at once has a chance at each try. If the
/// oldest made room, it would always be gone before that.
#[derive(Debug)]
pub struct Acceptor {
    secret: Secret,
    purpose: Purpose,
    room: usize,
    strangers: Mutex<Strangers>,
}

#[derive(Debug)]
struct Strangers {
    streams: Vec<Arc<TcpStream>>,
    lot: Chance,
}

/// Returns a source of lots that strangers cannot predict.
pub fn lot(secret: Secret) -> Chance {
    let seed = secret.derive("antiphon panda: which stranger makes room");
    Chance::new(u64::from_le_bytes(
        *seed.first_chunk().expect("it is longer"),
    ))
}

impl Acceptor {
    /// Makes an acceptor with room for `processes` processes that come at once.
    pub fn new(secret: Secret, purpose: Purpose, processes: u32) -> Self {
        Self {
            secret,
            purpose,
            room: STRANGERS_MAX + processes as usize,
            strangers: Mutex::new(Strangers {
                streams: Vec::new(),
                lot: lot(secret),
            }),
        }
    }

    /// Registers a connection, before its thread begins.
    pub fn admit(&self, stream: &Arc<TcpStream>) {
        let mut strangers = self.strangers.lock();
        let count = strangers.streams.len();
        if count >= self.room {
            let at = strangers.lot.below(count as u64) as usize;
            // The connection's thread finds that it has ended.
            let _ = strangers.streams.swap_remove(at).shutdown(Shutdown::Both);
        }
        strangers.streams.push(stream.clone());
    }

    /// Returns the rank that the other end claims, once it has proven in time that it knows the
    /// secret.
    pub fn caller(&self, stream: &Arc<TcpStream>) -> Option<Rank> {
        let caller = self.hear_out(stream).ok();
        let streams = &mut self.strangers.lock().streams;
        streams.retain(|other| !Arc::ptr_eq(other, stream));
        caller
    }

    fn hear_out(&self, stream: &TcpStream) -> io::Result<Rank> {
        let until = Instant::now() + PATIENCE;
        let mut accepting = Accepting::new(self.secret, self.purpose, NO_RANK);
        loop {
            // A timeout of zero is an error here, too.
            let left = until.saturating_duration_since(Instant::now());
            stream.set_read_timeout(Some(left))?;
            if let Progress::Known(rank, _) = accepting.read(stream)? {
                stream.set_read_timeout(None)?;
                return Ok(rank);
            }
        }
    }
}
