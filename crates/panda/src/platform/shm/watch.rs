//! Hears of the end of peers' processes: a thread that waits for the system to say so (`pidfd_open(2)`), and ends long sleeps meanwhile.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::platform::Rank;
use crate::platform::alarm::Alarm;

/// Watches processes until it is dropped.
pub struct Watch {
    orders: Option<mpsc::Sender<(Rank, OwnedFd)>>,
    bell: Arc<OwnedFd>,
    alarm: Arc<Alarm>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Starts the thread. `ended` is called on it, once for each process that ends, and `wake` when the time of [`wake_at`](Self::wake_at) has come.
    pub fn new(
        ended: impl Fn(Rank) + Send + 'static,
        wake: impl Fn() + Send + 'static,
    ) -> io::Result<Self> {
        let bell = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let (orders, taken) = mpsc::channel();
        let heard = Arc::clone(&bell);
        let alarm = Arc::<Alarm>::default();
        let set = Arc::clone(&alarm);
        let thread = std::thread::Builder::new()
            .name("shm-watch".into())
            .stack_size(64 << 10)
            .spawn(move || run(&heard, &taken, ended, || set.turn(&wake)))?;
        Ok(Self {
            orders: Some(orders),
            bell,
            alarm,
            thread: Some(thread),
        })
    }

    /// Calls `wake` at that time, unless [`is_awake`](Self::is_awake) is called before.
    pub fn wake_at(&self, until: Instant) {
        if self.alarm.set(until) {
            ring(&self.bell);
        }
    }

    /// Nobody is to be woken.
    pub fn is_awake(&self) {
        self.alarm.clear();
    }

    /// Watches a peer's process. False if it is gone already: there is none with this number, or it was started at another time.
    pub fn add(&self, rank: Rank, pid: u32, started: u64) -> bool {
        let Some(process) = open(pid) else {
            return false;
        };
        // In this order: the number cannot be given to another process while we hold it open.
        if started_at(pid) != Some(started) {
            return false;
        }
        if let Some(orders) = &self.orders {
            let _ = orders.send((rank, process));
        }
        ring(&self.bell);
        true
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.orders = None;
        ring(&self.bell);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// When a process was started, as the system counts: the 22nd word of `/proc/N/stat`, the 20th after the name.
pub fn started_at(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(19)?.parse().ok()
}

fn run(
    bell: &OwnedFd,
    orders: &mpsc::Receiver<(Rank, OwnedFd)>,
    ended: impl Fn(Rank),
    next_alarm: impl Fn() -> Option<Duration>,
) {
    let mut watched: Vec<(Rank, OwnedFd)> = Vec::new();
    loop {
        let mut polled: Vec<PollFd<'_>> = std::iter::once(bell)
            .chain(watched.iter().map(|(_, process)| process))
            .map(|fd| PollFd::new(fd, PollFlags::IN))
            .collect();
        let left = next_alarm().and_then(|left| Timespec::try_from(left).ok());
        if poll(&mut polled, left.as_ref()).is_err() {
            continue; // interrupted
        }
        let over: Vec<bool> = polled[1..]
            .iter()
            .map(|polled| !polled.revents().is_empty())
            .collect();
        let mut over = over.into_iter();
        watched.retain(|(rank, _)| {
            let is_over = over.next() == Some(true);
            if is_over {
                ended(*rank);
            }
            !is_over
        });
        let _ = rustix::io::read(bell, &mut [0; 8]);
        loop {
            match orders.try_recv() {
                Ok(order) => watched.push(order),
                Err(mpsc::TryRecvError::Empty) => break,
                Err(mpsc::TryRecvError::Disconnected) => return,
            }
        }
    }
}

fn open(pid: u32) -> Option<OwnedFd> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

fn ring(bell: &OwnedFd) {
    let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
}
