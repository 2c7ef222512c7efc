//! Watches the ends of peers' processes.
//!
//! A thread waits for the system to report them (`pidfd_open(2)`), and ends long sleeps meanwhile.
//! Where the system does not (before Linux 5.3, under valgrind, or with no descriptor left), the
//! thread looks for the processes ten times a second.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use antiphon_runner::ProcessStat;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::platform::Rank;
use crate::platform::alarm::Alarm;

/// Time between two looks for a process whose end the system does not report.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// A watch on processes, until it is dropped.
pub struct Watch {
    orders: Option<mpsc::Sender<(Rank, Process)>>,
    bell: Arc<OwnedFd>,
    alarm: Arc<Alarm>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Starts the thread. `ended` is called on it, once for each process that ends, and `wake` when
    /// the time of [`wake_at`](Self::wake_at) has come.
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

    /// Cancels the wake.
    pub fn is_awake(&self) {
        self.alarm.clear();
    }

    /// Watches a peer's process. Returns false if it is gone: there is none with this number, or it
    /// was started at another time.
    pub fn add(&self, rank: Rank, pid: u32, started: u64) -> bool {
        let process = match open(pid) {
            Ok(descriptor) => Process::Descriptor(descriptor),
            Err(Errno::SRCH) => return false,
            Err(_) => Process::Sought { pid, started },
        };
        // The order matters: the number cannot pass to another process while this one holds it
        // open.
        if started_at(pid) != Some(started) {
            return false;
        }
        self.order(rank, process);
        true
    }

    fn order(&self, rank: Rank, process: Process) {
        if let Some(orders) = &self.orders {
            let _ = orders.send((rank, process));
        }
        ring(&self.bell);
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

/// A watched process.
enum Process {
    /// The system reports its end.
    Descriptor(OwnedFd),
    /// The system does not report its end.
    Sought { pid: u32, started: u64 },
}

impl Process {
    fn descriptor(&self) -> Option<&OwnedFd> {
        match self {
            Self::Descriptor(descriptor) => Some(descriptor),
            Self::Sought { .. } => None,
        }
    }
}

/// Returns the time when a process was started, by the system's count.
pub fn started_at(pid: u32) -> Option<u64> {
    ProcessStat::of(pid).ok()?.began_ticks()
}

fn run(
    bell: &OwnedFd,
    orders: &mpsc::Receiver<(Rank, Process)>,
    ended: impl Fn(Rank),
    next_alarm: impl Fn() -> Option<Duration>,
) {
    let mut watched: Vec<(Rank, Process)> = Vec::new();
    loop {
        let Ok(over) = wait(bell, &watched, next_alarm()) else {
            continue; // interrupted
        };
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

/// Sleeps until the bell rings, a process ends or the time has passed. Returns which processes have
/// ended.
fn wait(
    bell: &OwnedFd,
    watched: &[(Rank, Process)],
    left: Option<Duration>,
) -> rustix::io::Result<Vec<bool>> {
    let descriptors = watched
        .iter()
        .filter_map(|(_, process)| process.descriptor());
    let mut polled: Vec<PollFd<'_>> = std::iter::once(bell)
        .chain(descriptors)
        .map(|descriptor| PollFd::new(descriptor, PollFlags::IN))
        .collect();
    let are_sought = polled.len() <= watched.len();
    let look = are_sought.then_some(BETWEEN_LOOKS);
    let left = [left, look].into_iter().flatten().min();
    let left = left.and_then(|left| Timespec::try_from(left).ok());
    poll(&mut polled, left.as_ref())?;
    let mut reported = polled[1..]
        .iter()
        .map(|polled| !polled.revents().is_empty());
    let is_over = |(_, process): &(Rank, Process)| match process {
        Process::Descriptor(_) => reported.next() == Some(true),
        Process::Sought { pid, started } => is_gone(*pid, *started),
    };
    Ok(watched.iter().map(is_over).collect())
}

/// Returns whether a process has ended. Until its parent has waited for it, it is there as a
/// zombie.
fn is_gone(pid: u32, started: u64) -> bool {
    let is_it = |stat: ProcessStat| stat.began_ticks() == Some(started) && !stat.has_ended();
    !ProcessStat::of(pid).is_ok_and(is_it)
}

fn open(pid: u32) -> rustix::io::Result<OwnedFd> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pidfd_open(pid.ok_or(Errno::SRCH)?, PidfdFlags::empty())
}

fn ring(bell: &OwnedFd) {
    let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    struct Reaped(Child);

    impl Drop for Reaped {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// Checks that the end of a process is reported, and not earlier, if it is watched so.
    fn is_heard(by: impl Fn(u32, u64) -> Process) {
        let (tells, reported) = mpsc::channel();
        let tell = move |rank| tells.send(rank).expect("the test waits");
        let watch = Watch::new(tell, || {}).expect("a thread");
        let sleeps = Command::new("sleep").arg("1000").spawn();
        let mut sleeps = Reaped(sleeps.expect("a process"));
        let pid = sleeps.0.id();
        watch.order(7, by(pid, started_at(pid).expect("it runs")));
        assert!(reported.recv_timeout(4 * BETWEEN_LOOKS).is_err(), "it runs");
        // Its parent has not waited for it yet.
        sleeps.0.kill().expect("it is ours");
        assert_eq!(reported.recv_timeout(Duration::from_secs(60)), Ok(7));
    }

    #[test]
    fn the_end_of_a_process_is_heard_of_though_the_system_does_not_tell() {
        is_heard(|pid, started| Process::Sought { pid, started });
    }

    #[test]
    fn the_end_of_a_process_is_told() {
        is_heard(|pid, _| Process::Descriptor(open(pid).expect("this system tells")));
    }

    #[test]
    fn who_is_gone_or_another_is_not_watched() {
        let watch = Watch::new(|_| {}, || {}).expect("a thread");
        let (own, started) = (std::process::id(), started_at(std::process::id()));
        let started = started.expect("it runs");
        assert!(watch.add(0, own, started));
        assert!(!watch.add(0, own, started + 1), "of the same number");
        assert!(!watch.add(0, u32::MAX, started));
    }
}
