use super::super::Links;
use super::queue::{PATIENCE, STILLNESS};
use super::*;

const LARGEST: usize = 1400;
/// Bytes of a message in a frame for both.
const ROOM: usize = LARGEST - HEAD - 2 * ROW;
/// The sender is rank 0, the others are these.
const ALL: [Rank; 4] = [1, 2, 3, 4];
/// Those that things go to where nothing else is said.
const PEERS: [Rank; 2] = [1, 2];

/// A sender and those that it sends to, over a network that does what a test says.
struct Several {
    now: Time,
    multicast: Multicast,
    links: Table,
    peers: Table,
    /// Lengths of what came to each.
    messages: FxHashMap<Rank, Vec<usize>>,
    /// Frames that went to both at once, and those with a piece that went to one.
    shared: u64,
    alone: u64,
    deaf: Vec<Rank>,
}

impl Several {
    fn new() -> Self {
        let mut multicast = Multicast::default();
        ALL.iter().for_each(|&rank| multicast.hears(rank, true));
        let links = |birth| ALL.map(|rank| (rank, Retransmit::new(LARGEST, birth)));
        let mut several = Self {
            now: Duration::from_secs(1),
            multicast,
            links: links(1).into_iter().collect(),
            peers: links(2).into_iter().collect(),
            messages: FxHashMap::default(),
            shared: 0,
            alone: 0,
            deaf: Vec::new(),
        };
        // The first one goes to each alone, and they learn of each other's streams.
        several.send_to(1, &ALL);
        let are_met = |several: &Self| ALL.iter().all(|rank| several.has(*rank, 1));
        several.pass_until(|_, _| true, are_met);
        several.messages.clear();
        (several.shared, several.alone) = (0, 0);
        several
    }

    fn send(&mut self, length: usize) {
        self.send_to(length, &PEERS);
    }

    fn send_to(&mut self, length: usize, to: &[Rank]) {
        let message = Message::from(vec![7; length]);
        let links = &mut self.links;
        let those = self.multicast.add(self.now, &message, to, links);
        for &rank in to.iter().filter(|rank| !those.contains(rank)) {
            let mut frames = Vec::new();
            let link = self.links.get_mut(&rank).expect("there");
            link.send(self.now, message.clone(), &mut frames);
            self.carry(rank, frames, &|_, _| true);
        }
    }

    /// Lets a millisecond pass. `arrives` says whether a frame to a peer does, by whether it is for
    /// both.
    fn pass(&mut self, arrives: &impl Fn(Rank, bool) -> bool) {
        self.now += Duration::from_millis(1);
        let mut gone = Gone::default();
        self.multicast.go_on(self.now, &mut self.links, &mut gone);
        self.deaf.extend(gone.deaf);
        for frame in gone.frames {
            self.shared += 1;
            for rank in ALL.into_iter().filter(|&rank| arrives(rank, true)) {
                let own = Multicast::own(rank, frame.clone()).expect("well formed");
                self.carry(rank, own.into_iter().collect(), &|_, _| true);
            }
        }
        for rank in ALL {
            let mut frames = Vec::new();
            let link = self.links.get_mut(&rank).expect("there");
            link.tick(self.now, &mut frames);
            self.alone += pieces(&frames);
            self.carry(rank, frames, arrives);
        }
    }

    /// Frames to a peer, and what comes back, until nothing does.
    fn carry(&mut self, rank: Rank, frames: Vec<Message>, arrives: &impl Fn(Rank, bool) -> bool) {
        let mut there = frames;
        while !there.is_empty() {
            there.retain(|_| arrives(rank, false));
            let (mut back, mut messages) = (Vec::new(), Vec::new());
            let peer = self.peers.get_mut(&rank).expect("there");
            for frame in there.drain(..) {
                let taken = peer.receive(self.now, frame, &mut back, &mut messages);
                taken.expect("well formed");
            }
            peer.flush(self.now, &mut back);
            // It acknowledges without delay.
            peer.tick(self.now + Duration::from_millis(1), &mut back);
            let came = self.messages.entry(rank).or_default();
            came.extend(messages.iter().map(Message::len));
            let link = self.links.get_mut(&rank).expect("there");
            for frame in back {
                let taken = link.receive(self.now, frame, &mut there, &mut messages);
                taken.expect("well formed");
            }
            link.flush(self.now, &mut there);
            self.alone += pieces(&there);
        }
    }

    fn pass_until(&mut self, arrives: impl Fn(Rank, bool) -> bool, holds: impl Fn(&Self) -> bool) {
        for _ in 0..5000 {
            if holds(self) {
                return;
            }
            self.pass(&arrives);
        }
        panic!("{:?} came, {} shared", self.messages, self.shared);
    }

    fn has(&self, rank: Rank, count: usize) -> bool {
        self.messages.get(&rank).map_or(0, Vec::len) >= count
    }
}

/// Frames that are no mere acknowledgements.
fn pieces(frames: &[Message]) -> u64 {
    frames.iter().filter(|frame| frame.len() > HEADER).count() as u64
}

#[test]
fn a_message_goes_out_once_and_comes_to_all() {
    let mut several = Several::new();
    for length in [0, 10, 5000, 100_000] {
        several.send(length);
    }
    let is_there = |several: &Several| PEERS.iter().all(|rank| several.has(*rank, 4));
    several.pass_until(|_, _| true, is_there);
    // The two short ones share a frame.
    let pieces = 1 + 5000_usize.div_ceil(ROOM) + 100_000_usize.div_ceil(ROOM);
    assert_eq!((several.shared, several.alone), (pieces as u64, 0));
    for rank in PEERS {
        assert_eq!(several.messages[&rank], [0, 10, 5000, 100_000]);
    }
}

#[test]
fn short_messages_that_wait_share_frames_in_their_order() {
    let mut several = Several::new();
    let lengths: Vec<usize> = (0..500).map(|n| n % 40).collect();
    lengths.iter().for_each(|length| several.send(*length));
    // One that goes to one alone stands between: what follows it goes behind it.
    let mut frames = Vec::new();
    let (now, link) = (several.now, several.links.get_mut(&1).expect("there"));
    link.send(now, Message::from(vec![7; 41]), &mut frames);
    several.carry(1, frames, &|_, _| true);
    several.send(42);
    several.pass_until(
        |_, _| true,
        |several| several.has(1, 502) && several.has(2, 501),
    );
    assert_eq!(several.messages[&1][..500], lengths);
    assert_eq!(several.messages[&1][500..], [41, 42]);
    assert_eq!(several.messages[&2][..500], lengths);
    let bytes: usize = lengths.iter().map(|length| length + 2).sum();
    let frames = bytes.div_ceil(ROOM - 41) as u64 + 1;
    assert!(several.shared <= frames, "{} of {frames}", several.shared);
}

#[test]
fn who_lacks_something_gets_it_alone() {
    let mut several = Several::new();
    several.send(10);
    several.pass_until(|_, _| true, |several| several.has(2, 1));
    several.send(3000);
    let hears = |rank, is_shared: bool| rank == 1 || !is_shared;
    several.pass_until(hears, |several| several.has(1, 2) && several.has(2, 2));
    let pieces = 3000_u64.div_ceil(ROOM as u64);
    assert_eq!((several.shared, several.alone), (1 + pieces, pieces));
}

#[test]
fn who_does_not_keep_up_holds_up_nobody_for_long() {
    let mut several = Several::new();
    several.send(10);
    several.pass_until(|_, _| true, |several| several.has(2, 1));
    let began = several.now;
    for _ in 0..50 {
        several.send(20_000);
    }
    several.pass_until(|rank, _| rank == 1, |several| several.has(1, 51));
    assert!(several.now - began < APART, "{:?}", several.now - began);
    several.pass_until(|_, _| true, |several| several.has(2, 51));
    several.pass_until(|_, _| true, |several| several.links[&2].backlog() == 0);
    // It is with the others again.
    let shared = several.shared;
    for sent in 52..60 {
        several.send(10);
        several.pass_until(
            |_, _| true,
            |several| PEERS.iter().all(|rank| several.has(*rank, sent)),
        );
    }
    assert!(several.shared > shared);
}

/// What waits for those who are gone holds up what is for others no longer than that.
#[test]
fn where_all_are_gone_others_go_on() {
    let mut several = Several::new();
    for _ in 0..20 {
        several.send(20_000);
    }
    let began = several.now;
    several.pass_until(|_, _| false, |several| several.multicast.queues.is_empty());
    assert!(several.now - began <= STILLNESS + PATIENCE + PATIENCE);
    several.pass_until(
        |_, _| true,
        |several| several.has(1, 20) && several.has(2, 20),
    );
}

/// Each list of peers has a queue of its own.
#[test]
fn what_goes_to_others_does_not_wait_for_who_is_late() {
    let mut several = Several::new();
    for _ in 0..20 {
        several.send(20_000);
    }
    for _ in 0..20 {
        several.send_to(1000, &[3, 4]);
    }
    let began = several.now;
    let are_there = |several: &Several| several.has(3, 20) && several.has(4, 20);
    several.pass_until(|rank, _| rank > 2, are_there);
    assert!(several.now - began < PATIENCE, "{:?}", several.now - began);
}

/// A list that shares a peer with another waits for what that one has to send to it before, and for
/// no more.
#[test]
fn what_goes_to_some_of_them_keeps_its_place_and_waits_no_longer_than_it_must() {
    let mut several = Several::new();
    for _ in 0..20 {
        several.send(20_000);
    }
    let began = several.now;
    several.send_to(10, &[2, 3]);
    several.send_to(11, &[3, 4]);
    several.send_to(12, &[4, 3]);
    several.pass_until(|rank, _| rank != 1, |several| several.has(4, 2));
    assert!(several.now - began < APART, "{:?}", several.now - began);
    several.pass_until(|rank, _| rank != 1, |several| several.has(2, 21));
    assert_eq!(several.messages[&2][20], 10);
    assert_eq!(several.messages[&3], [10, 11, 12]);
    assert_eq!(several.messages[&4], [11, 12]);
    several.pass_until(|_, _| true, |several| several.has(1, 20));
    assert!(several.multicast.queues.is_empty());
}

#[test]
fn who_never_hears_what_is_shared_is_found_out() {
    let mut several = Several::new();
    let hears = |rank, is_shared: bool| rank == 1 || !is_shared;
    let mut sent = 0;
    while several.deaf.is_empty() {
        several.send(10);
        sent += 1;
        several.pass_until(hears, |several| {
            several.has(1, sent) && several.has(2, sent)
        });
        assert!(sent < 100, "it is taken for hearing");
    }
    assert_eq!(several.deaf, [2]);
    assert_eq!(several.multicast.hearers(), [1, 3, 4]);
    let shared = several.shared;
    several.send(10);
    several.pass_until(hears, |several| several.has(2, sent + 1));
    assert_eq!(several.shared, shared, "nobody is left to share with");
}

#[test]
fn frames_that_are_none_are_refused_and_those_for_others_left() {
    let own = |bytes: &[u8]| Multicast::own(1, Message::from(bytes.to_vec()));
    let mut frame = vec![1, LAST];
    frame.extend([0; ROW]);
    frame[2] = 9;
    assert!(own(&frame).expect("well formed").is_none());
    frame[2] = 1;
    assert!(own(&frame).expect("well formed").is_some());
    for bad in [&[][..], &[1], &[1, 9], &[17, LAST], &frame[..20]] {
        assert!(own(bad).is_err(), "{bad:?}");
    }
}
