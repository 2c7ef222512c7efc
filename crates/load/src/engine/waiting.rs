//! Waits for the next event: asleep, or by polling.

use super::{Engine, LOOK_NS};
use crate::Error;
use rustix::event::epoll::{self, Event};
use rustix::io::Errno;
use rustix::time::{Itimerspec, TimerfdTimerFlags, Timespec, timerfd_settime};
use std::hint::spin_loop;

/// Pause after a poll that found nothing, ns. Constant polling takes cache lines of answers from
/// the server, and units of the core if both share one.
const BETWEEN_POLLS_NS: u64 = 1000;

/// More of a poll is no poll: the thread was taken off its processor.
const POLL_MOST_NS: u64 = 10 * BETWEEN_POLLS_NS;

/// Hints to the processor between two clock readings: they leave the units of a shared core to the
/// other thread.
const HINTS: u32 = 8;

impl Engine<'_> {
    /// Takes the pending events, and sleeps until there are some.
    pub(super) fn sleep(&mut self, events: &mut [Event], now_ns: u64) -> Result<usize, Error> {
        let timeout = self.timeout(now_ns)?;
        self.take(events, &timeout)
    }

    /// Takes the pending events; without any, it does nothing for a moment, without sleep.
    pub(super) fn poll(&mut self, events: &mut [Event]) -> Result<usize, Error> {
        let polled_ns = self.now_ns();
        // If nothing was sent since an empty poll, the time since then is part of the wait.
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
            // By the clock a poll may include other programs' use of the processor.
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

    /// Returns the length of the sleep for events. If a connection is free, the alarm is set for
    /// the next due request.
    fn timeout(&mut self, now_ns: u64) -> Result<Timespec, Error> {
        if let Some(next_ns) = self.pace.next_ns().filter(|_| !self.free.is_empty())
            && next_ns != self.rings_ns
        {
            // Writing the due requests took time since `now_ns`, by which the alarm would ring
            // late.
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
