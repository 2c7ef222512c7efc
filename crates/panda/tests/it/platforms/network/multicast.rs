//! Groups over IP multicast, of either version. Bodies go out once, and a member that hears no
//! multicast gets them alone.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use antiphon_panda::session::SILENCE;
use antiphon_panda::{Group, GroupEvent, Message, Rank, Session};
use parking_lot::{Condvar, Mutex};

use super::{Network, V4, V6, Version, bad, good, tested};
use crate::conformance::LIMIT;

/// Messages of each member at a time, and their bytes: several frames each.
const EACH: u32 = 30;
const LENGTH: usize = 8 << 10;

/// Senders and messages, in the order in which a member delivered them.
type Order = Vec<(Rank, u32)>;

/// A member, and the messages that it delivered.
struct Member {
    session: Session,
    group: Group,
    seen: Arc<(Mutex<Order>, Condvar)>,
}

impl Member {
    fn join(session: Session) -> Self {
        let seen = Arc::<(Mutex<Order>, Condvar)>::default();
        let own = seen.clone();
        let upcall = move |event| {
            if let GroupEvent::Message { from, payload, .. } = event {
                assert_eq!(payload.len(), LENGTH);
                let number = payload.look().map(u32::from_le_bytes).expect("a number");
                let bytes = payload.to_bytes();
                let is_whole = bytes[4..].iter().all(|byte| *byte == number as u8);
                assert!(is_whole, "message {number} of rank {from} is damaged");
                own.0.lock().push((from, number));
                own.1.notify_all();
            }
        };
        let group = session.join_group("g", upcall).expect("let in");
        Self {
            session,
            group,
            seen,
        }
    }

    fn send(&self, numbers: std::ops::Range<u32>) {
        for number in numbers {
            let mut payload = Message::from(vec![number as u8; LENGTH - 4]);
            payload.push(&number.to_le_bytes());
            self.group.send(payload).expect("sent");
        }
    }

    fn order(&self, count: usize) -> Order {
        let mut seen = self.seen.0.lock();
        while seen.len() < count {
            let waited = self.seen.1.wait_for(&mut seen, LIMIT);
            let rank = self.session.rank();
            assert!(!waited.timed_out(), "rank {rank} has {}", seen.len());
        }
        seen.clone()
    }
}

/// Waits until exactly these processes are known to hear a process.
fn wait_for_hearers(session: &Session, hearers: &[Rank]) {
    let end = Instant::now() + LIMIT;
    while session.multicast().to != hearers {
        assert!(
            Instant::now() < end,
            "rank {} is heard by {:?}",
            session.rank(),
            session.multicast().to
        );
        thread::sleep(Duration::from_millis(2));
    }
}

/// All members send, and all deliver one order.
fn all_send(members: &[Member], numbers: std::ops::Range<u32>) {
    thread::scope(|scope| {
        for member in members {
            let numbers = numbers.clone();
            scope.spawn(move || member.send(numbers));
        }
    });
    let count = numbers.end as usize * members.len();
    let orders: Vec<_> = members.iter().map(|member| member.order(count)).collect();
    for order in &orders {
        assert_eq!(orders[0], *order, "one order");
    }
    let mut each = orders[0].clone();
    each.sort_unstable();
    each.dedup();
    assert_eq!(each.len(), count, "nothing twice");
}

/// All members send until each of these has sent `frames` frames to several processes at once. A
/// process that is not yet known, or that falls behind, gets some frames alone.
fn all_send_until(members: &[Member], of: &[usize], frames: u64) -> u32 {
    let mut sent = 0;
    let has_sent = |&rank: &usize| members[rank].session.multicast().frames >= frames;
    while !of.iter().all(has_sent) {
        assert!(sent < 200 * EACH, "they do not go out together");
        all_send(members, sent..sent + EACH);
        sent += EACH;
    }
    sent
}

fn others(of: Rank, size: u32) -> Vec<Rank> {
    (0..size).filter(|rank| *rank != of).collect()
}

/// All members send until a round takes clearly fewer bytes than sending each message to each
/// member would.
fn all_send_until_bytes_are_saved(network: &Network, members: &[Member], mut sent: u32) {
    let count = members.len() as u64;
    let alone = count * (count - 1) * u64::from(EACH) * LENGTH as u64;
    let until = sent + 200 * EACH;
    loop {
        let before = network.switch.bytes();
        all_send(members, sent..sent + EACH);
        sent += EACH;
        if (network.switch.bytes() - before) * 4 < alone * 3 {
            return;
        }
        assert!(sent < until, "no bytes are saved");
    }
}

/// Returns `size` members, each of which has found that all others hear it.
fn members_that_hear(network: &Network, size: u32) -> Vec<Member> {
    let sessions = network.over_udp(size, SILENCE);
    for session in &sessions {
        wait_for_hearers(session, &others(session.rank(), size));
    }
    sessions.into_iter().map(Member::join).collect()
}

fn what_is_for_all_goes_out_once(version: Version) {
    let network = Network::new(version, 4, good());
    let members = members_that_hear(&network, 4);
    // Pieces of more messages than a round has.
    let sent = all_send_until(&members, &[0, 1, 2, 3], 10 * u64::from(EACH));
    all_send_until_bytes_are_saved(&network, &members, sent);
}

fn order_holds_while_multicasts_are_lost(version: Version) {
    let network = Network::new(version, 4, bad());
    let members = members_that_hear(&network, 4);
    all_send_until(&members, &[0, 1, 2, 3], u64::from(EACH));
}

fn who_does_not_hear_from_the_beginning_gets_all_the_same(version: Version) {
    let network = Network::new(version, 3, bad());
    network.switch.deafen(&[2]);
    let sessions = network.over_udp(3, SILENCE);
    // Only the process that hears no multicast can send to two at once.
    wait_for_hearers(&sessions[0], &[1]);
    wait_for_hearers(&sessions[1], &[0]);
    wait_for_hearers(&sessions[2], &[0, 1]);
    let members: Vec<Member> = sessions.into_iter().map(Member::join).collect();
    all_send_until(&members, &[2], u64::from(EACH));
    let alone = &members[..2];
    assert!(alone.iter().all(|one| one.session.multicast().frames == 0));
}

fn who_hears_no_longer_is_found_out_and_asked_again(version: Version) {
    let network = Network::new(version, 3, good());
    let members = members_that_hear(&network, 3);
    let mut sent = all_send_until(&members, &[0], u64::from(EACH));
    network.switch.deafen(&[2]);
    let until = sent + 200 * EACH;
    while members[0].session.multicast().to.contains(&2) {
        all_send(&members, sent..sent + EACH);
        sent += EACH;
        assert!(sent < until, "it is taken for hearing");
    }
    network.switch.deafen(&[]);
    wait_for_hearers(&members[0].session, &[1, 2]);
    all_send(&members, sent..sent + EACH);
}

macro_rules! multicast_over {
    ($name:ident, $version:expr; $($test:ident)*) => {
        mod $name {
            use super::*;

            $(#[test]
            fn $test() {
                tested(
                    concat!("multicast::", stringify!($name), "::", stringify!($test)),
                    $version,
                    || super::$test($version),
                );
            })*
        }
    };
}

multicast_over!(on_ipv4, V4;
    what_is_for_all_goes_out_once
    order_holds_while_multicasts_are_lost
    who_does_not_hear_from_the_beginning_gets_all_the_same
    who_hears_no_longer_is_found_out_and_asked_again
);

multicast_over!(on_ipv6, V6;
    what_is_for_all_goes_out_once
    order_holds_while_multicasts_are_lost
    who_does_not_hear_from_the_beginning_gets_all_the_same
    who_hears_no_longer_is_found_out_and_asked_again
);
