//! A connection whose other end has not proven to be of the session.

use std::io;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::calls::FOUNDER_WAIT;
use crate::platform::handshake::{Accepting, Progress, Purpose};
use crate::platform::{LaunchInfo, Rank};

/// Time for which a stranger may keep a connection, if no newer one takes its place. Founders are
/// waited for as long.
const PATIENCE: Duration = FOUNDER_WAIT.saturating_add(Duration::from_secs(5));

/// A connection to this process that has only begun.
#[derive(Debug)]
pub struct Hello {
    pub stream: TcpStream,
    accepting: Accepting,
    since: Instant,
}

/// The process at the other end.
pub enum Caller {
    Unknown,
    /// A stranger, or a process that ended or took too long.
    Refused,
    Known(Rank, String),
}

impl Hello {
    /// Makes it of a non-blocking connection.
    pub fn of(stream: TcpStream, info: &LaunchInfo) -> Self {
        Self {
            stream,
            accepting: Accepting::new(info.secret, Purpose::Frames, info.rank),
            since: Instant::now(),
        }
    }

    /// Reads no more than the handshake: frames may follow at once.
    pub fn read(&mut self) -> Caller {
        loop {
            match self.accepting.read(&self.stream) {
                Ok(Progress::More) => {}
                Ok(Progress::Known(rank, name)) => return Caller::Known(rank, name),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let is_silent = error.kind() == io::ErrorKind::WouldBlock;
                    return match is_silent && self.since.elapsed() < PATIENCE {
                        true => Caller::Unknown,
                        false => Caller::Refused,
                    };
                }
            }
        }
    }
}
