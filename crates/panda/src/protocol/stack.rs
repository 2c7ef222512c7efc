//! All protocols of one process: which message goes to which of them, and what they want done.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::collective::{self, Collectives, Key, Part, Step};
use super::group::{GroupEvent, Myself, Order, Output, Recipients};
use super::link::{Arrival, Links};
use super::pulse::Pulse;
use super::requests::{Ended, Failure, RequestId, Requests};
use super::{Time, wire};
use crate::message::{DecodeError, Message};
use crate::platform::Rank;

/// A group's name as a number, the same at all processes.
pub type GroupId = u64;

/// Groups that were heard of and not joined: only a faulty peer names more.
const STRANGE_GROUPS_MAX: usize = 1024;
/// Bytes that wait in a link before senders are asked to wait, and to which they must fall before they are not.
const FULL: usize = 4 << 20;
const ROOM: usize = FULL / 2;

/// What the protocols want done, in this order.
#[derive(Debug)]
pub enum Action {
    /// Give a frame to the platform.
    Send(Rank, Message),
    /// Give a frame to the platform's ordered multicast.
    Multicast(Message),
    /// Hand something to the program.
    Deliver(Delivery),
    /// A synchronous send or a call has ended.
    Complete(RequestId, Result<Message, Failure>),
    /// A collective operation has ended.
    Collected(RequestId, Result<Vec<Bytes>, Failure>),
    /// A peer is lost; in words why, to follow its name.
    Lost(Rank, String),
    /// So much waits for a peer that a thread that may wait should send no more to it now.
    Full(Rank),
    /// That is over.
    Room(Rank),
}

/// What a program is handed.
#[derive(Debug)]
pub enum Delivery {
    /// A message for a port.
    Port {
        /// Its sender.
        from: Rank,
        /// The port's name as a number.
        port: u64,
        /// The sender's tag.
        tag: u32,
        /// What was sent.
        payload: Message,
    },
    /// A call; it is answered by [`Stack::reply`].
    Call {
        /// The caller.
        from: Rank,
        /// The service's name as a number.
        service: u64,
        /// The caller's number for it.
        id: RequestId,
        /// The arguments.
        payload: Message,
    },
    /// An event of a group.
    Group(GroupId, GroupEvent),
}

/// What a message is, and for whom.
#[derive(Serialize, Deserialize)]
enum Envelope {
    Port {
        port: u64,
        tag: u32,
        receipt: Option<RequestId>,
    },
    Receipt {
        id: RequestId,
    },
    Call {
        service: u64,
        id: RequestId,
    },
    Reply {
        id: RequestId,
        kind: Answer,
    },
    Group {
        group: GroupId,
    },
    Collective {
        key: Key,
    },
    Pulse {
        asks: bool,
    },
}

/// How a call was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// With a value.
    Value,
    /// There is no such service.
    NoService,
    /// The call was dropped.
    NoReply,
}

/// The protocols of one process over links `L`, with groups ordered by `O`.
#[derive(Debug)]
pub struct Stack<L, O> {
    myself: Myself,
    largest: usize,
    links: HashMap<Rank, L>,
    /// Peers for which much waits.
    full: BTreeSet<Rank>,
    timers: BTreeSet<(Time, Rank)>,
    timer_of: HashMap<Rank, Time>,
    groups: BTreeMap<GroupId, O>,
    watched_by: HashMap<GroupId, Vec<Rank>>,
    touched: BTreeSet<GroupId>,
    requests: Requests,
    collectives: Collectives,
    pulse: Pulse,
    /// Lost for certain, and not come again.
    gone: BTreeMap<Rank, String>,
    /// Watched although gone.
    regone: BTreeSet<Rank>,
    to_self: Vec<Message>,
    actions: Vec<Action>,
}

impl<L: Links, O: Order> Stack<L, O> {
    /// The protocols of a process over frames of at most `largest` bytes.
    #[must_use]
    pub fn new(myself: Myself, largest: usize) -> Self {
        Self {
            myself,
            largest,
            links: HashMap::new(),
            full: BTreeSet::new(),
            timers: BTreeSet::new(),
            timer_of: HashMap::new(),
            groups: BTreeMap::new(),
            watched_by: HashMap::new(),
            touched: BTreeSet::new(),
            requests: Requests::default(),
            collectives: Collectives::default(),
            pulse: Pulse::new(myself.silence),
            gone: BTreeMap::new(),
            regone: BTreeSet::new(),
            to_self: Vec::new(),
            actions: Vec::new(),
        }
    }

    /// What is to be done now. Empty again afterwards.
    pub fn actions(&mut self) -> &mut Vec<Action> {
        &mut self.actions
    }

    /// Bytes that wait to be sent or acknowledged.
    #[must_use]
    pub fn backlog(&self) -> usize {
        self.links.values().map(Links::backlog).sum()
    }

    // What the program wants.

    /// Sends to a port without waiting.
    pub fn send(&mut self, now: Time, to: Rank, port: u64, tag: u32, payload: Message) {
        self.post(
            now,
            to,
            &Envelope::Port {
                port,
                tag,
                receipt: None,
            },
            payload,
        );
    }

    /// Sends to a port; the request ends when the message has been handed over there.
    pub fn send_synchronously(
        &mut self,
        now: Time,
        to: Rank,
        port: u64,
        tag: u32,
        payload: Message,
        deadline: Option<Time>,
    ) -> RequestId {
        let id = self.begin(now, to, deadline);
        self.post(
            now,
            to,
            &Envelope::Port {
                port,
                tag,
                receipt: Some(id),
            },
            payload,
        );
        id
    }

    /// Calls a service; the request ends with the reply.
    pub fn call(
        &mut self,
        now: Time,
        to: Rank,
        service: u64,
        payload: Message,
        deadline: Option<Time>,
    ) -> RequestId {
        let id = self.begin(now, to, deadline);
        self.post(now, to, &Envelope::Call { service, id }, payload);
        id
    }

    /// Answers a call.
    pub fn reply(&mut self, now: Time, to: Rank, id: RequestId, kind: Answer, payload: Message) {
        self.post(now, to, &Envelope::Reply { id, kind }, payload);
    }

    /// Begins this process's part of a collective operation.
    pub fn collect(&mut self, now: Time, part: Part) {
        let mut out = collective::Outcome::default();
        let watched = self.collectives.begin(part, &mut out);
        watched.iter().for_each(|rank| self.watch(*rank, now));
        self.collective_outcome(now, out);
    }

    /// Does something with a group.
    pub fn group<R>(
        &mut self,
        now: Time,
        id: GroupId,
        act: impl FnOnce(&mut O, Time, &mut Output) -> R,
    ) -> R {
        let myself = self.myself;
        let group = self.groups.entry(id).or_insert_with(|| O::new(myself));
        let mut out = Output::default();
        let result = act(group, now, &mut out);
        self.group_output(now, id, out);
        self.touched.insert(id);
        result
    }

    /// Watches a peer until it is [unwatched](Self::unwatch) as often; it is reported by [`Action::Lost`].
    pub fn watch(&mut self, rank: Rank, now: Time) {
        self.pulse.watch(rank, now);
        if self.gone.contains_key(&rank) {
            self.regone.insert(rank);
        }
    }

    /// Ends one watch.
    pub fn unwatch(&mut self, rank: Rank) {
        self.pulse.unwatch(rank);
    }

    /// A new number for a request that the program itself follows.
    pub fn request_id(&mut self) -> RequestId {
        let id = self.requests.begin(self.myself.rank, None);
        let _ = self
            .requests
            .answered(self.myself.rank, id, Ok(Message::new()));
        id
    }

    // What the platform reports.

    /// A frame came.
    ///
    /// # Errors
    /// It is none of these protocols'; it has been dropped.
    pub fn frame(&mut self, now: Time, from: Rank, frame: Message) -> Result<(), DecodeError> {
        self.pulse.heard(from, now);
        let (mut frames, mut messages) = (Vec::new(), Vec::new());
        let arrival = self
            .link(from)
            .receive(now, frame, &mut frames, &mut messages);
        self.put(from, frames);
        self.follow(from);
        if arrival? == Arrival::Anew {
            self.peer_lost(
                now,
                from,
                false,
                "lost touch with this process or was started again",
            );
        }
        let mut fault = Ok(());
        for message in messages {
            fault = fault.and(self.message(now, from, message));
        }
        self.finish(now);
        fault
    }

    /// A frame of the platform's ordered multicast came.
    ///
    /// # Errors
    /// It is none of these protocols'; it has been dropped.
    pub fn multicast(&mut self, now: Time, from: Rank, frame: Message) -> Result<(), DecodeError> {
        let taken = self.message(now, from, frame);
        self.finish(now);
        taken
    }

    /// A peer is lost.
    pub fn lost(&mut self, now: Time, rank: Rank, is_certain: bool, why: &str) {
        if is_certain {
            self.gone.insert(rank, why.to_string());
        }
        if let Some(link) = self.links.get_mut(&rank) {
            link.reset();
            self.follow(rank);
        }
        self.peer_lost(now, rank, is_certain, why);
        self.finish(now);
    }

    /// A process joined, perhaps in the place of one that was lost.
    pub fn joined(&mut self, rank: Rank) {
        self.gone.remove(&rank);
    }

    /// When [`tick`](Self::tick) is next needed.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        let groups = self.groups.values().filter_map(Order::deadline).min();
        let link = self.timers.first().map(|(at, _)| *at);
        [
            groups,
            link,
            self.requests.deadline(),
            self.pulse.deadline(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Does what is due.
    pub fn tick(&mut self, now: Time) {
        while let Some(&(_, rank)) = self.timers.first().filter(|(at, _)| *at <= now) {
            let mut frames = Vec::new();
            self.link(rank).tick(now, &mut frames);
            self.put(rank, frames);
            self.follow(rank);
        }
        let ended = self.requests.tick(now);
        self.complete(ended);
        let findings = self.pulse.tick(now);
        for rank in findings.ask {
            self.post(now, rank, &Envelope::Pulse { asks: true }, Message::new());
        }
        for rank in findings.lost {
            let why = format!("has not answered for {:?}", self.myself.silence);
            self.lost(now, rank, false, &why);
        }
        let due: Vec<GroupId> = self
            .groups
            .iter()
            .filter(|(_, group)| group.deadline().is_some_and(|at| at <= now))
            .map(|(id, _)| *id)
            .collect();
        for id in due {
            self.group(now, id, |group, now, out| group.tick(now, out));
        }
        self.finish(now);
    }

    /// All that came at once has been taken: sends what groups held back.
    pub fn flush(&mut self, now: Time) {
        while let Some(id) = self.touched.pop_first() {
            let mut out = Output::default();
            if let Some(group) = self.groups.get_mut(&id) {
                group.flush(now, &mut out);
            }
            self.group_output(now, id, out);
        }
        self.finish(now);
    }

    // Between the protocols.

    fn message(&mut self, now: Time, from: Rank, message: Message) -> Result<(), DecodeError> {
        let (envelope, payload) = wire::unpack(message)?;
        match envelope {
            Envelope::Port { port, tag, receipt } => {
                self.actions.push(Action::Deliver(Delivery::Port {
                    from,
                    port,
                    tag,
                    payload,
                }));
                if let Some(id) = receipt {
                    self.post(now, from, &Envelope::Receipt { id }, Message::new());
                }
            }
            Envelope::Receipt { id } => self.answered(from, id, Ok(payload)),
            Envelope::Call { service, id } => self.actions.push(Action::Deliver(Delivery::Call {
                from,
                service,
                id,
                payload,
            })),
            Envelope::Reply { id, kind } => {
                let outcome = match kind {
                    Answer::Value => Ok(payload),
                    Answer::NoService => Err(Failure::NoService { rank: from }),
                    Answer::NoReply => Err(Failure::NoReply { rank: from }),
                };
                self.answered(from, id, outcome);
            }
            Envelope::Group { group } => {
                if self.groups.len() >= STRANGE_GROUPS_MAX && !self.groups.contains_key(&group) {
                    self.groups.retain(|_, group| group.is_member());
                }
                return self.group(now, group, |group, now, out| {
                    group.receive(now, from, payload, out)
                });
            }
            Envelope::Collective { key } => {
                let step: Step = payload.value()?;
                let mut out = collective::Outcome::default();
                self.collectives.take(from, key, step, &mut out);
                self.collective_outcome(now, out);
            }
            Envelope::Pulse { asks: true } => {
                self.post(now, from, &Envelope::Pulse { asks: false }, Message::new())
            }
            Envelope::Pulse { asks: false } => {}
        }
        Ok(())
    }

    fn peer_lost(&mut self, now: Time, rank: Rank, is_certain: bool, why: &str) {
        self.actions.push(Action::Lost(rank, why.to_string()));
        let ended = self.requests.lost(rank, why);
        self.complete(ended);
        let mut out = collective::Outcome::default();
        self.collectives.lost(rank, why, &mut out);
        self.collective_outcome(now, out);
        let ids: Vec<GroupId> = self.groups.keys().copied().collect();
        for id in ids {
            self.group(now, id, |group, now, out| {
                group.lost(now, rank, is_certain, out)
            });
        }
    }

    /// Says again of peers that are gone that they are, to what has begun to watch them since; takes messages to this process itself.
    fn finish(&mut self, now: Time) {
        loop {
            if let Some(rank) = self.regone.pop_first() {
                if let Some(why) = self.gone.get(&rank).cloned() {
                    self.peer_lost(now, rank, true, &why);
                }
            } else if self.to_self.is_empty() {
                return;
            } else {
                for message in std::mem::take(&mut self.to_self) {
                    let taken = self.message(now, self.myself.rank, message);
                    debug_assert!(taken.is_ok(), "a message to oneself is well formed");
                }
            }
        }
    }

    fn begin(&mut self, now: Time, to: Rank, deadline: Option<Time>) -> RequestId {
        if to != self.myself.rank {
            self.watch(to, now);
        }
        self.requests.begin(to, deadline)
    }

    fn answered(&mut self, from: Rank, id: RequestId, outcome: Result<Message, Failure>) {
        let ended = self.requests.answered(from, id, outcome);
        self.complete(ended);
    }

    fn complete(&mut self, ended: impl IntoIterator<Item = Ended>) {
        for (id, peer, outcome) in ended {
            if peer != self.myself.rank {
                self.unwatch(peer);
            }
            self.actions.push(Action::Complete(id, outcome));
        }
    }

    fn collective_outcome(&mut self, now: Time, out: collective::Outcome) {
        for (to, key, step) in out.sends {
            self.post(
                now,
                to,
                &Envelope::Collective { key },
                collective::encode(&step),
            );
        }
        for (id, watched, outcome) in out.ended {
            watched.iter().for_each(|rank| self.unwatch(*rank));
            self.actions.push(Action::Collected(id, outcome));
        }
    }

    fn group_output(&mut self, now: Time, id: GroupId, out: Output) {
        for (recipients, message) in out.sends {
            let message = wire::pack(&Envelope::Group { group: id }, message);
            match recipients {
                Recipients::One(to) => self.give_link(now, to, message),
                Recipients::All(ranks) => ranks
                    .iter()
                    .for_each(|to| self.give_link(now, *to, message.clone())),
            }
        }
        for frame in out.multicasts {
            self.actions.push(Action::Multicast(wire::pack(
                &Envelope::Group { group: id },
                frame,
            )));
        }
        self.actions.extend(
            out.events
                .into_iter()
                .map(|event| Action::Deliver(Delivery::Group(id, event))),
        );
        if let Some(watch) = out.watch {
            watch.iter().for_each(|rank| self.watch(*rank, now));
            let before = self.watched_by.insert(id, watch).unwrap_or_default();
            before.into_iter().for_each(|rank| self.unwatch(rank));
        }
    }

    fn post(&mut self, now: Time, to: Rank, envelope: &Envelope, payload: Message) {
        let message = wire::pack(envelope, payload);
        if to == self.myself.rank {
            self.to_self.push(message);
        } else {
            self.give_link(now, to, message);
        }
    }

    fn give_link(&mut self, now: Time, to: Rank, message: Message) {
        if self.gone.contains_key(&to) {
            return;
        }
        let mut frames = Vec::new();
        let link = self.link(to);
        link.send(now, message, &mut frames);
        if L::RETRANSMITS && link.backlog() > FULL {
            self.full.insert(to);
            self.actions.push(Action::Full(to));
        }
        self.put(to, frames);
        self.follow(to);
    }

    fn link(&mut self, rank: Rank) -> &mut L {
        let (largest, birth) = (self.largest, self.myself.birth);
        self.links
            .entry(rank)
            .or_insert_with(|| L::new(largest, birth))
    }

    fn put(&mut self, to: Rank, frames: Vec<Message>) {
        self.actions
            .extend(frames.into_iter().map(|frame| Action::Send(to, frame)));
    }

    /// Follows a link's deadline and what waits in it; links that have none cost nothing.
    fn follow(&mut self, rank: Rank) {
        if !L::RETRANSMITS {
            return;
        }
        let backlog = self.links.get(&rank).map_or(0, Links::backlog);
        if backlog < ROOM && self.full.remove(&rank) {
            self.actions.push(Action::Room(rank));
        }
        let next = self.links.get(&rank).and_then(Links::deadline);
        let before = self.timer_of.get(&rank).copied();
        if next == before {
            return;
        }
        if let Some(before) = before {
            self.timers.remove(&(before, rank));
            self.timer_of.remove(&rank);
        }
        if let Some(next) = next {
            self.timers.insert((next, rank));
            self.timer_of.insert(rank, next);
        }
    }
}
