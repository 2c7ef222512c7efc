//! Driving: taking what comes, running the protocols on it, handing over what they deliver.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::node::{End, Node};
use crate::platform::{Event, Inbox, Platform};

/// How long a session that ends waits for peers to acknowledge what was sent.
const LINGER: Duration = Duration::from_secs(1);

impl<P: Platform> Node<P> {
    /// The session's own thread.
    pub(super) fn drive_always(&self) {
        let (mut rounds, mut is_called) = (0, false);
        while !self.is_over() {
            let seen = self.rounds.load(Ordering::SeqCst);
            let is_idle = is_called || seen == rounds;
            rounds = seen;
            if is_idle && !self.is_wanted() && self.drive_until_wanted() {
                is_called = false;
                continue;
            }
            let waits = || {
                self.is_wanted() && self.rounds.load(Ordering::SeqCst) == rounds && !self.is_over()
            };
            // Who has waited since we last looked waits for long.
            is_called = match is_idle && waits() {
                true => self.own.stand_far(waits),
                false => self.own.stand_aside(),
            };
        }
        self.linger();
    }

    /// Drives while nobody else wants to. False if somebody drove already.
    fn drive_until_wanted(&self) -> bool {
        let Some(mut end) = self.end.try_lock() else {
            return false;
        };
        self.own.drives.store(true, Ordering::SeqCst);
        while !self.is_wanted() && !self.is_over() {
            self.drive(&mut end, None);
        }
        self.own.drives.store(false, Ordering::SeqCst);
        drop(end);
        self.pass_on();
        true
    }

    fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::SeqCst) > 0
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Goes on until peers have acknowledged what was sent: whoever ends its session right after a message has sent it all the same.
    fn linger(&self) {
        let until = Instant::now() + LINGER;
        let mut end = self.end.lock();
        while self.stack.lock().backlog() > 0 && Instant::now() < until {
            let soon = Instant::now() + Duration::from_millis(5);
            self.drive(&mut end, Some(soon));
        }
    }

    /// One round with the receiving end: takes what comes, does what is due, hands over. Waits at most until a time; one in the past is a look.
    pub(super) fn drive(&self, end: &mut End<P::Inbox>, until: Option<Instant>) {
        let due = self.due();
        let until = match (until, due) {
            (Some(until), Some(due)) => Some(until.min(due)),
            (until, due) => until.or(due),
        };
        // Pairs with `ask`: who brings work sees that we sleep, or we see the work.
        self.sleeps.store(true, Ordering::SeqCst);
        let may_sleep = !self.has_deliveries.load(Ordering::SeqCst) && !self.is_over();
        let until = if may_sleep { until } else { Some(self.start) };
        end.inbox.receive(until, &mut end.events);
        self.sleeps.store(false, Ordering::SeqCst);
        self.take(&mut end.events);
        self.hand_over();
    }

    /// Gives the protocols what came.
    fn take(&self, events: &mut Vec<Event>) {
        let due_ns = self.due_ns.load(Ordering::Acquire);
        if events.is_empty() && due_ns == u64::MAX {
            return;
        }
        let now = self.now();
        let is_due = due_ns <= now.as_nanos() as u64;
        if events.is_empty() && !is_due {
            return;
        }
        let mut stack = self.stack.lock();
        for event in events.drain(..) {
            match event {
                Event::Frame { from, frame } => {
                    // What does not decode is dropped: only a faulty peer sends it.
                    // A multicast of an ordered platform is a frame as any other: no link adds to it.
                    let _ = stack.frame(now, from, frame);
                }
                Event::Together { from, frame } => {
                    let _ = stack.together(now, from, frame);
                }
                Event::Hears { rank } => stack.hears(rank, true),
                Event::Lost { rank, loss } => stack.lost(now, rank, loss.is_certain, &loss.reason),
                Event::Joined { rank, name } => {
                    stack.joined(rank);
                    self.desk.joined(rank, name);
                }
                Event::Room { to } => self.desk.has_room(to),
            }
        }
        if is_due {
            stack.tick(now);
        }
        stack.flush(now);
        self.perform(&mut stack);
        self.set_due(&stack);
        drop(stack);
        self.waiting.changed();
    }

    /// Hands over what is there. Only who has the receiving end does this, so upcalls run one at a time.
    fn hand_over(&self) {
        if !self.has_deliveries.load(Ordering::SeqCst) {
            return;
        }
        loop {
            let mut deliveries = self.deliveries.lock();
            let Some(delivery) = deliveries.pop_front() else {
                self.has_deliveries.store(false, Ordering::SeqCst);
                break;
            };
            drop(deliveries);
            self.desk.deliver(delivery, self);
        }
        self.waiting.changed();
    }
}
