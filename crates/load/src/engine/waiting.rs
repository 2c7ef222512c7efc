//! Waiting for what happens next: asleep, or by polling.

use super::{Engine, LOOK_NS};
use crate::Error;
use rustix::event::epoll::{self, Event};
use rustix::io::Errno;
use rustix::time::{Itimerspec, TimerfdTimerFlags, Timespec, timerfd_settime};
use std::hint::spin_loop;

/// How long a poll that found nothing is not repeated, ns. Who polls all the time takes from the server the cache lines that its answers pass through, and units
/// of the core where they share one.
const BETWEEN_POLLS_NS: u64 = 1000;

/// More of a poll is no poll: the thread was taken off its processor.
const POLL_MOST_NS: u64 = 10 * BETWEEN_POLLS_NS;

/// Hints to the processor between two looks at the clock: they leave the units of a shared core to the other thread.
const HINTS: u32 = 8;

impl Engine<'_> {
    /// Takes what happened, and sleeps until something does.
    pub(super) fn sleep(&mut self, events: &mut [Event], now_ns: u64) -> Result<usize, Error> {
        let timeout = self.timeout(now_ns)?;
        self.take(events, &timeout)
    }

    /// Takes what happened; if that is nothing, for a moment nothing is done, without sleep.
    pub(super) fn poll(&mut self, events: &mut [Event]) -> Result<usize, Error> {
        let polled_ns = self.now_ns();
        // Where nothing was to be done since a poll that found nothing, looking for it is a part of the wait.
        let from_ns = match self.waits_since {
            Some((sent, at_ns)) if sent == self.sent => at_ns,
            _ => polled_ns,
        };
        self.waits_since = None;
        let count = self.take(events, &timespec(0))?;
        if count == 0 {
            let mut now_ns = polled_ns;
            while now_ns < polled_ns + BETWEEN_POLLS_NS {
                (0..HINTS).for_each(|_| spin_loop());
                now_ns = self.now_ns();
            }
            // By the clock a poll may hold what others had of the processor.
            self.measured.empty_polls_ns += (now_ns - from_ns).min(POLL_MOST_NS);
            self.waits_since = Some((self.sent, now_ns));
        }
        Ok(count)
    }

    fn take(&self, events: &mut [Event], timeout: &Timespec) -> Result<usize, Error> {
        match epoll::wait(&self.epoll, events, Some(timeout)) {
            Ok(count) => Ok(count),
            Err(Errno::INTR) => Ok(0),
            Err(why) => Err(Error::system("waiting for answers")(why)),
        }
    }

    /// How long to sleep for events. For the next due request, if a connection is free for it, the alarm is set.
    fn timeout(&mut self, now_ns: u64) -> Result<Timespec, Error> {
        if let Some(next_ns) = self.pace.next_ns().filter(|_| !self.free.is_empty())
            && next_ns != self.rings_ns
        {
            // Writing what was due took its time since `now_ns`; by as much the alarm would ring late.
            let wait_ns = next_ns.saturating_sub(self.now_ns()).max(1);
            let setting = Itimerspec {
                it_interval: timespec(0),
                it_value: timespec(wait_ns),
            };
            timerfd_settime(&self.alarm, TimerfdTimerFlags::empty(), &setting)
                .map_err(Error::system("setting a timer"))?;
            self.rings_ns = next_ns;
        }
        let left_ns = match now_ns < self.end_ns {
            true => self.end_ns - now_ns,
            false => LOOK_NS,
        };
        Ok(timespec(left_ns.min(LOOK_NS)))
    }
}

fn timespec(ns: u64) -> Timespec {
    Timespec {
        tv_sec: (ns / 1_000_000_000) as _,
        tv_nsec: (ns % 1_000_000_000) as _,
    }
}
