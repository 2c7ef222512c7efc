//! Waiting for sockets, a bell and a time at once.
//!
//! An epoll set is used and not poll: the kernel learns once what to watch, and not at each wait.
//! The time is a timer in the set, which stays armed when it is not needed any more. Most deadlines
//! move away, so it is set once in a while. A wait with a time-out would set and take back a timer
//! each time.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Instant;

use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

/// Number of ready descriptors that one call reports.
const READY: usize = 32;

const BELL: u64 = u64::MAX;
const TIMER: u64 = u64::MAX - 1;

/// A bell that wakes a waiter. It costs a system call only if a thread sleeps.
#[derive(Debug)]
pub struct Bell {
    counter: Arc<OwnedFd>,
    is_asleep: AtomicBool,
    is_rung: AtomicBool,
}

impl Bell {
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            counter: Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?),
            is_asleep: AtomicBool::new(false),
            is_rung: AtomicBool::new(false),
        })
    }

    /// Ends a sleep, or else the next one.
    pub fn ring(&self) {
        self.ring_by(|| {
            let _ = rustix::io::write(&self.counter, &1_u64.to_ne_bytes());
        });
    }

    /// Does the same as [`ring`](Self::ring), with another way to wake the sleeper.
    pub fn ring_by(&self, wake: impl FnOnce()) {
        self.is_rung.store(true, SeqCst);
        if self.is_asleep.swap(false, SeqCst) {
            wake();
        }
    }

    /// Begins a sleep: a ring from now on wakes the caller. Returns false if the bell was rung
    /// already.
    pub fn lie_down(&self) -> bool {
        self.is_asleep.store(true, SeqCst);
        !self.is_rung()
    }

    /// Ends a sleep. Returns true if another thread has woken the sleeper, or is about to.
    pub fn get_up(&self) -> bool {
        !self.is_asleep.swap(false, SeqCst)
    }

    /// Returns whether the bell was rung since it was last heard.
    pub fn is_rung(&self) -> bool {
        self.is_rung.load(SeqCst)
    }

    /// Notes that the bell was heard.
    pub fn hear(&self) {
        self.is_rung.store(false, SeqCst);
    }
}

/// Watched descriptors, by tokens.
#[derive(Debug)]
pub struct Waiting {
    set: OwnedFd,
    /// The bell's counter.
    counter: Arc<OwnedFd>,
    timer: OwnedFd,
    /// Time at which the timer goes off.
    armed: Option<Instant>,
}

/// A descriptor that is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    pub token: u64,
    /// Whether there is something to read, or an end or an error that a read finds.
    pub reads: bool,
    pub writes: bool,
    /// Whether there is an end or an error behind what there is to read. Reported only for
    /// descriptors added by [`add_changes`](Waiting::add_changes).
    pub ends: bool,
}

/// Flags that say that nothing more comes.
const ENDS: EventFlags = EventFlags::RDHUP
    .union(EventFlags::HUP)
    .union(EventFlags::ERR);
/// Flags of a descriptor whose changes alone are reported (edge-triggered).
const CHANGES: EventFlags = EventFlags::IN
    .union(EventFlags::RDHUP)
    .union(EventFlags::ET);

impl Waiting {
    /// Makes a set that waits for the bell only, at first.
    pub fn new(bell: &Bell) -> io::Result<Self> {
        let timer = timerfd_create(
            TimerfdClockId::Monotonic,
            TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK,
        )?;
        let waiting = Self {
            set: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            counter: Arc::clone(&bell.counter),
            timer,
            armed: None,
        };
        waiting.add(&waiting.counter, BELL)?;
        waiting.add(&waiting.timer, TIMER)?;
        Ok(waiting)
    }

    /// Waits for a descriptor to be readable, too.
    pub fn add(&self, fd: impl AsFd, token: u64) -> io::Result<()> {
        Ok(epoll::add(
            &self.set,
            fd,
            EventData::new_u64(token),
            EventFlags::IN,
        )?)
    }

    /// Waits for new data of a descriptor (edge-triggered). The caller must read until nothing is
    /// left. The system then need not look again at what was read, which saves a tenth of a
    /// hand-over.
    pub fn add_changes(&self, fd: impl AsFd, token: u64) -> io::Result<()> {
        let token = EventData::new_u64(token);
        Ok(epoll::add(&self.set, fd, token, CHANGES)?)
    }

    /// Sets whether to wait for room to write as well, on a descriptor added by
    /// [`add_changes`](Self::add_changes).
    pub fn wants_to_write(&self, fd: impl AsFd, token: u64, wants: bool) {
        let writes = if wants {
            EventFlags::OUT
        } else {
            EventFlags::empty()
        };
        // A modification makes the set report again what is ready.
        let flags = CHANGES | writes;
        let _ = epoll::modify(&self.set, fd, EventData::new_u64(token), flags);
    }

    /// Stops waiting for a descriptor.
    pub fn remove(&self, fd: impl AsFd) {
        let _ = epoll::delete(&self.set, fd);
    }

    /// Reports the descriptors that are ready now.
    pub fn look(&mut self, mut ready: impl FnMut(Ready)) {
        self.wait(Some(&Timespec::default()), &mut ready);
    }

    /// Sleeps until a descriptor is ready, the bell is rung, or the time has come. May return
    /// early. `now` is a recent reading of the clock; without one the clock is read if it matters.
    pub fn sleep(
        &mut self,
        bell: &Bell,
        now: Option<Instant>,
        until: Option<Instant>,
        mut ready: impl FnMut(Ready),
    ) {
        let is_over = until.is_some_and(|until| !self.arm(now, until));
        let may_block = bell.lie_down() && !is_over;
        let timeout = (!may_block).then(Timespec::default);
        let is_heard = self.wait(timeout.as_ref(), &mut ready);
        if bell.get_up() && !is_heard {
            self.silence();
        }
    }

    /// Silences the bell. A ringing thread sets `is_rung` before it makes the bell ready, and may
    /// be held up in between. Then the bell is found ready, and silenced, later.
    fn silence(&self) {
        let _ = rustix::io::read(&self.counter, &mut [0; 8]);
    }

    /// Arms the timer for `until` at the latest. Returns false if that is over.
    fn arm(&mut self, now: Option<Instant>, until: Instant) -> bool {
        if self.armed.is_some_and(|armed| armed <= until) {
            // If `until` is over, so is the timer's time.
            return true;
        }
        let left = until.saturating_duration_since(now.unwrap_or_else(Instant::now));
        if left.is_zero() {
            return false;
        }
        let at = Itimerspec {
            it_interval: Timespec::default(),
            it_value: Timespec::try_from(left).unwrap_or(Timespec {
                tv_sec: i64::MAX,
                tv_nsec: 0,
            }),
        };
        if timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &at).is_ok() {
            self.armed = Some(until);
        }
        true
    }

    /// Waits once. Returns whether the bell was ready, which it no longer is.
    fn wait(&mut self, timeout: Option<&Timespec>, ready: &mut impl FnMut(Ready)) -> bool {
        let mut is_heard = false;
        let mut space = [MaybeUninit::<Event>::uninit(); READY];
        // An interruption is an early return, which is allowed.
        let Ok((events, _)) = epoll::wait(&self.set, &mut space, timeout) else {
            return is_heard;
        };
        for event in events {
            match event.data.u64() {
                BELL => {
                    self.silence();
                    is_heard = true;
                }
                TIMER => {
                    let _ = rustix::io::read(&self.timer, &mut [0; 8]);
                    self.armed = None;
                }
                token => ready(Ready {
                    token,
                    reads: { event.flags }.intersects(!EventFlags::OUT),
                    writes: { event.flags }.contains(EventFlags::OUT),
                    ends: { event.flags }.intersects(ENDS),
                }),
            }
        }
        is_heard
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::Duration;

    use super::*;

    #[test]
    fn who_rings_and_is_held_up_ends_one_sleep_and_no_later_ones() {
        let bell = Bell::new().expect("a counter");
        let mut waiting = Waiting::new(&bell).expect("a set");
        let sleep_until = |waiting: &mut Waiting, until| {
            waiting.sleep(&bell, None, Some(until), |_| panic!("nothing is ready"));
        };
        // The silence is vain here …
        assert!(bell.lie_down());
        bell.ring_by(|| {});
        sleep_until(&mut waiting, Instant::now());
        bell.hear();
        // … because the bell is made ready only now.
        let _ = rustix::io::write(&bell.counter, &1_u64.to_ne_bytes());
        let until = Instant::now() + Duration::from_millis(20);
        let sleeps = std::iter::repeat_with(|| sleep_until(&mut waiting, until))
            .take_while(|()| Instant::now() < until);
        assert!(sleeps.count() <= 3);
    }

    #[test]
    fn a_sleep_is_ended_by_what_is_ready_by_the_bell_and_by_the_time() {
        let bell = Bell::new().expect("a counter");
        let mut waiting = Waiting::new(&bell).expect("a set");
        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        waiting.add(&reader, 7).expect("added");
        let mut ready = Vec::new();
        // An earlier deadline than one that is armed, and a later one.
        for ms in [50, 10, 20] {
            let (now, until) = (Instant::now(), Instant::now() + Duration::from_millis(ms));
            while Instant::now() < until {
                waiting.sleep(&bell, Some(now), Some(until), |r| ready.push(r));
            }
        }
        assert_eq!(ready, []);
        bell.ring();
        waiting.sleep(&bell, None, None, |r| ready.push(r));
        bell.hear();
        std::thread::scope(|scope| {
            scope.spawn(|| bell.ring());
            while !bell.is_rung() {
                waiting.sleep(&bell, None, None, |r| ready.push(r));
            }
        });
        bell.hear();
        assert_eq!(ready, []);
        writer.write_all(b"x").expect("written");
        while ready.is_empty() {
            waiting.sleep(&bell, None, None, |r| ready.push(r));
        }
        assert_eq!(
            (ready[0].token, ready[0].reads, ready[0].writes),
            (7, true, false)
        );
    }
}
