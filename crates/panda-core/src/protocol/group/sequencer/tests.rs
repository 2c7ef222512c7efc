//! Tests of lying members, one kind of lie at a time and without end. A liar is found out, and the
//! memory for its messages stays bounded. A member that is only far ahead is not taken for a liar.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::hold_back::AHEAD;
use super::notes::{Item, Note};
use super::order::{HISTORY_BYTES, HISTORY_MAX};
use super::sending::{UNORDERED_BYTES, UNORDERED_MAX};
use super::{GroupEvent, Myself, Order, Output, Recipients, Sequencer};
use crate::Rank;
use crate::message::Message;
use crate::protocol::{Time, wire};

const STEP: Duration = Duration::from_millis(1);
const MIB: usize = 1 << 20;

/// Three members, the first of which is rank 0, and what is under way between them.
struct Three {
    members: Vec<Sequencer>,
    now: Time,
    under_way: VecDeque<(Rank, Rank, Message)>,
    /// Whether messages of rank 1 to one member are late.
    is_late: bool,
    late: VecDeque<(Rank, Rank, Message)>,
    delivered: [usize; 3],
}

impl Three {
    fn new() -> Self {
        let member = |rank| {
            Sequencer::new(Myself {
                rank,
                size: 3,
                is_founder: true,
                birth: 1 + u64::from(rank),
                silence: Duration::from_secs(3600),
            })
        };
        let mut three = Self {
            members: (0..3).map(member).collect(),
            now: Duration::from_secs(1),
            under_way: VecDeque::new(),
            is_late: false,
            late: VecDeque::new(),
            delivered: [0; 3],
        };
        for rank in 0..3 {
            three.act(rank, |member, now, out| member.join(now, out));
            three.settle();
        }
        assert_eq!(three.members[2].view.members.len(), 3);
        three
    }

    /// Makes a member act, and returns the process that it then takes for a liar.
    fn act(
        &mut self,
        rank: Rank,
        act: impl FnOnce(&mut Sequencer, Time, &mut Output),
    ) -> Option<Rank> {
        let mut out = Output::default();
        let member = &mut self.members[rank as usize];
        act(member, self.now, &mut out);
        member.flush(self.now, &mut out);
        let is_message = |event: &&GroupEvent| matches!(event, GroupEvent::Message { .. });
        self.delivered[rank as usize] += out.events.iter().filter(is_message).count();
        for (to, message) in out.sends {
            let to = match to {
                Recipients::One(to) => vec![to],
                Recipients::All(all) => all.to_vec(),
            };
            for to in to {
                let way = match self.is_late && (rank, to) == (1, 2) {
                    true => &mut self.late,
                    false => &mut self.under_way,
                };
                way.push_back((rank, to, message.clone()));
            }
        }
        out.liar
    }

    /// Delivers all that is under way, without lies.
    fn settle(&mut self) {
        for _ in 0..100 {
            while let Some((from, to, message)) = self.under_way.pop_front() {
                let liar = self.act(to, |member, now, out| {
                    member.receive(now, from, message, out).expect("a note");
                });
                assert_eq!(liar, None);
            }
            self.now += STEP;
            for rank in 0..3 {
                self.act(rank, |member, now, out| member.tick(now, out));
            }
        }
    }

    fn hear(&mut self, from: Rank, to: Rank, note: &Note, body: Message) -> bool {
        let message = wire::pack(note, body);
        let liar = self.act(to, |member, now, out| {
            // An error is as good as any answer.
            let _ = member.receive(now, from, message, out);
        });
        liar == Some(from)
    }

    /// Lies, each with a body of so many bytes, until the sender is found out. Returns how many
    /// bodies are kept then.
    fn lie(
        &mut self,
        (from, to): (Rank, Rank),
        length: usize,
        most: usize,
        mut lie: impl FnMut(&Three, u64) -> Note,
    ) -> usize {
        let payload = Arc::new(vec![7; length]);
        for number in 1..=most as u64 {
            let body = Bytes::from_owner(Counted(payload.clone()));
            let note = lie(self, number);
            let is_found = self.hear(from, to, &note, Message::from(body));
            // Nothing that comes of it goes on to others.
            self.under_way.clear();
            if is_found {
                return Arc::strong_count(&payload) - 1;
            }
        }
        panic!("not found out in {most}");
    }
}

/// Bytes that are counted as long as any message holds them.
struct Counted(Arc<Vec<u8>>);

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Number of messages of a MiB that a correct member may make another keep, with the two that end
/// its limits.
const MOST: usize = (HISTORY_BYTES + UNORDERED_BYTES) / MIB + 2;

#[test]
fn bodies_without_places_are_bounded() {
    let mut three = Three::new();
    let body = |three: &Three, number| Note::Body {
        view: three.members[1].view.number,
        number,
    };
    let kept = three.lie((2, 1), MIB, 2 * MOST, body);
    assert!(kept <= MOST, "{kept}");
    let mut three = Three::new();
    let kept = three.lie((2, 1), 0, 2 * AHEAD, body);
    assert!(kept <= AHEAD, "{kept}");
    // Nothing is kept of a number that no correct member has reached.
    let mut three = Three::new();
    let kept = three.lie((2, 1), MIB, 1, |three, _| body(three, AHEAD as u64 + 1));
    assert_eq!(kept, 0);
}

#[test]
fn what_waits_for_a_place_is_bounded() {
    let mut three = Three::new();
    let request = |three: &Three, number| Note::Request {
        view: three.members[0].view.number,
        delivered: 0,
        first: number,
        lengths: vec![1],
    };
    // Rank 1 says nothing of what it has delivered.
    let kept = three.lie((2, 0), 1, 2 * AHEAD, request);
    assert!(kept <= AHEAD, "{kept}");
    let mut three = Three::new();
    let kept = three.lie((2, 0), MIB, 4 * MOST, |three, number| Note::Body {
        view: three.members[0].view.number,
        number,
    });
    assert!(kept <= 2 * MOST, "{kept}");
}

#[test]
fn notes_of_later_views_are_bounded() {
    let mut three = Three::new();
    let early = |three: &Three, number| Note::Body {
        view: three.members[1].view.number + 1,
        number,
    };
    let kept = three.lie((2, 1), MIB, 2 * MOST, early);
    assert!(kept <= MOST, "{kept}");
    let mut three = Three::new();
    let kept = three.lie((2, 1), 0, 4 * AHEAD, early);
    assert!(kept <= 2 * AHEAD, "{kept}");
    // Those of lists are as long as these.
    let mut three = Three::new();
    let lengths = vec![0; MIB / size_of::<u64>()];
    three.lie((2, 1), 0, 2 * MOST, |three, _| Note::Request {
        view: three.members[1].view.number + 1,
        delivered: 0,
        first: 1,
        lengths: lengths.clone(),
    });
}

/// A coordinator that cannot complete a change may begin it again without end, and is no liar.
#[test]
fn of_attempts_at_a_view_to_come_the_last_is_kept() {
    let mut three = Three::new();
    let view = three.members[1].view.number + 1;
    for round in 1..=4 * AHEAD as u64 {
        let ballot = super::Ballot { round, rank: 2 };
        let body = Message::from(Bytes::from_static(b"more"));
        let is_liar = three.hear(2, 1, &Note::Collect { view, ballot }, body);
        assert!(!is_liar, "{round}");
        three.under_way.clear();
    }
    let kept = &three.members[1].early.notes;
    assert_eq!(kept.len(), 1, "{kept:?}");
    let last = |note: &Note| matches!(note, Note::Collect { ballot, .. } if ballot.round == 4 * AHEAD as u64);
    assert!(last(&kept[0].1), "{kept:?}");
}

#[test]
fn a_history_that_is_never_delivered_everywhere_is_bounded() {
    let ordered = |three: &Three, length| Note::Ordered {
        view: three.members[1].view.number,
        first: three.members[1].log.end() + 1,
        stable: 0,
        wants_report: false,
        items: vec![Item {
            sender: 2,
            number: three.members[1].log.end() + 1,
            length: Some(length),
        }],
    };
    let mut three = Three::new();
    let kept = three.lie((0, 1), MIB, 4 * MOST, |three, _| ordered(three, MIB as u64));
    assert!(kept <= 2 * HISTORY_BYTES / MIB + 2, "{kept}");
    let mut three = Three::new();
    let kept = three.lie((0, 1), 1, 4 * AHEAD, |three, _| ordered(three, 1));
    assert!(kept <= 2 * HISTORY_MAX + 1, "{kept}");
}

#[test]
fn entries_that_a_coordinator_brings_without_end_are_bounded() {
    let mut three = Three::new();
    let view = three.members[1].view.number;
    let ballot = super::Ballot { round: 1, rank: 2 };
    assert!(!three.hear(2, 1, &Note::Collect { view, ballot }, Message::new()));
    let kept = three.lie((2, 1), MIB, 4 * MOST, |three, _| Note::Entries {
        view,
        first: three.members[1].log.end() + 1,
        items: vec![Item {
            sender: 2,
            number: 1,
            length: Some(MIB as u64),
        }],
    });
    assert!(kept <= 2 * HISTORY_BYTES / MIB + 2, "{kept}");
}

#[test]
fn a_view_that_stands_still_gives_no_places() {
    let mut three = Three::new();
    for _ in 0..HISTORY_MAX + 10 {
        let message = Message::from(vec![7]);
        three.act(0, |member, now, out| member.send(now, message, out));
    }
    three.under_way.clear();
    let (view, end) = (three.members[0].view.number, three.members[0].log.end());
    assert_eq!(end, HISTORY_MAX as u64);
    let ballot = super::Ballot { round: 1, rank: 2 };
    assert!(!three.hear(2, 0, &Note::Collect { view, ballot }, Message::new()));
    let delivered = Note::Delivered {
        view,
        delivered: end,
    };
    for rank in [1, 2] {
        assert!(!three.hear(rank, 0, &delivered, Message::new()));
    }
    assert_eq!(three.members[0].log.end(), end);
}

/// As an upcall may, a member sends far more than it should. Another member hears of it later than
/// of the first member.
#[test]
fn who_sends_much_at_once_is_no_liar() {
    const MESSAGES: usize = 3 * AHEAD;
    let mut three = Three::new();
    three.is_late = true;
    for number in 0..MESSAGES {
        let length = if number % 3 == 0 { 2000 } else { 10 };
        let message = Message::from(vec![7; length]);
        three.act(1, |member, now, out| member.send(now, message, out));
    }
    for _ in 0..MESSAGES / UNORDERED_MAX {
        three.settle();
        let late = std::mem::take(&mut three.late);
        three.under_way.extend(late);
    }
    three.settle();
    assert_eq!(three.delivered, [MESSAGES; 3]);
}
