//! Server and generator come before the other work of the machine, where the system permits it.
//!
//! Linux shares a processor among *sessions* first (autogroups, where they are on) and among the threads of a session after that, each by its
//! `nice`: so both are set. A server has a session of its own, since its keeper begins one; the generator is in the laboratory's.

use rustix::process::{getpriority_process, setpriority_process};
use std::fs;
use std::path::PathBuf;

/// The most urgent `nice`: the work of others then has next to nothing of the processor.
const MOST_URGENT: i32 = -20;

/// Starts a child that is more urgent than we are: it takes over the `nice` of the thread that starts it.
pub(super) fn start<T>(start: impl FnOnce() -> T) -> T {
    let thread = Some(rustix::thread::gettid());
    let before = getpriority_process(thread).unwrap_or(0);
    let raised = setpriority_process(thread, MOST_URGENT).is_ok();
    let started = start();
    if raised {
        // To be less urgent is always permitted.
        let _ = setpriority_process(thread, before);
    }
    started
}

/// A session that comes first while this value lives, if that is permitted.
pub(super) struct Session {
    file: PathBuf,
    before: Option<i32>,
}

impl Session {
    /// That of a process, or our own.
    pub(super) fn of(process: Option<u32>) -> Session {
        let name = process.map_or("self".to_owned(), |process| process.to_string());
        let file = PathBuf::from(format!("/proc/{name}/autogroup"));
        let before = nice(&fs::read_to_string(&file).unwrap_or_default());
        // One that is so already is another run's to set back.
        let raised = before
            .filter(|before| *before > MOST_URGENT)
            .filter(|_| fs::write(&file, MOST_URGENT.to_string()).is_ok());
        Session {
            file,
            before: raised,
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // Of a process that has ended, nothing is left to be set.
            let _ = fs::write(&self.file, before.to_string());
        }
    }
}

/// The `nice` of a line such as `/autogroup-12 nice 0`.
fn nice(line: &str) -> Option<i32> {
    let (_, nice) = line.rsplit_once(" nice ")?;
    nice.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    #[test]
    fn a_session_comes_first_for_a_time() {
        assert_eq!(nice("/autogroup-12 nice -7\n"), Some(-7));
        assert_eq!(nice(""), None);
        let mut child = Command::new("setsid")
            .args(["sh", "-c", "echo begun; exec sleep 600"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        assert_eq!(line, "begun\n");
        let of_child = || {
            let text = fs::read_to_string(format!("/proc/{}/autogroup", child.id()));
            nice(&text.unwrap_or_default())
        };
        let before = of_child();
        let session = Session::of(Some(child.id()));
        match session.before {
            None => println!("skipped: sessions have no `nice` here, or it may not be set"),
            Some(_) => assert_eq!(of_child(), Some(MOST_URGENT)),
        }
        drop(session);
        assert_eq!(of_child(), before);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn who_starts_the_urgent_is_not_urgent_afterwards() {
        let own = || getpriority_process(Some(rustix::thread::gettid())).unwrap();
        let before = own();
        assert!(start(own) <= before);
        assert_eq!(own(), before);
    }
}
