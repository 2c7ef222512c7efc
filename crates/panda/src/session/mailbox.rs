//! The mailbox: unread messages at ports, the senders held meanwhile, and the senders barred for
//! sending on.
//!
//! Beyond [`UNREAD_MAX`] at a port its senders are asked to wait. That is no bound. Upcalls never
//! wait, and a process that itself waits holds no sender. So an honest program may leave any amount
//! unread, and looks the same as a process that ignores the rules.
//!
//! So memory has its own bound over all ports together, which a program may set. At the bound, the
//! process with the most unread bytes is taken for lost, with a reason in words. Its earlier
//! messages can still be received in order, as after a crash.
//!
//! Senders are told to wait and to go on with the ports locked, so that the last word holds. The
//! protocols' lock comes after that of the ports: a holder of the protocols' lock must not take
//! that of the ports.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicUsize};

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::dispatcher::{Arrived, Probed};
use super::engine::{Awaited, Engine};
use super::flow_control::{UNREAD_LOW, UNREAD_MAX};
use super::memory;
use super::upcall::{self, Changes, Last, Place, Registered};
use crate::message::Message;
use crate::platform::Rank;
use crate::protocol::{Envelope, Incoming};
use ports::Ports;
use unread::Unread;

mod ports;
#[cfg(test)]
mod tests;
mod unread;

pub use ports::Flood;

pub type PortUpcall = Box<dyn FnMut(Arrived) + Send>;

/// The fate of a message that came.
pub enum Put {
    /// Its port's upcall has had it, or it is unread.
    Taken,
    /// It is unread, and its sender has exceeded the bound by it.
    TooMuch(Flood),
    /// Its sender is barred.
    Refused,
}

/// Whether the program knows that a sender is barred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    /// The program cannot be told yet: the loss is still to be noted.
    Early,
    Untold,
    Reported,
}

/// Senders whose messages are refused.
type Barred = FxHashMap<Rank, News>;

/// The ports of one process.
pub struct Mailbox {
    ports: Mutex<Ports>,
    /// Barred senders. No other lock is taken under this one: holders of the protocols' lock and of
    /// the ports' lock may want it.
    barred: Mutex<Barred>,
    /// Whether any message may be unread. A waiter looks twice before it sleeps, mostly in vain, so
    /// this saves a lock. Set and cleared with the ports locked.
    lies: AtomicBool,
    /// Bound on the bytes that other processes may leave unread.
    most: AtomicUsize,
    /// Whether a port holds its senders.
    holds: AtomicBool,
    /// Whether the ports are consulted before a waiter gets a message: a port has or had an upcall,
    /// or a sender is barred.
    looks_up_first: AtomicBool,
    /// Whether a sender is barred. `has_news`: whether the program is still to learn of one.
    bars: AtomicBool,
    has_news: AtomicBool,
    /// Changes of ports' upcalls.
    upcall_changes: Changes,
}

impl Default for Mailbox {
    fn default() -> Self {
        Self {
            ports: Mutex::default(),
            barred: Mutex::default(),
            lies: AtomicBool::new(false),
            // The other half is for the program itself.
            most: AtomicUsize::new(memory::usable() / 2),
            holds: AtomicBool::new(false),
            looks_up_first: AtomicBool::new(false),
            bars: AtomicBool::new(false),
            has_news: AtomicBool::new(false),
            upcall_changes: Changes::default(),
        }
    }
}

impl Mailbox {
    /// Sets how many bytes other processes may leave unread.
    pub fn limit(&self, most: usize) {
        self.most.store(most, Relaxed);
    }

    /// Registers an upcall, and runs it on this thread for the messages already there. Messages
    /// that come meanwhile wait for that.
    pub fn on_message(&self, port: u64, place: Place, upcall: PortUpcall, own: Rank) {
        let call = Mutex::new(upcall);
        let upcall = Arc::new(Registered { place, call });
        let mut running = upcall.call.lock();
        self.looks_up_first.store(true, Release);
        let (earlier, before) = {
            let mut ports = self.ports.lock();
            self.upcall_changes.one_more();
            let earlier = ports.empty(port, own);
            let state = ports.by_number.entry(port).or_default();
            (earlier, state.upcall.replace(upcall.clone()))
        };
        for arrived in earlier.into_messages() {
            let _ = upcall::run(place, || running(arrived));
        }
        drop(running);
        // The earlier upcall drops outside of the locks, because what it keeps may come here when
        // it is dropped.
        before.into_iter().for_each(Registered::let_go);
    }

    /// Takes all upcalls, which the caller drops outside of the lock.
    pub fn take_upcalls(&self) -> Vec<Arc<Registered<PortUpcall>>> {
        let mut ports = self.ports.lock();
        self.upcall_changes.one_more();
        let states = ports.by_number.values_mut();
        states.filter_map(|port| port.upcall.take()).collect()
    }

    /// Takes the first unread message of a port that fits.
    pub fn first(
        &self,
        port: u64,
        from: Option<Rank>,
        tag: Option<u32>,
        engine: &dyn Engine,
    ) -> Option<Arrived> {
        self.take(port, engine, |unread| unread.take(from, tag))
    }

    /// Says what the first unread message of a port that fits is. It stays.
    pub fn peek(&self, port: u64, from: Option<Rank>, tag: Option<u32>) -> Option<Probed> {
        self.if_any_lies()?;
        let mut ports = self.ports.lock();
        let unread = ports.unread(port)?;
        let number = unread.find(from, tag)?;
        unread.get(number).map(Probed::of)
    }

    /// Says what the first unread message of a port is that a predicate accepts. It stays.
    pub fn peek_where(
        &self,
        port: u64,
        accepts: &mut dyn FnMut(&Arrived) -> bool,
    ) -> Option<Probed> {
        let mut next = 0;
        loop {
            let arrived = self.next(port, &mut next)?;
            if accepts(&arrived) {
                return Some(Probed::of(&arrived));
            }
        }
    }

    /// Takes the first unread message of a port that a predicate accepts. Looks at messages from
    /// number `next` on, and moves that behind the last one that it has looked at.
    pub fn first_where(
        &self,
        port: u64,
        next: &mut u64,
        accepts: &mut dyn FnMut(&Arrived) -> bool,
        engine: &dyn Engine,
    ) -> Option<Arrived> {
        loop {
            if !accepts(&self.next(port, next)?) {
                continue;
            }
            let number = *next - 1;
            // Another thread may have taken it meanwhile.
            let taken = self.take(port, engine, |unread| unread.remove(number));
            if taken.is_some() {
                return taken;
            }
        }
    }

    /// Returns a copy of the first unread message of a port from number `next` on, and moves that
    /// behind it. So a predicate looks at it without a lock.
    fn next(&self, port: u64, next: &mut u64) -> Option<Arrived> {
        self.if_any_lies()?;
        let mut ports = self.ports.lock();
        let (number, arrived) = ports.unread(port)?.next(*next)?;
        *next = number + 1;
        Some(arrived.clone())
    }

    /// Returns whether a port has an upcall, which takes all its messages.
    pub fn has_upcall(&self, port: u64) -> bool {
        // `looks_up_first` is set before the upcall is.
        self.looks_up_first() && {
            let ports = self.ports.lock();
            (ports.by_number.get(&port)).is_some_and(|state| state.upcall.is_some())
        }
    }

    fn if_any_lies(&self) -> Option<()> {
        // A thread that stores a message sets `lies` before it wakes the waiting room or lets go of
        // the receiving end.
        self.lies.load(Acquire).then_some(())
    }

    fn take(
        &self,
        port: u64,
        engine: &dyn Engine,
        take: impl FnOnce(&mut Unread) -> Option<Arrived>,
    ) -> Option<Arrived> {
        self.if_any_lies()?;
        let mut ports = self.ports.lock();
        let arrived = ports.take(port, engine.rank(), take)?;
        self.lies.store(ports.unread > 0, Release);
        let state = ports.by_number.get_mut(&port)?;
        if state.unread < UNREAD_LOW && !state.held.is_empty() {
            tell(port, std::mem::take(&mut state.held), engine);
        }
        Some(arrived)
    }

    /// Offers a message to the waiting caller, unless the ports must be consulted first. Returns
    /// whether the caller takes it.
    #[inline]
    pub fn offer(&self, incoming: &mut Incoming<'_>, awaited: &mut dyn Awaited) -> bool {
        !self.looks_up_first() && awaited.take(incoming)
    }

    #[inline]
    fn looks_up_first(&self) -> bool {
        self.looks_up_first.load(Acquire)
    }

    /// Takes a message that came.
    pub fn put(
        &self,
        port: u64,
        arrived: Arrived,
        engine: &dyn Engine,
        last: &mut Last<PortUpcall>,
    ) -> Put {
        let (from, own) = (arrived.from, engine.rank());
        let most = self.most.load(Relaxed);
        if self.is_barred(from) {
            return Put::Refused;
        }
        let changes = self.upcall_changes.count();
        if let Some(upcall) = last.get(port, changes) {
            return take_by(upcall, arrived);
        }
        let (is_much, is_too_much) = {
            let mut ports = self.ports.lock();
            let state = ports.by_number.get(&port);
            if let Some(upcall) = state.and_then(|state| state.upcall.clone()) {
                drop(ports);
                last.set(port, changes, &upcall);
                return take_by(upcall, arrived);
            }
            let unread = ports.keep(port, arrived, own);
            self.lies.store(true, Release);
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
        // Values drop outside of the lock.
        let (flood, _gone) = {
            let mut ports = self.ports.lock();
            ports.bar(own, most, &mut self.barred.lock())
        };
        if flood.is_some() {
            self.looks_up_first.store(true, SeqCst);
            self.bars.store(true, SeqCst);
        }
        flood
    }

    /// Notes that a barred sender's loss is recorded: a thread that receives from any sender is to
    /// learn of it.
    pub fn is_noted(&self, rank: Rank) {
        let mut barred = self.barred.lock();
        if let Some(news) = barred.get_mut(&rank).filter(|news| **news == News::Early) {
            *news = News::Untold;
            self.has_news.store(true, SeqCst);
        }
    }

    /// Returns whether a sender is barred.
    #[inline]
    pub fn is_barred(&self, rank: Rank) -> bool {
        self.bars.load(Acquire) && self.barred.lock().contains_key(&rank)
    }

    /// Notes that a rank now belongs to another process.
    pub fn joined(&self, rank: Rank) {
        if self.bars.load(Acquire) {
            self.barred.lock().remove(&rank);
        }
    }

    /// Returns whether a thread that receives from any sender is to learn of a barred one.
    #[inline]
    pub fn has_news(&self) -> bool {
        self.has_news.load(Acquire)
    }

    /// Returns a barred sender that the program is to learn of, once each.
    pub fn take_news(&self) -> Option<Rank> {
        if !self.has_news() {
            return None;
        }
        let mut barred = self.barred.lock();
        let mut untold = (barred.iter_mut()).filter(|(_, news)| **news == News::Untold);
        let first = untold.next().map(|(rank, news)| {
            *news = News::Reported;
            *rank
        });
        let has_more = untold.next().is_some();
        self.has_news.store(has_more, Release);
        first
    }

    /// Releases all held senders. This process waits, perhaps for what they send later, or has
    /// looked in vain.
    #[inline]
    pub fn let_go(&self, engine: &dyn Engine) {
        // Pairs with `hold`, which sets `holds` before it looks whether a thread waits.
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

    /// Holds a sender to a port, unless this process waits.
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
        // A thread may have begun to wait before `holds` was set.
        if engine.is_awaited() {
            self.let_go(engine);
        }
    }
}

/// Gives a message to an upcall. Its sender does not wait for the upcall's effects, so a panic is
/// only printed.
fn take_by(upcall: Arc<Registered<PortUpcall>>, arrived: Arrived) -> Put {
    let _ = upcall.run(|upcall| upcall(arrived));
    Put::Taken
}

/// Releases senders to a port. They are held and released with the ports locked, so that the last
/// word holds.
fn tell(port: u64, held: Vec<Rank>, engine: &dyn Engine) {
    for rank in held {
        let is_held = false;
        engine.post(rank, Envelope::Hold { port, is_held }, Message::new());
    }
}
