//! The detection of quiescence: all processes are passive and no message of work is under way.
//!
//! Termination and deadlock are both quiescent. The program tells them apart by the processes'
//! reports.
//!
//! The method is F. Mattern's with four counters (*Algorithms for distributed termination
//! detection*, Distributed Computing 2, 1987). An initiator asks all processes how many messages
//! they have sent and received, in waves. It announces quiescence if one wave's received count
//! equals the next wave's sent count. Let R and S be the true numbers of received and sent
//! messages. Let t₂ be the end of the first wave and t₃ the beginning of the second. Let R* be the
//! first wave's received count and S′ the second wave's sent count. Counters only grow, so R* ≤
//! R(t₂) ≤ S(t₂) ≤ S(t₃) ≤ S′. If R* = S′ nothing was under way at t₂, and no process has sent
//! anything between t₂ and its answer to the second wave.
//!
//! Four things are added to it:
//!
//! - A process answers when it is passive, as Safra's token waits (E. W. Dijkstra, EWD 998, 1987).
//!   A wave waits for the active ones, without traffic.
//! - A wave begins where the one before counted alike, or where a process says that it has been
//!   active since its answer. A process says that once a wave. So no wave repeats without a cause.
//! - The initiator counts itself when a wave begins. It announces nothing if its program has been
//!   active since: a program that alone acts on verdicts, at the initiator, hears of none that is
//!   older than its act.
//! - The counters are edges, one for each peer. Messages to a process that has left, and all of one
//!   that is lost, are written off. A process that leaves tells each peer how many messages it has
//!   sent to it, and the peer counts for it from then on. Each change of the members begins the
//!   waves anew.
//!
//! The initiator is the process of the lowest rank that takes part. Of n processes a wave needs 2
//! (n − 1) messages and as many delays as a round trip. After the last activity there are at most
//! the change that a process says, two waves and the verdict: 6 (n − 1) messages and 6 delays.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::fault::{Fault, Mutant};
use super::wire::{pack, unpack};
use crate::Rank;
use crate::message::{DecodeError, Message};

mod counters;
#[cfg(test)]
mod tests;

pub use counters::Counters;
use counters::{Excluded, Sample};

/// A moment at which all processes were passive and no message of work was under way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Number of the verdict, from 1.
    pub number: u64,
    /// Reports of all processes that took part, by rank.
    pub reports: Vec<(Rank, Message)>,
    /// Processes that were lost until then, whose messages are written off.
    pub lost: Vec<Rank>,
}

/// An event of the detection, for the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// All was quiescent.
    Quiescent(Arc<Verdict>),
    /// A peer has taken this process for lost, so the others go on without it. This is the last
    /// event.
    Excluded {
        /// The peer.
        by: Rank,
    },
}

/// The actions that the detection asks for.
#[derive(Debug, Default)]
pub struct Output {
    /// Messages for links.
    pub sends: Vec<(Rank, Message)>,
    /// Events for the program.
    pub events: Vec<Event>,
    /// Peers to watch from now on.
    pub watch: Vec<Rank>,
    /// Peers to watch no more, from the earlier lists.
    pub unwatch: Vec<Rank>,
}

/// The way in which a process went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Departure {
    /// It left. It told each peer up to a rank how many messages it had sent there, since it knew
    /// no others.
    Left { knew: Rank },
    /// It was lost.
    Lost,
}

/// A message between the processes of the detection.
#[derive(Debug, Serialize, Deserialize)]
enum Letter {
    /// A wave: asks for counters.
    Ask {
        wave: u64,
        /// The last verdict that the initiator knows.
        verdict: u64,
        /// Whether the wave may end in a verdict.
        wants_report: bool,
        /// Processes that take part no more: the wave counts without them.
        gone: Vec<(Rank, Departure)>,
    },
    /// The answer of a passive process. Its report follows if it was wanted.
    Reply {
        wave: u64,
        /// The last verdict that the process knows.
        verdict: u64,
        sent: u64,
        received: u64,
        /// Peers that it has lost, and that the wave counts.
        lost: Vec<Rank>,
    },
    /// The process is passive, and was active since it answered a wave.
    Changed { wave: u64 },
    /// The sender takes part no more. It has sent so many messages to the receiver, and knew no
    /// process of a higher rank than `knew`.
    Left { sent: u64, knew: Rank },
    /// A verdict.
    Verdict {
        number: u64,
        reports: Vec<(Rank, Vec<u8>)>,
        lost: Vec<Rank>,
    },
    /// The receiver was taken for lost.
    Excluded,
}

/// This process's part.
#[derive(Debug)]
enum Part {
    /// It has not begun to count, so it counts as active.
    Before,
    /// It counts.
    In(Arc<Counters>),
    /// It has left, or was excluded.
    Over,
}

/// The knowledge of a process that takes part no more.
#[derive(Debug, Clone, Copy)]
enum Gone {
    /// It left, and had sent so many messages here. It knew no process of a higher rank than
    /// `knew`.
    Left { reported: u64, knew: Rank },
    /// It was lost.
    Lost,
}

impl Gone {
    fn departure(self) -> Departure {
        match self {
            Self::Left { knew, .. } => Departure::Left { knew },
            Self::Lost => Departure::Lost,
        }
    }
}

/// A wave that this process has not answered.
#[derive(Debug)]
struct Asked {
    by: Rank,
    wave: u64,
    wants_report: bool,
    gone: Vec<(Rank, Departure)>,
}

/// A wave that it has answered, without a report of activity since.
#[derive(Debug)]
struct Answered {
    by: Rank,
    wave: u64,
    activations: u32,
}

/// An initiator's state of its waves.
#[derive(Debug, Default)]
struct Lead {
    /// The last wave.
    wave: u64,
    /// Whether the last wave has not ended.
    is_open: bool,
    /// Processes that have not answered it.
    awaited: BTreeSet<Rank>,
    /// Counts of the wave.
    sent: u64,
    received: u64,
    reports: Vec<(Rank, Message)>,
    /// This process's number of activations when it was counted.
    activations: u32,
    /// Whether a process was active since its answer.
    is_changed: bool,
    /// Received count of the previous wave of the same processes.
    before: Option<u64>,
    /// Whether the next wave may begin.
    is_due: bool,
}

/// The detection at one process.
#[derive(Debug)]
pub struct Termination {
    rank: Rank,
    /// Bound below which all ranks are there, or were: founders, and processes that joined before
    /// this one.
    founders: u32,
    /// Processes that joined later.
    later: BTreeSet<Rank>,
    /// Processes that take part no more. A rank never comes back: a process restarted under it does
    /// not take part.
    gone: BTreeMap<Rank, Gone>,
    /// Processes that have left by an initiator's word. Their own has not come yet.
    leaving: BTreeSet<Rank>,
    /// Gone processes that are there again, and are to be told that they are excluded.
    back: BTreeSet<Rank>,
    part: Part,
    asked: Option<Asked>,
    answered: Option<Answered>,
    lead: Lead,
    verdict: Arc<Verdict>,
    /// Watched peers, and peers to watch.
    watched: Vec<Rank>,
    wanted: Vec<Rank>,
    out: Output,
    has_output: bool,
    fault: Fault,
}

impl Termination {
    /// Makes the part of a process in a session of `founders` founders.
    #[must_use]
    pub fn new(rank: Rank, founders: u32) -> Self {
        let lead = Lead {
            is_due: true,
            ..Lead::default()
        };
        Self {
            rank,
            // Ranks are given in turn, so all lower ones exist.
            founders: founders.max(rank + 1),
            later: BTreeSet::new(),
            gone: BTreeMap::new(),
            leaving: BTreeSet::new(),
            back: BTreeSet::new(),
            part: Part::Before,
            asked: None,
            answered: None,
            lead,
            verdict: Arc::default(),
            watched: Vec::new(),
            wanted: Vec::new(),
            out: Output::default(),
            has_output: false,
            fault: Fault::default(),
        }
    }

    /// Takes the actions, if there are any.
    pub fn take_output(&mut self) -> Option<Output> {
        if !std::mem::take(&mut self.has_output) {
            return None;
        }
        let mut out = std::mem::take(&mut self.out);
        if self.wanted != self.watched {
            out.watch.clone_from(&self.wanted);
            out.unwatch = std::mem::replace(&mut self.watched, self.wanted.clone());
        }
        Some(out)
    }

    /// Begins to count. Until then the process counts as active.
    pub fn enter(&mut self, counters: Arc<Counters>) {
        if let Part::Before = self.part {
            self.part = Part::In(counters);
            self.settle();
        }
    }

    /// Notes that the process has become passive. Needed where [`Counters::passive`] says so.
    pub fn passive(&mut self) {
        self.settle();
    }

    /// Leaves. The program sends no message of work after that, and takes none.
    pub fn leave(&mut self) {
        let Part::In(counters) = std::mem::replace(&mut self.part, Part::Over) else {
            return;
        };
        let knew = (self.later.last().copied()).unwrap_or(self.founders - 1);
        let others: Vec<Rank> = self.others().collect();
        for to in others {
            let sent = counters.sent_to(to);
            self.send(to, &Letter::Left { sent, knew }, Message::new());
        }
        self.end();
    }

    /// Notes that a process has joined, or is heard of again.
    pub fn joined(&mut self, rank: Rank) {
        if rank == self.rank {
            return;
        }
        if self.gone.contains_key(&rank) {
            // It may wait for a verdict that never comes to it.
            self.back.insert(rank);
            self.settle();
        } else if rank >= self.founders && self.later.insert(rank) {
            self.begin_anew();
            self.settle();
        }
    }

    fn departures(&self) -> Vec<(Rank, Departure)> {
        let gone = self.gone.iter();
        gone.map(|(rank, how)| (*rank, how.departure())).collect()
    }

    /// Notes that a process is lost, for certain or not.
    pub fn lost(&mut self, rank: Rank) {
        if self.is_known(rank) && !self.gone.contains_key(&rank) {
            self.goes(rank, Gone::Lost);
            self.settle();
        }
    }

    /// Takes a peer's message.
    ///
    /// # Errors
    ///
    /// It is none of this protocol's; nothing has changed.
    pub fn receive(&mut self, from: Rank, message: Message) -> Result<(), DecodeError> {
        let (letter, body) = unpack::<Letter>(message)?;
        if self.gone.contains_key(&from) {
            if let Letter::Ask { .. } = letter {
                self.send(from, &Letter::Excluded, Message::new());
            }
            return Ok(());
        }
        match letter {
            Letter::Ask {
                wave,
                verdict,
                wants_report,
                gone,
            } => {
                let asked = Asked {
                    by: from,
                    wave,
                    wants_report,
                    gone,
                };
                self.take_ask(asked, verdict);
            }
            Letter::Reply {
                wave,
                verdict,
                sent,
                received,
                lost,
            } => {
                if verdict < self.verdict.number {
                    self.send_verdict(from);
                }
                if self.lead.is_open && self.lead.wave == wave && self.lead.awaited.contains(&from)
                {
                    self.take_reply(from, (sent, received), &lost, body);
                }
            }
            Letter::Changed { wave } if self.lead.wave == wave => match self.lead.is_open {
                true => self.lead.is_changed = true,
                false => self.lead.is_due = true,
            },
            // The process answers a later wave after it said that.
            Letter::Changed { .. } => {}
            Letter::Left { sent, knew } => self.goes(
                from,
                Gone::Left {
                    reported: sent,
                    knew,
                },
            ),
            Letter::Verdict {
                number,
                reports,
                lost,
            } => {
                let reports = reports.into_iter();
                let reports = reports.map(|(rank, report)| (rank, report.into()));
                self.learn(Verdict {
                    number,
                    reports: reports.collect(),
                    lost,
                });
            }
            Letter::Excluded => self.exclude(from),
        }
        self.settle();
        Ok(())
    }

    fn take_ask(&mut self, asked: Asked, verdict: u64) {
        if self.leaving.contains(&asked.by) {
            // The initiator asked before it left, and its successor has asked since.
            return;
        }
        if (asked.gone.iter()).any(|(rank, _)| *rank == self.rank) {
            return self.exclude(asked.by);
        }
        for &(rank, departure) in &asked.gone {
            let is_new = self.is_known(rank) && !self.gone.contains_key(&rank);
            match departure {
                Departure::Lost if is_new => self.goes(rank, Gone::Lost),
                // The process has sent nothing here. A process that knew this one reports its count
                // to it.
                Departure::Left { knew } if is_new && knew < self.rank => {
                    self.goes(rank, Gone::Left { reported: 0, knew });
                }
                Departure::Left { .. } if is_new => {
                    self.leaving.insert(rank);
                }
                _ => {}
            }
        }
        if verdict < self.verdict.number {
            // The former initiator was lost while it sent that verdict.
            self.send_verdict(asked.by);
        }
        self.answered = None;
        self.asked = Some(asked);
    }

    fn take_reply(&mut self, from: Rank, counted: (u64, u64), lost: &[Rank], report: Message) {
        let is_news = |rank: &&Rank| {
            **rank != self.rank && self.is_known(**rank) && !self.gone.contains_key(*rank)
        };
        let lost: Vec<Rank> = lost.iter().filter(is_news).copied().collect();
        if !lost.is_empty() {
            return lost
                .into_iter()
                .for_each(|rank| self.goes(rank, Gone::Lost));
        }
        let lead = &mut self.lead;
        lead.awaited.remove(&from);
        lead.sent = lead.sent.wrapping_add(counted.0);
        lead.received = lead.received.wrapping_add(counted.1);
        lead.reports.push((from, report));
    }

    /// Notes that a process takes part no more.
    fn goes(&mut self, rank: Rank, how: Gone) {
        self.gone.insert(rank, how);
        self.leaving.remove(&rank);
        self.asked.take_if(|asked| asked.by == rank);
        self.answered.take_if(|answered| answered.by == rank);
        self.begin_anew();
    }

    /// Begins the waves anew, since the members have changed and earlier waves say nothing about
    /// them.
    fn begin_anew(&mut self) {
        self.lead.is_due = true;
        if self.fault.is(Mutant::GoesOnWithWave) {
            let gone = &self.gone;
            self.lead.awaited.retain(|rank| !gone.contains_key(rank));
            return;
        }
        self.lead.is_open = false;
        self.lead.before = None;
    }

    fn exclude(&mut self, by: Rank) {
        if let Part::Over = self.part {
            return;
        }
        self.part = Part::Over;
        self.tell(Event::Excluded { by });
        self.end();
    }

    fn end(&mut self) {
        (self.asked, self.answered) = (None, None);
        self.lead.is_open = false;
        self.watch();
    }

    /// Does what is possible now.
    fn settle(&mut self) {
        if let Part::In(counters) = &self.part {
            let counters = counters.clone();
            self.answer(&counters);
            if self.is_initiator() {
                while let Some(rank) = self.back.pop_first() {
                    self.send(rank, &Letter::Excluded, Message::new());
                }
                self.lead(&counters);
            }
            self.tell_change(&counters);
        }
        self.watch();
    }

    /// Answers a wave, if the process is passive and knows the counts of gone processes.
    fn answer(&mut self, counters: &Counters) {
        let is_resolved = |(rank, departure): &(Rank, Departure)| {
            *departure == Departure::Lost || self.gone.contains_key(rank) || !self.is_known(*rank)
        };
        let Some(asked) = (self.asked.as_ref()).filter(|asked| asked.gone.iter().all(is_resolved))
        else {
            return;
        };
        let gone: BTreeSet<Rank> = asked.gone.iter().map(|(rank, _)| *rank).collect();
        let Some(sample) = self.sample(counters, gone.iter().copied()) else {
            return;
        };
        let is_lost = |(_, how): &(&Rank, &Gone)| matches!(how, Gone::Lost);
        let lost = self.gone.iter().filter(is_lost).map(|(rank, _)| *rank);
        let reply = Letter::Reply {
            wave: asked.wave,
            verdict: self.verdict.number,
            sent: sample.sent,
            received: sample.received,
            lost: lost.filter(|rank| !gone.contains(rank)).collect(),
        };
        let report = match asked.wants_report {
            true => sample.report,
            false => Message::new(),
        };
        let (by, wave) = (asked.by, asked.wave);
        self.asked = None;
        self.answered = Some(Answered {
            by,
            wave,
            activations: sample.activations,
        });
        self.send(by, &reply, report);
    }

    fn sample(&self, counters: &Counters, gone: impl Iterator<Item = Rank>) -> Option<Sample> {
        let excluded = gone.map(|rank| Excluded {
            rank,
            reported: match self.gone.get(&rank) {
                Some(Gone::Left { reported, .. }) if !self.fault.is(Mutant::WritesOffLeft) => {
                    Some(*reported)
                }
                _ => None,
            },
        });
        let excluded: Vec<Excluded> = excluded.collect();
        #[cfg(feature = "mutants")]
        if self.fault.is(Mutant::CountsActive) {
            return Some(counters.read_anyhow(&excluded));
        }
        counters.sample_or_want(&excluded)
    }

    /// Reports activity since the answer, once the process is passive.
    fn tell_change(&mut self, counters: &Counters) {
        let Some(answered) = &self.answered else {
            return;
        };
        if counters.has_changed_or_want(answered.activations) && !self.fault.is(Mutant::NeverTells)
        {
            let (by, wave) = (answered.by, answered.wave);
            self.answered = None;
            self.send(by, &Letter::Changed { wave }, Message::new());
        }
    }

    /// Ends a wave that all have answered, and begins the next if there is cause.
    fn lead(&mut self, counters: &Counters) {
        loop {
            if self.lead.is_open {
                if !self.lead.awaited.is_empty() {
                    return;
                }
                self.close(counters);
            }
            let activations = self.lead.activations;
            if !self.lead.is_due && !counters.has_changed_or_want(activations) {
                return;
            }
            let Some(sample) = self.sample(counters, self.gone.keys().copied()) else {
                return;
            };
            self.open(sample);
        }
    }

    fn open(&mut self, sample: Sample) {
        let others: BTreeSet<Rank> = self.others().collect();
        let lead = &mut self.lead;
        lead.wave += 1;
        lead.is_open = true;
        (lead.sent, lead.received) = (sample.sent, sample.received);
        lead.activations = sample.activations;
        lead.reports = vec![(self.rank, sample.report)];
        (lead.is_due, lead.is_changed) = (false, false);
        let ask = Letter::Ask {
            wave: lead.wave,
            verdict: self.verdict.number,
            wants_report: lead.before.is_some() || self.fault.is(Mutant::TrustsOneWave),
            gone: self.departures(),
        };
        let ask = pack(&ask, Message::new());
        for &to in &others {
            self.give(to, ask.clone());
        }
        self.lead.awaited = others;
    }

    /// Closes the wave.
    ///
    /// This process was counted when the wave began. Its program may act on the verdict before,
    /// and then counts that are older than the act must not become the next one.
    fn close(&mut self, counters: &Counters) {
        let lead = &mut self.lead;
        lead.is_open = false;
        let is_balanced = lead.sent == lead.received;
        let trusts = is_balanced && self.fault.is(Mutant::TrustsOneWave);
        let announces_stale = self.fault.is(Mutant::AnnouncesStale);
        let is_stale = !announces_stale && !counters.is_as_in(lead.activations);
        let is_quiescent = (lead.before == Some(lead.sent) || trusts) && !is_stale;
        lead.before = (!is_quiescent).then_some(lead.received);
        lead.is_due = lead.is_changed || is_stale || (is_balanced && !is_quiescent);
        if !is_quiescent {
            return;
        }
        let mut reports = std::mem::take(&mut lead.reports);
        reports.sort_unstable_by_key(|(rank, _)| *rank);
        let is_lost = |(_, how): &(&Rank, &Gone)| matches!(how, Gone::Lost);
        let lost = self.gone.iter().filter(is_lost).map(|(rank, _)| *rank);
        let verdict = Verdict {
            number: self.verdict.number + 1,
            reports,
            lost: lost.collect(),
        };
        self.learn(verdict);
        let others: Vec<Rank> = self.others().collect();
        others.into_iter().for_each(|to| self.send_verdict(to));
    }

    fn learn(&mut self, verdict: Verdict) {
        if verdict.number > self.verdict.number {
            let has_part = (verdict.reports.iter()).any(|(rank, _)| *rank == self.rank);
            self.verdict = Arc::new(verdict);
            if self.is_in() && has_part {
                self.tell(Event::Quiescent(self.verdict.clone()));
            }
        }
    }

    fn send_verdict(&mut self, to: Rank) {
        let verdict = self.verdict.clone();
        let reports = verdict.reports.iter();
        let reports = reports.map(|(rank, report)| (*rank, report.to_bytes().to_vec()));
        let letter = Letter::Verdict {
            number: verdict.number,
            reports: reports.collect(),
            lost: verdict.lost.clone(),
        };
        self.send(to, &letter, Message::new());
    }

    fn is_in(&self) -> bool {
        matches!(self.part, Part::In(_))
    }

    fn is_known(&self, rank: Rank) -> bool {
        rank < self.founders || self.later.contains(&rank)
    }

    /// Returns the other processes that take part, by rank.
    fn others(&self) -> impl Iterator<Item = Rank> + '_ {
        let all = (0..self.founders).chain(self.later.iter().copied());
        all.filter(|rank| *rank != self.rank && !self.gone.contains_key(rank))
    }

    fn is_initiator(&self) -> bool {
        self.others().next().is_none_or(|first| first > self.rank)
    }

    /// Watches the peers whose loss would leave this process waiting.
    ///
    /// An initiator watches the processes whose answer or change it awaits. Any other process
    /// watches the next one below it. So one of them finds the loss of an initiator, and is the
    /// next.
    fn watch(&mut self) {
        let mut watch = Vec::new();
        if self.is_in() {
            if self.is_initiator() {
                match (self.lead.is_open, self.lead.before) {
                    (true, _) => watch.extend(&self.lead.awaited),
                    (false, Some(_)) => watch.extend(self.others()),
                    (false, None) => {}
                }
            } else {
                watch.extend(self.others().take_while(|rank| *rank < self.rank).last());
            }
            let gone = self.asked.iter().flat_map(|asked| &asked.gone);
            let silent = gone.map(|(rank, _)| *rank);
            let is_unresolved = |rank: &Rank| self.is_known(*rank) && !self.gone.contains_key(rank);
            watch.extend(silent.filter(is_unresolved));
        }
        self.has_output |= watch != self.watched;
        self.wanted = watch;
    }

    fn tell(&mut self, event: Event) {
        self.out.events.push(event);
        self.has_output = true;
    }

    fn send(&mut self, to: Rank, letter: &Letter, body: Message) {
        self.give(to, pack(letter, body));
    }

    fn give(&mut self, to: Rank, message: Message) {
        self.out.sends.push((to, message));
        self.has_output = true;
    }
}
