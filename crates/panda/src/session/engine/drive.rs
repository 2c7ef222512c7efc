//! Driving: taking what comes, running the protocols on it, handing over what they deliver.

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

/// Waits that end while the session's progress thread stands aside, from which on threads drive often enough without it.
const OFTEN: u32 = 16;

/// Who drives, as it waits for a frame.
struct Waiter<'a, P: Platform> {
    node: &'a Node<P>,
    awaited: &'a mut dyn Awaited,
    /// What it has taken for the program.
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

/// The earlier one of two times, of which either may be none.
fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Times that the session's progress thread looks in a silence, at least, whether somebody drives: peers must not wait in vain for who does not get to it.
const FAR_IN_A_SILENCE: u32 = 8;

impl<P: Platform> Node<P> {
    /// The session's progress thread.
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
        // Now, and not when it is dropped: ports may hold it for longer.
        self.platform.leave(patience);
    }

    /// Stands aside for who has waited since we last looked, and so waits for long. True if it was called.
    fn leave_to_who_waits(&self, waits: impl Fn() -> bool) -> bool {
        // Who has the receiving end drives until its wait is over. A fiber only looks now and then: behind others that compute it has no turn.
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

    /// Drives while nobody else wants to; takes what is there if somebody does. False if somebody drove already.
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

    /// Goes on until peers have acknowledged what was sent: whoever ends its session right after a message has sent it all the same.
    fn linger(&self, patience: Duration) {
        let mut end = loop {
            match self.driver.try_drive(Role::ProgressThread) {
                Some(end) => break end,
                // Who has it finds the session over.
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

    /// One round with the receiving end: takes what comes, does what is due, hands over. Waits at most until a time; one in the past is a look.
    pub(super) fn drive(
        &self,
        end: &mut Driving<'_, End<P::Inbox>>,
        until: Option<Instant>,
        awaited: &mut dyn Awaited,
    ) {
        self.turn(end, self.unless_over(until), awaited);
    }

    /// The same by a fiber that sleeps for its server. False if that has something else to run: then this was a look.
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

    /// Who waits finds the session over only after its round.
    fn unless_over(&self, until: Option<Instant>) -> Option<Instant> {
        match self.is_over() {
            true => Some(self.start),
            false => until,
        }
    }

    /// The same, whether the session is over or not.
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

    /// The caller takes what comes: until when it may wait for that.
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
        // Read only after the sleep was announced: see `due_ns`.
        earlier(until, self.due())
    }

    /// It has, and something with it for the program, which came before what is taken now.
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
                // Who has joined is known first: it may tell of that.
                taken => end.deliveries.extend(taken),
            }
            is_changed |= self.take(end, seen, awaited) | self.hand_over(end, awaited);
            if is_changed {
                self.waiting.changed();
            }
        }
        // Who was woken and shares this processor would have to wait for a spin in vain.
        if thread::has_woken_one() {
            end.yields.give_to_woken(thread::risen);
        }
    }

    /// Whether anything came, or is noted, or may be due.
    #[inline]
    fn has_something(&self, end: &End<P::Inbox>) -> bool {
        !(end.events.is_empty() && end.deliveries.is_empty())
            || self.due_ns.load(Ordering::Acquire) != u64::MAX
            || self.driver.state().has(Work::DELIVERIES | Work::ENDS)
    }

    /// Whether nothing is before a plain frame that comes now, and nobody but the program has to know of it.
    #[inline]
    fn hands_over_at_once(&self) -> bool {
        StackOf::<P>::HAS_PLAIN
            && self.due_ns.load(Ordering::Acquire) == u64::MAX
            && !self.driver.state().has(Work::DELIVERIES)
    }

    /// Takes what came: what is plain for the program, the rest for the protocols. Whether anything may have changed. The clock was `seen` a moment ago, if at all.
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
        // What other threads brought about is before what comes now.
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
                    // What does not decode is dropped: only a faulty peer sends it.
                    // A broadcast of an ordered platform is a frame as any other: no link adds to it.
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

    /// Takes frames that no protocol has to know of, up to the first that is another. If that was all, whether others than the caller may wait for them.
    fn take_plain(
        &self,
        end: &mut Driving<'_, End<P::Inbox>>,
        awaited: &mut dyn Awaited,
    ) -> Option<bool> {
        let is_plain = |event: &Event| matches!(event, Event::Frame { frame, .. } if StackOf::<P>::is_plain(frame));
        let plain = end.events.iter().take_while(|event| is_plain(event));
        let count = plain.count();
        // What came before is handed over first, and after what else came: mostly there is nothing.
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
            // One that is cut is dropped: only a faulty peer sends it.
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

    /// Decides for whom a plain message is. An answer ends its request. A message goes to the
    /// caller, if that waits for it and no earlier message is still to be handed over (`is_next`);
    /// one whose sender wants a receipt goes there only when it is handed over. What is left is for
    /// the program.
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

    /// Takes what other threads, or upcalls, have brought about.
    fn fetch(&self, end: &mut Driving<'_, End<P::Inbox>>) {
        // Cleared first: what comes later is noted again.
        if self.driver.clear(Work::DELIVERIES) {
            end.deliveries.append(&mut self.deliveries.lock());
        }
    }

    /// Hands over what is there; whether others than the caller may wait for any of it. Only who has the receiving end does this, so upcalls run one at a time.
    fn hand_over(&self, end: &mut Driving<'_, End<P::Inbox>>, awaited: &mut dyn Awaited) -> bool {
        // What upcalls bring about meanwhile is the next round's: else one that sends to its own process would keep everything else from its turn.
        self.fetch(end);
        let mut is_for_all = false;
        while let Some(delivery) = end.deliveries.pop_front() {
            let last = &mut end.last_upcalls;
            is_for_all |= self.dispatcher.deliver(delivery, self, awaited, last);
        }
        is_for_all
    }
}
