//! IP multicast, where it works: one datagram for all processes of the session.
//!
//! The group's address and port follow from the session's secret. Datagrams leave by the process's
//! own address and by no more than one hop.
//!
//! - Over IPv4 the address is of local scope (239.255.0.0/16, RFC 2365).
//! - Over IPv6 it is link-local (ff12::/16, RFC 4291, section 2.7): it is not assigned, and no
//!   router forwards it. Its group id is in the range that hosts choose themselves (RFC 3307,
//!   section 4.3.2). Such an address needs a network card, which is that of the process's own
//!   address.
//!
//! Settings do not tell whether datagrams arrive: networks drop multicast in many ways. So each
//! process *probes*. A process that gets the probe answers, and only those that answered are sent
//! to in this way. If none does, or no group can be joined, everything goes to each alone.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use socket2::{Domain, SockRef, Socket, Type};

use crate::platform::{LaunchInfo, Rank, Secret};

/// Least number of processes: with fewer there are no two receivers.
const PROCESSES_MIN: u32 = 3;
/// Ports of groups, below those that systems assign by themselves.
const PORTS: std::ops::Range<u16> = 16_384..32_768;
/// Base of groups over IPv6; the last 30 bits are the session's. Ethernet sees only the last 32
/// bits (RFC 2464). So they stay below 0xff00_0000, where the groups of neighbour discovery are
/// (RFC 4291, section 2.7.1). The groups that hosts may choose begin here.
const GROUPS_V6: u128 = 0xff12_0000_0000_0000_0000_0000_8000_0000;
/// Time between the first two probes; it doubles with each.
const PROBE_FIRST: Duration = Duration::from_millis(5);
/// Time before a probe of a process that was found not to hear after all.
const PROBE_AGAIN: Duration = Duration::from_secs(2);
/// Longest time between probes. After it there are none until a process joins.
const PROBE_LAST: Duration = Duration::from_secs(10);

/// A process's part in the group.
#[derive(Debug)]
pub struct Multicast {
    /// Socket at which datagrams of others to the group arrive.
    pub socket: UdpSocket,
    pub group: SocketAddr,
    pub probing: Mutex<Probing>,
}

impl Multicast {
    /// Joins the group; returns `None` if the session is too small, or the system refuses.
    /// `sending` is the process's own socket.
    pub fn join(
        info: &LaunchInfo,
        own: IpAddr,
        sending: &UdpSocket,
        buffer: usize,
    ) -> Option<Self> {
        if info.size.max(info.rank.saturating_add(1)) < PROCESSES_MIN {
            return None;
        }
        let card = Card::of(own)?;
        let group = card.group(info.secret);
        let socket = open(group, card, sending, buffer).ok()?;
        Some(Self {
            socket,
            group,
            probing: Mutex::new(Probing::new(Instant::now())),
        })
    }
}

fn open(
    group: SocketAddr,
    card: Card,
    sending: &UdpSocket,
    buffer: usize,
) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(group), Type::DGRAM, None)?;
    // Other processes of this host use the same address.
    socket.set_reuse_address(true)?;
    let _ = socket.set_recv_buffer_size(buffer);
    if group.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    // Only datagrams to the group arrive at this address.
    socket.bind(&group.into())?;
    card.join(&socket, group.ip())?;
    socket.set_nonblocking(true)?;
    card.send_by(&SockRef::from(sending))?;
    Ok(socket.into())
}

/// The network card of the process's own address, as each version of IP names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Card {
    V4(Ipv4Addr),
    /// The card's number.
    V6(u32),
}

impl Card {
    fn of(own: IpAddr) -> Option<Self> {
        match own {
            IpAddr::V4(own) => Some(Self::V4(own)),
            // The file is of this thread's network, since a process may be in several.
            IpAddr::V6(own) => std::fs::read_to_string("/proc/thread-self/net/if_inet6")
                .ok()
                .and_then(|addresses| number_of_card(&addresses, own))
                .map(Self::V6),
        }
    }

    /// Returns the group of a session.
    fn group(self, secret: Secret) -> SocketAddr {
        let [x, y, low, high, id @ ..] = secret.derive("antiphon panda: a multicast group");
        let port = PORTS.start + u16::from_le_bytes([low, high]) % (PORTS.end - PORTS.start);
        match self {
            Self::V4(_) => (Ipv4Addr::new(239, 255, x, y), port).into(),
            Self::V6(number) => {
                let group =
                    GROUPS_V6 | u128::from(u32::from_le_bytes([id[0], id[1], id[2], id[3]]) >> 2);
                SocketAddrV6::new(Ipv6Addr::from_bits(group), port, 0, number).into()
            }
        }
    }

    /// Makes a socket get the group's datagrams by this card.
    fn join(self, socket: &Socket, group: IpAddr) -> io::Result<()> {
        match (self, group) {
            (Self::V4(own), IpAddr::V4(group)) => socket.join_multicast_v4(&group, &own),
            (Self::V6(number), IpAddr::V6(group)) => socket.join_multicast_v6(&group, number),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// Makes a socket's datagrams to groups leave by this card, and reach this host's processes as
    /// well.
    fn send_by(self, socket: &Socket) -> io::Result<()> {
        match self {
            Self::V4(own) => {
                socket.set_multicast_if_v4(&own)?;
                socket.set_multicast_ttl_v4(1)?;
                socket.set_multicast_loop_v4(true)
            }
            Self::V6(number) => {
                socket.set_multicast_if_v6(number)?;
                socket.set_multicast_hops_v6(1)?;
                socket.set_multicast_loop_v6(true)
            }
        }
    }
}

/// Returns the number of the card with an address, from `/proc/net/if_inet6`. Each line is an
/// address, and begins with its digits and that number, both hexadecimal.
fn number_of_card(addresses: &str, own: Ipv6Addr) -> Option<u32> {
    addresses.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let address = u128::from_str_radix(words.next()?, 16).ok()?;
        let number = u32::from_str_radix(words.next()?, 16).ok()?;
        (address == own.to_bits()).then_some(number)
    })
}

/// The processes known to hear the group, and the time of the next probe.
#[derive(Debug)]
pub struct Probing {
    heard: BTreeSet<Rank>,
    next: Option<Instant>,
    pause: Duration,
}

impl Probing {
    fn new(now: Instant) -> Self {
        Self {
            heard: BTreeSet::new(),
            next: Some(now),
            pause: PROBE_FIRST,
        }
    }

    /// Returns when the next probe is due.
    pub fn due(&self) -> Option<Instant> {
        self.next
    }

    /// Returns whether to send a probe now, if any of these ranks has not answered yet.
    pub fn is_due(&mut self, now: Instant, mut ranks: impl Iterator<Item = Rank>) -> bool {
        if self.next.is_none_or(|next| now < next) {
            return false;
        }
        let is_wanted = ranks.any(|rank| !self.heard.contains(&rank));
        self.next = (is_wanted && self.pause <= PROBE_LAST).then(|| now + self.pause);
        self.pause *= 2;
        is_wanted
    }

    /// Notes that a process got a probe. Returns whether that is new.
    pub fn answered(&mut self, rank: Rank) -> bool {
        self.heard.insert(rank)
    }

    /// Notes that a process came, perhaps in place of an earlier one.
    pub fn came(&mut self, now: Instant, rank: Rank) {
        self.heard.remove(&rank);
        (self.next, self.pause) = (Some(now), PROBE_FIRST);
    }

    /// Notes that a process left.
    pub fn left(&mut self, rank: Rank) {
        self.heard.remove(&rank);
    }

    /// Notes that a process said that it hears, and does not.
    pub fn is_deaf(&mut self, now: Instant, rank: Rank) {
        self.heard.remove(&rank);
        (self.next, self.pause) = (Some(now + PROBE_AGAIN), PROBE_AGAIN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that a group follows from the secret, and differs with it.
    fn check_group(card: Card) -> SocketAddr {
        let group = card.group(Secret([1; 16]));
        assert!(PORTS.contains(&group.port()));
        assert_eq!(group, card.group(Secret([1; 16])));
        let other = card.group(Secret([2; 16]));
        assert!(group.ip() != other.ip() && group.port() != other.port());
        group
    }

    #[test]
    fn a_group_over_ipv4_is_of_local_scope_and_follows_from_the_secret() {
        let IpAddr::V4(group) = check_group(Card::V4(Ipv4Addr::LOCALHOST)).ip() else {
            panic!("another version");
        };
        assert_eq!(group.octets()[..2], [239, 255]);
    }

    #[test]
    fn a_group_over_ipv6_is_of_the_cards_link_and_follows_from_the_secret() {
        let SocketAddr::V6(group) = check_group(Card::V6(7)) else {
            panic!("another version");
        };
        assert_eq!(group.scope_id(), 7);
        assert_eq!(group.ip().segments()[..6], [0xff12, 0, 0, 0, 0, 0]);
        for secret in 0..=u8::MAX {
            let IpAddr::V6(group) = Card::V6(7).group(Secret([secret; 16])).ip() else {
                panic!("another version");
            };
            let id = group.to_bits() as u32;
            assert!((0x8000_0000..0xc000_0000).contains(&id), "{group}");
        }
    }

    #[test]
    fn a_card_is_found_by_its_address() {
        let addresses = "\
            00000000000000000000000000000001 01 80 10 80       lo\n\
            fe8000000000000000fc00fffe000001 1f 40 20 80    cable\n\
            fd770000000000000000000000000003 1f 40 00 82    cable\n";
        let number = |own: &str| number_of_card(addresses, own.parse().expect("an address"));
        assert_eq!(number("::1"), Some(1));
        assert_eq!(number("fd77::3"), Some(0x1f));
        assert_eq!(number("fd77::4"), None);
        let nonsense = "fd77::3 1f\nfd770000000000000000000000000003\n\n";
        assert_eq!(
            number_of_card(nonsense, Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 3)),
            None
        );
    }

    #[test]
    fn probes_end_when_all_have_answered_or_nobody_does() {
        let begin = Instant::now();
        let mut probing = Probing::new(begin);
        assert!(probing.is_due(begin, 1..3));
        assert!(!probing.is_due(begin, 1..3), "not at once again");
        assert!(probing.answered(1) && !probing.answered(1));
        let again = begin + PROBE_FIRST;
        assert!(probing.is_due(again, 1..3), "one has not answered");
        probing.answered(2);
        let last = probing.due().expect("another");
        assert!(!probing.is_due(last, 1..3), "all have");
        assert_eq!(probing.due(), None);
        probing.came(last, 3);
        let mut probes = 0;
        while let Some(at) = probing.due() {
            probes += u32::from(probing.is_due(at, 1..4));
        }
        assert!((10..20).contains(&probes), "{probes} to one that is deaf");
        probing.answered(3);
        probing.is_deaf(last, 3);
        assert_eq!(probing.due(), Some(last + PROBE_AGAIN));
        assert!(probing.is_due(last + PROBE_AGAIN, 1..4));
    }
}
