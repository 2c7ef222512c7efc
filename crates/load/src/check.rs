//! The first exchange: the server's answer before any measurement.

use crate::error::lack_help;
use crate::response::{KnownHead, read};
use crate::settings::check_time_limit;
use crate::{Error, Fault, Target};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Expected form of every answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The status.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

/// Sends one request and returns its answer. The caller decides whether that is right, and a run
/// compares every answer with it.
///
/// # Errors
/// [`Error::FirstExchange`], if no whole answer comes within the limit. [`Error::System`], if this
/// machine lacks a resource for a connection. [`Error::Setting`], if that is no time limit of a
/// [`Load`](crate::Load).
pub fn first_exchange(target: &Target, limit: Duration) -> Result<Expected, Error> {
    check_time_limit(limit)?;
    let begun = Instant::now();
    let failed = |fault| Error::FirstExchange {
        url: target.url(),
        fault,
    };
    let stream = TcpStream::connect_timeout(&target.address(), limit).map_err(|source| {
        match lack_help(&source) {
            Some(_) => Error::System {
                doing: "opening the first connection",
                source,
            },
            None => failed(Fault::NoConnection {
                address: target.address(),
                why: source.to_string(),
            }),
        }
    })?;
    exchange(stream, target, begun, limit).map_err(failed)
}

fn exchange(
    mut stream: TcpStream,
    target: &Target,
    begun: Instant,
    limit: Duration,
) -> Result<Expected, Fault> {
    let until = begun + limit;
    let timed_out = || Fault::TimedOut {
        limit_ms: limit.as_millis() as u64,
    };
    let broken = |why: std::io::Error| match why.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => timed_out(),
        _ => Fault::Broken {
            why: why.to_string(),
        },
    };
    stream.set_write_timeout(Some(limit)).map_err(broken)?;
    stream.write_all(&target.request(true)).map_err(broken)?;
    let mut buffer = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(timed_out());
        }
        stream.set_read_timeout(Some(left)).map_err(broken)?;
        let size = match stream.read(&mut piece) {
            Err(why) if why.kind() == ErrorKind::Interrupted => continue,
            read => read.map_err(broken)?,
        };
        buffer.extend_from_slice(&piece[..size]);
        if let Some(answer) = read(&buffer, size == 0, &mut KnownHead::of(target))? {
            if answer.size < buffer.len() {
                return Err(Fault::Unasked {
                    bytes: buffer.len() - answer.size,
                });
            }
            return Ok(Expected {
                status: answer.head.status,
                body: answer.body(&buffer).to_vec(),
            });
        }
    }
}
