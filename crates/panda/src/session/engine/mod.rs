//! The engine of a session: protocols, platform and threads meet here. Only this module is generic
//! over the platform.
//!
//! - A waiting thread drives ([`wait`]). It takes the receiving end, runs the protocols on what
//!   comes, and lets go when its wait ends. So a wait costs no switch of threads.
//! - The session's progress thread drives while no thread waits, or only fibers beside others that
//!   run ([`progress_thread`]).
//! - A progress fiber drives while all fibers wait for something else ([`progress_fiber`]).
//! - Senders run the protocols themselves and give frames to the platform directly ([`node`]).
//!
//! The platform decides how long to spin before a sleep.

use std::ffi::{OsStr, OsString};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::message::Message;
use crate::platform::{JoinError, LaunchInfo, Rank};
use crate::protocol::collective::Part;
use crate::protocol::group::{Order, Ticket, TransferId};
use crate::protocol::link::Links;
use crate::protocol::requests::{Failure, RequestId};
use crate::protocol::termination::Counters;
use crate::protocol::{Envelope, GroupId, Stack, Time};
use crate::session::Multicast;
use crate::session::pending_requests::End;
use crate::starter::Signal;

mod awaited;
mod drive;
mod driver;
mod driver_state;
mod node;
mod progress_fiber;
mod progress_thread;
mod wait;
mod waiting;

#[cfg(test)]
mod tests;

pub use awaited::{Awaited, Nobody, Until, WaitsFor};
pub use node::Node;
pub use waiting::{Interest, Waiting};

/// A program's request to the protocols.
pub enum Ask {
    /// Begins a collective operation.
    Collect(Part),
    /// Ends the operations on a family of lists. Later ones fail, if the program may begin any.
    Close {
        /// The family.
        family: u64,
        /// What they end with.
        failure: Failure,
        /// Whether the program may begin more.
        may_begin: bool,
    },
    /// Joins a group.
    Join {
        /// The group.
        group: GroupId,
        /// Whether the program gives and takes snapshots of a state.
        has_state: bool,
    },
    /// Gives a member that joins a group a snapshot, or says why there is none.
    Give {
        /// The group.
        group: GroupId,
        /// The member, and its number for the transfer.
        joiner: (Rank, TransferId),
        /// The snapshot.
        snapshot: Result<Message, String>,
    },
    /// Leaves a group.
    Leave(GroupId),
    /// Sends a message to a group; with a ticket if a thread waits for its place.
    GroupSend(GroupId, Message, Option<Ticket>),
    /// Takes a peer for lost, though it may live.
    GiveUp {
        /// The peer.
        rank: Rank,
        /// Why, in words that follow its name.
        why: String,
    },
    /// Tells the upcall of this number of all peers.
    FollowPeers(u64),
    /// Begins this process's part in the detection of quiescence.
    Count(Arc<Counters>),
    /// Tells the detection of quiescence that the process has become passive.
    Passive,
    /// Ends this process's part in the detection of quiescence.
    StopCounting,
    /// Watches a peer.
    Watch(Rank),
    /// Ends one [`Watch`](Self::Watch) of a peer.
    Unwatch(Rank),
}

impl Ask {
    /// Gives the request to the protocols.
    pub fn put<L: Links, O: Order>(self, stack: &mut Stack<L, O>, now: Time) {
        match self {
            Self::Collect(part) => stack.collect(now, part),
            Self::Close {
                family,
                failure,
                may_begin,
            } => stack.close(now, family, &failure, may_begin),
            Self::Join { group, has_state } => stack.join_group(now, group, has_state),
            Self::Give {
                group,
                joiner,
                snapshot,
            } => stack.give_state(now, group, joiner, snapshot),
            Self::Leave(group) => stack.group(now, group, |group, now, out| group.leave(now, out)),
            Self::GroupSend(group, payload, ticket) => {
                stack.send_to_group(now, group, payload, ticket)
            }
            Self::GiveUp { rank, why } => stack.give_up(now, rank, &why),
            Self::FollowPeers(upcall) => stack.follow_peers(now, upcall),
            Self::Count(counters) => stack.termination().enter(counters),
            Self::Passive => stack.termination().passive(),
            Self::StopCounting => stack.termination().leave(),
            Self::Watch(rank) => stack.watch(rank, now),
            Self::Unwatch(rank) => stack.unwatch(rank),
        }
    }
}

/// A program's request to a peer, with a report of its end.
#[derive(Debug, Clone, Copy)]
pub enum Request {
    /// Takes a message and acknowledges it.
    Message {
        /// The port's number.
        port: u64,
        /// The message's tag.
        tag: u32,
    },
    /// Answers a call.
    Call {
        /// The service's number.
        service: u64,
    },
}

impl Request {
    /// Returns the envelope of the request's message.
    pub fn envelope(self, id: RequestId) -> Envelope {
        match self {
            Self::Message { port, tag } => Envelope::Port {
                port,
                tag,
                receipt: Some(id),
            },
            Self::Call { service } => Envelope::Call { service, id },
        }
    }

    /// Gives the request to the protocols.
    pub fn put<L: Links, O: Order>(
        self,
        stack: &mut Stack<L, O>,
        now: Time,
        to: Rank,
        payload: Message,
        deadline: Option<Duration>,
    ) -> RequestId {
        let deadline = deadline.and_then(|deadline| now.checked_add(deadline));
        match self {
            Self::Message { port, tag } => {
                stack.send_synchronously(now, to, port, tag, payload, deadline)
            }
            Self::Call { service } => stack.call(now, to, service, payload, deadline),
        }
    }
}

/// A session over some platform.
pub trait Engine: Send + Sync {
    /// Sends a message without a receipt, or a reply. No thread waits for its end.
    fn post(&self, to: Rank, envelope: Envelope, payload: Message);
    /// Sends a request. If it is [plain](crate::protocol::requests::is_plain), the waiting caller
    /// keeps the deadline.
    fn request(
        &self,
        to: Rank,
        request: Request,
        payload: Message,
        deadline: Option<Duration>,
    ) -> RequestId;
    /// Sends a request whose caller waits for its end as soon as this returns. The end may be there
    /// then.
    fn request_for(
        &self,
        request: Request,
        payload: Message,
        deadline: Option<Duration>,
        end: &mut End<'_>,
    ) {
        end.begins(self.request(end.peer, request, payload, deadline));
    }
    /// Has the protocols do what the program asks.
    fn ask(&self, ask: Ask);
    /// Returns a new number for an operation that ends as requests do.
    fn number(&self) -> RequestId;
    /// Returns whether a group is congested, so that senders wait.
    fn group_is_congested(&self, group: GroupId) -> bool;
    /// Waits, driving the session, until something holds or a time has passed. Returns whether it
    /// holds. It did not hold when the caller last looked.
    fn wait(&self, interest: Interest, awaited: &mut dyn Awaited, until: Option<Instant>) -> bool;
    /// Ensures that a progress fiber drives where the caller's run rests, if the caller is a fiber.
    fn ensure_progress_fiber(&self) {}
    /// Reports a change that a thread may wait for, although no message came.
    fn nudge(&self);
    /// Returns whether a thread of this process waits for something.
    fn is_awaited(&self) -> bool;
    /// Does all work at hand without waiting.
    fn poll(&self);
    /// Returns the time by the clock of waits.
    fn now(&self) -> Instant;
    /// Returns the time by this process's clock for timelines.
    fn clock(&self) -> Duration;
    /// Starts a program as more processes by the platform's own means. Returns `None` if processes
    /// are the system's. The new processes have not joined yet.
    fn spawn(
        &self,
        _program: &OsStr,
        _args: &[OsString],
        _count: u32,
    ) -> Option<Result<Vec<Rank>, Error>> {
        None
    }
    /// Returns a spawned process that ended before it joined.
    fn has_failed(&self, _spawned: &[Rank]) -> Option<Rank> {
        None
    }
    /// Signals a process by the platform's own means, or says why it cannot. Returns `None` if the
    /// process is the system's.
    fn signal(&self, _rank: Rank, _signal: Signal) -> Option<Result<(), String>> {
        None
    }
    /// Notes the end of a process that this one had started.
    fn has_ended(&self, _rank: Rank) {}
    /// Ends those spawned processes that are there.
    fn take_back(&self, _spawned: &[Rank]) {}
    /// Returns launch infos for more processes.
    fn allot(&self, count: u32) -> Result<Vec<LaunchInfo>, JoinError>;
    /// Ends the session's progress thread.
    fn stop(&self);
    /// Returns this process's rank.
    fn rank(&self) -> Rank;
    /// Returns the platform's name.
    fn platform(&self) -> &'static str;
    /// Returns the peers and frames of the platform's multicast.
    fn multicast(&self) -> Multicast;
}
