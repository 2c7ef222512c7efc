//! Three members of a group, two of which send it long messages: through the group's protocol, its
//! links and their fragments. What the two send, bodies as well as acknowledgements, shares one
//! narrow link; what the first member sends, which gives the places, has a way of its own.

use std::time::Duration;

use antiphon_panda_core::protocol::group::{GroupEvent, Myself, Order, Sequencer};
use antiphon_panda_core::protocol::link::Retransmit;
use antiphon_panda_core::protocol::{Action, Delivery, Stack, Time};
use antiphon_panda_core::{Message, Rank};

use super::{Agenda, FRAME, Flow, LITTLE_ROOM, LOCAL, Line, MESSAGE, Narrow, SLOW, Share};

const SIZE: u32 = 3;
const GROUP: u64 = 7;
/// Longer than anybody is silent here.
const SILENCE: Duration = Duration::from_secs(10);

enum What {
    Frame {
        from: Rank,
        to: Rank,
        frame: Message,
    },
    Timer {
        rank: Rank,
    },
}

struct World {
    now: Time,
    line: Line,
    members: Vec<Stack<Retransmit, Sequencer>>,
    /// Whether the senders do.
    are_sending: bool,
    /// Of each member; the first one's stays empty.
    flows: Vec<Flow>,
    /// Members of the last view that each has seen.
    views: Vec<usize>,
    agenda: Agenda<What>,
}

impl World {
    fn new(narrow: Narrow) -> Self {
        let member = |rank| {
            let myself = Myself {
                rank,
                size: SIZE,
                is_founder: true,
                birth: 1,
                silence: SILENCE,
            };
            Stack::new(myself, FRAME)
        };
        Self {
            now: Duration::from_secs(1),
            line: Line::new(narrow),
            members: (0..SIZE).map(member).collect(),
            are_sending: false,
            flows: (0..SIZE).map(|_| Flow::default()).collect(),
            views: vec![0; SIZE as usize],
            agenda: Agenda::new(),
        }
    }

    /// Has a member do something, send what it may, and carries it.
    fn act(&mut self, rank: Rank, act: impl FnOnce(&mut Stack<Retransmit, Sequencer>, Time)) {
        let now = self.now;
        let member = &mut self.members[rank as usize];
        act(member, now);
        while self.are_sending && rank > 0 && member.group(now, GROUP, has_room) {
            let long = || vec![rank as u8; MESSAGE].into();
            member.group(now, GROUP, |group, now, out| group.send(now, long(), out));
        }
        member.flush(now);
        let actions: Vec<Action> = member.actions().drain(..).collect();
        let deadline = member.deadline();
        for action in actions {
            self.perform(rank, action);
        }
        if let Some(at) = deadline {
            let at = at.max(now + Duration::from_micros(1));
            self.agenda.at(at, What::Timer { rank });
        }
    }

    fn perform(&mut self, rank: Rank, action: Action) {
        match action {
            Action::Send(to, frame) => self.carry(rank, to, frame),
            Action::SendRun(to, frames) => {
                frames
                    .into_iter()
                    .for_each(|frame| self.carry(rank, to, frame));
            }
            Action::Deliver(Delivery::Group(_, event, _)) => self.deliver(rank, event),
            Action::Lost(lost, why) => panic!("{rank} has lost {lost}: it {why}"),
            _ => {}
        }
    }

    fn carry(&mut self, from: Rank, to: Rank, frame: Message) {
        let mut leaves = self.now;
        if from > 0 {
            let flow = &mut self.flows[from as usize];
            flow.sent += 1;
            let Some(at) = self.line.take(self.now) else {
                flow.dropped += 1;
                return;
            };
            leaves = at;
        }
        let at = leaves + self.line.narrow.delay();
        self.agenda.at(at, What::Frame { from, to, frame });
    }

    fn deliver(&mut self, rank: Rank, event: GroupEvent) {
        match event {
            // What has come over the link.
            GroupEvent::Message { from, payload, .. } if rank != from => {
                self.flows[from as usize].delivered += payload.len() as u64;
            }
            GroupEvent::View { members, .. } => self.views[rank as usize] = members.len(),
            _ => {}
        }
    }

    fn run(&mut self, until: Time) {
        while let Some((at, what)) = self.agenda.next(until) {
            self.now = at;
            match what {
                What::Frame { from, to, frame } => self.act(to, |member, now| {
                    member.frame(now, from, frame).expect("of a peer's");
                }),
                // A timer that was put off since finds nothing due.
                What::Timer { rank } => {
                    let due = self.members[rank as usize].deadline();
                    if due.is_some_and(|due| due <= at) {
                        self.act(rank, |member, now| member.tick(now));
                    }
                }
            }
        }
        self.now = until;
    }

    fn join(&mut self) {
        for rank in 0..SIZE {
            self.act(rank, |member, now| {
                member.group(now, GROUP, |group, now, out| group.join(now, out));
            });
            self.run(self.now + SILENCE);
        }
        assert_eq!(self.views, [SIZE as usize; 3]);
    }
}

fn has_room(
    group: &mut Sequencer,
    _: Time,
    _: &mut antiphon_panda_core::protocol::group::Output,
) -> bool {
    !group.is_congested()
}

fn two_share(narrow: Narrow) {
    let mut world = World::new(narrow);
    world.join();
    world.flows = (0..SIZE).map(|_| Flow::default()).collect();
    world.are_sending = true;
    for rank in 0..SIZE {
        world.act(rank, |_, _| ());
    }
    world.run(world.now + narrow.span());
    // What lacks its end or its place when time is over has used the link, too, and is not counted.
    Share::of(&world.flows[1..], narrow).is_good(0.5);
}

#[test]
fn two_who_send_long_messages_to_a_group_share_a_local_network() {
    two_share(LOCAL);
}

#[test]
fn two_who_send_long_messages_to_a_group_share_a_slow_link() {
    two_share(SLOW);
}

#[test]
fn two_who_send_long_messages_to_a_group_share_a_link_with_little_room() {
    two_share(LITTLE_ROOM);
}
