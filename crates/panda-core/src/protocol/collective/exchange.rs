//! One operation on arrays at one process: its progress in its [plan](super::plan), and early
//! messages.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::array::{Merging, Numbers, Signature, wrong_length};
use super::combine::Work;
use super::plan::{Round, Take};
use super::{Collectives, Combining, Key, Operation, Outcome, Part, Shape, Step, WINDOW};
use crate::Rank;
use crate::message::Message;
use crate::protocol::Time;
use crate::protocol::fault::Mutant;
use crate::protocol::requests::{Failure, RequestId};

pub(super) struct Exchange {
    pub id: RequestId,
    pub begun: Time,
    pub ranks: Arc<[Rank]>,
    pub myself: Rank,
    pub shape: Shape,
    numbers: Numbers,
    place: usize,
    root: usize,
    rounds: Vec<Round>,
    neighbours: Vec<Rank>,
    /// Index of the current round.
    at: usize,
    has_sent: bool,
    /// Whether this round's numbers are being combined.
    is_merging: bool,
    /// Message to the peer of this round, or of the next one that sends.
    outgoing: Message,
    /// Messages for later rounds.
    arrived: BTreeMap<u8, Message>,
}

impl std::fmt::Debug for Exchange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (at, of) = (self.at, self.rounds.len());
        write!(f, "Exchange({:?}, round {at} of {of})", self.numbers)
    }
}

impl Part {
    /// Returns the peers of some rounds, each once.
    pub(super) fn of_rounds(&self, rounds: &[Round]) -> Vec<Rank> {
        let mut ranks: Vec<Rank> = rounds.iter().map(|it| self.rank_at(it.peer)).collect();
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }
}

impl Exchange {
    /// Makes this process's part in an operation; returns `None` if it is of another kind.
    pub fn new(now: Time, part: &mut Part, is_joint: bool) -> Option<Self> {
        let (place, count) = (part.place(), part.ranks.len());
        let shape = part.shape();
        let Operation::Numbers(numbers) = &part.operation else {
            return None;
        };
        let rounds = numbers.rounds(place, count, is_joint);
        let mut outgoing = std::mem::take(&mut part.value);
        let first = rounds.first().and_then(|round| round.sends.clone());
        if let Some(first) = first.filter(|_| !numbers.way.in_parts) {
            outgoing.advance(first.start * numbers.size);
            outgoing = outgoing.split_to(first.len() * numbers.size).ok()?;
        }
        Some(Self {
            id: part.id,
            begun: now,
            ranks: part.ranks.clone(),
            myself: part.ranks[part.at],
            shape,
            numbers: numbers.clone(),
            place,
            root: part.root,
            neighbours: part.of_rounds(&rounds),
            rounds,
            at: 0,
            has_sent: false,
            is_merging: false,
            outgoing,
            arrived: BTreeMap::new(),
        })
    }

    pub fn neighbours(&self) -> Vec<Rank> {
        self.neighbours.clone()
    }

    pub fn signature(&self) -> Signature {
        self.numbers.signature
    }

    fn rank_of(&self, round: &Round) -> Rank {
        self.ranks[(round.peer + self.root) % self.ranks.len()]
    }

    /// Returns whether a message of this peer is still to come.
    pub fn waits_for(&self, peer: Rank) -> bool {
        let to_come = self
            .rounds
            .iter()
            .skip(self.at + usize::from(self.is_merging));
        to_come
            .filter(|round| round.takes.is_some() && self.rank_of(round) == peer)
            .any(|round| !self.arrived.contains_key(&round.number))
    }

    /// Keeps numbers for a round to come. Returns the received and the expected length if they
    /// differ.
    fn keep(&mut self, from: Rank, number: u8, came: Message) -> Result<(), (usize, usize)> {
        let to_come = &self.rounds[self.at + usize::from(self.is_merging)..];
        let Some(round) = to_come.iter().find(|round| round.number == number) else {
            return Ok(());
        };
        let Some((_, of)) = round.takes.as_ref().filter(|_| self.rank_of(round) == from) else {
            return Ok(());
        };
        let due = of.len() * self.numbers.size;
        if came.len() != due {
            return Err((came.len(), due));
        }
        self.arrived.entry(number).or_insert(came);
        Ok(())
    }

    /// Does what is possible now, and returns whether that was all.
    fn advance(&mut self, key: Key, leaves_out: bool, out: &mut Outcome) -> bool {
        while !self.is_merging {
            let Some(round) = self.rounds.get(self.at) else {
                return true;
            };
            if round.sends.is_some() && !self.has_sent {
                let numbers = self.outgoing.clone();
                let part = Step::Part(self.shape, self.signature(), round.number, numbers);
                out.sends.push((self.rank_of(round), key, part));
                self.has_sent = true;
            }
            if round.takes.is_none() {
                self.next(Message::new());
            } else if let Some(came) = self.arrived.remove(&round.number) {
                let work = Work::Array(self.merging(came, leaves_out));
                let myself = self.myself;
                out.combine.push(Combining { key, myself, work });
                self.is_merging = true;
            } else {
                return false;
            }
        }
        false
    }

    fn merging(&mut self, came: Message, leaves_out: bool) -> Merging {
        let round = &self.rounds[self.at];
        let (take, of) = round.takes.clone().unwrap_or((Take::Put, 0..0));
        let next = self.rounds.get(self.at + 1);
        Merging {
            array: self.numbers.array.clone(),
            from: self.rank_of(round),
            // An injected fault: nothing of what came is combined.
            of: if leaves_out && take == Take::Combine {
                0..0
            } else {
                of
            },
            take,
            came,
            others_first: round.peer < self.place,
            sent: round
                .sends
                .is_some()
                .then(|| std::mem::take(&mut self.outgoing)),
            next: next.and_then(|next| next.sends.clone()),
        }
    }

    fn next(&mut self, outgoing: Message) {
        self.outgoing = outgoing;
        self.at += 1;
        self.has_sent = false;
        self.is_merging = false;
    }
}

impl Collectives {
    /// Begins an operation on arrays, and returns the peers to watch.
    pub(super) fn begin_exchange(
        &mut self,
        key: Key,
        exchange: Exchange,
        out: &mut Outcome,
    ) -> Vec<Rank> {
        let watched = exchange.neighbours();
        self.exchanges.insert(key, exchange);
        match self.early.failure(key) {
            Some(failure) => self.fail(key, &failure, None, out),
            None => self.go_on(key, out),
        }
        for (from, step) in self.early.take(key) {
            self.take(from, key, step, out);
        }
        watched
    }

    /// Takes a neighbour's step in a running operation on arrays.
    pub(super) fn take_in_exchange(&mut self, from: Rank, key: Key, step: Step, out: &mut Outcome) {
        let Some(exchange) = self.exchanges.get_mut(&key) else {
            return;
        };
        match step {
            Step::Up(shape, _)
            | Step::Down(shape, _)
            | Step::More(shape, _)
            | Step::Part(shape, ..)
            | Step::Ask(shape)
                if shape != exchange.shape =>
            {
                self.disagree(key, from, out);
            }
            Step::Part(_, theirs, ..) if theirs != exchange.signature() => {
                let why = exchange.signature().differs(theirs, exchange.myself);
                // The neighbour is told this process's signature.
                let rank = exchange.myself;
                let to_them = theirs.differs(exchange.signature(), from);
                let reported = Failure::Mismatch { rank, why: to_them };
                out.sends.push((from, key, Step::Failed(reported)));
                self.fail(key, &Failure::Mismatch { rank: from, why }, Some(from), out);
            }
            Step::Part(_, _, round, came) => match exchange.keep(from, round, came) {
                Ok(()) => self.go_on(key, out),
                Err((have, due)) => {
                    let why = wrong_length(have, due, key);
                    self.fail(key, &Failure::Mismatch { rank: from, why }, None, out);
                }
            },
            Step::Combined(next) if from == exchange.myself && exchange.is_merging => {
                exchange.next(next);
                self.go_on(key, out);
            }
            _ => {}
        }
    }

    fn go_on(&mut self, key: Key, out: &mut Outcome) {
        let leaves_out = self.fault.is(Mutant::LeavesOut);
        let Some(exchange) = self.exchanges.get_mut(&key) else {
            return;
        };
        if exchange.advance(key, leaves_out, out)
            && let Some(exchange) = self.exchanges.remove(&key)
        {
            out.ended
                .push((exchange.id, exchange.neighbours, Ok(Vec::new())));
        }
    }
}

/// Returns whether the operation of this number waits for all members, whatever it is.
pub(super) fn is_joint(number: u64) -> bool {
    number.is_multiple_of(WINDOW)
}
