//! What a program has registered and what it waits for; nothing here depends on the platform.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use bytes::Bytes;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::engine::{Ask, Engine};
use super::upcall::{self, Given, Place};
use crate::message::Message;
use crate::platform::Rank;
use crate::protocol::group::GroupEvent;
use crate::protocol::requests::{Failure, RequestId};
use crate::protocol::{Answer, Delivery, GroupId};

/// A message that came to a port.
#[derive(Debug, Clone)]
pub struct Arrived {
    /// Its sender.
    pub from: Rank,
    /// Its sender's tag.
    pub tag: u32,
    /// What was sent.
    pub payload: Message,
}

pub type PortUpcall = Box<dyn FnMut(Arrived) + Send>;
pub type ServiceUpcall = Box<dyn FnMut(Incoming) + Send>;
pub type GroupUpcall = Box<dyn FnMut(GroupEvent) + Send>;

/// A call that came, without the means to answer it.
pub struct Incoming {
    pub from: Rank,
    pub id: RequestId,
    pub payload: Message,
}

/// How a request ended.
pub enum Ended {
    Reply(Result<Message, Failure>),
    Collected(Result<Vec<Bytes>, Failure>),
}

/// What is known of a group here.
#[derive(Default)]
pub struct Membership {
    pub upcall: Option<Arc<Given<GroupUpcall>>>,
    /// How often the program has joined: what ends one membership says nothing of the next.
    pub joined: u64,
    pub members: Option<Vec<Rank>>,
    /// Why it ended; none if it was left.
    pub ended: Option<Option<String>>,
    /// What the upcall panicked with: the membership is over as far as the program is concerned.
    pub panic: Option<String>,
}

#[derive(Default)]
struct PortState {
    waiting: VecDeque<Arrived>,
    upcall: Option<Arc<Given<PortUpcall>>>,
}

#[derive(Default)]
pub struct Desk {
    ports: Mutex<HashMap<u64, PortState>>,
    services: Mutex<HashMap<u64, Arc<Given<ServiceUpcall>>>>,
    groups: Mutex<HashMap<GroupId, Membership>>,
    requests: Mutex<FxHashMap<RequestId, Option<Ended>>>,
    names: Mutex<HashMap<Rank, String>>,
    size: AtomicU32,
    /// Peers that are lost, how that is known, and how often that was found.
    lost: Mutex<HashMap<Rank, (String, u64)>>,
    full: Mutex<HashSet<Rank>>,
}

impl Desk {
    pub fn name_of(&self, rank: Rank) -> String {
        self.names
            .lock()
            .get(&rank)
            .cloned()
            .unwrap_or_else(|| format!("rank {rank}"))
    }

    pub fn joined(&self, rank: Rank, name: String) {
        self.names.lock().insert(rank, name);
        self.size.fetch_max(rank.saturating_add(1), Relaxed);
        self.lost.lock().remove(&rank);
    }

    /// Whether a process has ever been there.
    pub fn has_joined(&self, rank: Rank) -> bool {
        self.names.lock().contains_key(&rank)
    }

    /// The number of the highest rank that was heard of, and one.
    pub fn size(&self) -> u32 {
        self.size.load(Relaxed)
    }

    pub fn lost(&self, rank: Rank, why: String) {
        let mut lost = self.lost.lock();
        let times = lost.get(&rank).map_or(0, |(_, times)| *times);
        lost.insert(rank, (why, times + 1));
        self.full.lock().remove(&rank);
    }

    /// How often a peer was found lost, and why the last time.
    pub fn losses(&self, rank: Rank) -> (u64, String) {
        self.lost
            .lock()
            .get(&rank)
            .map_or((0, String::new()), |(why, times)| (*times, why.clone()))
    }

    pub fn is_full(&self, rank: Rank) {
        self.full.lock().insert(rank);
    }

    pub fn has_room(&self, rank: Rank) {
        self.full.lock().remove(&rank);
    }

    pub fn takes_more(&self, rank: Rank) -> bool {
        !self.full.lock().contains(&rank)
    }

    /// Drops all upcalls, with what they keep; what comes later is kept, as for ports and groups without one.
    pub fn drop_upcalls(&self) {
        // Dropped outside of the locks: what an upcall keeps may come here when it is dropped.
        let services = std::mem::take(&mut *self.services.lock());
        let of_ports: Vec<_> = (self.ports.lock().values_mut())
            .filter_map(|port| port.upcall.take())
            .collect();
        let of_groups: Vec<_> = (self.groups.lock().values_mut())
            .filter_map(|group| group.upcall.take())
            .collect();
        drop((services, of_ports, of_groups));
    }

    pub fn expect(&self, id: RequestId) {
        self.requests.lock().insert(id, None);
    }

    pub fn completed(&self, id: RequestId, outcome: Result<Message, Failure>) {
        self.end(id, Ended::Reply(outcome));
    }

    pub fn collected(&self, id: RequestId, outcome: Result<Vec<Bytes>, Failure>) {
        self.end(id, Ended::Collected(outcome));
    }

    fn end(&self, id: RequestId, ended: Ended) {
        // An answer may come before the asker could say that it expects one: both happen under the protocols' lock.
        self.requests.lock().insert(id, Some(ended));
    }

    pub fn has_ended(&self, id: RequestId) -> bool {
        self.requests.lock().get(&id).is_some_and(Option::is_some)
    }

    pub fn take(&self, id: RequestId) -> Option<Ended> {
        self.requests.lock().remove(&id).flatten()
    }

    /// Registers an upcall, and runs it on this thread for what has come already; what comes meanwhile waits for that.
    pub fn on_port(&self, port: u64, place: Place, upcall: PortUpcall) {
        let call = Mutex::new(upcall);
        let upcall = Arc::new(Given { place, call });
        let mut own = upcall.call.lock();
        let earlier = {
            let mut ports = self.ports.lock();
            let state = ports.entry(port).or_default();
            state.upcall = Some(upcall.clone());
            std::mem::take(&mut state.waiting)
        };
        for arrived in earlier {
            let _ = upcall::run(place, || own(arrived));
        }
    }

    /// The first message that waits at a port and fits.
    pub fn first(&self, port: u64, from: Option<Rank>, tag: Option<u32>) -> Option<Arrived> {
        let mut ports = self.ports.lock();
        let waiting = &mut ports.get_mut(&port)?.waiting;
        let fits = |arrived: &Arrived| {
            from.is_none_or(|from| from == arrived.from) && tag.is_none_or(|tag| tag == arrived.tag)
        };
        let at = waiting.iter().position(fits)?;
        waiting.remove(at)
    }

    pub fn on_call(&self, service: u64, place: Place, upcall: ServiceUpcall) {
        let call = Mutex::new(upcall);
        let upcall = Arc::new(Given { place, call });
        self.services.lock().insert(service, upcall);
    }

    pub fn group<R>(&self, group: GroupId, act: impl FnOnce(&mut Membership) -> R) -> R {
        act(self.groups.lock().entry(group).or_default())
    }

    /// Hands something to the program.
    pub fn deliver(&self, delivery: Delivery, engine: &dyn Engine) {
        match delivery {
            Delivery::Port {
                from,
                port,
                tag,
                payload,
            } => self.deliver_to_port(port, Arrived { from, tag, payload }),
            Delivery::Call {
                from,
                service,
                id,
                payload,
            } => {
                let upcall = self.services.lock().get(&service).cloned();
                match upcall {
                    // Its reply is dropped as it unwinds: the caller is told.
                    Some(upcall) => {
                        let call = || (upcall.call.lock())(Incoming { from, id, payload });
                        let _ = upcall::run(upcall.place, call);
                    }
                    None => {
                        engine.ask(Ask::Reply {
                            to: from,
                            id,
                            kind: Answer::NoService,
                            payload: Message::new(),
                        });
                    }
                }
            }
            Delivery::Group(group, event) => self.deliver_to_group(group, event, engine),
        }
    }

    fn deliver_to_port(&self, port: u64, arrived: Arrived) {
        let upcall = {
            let mut ports = self.ports.lock();
            let state = ports.entry(port).or_default();
            match &state.upcall {
                Some(upcall) => upcall.clone(),
                None => return state.waiting.push_back(arrived),
            }
        };
        // Its sender does not wait for what it does: that it panicked is printed.
        let _ = upcall::run(upcall.place, || (upcall.call.lock())(arrived));
    }

    fn deliver_to_group(&self, group: GroupId, event: GroupEvent, engine: &dyn Engine) {
        let (upcall, joined) = self.group(group, |membership| {
            (membership.upcall.clone(), membership.joined)
        });
        let state = match &event {
            GroupEvent::View { members, .. } => Some((Some(members.clone()), None)),
            GroupEvent::Left => Some((None, Some(None))),
            GroupEvent::Expelled { why } => Some((None, Some(Some(why.clone())))),
            GroupEvent::Message { .. } => None,
        };
        let ran = upcall.map_or(Ok(()), |upcall| {
            upcall::run(upcall.place, || (upcall.call.lock())(event))
        });
        if let Err(panic) = ran {
            self.leave_for_panic(group, joined, panic, engine);
        }
        // Who waits for a view goes on after its upcall has run. By then the program may have joined again.
        if let Some((members, ended)) = state {
            self.group(group, |membership| {
                if membership.joined == joined {
                    (membership.members, membership.ended) = (members, ended);
                }
            });
        }
    }

    /// What an upcall that panicked made of its copy nobody knows, so this process leaves rather than go on with a copy that differs from all others.
    fn leave_for_panic(&self, group: GroupId, joined: u64, panic: String, engine: &dyn Engine) {
        let upcall = self.group(group, |membership| {
            let is_same = membership.joined == joined;
            let upcall = membership.upcall.take_if(|_| is_same)?;
            let place = upcall.place;
            membership.panic = Some(format!("its upcall, given at {place}, panicked: {panic}"));
            Some(upcall)
        });
        if let Some(upcall) = upcall {
            engine.ask(Ask::Leave(group));
            // Outside of the lock: what it keeps may come here when it is dropped.
            drop(upcall);
        }
    }
}
