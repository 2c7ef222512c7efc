//! A member that lies: of three processes one sends what it should and, between, frames with wrong
//! numbers, cut ones, and ones of earlier. Nothing panics, no allocation is made that what came
//! does not account for, and what is kept stays within what was sent.
//!
//! `PANDA_SEEDS` says how many kinds of lies on each kind of platform, `PANDA_SEED` which one
//! alone.

use std::collections::VecDeque;
use std::time::Duration;

use antiphon_panda_core::Rank;
use antiphon_panda_core::protocol::group::{Bus, Myself, Order, Sequencer};
use antiphon_panda_core::protocol::link::{Fragment, Links, Retransmit, Through};
use antiphon_panda_core::protocol::{Action, Answer, Delivery, Stack};
use antiphon_panda_core::{Chance, Message, protocol};

use crate::allocations::{forget_largest_of_thread, largest_of_thread, live_of_thread};

const GROUP: u64 = 7;
const ROUNDS: u32 = 40;
const LIAR: Rank = 2;
const STEP: Duration = Duration::from_millis(20);
/// What a session may keep for a peer that is slow or silent: its own messages that have no place
/// yet, and the history.
const KEPT: usize = 8 << 20;
/// Bytes of memory for each that came: a number of one byte becomes an entry of a table.
const FACTOR: usize = 100;

/// How a frame goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Alone,
    /// One for several.
    Multicast,
}

/// Three processes and the frames between them.
struct Three<L: Links, O> {
    stacks: Vec<Stack<L, O>>,
    now: protocol::Time,
    queue: VecDeque<(Rank, Rank, Way, Vec<u8>)>,
    /// What the liar has sent.
    earlier: Vec<(Way, Vec<u8>)>,
    chance: Chance,
    /// How often it lies besides.
    lies_in_1000: u64,
    fed: usize,
    lies: usize,
    /// Frames that went to several at once.
    multicasts: usize,
}

fn stack<L: Links, O: Order>(rank: Rank, is_founder: bool, largest: usize) -> Stack<L, O> {
    let myself = Myself {
        rank,
        size: 3,
        is_founder,
        birth: 1 + u64::from(rank),
        silence: Duration::from_millis(400),
    };
    Stack::new(myself, largest)
}

impl<L: Links, O: Order> Three<L, O> {
    fn new(largest: usize, seed: u64) -> Self {
        Self {
            stacks: (0..3).map(|rank| stack(rank, true, largest)).collect(),
            now: Duration::from_secs(1),
            queue: VecDeque::new(),
            earlier: Vec::new(),
            chance: Chance::new(seed),
            lies_in_1000: [20, 100, 400][seed as usize % 3],
            fed: 0,
            lies: 0,
            multicasts: 0,
        }
    }

    /// All hear what goes to several at once.
    fn hear(&mut self) {
        for (at, stack) in (0..).zip(&mut self.stacks) {
            (0..3)
                .filter(|rank| *rank != at)
                .for_each(|rank| stack.hears(rank, true));
        }
    }

    fn play(&mut self) {
        for _ in 0..ROUNDS {
            for rank in 0..3 {
                self.act(rank);
                self.perform(rank);
            }
            for _ in 0..400 {
                let Some((from, to, way, frame)) = self.queue.pop_front() else {
                    break;
                };
                self.carry(from, to, way, frame);
            }
            self.queue.clear();
            self.now += STEP;
            for rank in 0..3 {
                let now = self.now;
                self.stacks[rank as usize].tick(now);
                self.perform(rank);
            }
        }
    }

    /// What a program does.
    fn act(&mut self, rank: Rank) {
        let (now, length) = (self.now, self.chance.below(2000) as usize);
        let to = (rank + 1 + self.chance.below(2) as Rank) % 3;
        let is_going = self.chance.happens(30);
        let stack = &mut self.stacks[rank as usize];
        let payload = Message::from(vec![1; length]);
        stack.send(now, to, 1, 2, payload.clone());
        stack.call(now, to, 3, payload.clone(), Some(now + STEP * 5));
        stack.group(now, GROUP, |group: &mut O, now, out| {
            if !group.is_member() {
                group.join(now, out);
            } else if is_going {
                group.leave(now, out);
            }
        });
        stack.group(now, GROUP, |group: &mut O, now, out| {
            if group.is_member() && !group.is_congested() && group.last_decided().is_some() {
                group.send(now, payload, out);
            }
        });
    }

    fn carry(&mut self, from: Rank, to: Rank, way: Way, frame: Vec<u8>) {
        if from != LIAR || to == LIAR {
            return self.feed(from, to, way, frame);
        }
        self.earlier.push((way, frame.clone()));
        while self.chance.happens(self.lies_in_1000) {
            let (way, lie) = self.lie(way, &frame);
            self.lies += 1;
            self.feed(from, to, way, lie);
        }
        self.feed(from, to, way, frame);
    }

    fn feed(&mut self, from: Rank, to: Rank, way: Way, frame: Vec<u8>) {
        self.fed += frame.len();
        forget_largest_of_thread();
        let length = frame.len();
        let now = self.now;
        // An error is as good as any answer.
        let (stack, frame) = (&mut self.stacks[to as usize], Message::from(frame));
        let _ = match way {
            Way::Alone => stack.frame(now, from, frame),
            Way::Multicast => stack.multicast(now, from, frame),
        };
        let largest = largest_of_thread();
        let kept = self.fed.min(KEPT);
        assert!(
            largest <= (64 << 10) + FACTOR * (length + kept),
            "a frame of {length} bytes after {kept} made it allocate {largest} at once"
        );
        self.perform(to);
    }

    fn perform(&mut self, rank: Rank) {
        let now = self.now;
        let stack = &mut self.stacks[rank as usize];
        stack.flush(now);
        for action in std::mem::take(stack.actions()) {
            match action {
                Action::Send(to, frame) if to < 3 => {
                    let frame = frame.to_bytes().to_vec();
                    self.queue.push_back((rank, to, Way::Alone, frame));
                }
                Action::SendRun(to, frames) if to < 3 => {
                    let frames = frames.into_iter().map(|frame| frame.to_bytes().to_vec());
                    self.queue
                        .extend(frames.map(|frame| (rank, to, Way::Alone, frame)));
                }
                Action::Broadcast(frame) => {
                    let frame = frame.to_bytes().to_vec();
                    let all = (0..3).map(|to| (rank, to, Way::Alone, frame.clone()));
                    self.queue.extend(all);
                }
                Action::Multicast(frame) => {
                    let frame = frame.to_bytes().to_vec();
                    let others = (0..3).filter(|to| *to != rank);
                    self.queue
                        .extend(others.map(|to| (rank, to, Way::Multicast, frame.clone())));
                    self.multicasts += 1;
                }
                Action::Deliver(Delivery::Call { from, id, .. }) => {
                    stack.reply(now, from, id, Answer::Value, Message::new());
                }
                _ => {}
            }
        }
    }

    /// Something like a frame, or one of earlier.
    fn lie(&mut self, way: Way, frame: &[u8]) -> (Way, Vec<u8>) {
        let chance = &mut self.chance;
        let (mut way, mut lie) = (way, frame.to_vec());
        match chance.below(6) {
            0 => lie.truncate(chance.below(lie.len() as u64 + 1) as usize),
            1 => {
                let old = chance.below(self.earlier.len() as u64) as usize;
                (way, lie) = self.earlier[old].clone();
            }
            2 => {
                if !lie.is_empty() {
                    let at = chance.below(lie.len().min(80) as u64) as usize;
                    lie[at] = chance.draw() as u8;
                }
            }
            _ => {
                let at = if L::RETRANSMITS { 41 } else { 0 } + usize::from(L::FRAGMENTS);
                for _ in 0..1 + chance.below(2) {
                    lie = with_other_number(chance, &lie, at);
                }
                if L::RETRANSMITS {
                    other_word(chance, &mut lie);
                }
            }
        }
        (way, lie)
    }
}

/// Puts another number into one of the headers of a frame, which begin at `at`: each has its length
/// before it.
fn with_other_number(chance: &mut Chance, frame: &[u8], at: usize) -> Vec<u8> {
    let length_at = |at: usize| {
        let length = frame.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_le_bytes(length) as usize)
    };
    let at = match length_at(at) {
        Some(first) if chance.happens(700) => at + 4 + first,
        _ => at,
    };
    let Some(length) = length_at(at).filter(|length| *length > 0 && at + 4 + length <= frame.len())
    else {
        return frame.to_vec();
    };
    // As postcard writes them: seven bits a byte, low ones first.
    let number: &[u8] = match chance.below(6) {
        0 => &[0],
        1 => &[1],
        2 => &[0x7f],
        3 => &[0xff, 0xff, 0xff, 0xff, 0x0f],
        4 => &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
        _ => &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
    };
    let place = chance.below(length as u64) as usize;
    let mut header = frame[at + 4..at + 4 + length].to_vec();
    header.splice(place..=place, number.iter().copied());
    let mut other = frame[..at].to_vec();
    other.extend((header.len() as u32).to_le_bytes());
    other.extend(header);
    other.extend(&frame[at + 4 + length..]);
    other
}

/// Puts another number into the header of a link that numbers.
fn other_word(chance: &mut Chance, frame: &mut [u8]) {
    let at = 1 + 8 * chance.below(5) as usize;
    let Some(word) = frame.get_mut(at..at + 8) else {
        return;
    };
    let old = u64::from_le_bytes((&*word).try_into().expect("eight"));
    let number = match chance.below(5) {
        0 => 0,
        1 => u64::MAX,
        2 => u64::MAX - 1,
        3 => old.wrapping_add(chance.below(300)),
        _ => old.wrapping_sub(chance.below(300)),
    };
    word.copy_from_slice(&number.to_le_bytes());
}

fn number(variable: &str) -> Option<u64> {
    let given = std::env::var(variable).ok()?;
    Some(given.parse().expect("a number"))
}

fn lied_to<L: Links, O: Order>(largest: usize) {
    lied_to_while::<L, O>(largest, 15, |_| (), |_| true);
}

/// After `prepare`; `holds` must at the end of at least one of them.
fn lied_to_while<L: Links, O: Order>(
    largest: usize,
    seeds: u64,
    prepare: fn(&mut Three<L, O>),
    holds: fn(&Three<L, O>) -> bool,
) {
    let seeds = number("PANDA_SEEDS").unwrap_or(seeds);
    let seeds = number("PANDA_SEED").map_or(0..seeds, |seed| seed..seed + 1);
    let (mut lies, mut has_held) = (0, false);
    for seed in seeds {
        let replay = Replay(seed);
        let before = live_of_thread();
        let mut three = Three::<L, O>::new(largest, seed);
        prepare(&mut three);
        three.play();
        has_held |= holds(&three);
        lies += three.lies;
        three.earlier = Vec::new();
        let kept = usize::try_from(live_of_thread() - before).unwrap_or(0);
        assert!(
            kept <= 3 * KEPT.min(FACTOR * three.fed),
            "{kept} bytes are kept of {} that came",
            three.fed
        );
        std::mem::forget(replay);
    }
    assert!(lies > 0 && has_held);
}

/// Says how to play it again if it fails.
struct Replay(u64);

impl Drop for Replay {
    fn drop(&mut self) {
        let test = std::thread::current();
        eprintln!(
            "PANDA_SEED={} cargo test -p antiphon-panda --test it {}",
            self.0,
            test.name().unwrap_or_default()
        );
    }
}

#[test]
fn streams() {
    lied_to::<Through, Sequencer>(usize::MAX);
}

#[test]
fn datagrams() {
    lied_to::<Retransmit, Sequencer>(1400);
}

#[test]
fn multicasts() {
    lied_to_while::<Retransmit, Sequencer>(1400, 20, Three::hear, |three| three.multicasts > 50);
}

#[test]
fn long_frames() {
    lied_to::<Fragment, Sequencer>(1400);
}

#[test]
fn bus() {
    lied_to::<Through, Bus>(usize::MAX);
}

/// One comes late, and asks who is in the group.
#[test]
fn bus_with_one_that_comes_late() {
    let comes_late = |three: &mut Three<Through, Bus>| {
        three.stacks[1] = stack(1, false, usize::MAX);
    };
    lied_to_while::<Through, Bus>(usize::MAX, 15, comes_late, |_| true);
}
