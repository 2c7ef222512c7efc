//! IP multicast, where it works: one datagram for all processes of the session.
//!
//! The group's address and port follow from the session's secret (239.255.0.0/16, local scope, RFC 2365); datagrams leave by the process's own address and by no more than one
//! hop. Whether they arrive is not to be known from settings: networks drop multicast in many ways. So each process *probes*: who gets the probe says so, and only who said so is
//! sent to in this way. Where nobody does, or no group can be joined, everything goes to each alone.

use std::collections::BTreeSet;
use std::hash::Hasher;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use siphasher::sip::SipHasher24;
use socket2::{Domain, SockRef, Socket, Type};

use crate::platform::{Rank, Seat, Secret};

/// Fewer processes have nobody to send to at once.
const PROCESSES_MIN: u32 = 3;
/// Below the ports that systems give out by themselves.
const PORTS: std::ops::Range<u16> = 16_384..32_768;
/// Between the first two probes; doubles with each.
const PROBE_FIRST: Duration = Duration::from_millis(5);
/// Before a probe of whoever was found not to hear after all.
const PROBE_AGAIN: Duration = Duration::from_secs(2);
/// No more probes after one that had to wait longer, until somebody joins.
const PROBE_LAST: Duration = Duration::from_secs(10);

/// A process's part in the group.
#[derive(Debug)]
pub struct Multicast {
    /// Where what others send to the group arrives.
    pub socket: UdpSocket,
    pub group: SocketAddr,
    pub probing: Mutex<Probing>,
}

impl Multicast {
    /// Joins the group; nothing where the session is too small, or the system does not let it. `sending` is the process's own socket.
    pub fn join(seat: &Seat, own: IpAddr, sending: &UdpSocket, buffer: usize) -> Option<Self> {
        let IpAddr::V4(own) = own else { return None };
        if seat.size.max(seat.rank.saturating_add(1)) < PROCESSES_MIN {
            return None;
        }
        let (group, port) = group_of(seat.secret);
        let socket = open(group, port, own, sending, buffer).ok()?;
        Some(Self {
            socket,
            group: (group, port).into(),
            probing: Mutex::new(Probing::new(Instant::now())),
        })
    }
}

fn open(
    group: Ipv4Addr,
    port: u16,
    own: Ipv4Addr,
    sending: &UdpSocket,
    buffer: usize,
) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
    // Other processes of this host have the same.
    socket.set_reuse_address(true)?;
    let _ = socket.set_recv_buffer_size(buffer);
    // Nothing but what was sent to the group arrives at this address.
    socket.bind(&SocketAddr::from((group, port)).into())?;
    socket.join_multicast_v4(&group, &own)?;
    socket.set_nonblocking(true)?;
    let sending = SockRef::from(sending);
    sending.set_multicast_if_v4(&own)?;
    sending.set_multicast_ttl_v4(1)?;
    sending.set_multicast_loop_v4(true)?;
    Ok(socket.into())
}

/// The group of a session.
fn group_of(secret: Secret) -> (Ipv4Addr, u16) {
    let mut hasher = SipHasher24::new_with_key(&secret.0);
    hasher.write(b"multicast group");
    let [x, y, low, high, ..] = hasher.finish().to_le_bytes();
    let port = PORTS.start + u16::from_le_bytes([low, high]) % (PORTS.end - PORTS.start);
    (Ipv4Addr::new(239, 255, x, y), port)
}

/// Who is known to get what this process sends to the group, and when to ask the others.
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

    /// When the next probe is due.
    pub fn due(&self) -> Option<Instant> {
        self.next
    }

    /// Whether a probe is to be sent now, to whom of these ranks has not answered yet.
    pub fn is_due(&mut self, now: Instant, mut ranks: impl Iterator<Item = Rank>) -> bool {
        if self.next.is_none_or(|next| now < next) {
            return false;
        }
        let is_wanted = ranks.any(|rank| !self.heard.contains(&rank));
        self.next = (is_wanted && self.pause <= PROBE_LAST).then(|| now + self.pause);
        self.pause *= 2;
        is_wanted
    }

    /// A process got a probe; whether that is news.
    pub fn answered(&mut self, rank: Rank) -> bool {
        self.heard.insert(rank)
    }

    /// Somebody came, perhaps in the place of an earlier process.
    pub fn came(&mut self, now: Instant, rank: Rank) {
        self.heard.remove(&rank);
        (self.next, self.pause) = (Some(now), PROBE_FIRST);
    }

    /// It left.
    pub fn left(&mut self, rank: Rank) {
        self.heard.remove(&rank);
    }

    /// It said that it hears, and does not.
    pub fn is_deaf(&mut self, now: Instant, rank: Rank) {
        self.heard.remove(&rank);
        (self.next, self.pause) = (Some(now + PROBE_AGAIN), PROBE_AGAIN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_of_local_scope_and_follows_from_the_secret() {
        let (group, port) = group_of(Secret([1; 16]));
        assert_eq!(group.octets()[..2], [239, 255]);
        assert!(PORTS.contains(&port));
        assert_eq!((group, port), group_of(Secret([1; 16])));
        assert_ne!((group, port), group_of(Secret([2; 16])));
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
