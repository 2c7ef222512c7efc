//! How a connection begins: the session's secret, the rank and the name of who connects.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::platform::seat::Secret;
use crate::platform::{Rank, Seat};

const FIXED: usize = 16 + 4 + 1;
/// A stranger may keep a connection for so long.
const PATIENCE: Duration = Duration::from_secs(5);

/// A connection whose beginning has not come whole.
#[derive(Debug)]
pub struct Hello {
    pub stream: TcpStream,
    bytes: Vec<u8>,
    since: Instant,
}

/// How far it is.
pub enum Progress {
    Waits,
    /// A stranger, or somebody who ended or took too long.
    Refused,
    Known(Rank, String),
}

impl Hello {
    pub fn write(mut stream: &TcpStream, seat: &Seat) -> io::Result<()> {
        let name: String = seat.name.chars().take(60).collect();
        let mut bytes = seat.secret.0.to_vec();
        bytes.extend(seat.rank.to_le_bytes());
        bytes.push(name.len() as u8);
        bytes.extend(name.as_bytes());
        stream.write_all(&bytes)
    }

    pub fn of(stream: TcpStream) -> Self {
        Self {
            stream,
            bytes: Vec::new(),
            since: Instant::now(),
        }
    }

    /// Reads no more than the beginning: frames may follow at once.
    pub fn read(&mut self, secret: Secret) -> Progress {
        loop {
            let wanted = match self.bytes.get(FIXED - 1) {
                Some(length) => FIXED + usize::from(*length),
                None => FIXED,
            };
            if self.bytes.len() == wanted && wanted > FIXED {
                return self.known();
            }
            let have = self.bytes.len();
            let mut part = vec![0; (wanted - have).max(1)];
            if wanted == have {
                // A name of no bytes: nobody of ours has that.
                return Progress::Refused;
            }
            match self.stream.read(&mut part) {
                Ok(0) => return Progress::Refused,
                Ok(count) => self.bytes.extend(&part[..count]),
                Err(error)
                    if error.kind() == io::ErrorKind::WouldBlock
                        && self.since.elapsed() < PATIENCE =>
                {
                    return Progress::Waits;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Progress::Refused,
            }
            let is_ours = self
                .bytes
                .first_chunk()
                .is_none_or(|theirs: &[u8; 16]| secret.is_same(Secret(*theirs)));
            if !is_ours {
                return Progress::Refused;
            }
        }
    }

    fn known(&self) -> Progress {
        let rank = self.bytes[16..20]
            .try_into()
            .map(u32::from_le_bytes)
            .unwrap_or(0);
        Progress::Known(
            rank,
            String::from_utf8_lossy(&self.bytes[FIXED..]).into_owned(),
        )
    }
}
