//! Ports for started servers, and their holders.

use crate::ProcessStat;
use std::collections::{HashMap, HashSet};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

/// The state of a socket that listens, in the kernel's table.
const LISTENS: &str = "0A";

/// Returns a port of the loopback interface on which no process listens.
///
/// Another process may take it before the server does. A server that ends then is started on
/// another port. Nothing secret may be sent to the port before [`holds_port`] says that the server
/// has it.
///
/// # Errors
/// There is none, or no descriptor to look with.
pub fn free_port() -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

/// Returns whether `process`, its group or their descendants hold all sockets that take connections
/// to 127.0.0.1 on `port`. `None` means that the system does not tell.
pub fn holds_port(process: u32, port: u16) -> Option<bool> {
    let listening = listening(process, port)?;
    if listening.is_empty() {
        return Some(false);
    }
    let mut missing = listening;
    let mut is_hidden = false;
    for member in family(process)? {
        let descriptors = match std::fs::read_dir(format!("/proc/{member}/fd")) {
            Ok(descriptors) => descriptors,
            // An ended process holds nothing; a process of another user hides its descriptors.
            Err(error) => {
                is_hidden |= error.kind() == io::ErrorKind::PermissionDenied;
                continue;
            }
        };
        for descriptor in descriptors.flatten() {
            if let Ok(link) = std::fs::read_link(descriptor.path())
                && let Some(inode) = inode_of(&link)
            {
                missing.remove(&inode);
            }
        }
        if missing.is_empty() {
            return Some(true);
        }
    }
    (!is_hidden).then_some(false)
}

/// Returns the inodes of the sockets that accept connections to 127.0.0.1 on a port, in the network
/// that `process` sees.
fn listening(process: u32, port: u16) -> Option<HashSet<u64>> {
    let table = |name: &str| std::fs::read_to_string(format!("/proc/{process}/net/{name}"));
    let (four, six) = (table("tcp").ok()?, table("tcp6").unwrap_or_default());
    let lines = four.lines().chain(six.lines());
    Some(lines.filter_map(|line| listener(line, port)).collect())
}

/// Returns the inode of a socket in a line of `/proc/net/tcp` or `tcp6`, if it accepts connections
/// to 127.0.0.1 on the port.
fn listener(line: &str, port: u16) -> Option<u64> {
    let mut words = line.split_whitespace();
    let (address, at) = words.nth(1)?.split_once(':')?;
    let state = words.nth(1)?;
    // Each four bytes of an address are a number in the processor's order.
    let word = |bytes: [u8; 4]| format!("{:08X}", u32::from_ne_bytes(bytes));
    let loopback = word([127, 0, 0, 1]);
    let mapped = format!("{:016X}{}{loopback}", 0, word([0, 0, 0xff, 0xff]));
    let is_any = address.bytes().all(|digit| digit == b'0');
    let reaches = is_any || address == loopback || address == mapped;
    let listens = state == LISTENS && u16::from_str_radix(at, 16) == Ok(port);
    // uid, timeout and inode follow two words of queues and timers, and a count.
    let inode = words.nth(5)?.parse().ok()?;
    (reaches && listens).then_some(inode)
}

/// Returns the inode in a link such as `socket:[4242]`.
fn inode_of(link: &Path) -> Option<u64> {
    let name = link.to_str()?;
    name.strip_prefix("socket:[")?
        .strip_suffix(']')?
        .parse()
        .ok()
}

/// Returns a process, its group, and their descendants.
fn family(process: u32) -> Option<Vec<u32>> {
    let entries = std::fs::read_dir("/proc").ok()?.flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let stats: HashMap<u32, ProcessStat> = numbers
        .filter_map(|number| Some((number, ProcessStat::of(number).ok()?)))
        .collect();
    let is_first = |number: u32, stat: &ProcessStat| {
        number == process || stat.number(5) == Some(u64::from(process))
    };
    let belongs = |&number: &u32| {
        let mut above = number;
        // No chain of parents is longer than there are processes.
        for _ in 0..=stats.len() {
            let Some(stat) = stats.get(&above) else {
                return false;
            };
            if is_first(above, stat) {
                return true;
            }
            above = stat.parent().unwrap_or(0);
        }
        false
    };
    Some(stats.keys().copied().filter(belongs).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_listens_on_a_free_port() {
        // Another process may have taken one meanwhile, but hardly all.
        let is_free = |_| TcpListener::bind((Ipv4Addr::LOCALHOST, free_port().unwrap())).is_ok();
        assert!((0..10).any(is_free));
    }

    #[test]
    fn a_port_is_its_listeners_and_no_other_processes() {
        let ours = std::process::id();
        for address in ["127.0.0.1:0", "0.0.0.0:0", "[::]:0", "[::ffff:127.0.0.1]:0"] {
            // A machine may have no IPv6.
            let Ok(listener) = TcpListener::bind(address) else {
                continue;
            };
            let port = listener.local_addr().unwrap().port();
            assert_eq!(holds_port(ours, port), Some(true), "{address}");
            let mut other = std::process::Command::new("sleep");
            std::os::unix::process::CommandExt::process_group(&mut other, 0);
            let mut other = other.arg("60").spawn().unwrap();
            assert_eq!(holds_port(other.id(), port), Some(false), "{address}");
            other.kill().unwrap();
            other.wait().unwrap();
            drop(listener);
        }
        assert_eq!(holds_port(ours, 1), Some(false));
    }

    #[test]
    fn only_sockets_that_take_connections_to_the_loopback_count() {
        let line = |address: &str, state: &str| {
            format!(
                "   0: {address}:1F90 00000000:0000 {state} 00000000:00000000 00:00000000 00000000  1000        0 4242 1"
            )
        };
        let loopback = format!("{:08X}", u32::from_ne_bytes([127, 0, 0, 1]));
        let elsewhere = format!("{:08X}", u32::from_ne_bytes([10, 0, 0, 1]));
        assert_eq!(listener(&line(&loopback, "0A"), 8080), Some(4242));
        assert_eq!(listener(&line("00000000", "0A"), 8080), Some(4242));
        assert_eq!(listener(&line(&loopback, "0A"), 8081), None);
        assert_eq!(listener(&line(&loopback, "01"), 8080), None);
        assert_eq!(listener(&line(&elsewhere, "0A"), 8080), None);
    }
}
