//! Accepts connections from anybody on the network, with a thread for each: at a bootstrap, at a starter.

use std::collections::VecDeque;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::handshake::{Accepting, NO_RANK, Progress, Purpose};
use super::launch_info::Secret;

/// How long one may take to prove that one knows the secret.
const PATIENCE: Duration = Duration::from_secs(5);
/// Connections that have not, besides those of the processes that come at once.
const STRANGERS_MAX: usize = 64;

/// Waits before the next connection is asked for, when the system had none to give: without a descriptor left it says so at once, each time it is asked.
pub fn pause() {
    std::thread::sleep(Duration::from_millis(10));
}

/// Connections that have not proven to know the secret. The oldest makes room for the newest, so strangers who say nothing keep nobody out: who knows it proves it at once.
#[derive(Debug)]
pub struct Acceptor {
    secret: Secret,
    purpose: Purpose,
    room: usize,
    strangers: Mutex<VecDeque<Arc<TcpStream>>>,
}

impl Acceptor {
    /// With room for so many processes that come at once.
    pub fn new(secret: Secret, purpose: Purpose, processes: u32) -> Self {
        Self {
            secret,
            purpose,
            room: STRANGERS_MAX + processes as usize,
            strangers: Mutex::default(),
        }
    }

    /// Takes a connection in, before a thread is begun for it.
    pub fn admit(&self, stream: &Arc<TcpStream>) {
        let mut strangers = self.strangers.lock();
        if strangers.len() >= self.room
            && let Some(oldest) = strangers.pop_front()
        {
            // Its thread finds that it has ended.
            let _ = oldest.shutdown(Shutdown::Both);
        }
        strangers.push_back(stream.clone());
    }

    /// Whether the other end of a connection that was admitted proves in time that it knows the secret.
    pub fn knows(&self, stream: &Arc<TcpStream>) -> bool {
        let is_known = self.hear_out(stream).is_ok();
        let mut strangers = self.strangers.lock();
        strangers.retain(|other| !Arc::ptr_eq(other, stream));
        is_known
    }

    fn hear_out(&self, stream: &TcpStream) -> io::Result<()> {
        let until = Instant::now() + PATIENCE;
        let mut accepting = Accepting::new(self.secret, self.purpose, NO_RANK);
        loop {
            // No time at all is an error here, too.
            let left = until.saturating_duration_since(Instant::now());
            stream.set_read_timeout(Some(left))?;
            if let Progress::Known(..) = accepting.read(stream)? {
                return stream.set_read_timeout(None);
            }
        }
    }
}
