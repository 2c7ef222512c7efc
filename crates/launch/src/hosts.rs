//! The hosts of a session: a file with one on each line, as Open MPI reads it.
//!
//! ```text
//! # four processes on this host, two on another
//! localhost  slots=4
//! node7      slots=2
//! admin@node8          # one; ssh gets the name as it stands here
//! ```
//!
//! Processes are placed host by host, as many as a host has slots, and from the first host again when all are full.

use crate::LaunchError;
use antiphon_panda::platform::meeting::towards;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::path::Path;

/// A host that processes are started on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Host {
    /// As the file names it, for ssh and for messages.
    pub name: String,
    pub slots: u32,
    /// As the other hosts reach it.
    pub address: IpAddr,
    /// It is this one: nothing is needed to reach it.
    pub is_here: bool,
}

/// The hosts of a session.
#[derive(Clone, Debug)]
pub(crate) struct Hosts {
    hosts: Vec<Host>,
    /// This host's address, as the others reach it.
    pub own: IpAddr,
}

impl Hosts {
    /// Reads the file and looks the hosts up.
    pub fn read(file: &Path) -> Result<Self, LaunchError> {
        let refused = |why: String| LaunchError::HostsFile {
            file: file.to_owned(),
            why,
        };
        let text = std::fs::read_to_string(file).map_err(|e| refused(format!(": {e}")))?;
        let mut hosts = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let host = parse(line).and_then(|parsed| parsed.map(look_up).transpose());
            hosts.extend(host.map_err(|why| refused(format!(", line {number}: {why}")))?);
        }
        if hosts.is_empty() {
            return Err(refused(
                " names no host: write one on each line, as in `node7 slots=2`".into(),
            ));
        }
        let own = own_address(&hosts)
            .map_err(|e| refused(format!(": the hosts cannot be reached from here: {e}")))?;
        for host in hosts.iter_mut().filter(|host| host.is_here) {
            host.address = own;
        }
        Ok(Self { hosts, own })
    }

    /// Where a process is placed.
    pub fn of(&self, rank: u32) -> &Host {
        let slots: u64 = self.hosts.iter().map(|host| u64::from(host.slots)).sum();
        let mut at = u64::from(rank) % slots;
        let host = self.hosts.iter().find(|host| {
            let is_it = at < u64::from(host.slots);
            at = at.saturating_sub(u64::from(host.slots));
            is_it
        });
        host.expect("there are so many slots")
    }
}

/// A line's host and slots; nothing on a line without one.
fn parse(line: &str) -> Result<Option<(String, u32)>, String> {
    let line = line.split('#').next().unwrap_or_default();
    let mut words = line.split_whitespace();
    let Some(name) = words.next() else {
        return Ok(None);
    };
    if name.starts_with('-') {
        return Err(format!("`{name}` is no host"));
    }
    let mut slots = 1;
    for word in words {
        let count = word.strip_prefix("slots=").and_then(|n| n.parse().ok());
        slots = count.filter(|&count: &u32| count > 0).ok_or(format!(
            "`{word}` is not understood: behind the host there may be `slots=N`, N from 1"
        ))?;
    }
    Ok(Some((name.to_owned(), slots)))
}

fn look_up((name, slots): (String, u32)) -> Result<Host, String> {
    let (_, bare) = name.rsplit_once('@').unwrap_or(("", &name));
    let bare = bare.trim_start_matches('[').trim_end_matches(']');
    let found = (bare, 0).to_socket_addrs();
    let found: Vec<IpAddr> = found
        .map_err(|e| format!("the host `{bare}` is not known: {e}"))?
        .map(|found| found.ip())
        .collect();
    let preferred = found.iter().find(|ip| ip.is_ipv4()).or(found.first());
    let address = *preferred.ok_or(format!("the host `{bare}` has no address"))?;
    Ok(Host {
        slots,
        address,
        is_here: is_here(address),
        name,
    })
}

/// Whether an address is this host's. Loopback addresses other than the usual one are taken for other hosts, so that one can try things out.
fn is_here(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) if v4.is_loopback() => v4 == Ipv4Addr::LOCALHOST,
        _ => UdpSocket::bind((address, 0)).is_ok(),
    }
}

/// This host's address on the way to the others; if there are none, that under which the file names it.
fn own_address(hosts: &[Host]) -> io::Result<IpAddr> {
    match hosts.iter().find(|host| !host.is_here) {
        // Any port: nothing is sent.
        Some(other) => towards(SocketAddr::new(other.address, 9)),
        None => Ok(hosts[0].address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(text: &str) -> Result<Hosts, String> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), text).expect("written");
        Hosts::read(file.path()).map_err(|e| e.to_string())
    }

    #[test]
    fn processes_fill_the_slots_and_begin_again() {
        let hosts = hosts("# ours\nlocalhost slots=2\n\n127.0.0.2 # another\n").expect("good");
        let names: Vec<_> = (0..5).map(|rank| hosts.of(rank).name.as_str()).collect();
        let (here, there) = ("localhost", "127.0.0.2");
        assert_eq!(names, [here, here, there, here, here]);
        assert!(hosts.of(0).is_here && !hosts.of(2).is_here);
        assert_eq!(hosts.of(2).address, IpAddr::from([127, 0, 0, 2]));
        assert_eq!(hosts.of(0).address, hosts.own);
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said_with_its_line() {
        for (text, said) in [
            ("\n# nobody\n", "names no host"),
            ("localhost\nlocalhost slots=0", "line 2: `slots=0`"),
            ("localhost slot=2", "line 1: `slot=2`"),
            ("-oProxyCommand=x", "line 1: `-oProxyCommand=x` is no host"),
            (
                "no-such-host.invalid",
                "the host `no-such-host.invalid` is not known",
            ),
        ] {
            let error = hosts(text).expect_err(text);
            assert!(error.contains(said), "{error}");
        }
        let error = Hosts::read(Path::new("/no/such/file")).expect_err("none");
        assert!(error.to_string().contains("/no/such/file"), "{error}");
    }
}
