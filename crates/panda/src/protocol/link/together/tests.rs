use super::super::Links;
use super::*;

const LARGEST: usize = 1400;
/// Bytes of a message in a frame for both.
const ROOM: usize = LARGEST - HEAD - 2 * ROW;
/// The sender is rank 0, the others are these.
const PEERS: [Rank; 2] = [1, 2];

/// A sender and those that it sends to, over a network that does what a test says.
struct Three {
    now: Time,
    together: Together,
    links: Table,
    peers: Table,
    /// Lengths of what came to each.
    messages: FxHashMap<Rank, Vec<usize>>,
    /// Frames that went to both at once, and those with a piece that went to one.
    shared: u64,
    alone: u64,
    deaf: Vec<Rank>,
}

impl Three {
    fn new() -> Self {
        let mut together = Together::default();
        PEERS.iter().for_each(|&rank| together.hears(rank, true));
        let links = |birth| PEERS.map(|rank| (rank, Retransmit::new(LARGEST, birth)));
        let mut three = Self {
            now: Duration::from_secs(1),
            together,
            links: links(1).into_iter().collect(),
            peers: links(2).into_iter().collect(),
            messages: FxHashMap::default(),
            shared: 0,
            alone: 0,
            deaf: Vec::new(),
        };
        // The first one goes to each alone, and they learn of each other's streams.
        three.send(1);
        let are_met = |three: &Self| PEERS.iter().all(|rank| three.has(*rank, 1));
        three.pass_until(|_, _| true, are_met);
        three.messages.clear();
        (three.shared, three.alone) = (0, 0);
        three
    }

    fn send(&mut self, length: usize) {
        let message = Message::from(vec![7; length]);
        let links = &mut self.links;
        let those = self.together.add(self.now, &message, &PEERS, links);
        for rank in PEERS.into_iter().filter(|rank| !those.contains(rank)) {
            let mut frames = Vec::new();
            let link = self.links.get_mut(&rank).expect("there");
            link.send(self.now, message.clone(), &mut frames);
            self.carry(rank, frames, &|_, _| true);
        }
    }

    /// Lets a millisecond pass. `arrives` says whether a frame to a peer does, by whether it is for both.
    fn pass(&mut self, arrives: &impl Fn(Rank, bool) -> bool) {
        self.now += Duration::from_millis(1);
        let mut gone = Gone::default();
        self.together.go_on(self.now, &mut self.links, &mut gone);
        self.deaf.extend(gone.deaf);
        for frame in gone.frames {
            self.shared += 1;
            for rank in PEERS.into_iter().filter(|&rank| arrives(rank, true)) {
                let own = Together::own(rank, frame.clone()).expect("well formed");
                self.carry(rank, own.into_iter().collect(), &|_, _| true);
            }
        }
        for rank in PEERS {
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
            // It acknowledges without delay.
            peer.tick(self.now + Duration::from_millis(1), &mut back);
            let came = self.messages.entry(rank).or_default();
            came.extend(messages.iter().map(Message::len));
            let link = self.links.get_mut(&rank).expect("there");
            for frame in back {
                let taken = link.receive(self.now, frame, &mut there, &mut messages);
                taken.expect("well formed");
            }
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
    let mut three = Three::new();
    for length in [0, 10, 5000, 100_000] {
        three.send(length);
    }
    let is_there = |three: &Three| PEERS.iter().all(|rank| three.has(*rank, 4));
    three.pass_until(|_, _| true, is_there);
    // The two short ones share a frame.
    let pieces = 1 + 5000_usize.div_ceil(ROOM) + 100_000_usize.div_ceil(ROOM);
    assert_eq!((three.shared, three.alone), (pieces as u64, 0));
    for rank in PEERS {
        assert_eq!(three.messages[&rank], [0, 10, 5000, 100_000]);
    }
}

#[test]
fn short_messages_that_wait_share_frames_in_their_order() {
    let mut three = Three::new();
    let lengths: Vec<usize> = (0..500).map(|n| n % 40).collect();
    lengths.iter().for_each(|length| three.send(*length));
    // One that goes to one alone stands between: what follows it goes behind it.
    let mut frames = Vec::new();
    let (now, link) = (three.now, three.links.get_mut(&1).expect("there"));
    link.send(now, Message::from(vec![7; 41]), &mut frames);
    three.carry(1, frames, &|_, _| true);
    three.send(42);
    three.pass_until(|_, _| true, |three| three.has(1, 502) && three.has(2, 501));
    assert_eq!(three.messages[&1][..500], lengths);
    assert_eq!(three.messages[&1][500..], [41, 42]);
    assert_eq!(three.messages[&2][..500], lengths);
    let bytes: usize = lengths.iter().map(|length| length + 2).sum();
    let frames = bytes.div_ceil(ROOM - 41) as u64 + 1;
    assert!(three.shared <= frames, "{} of {frames}", three.shared);
}

#[test]
fn who_lacks_something_gets_it_alone() {
    let mut three = Three::new();
    three.send(10);
    three.pass_until(|_, _| true, |three| three.has(2, 1));
    three.send(3000);
    let hears = |rank, is_shared: bool| rank == 1 || !is_shared;
    three.pass_until(hears, |three| three.has(1, 2) && three.has(2, 2));
    let pieces = 3000_u64.div_ceil(ROOM as u64);
    assert_eq!((three.shared, three.alone), (1 + pieces, pieces));
}

#[test]
fn who_does_not_keep_up_holds_up_nobody_for_long() {
    let mut three = Three::new();
    three.send(10);
    three.pass_until(|_, _| true, |three| three.has(2, 1));
    let began = three.now;
    for _ in 0..50 {
        three.send(20_000);
    }
    three.pass_until(|rank, _| rank == 1, |three| three.has(1, 51));
    assert!(three.now - began < APART, "{:?}", three.now - began);
    three.pass_until(|_, _| true, |three| three.has(2, 51));
    three.pass_until(|_, _| true, |three| three.links[&2].backlog() == 0);
    // It is with the others again.
    let shared = three.shared;
    for sent in 52..60 {
        three.send(10);
        three.pass_until(
            |_, _| true,
            |three| PEERS.iter().all(|rank| three.has(*rank, sent)),
        );
    }
    assert!(three.shared > shared);
}

/// What waits for those who are gone holds up what is for others no longer than that.
#[test]
fn where_all_are_gone_others_go_on() {
    let mut three = Three::new();
    for _ in 0..20 {
        three.send(20_000);
    }
    let began = three.now;
    three.pass_until(|_, _| false, |three| three.together.pieces.is_empty());
    assert!(three.now - began <= STILLNESS + PATIENCE + PATIENCE);
    three.pass_until(|_, _| true, |three| three.has(1, 20) && three.has(2, 20));
}

#[test]
fn who_never_hears_what_is_shared_is_found_out() {
    let mut three = Three::new();
    let hears = |rank, is_shared: bool| rank == 1 || !is_shared;
    let mut sent = 0;
    while three.deaf.is_empty() {
        three.send(10);
        sent += 1;
        three.pass_until(hears, |three| three.has(1, sent) && three.has(2, sent));
        assert!(sent < 100, "it is taken for hearing");
    }
    assert_eq!(three.deaf, [2]);
    assert_eq!(three.together.hearers(), [1]);
    let shared = three.shared;
    three.send(10);
    three.pass_until(hears, |three| three.has(2, sent + 1));
    assert_eq!(three.shared, shared, "nobody is left to share with");
}

#[test]
fn frames_that_are_none_are_refused_and_those_for_others_left() {
    let own = |bytes: &[u8]| Together::own(1, Message::from(bytes.to_vec()));
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
