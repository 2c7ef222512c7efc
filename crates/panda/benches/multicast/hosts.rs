//! Network namespaces on a bridge, or this host alone.

use std::net::{Ipv4Addr, SocketAddr};
use std::ops::{AddAssign, Sub};
use std::path::Path;
use std::process::Command;

const BRIDGE: &str = "pandab";

/// Where members are.
pub struct Hosts {
    /// Namespaces; none: this host.
    count: usize,
}

/// What cards sent.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sent {
    bytes: u64,
    frames: u64,
}

impl Sent {
    /// For each of so many: bytes, and frames.
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
    /// This host, over its loopback.
    pub fn this() -> Self {
        Self { count: 0 }
    }

    /// So many namespaces, each with a card on one bridge.
    pub fn new(count: usize) -> Result<Self, String> {
        remove(count);
        let hosts = Self { count };
        ip(&format!("link add {BRIDGE} type bridge mcast_snooping 0"))?;
        ip(&format!("addr add {}/24 dev {BRIDGE}", address(254)))?;
        ip(&format!("link set {BRIDGE} up"))?;
        for at in 0..count {
            let (host, own) = (name(at), address(at as u8 + 1));
            ip(&format!("netns add {host}"))?;
            ip(&format!(
                "link add {host} type veth peer name cable netns {host}"
            ))?;
            ip(&format!("link set {host} master {BRIDGE} up"))?;
            ip(&format!("-n {host} addr add {own}/24 dev cable"))?;
            ip(&format!("-n {host} link set cable up"))?;
            ip(&format!("-n {host} link set lo up"))?;
        }
        Ok(hosts)
    }

    /// Where processes meet.
    pub fn meeting_at(&self) -> SocketAddr {
        let address = match self.count {
            0 => Ipv4Addr::LOCALHOST,
            _ => address(254),
        };
        SocketAddr::new(address.into(), 0)
    }

    /// This program on one of the hosts.
    pub fn command(&self, at: usize) -> Command {
        let own = std::env::current_exe().expect("this program has a path");
        if self.count == 0 {
            return Command::new(own);
        }
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &name(at)]).arg(own);
        command
    }

    /// What all cards have sent.
    pub fn sent(&self) -> Sent {
        let mut sent = Sent::default();
        // What a host's card sends, the other end of its cable gets.
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

/// Removes what an earlier run left, too.
fn remove(count: usize) {
    for at in 0..count {
        let _ = ip(&format!("netns del {}", name(at)));
        // By itself it would go with its namespace, some time later.
        let _ = ip(&format!("link del {}", name(at)));
        // With its namespace it would go some time later.
        let _ = ip(&format!("link del {}", name(at)));
    }
    let _ = ip(&format!("link del {BRIDGE}"));
}

fn name(at: usize) -> String {
    format!("panda{at}")
}

fn address(last: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 78, 0, last)
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
