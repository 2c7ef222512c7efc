//! A group to a process that came when the session had begun: it has not seen who joined before.
//!
//! It asks by a multicast, so that the question has a place in the order. Each of the others tells how the group stands at that place, or that it came late itself and never asked. What comes
//! after that place waits until somebody has told; if nobody can, since none of those that knew is there any more, the group begins anew. Who was asked while it waited for an answer to its own
//! question tells when it has that one: so waits only go to earlier questions, and end.

use std::collections::BTreeSet;

use super::{Note, Standing};
use crate::message::Message;
use crate::platform::Rank;

/// What a process has of a group that it does not know.
#[derive(Debug)]
pub struct Late {
    /// This life of the process: answers to an earlier one's question are of no use.
    birth: u64,
    /// The others that are there; once its question has its place, those of them that were there then.
    here: BTreeSet<Rank>,
    has_asked: bool,
    /// Those of them that do not know either.
    unknowing: BTreeSet<Rank>,
    told: Option<Standing>,
    /// What has come since its question, once that has its place.
    since: Option<Vec<Heard>>,
}

/// What waits for an answer.
#[derive(Debug)]
pub enum Heard {
    Note(Rank, Note, Message),
    Lost(Rank),
}

impl Late {
    /// Before anything is known of who else is there.
    pub fn new(birth: u64) -> Self {
        Self {
            birth,
            here: BTreeSet::new(),
            has_asked: false,
            unknowing: BTreeSet::new(),
            told: None,
            since: None,
        }
    }

    /// Whether it has asked.
    pub fn has_asked(&self) -> bool {
        self.has_asked
    }

    /// The question, unless it has been asked.
    pub fn ask(&mut self) -> Option<Note> {
        let birth = self.birth;
        (!std::mem::replace(&mut self.has_asked, true)).then_some(Note::Ask { birth })
    }

    /// Another process is there.
    pub fn joined(&mut self, rank: Rank) {
        // Who comes after the question has not seen more than it.
        if self.since.is_none() {
            self.here.insert(rank);
        }
    }

    /// Another process is there no more, and answers nothing.
    pub fn lost(&mut self, rank: Rank) {
        self.here.remove(&rank);
        if let Some(since) = &mut self.since {
            since.push(Heard::Lost(rank));
        }
    }

    /// Takes a note. What it answers to a question.
    pub fn hear(&mut self, from: Rank, is_own: bool, note: Note, payload: Message) -> Option<Note> {
        match (note, &mut self.since) {
            (Note::Tell { birth, standing }, _) => self.told_by(from, birth, standing),
            (Note::Ask { birth }, None) if is_own => {
                self.since = (birth == self.birth).then(Vec::new);
            }
            (Note::Ask { birth }, None) => {
                let standing = None;
                return Some(Note::Tell { birth, standing });
            }
            (note, Some(since)) => since.push(Heard::Note(from, note, payload)),
            (Note::Join | Note::Leave | Note::Data, None) => {}
        }
        None
    }

    /// An answer; it may come before the question has its place here.
    fn told_by(&mut self, from: Rank, birth: u64, standing: Option<Standing>) {
        match standing {
            _ if birth != self.birth => {}
            None => drop(self.unknowing.insert(from)),
            Some(standing) => drop(self.told.get_or_insert(standing)),
        }
    }

    /// How the group stood at the place of the question, and what has come since, once that is known.
    pub fn settle(&mut self) -> Option<(Standing, Vec<Heard>)> {
        let is_told = self.told.is_some() || self.here.is_subset(&self.unknowing);
        let since = self.since.take_if(|_| is_told)?;
        Some((self.told.take().unwrap_or_default(), since))
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
            for frame in out.multicasts {
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
        // The question and the wish to join have their places; what follows comes before any answer.
        bench.send(0, "with it");
        bench.take(2);
        assert!(bench.seen[2].is_empty(), "{:?}", bench.seen[2]);
        bench.settle();
        assert_eq!(bench.view(2), (2, vec![0, 2]));
        assert_eq!(bench.view(2), bench.view(0));
        assert_eq!(bench.texts(2), [(2, "with it".to_owned())]);
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

    #[test]
    fn an_answer_to_an_earlier_life_is_none() {
        let mut late = Late::new(2);
        late.joined(0);
        assert!(late.ask().is_some());
        let own = Note::Ask { birth: 1 };
        assert!(late.hear(5, true, own, Message::new()).is_none());
        let standing = Some(Standing::default());
        let old = Note::Tell { birth: 1, standing };
        late.hear(0, false, old, Message::new());
        assert!(late.settle().is_none());
        let own = Note::Ask { birth: 2 };
        late.hear(5, true, own, Message::new());
        assert!(late.settle().is_none(), "the other one may know");
        late.lost(0);
        assert!(late.settle().is_some());
    }
}
