//! Where protocols, platform and threads meet: the only part that is generic over the platform.
//!
//! Whoever waits drives ([`wait`]): a thread that waits for something takes the receiving end, runs the protocols on what comes, and hands it back when it has what it
//! waited for, so that no thread switches where one waits. While nobody waits, or only fibers beside others that run, the session's progress thread does it ([`progress_thread`]); where fibers wait for
//! something else, one of them is its progress fiber ([`progress_fiber`]). Senders run the protocols
//! themselves and give frames to the platform directly ([`node`]). How long to spin before sleeping is the platform's to decide.

use std::ffi::{OsStr, OsString};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::message::Message;
use crate::platform::{JoinError, LaunchInfo, Rank};
use crate::protocol::collective::Part;
use crate::protocol::group::Order;
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

/// What a program asks of the protocols.
pub enum Ask {
    /// Begins a collective operation.
    Collect(Part),
    /// Operations on a family of lists end, and later ones, if the program may begin any, fail.
    Close {
        /// The family.
        family: u64,
        /// What they end with.
        failure: Failure,
        /// Whether the program may begin more.
        may_begin: bool,
    },
    /// Joins a group.
    Join(GroupId),
    /// Leaves a group.
    Leave(GroupId),
    /// Sends a message to a group.
    GroupSend(GroupId, Message),
    /// Takes a peer for lost that may live.
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
    /// The process has become passive, and the detection wants to hear of it.
    Passive,
    /// Ends its part.
    StopCounting,
    /// Watches a peer.
    Watch(Rank),
    /// Ends one [`Watch`](Self::Watch) of a peer.
    Unwatch(Rank),
}

impl Ask {
    /// Gives it to the protocols.
    pub fn put<L: Links, O: Order>(self, stack: &mut Stack<L, O>, now: Time) {
        match self {
            Self::Collect(part) => stack.collect(now, part),
            Self::Close {
                family,
                failure,
                may_begin,
            } => stack.close(now, family, &failure, may_begin),
            Self::Join(group) => stack.group(now, group, |group, now, out| group.join(now, out)),
            Self::Leave(group) => stack.group(now, group, |group, now, out| group.leave(now, out)),
            Self::GroupSend(group, payload) => {
                stack.group(now, group, |group, now, out| group.send(now, payload, out))
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

/// What a program asks of a peer, to be told when it is done.
#[derive(Debug, Clone, Copy)]
pub enum Request {
    /// To take a message, and say so.
    Message {
        /// The port's number.
        port: u64,
        /// The message's tag.
        tag: u32,
    },
    /// To answer a call.
    Call {
        /// The service's number.
        service: u64,
    },
}

impl Request {
    /// What stands before its message.
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

    /// Gives it to the protocols.
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
    /// Sends what is sent and forgotten: messages without a receipt, and replies.
    fn post(&self, to: Rank, envelope: Envelope, payload: Message);
    /// Sends a request. Its deadline is for who waits for it to keep if it is [plain](crate::protocol::requests::is_plain).
    fn request(
        &self,
        to: Rank,
        request: Request,
        payload: Message,
        deadline: Option<Duration>,
    ) -> RequestId;
    /// Sends a request for who waits for its end as soon as this returns, or has it then.
    fn request_for(
        &self,
        request: Request,
        payload: Message,
        deadline: Option<Duration>,
        end: &mut End<'_>,
    ) {
        end.begins(self.request(end.peer, request, payload, deadline));
    }
    /// Has the protocols do it.
    fn ask(&self, ask: Ask);
    /// A new number for an operation that ends as requests do.
    fn number(&self) -> RequestId;
    /// Whether a group takes more messages.
    fn group_is_congested(&self, group: GroupId) -> bool;
    /// Waits, driving the session, until something holds or a time has passed; whether it holds. It did not when the caller looked last.
    fn wait(&self, interest: Interest, awaited: &mut dyn Awaited, until: Option<Instant>) -> bool;
    /// If the caller is a fiber: its run sees to the session where it rests.
    fn ensure_progress_fiber(&self) {}
    /// Something that a thread may wait for has changed, though nothing came.
    fn nudge(&self);
    /// Whether a thread of this process waits for something.
    fn is_awaited(&self) -> bool;
    /// Does what there is to do without waiting.
    fn poll(&self);
    /// The time by the clock that waits go by.
    fn now(&self) -> Instant;
    /// Returns the time by this process's clock for timelines.
    fn clock(&self) -> Duration;
    /// Starts a program as more processes by the platform's own means; nothing if they are processes of the system's. They have not joined yet.
    fn spawn(
        &self,
        _program: &OsStr,
        _args: &[OsString],
        _count: u32,
    ) -> Option<Result<Vec<Rank>, Error>> {
        None
    }
    /// Of those, one that has ended before it had joined.
    fn has_failed(&self, _spawned: &[Rank]) -> Option<Rank> {
        None
    }
    /// Signals a process by the platform's own means, or says why not; nothing if it is one of the system's.
    fn signal(&self, _rank: Rank, _signal: Signal) -> Option<Result<(), String>> {
        None
    }
    /// A process has ended that this one had started.
    fn has_ended(&self, _rank: Rank) {}
    /// Ends those of them that are there.
    fn take_back(&self, _spawned: &[Rank]) {}
    /// Launch infos for more processes.
    fn allot(&self, count: u32) -> Result<Vec<LaunchInfo>, JoinError>;
    /// Ends the session's progress thread.
    fn stop(&self);
    /// This process's rank.
    fn rank(&self) -> Rank;
    /// The platform's name.
    fn platform(&self) -> &'static str;
    /// What goes by the platform's multicast.
    fn multicast(&self) -> Multicast;
}
