//! Two flows over one narrow link, in virtual time: they share it, use it, and do not fill it with what is sent in vain.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use antiphon_panda::Message;
use antiphon_panda::protocol::group::{Myself, Sequencer};
use antiphon_panda::protocol::link::{Links, Retransmit};
use antiphon_panda::protocol::{Action, Stack, Time};

/// Bytes of the longest frame, and of a message.
const FRAME: usize = 1437;
const MESSAGE: usize = 64 << 10;
/// Messages that a flow has ready.
const READY: usize = 16 * MESSAGE;
/// Frames that the link takes while it is watched.
const SPAN: u64 = 20_000;

/// A link that takes a frame at a time and has others wait, as far as there is room.
#[derive(Debug, Clone, Copy)]
struct Narrow {
    frame_us: u64,
    delay_us: u64,
    room: u64,
}

/// What became of one flow.
#[derive(Debug, Default)]
struct Flow {
    sent: u64,
    dropped: u64,
    delivered: u64,
}

enum What {
    /// A frame reaches the receiving or the sending end of a flow.
    Frame {
        end: usize,
        frame: Message,
    },
    Timer {
        end: usize,
    },
}

struct World {
    now: Time,
    narrow: Narrow,
    /// The sending end of flow f is 2 f, the receiving one 2 f + 1.
    ends: Vec<Retransmit>,
    flows: Vec<Flow>,
    /// When the link is free.
    free_at: Time,
    queue: BinaryHeap<Reverse<(Time, u64)>>,
    what: Vec<Option<What>>,
}

impl World {
    fn new(narrow: Narrow, flows: usize) -> Self {
        let ends = (0..2 * flows).map(|end| Retransmit::new(FRAME, end as u64 + 1));
        Self {
            now: Duration::from_secs(1),
            narrow,
            ends: ends.collect(),
            flows: (0..flows).map(|_| Flow::default()).collect(),
            free_at: Time::ZERO,
            queue: BinaryHeap::new(),
            what: Vec::new(),
        }
    }

    fn at(&mut self, at: Time, what: What) {
        self.queue.push(Reverse((at, self.what.len() as u64)));
        self.what.push(Some(what));
    }

    /// Has an end do something, and carries what it sends.
    fn act(&mut self, end: usize, act: impl FnOnce(&mut Retransmit, Time, &mut Vec<Message>)) {
        let mut frames = Vec::new();
        let now = self.now;
        act(&mut self.ends[end], now, &mut frames);
        while end.is_multiple_of(2) && self.ends[end].backlog() < READY {
            self.ends[end].send(now, vec![1; MESSAGE].into(), &mut frames);
        }
        for frame in frames {
            self.carry(end, frame);
        }
        if let Some(at) = self.ends[end].deadline() {
            self.at(at.max(now + Duration::from_micros(1)), What::Timer { end });
        }
    }

    fn carry(&mut self, from: usize, frame: Message) {
        let delay = Duration::from_micros(self.narrow.delay_us);
        let mut leaves = self.now;
        if from.is_multiple_of(2) {
            let flow = &mut self.flows[from / 2];
            flow.sent += 1;
            let each = Duration::from_micros(self.narrow.frame_us);
            let start = self.free_at.max(self.now);
            if start - self.now > each * self.narrow.room as u32 {
                flow.dropped += 1;
                return;
            }
            self.free_at = start + each;
            leaves = self.free_at;
        }
        self.at(
            leaves + delay,
            What::Frame {
                end: from ^ 1,
                frame,
            },
        );
    }

    fn run(&mut self, until: Time) {
        for end in 0..self.ends.len() {
            self.act(end, |_, _, _| ());
        }
        while let Some(Reverse((at, number))) = self.queue.pop() {
            if at > until {
                return;
            }
            self.now = at;
            match self.what[number as usize].take() {
                Some(What::Frame { end, frame }) => {
                    let mut messages = Vec::new();
                    self.act(end, |link, now, frames| {
                        let taken = link.receive(now, frame, frames, &mut messages);
                        taken.expect("a frame of its peer's");
                    });
                    if !end.is_multiple_of(2) {
                        let bytes = messages.iter().map(Message::len).sum::<usize>();
                        self.flows[end / 2].delivered += bytes as u64;
                    }
                }
                // A timer that was put off since finds nothing due.
                Some(What::Timer { end })
                    if self.ends[end].deadline().is_some_and(|due| due <= at) =>
                {
                    self.act(end, |link, now, frames| link.tick(now, frames));
                }
                _ => {}
            }
        }
    }
}

/// The part of the link that was used, the smaller flow's part of the greater one's, and the part of frames that were dropped.
fn share(narrow: Narrow, flows: usize) -> (f64, f64, f64) {
    let mut world = World::new(narrow, flows);
    world.run(Duration::from_secs(1) + Duration::from_micros(SPAN * narrow.frame_us));
    let delivered = || world.flows.iter().map(|flow| flow.delivered as f64);
    let most = (SPAN * FRAME as u64) as f64;
    let used = delivered().sum::<f64>() / most;
    let even = delivered().fold(f64::MAX, f64::min) / delivered().fold(0.0, f64::max);
    let total = |of: fn(&Flow) -> u64| world.flows.iter().map(of).sum::<u64>() as f64;
    let dropped = total(|flow| flow.dropped) / total(|flow| flow.sent);
    println!("{narrow:?}: {used:.2} used, {even:.2} even, {dropped:.3} dropped");
    (used, even, dropped)
}

fn two_share(narrow: Narrow) {
    let (used, even, dropped) = share(narrow, 2);
    assert!(used > 0.7, "{used} of the link is used");
    assert!(even > 0.6, "one flow has {even} of the other");
    assert!(dropped < 0.1, "{dropped} of the frames are sent in vain");
}

#[test]
fn two_flows_share_a_local_network() {
    two_share(Narrow {
        frame_us: 12,
        delay_us: 50,
        room: 128,
    });
}

#[test]
fn two_flows_share_a_slow_link() {
    two_share(Narrow {
        frame_us: 1200,
        delay_us: 5000,
        room: 30,
    });
}

#[test]
fn two_flows_share_a_link_with_little_room() {
    two_share(Narrow {
        frame_us: 120,
        delay_us: 1000,
        room: 16,
    });
}

/// Many flows: the window of each is a few frames, and time-outs begin.
#[test]
fn twenty_flows_do_not_collapse() {
    let (used, _, dropped) = share(
        Narrow {
            frame_us: 120,
            delay_us: 500,
            room: 30,
        },
        20,
    );
    assert!(used > 0.7, "{used} of the link is used");
    assert!(dropped < 0.4, "{dropped} of the frames are sent in vain");
}

/// Or else whoever sends faster than the network takes it fills its memory.
#[test]
fn who_sends_more_than_a_link_takes_is_told_so_until_there_is_room() {
    let myself = Myself {
        rank: 0,
        size: 2,
        is_founder: true,
        birth: 1,
        silence: Duration::from_secs(1),
    };
    let mut stack = Stack::<Retransmit, Sequencer>::new(myself, FRAME);
    let now = Duration::from_secs(1);
    let mut full = Vec::new();
    for _ in 0..6 {
        stack.send(now, 1, 2, 3, vec![1; 1 << 20].into());
        let actions = stack.actions().drain(..);
        full.push(
            actions
                .into_iter()
                .any(|action| matches!(action, Action::Full(1))),
        );
    }
    assert_eq!(full, [false, false, false, true, true, true]);
    stack.lost(now, 1, false, "has not answered");
    let has_room = |action: &Action| matches!(action, Action::Room(1));
    assert!(stack.actions().iter().any(has_room));
}
