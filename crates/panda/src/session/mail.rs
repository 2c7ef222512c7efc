//! What lies at ports: who takes it, who is held while much lies there, and whose mail ends because it sends more all the same.
//!
//! Beyond [`UNREAD_MAX`] at a port those who send to it are asked to wait. No bound follows from that: upcalls never wait, and a process that itself waits holds nobody, so an honest program may
//! leave as much unread as it likes, and a process that does not keep to the rules cannot be told from it. So memory has a bound of its own, over all ports together, that a program may set: the
//! process of which most lies unread then is taken for lost, with words that say why. What came before stays to be received, in order, as when a process has crashed.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicUsize};

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::desk::Arrived;
use super::engine::{Awaited, Engine};
use super::memory;
use super::room::{UNREAD_LOW, UNREAD_MAX};
use super::upcall::{self, Given, Place};
use crate::message::Message;
use crate::platform::Rank;
use crate::protocol::Envelope;

pub type PortUpcall = Box<dyn FnMut(Arrived) + Send>;

/// What a port takes at which something lies, besides that, in bytes: its place in the table, and room for four messages that comes with the first.
const PORT_ROOM: usize = 2 * size_of::<(u64, PortState)>() + 4 * size_of::<Arrived>();

/// A sender that has gone too far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flood {
    pub from: Rank,
    /// What lies of it at all ports, in bytes.
    pub bytes: usize,
    /// The port at which most of that lies.
    pub port: u64,
    /// What all may leave unread together, in bytes.
    pub most: usize,
}

/// What became of a message that came.
pub enum Put {
    /// Its port's upcall has had it, or it lies there.
    Taken,
    /// It lies there, and its sender has gone too far by that.
    TooMuch(Flood),
    /// Its sender is barred.
    Refused,
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

#[derive(Default)]
struct Ports {
    by_number: FxHashMap<u64, PortState>,
    /// What lies at all of them of other processes takes so much, in bytes.
    unread: usize,
    /// Whose mail is not taken any more, and whether the program was told.
    barred: FxHashMap<Rank, bool>,
}

/// The ports of one process.
pub struct Mail {
    ports: Mutex<Ports>,
    /// What other processes may leave unread, in bytes.
    most: AtomicUsize,
    /// Whether a port holds those who send to it.
    holds: AtomicBool,
    /// Whether what comes is looked up among the ports before anybody who waits gets it: a port has, or had, an upcall, or somebody is barred.
    looks_up_first: AtomicBool,
    /// Whether somebody is barred, and whether the program is still to be told of one.
    bars: AtomicBool,
    has_news: AtomicBool,
}

impl Default for Mail {
    fn default() -> Self {
        Self {
            ports: Mutex::default(),
            // Of as much again the program has use itself.
            most: AtomicUsize::new(memory::usable() / 2),
            holds: AtomicBool::new(false),
            looks_up_first: AtomicBool::new(false),
            bars: AtomicBool::new(false),
            has_news: AtomicBool::new(false),
        }
    }
}

/// What an own message takes of what others may is nothing.
fn room(arrived: &Arrived, own: Rank) -> usize {
    match arrived.from == own {
        true => 0,
        false => arrived.room(),
    }
}

impl Ports {
    /// Keeps a message; how much lies at its port then.
    fn keep(&mut self, port: u64, arrived: Arrived, own: Rank) -> usize {
        let state = self.by_number.entry(port).or_default();
        if state.waiting.is_empty() {
            self.unread += PORT_ROOM;
        }
        self.unread += room(&arrived, own);
        state.unread += arrived.room();
        state.waiting.push_back(arrived);
        state.unread
    }

    /// Takes the first message that fits.
    fn take(&mut self, port: u64, own: Rank, fits: impl Fn(&Arrived) -> bool) -> Option<Arrived> {
        let state = self.by_number.get_mut(&port)?;
        // Mostly the first one fits.
        let arrived = match state.waiting.front().is_some_and(&fits) {
            true => state.waiting.pop_front()?,
            false => {
                let at = state.waiting.iter().position(fits)?;
                state.waiting.remove(at)?
            }
        };
        state.unread -= arrived.room();
        self.unread -= room(&arrived, own);
        if state.waiting.is_empty() {
            self.unread -= PORT_ROOM;
        }
        Some(arrived)
    }

    /// Takes all that lies at a port.
    fn empty(&mut self, port: u64, own: Rank) -> VecDeque<Arrived> {
        let state = self.by_number.entry(port).or_default();
        let all = std::mem::take(&mut state.waiting);
        state.unread = 0;
        if !all.is_empty() {
            let rooms = all.iter().map(|arrived| room(arrived, own));
            self.unread -= PORT_ROOM + rooms.sum::<usize>();
        }
        all
    }

    /// Of whom most lies unread, those first who are barred already.
    fn foremost(&self, own: Rank, most: usize) -> Option<Flood> {
        let mut by_sender: FxHashMap<Rank, FxHashMap<u64, usize>> = FxHashMap::default();
        for (port, state) in &self.by_number {
            for arrived in state.waiting.iter().filter(|arrived| arrived.from != own) {
                let of_port = by_sender.entry(arrived.from).or_default();
                *of_port.entry(*port).or_default() += arrived.room();
            }
        }
        let floods = by_sender.into_iter().filter_map(|(from, of_ports)| {
            let bytes = of_ports.values().sum();
            let (port, _) = of_ports.into_iter().max_by_key(|(_, bytes)| *bytes)?;
            Some(Flood {
                from,
                bytes,
                port,
                most,
            })
        });
        floods.max_by_key(|flood| (self.barred.contains_key(&flood.from), flood.bytes))
    }

    /// Forgets what lies here of a sender, and ports at which nothing is left.
    fn forget(&mut self, from: Rank, own: Rank) -> Vec<VecDeque<Arrived>> {
        let (mut gone, mut left) = (Vec::new(), 0);
        self.by_number.retain(|_, state| {
            let all = std::mem::take(&mut state.waiting);
            let (its, others): (VecDeque<_>, VecDeque<_>) =
                all.into_iter().partition(|arrived| arrived.from == from);
            state.unread -= its.iter().map(Arrived::room).sum::<usize>();
            state.waiting = others;
            gone.push(its);
            if !state.waiting.is_empty() {
                let rooms = state.waiting.iter().map(|arrived| room(arrived, own));
                left += PORT_ROOM + rooms.sum::<usize>();
            }
            !state.waiting.is_empty() || !state.held.is_empty() || state.upcall.is_some()
        });
        self.unread = left;
        gone
    }

    /// Bars the sender of which most lies unread where that is too much together: it is returned. What lies of those who are barred makes room first.
    fn bar(&mut self, own: Rank, most: usize) -> (Option<Flood>, Vec<VecDeque<Arrived>>) {
        let mut gone = Vec::new();
        while self.unread > most
            && let Some(flood) = self.foremost(own, most)
        {
            if let Entry::Vacant(entry) = self.barred.entry(flood.from) {
                entry.insert(false);
                return (Some(flood), gone);
            }
            gone.extend(self.forget(flood.from, own));
        }
        (None, gone)
    }
}

impl Mail {
    /// Sets how many bytes other processes may leave unread.
    pub fn limit(&self, most: usize) {
        self.most.store(most, Relaxed);
    }

    /// Registers an upcall, and runs it on this thread for what has come already; what comes meanwhile waits for that.
    pub fn on_message(&self, port: u64, place: Place, upcall: PortUpcall, own: Rank) {
        let call = Mutex::new(upcall);
        let upcall = Arc::new(Given { place, call });
        let mut running = upcall.call.lock();
        self.looks_up_first.store(true, Release);
        let (earlier, before) = {
            let mut ports = self.ports.lock();
            let earlier = ports.empty(port, own);
            let state = ports.by_number.entry(port).or_default();
            (earlier, state.upcall.replace(upcall.clone()))
        };
        for arrived in earlier {
            let _ = upcall::run(place, || running(arrived));
        }
        drop(running);
        // Outside of the locks, as always: what it keeps may come here when it is dropped.
        before.into_iter().for_each(Given::let_go);
    }

    /// Takes all upcalls, to be dropped outside of the lock.
    pub fn take_upcalls(&self) -> Vec<Arc<Given<PortUpcall>>> {
        let mut ports = self.ports.lock();
        let states = ports.by_number.values_mut();
        states.filter_map(|port| port.upcall.take()).collect()
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
        let arrived = ports.take(port, engine.rank(), |arrived| arrived.fits(from, tag))?;
        let state = ports.by_number.get_mut(&port)?;
        if state.unread < UNREAD_LOW && !state.held.is_empty() {
            tell(port, std::mem::take(&mut state.held), engine);
        }
        Some(arrived)
    }

    /// Offers a message to who waits, unless it is to be looked up first, and gives it back if nobody takes it.
    #[inline]
    pub fn offer(&self, port: u64, arrived: Arrived, awaited: &mut dyn Awaited) -> Option<Arrived> {
        match self.looks_up_first() {
            true => Some(arrived),
            false => awaited.take(port, arrived),
        }
    }

    /// Whether what comes is looked up among the ports before anybody who waits gets it.
    #[inline]
    pub fn looks_up_first(&self) -> bool {
        self.looks_up_first.load(Acquire)
    }

    /// Takes a message that came.
    pub fn put(&self, port: u64, arrived: Arrived, engine: &dyn Engine) -> Put {
        let (from, own) = (arrived.from, engine.rank());
        let most = self.most.load(Relaxed);
        let (is_much, is_too_much) = {
            let mut ports = self.ports.lock();
            if ports.barred.contains_key(&from) {
                return Put::Refused;
            }
            let state = ports.by_number.get(&port);
            if let Some(upcall) = state.and_then(|state| state.upcall.clone()) {
                drop(ports);
                // Its sender does not wait for what it does: that it panicked is printed.
                let _ = upcall.run(|upcall| upcall(arrived));
                return Put::Taken;
            }
            let unread = ports.keep(port, arrived, own);
            (unread > UNREAD_MAX, ports.unread > most)
        };
        if is_too_much && let Some(flood) = self.bar(own, most) {
            return Put::TooMuch(flood);
        }
        if is_much {
            self.hold(port, from, engine);
        }
        Put::Taken
    }

    #[cold]
    fn bar(&self, own: Rank, most: usize) -> Option<Flood> {
        // What is dropped is dropped outside of the lock.
        let (flood, _gone) = self.ports.lock().bar(own, most);
        if flood.is_some() {
            self.looks_up_first.store(true, SeqCst);
            self.bars.store(true, SeqCst);
            self.has_news.store(true, SeqCst);
        }
        flood
    }

    /// Whether a sender is barred.
    #[inline]
    pub fn is_barred(&self, rank: Rank) -> bool {
        self.bars.load(Acquire) && self.ports.lock().barred.contains_key(&rank)
    }

    /// A process of a rank is another one now.
    pub fn joined(&self, rank: Rank) {
        if self.bars.load(Acquire) {
            self.ports.lock().barred.remove(&rank);
        }
    }

    /// Whether who receives from anybody is to be told of somebody who is barred.
    #[inline]
    pub fn has_news(&self) -> bool {
        self.has_news.load(Acquire)
    }

    /// One of whom it is to be told, once.
    pub fn take_news(&self) -> Option<Rank> {
        if !self.has_news() {
            return None;
        }
        let mut ports = self.ports.lock();
        let mut untold = ports.barred.iter_mut().filter(|(_, is_told)| !**is_told);
        let first = untold.next().map(|(rank, is_told)| {
            *is_told = true;
            *rank
        });
        let has_more = untold.next().is_some();
        self.has_news.store(has_more, Release);
        first
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
        for (port, state) in &mut ports.by_number {
            tell(*port, std::mem::take(&mut state.held), engine);
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
            let state = ports.by_number.entry(port).or_default();
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

    const OWN: Rank = 0;

    fn letter(from: Rank, length: usize) -> Arrived {
        Arrived {
            from,
            tag: 0,
            payload: vec![0; length].into(),
        }
    }

    fn lies(ports: &Ports) -> usize {
        let lies = |state: &PortState| state.waiting.iter().map(|arrived| room(arrived, OWN)).sum();
        let with_ports = |lies: usize| lies + PORT_ROOM;
        let used = ports
            .by_number
            .values()
            .filter(|state| !state.waiting.is_empty());
        used.map(|state| with_ports(lies(state))).sum()
    }

    #[test]
    fn what_lies_unread_is_known_whoever_takes_it() {
        let mut ports = Ports::default();
        for number in 0..40 {
            ports.keep(number % 3, letter(number as Rank % 4, 100), OWN);
            assert_eq!(ports.unread, lies(&ports));
        }
        while ports.take(1, OWN, |arrived| arrived.from == 2).is_some() {
            assert_eq!(ports.unread, lies(&ports));
        }
        ports.forget(3, OWN);
        assert_eq!(ports.unread, lies(&ports));
        ports.empty(0, OWN);
        ports.empty(2, OWN);
        while ports.take(1, OWN, |_| true).is_some() {}
        assert_eq!((ports.unread, lies(&ports)), (0, 0));
    }

    #[test]
    fn who_leaves_most_unread_is_barred_and_then_makes_room() {
        let mut ports = Ports::default();
        let most = 100_000;
        // This process's own do not count.
        ports.keep(7, letter(OWN, 2 * most), OWN);
        ports.keep(7, letter(1, 30_000), OWN);
        ports.keep(8, letter(2, 20_000), OWN);
        assert_eq!(ports.bar(OWN, most).0, None);
        ports.keep(9, letter(2, 60_000), OWN);
        let flood = ports.bar(OWN, most).0.expect("it is too much");
        assert_eq!((flood.from, flood.port, flood.most), (2, 9, most));
        assert!((80_000..90_000).contains(&flood.bytes), "{flood:?}");
        // What came of it stays until it is in the way of others.
        assert!(ports.by_number.contains_key(&9));
        ports.keep(7, letter(1, 10_000), OWN);
        let (flood, gone) = ports.bar(OWN, most);
        assert_eq!(flood, None);
        assert_eq!(gone.iter().map(VecDeque::len).sum::<usize>(), 2);
        assert!(!ports.by_number.contains_key(&9));
        assert_eq!(ports.unread, lies(&ports));
    }

    /// Ports are names that the sender gives, and a port takes memory, too.
    #[test]
    fn messages_without_payload_to_ever_new_ports_are_counted() {
        let (mut ports, most) = (Ports::default(), 1 << 20);
        let mut ports_named = 0;
        while ports.bar(OWN, most).0.is_none() {
            ports.keep(ports_named, letter(1, 0), OWN);
            ports_named += 1;
        }
        let of_messages = |state: &PortState| state.waiting.capacity() * size_of::<Arrived>();
        let taken: usize = ports.by_number.values().map(of_messages).sum();
        let taken = taken + ports.by_number.capacity() * size_of::<(u64, PortState)>();
        assert!(taken < 2 * most, "{taken} bytes for {ports_named} ports");
    }
}
