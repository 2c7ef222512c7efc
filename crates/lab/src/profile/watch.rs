//! Ends a subject that is under a tool when the user stops the laboratory: a session waits for its answer however long that takes.

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, park_timeout};
use std::time::Duration;

/// How often a request to stop is looked for.
const LOOK: Duration = Duration::from_millis(50);

/// The process that is to be ended, once it is there. Held as a file, since its number may be another process's by then.
#[derive(Default)]
pub(super) struct Watched(OnceLock<OwnedFd>);

impl Watched {
    /// Says which process it is. One that cannot be held ends by its time limit alone.
    pub(super) fn is(&self, process: u32) {
        let process = i32::try_from(process).ok().and_then(Pid::from_raw);
        let held = process.and_then(|process| pidfd_open(process, PidfdFlags::empty()).ok());
        if let Some(held) = held {
            let _ = self.0.set(held);
        }
    }

    /// Ends it; false while it is not known.
    fn end(&self) -> bool {
        let held = self.0.get();
        held.is_some_and(|held| pidfd_send_signal(held, Signal::KILL).is_ok())
    }
}

/// Set when it is dropped, so by a panic too.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Does something with a process, which is ended as soon as `stop` is set.
pub(super) fn unless<T>(stop: &AtomicBool, process: &Watched, act: impl FnOnce() -> T) -> T {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = || {
            while !is_over.load(Ordering::Acquire) {
                if stop.load(Ordering::Relaxed) && process.end() {
                    return;
                }
                park_timeout(LOOK);
            }
        };
        // Where there is no thread left, the time limit alone ends it.
        let watcher = Builder::new().spawn_scoped(scope, watch).ok();
        let over = Over(&is_over);
        let done = act();
        drop(over);
        if let Some(watcher) = watcher {
            watcher.thread().unpark();
        }
        done
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_process_ends_when_the_user_stops_and_not_before() {
        let mut sleeper = Command::new("sleep").arg("600").spawn().unwrap();
        let (stop, watched) = (AtomicBool::new(false), Watched::default());
        watched.is(sleeper.id());
        unless(&stop, &watched, || ());
        assert!(sleeper.try_wait().unwrap().is_none());
        let ended = unless(&stop, &watched, || {
            stop.store(true, Ordering::Relaxed);
            sleeper.wait().unwrap()
        });
        assert!(!ended.success());
    }

    #[test]
    fn a_process_that_starts_after_the_stop_is_ended_as_well() {
        let (stop, watched) = (AtomicBool::new(true), Watched::default());
        let ended = unless(&stop, &watched, || {
            let mut sleeper = Command::new("sleep").arg("600").spawn().unwrap();
            watched.is(sleeper.id());
            sleeper.wait().unwrap()
        });
        assert!(!ended.success());
    }
}
