//! Network namespaces on a bridge, or this host alone.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::{AddAssign, Sub};
use std::path::Path;
use std::process::Command;

const BRIDGE: &str = "pandab";

/// The hosts of the members.
pub struct Hosts {
    /// Namespaces; 0 stands for this host.
    count: usize,
}

/// A version of IP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    V4,
    V6,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
        })
    }
}

/// Traffic that network cards sent.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sent {
    bytes: u64,
    frames: u64,
}

impl Sent {
    /// Returns bytes and frames for each of `messages`.
    pub fn per(self, messages: f64) -> (f64, f64) {
        (self.bytes as f64 / messages, self.frames as f64 / messages)
    }
}

impl Sub for Sent {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self {
            bytes: self.bytes - other.bytes,
            frames: self.frames - other.frames,
        }
    }
}

impl AddAssign for Sent {
    fn add_assign(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.frames += other.frames;
    }
}

impl Hosts {
    /// Returns this host, over its loopback.
    pub fn this() -> Self {
        Self { count: 0 }
    }

    /// Makes `count` namespaces, each with a card on one bridge.
    pub fn new(count: usize) -> Result<Self, String> {
        remove(count);
        let hosts = Self { count };
        ip(&format!("link add {BRIDGE} type bridge mcast_snooping 0"))?;
        give_addresses("", 254, BRIDGE)?;
        ip(&format!("link set {BRIDGE} up"))?;
        for at in 0..count {
            let host = name(at);
            ip(&format!("netns add {host}"))?;
            ip(&format!(
                "link add {host} type veth peer name cable netns {host}"
            ))?;
            ip(&format!("link set {host} master {BRIDGE} up"))?;
            give_addresses(&format!("-n {host} "), at as u8 + 1, "cable")?;
            ip(&format!("-n {host} link set cable up"))?;
            ip(&format!("-n {host} link set lo up"))?;
        }
        Ok(hosts)
    }

    /// Returns the versions of IP over which there is multicast: the loopback of Linux passes none
    /// over IPv6.
    pub fn versions(&self) -> &'static [Version] {
        match self.count {
            0 => &[Version::V4],
            _ => &[Version::V4, Version::V6],
        }
    }

    /// Returns where the processes of a session meet.
    pub fn bootstrap_at(&self, version: Version) -> SocketAddr {
        let address = match self.count {
            0 => Ipv4Addr::LOCALHOST.into(),
            _ => address(version, 254),
        };
        SocketAddr::new(address, 0)
    }

    /// Returns the command that runs this program on one of the hosts.
    pub fn command(&self, at: usize) -> Command {
        let own = std::env::current_exe().expect("this program has a path");
        if self.count == 0 {
            return Command::new(own);
        }
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &name(at)]).arg(own);
        command
    }

    /// Returns all that the cards have sent.
    pub fn sent(&self) -> Sent {
        let mut sent = Sent::default();
        // The other end of a host's cable receives all that the host's card sends.
        let of_hosts = (0..self.count).map(|at| (name(at), "rx"));
        let of_this = (self.count == 0).then(|| ("lo".to_owned(), "tx"));
        for (card, way) in of_hosts.chain(of_this) {
            let card = Path::new("/sys/class/net").join(card).join("statistics");
            let number = |of: &str| -> u64 {
                let text = std::fs::read_to_string(card.join(format!("{way}_{of}")));
                text.ok()
                    .and_then(|text| text.trim().parse().ok())
                    .unwrap_or(0)
            };
            sent.bytes += number("bytes");
            sent.frames += number("packets");
        }
        sent
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        if self.count > 0 {
            remove(self.count);
        }
    }
}

/// Removes all namespaces and cards, also those of an earlier run.
fn remove(count: usize) {
    for at in 0..count {
        let _ = ip(&format!("netns del {}", name(at)));
        // The card would go with its namespace, but some time later.
        let _ = ip(&format!("link del {}", name(at)));
    }
    let _ = ip(&format!("link del {BRIDGE}"));
}

fn name(at: usize) -> String {
    format!("panda{at}")
}

fn address(version: Version, last: u8) -> IpAddr {
    match version {
        Version::V4 => Ipv4Addr::new(10, 78, 0, last).into(),
        Version::V6 => Ipv6Addr::new(0xfd78, 0, 0, 0, 0, 0, 0, last.into()).into(),
    }
}

/// Gives a card its addresses, in the namespace that `within` makes `ip` enter first. No other host
/// has these addresses. So duplicate detection, which would take a second, is off.
fn give_addresses(within: &str, last: u8, card: &str) -> Result<(), String> {
    let (v4, v6) = (address(Version::V4, last), address(Version::V6, last));
    ip(&format!("{within}addr add {v4}/24 dev {card}"))?;
    ip(&format!("{within}addr add {v6}/64 dev {card} nodad"))
}

fn ip(arguments: &str) -> Result<(), String> {
    let output = Command::new("ip").args(arguments.split(' ')).output();
    let output = output.map_err(|error| format!("cannot run ip: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!(
            "ip {arguments}: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}
