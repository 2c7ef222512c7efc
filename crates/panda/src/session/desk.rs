//! What a program has registered and what it waits for; nothing here depends on the platform.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::asked::Asked;
use super::engine::{Awaited, Engine};
use super::membership::Membership;
use super::names::Names;
use super::room::{Rooms, UNREAD_LOW, UNREAD_MAX};
use super::upcall::{self, Given, Place};
use crate::message::Message;
use crate::platform::Rank;
use crate::protocol::group::GroupEvent;
use crate::protocol::requests::RequestId;
use crate::protocol::{Answer, Delivery, Envelope, GroupId};

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

impl Arrived {
    /// The memory that it takes while it lies at its port, in bytes: one without a payload takes some, too.
    fn room(&self) -> usize {
        size_of::<Self>() + self.payload.len()
    }

    /// Whether it is from a sender and has a tag, if they are said.
    pub(super) fn fits(&self, from: Option<Rank>, tag: Option<u32>) -> bool {
        fits((self.from, self.tag), (from, tag))
    }
}

/// Whether what is from a sender and has a tag is of the sender and has the tag that are wanted, if they are said.
pub(super) fn fits(of: (Rank, u32), (from, tag): (Option<Rank>, Option<u32>)) -> bool {
    from.is_none_or(|from| from == of.0) && tag.is_none_or(|tag| tag == of.1)
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

#[derive(Default)]
struct PortState {
    waiting: VecDeque<Arrived>,
    /// The room that those take, in bytes.
    unread: usize,
    /// Who was told to send no more.
    held: Vec<Rank>,
    upcall: Option<Arc<Given<PortUpcall>>>,
}

/// How a peer was lost.
struct PeerLoss {
    why: String,
    /// Which loss it was, counted from 1.
    number: u64,
    /// It has joined again since. Who asked it something before is told of the loss all the same.
    is_back: bool,
}

#[derive(Default)]
pub struct Desk {
    ports: Mutex<FxHashMap<u64, PortState>>,
    services: Mutex<FxHashMap<u64, Arc<Given<ServiceUpcall>>>>,
    pub(super) groups: Mutex<FxHashMap<GroupId, Membership>>,
    /// Of ports, services and groups.
    pub names: Names,
    processes: Mutex<FxHashMap<Rank, String>>,
    size: AtomicU32,
    /// How often a peer was found lost.
    losses: AtomicU64,
    /// Peers that are lost, or were once.
    lost: Mutex<FxHashMap<Rank, PeerLoss>>,
    pub rooms: Rooms,
    pub asked: Asked,
    /// Whether a port holds those who send to it.
    holds: AtomicBool,
    /// Whether a port has, or had, an upcall: then what comes is looked up among the ports before anybody who waits gets it.
    has_port_upcalls: AtomicBool,
}

impl Desk {
    pub fn name_of(&self, rank: Rank) -> String {
        self.processes
            .lock()
            .get(&rank)
            .cloned()
            .unwrap_or_else(|| format!("rank {rank}"))
    }

    pub fn joined(&self, rank: Rank, name: String) {
        self.processes.lock().insert(rank, name);
        self.size.fetch_max(rank.saturating_add(1), Relaxed);
        if let Some(loss) = self.lost.lock().get_mut(&rank) {
            loss.is_back = true;
        }
    }

    /// Whether a process has ever been there.
    pub fn has_joined(&self, rank: Rank) -> bool {
        self.processes.lock().contains_key(&rank)
    }

    /// One more than the highest rank that was heard of.
    pub fn size(&self) -> u32 {
        self.size.load(Relaxed)
    }

    /// A peer was found lost; the plain requests that ends.
    pub fn lost(&self, rank: Rank, why: String) -> Vec<RequestId> {
        let ended = self.asked.lost(rank, &why);
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
        self.rooms.lost(rank);
        ended
    }

    /// How often a peer was found lost, whichever.
    #[inline]
    pub fn losses(&self) -> u64 {
        self.losses.load(Acquire)
    }

    /// Why a peer was lost, if that was found after so many losses; it may be back.
    #[inline]
    pub fn lost_since(&self, rank: Rank, losses: u64) -> Option<String> {
        if self.losses() == losses {
            return None;
        }
        let lost = self.lost.lock();
        let loss = lost.get(&rank).filter(|loss| loss.number > losses)?;
        Some(loss.why.clone())
    }

    /// Whether a peer is lost.
    #[inline]
    pub fn is_lost(&self, rank: Rank) -> bool {
        self.losses() != 0 && self.why_lost(rank).is_some()
    }

    /// Why a peer is lost, if it is.
    pub fn why_lost(&self, rank: Rank) -> Option<String> {
        let lost = self.lost.lock();
        let loss = lost.get(&rank).filter(|loss| !loss.is_back)?;
        Some(loss.why.clone())
    }

    /// The peer that was lost last of those that are, and why.
    pub fn last_lost(&self) -> Option<(Rank, String)> {
        let lost = self.lost.lock();
        let gone = lost.iter().filter(|(_, loss)| !loss.is_back);
        let (rank, loss) = gone.max_by_key(|(_, loss)| loss.number)?;
        Some((*rank, loss.why.clone()))
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

    /// Registers an upcall, and runs it on this thread for what has come already; what comes meanwhile waits for that.
    pub fn on_port(&self, port: u64, place: Place, upcall: PortUpcall) {
        let call = Mutex::new(upcall);
        let upcall = Arc::new(Given { place, call });
        let mut own = upcall.call.lock();
        self.has_port_upcalls.store(true, Release);
        let (earlier, before) = {
            let mut ports = self.ports.lock();
            let state = ports.entry(port).or_default();
            let before = state.upcall.replace(upcall.clone());
            state.unread = 0;
            (std::mem::take(&mut state.waiting), before)
        };
        for arrived in earlier {
            let _ = upcall::run(place, || own(arrived));
        }
        drop(own);
        // Outside of the locks, as always: what it keeps may come here when it is dropped.
        before.into_iter().for_each(Given::let_go);
    }

    /// The first message that waits at a port and fits.
    pub fn first(
        &self,
        port: u64,
        from: Option<Rank>,
        tag: Option<u32>,
        engine: &dyn Engine,
    ) -> Option<Arrived> {
        let mut ports = self.ports.lock();
        let state = ports.get_mut(&port)?;
        let fits = |arrived: &Arrived| arrived.fits(from, tag);
        // Mostly the first one fits.
        let arrived = match state.waiting.front().is_some_and(fits) {
            true => state.waiting.pop_front()?,
            false => {
                let at = state.waiting.iter().position(fits)?;
                state.waiting.remove(at)?
            }
        };
        state.unread -= arrived.room();
        if state.unread < UNREAD_LOW && !state.held.is_empty() {
            tell(port, std::mem::take(&mut state.held), engine);
        }
        Some(arrived)
    }

    /// Lets all go who were held: this process waits, perhaps for what they send later, or has looked in vain.
    #[inline]
    pub fn let_go(&self, engine: &dyn Engine) {
        // Pairs with `hold`, which says that it holds before it looks whether anybody waits.
        if self.holds.load(SeqCst) {
            self.let_all_go(engine);
        }
    }

    #[cold]
    fn let_all_go(&self, engine: &dyn Engine) {
        let mut ports = self.ports.lock();
        self.holds.store(false, SeqCst);
        for (port, state) in ports.iter_mut() {
            tell(*port, std::mem::take(&mut state.held), engine);
        }
    }

    pub fn on_call(&self, service: u64, place: Place, upcall: ServiceUpcall) {
        let call = Mutex::new(upcall);
        let upcall = Arc::new(Given { place, call });
        let before = self.services.lock().insert(service, upcall);
        before.into_iter().for_each(Given::let_go);
    }

    /// Hands something to the program: to the caller, if that is what it waits for. Whether somebody else may wait for it.
    pub fn deliver(
        &self,
        delivery: Delivery,
        engine: &dyn Engine,
        awaited: &mut dyn Awaited,
    ) -> bool {
        let mut is_for_all = true;
        match delivery {
            Delivery::Port {
                from,
                port,
                tag,
                receipt,
                payload,
            } => {
                let arrived = Arrived { from, tag, payload };
                is_for_all = match self.offer(port, arrived, awaited) {
                    Some(arrived) => {
                        self.deliver_to_port(port, arrived, engine);
                        true
                    }
                    None => false,
                };
                // Only now: its sender may go on when the program has it, or can ask for it.
                if let Some(id) = receipt {
                    engine.post(from, Envelope::Receipt { id }, Message::new());
                }
            }
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
                        let call = Incoming { from, id, payload };
                        let _ = upcall.run(|upcall| upcall(call));
                    }
                    None => {
                        let kind = Answer::NoService;
                        engine.post(from, Envelope::Reply { id, kind }, Message::new());
                    }
                }
            }
            Delivery::Group(group, event) => self.deliver_to_group(group, event, engine),
            Delivery::Combine(work) => {
                let (key, step) = work.run();
                engine.post(engine.rank(), Envelope::Collective { key }, step.encode());
            }
        }
        is_for_all
    }

    /// Whether a port has, or had, an upcall.
    #[inline]
    pub fn has_port_upcalls(&self) -> bool {
        self.has_port_upcalls.load(Acquire)
    }

    /// Offers a message to who waits, unless ports have upcalls, and gives it back if nobody takes it.
    #[inline]
    fn offer(&self, port: u64, arrived: Arrived, awaited: &mut dyn Awaited) -> Option<Arrived> {
        match self.has_port_upcalls() {
            true => Some(arrived),
            false => awaited.take(port, arrived),
        }
    }

    fn deliver_to_port(&self, port: u64, arrived: Arrived, engine: &dyn Engine) {
        let from = arrived.from;
        let is_much = {
            let mut ports = self.ports.lock();
            let state = ports.entry(port).or_default();
            if let Some(upcall) = state.upcall.clone() {
                drop(ports);
                // Its sender does not wait for what it does: that it panicked is printed.
                let _ = upcall.run(|upcall| upcall(arrived));
                return;
            }
            state.unread += arrived.room();
            state.waiting.push_back(arrived);
            state.unread > UNREAD_MAX
        };
        if is_much {
            self.hold(port, from, engine);
        }
    }

    /// Has a sender to a port wait, unless this process does.
    #[cold]
    fn hold(&self, port: u64, from: Rank, engine: &dyn Engine) {
        if engine.is_awaited() {
            return;
        }
        {
            let mut ports = self.ports.lock();
            let state = ports.entry(port).or_default();
            if state.held.contains(&from) {
                return;
            }
            state.held.push(from);
            self.holds.store(true, SeqCst);
            let is_held = true;
            engine.post(from, Envelope::Hold { port, is_held }, Message::new());
        }
        // Somebody may have begun to wait before we said that we hold.
        if engine.is_awaited() {
            self.let_go(engine);
        }
    }
}

/// Lets senders to a port go. Both this and that they are held is said with the ports locked, so that the last word is what holds.
fn tell(port: u64, held: Vec<Rank>, engine: &dyn Engine) {
    for rank in held {
        let is_held = false;
        engine.post(rank, Envelope::Hold { port, is_held }, Message::new());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waited_when_a_peer_was_lost_is_told_though_it_is_back() {
        let desk = Desk::default();
        let before = desk.losses();
        desk.lost(1, "ended".into());
        assert!(desk.is_lost(1) && desk.last_lost().is_some_and(|(rank, _)| rank == 1));
        desk.joined(1, "again".into());
        assert!(!desk.is_lost(1) && desk.last_lost().is_none());
        assert_eq!(desk.lost_since(1, before).as_deref(), Some("ended"));
        assert_eq!(desk.lost_since(1, desk.losses()), None, "asked since");
        assert_eq!(desk.lost_since(2, before), None, "another");
    }
}
