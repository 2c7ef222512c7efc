//! Suspension of subjects outside their turn.
//!
//! A subject that polls for its next request, or that timers wake, would take processors from the
//! measured one. Under FIFO it would do so in the middle of a slice.

use super::tree::{Tree, each_once};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::fmt;
use std::os::fd::OwnedFd;

/// A subject's processes, stopped until this is dropped. Its keeper runs on: it ends them if we
/// end, and stopped processes can be killed, too.
pub(super) struct Suspended {
    /// Handles in the order of the stops. A process number may be reused, but a handle may not.
    stopped: Vec<OwnedFd>,
    /// The first that could not be stopped: it runs on.
    pub(super) restless: Option<Unsuspended>,
}

impl Suspended {
    /// Stops a subject and all that it started, a daemon that left it included.
    pub(super) fn of(subject: u32) -> Suspended {
        let mut resting = Suspended {
            stopped: Vec::new(),
            restless: None,
        };
        let kept = || Tree::kept(subject).processes();
        each_once(kept, |process| resting.add(process));
        resting
    }

    fn add(&mut self, process: u32) {
        match stop(process) {
            Ok(stopped) => self.stopped.extend(stopped),
            Err(error) => {
                self.restless
                    .get_or_insert_with(|| Unsuspended::new(process, error));
            }
        }
    }
}

impl Drop for Suspended {
    fn drop(&mut self) {
        for process in self.stopped.iter().rev() {
            // One that was killed meanwhile has nothing to go on with.
            let _ = pidfd_send_signal(process, Signal::CONT);
        }
    }
}

/// Stops a process; `None` where it has ended.
fn stop(process: u32) -> Result<Option<OwnedFd>, Errno> {
    let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw) else {
        return Ok(None);
    };
    let stopped = pidfd_open(process, PidfdFlags::empty())
        .and_then(|process| pidfd_send_signal(&process, Signal::STOP).map(|()| process));
    match stopped {
        Ok(process) => Ok(Some(process)),
        Err(Errno::SRCH) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A process that could not be stopped, and why.
pub(super) struct Unsuspended {
    process: u32,
    name: String,
    error: Errno,
}

impl Unsuspended {
    fn new(process: u32, error: Errno) -> Unsuspended {
        let name = std::fs::read_to_string(format!("/proc/{process}/comm"));
        Unsuspended {
            process,
            name: name.unwrap_or_default().trim_end().to_owned(),
            error,
        }
    }
}

/// The text is a warning to the user, after the name of the subject.
impl fmt::Display for Unsuspended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (why, help) = reason(self.error);
        write!(
            f,
            "its process {} ({}) cannot be stopped while others are measured, since {why}: what it does meanwhile is in their figures ({help})",
            self.process, self.name
        )
    }
}

/// Returns the reason why a process cannot be stopped, and advice to the user.
fn reason(error: Errno) -> (String, &'static str) {
    match error {
        Errno::NOSYS => (
            "this kernel has no pidfd_open".to_owned(),
            "it needs Linux 5.3, or a container that lets pidfd_open and pidfd_send_signal through",
        ),
        Errno::PERM | Errno::ACCESS => (
            "that is not permitted".to_owned(),
            "run as root, or let the subject start nothing as another user; a container must let pidfd_open and pidfd_send_signal through",
        ),
        Errno::MFILE => (
            "this command may have no more files open".to_owned(),
            "raise `ulimit -n`",
        ),
        Errno::NFILE => (
            "the system can have no more files open".to_owned(),
            "raise `sysctl fs.file-max`, as root",
        ),
        error => (error.to_string(), "measure the others without this subject"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::powers::without;
    use super::super::waiting::wait_until;
    use super::*;
    use crate::run::tree::Parents;
    use antiphon_runner::{ProcessStat, Program};
    use rustix::thread::CapabilitySet;

    /// Returns the letter of a process's state.
    fn state(process: u32) -> Option<char> {
        ProcessStat::of(process).ok()?.state()
    }

    #[test]
    fn who_rests_does_not_run_and_goes_on_afterwards() {
        // The script counts in a child and in a daemon that has left it, and answers a line.
        let script = "count() { while :; do :; done; }; (count & echo $! ); count & echo $!; read line; echo $line; wait";
        let program = Program::new("sh").args(["-c", script]);
        let mut subject = program.spawn().unwrap();
        let number = |line: String| line.trim().parse::<u32>().unwrap();
        let daemon = number(subject.read_line().unwrap());
        let child = number(subject.read_line().unwrap());
        let all = [subject.id(), daemon, child];
        wait_until("its parent has ended", || {
            !Tree::of(subject.id()).processes().contains(&daemon)
        });

        let resting = Suspended::of(subject.id());
        wait_until("all rest", || {
            all.iter().all(|process| state(*process) == Some('T'))
        });
        let keeper = Parents::now().keeper(subject.id()).unwrap();
        assert_ne!(state(keeper), Some('T'));
        subject.write_line("awake").unwrap();

        drop(resting);
        assert_eq!(subject.read_line().unwrap(), "awake");
        assert!(all.iter().all(|process| state(*process) != Some('T')));

        // The keeper ends stopped processes, too.
        let resting = Suspended::of(subject.id());
        drop(subject);
        wait_until("all have ended", || {
            all.iter()
                .all(|process| state(*process).is_none_or(|s| s == 'Z'))
        });
        drop(resting);
    }

    #[test]
    fn who_runs_on_is_told_and_all_others_rest() {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: only root starts processes of other users");
            return;
        }
        // `exec` makes the child the very process that becomes another user's.
        let script = "(exec setpriv --reuid=65534 --clear-groups sleep 600) & echo $!; read line; echo $line";
        let program = Program::new("sh").args(["-c", script]);
        let mut subject = program.spawn().unwrap();
        let child: u32 = subject.read_line().unwrap().trim().parse().unwrap();
        let name = || std::fs::read_to_string(format!("/proc/{child}/comm")).unwrap_or_default();
        wait_until("it sleeps", || name().trim() == "sleep");

        let resting = without(CapabilitySet::KILL, || Suspended::of(subject.id()));
        let reported = resting.restless.as_ref().expect("it runs on").to_string();
        assert!(
            reported.contains(&format!("process {child} (sleep)")),
            "{reported}"
        );
        assert!(
            reported.contains("not permitted") && reported.contains("run as root"),
            "{reported}"
        );
        wait_until("it rests", || state(subject.id()) == Some('T'));
        assert_ne!(state(child), Some('T'));
        drop(resting);
        // With the power, all rest and no warning is due.
        let resting = Suspended::of(subject.id());
        assert!(resting.restless.is_none());
        wait_until("its child rests", || state(child) == Some('T'));
    }

    #[test]
    fn each_reason_has_its_mend_and_who_has_ended_is_none() {
        for (error, part_of_help) in [
            (Errno::NOSYS, "Linux 5.3"),
            (Errno::PERM, "another user"),
            (Errno::MFILE, "ulimit -n"),
            (Errno::NFILE, "fs.file-max"),
            (Errno::INVAL, "without this subject"),
        ] {
            let reported = Unsuspended::new(std::process::id(), error).to_string();
            assert!(reported.contains(part_of_help), "{reported}");
        }
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        assert!(matches!(stop(child.id()), Ok(None)));
    }

    #[test]
    fn who_is_not_kept_by_us_is_left_alone() {
        // Neither a child without a keeper, nor this test itself, nor an ended process may be
        // stopped.
        let mut child = std::process::Command::new("sleep")
            .arg("600")
            .spawn()
            .unwrap();
        assert!(Suspended::of(child.id()).stopped.is_empty());
        assert!(Suspended::of(std::process::id()).stopped.is_empty());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(Suspended::of(child.id()).stopped.is_empty());
    }
}
