//! Driving: one thread takes arrivals, runs the protocols on them, and hands over what they
//! deliver.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use antiphon_fiber::ManyServers;

use super::driver::Driving;
use super::driver_state::{Role, Work};
use super::node::{End, Node, StackOf};
use super::progress_thread::{ASIDE_MAX, Aside};
use super::{Awaited, Nobody};
use crate::platform::linger::Linger;
use crate::platform::{Event, Inbox, Platform, Rank, Taker};
use crate::protocol::{Content, Delivery, Incoming};
use crate::thread;

/// Number of waits that end while the progress thread stands aside, from which on waiters drive
/// often enough without it.
const OFTEN: u32 = 16;

/// A driving thread as it waits for a frame.
struct Waiter<'a, P: Platform> {
    node: &'a Node<P>,
    awaited: &'a mut dyn Awaited,
    /// The delivery that it has taken for the program.
    taken: Option<Delivery>,
}

impl<'a, P: Platform> Waiter<'a, P> {
    fn new(node: &'a Node<P>, awaited: &'a mut dyn Awaited) -> Self {
        Self {
            node,
            awaited,
            taken: None,
        }
    }
}

impl<P: Platform> Taker for Waiter<'_, P> {
    fn take(&mut self, from: Rank, frame: &[u8]) -> bool {
        if !self.node.hands_over_at_once() || self.taken.is_some() {
            return false;
        }
        let Some(incoming) = Incoming::in_bytes(from, frame) else {
            return false;
        };
        self.taken = self.node.receive(incoming, true, self.awaited);
        true
    }
}

/// Returns the earlier of two times; `None` is for ever.
fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Least number of looks of the progress thread in a silence, even while another thread drives.
/// Otherwise peers would wait in vain for a driver that is busy.
const FAR_IN_A_SILENCE: u32 = 8;

impl<P: Platform> Node<P> {
    /// Runs the session's progress thread.
    pub(super) fn drive_always(&self) {
        let (mut rounds, mut is_called, mut aside) = (0, false, Aside::default());
        while !self.is_over() {
            let seen = self.driver.state().waits_ended();
            let is_idle = is_called || seen == rounds;
            let is_often = seen.wrapping_sub(rounds) >= OFTEN;
            let for_so_long = aside.next(is_often, self.stack.lock().led());
            rounds = seen;
            if is_idle && !self.driver.state().is_wanted() && self.drive_until_wanted() {
                is_called = false;
                continue;
            }
            let waits = || {
                let state = self.driver.state();
                state.is_wanted() && state.waits_ended() == rounds && !state.is_stopped()
            };
            is_called = match is_idle && waits() {
                true => self.leave_to_who_waits(waits),
                false => self.progress_thread.stand_aside(for_so_long),
            };
        }
        let patience = Linger::patience_of(self.silence);
        self.linger(patience);
        // The platform takes leave now, and not at its drop: ports may hold it for longer.
        self.platform.leave(patience);
    }

    /// Stands aside for a thread that has waited since the last look, and so waits for long.
    /// Returns true if the thread was called.
    fn leave_to_who_waits(&self, waits: impl Fn() -> bool) -> bool {
        // A thread that has the receiving end drives until its wait is over. A fiber only looks now
        // and then, and has no turn behind others that compute.
        let at_most = match self.driver.state().is_taken() {
            true => self.silence / FAR_IN_A_SILENCE,
            false => ASIDE_MAX,
        };
        let is_called = self.progress_thread.stand_far(&waits, at_most);
        if !is_called && waits() {
            self.drive_until_wanted();
        }
        is_called
    }

    /// Drives while no other thread wants to; takes what is there if one does. Returns false if
    /// another thread drove already.
    fn drive_until_wanted(&self) -> bool {
        let Some(mut end) = self.driver.try_drive(Role::ProgressThread) else {
            return false;
        };
        loop {
            let is_wanted = self.driver.state().is_wanted();
            let until = is_wanted.then_some(self.start);
            self.drive(&mut end, until, &mut Nobody);
            if is_wanted || self.is_over() {
                break;
            }
        }
        drop(end);
        self.pass_on();
        true
    }

    pub(super) fn is_over(&self) -> bool {
        self.driver.state().is_stopped()
    }

    /// Goes on until peers have acknowledged what was sent. So a process that ends its session
    /// right after a send has still sent the message.
    fn linger(&self, patience: Duration) {
        let mut end = loop {
            match self.driver.try_drive(Role::ProgressThread) {
                Some(end) => break end,
                // The thread that has the receiving end finds the session over.
                None => std::thread::sleep(Duration::from_micros(100)),
            }
        };
        let mut linger = Linger::new(patience, Instant::now());
        while linger.waits(self.stack.lock().backlog(), Instant::now()) {
            let soon = Instant::now() + Duration::from_millis(5);
            self.turn(&mut end, Some(soon), &mut Nobody);
        }
        end.end();
    }

    /// Runs one round with the receiving end: takes arrivals, does what is due, hands over. Waits
    /// until `until` at most; a time in the past makes it a look.
    pub(super) fn drive(
        &self,
        end: &mut Driving<'_, End<P::Inbox>>,
        until: Option<Instant>,
        awaited: &mut dyn Awaited,
    ) {
        self.turn(end, self.unless_over(until), awaited);
    }

    /// Does the same as [`drive`](Self::drive), for a fiber that sleeps for its server. Returns
    /// false if the server has something else to run: then this was a look.
    pub(super) fn drive_for_server(
        &self,
        end: &mut Driving<'_, End<P::Inbox>>,
        until: Option<Instant>,
        awaited: &mut dyn Awaited,
    ) -> bool {
        let until = self.about_to_take(end, self.unless_over(until));
        let mut taker = Waiter::new(self, awaited);
        let End { inbox, events, .. } = &mut **end;
        let mut receive = |until| inbox.receive_for(until, events, &mut taker);
        let slept = match until == Some(self.start) {
            true => Some(receive(until)),
            false => {
                ManyServers::park_while_idle(&self.waker, |alarm| receive(earlier(until, alarm)))
            }
        };
        let seen = slept.unwrap_or_else(|| receive(Some(self.start)));
        let taken = taker.taken;
        self.have_taken(end, seen, taken, awaited);
        slept.is_some()
    }

    /// Turns a wait into a look if the session is over. A waiter otherwise finds that only after
    /// its round.
    fn unless_over(&self, until: Option<Instant>) -> Option<Instant> {
        match self.is_over() {
            true => Some(self.start),
            false => until,
        }
    }

    /// Does the same as [`drive`](Self::drive), whether the session is over or not.
    fn turn(
        &self,
        end: &mut Driving<'_, End<P::Inbox>>,
        until: Option<Instant>,
        awaited: &mut dyn Awaited,
    ) {
        let until = self.about_to_take(end, until);
        let mut taker = Waiter::new(self, awaited);
        let End { inbox, events, .. } = &mut **end;
        let seen = inbox.receive_for(until, events, &mut taker);
        let taken = taker.taken;
        self.have_taken(end, seen, taken, awaited);
    }

    /// Prepares to take arrivals, and returns the time until which the caller may wait for them.
    fn about_to_take(
        &self,
        end: &mut Driving<'_, End<P::Inbox>>,
        until: Option<Instant>,
    ) -> Option<Instant> {
        thread::has_woken_one();
        let is_look = until == Some(self.start);
        if is_look || end.fall_asleep().forbids_sleep() {
            return Some(self.start);
        }
        let has_sent = self.has_sent.load(Ordering::Relaxed);
        if has_sent {
            self.has_sent.store(false, Ordering::Relaxed);
        }
        end.inbox.begin_wait(has_sent);
        // The driver reads the due time only after it announced its sleep: see `due_ns`.
        earlier(until, self.due())
    }

    /// Handles what was just taken. `taken` is a delivery for the program that came before it.
    pub(super) fn have_taken(
        &self,
        end: &mut Driving<'_, End<P::Inbox>>,
        seen: Option<Instant>,
        taken: Option<Delivery>,
        awaited: &mut dyn Awaited,
    ) {
        if taken.is_some() || self.has_something(end) {
            end.wake_up();
            let mut is_changed = false;
            match taken {
                Some(taken) if end.events.is_empty() => {
                    let last = &mut end.last_upcalls;
                    is_changed = self.dispatcher.deliver(taken, self, awaited, last);
                }
                // Arrivals of processes come first: `taken` may refer to one.
                taken => end.deliveries.extend(taken),
            }
            is_changed |= self.take(end, seen, awaited) | self.hand_over(end, awaited);
            if is_changed {
                self.waiting.changed();
            }
        }
        // A woken thread that shares this processor would otherwise wait for a vain spin.
        if thread::has_woken_one() {
            end.yields.give_to_woken(thread::risen);
        }
    }

    /// Returns whether anything came, is noted, or may be due.
    #[inline]
    fn has_something(&self, end: &End<P::Inbox>) -> bool {
        !(end.events.is_empty() && end.deliveries.is_empty())
            || self.due_ns.load(Ordering::Acquire) != u64::MAX
            || self.driver.state().has(Work::DELIVERIES | Work::ENDS)
    }

    /// Returns whether a plain frame may go straight to the program: nothing precedes it, and no
    /// protocol must see it.
    #[inline]
    fn hands_over_at_once(&self) -> bool {
        StackOf::<P>::HAS_PLAIN
            && self.due_ns.load(Ordering::Acquire) == u64::MAX
            && !self.driver.state().has(Work::DELIVERIES)
    }

    /// Takes arrivals: gives plain ones to the program, the rest to the protocols. Returns whether
    /// anything may have changed. `seen` is a recent reading of the clock, if there is one.
    fn take(
        &self,
        end: &mut Driving<'_, End<P::Inbox>>,
        seen: Option<Instant>,
        awaited: &mut dyn Awaited,
    ) -> bool {
        let due_ns = self.due_ns.load(Ordering::Acquire);
        if due_ns == u64::MAX {
            if end.events.is_empty() {
                return false;
            }
            self.fetch(end);
            if let Some(is_for_all) = self.take_plain(end, awaited) {
                return is_for_all;
            }
        }
        let now = seen.map_or_else(|| self.now(), |moment| self.time_of(moment));
        let is_due = due_ns <= now.as_nanos() as u64;
        if end.events.is_empty() && !is_due {
            return false;
        }
        let mut stack = self.stack.lock();
        // Work of other threads precedes the new arrivals.
        self.fetch(end);
        for event in end.events.drain(..) {
            match event {
                Event::Frame { from, mut frame } if StackOf::<P>::is_plain_answer(&frame) => {
                    stack.heard(now, from);
                    if let Some(answer) = Incoming::in_frame(from, &mut frame) {
                        self.receive(answer, false, awaited);
                    }
                }
                Event::Frame { from, frame } => {
                    // A frame that does not decode is dropped: only a faulty peer sends it. A
                    // broadcast of an ordered platform is decoded as any other frame, since no link
                    // adds to it.
                    let _ = stack.frame(now, from, frame);
                }
                Event::Multicast { from, frame } => {
                    let _ = stack.multicast(now, from, frame);
                }
                Event::Hears { rank } => stack.hears(rank, true),
                Event::Lost { rank, loss } => match loss.has_left {
                    true => stack.left(now, rank, &loss.reason),
                    false => stack.lost(now, rank, loss.is_certain, &loss.reason),
                },
                Event::Joined { rank, name } => {
                    stack.joined(now, rank);
                    self.dispatcher.joined(rank, name);
                }
                Event::Room { to } => self.dispatcher.flow_control.found_room(to),
            }
        }
        if is_due {
            stack.tick_with(now, |rank| self.platform.transfer(rank));
        }
        stack.flush(now);
        self.perform(&mut stack, now, |delivery| {
            end.deliveries.push_back(delivery)
        });
        self.set_due(&stack);
        if stack.has_kept() {
            self.see_to_the_rest();
        }
        true
    }

    /// Takes frames that no protocol has to see, up to the first other one. If there were no
    /// others, returns whether threads besides the caller may wait for them.
    fn take_plain(
        &self,
        end: &mut Driving<'_, End<P::Inbox>>,
        awaited: &mut dyn Awaited,
    ) -> Option<bool> {
        let is_plain = |event: &Event| matches!(event, Event::Frame { frame, .. } if StackOf::<P>::is_plain(frame));
        let plain = end.events.iter().take_while(|event| is_plain(event));
        let count = plain.count();
        // Earlier deliveries are handed over first, and earlier than these frames. Mostly there are
        // none.
        let is_alone = end.deliveries.is_empty() && count == end.events.len();
        let mut is_for_all = false;
        let End {
            events,
            deliveries,
            last_upcalls,
            ..
        } = &mut **end;
        for event in events.drain(..count) {
            let Event::Frame { from, mut frame } = event else {
                continue;
            };
            // A truncated frame is dropped: only a faulty peer sends it.
            let Some(incoming) = Incoming::in_frame(from, &mut frame) else {
                continue;
            };
            match self.receive(incoming, is_alone, awaited) {
                Some(delivery) if is_alone => {
                    is_for_all |= self
                        .dispatcher
                        .deliver(delivery, self, awaited, last_upcalls);
                }
                later => deliveries.extend(later),
            }
        }
        events.is_empty().then_some(is_for_all)
    }

    /// Decides who gets a plain message, and returns it if that is the program.
    ///
    /// - An answer ends its request.
    /// - A message goes to the caller if the caller waits for it and no earlier one is still to be
    ///   handed over (`is_next`).
    /// - A message whose sender wants a receipt goes to the caller only when it is handed over.
    #[inline]
    fn receive(
        &self,
        mut incoming: Incoming<'_>,
        is_next: bool,
        awaited: &mut dyn Awaited,
    ) -> Option<Delivery> {
        match incoming.content {
            Content::Answer { id, .. } => {
                if self.dispatcher.pending.answered(&mut incoming, awaited) {
                    self.waiting.ended(id);
                }
                None
            }
            Content::Message { receipt: None, .. } if is_next => {
                match self.dispatcher.mailbox.offer(&mut incoming, awaited) {
                    true => None,
                    false => incoming.into_delivery(),
                }
            }
            _ => incoming.into_delivery(),
        }
    }

    /// Takes the work that other threads or upcalls have left.
    fn fetch(&self, end: &mut Driving<'_, End<P::Inbox>>) {
        // The note is cleared first, so that later work is noted again.
        if self.driver.clear(Work::DELIVERIES) {
            end.deliveries.append(&mut self.deliveries.lock());
        }
    }

    /// Hands over all deliveries. Returns whether threads besides the caller may wait for any of
    /// them. Only the holder of the receiving end does this, so upcalls run one at a time.
    fn hand_over(&self, end: &mut Driving<'_, End<P::Inbox>>, awaited: &mut dyn Awaited) -> bool {
        // The next round takes what upcalls bring about meanwhile. Otherwise an upcall that sends
        // to its own process would keep all else from its turn.
        self.fetch(end);
        let mut is_for_all = false;
        while let Some(delivery) = end.deliveries.pop_front() {
            let last = &mut end.last_upcalls;
            is_for_all |= self.dispatcher.deliver(delivery, self, awaited, last);
        }
        is_for_all
    }
}
