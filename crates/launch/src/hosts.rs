//! The hosts of a session: a file with one on each line, as Open MPI reads it.
//!
//! ```text
//! # four processes on this host, two on another
//! localhost  slots=4
//! node7      slots=2
//! admin@node8          # one; ssh gets the name as it stands here
//! ```
//!
//! Processes are placed host by host, as many as a host has slots, and from the first host again
//! when all are full.

use crate::LaunchError;
use antiphon_outside as outside;
use antiphon_panda::platform::bootstrap::towards;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::path::Path;

/// Bytes of the file at most.
const LONGEST: u64 = 4 << 20;

/// A host on which processes are started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Host {
    /// Name in the file, for ssh and for messages.
    pub name: String,
    pub slots: u32,
    /// Address by which the other hosts reach it.
    pub address: IpAddr,
    /// Whether it is this host: nothing is needed to reach it.
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
    /// Reads the file and looks the hosts up. With `begins_here`, this host is the first.
    pub fn read(file: &Path, begins_here: bool) -> Result<Self, LaunchError> {
        let refused = |why: String| LaunchError::HostsFile {
            file: file.to_owned(),
            why,
        };
        let text =
            outside::read_text(file, LONGEST).map_err(|source| LaunchError::NoHostsFile {
                file: file.to_owned(),
                source,
            })?;
        let mut found = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let host = parse(line).and_then(|parsed| parsed.map(look_up).transpose());
            found.extend(host.map_err(|why| refused(format!(", line {number}: {why}")))?);
        }
        if found.is_empty() {
            return Err(refused(
                " names no host: write one on each line, as in `node7 slots=2`".into(),
            ));
        }
        if begins_here {
            let here = found.iter().position(|found| found.host.is_here);
            let here = match here {
                Some(at) => found.remove(at),
                None => {
                    look_up(("localhost".into(), 1)).map_err(|why| refused(format!(": {why}")))?
                }
            };
            found.insert(0, here);
        }
        let mut hosts = choose_addresses(found).map_err(|why| refused(format!(": {why}")))?;
        let own = own_address(&hosts)
            .map_err(|e| refused(format!(": the hosts cannot be reached from here: {e}")))?;
        for host in hosts.iter_mut().filter(|host| host.is_here) {
            host.address = own;
        }
        Ok(Self { hosts, own })
    }

    /// Returns the host on which a process is placed.
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

    /// Returns the host of a name: the file's name, with or without its user, or its address.
    ///
    /// # Errors
    ///
    /// The session has no such host; the error lists its hosts.
    pub fn named(&self, name: &str) -> Result<&Host, String> {
        let is_it = |host: &&Host| {
            let bare = host.name.rsplit_once('@').map(|(_, bare)| bare);
            host.name == name || bare == Some(name) || host.address.to_string() == name
        };
        self.hosts.iter().find(is_it).ok_or_else(|| {
            let names: Vec<&str> = self.hosts.iter().map(|host| host.name.as_str()).collect();
            format!(
                "this session has no host `{name}`: name one of {}, or add it to the file of `antiphon launch --hosts`",
                names.join(", ")
            )
        })
    }

    /// Returns the host that others reach by an address.
    pub fn at(&self, address: IpAddr) -> Option<&Host> {
        self.hosts.iter().find(|host| host.address == address)
    }
}

/// Parses a line's host and slots; returns `None` for a line without one.
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

/// A host by one of its addresses, and all of these.
struct Found {
    host: Host,
    addresses: Vec<IpAddr>,
}

impl Found {
    fn address(&self, is_ipv4: bool) -> Option<IpAddr> {
        let mut all = self.addresses.iter();
        all.find(|ip| ip.is_ipv4() == is_ipv4).copied()
    }
}

fn look_up((name, slots): (String, u32)) -> Result<Found, String> {
    let (_, bare) = name.rsplit_once('@').unwrap_or(("", &name));
    let bare = bare.trim_start_matches('[').trim_end_matches(']');
    let found = (bare, 0).to_socket_addrs();
    let addresses = found
        .map_err(|e| {
            format!("the host `{bare}` is not known: {e}; mend its name, or write its address")
        })?
        .map(|found| found.ip())
        .collect();
    let bare = bare.to_owned();
    at_addresses((name, slots), &bare, addresses)
}

fn at_addresses(
    (name, slots): (String, u32),
    bare: &str,
    addresses: Vec<IpAddr>,
) -> Result<Found, String> {
    let Some(&address) = addresses.first() else {
        return Err(format!("the host `{bare}` has no address"));
    };
    // Debian gives a host's own name the address 127.0.1.1. A numeric loopback address may stand
    // for another host.
    let is_name = bare.parse::<IpAddr>().is_err();
    let is_here = |at: &IpAddr| is_here(*at) || is_name && at.is_loopback();
    let host = Host {
        is_here: addresses.iter().any(is_here),
        name,
        slots,
        address,
    };
    Ok(Found { host, addresses })
}

/// Chooses an address of each host, all of one version of IP: 4 if all other hosts have it. This
/// host is reached by its address on the way to them.
fn choose_addresses(found: Vec<Found>) -> Result<Vec<Host>, String> {
    let others: Vec<&Found> = found.iter().filter(|found| !found.host.is_here).collect();
    let asked: Vec<&Found> = match others.is_empty() {
        true => found.iter().take(1).collect(),
        false => others,
    };
    let lacks = |is_ipv4| asked.iter().find(|found| found.address(is_ipv4).is_none());
    let is_ipv4 = match (lacks(true), lacks(false)) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(old), Some(new)) => {
            return Err(format!(
                "its hosts have no version of IP in common: `{}` has no IPv4 address, and `{}` no IPv6 address",
                old.host.name, new.host.name
            ));
        }
    };
    let host = |found: Found| Host {
        address: found.address(is_ipv4).unwrap_or(found.host.address),
        ..found.host
    };
    Ok(found.into_iter().map(host).collect())
}

/// Returns whether a numeric address is this host's. Loopback addresses other than the usual one
/// count as other hosts, for trials.
fn is_here(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) if v4.is_loopback() => v4 == Ipv4Addr::LOCALHOST,
        _ => UdpSocket::bind((address, 0)).is_ok(),
    }
}

/// Returns this host's address on the way to the others; if there are none, its address in the
/// file.
fn own_address(hosts: &[Host]) -> io::Result<IpAddr> {
    match hosts.iter().find(|host| !host.is_here) {
        // Any port serves, since nothing is sent.
        Some(other) => towards(SocketAddr::new(other.address, 9)),
        None => Ok(hosts[0].address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(text: &str) -> Result<Hosts, String> {
        hosts_from(text, false)
    }

    fn hosts_from(text: &str, begins_here: bool) -> Result<Hosts, String> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), text).expect("written");
        Hosts::read(file.path(), begins_here).map_err(|e| e.to_string())
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
    fn a_host_is_found_by_its_name_and_its_address() {
        let hosts = hosts("localhost\nme@127.0.0.2\n").expect("good");
        for name in ["me@127.0.0.2", "127.0.0.2"] {
            assert_eq!(hosts.named(name).map(|host| host.is_here), Ok(false));
        }
        assert_eq!(hosts.named("localhost").map(|host| host.is_here), Ok(true));
        let why = hosts.named("node9").expect_err("it is not in the file");
        assert!(why.contains("one of localhost, me@127.0.0.2"), "{why}");
    }

    #[test]
    fn this_host_comes_first_where_it_is_asked_to() {
        for text in [
            "127.0.0.2\n127.0.0.3\n",
            "127.0.0.2\n127.0.0.3\nlocalhost\n",
        ] {
            let hosts = hosts_from(text, true).expect("good");
            let names: Vec<_> = (0..4).map(|rank| hosts.of(rank).name.as_str()).collect();
            assert_eq!(names, ["localhost", "127.0.0.2", "127.0.0.3", "localhost"]);
        }
    }

    fn found(name: &str, addresses: &[&str], is_here: bool) -> Found {
        let addresses: Vec<IpAddr> = addresses.iter().map(|ip| ip.parse().unwrap()).collect();
        let host = Host {
            name: name.into(),
            slots: 1,
            address: addresses[0],
            is_here,
        };
        Found { host, addresses }
    }

    #[test]
    fn all_hosts_are_reached_over_one_version_of_ip() {
        let chosen = |found| {
            choose_addresses(found).map(|hosts| {
                let addresses = hosts.iter().map(|host| host.address.to_string());
                addresses.collect::<Vec<_>>().join(" ")
            })
        };
        let here = || found("here", &["::1", "127.0.0.1"], true);
        let both = || found("both", &["fd00::2", "10.0.0.2"], false);
        let old = || found("old", &["10.0.0.3"], false);
        let new = || found("new", &["fd00::4"], false);
        for (hosts, addresses) in [
            (vec![here()], "127.0.0.1"),
            (vec![found("here", &["::1"], true)], "::1"),
            (vec![here(), both()], "127.0.0.1 10.0.0.2"),
            (vec![both(), new()], "fd00::2 fd00::4"),
            (vec![old(), both()], "10.0.0.3 10.0.0.2"),
            // This host's address is the one on its way to the others, whatever the file says.
            (
                vec![found("here", &["10.0.0.1"], true), new()],
                "10.0.0.1 fd00::4",
            ),
        ] {
            assert_eq!(chosen(hosts).as_deref(), Ok(addresses));
        }
        let why = chosen(vec![both(), old(), new()]).unwrap_err();
        assert!(
            why.contains("`new` has no IPv4") && why.contains("`old` no IPv6"),
            "{why}"
        );
    }

    /// Checks names as Debian has them in `/etc/hosts`.
    #[test]
    fn a_name_of_a_loopback_address_is_this_hosts_own() {
        let found = |name: &str, at: [u8; 4]| {
            let found = at_addresses((name.into(), 1), name, vec![at.into()]);
            found.expect("it has an address").host.is_here
        };
        assert!(found("node1", [127, 0, 1, 1]));
        assert!(found("node1", [127, 0, 0, 1]));
        assert!(!found("127.0.1.1", [127, 0, 1, 1]));
        assert!(!found("node1", [192, 0, 2, 99]));
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
        let error = Hosts::read(Path::new("/no/such/file"), false).expect_err("none");
        assert!(error.to_string().contains("/no/such/file"), "{error}");
    }

    #[test]
    fn what_is_no_file_is_refused_at_once() {
        let refused = Hosts::read(Path::new("/dev/zero"), false)
            .unwrap_err()
            .to_string();
        assert!(
            refused.contains("/dev/zero: it is no regular file"),
            "{refused}"
        );
    }
}
