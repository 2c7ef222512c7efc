//! Waiting threads and fibers.
//!
//! An OS thread drives while it waits. So does a fiber whose server has nothing else to run. A
//! fiber beside others looks for a while, yielding to them, and then parks.

use std::time::{Duration, Instant};

use antiphon_fiber::{ManyServers, Threads as _};

use super::driver::Driving;
use super::driver_state::{Role, Work};
use super::node::{self, Node};
use super::{Awaited, Engine as _, Interest, Nobody, Request};
use crate::message::Message;
use crate::platform::Platform;
use crate::session::pending_requests::End;
use crate::session::watching::UNWATCHED;

/// Longest time that the session's progress thread takes to let go of the receiving end if it only
/// sleeps.
const LETS_GO: Duration = Duration::from_millis(1);

/// A condition that a thread waits for, and the time at which the wait ends.
pub(super) struct Wait<'a> {
    pub interest: Interest,
    pub awaited: &'a mut dyn Awaited,
    pub until: Option<Instant>,
}

/// A wait of a thread that found the receiving end free. Its drop lets go and then passes on, also
/// if the awaited condition panics.
pub(super) struct Turn<'a, P: Platform> {
    // Fields drop in this order: the thread lets go first, and then passes on.
    end: Driving<'a, node::End<P::Inbox>>,
    node: PassesOn<'a, P>,
}

/// A guard that has another thread drive when it is dropped.
struct PassesOn<'a, P: Platform>(&'a Node<P>);

/// How a fiber's drive ended.
pub(super) enum Driven {
    /// The wait ended, with whether its condition holds.
    Ended(bool),
    /// The fiber's server has something else to run.
    GivesWay,
    /// Another thread has the receiving end.
    Taken,
}

impl<P: Platform> Turn<'_, P> {
    fn drive(&mut self, until: Option<Instant>, awaited: &mut dyn Awaited) {
        let (end, node) = (&mut self.end, self.node.0);
        match ManyServers::is_caller() {
            true => drop(node.drive_for_server(end, until, awaited)),
            false => node.drive(end, until, awaited),
        }
    }
}

impl<P: Platform> Drop for PassesOn<'_, P> {
    fn drop(&mut self) {
        self.0.pass_on();
    }
}

/// A wait of a thread that wants the receiving end. Its drop ends the wish and passes on, also if
/// the awaited condition panics. The thread has let go before.
pub(super) struct Wanted<'a, P: Platform>(&'a Node<P>);

impl<P: Platform> Drop for Wanted<'_, P> {
    fn drop(&mut self) {
        self.0.stop_wanting();
    }
}

impl<P: Platform> Node<P> {
    /// Waits until something holds, a time has passed or the session is over. Returns whether it
    /// holds. The caller has just looked.
    pub(super) fn wait_for(
        &self,
        interest: Interest,
        awaited: &mut dyn Awaited,
        until: Option<Instant>,
    ) -> bool {
        let mut wait = Wait {
            interest,
            awaited,
            until,
        };
        let is_held = match ManyServers::is_caller() {
            true => self.wait_as_fiber(&mut wait),
            false => self.wait_as_thread(&mut wait),
        };
        self.see_to_its_end();
        is_held
    }

    /// Waits for the progress thread if the session is over. An upcall on this very thread may have
    /// ended the session while the thread drove, when it could not wait.
    pub(super) fn see_to_its_end(&self) {
        if self.is_over() {
            self.progress_thread.join();
        }
    }

    /// Returns whether the condition holds if the wait has ended; `None` if it goes on.
    fn ended(&self, wait: &mut Wait<'_>) -> Option<bool> {
        if wait.awaited.holds() {
            return Some(true);
        }
        let is_late = wait.until.is_some_and(|until| Instant::now() >= until);
        (is_late || self.is_over()).then(|| wait.awaited.holds())
    }

    fn wait_as_thread(&self, wait: &mut Wait<'_>) -> bool {
        match self.take_turn() {
            Some(turn) => self.wait_in_turn(turn, wait),
            None => self.wait_for_turn(wait),
        }
    }

    fn wait_in_turn(&self, mut turn: Turn<'_, P>, wait: &mut Wait<'_>) -> bool {
        // The last driver may have made the condition hold before it let go.
        if wait.awaited.holds() {
            return true;
        }
        loop {
            turn.drive(wait.until, wait.awaited);
            if let Some(is_held) = self.ended(wait) {
                return is_held;
            }
        }
    }

    fn wait_for_turn(&self, wait: &mut Wait<'_>) -> bool {
        let _wanted = self.want();
        loop {
            match self.driver.try_drive(Role::Wanter) {
                // The last driver may have made the condition hold before it let go.
                Some(_) if wait.awaited.holds() => return true,
                Some(mut end) => self.drive(&mut end, wait.until, wait.awaited),
                None => self.sleep(wait),
            }
            if let Some(is_held) = self.ended(wait) {
                return is_held;
            }
        }
    }

    /// Sends a plain request with the receiving end in hand, and waits for the next arrivals.
    ///
    /// So the answer comes to no other thread. The request is registered as pending only if the
    /// answer is not among them.
    pub(super) fn request_and_drive(
        &self,
        request: Request,
        payload: Message,
        deadline: Option<Duration>,
        end: &mut End<'_>,
    ) {
        let Some(mut turn) = self.take_turn() else {
            return end.begins(self.request(end.peer, request, payload, deadline));
        };
        let losses = self.dispatcher.losses();
        let id = self.dispatcher.pending.number();
        end.begins(id);
        self.give_plain(end.peer, &request.envelope(id), payload);
        let moment = deadline.map_or(UNWATCHED, |deadline| deadline.min(UNWATCHED));
        turn.drive(Some(Instant::now() + moment), end);
        if !end.has_come() {
            self.dispatcher.pending.note(end.peer, id);
            if let Some(why) = self.dispatcher.lost_since(end.peer, losses) {
                self.dispatcher.pending.lost(end.peer, &why);
            }
        }
    }

    /// Takes what has come, without waiting for more. The session's progress thread lets go first,
    /// unless it runs a long upcall.
    pub(super) fn look(&self) {
        self.look_once();
        self.see_to_its_end();
    }

    fn look_once(&self) {
        if let Some(mut turn) = self.take_turn() {
            return turn.drive(Some(self.start), &mut Nobody);
        }
        let _wanted = self.want();
        if let Some(mut end) = self.take_from_own() {
            self.drive(&mut end, Some(self.start), &mut Nobody);
        }
    }

    /// Takes the receiving end that the caller wants, once the progress thread has let go of it.
    /// Returns `None` if that takes too long, or if another thread has it.
    fn take_from_own(&self) -> Option<Driving<'_, node::End<P::Inbox>>> {
        let until = Instant::now() + LETS_GO;
        loop {
            if let Some(end) = self.driver.try_drive(Role::Wanter) {
                return Some(end);
            }
            if !self.driver.state().is_of_progress_thread() || Instant::now() > until {
                return None;
            }
            std::thread::yield_now();
        }
    }

    /// Sleeps while another thread drives, until that thread reports the awaited change or lets go.
    fn sleep(&self, wait: &mut Wait<'_>) {
        let stay = self.waiting.enter(wait.interest);
        // The change may have come, or the driver may have let go, before any thread could see this
        // one waiting.
        if self.ended(wait).is_none() && self.driver.state().is_taken() {
            stay.sleep(wait.until);
        }
    }

    fn wait_as_fiber(&self, wait: &mut Wait<'_>) -> bool {
        self.start_progress_fiber();
        loop {
            let ended = match self.drive_as_fiber(wait) {
                Driven::Ended(is_held) => return is_held,
                Driven::GivesWay => self.wait_beside_others(wait, true),
                Driven::Taken => self.wait_beside_others(wait, false),
            };
            if let Some(is_held) = ended {
                return is_held;
            }
        }
    }

    /// Looks for a while, and then parks. Returns how the wait ended, or `None` if the caller had
    /// better drive. With `gives_way` the caller only yields to other fibers.
    fn wait_beside_others(&self, wait: &mut Wait<'_>, gives_way: bool) -> Option<bool> {
        let began = Instant::now();
        let mut spin = Duration::ZERO;
        // Of several waiting fibers, one looks. It drives when the others have parked.
        if !gives_way || !self.driver.state().is_wanted() {
            spin = self.spin_policy.lock().spin();
            let looks = gives_way || !spin.is_zero();
            if looks && let Some(is_held) = self.look_for(wait, began + spin, gives_way) {
                self.spin_policy.lock().found();
                return Some(is_held);
            }
            if gives_way && !ManyServers::has_others() {
                return None;
            }
        }
        let spun = began.elapsed();
        let ended = self.park(wait).or_else(|| self.ended(wait));
        let slept = began.elapsed().saturating_sub(spun);
        self.spin_policy.lock().slept(spun.min(spin), slept);
        if ended.is_some() {
            self.decline();
        }
        ended
    }

    /// Drives as an OS thread does, and sleeps in the platform for its server until the server has
    /// something else to run.
    pub(super) fn drive_as_fiber(&self, wait: &mut Wait<'_>) -> Driven {
        if ManyServers::has_others() {
            return Driven::GivesWay;
        }
        if let Some(mut turn) = self.take_turn() {
            return self.drive_alone(&mut turn.end, wait);
        }
        let _wanted = self.want();
        match self.take_from_own() {
            Some(mut end) => self.drive_alone(&mut end, wait),
            None => Driven::Taken,
        }
    }

    fn drive_alone(
        &self,
        end: &mut Driving<'_, node::End<P::Inbox>>,
        wait: &mut Wait<'_>,
    ) -> Driven {
        // The last driver may have made the condition hold before it let go.
        if wait.awaited.holds() {
            return Driven::Ended(true);
        }
        loop {
            let was_alone = self.drive_for_server(end, wait.until, wait.awaited);
            match self.ended(wait) {
                Some(is_held) => return Driven::Ended(is_held),
                None if was_alone => {}
                None => return Driven::GivesWay,
            }
        }
    }

    /// Looks for arrivals and yields to other fibers between looks. With `gives_way` it looks at
    /// least once.
    ///
    /// Returns `None` if the time is over, or, with `gives_way`, if there are no other fibers any
    /// more.
    fn look_for(&self, wait: &mut Wait<'_>, until: Instant, gives_way: bool) -> Option<bool> {
        let _wanted = self.want();
        let mut has_given_way = !gives_way;
        loop {
            match self.driver.try_drive(Role::Wanter) {
                Some(mut end) => self.drive(&mut end, Some(self.start), &mut Nobody),
                // The progress thread lets go as soon as it runs, which may be on this processor.
                None if self.driver.state().is_of_progress_thread() => std::thread::yield_now(),
                None => {}
            }
            match self.ended(wait) {
                None if !has_given_way || Instant::now() < until => ManyServers::yield_now(),
                outcome => return outcome,
            }
            has_given_way = true;
            if gives_way && !ManyServers::has_others() {
                return self.ended(wait);
            }
        }
    }

    /// Leaves the processor to other fibers until a thread reports the awaited change, or wants
    /// this fiber to look. Returns how the wait ended, if it did before that.
    fn park(&self, wait: &mut Wait<'_>) -> Option<bool> {
        let stay = self.waiting.enter(wait.interest);
        self.dispatcher.mailbox.let_go(self);
        let ended = self.ended(wait);
        if ended.is_none() {
            // A driving thread passes on when it lets go, and a looking fiber when it stops
            // looking.
            let state = self.driver.state();
            if !state.is_taken() && !state.is_wanted() && !self.waiting.wake_thread() {
                self.progress_thread.call();
            }
            stay.sleep(wait.until);
        }
        ended
    }

    /// Passes on a wake to drive that this caller may have got. The caller has left the waiting
    /// room and goes on, and other waiters may count on it.
    pub(super) fn decline(&self) {
        // A thread that wants to drive passes on later. It no longer finds this caller in the
        // waiting room, or this caller finds that it wants no longer.
        if !self.driver.state().is_wanted() {
            self.pass_on();
        }
    }

    /// Takes the receiving end if it is free. Then no thread need learn that the caller wants it.
    #[inline]
    pub(super) fn take_turn(&self) -> Option<Turn<'_, P>> {
        let end = self.driver.try_drive(Role::Waiter)?;
        let node = PassesOn(self);
        let turn = Turn { end, node };
        self.dispatcher.mailbox.let_go(self);
        Some(turn)
    }

    /// Announces that the caller wants the receiving end: the session's progress thread lets go of
    /// it.
    pub(super) fn want(&self) -> Wanted<'_, P> {
        let before = self.driver.want();
        let wanted = Wanted(self);
        self.dispatcher.mailbox.let_go(self);
        // A progress thread that does not sleep yet finds before its sleep that another thread
        // wants to drive.
        if before.is_of_progress_thread() && before.is_asleep() {
            self.platform.wake();
        }
        wanted
    }

    /// Ends the caller's wish for the receiving end. The caller has let go of it.
    pub(super) fn stop_wanting(&self) {
        self.driver.want_no_more();
        self.pass_on();
    }

    /// Hands over to another waiter, after the caller has let go of the receiving end.
    #[inline]
    pub(super) fn pass_on(&self) {
        if self.waiting.is_empty() {
            // The next round takes what upcalls brought about at last, and the unsent rest of long
            // messages.
            match self.driver.state().has(Work::DELIVERIES | Work::REST) {
                true => {
                    self.driver.clear(Work::REST);
                    self.progress_thread.call();
                }
                false => self.progress_thread.rouse(),
            }
        } else if !self.driver.state().is_taken() {
            self.waiting.wake_driver();
            // The waiting room may be empty, or hold only a fiber that runs after others that
            // compute.
            self.progress_thread.rouse();
        }
    }
}
