//! The first member keeps what some member may lack, up to a bound; beyond it messages wait.
//! A member reports its deliveries, however its messages came, or they would wait for ever.

use std::collections::VecDeque;
use std::time::Duration;

use antiphon_panda_core::Message;
use antiphon_panda_core::Rank;
use antiphon_panda_core::protocol::group::{GroupEvent, Myself, Order, Output, Sequencer};
use antiphon_panda_core::protocol::link::Through;
use antiphon_panda_core::protocol::{Action, Delivery, Stack, Time};

const GROUP: u64 = 1;
const STEP: Duration = Duration::from_millis(1);
/// Long ones, which their sender gives to everybody while the first member tells their places; more
/// of them than the first member's history holds.
const LENGTH: usize = 1 << 20;
const MESSAGES: usize = 40;

/// The first member, one that sends, and one that hears of the sender later than of anybody else.
const SENDER: Rank = 1;
const LATE: Rank = 2;

/// Three processes, and frames between them in the order in which they come.
struct Three {
    stacks: Vec<Stack<Through, Sequencer>>,
    now: Time,
    soon: VecDeque<(Rank, Rank, Message)>,
    late: VecDeque<(Rank, Rank, Message)>,
    /// Messages of the group that each has delivered.
    delivered: [usize; 3],
}

impl Three {
    fn new() -> Self {
        let stack = |rank| {
            let myself = Myself {
                rank,
                size: 3,
                is_founder: true,
                birth: 1 + u64::from(rank),
                silence: Duration::from_secs(3600),
            };
            Stack::new(myself, usize::MAX)
        };
        Self {
            stacks: (0..3).map(stack).collect(),
            now: Duration::from_secs(1),
            soon: VecDeque::new(),
            late: VecDeque::new(),
            delivered: [0; 3],
        }
    }

    fn group(&mut self, rank: Rank, act: impl FnOnce(&mut Sequencer, Time, &mut Output)) {
        let now = self.now;
        self.stacks[rank as usize].group(now, GROUP, act);
        self.perform(rank);
    }

    fn perform(&mut self, rank: Rank) {
        let stack = &mut self.stacks[rank as usize];
        stack.flush(self.now);
        for action in std::mem::take(stack.actions()) {
            match action {
                Action::Send(to, frame) => self.carry(rank, to, frame),
                Action::SendRun(to, frames) => {
                    frames
                        .into_iter()
                        .for_each(|frame| self.carry(rank, to, frame));
                }
                Action::Deliver(Delivery::Group(_, GroupEvent::Message { .. }, _)) => {
                    self.delivered[rank as usize] += 1;
                }
                _ => {}
            }
        }
    }

    fn carry(&mut self, from: Rank, to: Rank, frame: Message) {
        let under_way = match (from, to) {
            (SENDER, LATE) => &mut self.late,
            _ => &mut self.soon,
        };
        under_way.push_back((from, to, frame));
    }

    /// Lets all come that is under way, and what is due in the next tenth of a second.
    fn settle(&mut self) {
        for _ in 0..100 {
            while let Some((from, to, frame)) =
                self.soon.pop_front().or_else(|| self.late.pop_front())
            {
                let taken = self.stacks[to as usize].frame(self.now, from, frame);
                taken.expect("a frame of another stack");
                self.perform(to);
            }
            self.now += STEP;
            for rank in 0..3 {
                self.stacks[rank as usize].tick(self.now);
                self.perform(rank);
            }
        }
    }
}

#[test]
fn members_that_have_a_place_before_its_message_say_that_they_have_delivered_it() {
    let mut three = Three::new();
    for rank in 0..3 {
        three.group(rank, |group, now, out| group.join(now, out));
        three.settle();
    }
    for _ in 0..MESSAGES {
        let message = Message::from(vec![7; LENGTH]);
        three.group(SENDER, |group, now, out| group.send(now, message, out));
    }
    three.settle();
    assert_eq!(three.delivered, [MESSAGES; 3]);
}
