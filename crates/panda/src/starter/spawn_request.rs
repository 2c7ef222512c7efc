//! A request of a process to its session's starter, and its encoding.
//!
//! A request is not encrypted. In a session of several hosts, an eavesdropper can read all of it
//! except the session's secret, as with messages over `tcp` and `udp`. So only listed environment
//! variables leave a host, and those that the program sets itself. The request is sealed with the
//! secret: an attacker who takes over an authenticated connection cannot start anything.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::IpAddr;
use std::path::PathBuf;

use antiphon_runner::{Error, Forwarding, Program};
use serde::{Deserialize, Serialize};

use super::{NotStarted, Signal};
use crate::platform::bootstrap::{read, write};
use crate::platform::{LaunchInfo, Mpi, Platform, Rank, Secret};

/// A program to start as more processes of a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SpawnRequest {
    /// The program: an absolute path, or a name that is looked up.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The directory in which it starts.
    pub directory: PathBuf,
    /// Its environment. The variables of its launch info are added to it.
    pub environment: Vec<(OsString, OsString)>,
    /// The ranks that the processes get.
    pub ranks: Vec<Rank>,
    /// The process that asks for them.
    pub parent: Rank,
    /// The host to start them on, as the spawner names it; if `None`, the spawner's.
    pub host: Option<String>,
    /// The address of the spawner's host, if the session has several.
    pub address: Option<IpAddr>,
    /// The starter that they use themselves.
    pub starter: Option<String>,
}

/// A request of a process to its session's starter.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Request {
    Spawn(SpawnRequest),
    Signal {
        rank: Rank,
        signal: Signal,
        /// Differs for each request, so that a recorded request has no effect when it is sent
        /// again.
        number: u128,
    },
}

/// A request as it is sent.
#[derive(Serialize, Deserialize)]
struct Sealed {
    request: Vec<u8>,
    seal: [u8; blake3::OUT_LEN],
}

impl SpawnRequest {
    /// Returns the program with its environment, for a process of this host.
    #[must_use]
    pub fn program(&self, info: &LaunchInfo) -> Program {
        let environment = self.environment.iter();
        Program::new(&self.program)
            .args(&self.args)
            .cwd(&self.directory)
            .clear_env()
            .envs(environment.map(|(name, value)| (name, value)))
            .envs(info.to_environment())
    }

    /// Starts the program as a process of this host.
    ///
    /// # Errors
    /// This host lacks something. The error says what, and how to fix it.
    pub fn start(&self, info: &LaunchInfo) -> Result<Forwarding, NotStarted> {
        if !self.directory.is_dir() {
            let directory = self.directory.display();
            return Err(format!(
                "this host has no directory {directory}: make it, or name another one"
            )
            .into());
        }
        self.program(info).forward(false).map_err(|error| {
            let help = match error {
                Error::Missing { .. } => {
                    ": check its name, give its path, or put its directory into PATH"
                }
                _ => "",
            };
            format!("on this host {error}{help}").into()
        })
    }

    /// Checks that the request is for this host, where no process can start others elsewhere.
    pub(crate) fn stays_here(&self, platform: &str) -> Result<(), NotStarted> {
        match &self.host {
            Some(host) if !is_this_host(host) => Err(match platform == Mpi::NAME {
                true => format!(
                    "over mpi a process starts on its spawner's host: have a process on {host} spawn it, or use tcp or udp"
                ),
                false => format!(
                    "nobody starts processes on {host} for this session: name {host} in a file of hosts, and give that by `--hosts FILE` where the session starts"
                ),
            }
            .into()),
            _ => Ok(()),
        }
    }
}

/// Returns whether a name is this host's own, or the usual address of its loopback. Other addresses
/// of the loopback may stand for other hosts, for trials.
#[must_use]
pub fn is_this_host(name: &str) -> bool {
    let own = std::fs::read_to_string("/proc/sys/kernel/hostname");
    ["localhost", "127.0.0.1"].contains(&name) || own.is_ok_and(|own| own.trim() == name)
}

impl Request {
    pub(crate) fn send(&self, secret: Secret, stream: &mut impl Write) -> io::Result<()> {
        let request = postcard::to_stdvec(self).map_err(io::Error::other)?;
        let seal = *seal(secret, &request).as_bytes();
        write(stream, &Sealed { request, seal })
    }

    pub(super) fn receive(secret: Secret, stream: &mut impl Read) -> io::Result<Self> {
        let sealed: Sealed = read(stream)?;
        // The comparison takes the same time wherever the bytes differ.
        if seal(secret, &sealed.request) != sealed.seal {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        postcard::from_bytes(&sealed.request).map_err(io::Error::other)
    }
}

fn seal(secret: Secret, request: &[u8]) -> blake3::Hash {
    let key = secret.derive("antiphon panda: a request");
    blake3::keyed_hash(&key, request)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_taken_from_who_knows_the_secret_as_it_was_given() {
        let request = Request::Spawn(SpawnRequest {
            program: "true".into(),
            args: vec!["a".into()],
            directory: "/".into(),
            environment: vec![("COLOUR".into(), "green".into())],
            ranks: vec![3, 4],
            parent: 1,
            host: None,
            address: None,
            starter: None,
        });
        let (ours, theirs) = (Secret([1; 16]), Secret([2; 16]));
        let mut sent = Vec::new();
        request.send(ours, &mut sent).unwrap();
        let received = Request::receive(ours, &mut sent.as_slice()).unwrap();
        assert_eq!(format!("{received:?}"), format!("{request:?}"));
        assert!(Request::receive(theirs, &mut sent.as_slice()).is_err());
        let at = sent.windows(5).position(|part| part == b"green").unwrap();
        sent[at] ^= 1;
        assert!(Request::receive(ours, &mut sent.as_slice()).is_err());
    }
}
