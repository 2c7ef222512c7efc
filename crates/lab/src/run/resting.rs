//! Who is not in his turn does not run. A subject that polls while it waits for its next request, or is woken by timers, else takes the
//! processors from the one that is measured, under FIFO in the middle of a slice.

use super::tree::Parents;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::collections::HashSet;
use std::os::fd::OwnedFd;

/// A subject's processes, stopped until this is dropped. Its keeper is not: it ends them should we end, and the stopped are killed as others are.
pub(super) struct Resting {
    /// In the order in which they were stopped. A number may be given to another process, what is held here is not.
    stopped: Vec<OwnedFd>,
}

impl Resting {
    /// Stops a subject and all that it started, a daemon that left it included.
    pub(super) fn of(subject: u32) -> Resting {
        let mut stopped = Vec::new();
        let mut seen = HashSet::new();
        loop {
            // One that ran while we looked may have started others meanwhile.
            let all = Parents::now().kept(subject);
            let new = all.processes().into_iter();
            let new: Vec<u32> = new.filter(|process| seen.insert(*process)).collect();
            if new.is_empty() {
                return Resting { stopped };
            }
            stopped.extend(new.into_iter().filter_map(stop));
        }
    }
}

impl Drop for Resting {
    fn drop(&mut self) {
        for process in self.stopped.iter().rev() {
            // One that was killed meanwhile has nothing to go on with.
            let _ = pidfd_send_signal(process, Signal::CONT);
        }
    }
}

/// Stops a process; `None` where it has ended or is another user's.
fn stop(process: u32) -> Option<OwnedFd> {
    let process = Pid::from_raw(i32::try_from(process).ok()?)?;
    let process = pidfd_open(process, PidfdFlags::empty()).ok()?;
    pidfd_send_signal(&process, Signal::STOP).ok()?;
    Some(process)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tree::Tree;
    use antiphon_runner::Program;
    use std::time::{Duration, Instant};

    /// The letter of a process's state.
    fn state(process: u32) -> Option<char> {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        stat.rsplit_once(") ")?.1.chars().next()
    }

    fn wait_until(holds: impl Fn() -> bool) {
        let until = Instant::now() + Duration::from_secs(60);
        while !holds() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(holds());
    }

    #[test]
    fn who_rests_does_not_run_and_goes_on_afterwards() {
        // It counts in a child, has a daemon that has left it, which counts as well, and answers a line.
        let script = "count() { while :; do :; done; }; (count & echo $! ); count & echo $!; read line; echo $line; wait";
        let program = Program::new("sh").args(["-c", script]);
        let mut subject = program.spawn().unwrap();
        let number = |line: String| line.trim().parse::<u32>().unwrap();
        let daemon = number(subject.read_line().unwrap());
        let child = number(subject.read_line().unwrap());
        let all = [subject.id(), daemon, child];
        wait_until(|| !Tree::of(subject.id()).processes().contains(&daemon));

        let resting = Resting::of(subject.id());
        wait_until(|| all.iter().all(|process| state(*process) == Some('T')));
        let keeper = Parents::now().keeper(subject.id()).unwrap();
        assert_ne!(state(keeper), Some('T'));
        subject.write_line("awake").unwrap();

        drop(resting);
        assert_eq!(subject.read_line().unwrap(), "awake");
        assert!(all.iter().all(|process| state(*process) != Some('T')));

        // The keeper ends those that rest, too.
        let resting = Resting::of(subject.id());
        drop(subject);
        wait_until(|| {
            all.iter()
                .all(|process| state(*process).is_none_or(|s| s == 'Z'))
        });
        drop(resting);
    }

    #[test]
    fn who_is_not_kept_by_us_is_left_alone() {
        // A child without a keeper, which stands among all that its parent, this test, has started; and nobody.
        let mut child = std::process::Command::new("sleep")
            .arg("600")
            .spawn()
            .unwrap();
        assert!(Resting::of(child.id()).stopped.is_empty());
        assert!(Resting::of(std::process::id()).stopped.is_empty());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(Resting::of(child.id()).stopped.is_empty());
    }
}
