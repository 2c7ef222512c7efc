//! The program's registrations and waits. Nothing here depends on the platform.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::clock;
use super::engine::{Ask, Awaited, Engine};
use super::flow_control::FlowControl;
use super::mailbox::{Flood, Mailbox, PortUpcall, Put};
use super::membership::Membership;
use super::names::Names;
use super::pending_requests::PendingRequests;
use super::quiescence::Detection;
use super::upcall::{Changes, Last, Place, Registered};
use crate::error::Named;
use crate::message::Message;
use crate::platform::Rank;
use crate::protocol::link::Links;
use crate::protocol::requests::RequestId;
use crate::protocol::{
    Answer, Content, Delivery, Envelope, GroupId, Incoming, PeerEvent, PeerNews,
};

/// A message that came to a port.
#[derive(Debug, Clone)]
pub struct Arrived {
    /// Its sender.
    pub from: Rank,
    /// Its sender's tag.
    pub tag: u32,
    /// The payload.
    pub payload: Message,
}

/// The facts about an unread message that a look gives without taking it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probed {
    /// Its sender.
    pub from: Rank,
    /// Its sender's tag.
    pub tag: u32,
    /// The length of its payload, in bytes.
    pub length: usize,
}

impl Probed {
    pub(super) fn of(arrived: &Arrived) -> Self {
        Self {
            from: arrived.from,
            tag: arrived.tag,
            length: arrived.payload.len(),
        }
    }
}

impl Arrived {
    /// Returns the memory that the message takes while it lies at its port, in bytes. A message
    /// without a payload takes some, too.
    pub(super) fn room(&self) -> usize {
        size_of::<Self>() + self.payload.len()
    }

    /// Returns whether the message is from a wanted sender and has a wanted tag; `None` admits any.
    pub(super) fn fits(&self, from: Option<Rank>, tag: Option<u32>) -> bool {
        fits((self.from, self.tag), (from, tag))
    }
}

/// Returns whether a sender and a tag are the wanted ones; `None` admits any.
pub(super) fn fits(of: (Rank, u32), (from, tag): (Option<Rank>, Option<u32>)) -> bool {
    from.is_none_or(|from| from == of.0) && tag.is_none_or(|tag| tag == of.1)
}

pub type ServiceUpcall = Box<dyn FnMut(UnansweredCall) + Send>;
pub type PeerUpcall = Box<dyn FnMut(Rank, PeerEvent) + Send>;

/// The upcalls that ran last for the driver.
#[derive(Default)]
pub struct LastUpcalls {
    /// The last upcall of a port.
    pub of_port: Last<PortUpcall>,
    /// The last upcall of a service.
    pub of_service: Last<ServiceUpcall>,
}

/// A call that came, without the means to answer it.
pub struct UnansweredCall {
    pub from: Rank,
    pub id: RequestId,
    pub payload: Message,
}

/// The loss of a peer.
struct PeerLoss {
    why: String,
    /// The number of the loss, counted from 1.
    number: u64,
    /// Whether the peer has joined again or was heard of since. A request that was sent before
    /// fails all the same.
    is_back: bool,
}

/// The upcall for events of peers.
#[derive(Default)]
struct Follower {
    /// Number of upcalls registered so far, which is this one's number.
    number: u64,
    upcall: Option<Arc<Registered<PeerUpcall>>>,
}

/// The program's registrations and waits.
#[derive(Default)]
pub struct Dispatcher {
    /// Unread messages of ports.
    pub mailbox: Mailbox,
    services: Mutex<FxHashMap<u64, Arc<Registered<ServiceUpcall>>>>,
    service_changes: Changes,
    follower: Mutex<Follower>,
    pub(super) groups: Mutex<FxHashMap<GroupId, Membership>>,
    /// Names of ports, services and groups.
    pub names: Names,
    pub(super) quiescence: Detection,
    processes: Mutex<FxHashMap<Rank, String>>,
    size: AtomicU32,
    /// Number of times that a peer was found lost.
    losses: AtomicU64,
    /// Peers that are lost, or were once.
    lost: Mutex<FxHashMap<Rank, PeerLoss>>,
    /// State of the peers to which sends wait.
    pub flow_control: FlowControl,
    /// Requests that have not ended.
    pub pending: PendingRequests,
}

impl Dispatcher {
    /// Makes the dispatcher of a process of this birth.
    pub fn of(birth: u64) -> Self {
        Self {
            pending: PendingRequests::of(birth),
            ..Self::default()
        }
    }

    /// Returns a process's name, for messages to people.
    pub fn name_of(&self, rank: Rank) -> String {
        self.processes
            .lock()
            .get(&rank)
            .cloned()
            .unwrap_or_else(|| format!("rank {rank}"))
    }

    /// Notes a process that has joined, or has joined again.
    pub fn joined(&self, rank: Rank, name: String) {
        self.processes.lock().insert(rank, name);
        self.size.fetch_max(rank.saturating_add(1), Relaxed);
        if let Some(loss) = self.lost.lock().get_mut(&rank) {
            loss.is_back = true;
        }
        self.mailbox.joined(rank);
    }

    /// Notes that a peer was heard of that was lost, but not for good. A barred peer stays lost.
    pub fn is_heard_of(&self, rank: Rank) {
        if !self.mailbox.is_barred(rank)
            && let Some(loss) = self.lost.lock().get_mut(&rank)
        {
            loss.is_back = true;
        }
    }

    /// Returns whether a process has ever been there.
    pub fn has_joined(&self, rank: Rank) -> bool {
        self.processes.lock().contains_key(&rank)
    }

    /// Returns one more than the highest rank that was heard of.
    pub fn size(&self) -> u32 {
        self.size.load(Relaxed)
    }

    /// Notes that a peer was found lost, and returns the plain requests that ends.
    pub fn lost(&self, rank: Rank, why: String) -> Vec<RequestId> {
        let ended = self.pending.lost(rank, &why);
        let mut lost = self.lost.lock();
        let number = self.losses.load(Relaxed) + 1;
        let is_back = false;
        lost.insert(
            rank,
            PeerLoss {
                why,
                number,
                is_back,
            },
        );
        self.losses.store(number, Release);
        drop(lost);
        self.flow_control.lost(rank);
        ended
    }

    /// Returns how often any peer was found lost.
    #[inline]
    pub fn losses(&self) -> u64 {
        self.losses.load(Acquire)
    }

    /// Returns why a peer was lost, if that was found after so many losses; it may be back.
    #[inline]
    pub fn lost_since(&self, rank: Rank, losses: u64) -> Option<String> {
        match self.losses() == losses {
            true => None,
            false => self.loss_after(rank, losses),
        }
    }

    #[cold]
    fn loss_after(&self, rank: Rank, losses: u64) -> Option<String> {
        let lost = self.lost.lock();
        let loss = lost.get(&rank).filter(|loss| loss.number > losses)?;
        Some(loss.why.clone())
    }

    /// Returns whether a peer is lost.
    #[inline]
    pub fn is_lost(&self, rank: Rank) -> bool {
        self.losses() != 0
            && self
                .lost
                .lock()
                .get(&rank)
                .is_some_and(|loss| !loss.is_back)
    }

    /// Returns whether a request to a peer may bypass the protocols over such links. Requests to a
    /// lost peer may not: only the protocols know whether it is gone for good.
    #[inline]
    pub fn asks_plainly<L: Links>(&self, peer: Rank) -> bool {
        L::ADDS_NOTHING && !self.is_lost(peer)
    }

    /// Returns why a peer is lost, if it is.
    pub fn why_lost(&self, rank: Rank) -> Option<String> {
        let lost = self.lost.lock();
        let loss = lost.get(&rank).filter(|loss| !loss.is_back)?;
        Some(loss.why.clone())
    }

    /// Returns the peer that was lost last, and why; it may be back.
    pub fn last_lost(&self) -> Option<(Rank, String)> {
        let lost = self.lost.lock();
        let (rank, loss) = lost.iter().max_by_key(|(_, loss)| loss.number)?;
        Some((*rank, loss.why.clone()))
    }

    /// Drops all upcalls and what they keep. Ports and groups then behave as without one, and keep
    /// later messages.
    pub fn drop_upcalls(&self) {
        // Upcalls drop outside of the locks, because the drop of what they keep may call this
        // dispatcher.
        let services = {
            let mut services = self.services.lock();
            self.service_changes.one_more();
            std::mem::take(&mut *services)
        };
        let of_ports = self.mailbox.take_upcalls();
        let of_peers = self.follower.lock().upcall.take();
        let of_groups: Vec<_> = (self.groups.lock().values_mut())
            .filter_map(|group| group.upcall.take())
            .collect();
        let of_quiescence = self.quiescence.take_upcall();
        drop((services, of_ports, of_peers, of_groups, of_quiescence));
    }

    /// Registers the upcall of a service.
    pub fn on_call(&self, service: u64, place: Place, upcall: ServiceUpcall) {
        let call = Mutex::new(upcall);
        let upcall = Arc::new(Registered { place, call });
        let before = {
            let mut services = self.services.lock();
            self.service_changes.one_more();
            services.insert(service, upcall)
        };
        before.into_iter().for_each(Registered::let_go);
    }

    /// Registers the upcall for events of peers in place of an earlier one, and returns its number.
    pub fn on_peer(&self, place: Place, upcall: PeerUpcall) -> u64 {
        let call = Mutex::new(upcall);
        let upcall = Arc::new(Registered { place, call });
        let mut follower = self.follower.lock();
        follower.number += 1;
        let number = follower.number;
        let before = follower.upcall.replace(upcall);
        drop(follower);
        before.into_iter().for_each(Registered::let_go);
        number
    }

    fn tell_follower(&self, news: PeerNews) {
        let upcall = {
            let follower = self.follower.lock();
            let is_for_it = follower.number == news.follower;
            follower.upcall.clone().filter(|_| is_for_it)
        };
        if let Some(upcall) = upcall {
            let _ = upcall.run(|upcall| upcall(news.rank, news.event));
        }
    }

    /// Returns the upcall of a service.
    #[inline]
    fn service(
        &self,
        number: u64,
        last: &mut Last<ServiceUpcall>,
    ) -> Option<Arc<Registered<ServiceUpcall>>> {
        let changes = self.service_changes.count();
        last.get(number, changes).or_else(|| {
            let found = self.services.lock().get(&number).cloned()?;
            last.set(number, changes, &found);
            Some(found)
        })
    }

    /// Hands something to the program, or to the caller if the caller waits for it. Returns whether
    /// another thread may wait for it.
    pub fn deliver(
        &self,
        delivery: Delivery,
        engine: &dyn Engine,
        awaited: &mut dyn Awaited,
        last: &mut LastUpcalls,
    ) -> bool {
        let mut is_for_all = true;
        match delivery {
            Delivery::Port {
                from,
                port,
                tag,
                receipt,
                mut payload,
            } => {
                let content = Content::Message { port, tag, receipt };
                let incoming = &mut Incoming::with(from, content, &mut payload);
                let is_taken = self.mailbox.offer(incoming, awaited);
                let last = &mut last.of_port;
                let arrived = Arrived { from, tag, payload };
                let put = (!is_taken).then(|| self.mailbox.put(port, arrived, engine, last));
                // The receipt goes out only now: its sender may go on when the program has the
                // message, or can ask for it.
                if let Some(id) = receipt {
                    let kind = Answer::NoReply;
                    let answer = match put {
                        Some(Put::Refused) => Envelope::Reply { id, kind },
                        _ => Envelope::Receipt { id },
                    };
                    engine.post(from, answer, Message::new());
                }
                is_for_all = put.is_some();
                if let Some(Put::TooMuch(flood)) = put {
                    self.give_up(flood, engine);
                }
            }
            Delivery::Call {
                from,
                service,
                id,
                payload,
            } => {
                match self.service(service, &mut last.of_service) {
                    // If the upcall panics, the unwinding drops its reply, which tells the caller.
                    Some(upcall) => {
                        let call = UnansweredCall { from, id, payload };
                        let _ = upcall.run(|upcall| upcall(call));
                    }
                    // The clock is read as late as possible: the time before belongs to the
                    // request's way here.
                    None if service == clock::service() => {
                        let kind = Answer::Value;
                        let clock = clock::answer(engine.clock());
                        engine.post(from, Envelope::Reply { id, kind }, clock);
                    }
                    None => {
                        let kind = Answer::NoService;
                        engine.post(from, Envelope::Reply { id, kind }, Message::new());
                    }
                }
            }
            Delivery::Peer(news) => self.tell_follower(news),
            Delivery::Group(group, event, ticket) => {
                self.deliver_to_group(group, event, ticket, engine)
            }
            Delivery::State(group, request) => self.follow_state(group, request, engine),
            Delivery::Quiescence(event) => self.quiescence.deliver(event),
            Delivery::Combine(work) => {
                let (key, step) = work.run();
                engine.post(engine.rank(), Envelope::Collective { key }, step.encode());
            }
        }
        is_for_all
    }

    /// Takes a process for lost that makes this one keep too much. The loss is also printed, since
    /// the program may never again ask for anything of that process.
    #[cold]
    fn give_up(&self, flood: Flood, engine: &dyn Engine) {
        let port = self.names.of(Named::Port, flood.port);
        let port = port.map_or_else(
            || "a port that this process has not opened".into(),
            |name| format!("port {name:?}"),
        );
        let why = format!(
            "left {} bytes unread, most of them at {port}: more than the {} that all may leave here together (Session::limit_unread). It is not heard any more",
            flood.bytes, flood.most
        );
        eprintln!("antiphon: {} is lost: it {why}", self.name_of(flood.from));
        let rank = flood.from;
        engine.ask(Ask::GiveUp { rank, why });
        // The loss is noted only now: a thread that learned of it earlier would find no reason to
        // report.
        self.mailbox.is_noted(rank);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waited_when_a_peer_was_lost_is_told_though_it_is_back() {
        let dispatcher = Dispatcher::default();
        let before = dispatcher.losses();
        dispatcher.lost(1, "ended".into());
        assert!(dispatcher.is_lost(1) && dispatcher.last_lost().is_some_and(|(rank, _)| rank == 1));
        dispatcher.joined(1, "again".into());
        assert!(!dispatcher.is_lost(1) && dispatcher.why_lost(1).is_none());
        assert_eq!(dispatcher.lost_since(1, before).as_deref(), Some("ended"));
        assert_eq!(
            dispatcher.lost_since(1, dispatcher.losses()),
            None,
            "asked since"
        );
        assert_eq!(dispatcher.lost_since(2, before), None, "another");
    }
}
