//! All protocols of one process: which message goes to which of them, and what they want done.
//!
//! What the program wants stands here; what the platform reports in [`reports`]; what protocols give out, and to which link it goes, in [`outcomes`] and [`links`]; which groups
//! are known in [`groups`].

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::Time;
use super::collective::{self, Collectives, Combining, Part};
use super::failure_detector::FailureDetector;
use super::fault::{Fault, Mutant};
use super::group::{GroupEvent, Myself, Order};
use super::link::{Links, ToAll, longest_of};
use super::presence::{PeerNews, Presence};
use super::requests::{Failure, RequestId, Requests};
use super::termination::{self, Termination};
use crate::Rank;
use crate::message::Message;

mod envelope;
mod groups;
mod incoming;
mod links;
mod outcomes;
mod reports;
mod timers;

pub use envelope::Envelope;
use groups::Groups;
pub use incoming::{Content, Incoming};
use timers::Timers;

/// A group's name as a number, the same at all processes.
pub type GroupId = u64;

/// What the protocols want done, in this order.
#[derive(Debug)]
pub enum Action {
    /// Give a frame to the platform.
    Send(Rank, Message),
    /// Give several to it, to one rank.
    SendRun(Rank, Vec<Message>),
    /// Give a frame to the platform's ordered broadcast.
    Broadcast(Message),
    /// Give a frame to the platform's multicast that may lose it.
    Multicast(Message),
    /// A peer that was said to hear such multicasts does not seem to.
    Deaf(Rank),
    /// Hand something to the program.
    Deliver(Delivery),
    /// A synchronous send or a call has ended.
    Complete(RequestId, Result<Message, Failure>),
    /// A collective operation has ended.
    Collected(RequestId, Result<Vec<Message>, Failure>),
    /// A peer is lost; in words why, to follow its name.
    Lost(Rank, String),
    /// One that was lost, but not for good, has been heard of.
    Back(Rank),
    /// So much waits for a peer that a thread that may wait should send no more to it now: so many bytes before the message that was given last.
    Full(Rank, usize),
    /// That is over.
    Room(Rank),
    /// A peer holds those who send to one of its ports, or lets them go.
    Hold {
        /// The peer.
        rank: Rank,
        /// The port's name as a number.
        port: u64,
        /// Whether it holds them.
        is_held: bool,
    },
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
        /// The sender's number for it, if it waits: it gets a receipt when the program has the message.
        receipt: Option<RequestId>,
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
    /// What the program is told of a peer that it follows.
    Peer(PeerNews),
    /// A moment at which all processes were quiescent, or the end of this one's part in finding such moments.
    Quiescence(termination::Event),
    /// Values to be combined; the step that comes of it is [posted](Stack::post) to this process itself.
    Combine(Combining),
}

/// Why nothing more goes to a peer.
#[derive(Debug, Clone)]
struct Gone {
    why: String,
    /// It is known to have ended.
    is_certain: bool,
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

impl Answer {
    /// What it says of the request.
    #[inline]
    pub fn outcome(self, from: Rank, payload: Message) -> Result<Message, Failure> {
        match self {
            Self::Value => Ok(payload),
            Self::NoService => Err(Failure::NoService { rank: from }),
            Self::NoReply => Err(Failure::NoReply { rank: from }),
        }
    }
}

/// The protocols of one process over links `L`, with groups ordered by `O`.
#[derive(Debug)]
pub struct Stack<L: Links, O> {
    myself: Myself,
    largest: usize,
    links: FxHashMap<Rank, L>,
    to_all: L::ToAll,
    /// Frames that went to several peers at once.
    multicasts: u64,
    /// Peers for which much waits.
    full: BTreeSet<Rank>,
    /// The end of a long message waits in a link since somebody last asked.
    has_kept: bool,
    timers: Timers<Rank>,
    /// Peers whose links have taken something since they were flushed.
    touched: Vec<Rank>,
    groups: Groups<O>,
    /// Messages of others for groups that this process gives places in.
    led: u64,
    requests: Requests,
    collectives: Collectives,
    termination: Termination,
    detector: FailureDetector,
    presence: Presence,
    /// Lost for certain or given up for good, and not come again.
    gone: BTreeMap<Rank, Gone>,
    /// Lost, but not gone, and not heard of since.
    away: BTreeSet<Rank>,
    /// Gone, and watched since: said once more to be lost.
    regone: BTreeSet<Rank>,
    /// Messages from this process to itself.
    to_self: Vec<Message>,
    actions: Vec<Action>,
    fault: Fault,
    /// What a link gives out, and messages that came with a frame: empty but for a moment, with room from earlier ones.
    frames: Vec<Message>,
    arrived: Vec<Message>,
}

impl<L: Links, O: Order> Stack<L, O> {
    /// The protocols of a process over frames of at most `largest` bytes.
    #[must_use]
    pub fn new(myself: Myself, largest: usize) -> Self {
        Self {
            myself,
            largest,
            links: FxHashMap::default(),
            to_all: L::ToAll::default(),
            multicasts: 0,
            full: BTreeSet::new(),
            has_kept: false,
            timers: Timers::default(),
            touched: Vec::new(),
            groups: Groups::new(myself),
            led: 0,
            requests: Requests::of(myself.birth),
            collectives: Collectives::new(myself.silence, longest_of::<L>()),
            termination: Termination::new(myself.rank, myself.size),
            detector: FailureDetector::new(myself.silence),
            presence: Presence::new(myself.rank, myself.size),
            gone: BTreeMap::new(),
            away: BTreeSet::new(),
            regone: BTreeSet::new(),
            to_self: Vec::new(),
            actions: Vec::new(),
            fault: Fault::default(),
            frames: Vec::new(),
            arrived: Vec::new(),
        }
    }

    /// What is to be done now. Empty again afterwards.
    pub fn actions(&mut self) -> &mut Vec<Action> {
        &mut self.actions
    }

    /// Whether the end of a long message that was sent waits in a link; told once. It goes when what is under way is acknowledged, so somebody must take that.
    pub fn has_kept(&mut self) -> bool {
        std::mem::take(&mut self.has_kept)
    }

    /// How many messages of others have come for groups in which they wait for this process to give them places.
    pub fn led(&self) -> u64 {
        self.led
    }

    /// Bytes that wait to be sent or acknowledged.
    #[must_use]
    pub fn backlog(&self) -> usize {
        self.links.values().map(Links::backlog).sum()
    }

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
        if self.fault.is(Mutant::TrustsSending) {
            self.answered(to, id, Ok(Message::new()));
        }
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
        let watched = self.collectives.begin(now, part, &mut out);
        watched.iter().for_each(|rank| self.watch(*rank, now));
        self.collective_outcome(now, out);
    }

    /// Ends the operations on a family of lists of processes, and those that may still be begun.
    pub fn close(&mut self, now: Time, family: u64, failure: &Failure, may_begin: bool) {
        let mut out = collective::Outcome::default();
        self.collectives.close(family, failure, may_begin, &mut out);
        self.collective_outcome(now, out);
    }

    /// Returns this process's part in the detection of quiescence.
    pub fn termination(&mut self) -> &mut Termination {
        &mut self.termination
    }

    /// Watches a peer until it is [unwatched](Self::unwatch) as often; it is reported by [`Action::Lost`].
    pub fn watch(&mut self, rank: Rank, now: Time) {
        self.detector.watch(rank, now);
        if self.gone.contains_key(&rank) {
            self.regone.insert(rank);
        }
    }

    /// Ends one watch.
    pub fn unwatch(&mut self, rank: Rank) {
        self.detector.unwatch(rank);
    }

    /// Tells an upcall of all peers, beginning with what is known of them, and watches them. Upcalls
    /// are numbered from 1; of several the last one is told.
    pub fn follow_peers(&mut self, now: Time, upcall: u64) {
        let was_followed = self.presence.is_followed();
        self.presence.follow(upcall);
        if !was_followed {
            (self.presence.watched()).for_each(|rank| self.detector.watch(rank, now));
        }
        self.tell_news();
    }

    /// A peer gets the platform's multicasts that may be lost, or does not get them any more.
    pub fn hears(&mut self, rank: Rank, does: bool) {
        self.to_all.hears(rank, does);
    }

    /// To whom messages go together, and how many frames have.
    #[must_use]
    pub fn hearers(&self) -> (Vec<Rank>, u64) {
        (self.to_all.hearers(), self.multicasts)
    }

    /// The same with a fault put in, to see whether the simulator notices.
    #[cfg(feature = "mutants")]
    #[must_use]
    pub fn with(mut self, fault: Fault, now: Time, group: GroupId) -> Self {
        self.fault = fault;
        self.to_all.mutate(fault);
        self.collectives.mutate(fault);
        self.group(now, group, |group, _, _| group.mutate(fault));
        self
    }

    /// The same: there is no fault to put in.
    #[cfg(not(feature = "mutants"))]
    #[must_use]
    pub fn with(self, _: Fault, _: Time, _: GroupId) -> Self {
        self
    }

    /// A new number for a request that the program itself follows.
    pub fn request_id(&mut self) -> RequestId {
        let id = self.requests.begin(self.myself.rank, None);
        let _ = self
            .requests
            .answered(self.myself.rank, id, Ok(Message::new()));
        id
    }
}
