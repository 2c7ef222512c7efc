//! The switch stops forwarding between two sides while a group sends. The majority goes on. The
//! others learn that they were expelled, and may join again. A wait for a process of the other side
//! ends with an error that names it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use antiphon_panda::session::SILENCE;
use antiphon_panda::{Error, Group, GroupEvent, Message, Rank, Session};
use parking_lot::{Condvar, Mutex};

use super::{Network, V4, V6, Version, bad, tested};
use crate::conformance::LIMIT;

/// Messages that each member sends at a time.
const EACH: u32 = 20;
/// A process that is cut off is found lost after one silence. The rest allows for a busy machine.
const LOST_WITHIN: Duration = SILENCE.saturating_mul(4);

/// The events of a member.
#[derive(Default)]
struct Seen {
    messages: Vec<(Rank, u32)>,
    members: Vec<Rank>,
    expelled: Option<String>,
}

struct Member {
    session: Session,
    group: Mutex<Option<Group>>,
    seen: Mutex<Seen>,
    changed: Condvar,
}

impl Member {
    /// Joins the group, or joins it again with no events.
    fn join(self: &Arc<Self>) {
        *self.seen.lock() = Seen::default();
        let own = Arc::clone(self);
        let upcall = move |event| own.see(event);
        let group = self.session.join_group("g", upcall).expect("joined");
        *self.group.lock() = Some(group);
    }

    fn see(&self, event: GroupEvent) {
        let mut seen = self.seen.lock();
        match event {
            GroupEvent::Message { from, payload, .. } => {
                seen.messages
                    .push((from, payload.value().expect("a number")));
            }
            GroupEvent::View { members, .. } => seen.members = members,
            GroupEvent::Expelled { why } => seen.expelled = Some(why),
            GroupEvent::Left => panic!("nobody leaves"),
        }
        self.changed.notify_all();
    }

    fn wait_until(&self, what: &str, is_so: impl Fn(&Seen) -> bool) {
        let mut seen = self.seen.lock();
        while !is_so(&seen) {
            let waited = self.changed.wait_for(&mut seen, LIMIT);
            let rank = self.session.rank();
            assert!(
                !waited.timed_out(),
                "rank {rank}: {what}: it sees members {:?} and {} messages, expelled: {:?}",
                seen.members,
                seen.messages.len(),
                seen.expelled
            );
        }
    }

    /// Sends messages with these numbers. Returns false if an error says that this member was
    /// expelled.
    fn send(&self, first: u32) -> bool {
        let group = self.group.lock().clone().expect("it has joined");
        (first..first + EACH).all(|number| group.send(Message::of(&number).expect("plain")).is_ok())
    }
}

/// A way to wait for a process.
type Wait = (&'static str, fn(&Session, Rank) -> Result<(), Error>);

/// Waits for something that the other process never sends.
const WAITS: [Wait; 3] = [
    ("receive", |session, peer| {
        session.port("nothing").receive(Some(peer), None).map(drop)
    }),
    ("barrier", |session, peer| {
        let own = session.rank();
        let communicator = session.communicator_named(&format!("of {own}"), &[own, peer]);
        communicator.expect("one of them").barrier()
    }),
    ("call", |session, peer| {
        session.call(peer, "keep", Message::new(), None).map(drop)
    }),
];
/// Waits that end soon while the network is whole.
const WAITS_ONCE_SPLIT: [Wait; 1] = [("synchronous send", |session, peer| {
    let port = session.port("synchronous");
    port.send_synchronously(peer, 0, Message::new())
})];

/// Threads that wait until they find a process lost. Each returns when that was.
struct Waiting(Vec<JoinHandle<Instant>>);

impl Waiting {
    /// Each of `some` waits for the first of `others`, and the other way round.
    fn begin(some: &[Arc<Member>], others: &[Arc<Member>]) -> Self {
        let (called, calls) = mpsc::channel();
        for member in some.iter().chain(others) {
            let (mut kept, called) = (Vec::new(), called.clone());
            let keep = move |call| {
                kept.push(call);
                let _ = called.send(());
            };
            member.session.serve("keep", keep).expect("a new name");
        }
        let waiting = Self::for_each_other(some, others, &WAITS);
        // The other waits had begun by then.
        for _ in some.iter().chain(others) {
            calls.recv_timeout(LIMIT).expect("it comes");
        }
        waiting
    }

    fn for_each_other(some: &[Arc<Member>], others: &[Arc<Member>], waits: &[Wait]) -> Self {
        let pairs = some.iter().map(|member| (member, &others[0]));
        let pairs = pairs.chain(others.iter().map(|member| (member, &some[0])));
        let begin = |(member, peer): (&Arc<Member>, &Arc<Member>)| {
            let (session, peer) = (member.session.clone(), peer.session.rank());
            let waits = waits.iter();
            waits.map(move |wait| waits_for(session.clone(), peer, *wait))
        };
        Self(pairs.flat_map(begin).collect())
    }

    fn all_end(self, split: Instant) {
        for thread in self.0 {
            let ended = thread.join().expect("it found the other lost");
            assert!(ended >= split, "while the network was whole");
            let late = ended - split;
            assert!(late < LOST_WITHIN, "{late:?} after the split");
        }
    }
}

fn waits_for(session: Session, peer: Rank, (what, wait): Wait) -> JoinHandle<Instant> {
    thread::spawn(move || {
        let (own, name) = (session.rank(), session.name_of(peer));
        match wait(&session, peer) {
            Err(Error::Lost {
                rank, peer: named, ..
            }) if rank == peer && named == name => {}
            other => panic!("rank {own}'s {what} of rank {peer} came to {other:?}"),
        }
        Instant::now()
    })
}

/// All members send at once.
fn all_send(members: &[Arc<Member>], first: u32) {
    thread::scope(|scope| {
        for member in members {
            scope.spawn(move || member.send(first));
        }
    });
}

/// Waits until these members have delivered `count` messages of each sender, and returns their
/// order.
fn delivered(members: &[Arc<Member>], of: &[Rank], count: usize) -> Vec<(Rank, u32)> {
    let mut orders = members.iter().map(|member| {
        member.wait_until("all messages", |seen| {
            let sent = seen.messages.iter().filter(|(from, _)| of.contains(from));
            sent.count() >= count * of.len()
        });
        member.seen.lock().messages.clone()
    });
    let first = orders.next().expect("somebody");
    for order in orders {
        assert_eq!(first, order, "one order");
    }
    first
}

/// Checks that each sender's messages are there from `first` on, without gaps or duplicates.
fn check_each_once(order: &[(Rank, u32)], first: u32) {
    let mut next = BTreeMap::new();
    for &(from, number) in order {
        let next = next.entry(from).or_insert(first);
        assert_eq!(number, *next, "of rank {from} in {order:?}");
        *next += 1;
    }
}

/// Cuts `away` off from the rest of `size` processes, and joins them again.
fn split(
    over: fn(&Network, u32, Duration) -> Vec<Session>,
    version: Version,
    size: u32,
    away: &[Rank],
) {
    let network = Network::new(version, size, bad());
    let members: Vec<Arc<Member>> = over(&network, size, SILENCE)
        .into_iter()
        .map(|session| {
            Arc::new(Member {
                session,
                group: Mutex::default(),
                seen: Mutex::default(),
                changed: Condvar::new(),
            })
        })
        .collect();
    // They join in this order, so that rank 0 is the oldest member, which is the sequencer.
    members.iter().for_each(Member::join);
    all_send(&members, 0);
    let is_away = |member: &Arc<Member>| away.contains(&member.session.rank());
    let (gone, rest): (Vec<_>, Vec<_>) = members.iter().cloned().partition(is_away);
    let ranks: Vec<Rank> = rest.iter().map(|member| member.session.rank()).collect();

    let waiting = Waiting::begin(&gone, &rest);
    let ports: Vec<usize> = away.iter().map(|&rank| rank as usize).collect();
    let split = Instant::now();
    network.switch.split(&ports);
    let waiting_once_split = Waiting::for_each_other(&gone, &rest, &WAITS_ONCE_SPLIT);
    all_send(&members, EACH);
    for member in &gone {
        member.wait_until("expelled", |seen| seen.expelled.is_some());
    }
    for member in &rest {
        member.wait_until("the others go on", |seen| seen.members == ranks);
    }
    all_send(&rest, 2 * EACH);
    let order = delivered(&rest, &ranks, 3 * EACH as usize);
    check_each_once(&order, 0);
    for member in &gone {
        assert!(!member.send(0), "who was expelled is told so");
        check_each_once(&member.seen.lock().messages, 0);
    }

    waiting.all_end(split);
    waiting_once_split.all_end(split);

    network.switch.heal();
    for member in &rest {
        member.seen.lock().messages.clear();
    }
    gone.iter().for_each(Member::join);
    for member in &members {
        let is_whole = |seen: &Seen| seen.members.len() == size as usize;
        member.wait_until("all are in again", is_whole);
    }
    all_send(&members, 100);
    let everybody: Vec<Rank> = (0..size).collect();
    let order = delivered(&members, &everybody, EACH as usize);
    check_each_once(&order, 100);
}

/// The first process sends to the second, which does not receive, until it is held. Then the
/// network between them is cut.
fn who_waits_for_room_is_told(over: fn(&Network, u32, Duration) -> Vec<Session>) {
    const LENGTH: usize = 64 << 10;
    /// Bytes that may lie unread at a port.
    const ROOM: usize = 4 << 20;
    let network = Network::new(V4, 2, bad());
    let mut sessions = over(&network, 2, SILENCE);
    // The receiver waits for nothing. Otherwise it would release the sender.
    let receiver = sessions.pop().expect("two");
    let sender = sessions.pop().expect("two");
    let (port, sent) = (sender.port("unread"), Arc::new(AtomicUsize::new(0)));
    let (own, count) = (port.clone(), sent.clone());
    let (reported, end) = mpsc::channel();
    thread::spawn(move || {
        let error = loop {
            match own.send(1, 0, Message::from(vec![0; LENGTH])) {
                Ok(()) => count.fetch_add(LENGTH, Relaxed),
                Err(error) => break error,
            };
        };
        let _ = reported.send(error);
    });
    let began = Instant::now();
    while sent.load(Relaxed) < ROOM || port.takes_more(1) {
        assert!(began.elapsed() < LIMIT, "it is never held");
        thread::sleep(Duration::from_millis(1));
    }
    assert!(end.try_recv().is_err(), "it waits");
    network.switch.split(&[1]);
    let error = end.recv_timeout(LIMIT).expect("it does not wait for ever");
    assert!(matches!(error, Error::Lost { rank: 1, .. }), "{error}");
    network.switch.heal();
    drop((sender, receiver));
}

/// Members of both sides leave a group. A leave on the majority's side succeeds. On the other side
/// it succeeds too, or fails because the group went on without the member.
fn who_leaves_is_told(
    over: fn(&Network, u32, Duration) -> Vec<Session>,
    size: u32,
    away: &[Rank],
    leaving: Rank,
) {
    let network = Network::new(V4, size, bad());
    let sessions = over(&network, size, SILENCE);
    let mut groups: Vec<_> = (sessions.iter())
        .map(|session| session.join_group("left", drop).expect("joined"))
        .map(Some)
        .collect();
    let ports: Vec<usize> = away.iter().map(|&rank| rank as usize).collect();
    network.switch.split(&ports);
    let (reported, ends) = mpsc::channel();
    for &rank in away.iter().chain([&leaving]) {
        let group = groups[rank as usize].take().expect("each leaves once");
        let reported = reported.clone();
        thread::spawn(move || reported.send((rank, group.leave())));
    }
    let ends: Vec<_> = (0..=away.len()).map(|_| ends.recv_timeout(LIMIT)).collect();
    // Sessions end well only in a whole network, so it is healed in any case.
    network.switch.heal();
    for end in ends {
        match end.expect("nobody waits for ever") {
            (_, Ok(())) => {}
            (rank, Err(Error::Expelled { .. })) => assert!(away.contains(&rank), "{rank}"),
            (rank, other) => panic!("rank {rank}'s leave came to {other:?}"),
        }
    }
}

#[test]
fn a_send_that_waits_for_room_ends_over_udp() {
    let name = "partition::a_send_that_waits_for_room_ends_over_udp";
    tested(name, V4, || who_waits_for_room_is_told(Network::over_udp));
}

#[test]
fn a_send_that_waits_for_room_ends_over_tcp() {
    let name = "partition::a_send_that_waits_for_room_ends_over_tcp";
    tested(name, V4, || who_waits_for_room_is_told(Network::over_tcp));
}

#[test]
fn a_leave_ends_over_udp() {
    tested("partition::a_leave_ends_over_udp", V4, || {
        who_leaves_is_told(Network::over_udp, 5, &[0, 1], 3);
    });
}

#[test]
fn a_leave_ends_over_tcp() {
    tested("partition::a_leave_ends_over_tcp", V4, || {
        who_leaves_is_told(Network::over_tcp, 3, &[0], 2);
    });
}

#[test]
fn the_sequencer_and_another_are_cut_off_over_udp() {
    tested(
        "partition::the_sequencer_and_another_are_cut_off_over_udp",
        V4,
        || {
            split(Network::over_udp, V4, 5, &[0, 1]);
        },
    );
}

#[test]
fn a_member_is_cut_off_over_udp() {
    tested("partition::a_member_is_cut_off_over_udp", V4, || {
        split(Network::over_udp, V4, 3, &[2]);
    });
}

#[test]
fn a_member_is_cut_off_over_udp_on_ipv6() {
    tested(
        "partition::a_member_is_cut_off_over_udp_on_ipv6",
        V6,
        || {
            split(Network::over_udp, V6, 3, &[2]);
        },
    );
}

#[test]
fn the_sequencer_is_cut_off_over_tcp() {
    tested("partition::the_sequencer_is_cut_off_over_tcp", V4, || {
        split(Network::over_tcp, V4, 3, &[0]);
    });
}
