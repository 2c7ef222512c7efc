//! The stack: all protocols of one process, the way of messages to them, and their actions.
//!
//! The program's requests are in this file, the platform's reports in [`reports`]. Protocols'
//! outputs and their ways to links are in [`outcomes`] and [`links`], known groups in [`groups`].

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::Time;
use super::collective::{self, Collectives, Combining, Part};
use super::failure_detector::FailureDetector;
use super::fault::{Fault, Mutant};
use super::group::{GroupEvent, Myself, Order, StateRequest, Ticket};
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

/// An action that the protocols ask for, in this order.
#[derive(Debug)]
pub enum Action {
    /// Give a frame to the platform.
    Send(Rank, Message),
    /// Give several frames to the platform, for one rank.
    SendRun(Rank, Vec<Message>),
    /// Give a frame to the platform's ordered broadcast.
    Broadcast(Message),
    /// Give a frame to the platform's multicast, which may lose it.
    Multicast(Message),
    /// A peer that was reported to hear such multicasts does not seem to.
    Deaf(Rank),
    /// Hand something to the program.
    Deliver(Delivery),
    /// A synchronous send or a call has ended.
    Complete(RequestId, Result<Message, Failure>),
    /// A collective operation has ended.
    Collected(RequestId, Result<Vec<Message>, Failure>),
    /// A peer is lost. The text says why, and follows its name.
    Lost(Rank, String),
    /// A peer that was lost, but not for good, has been heard of.
    Back(Rank),
    /// Much waits for a peer, so a thread that may wait should send no more to it now. The number
    /// is the bytes before the last message.
    Full(Rank, usize),
    /// A full peer has room again.
    Room(Rank),
    /// A peer holds the senders of one of its ports, or releases them.
    Hold {
        /// The peer.
        rank: Rank,
        /// The port's name as a number.
        port: u64,
        /// Whether it holds them.
        is_held: bool,
    },
}

/// A delivery to the program.
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
        /// The sender's number for it, if it waits. It gets a receipt when the program has the
        /// message.
        receipt: Option<RequestId>,
        /// The payload.
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
    /// An event of a group; with the ticket of the message, if it is this process's own and has
    /// one.
    Group(GroupId, GroupEvent, Option<Ticket>),
    /// A request of the transfer of a group's state to the program, between two of its events.
    State(GroupId, StateRequest),
    /// News of a peer that the program follows.
    Peer(PeerNews),
    /// A moment at which all processes were quiescent, or the end of this process's part in the
    /// detection.
    Quiescence(termination::Event),
    /// Values to be combined. The resulting step is [posted](Stack::post) to this process itself.
    Combine(Combining),
}

/// Reason why nothing more goes to a peer.
#[derive(Debug, Clone)]
struct Gone {
    why: String,
    /// Whether it has certainly ended.
    is_certain: bool,
}

/// The kind of a call's answer.
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
    /// Returns the request's outcome.
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
    /// Number of frames that went to several peers at once.
    multicasts: u64,
    /// Peers for which much waits.
    full: BTreeSet<Rank>,
    /// Whether the end of a long message waits in a link since the last call of `has_kept`.
    has_kept: bool,
    timers: Timers<Rank>,
    /// Peers whose links have taken something since they were flushed.
    touched: Vec<Rank>,
    groups: Groups<O>,
    /// Number of other members' messages in groups to which this process gives places.
    led: u64,
    requests: Requests,
    collectives: Collectives,
    termination: Termination,
    detector: FailureDetector,
    presence: Presence,
    /// Peers that are certainly lost or given up for good, and have not come again.
    gone: BTreeMap<Rank, Gone>,
    /// Peers that are lost, but not gone, and not heard of since.
    away: BTreeSet<Rank>,
    /// Gone peers that were watched since: they are reported lost once more.
    regone: BTreeSet<Rank>,
    /// Messages from this process to itself.
    to_self: Vec<Message>,
    actions: Vec<Action>,
    fault: Fault,
    /// A link's output, and messages of a frame. They are empty between calls, and keep their
    /// memory.
    frames: Vec<Message>,
    arrived: Vec<Message>,
}

impl<L: Links, O: Order> Stack<L, O> {
    /// Makes the protocols of a process over frames of at most `largest` bytes.
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

    /// Returns the actions to perform now; the caller empties the list.
    pub fn actions(&mut self) -> &mut Vec<Action> {
        &mut self.actions
    }

    /// Returns, once, whether the end of a long message waits in a link. It goes when an
    /// acknowledgement comes, so a thread must take that.
    pub fn has_kept(&mut self) -> bool {
        std::mem::take(&mut self.has_kept)
    }

    /// Returns how many messages of other members have come for places that this process gives.
    pub fn led(&self) -> u64 {
        self.led
    }

    /// Returns the bytes that wait to be sent or acknowledged.
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

    /// Watches a peer until it is [unwatched](Self::unwatch) as often. Its loss is reported by
    /// [`Action::Lost`].
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

    /// Reports all peers to an upcall, beginning with all that is known, and watches them. Upcalls
    /// are numbered from 1; the last one counts.
    pub fn follow_peers(&mut self, now: Time, upcall: u64) {
        let was_followed = self.presence.is_followed();
        self.presence.follow(upcall);
        if !was_followed {
            (self.presence.watched()).for_each(|rank| self.detector.watch(rank, now));
        }
        self.tell_news();
    }

    /// Notes whether a peer hears the platform's multicasts that may be lost.
    pub fn hears(&mut self, rank: Rank, does: bool) {
        self.to_all.hears(rank, does);
    }

    /// Returns the peers that get shared messages, and the number of shared frames.
    #[must_use]
    pub fn hearers(&self) -> (Vec<Rank>, u64) {
        (self.to_all.hearers(), self.multicasts)
    }

    /// Injects a fault, to see whether the simulator notices.
    #[cfg(feature = "mutants")]
    #[must_use]
    pub fn with(mut self, fault: Fault, now: Time, group: GroupId) -> Self {
        self.fault = fault;
        self.to_all.mutate(fault);
        self.collectives.mutate(fault);
        self.group(now, group, |group, _, _| group.mutate(fault));
        self.groups.mutate(group, fault);
        self
    }

    /// Returns the stack unchanged: there is no fault to inject.
    #[cfg(not(feature = "mutants"))]
    #[must_use]
    pub fn with(self, _: Fault, _: Time, _: GroupId) -> Self {
        self
    }

    /// Returns a new number for a request that the program itself follows.
    pub fn request_id(&mut self) -> RequestId {
        let id = self.requests.begin(self.myself.rank, None);
        let _ = self
            .requests
            .answered(self.myself.rank, id, Ok(Message::new()));
        id
    }
}
