//! Flows that links make, each between two ends of its own.

use std::time::Duration;

use antiphon_panda_core::Message;
use antiphon_panda_core::protocol::group::{Myself, Sequencer};
use antiphon_panda_core::protocol::link::{Links, Retransmit};
use antiphon_panda_core::protocol::{Action, Stack, Time};

use super::{Agenda, FRAME, Flow, LITTLE_ROOM, LOCAL, Line, MESSAGE, Narrow, SLOW, Share};

/// Messages that a flow has ready.
const READY: usize = 16 * MESSAGE;

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
    line: Line,
    /// The sending end of flow f is 2 f, the receiving one 2 f + 1.
    ends: Vec<Retransmit>,
    flows: Vec<Flow>,
    agenda: Agenda<What>,
}

impl World {
    fn new(narrow: Narrow, flows: usize) -> Self {
        let ends = (0..2 * flows).map(|end| Retransmit::new(FRAME, end as u64 + 1));
        Self {
            now: Duration::from_secs(1),
            line: Line::new(narrow),
            ends: ends.collect(),
            flows: (0..flows).map(|_| Flow::default()).collect(),
            agenda: Agenda::new(),
        }
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
            let at = at.max(now + Duration::from_micros(1));
            self.agenda.at(at, What::Timer { end });
        }
    }

    fn carry(&mut self, from: usize, frame: Message) {
        let mut leaves = self.now;
        if from.is_multiple_of(2) {
            let flow = &mut self.flows[from / 2];
            flow.sent += 1;
            let Some(at) = self.line.take(self.now) else {
                flow.dropped += 1;
                return;
            };
            leaves = at;
        }
        let end = from ^ 1;
        let at = leaves + self.line.narrow.delay();
        self.agenda.at(at, What::Frame { end, frame });
    }

    fn run(&mut self, until: Time) {
        for end in 0..self.ends.len() {
            self.act(end, |_, _, _| ());
        }
        while let Some((at, what)) = self.agenda.next(until) {
            self.now = at;
            match what {
                What::Frame { end, frame } => {
                    let mut messages = Vec::new();
                    self.act(end, |link, now, frames| {
                        let taken = link.receive(now, frame, frames, &mut messages);
                        taken.expect("a frame of its peer's");
                        link.flush(now, frames);
                    });
                    if !end.is_multiple_of(2) {
                        let bytes = messages.iter().map(Message::len).sum::<usize>();
                        self.flows[end / 2].delivered += bytes as u64;
                    }
                }
                // A timer that was put off since finds nothing due.
                What::Timer { end } => {
                    if self.ends[end].deadline().is_some_and(|due| due <= at) {
                        self.act(end, |link, now, frames| link.tick(now, frames));
                    }
                }
            }
        }
    }
}

fn share(narrow: Narrow, flows: usize) -> Share {
    let mut world = World::new(narrow, flows);
    world.run(world.now + narrow.span());
    Share::of(&world.flows, narrow)
}

#[test]
fn two_flows_share_a_local_network() {
    share(LOCAL, 2).is_good(0.7);
}

#[test]
fn two_flows_share_a_slow_link() {
    share(SLOW, 2).is_good(0.7);
}

#[test]
fn two_flows_share_a_link_with_little_room() {
    share(LITTLE_ROOM, 2).is_good(0.7);
}

/// Many flows: the window of each is a few frames, and time-outs begin.
#[test]
fn twenty_flows_do_not_collapse() {
    let narrow = Narrow {
        frame_us: 120,
        delay_us: 500,
        room: 30,
    };
    let Share { used, dropped, .. } = share(narrow, 20);
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
                .any(|action| matches!(action, Action::Full(1, _))),
        );
    }
    assert_eq!(full, [false, false, false, true, true, true]);
    stack.lost(now, 1, false, "has not answered");
    let has_room = |action: &Action| matches!(action, Action::Room(1));
    assert!(stack.actions().iter().any(has_room));
}
