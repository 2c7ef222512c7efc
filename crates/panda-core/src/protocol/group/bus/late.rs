//! A group at a process that came after the session's begin, and has not seen the earlier joins.
//!
//! The process asks by a broadcast, so that the question has a place in the order. Each other
//! process answers with the group's state at that place, or that it came late itself and never
//! asked. Events after that place wait for an answer. If none that knew is there any more, the
//! group begins anew.
//!
//! A process that waits for its own answer replies when it has that. So waits only go to earlier
//! questions, and end. If all processes that may know are there and silent, the question is given
//! up: no other process can replace their knowledge.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Note, Standing};
use crate::Rank;
use crate::message::Message;

/// The state of a process that does not know a group.
#[derive(Debug)]
pub struct Late {
    /// The other processes that are there.
    here: BTreeSet<Rank>,
    /// Id of the next question.
    next: QuestionId,
    question: Option<Question>,
}

/// The id of a question, unique among all processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionId {
    /// Birth of the process: answers to an earlier life's questions are useless.
    birth: u64,
    number: u32,
}

/// The state of a question.
#[derive(Debug)]
struct Question {
    asked: QuestionId,
    /// Processes that were there at its place, once it has one. A later process has not seen more
    /// than this one.
    waits_for: BTreeSet<Rank>,
    /// Processes that do not know either.
    unknowing: BTreeSet<Rank>,
    /// Processes that are there and silent.
    silent: BTreeSet<Rank>,
    reported: Option<Standing>,
    /// Events since its place, once it has one.
    since: Option<Vec<Heard>>,
}

/// An event that waits for an answer.
#[derive(Debug)]
pub enum Heard {
    Note(Rank, Note, Message),
    Lost(Rank),
}

impl Late {
    /// Makes the state before anything is known of other processes.
    pub fn new(birth: u64) -> Self {
        Self {
            here: BTreeSet::new(),
            next: QuestionId { birth, number: 0 },
            question: None,
        }
    }

    /// Returns whether it has asked.
    pub fn has_asked(&self) -> bool {
        self.question.is_some()
    }

    /// Makes a question, unless one has been asked.
    pub fn ask(&mut self) -> Option<Note> {
        if self.question.is_some() {
            return None;
        }
        let asked = self.next;
        self.next.number += 1;
        self.question = Some(Question {
            asked,
            waits_for: BTreeSet::new(),
            unknowing: BTreeSet::new(),
            silent: BTreeSet::new(),
            reported: None,
            since: None,
        });
        Some(Note::Ask { asked })
    }

    /// Notes that another process is there.
    pub fn joined(&mut self, rank: Rank) {
        self.here.insert(rank);
    }

    /// Notes that another process is gone, and answers nothing.
    pub fn lost(&mut self, rank: Rank) {
        self.here.remove(&rank);
        if let Some(question) = &mut self.question {
            question.waits_for.remove(&rank);
            if let Some(since) = &mut question.since {
                since.push(Heard::Lost(rank));
            }
        }
    }

    /// Notes that another process is silent, and may still be there.
    pub fn is_silent(&mut self, rank: Rank) {
        if let Some(question) = &mut self.question {
            question.silent.insert(rank);
        }
    }

    /// Takes a note, and returns the answer to it.
    pub fn hear(&mut self, from: Rank, is_own: bool, note: Note, payload: Message) -> Option<Note> {
        let own = self.question.as_mut();
        match note {
            Note::Tell { asked, standing } => {
                // An answer may come before the question has its place here.
                if let Some(own) = own.filter(|question| question.asked == asked) {
                    own.reported_by(from, standing);
                }
                return None;
            }
            Note::Ask { asked } if is_own => {
                if let Some(own) = own.filter(|question| question.asked == asked) {
                    own.is_placed(&self.here);
                }
                return None;
            }
            _ => {}
        }
        match own.and_then(|question| question.since.as_mut()) {
            Some(since) => since.push(Heard::Note(from, note, payload)),
            None => return unknown(note),
        }
        None
    }

    /// Returns the processes to watch: those that were asked, if they are known and the answer is
    /// not.
    pub fn waits_for(&self) -> Vec<Rank> {
        let question = self.question.iter();
        question
            .flat_map(|question| question.waits_for.iter().copied())
            .collect()
    }

    /// Returns the group's state at the question's place, and the events since, once both are
    /// known.
    pub fn settle(&mut self) -> Option<(Standing, Vec<Heard>)> {
        let question = self.question.take_if(|question| question.is_settled())?;
        Some((question.reported.unwrap_or_default(), question.since?))
    }

    /// Gives the question up if all awaited processes are silent, and returns them.
    pub fn give_up(&mut self) -> Option<Vec<Rank>> {
        let question = self.question.take_if(|question| question.is_in_vain())?;
        Some(question.waits_for.into_iter().collect())
    }
}

/// Returns the answer to a note of a group that this process does not know.
fn unknown(note: Note) -> Option<Note> {
    let Note::Ask { asked } = note else {
        return None;
    };
    let standing = None;
    Some(Note::Tell { asked, standing })
}

impl Question {
    fn is_placed(&mut self, here: &BTreeSet<Rank>) {
        self.since = Some(Vec::new());
        self.waits_for = here.difference(&self.unknowing).copied().collect();
    }

    fn reported_by(&mut self, from: Rank, standing: Option<Standing>) {
        match standing {
            Some(standing) => drop(self.reported.get_or_insert(standing)),
            None => {
                self.waits_for.remove(&from);
                self.unknowing.insert(from);
            }
        }
    }

    fn is_settled(&self) -> bool {
        self.since.is_some() && (self.reported.is_some() || self.waits_for.is_empty())
    }

    fn is_in_vain(&self) -> bool {
        self.since.is_some() && self.waits_for.is_subset(&self.silent)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::time::Duration;

    use super::super::{Bus, GroupEvent, Myself, Order, Output};
    use super::*;
    use crate::protocol::group::Recipients;

    /// Members over a bus: what each of them has still to take.
    struct Bench {
        buses: Vec<Bus>,
        queues: Vec<VecDeque<(Rank, Message)>>,
        seen: Vec<Vec<GroupEvent>>,
        is_over: Vec<bool>,
    }

    impl Bench {
        /// So many founders.
        fn of(founders: u32) -> Self {
            let mut bench = Self {
                buses: Vec::new(),
                queues: Vec::new(),
                seen: Vec::new(),
                is_over: Vec::new(),
            };
            (0..founders).for_each(|_| bench.come(founders));
            bench
        }

        /// One more process.
        fn come(&mut self, founders: u32) {
            let rank = self.buses.len() as Rank;
            let mut bus = Bus::new(Myself {
                rank,
                size: founders,
                is_founder: rank < founders,
                birth: 7,
                silence: Duration::from_secs(1),
            });
            (0..rank).for_each(|other| bus.joined(other));
            self.buses.iter_mut().for_each(|other| other.joined(rank));
            self.buses.push(bus);
            self.queues.push(VecDeque::new());
            self.seen.push(Vec::new());
            self.is_over.push(false);
        }

        /// Has one do something, and puts what it sends into the queues.
        fn act(&mut self, rank: usize, act: impl FnOnce(&mut Bus, &mut Output)) {
            let mut out = Output::default();
            act(&mut self.buses[rank], &mut out);
            for frame in out.broadcasts {
                for queue in &mut self.queues {
                    queue.push_back((rank as Rank, frame.clone()));
                }
            }
            for (to, frame) in out.sends {
                let Recipients::One(to) = to else {
                    panic!("it sends to one")
                };
                self.queues[to as usize].push_back((rank as Rank, frame));
            }
            self.seen[rank].extend(out.events);
        }

        fn join(&mut self, rank: usize) {
            self.act(rank, |bus, out| bus.join(Duration::ZERO, out));
        }

        fn send(&mut self, rank: usize, text: &str) {
            let payload = Message::of(&text).expect("packed");
            self.act(rank, |bus, out| bus.send(Duration::ZERO, payload, out));
        }

        /// One takes what is in its queue; whether there was anything.
        fn take(&mut self, rank: usize) -> bool {
            if self.is_over[rank] {
                return false;
            }
            let has_any = !self.queues[rank].is_empty();
            while let Some((from, frame)) = self.queues[rank].pop_front() {
                self.act(rank, |bus, out| {
                    bus.receive(Duration::ZERO, from, frame, out).expect("read");
                });
            }
            has_any
        }

        /// A process leaves, at the same place of all queues.
        fn ends(&mut self, rank: usize) {
            self.is_over[rank] = true;
            for other in (0..self.buses.len()).filter(|other| *other != rank) {
                self.take(other);
                self.act(other, |bus, out| {
                    bus.lost(Duration::ZERO, rank as Rank, true, out);
                });
            }
        }

        fn settle(&mut self) {
            while (0..self.buses.len()).any(|rank| self.take(rank)) {}
        }

        /// Members of the last view that one has seen, and its number.
        fn view(&self, rank: usize) -> (u64, Vec<Rank>) {
            let views = self.seen[rank].iter().rev();
            let mut views = views.filter_map(|event| match event {
                GroupEvent::View {
                    number, members, ..
                } => Some((*number, members.clone())),
                _ => None,
            });
            views.next().expect("it is in")
        }

        /// Texts that one was given, with their places.
        fn texts(&self, rank: usize) -> Vec<(u64, String)> {
            let texts = self.seen[rank].iter().filter_map(|event| match event {
                GroupEvent::Message { place, payload, .. } => {
                    Some((*place, payload.value().expect("a text")))
                }
                _ => None,
            });
            texts.collect()
        }
    }

    #[test]
    fn who_comes_late_knows_the_members_and_goes_on_at_their_places() {
        let mut bench = Bench::of(2);
        bench.join(0);
        bench.settle();
        bench.send(0, "before");
        bench.settle();
        bench.come(2);
        bench.join(2);
        // The question and the wish to join have their places; what follows comes before any
        // answer.
        bench.send(0, "with it");
        bench.take(2);
        assert!(bench.seen[2].is_empty(), "{:?}", bench.seen[2]);
        bench.settle();
        assert_eq!(bench.view(2), (2, vec![0, 2]));
        assert_eq!(bench.view(2), bench.view(0));
        // Behind two views and another message.
        assert_eq!(bench.texts(2), [(4, "with it".to_owned())]);
        bench.send(2, "after");
        bench.settle();
        assert_eq!(bench.texts(0)[1..], bench.texts(2));
    }

    #[test]
    fn answers_may_come_before_the_question_has_its_place() {
        let mut bench = Bench::of(1);
        bench.join(0);
        bench.settle();
        bench.come(1);
        bench.join(1);
        let own: Vec<_> = bench.queues[1].drain(..).collect();
        bench.take(0);
        bench.take(1);
        assert!(bench.seen[1].is_empty(), "{:?}", bench.seen[1]);
        bench.queues[1].extend(own);
        bench.settle();
        assert_eq!(bench.view(1), (2, vec![0, 1]));
    }

    #[test]
    fn one_who_came_late_and_asked_tells_when_it_knows() {
        let mut bench = Bench::of(1);
        bench.join(0);
        bench.settle();
        bench.come(1);
        bench.come(1);
        bench.join(1);
        bench.join(2);
        // Both have asked, and the founder answers the first alone before it ends.
        let (from, question) = bench.queues[0].pop_front().expect("a question");
        bench.act(0, |bus, out| {
            bus.receive(Duration::ZERO, from, question, out)
                .expect("read");
        });
        bench.ends(0);
        bench.settle();
        assert_eq!(bench.view(1), bench.view(2));
        assert_eq!(bench.view(2).1, [1, 2]);
    }

    #[test]
    fn a_group_that_nobody_knows_any_more_begins_anew() {
        let mut bench = Bench::of(1);
        bench.join(0);
        bench.settle();
        bench.come(1);
        bench.come(1);
        bench.ends(0);
        bench.join(1);
        bench.settle();
        assert_eq!(bench.view(1), (1, vec![1]));
        bench.join(2);
        bench.settle();
        assert_eq!(bench.view(2), (2, vec![1, 2]));
    }

    /// The only one that knows is silent, and then goes on.
    #[test]
    fn who_asks_those_that_are_silent_is_told_so_and_may_ask_again() {
        let mut bench = Bench::of(1);
        bench.join(0);
        bench.settle();
        bench.come(1);
        bench.come(1);
        bench.join(1);
        let is_silent = |bench: &mut Bench, rank| {
            bench.act(1, |bus, out| bus.lost(Duration::ZERO, rank, false, out));
        };
        is_silent(&mut bench, 2);
        // The question has its place, and that one knows nothing.
        for rank in [1, 2, 1] {
            bench.take(rank);
        }
        assert!(bench.seen[1].is_empty(), "{:?}", bench.seen[1]);
        is_silent(&mut bench, 0);
        let why = match &bench.seen[1][..] {
            [GroupEvent::Expelled { why }] => why.clone(),
            other => panic!("{other:?}"),
        };
        assert!(why.contains("rank 0 did not answer"), "{why}");
        assert!(!bench.buses[1].is_member());
        // What it says at last answers an earlier question; it has the other in and out again.
        bench.settle();
        assert_eq!(bench.view(0), (3, vec![0]));
        bench.join(1);
        bench.settle();
        assert_eq!(bench.view(1), (4, vec![0, 1]));
        assert_eq!(bench.view(0), bench.view(1));
    }

    #[test]
    fn an_answer_to_an_earlier_life_is_none() {
        let [early, own] = [1, 2].map(|birth| QuestionId { birth, number: 0 });
        let mut late = Late::new(2);
        late.joined(0);
        assert!(late.ask().is_some());
        let hears = |late: &mut Late, from, note| {
            let answer = late.hear(from, from == 5, note, Message::new());
            assert!(answer.is_none());
        };
        hears(&mut late, 5, Note::Ask { asked: early });
        assert!(late.settle().is_none());
        let standing = Some(Standing::default());
        let asked = early;
        hears(&mut late, 0, Note::Tell { asked, standing });
        hears(&mut late, 5, Note::Ask { asked: own });
        assert!(late.settle().is_none(), "the other one may know");
        late.lost(0);
        assert!(late.settle().is_some());
    }
}
