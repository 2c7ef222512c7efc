//! Precedence of measured processes over other work, where the system permits it: servers,
//! generator, programs, subjects, databases.
//!
//! New processes begin with it (`comes_first` of a program). This module raises processes that
//! already run.
//!
//! Linux first shares a processor among *sessions* (autogroups, if they are on). It then shares a
//! session's part among threads by `nice`. Both are therefore set. Each measured process has its
//! own session, because its keeper begins one. The generator is in the laboratory's session, which
//! is the terminal's. That must not stay urgent after any end of the laboratory.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The most urgent `nice`: the work of others then has next to nothing of the processor.
pub(super) const MOST_URGENT: i32 = -20;

/// Wait before another attempt at a session's `nice`. Without CAP_SYS_ADMIN it may be set a tenth
/// of a second after the last change on the machine, and is `EAGAIN` before.
const UNTIL_AGAIN: Duration = Duration::from_millis(110);

/// Number of attempts. Other programs may change one in between.
const TRIES: u32 = 5;

/// Shell script of the process that restores our session. Its input ends when we end in any way. It
/// makes as many attempts as we do.
const PUTS_BACK: &str = r#"read -r _; for _ in 1 2 3 4 5; do echo "$0" >/proc/self/autogroup && break; sleep 0.11; done"#;

/// Returns the file with the `nice` of a process's session.
pub(super) fn file_of(process: u32) -> PathBuf {
    PathBuf::from(format!("/proc/{process}/autogroup"))
}

/// Sets the `nice` of a session.
pub(super) fn set_nice(file: &Path, nice: i32) -> io::Result<()> {
    again_if_too_soon(|| fs::write(file, nice.to_string()))
}

fn again_if_too_soon(mut set: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    for _ in 1..TRIES {
        match set() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(UNTIL_AGAIN),
            done => return done,
        }
    }
    set()
}

/// Makes a session urgent, and returns its former `nice`; `None` if it was urgent before, or may
/// not be.
fn raise(file: &Path) -> Option<i32> {
    not_urgent(file).filter(|_| make_urgent(file))
}

/// Returns the `nice` of a session; `None` if it is urgent already, because then another run
/// restores it.
fn not_urgent(file: &Path) -> Option<i32> {
    let before = nice(&fs::read_to_string(file).unwrap_or_default());
    before.filter(|before| *before > MOST_URGENT)
}

fn make_urgent(file: &Path) -> bool {
    set_nice(file, MOST_URGENT).is_ok()
}

/// The session of a subject or its database. It comes first while this value lives, if that is
/// permitted, and ends with us in any case.
pub(super) struct Session {
    file: PathBuf,
    before: Option<i32>,
}

impl Session {
    /// Puts that of a process first.
    pub(super) fn put_first(process: u32) -> Session {
        let file = file_of(process);
        let before = raise(&file);
        Session { file, before }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // Of a process that has ended, nothing is left to be put back.
            let _ = set_nice(&self.file, before);
        }
    }
}

/// Our own session, which comes first while this value lives, if that is permitted.
pub(super) struct OwnSession {
    puts_back: Option<Child>,
}

impl OwnSession {
    /// Puts it first, once it is certain that it will be put back.
    pub(super) fn put_first() -> OwnSession {
        let file = Path::new("/proc/self/autogroup");
        let puts_back = not_urgent(file).and_then(|before| who_puts_back(before).ok());
        if puts_back.is_some() {
            make_urgent(file);
        }
        OwnSession { puts_back }
    }
}

/// Starts the process that restores our session. It has its own process group, so that an end of
/// ours does not end it, too.
fn who_puts_back(before: i32) -> std::io::Result<Child> {
    Command::new("sh")
        .args(["-c", PUTS_BACK, &before.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
}

impl Drop for OwnSession {
    fn drop(&mut self) {
        if let Some(mut puts_back) = self.puts_back.take() {
            drop(puts_back.stdin.take());
            // Its exit status does not matter: a session that may not be restored was not raised
            // either.
            let _ = puts_back.wait();
        }
    }
}

/// Returns the `nice` of a line such as `/autogroup-12 nice 0`.
fn nice(line: &str) -> Option<i32> {
    let (_, nice) = line.rsplit_once(" nice ")?;
    nice.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{Pid, Signal, kill_process, kill_process_group};
    use std::io::{BufRead, BufReader};
    use std::time::Instant;

    /// Keeps its session first until it is ended. The next test runs it in a separate session.
    #[test]
    #[ignore = "it waits until it is ended"]
    fn holds_its_session() {
        let _session = OwnSession::put_first();
        println!("held");
        std::thread::sleep(Duration::from_secs(600));
    }

    #[test]
    fn what_comes_too_soon_is_tried_again_and_what_is_refused_is_not() {
        let after = |errors: &[i32]| {
            let (mut errors, mut tries) = (errors.iter(), 0);
            let set = again_if_too_soon(|| {
                tries += 1;
                let error = errors.next();
                error.map_or(Ok(()), |number| Err(io::Error::from_raw_os_error(*number)))
            });
            (set.is_ok(), tries)
        };
        assert_eq!(after(&[]), (true, 1));
        assert_eq!(after(&[libc::EAGAIN, libc::EAGAIN]), (true, 3));
        assert_eq!(after(&[libc::EAGAIN, libc::EPERM]), (false, 2));
        assert_eq!(after(&[libc::EAGAIN; 9]), (false, TRIES));
        let tries = (1..=TRIES).map(|number| number.to_string());
        let tries = tries.collect::<Vec<_>>().join(" ");
        assert!(PUTS_BACK.contains(&format!("in {tries};")), "{PUTS_BACK}");
    }

    #[test]
    fn a_session_is_put_back_after_kill() {
        assert_eq!(nice("/autogroup-12 nice -7\n"), Some(-7));
        assert_eq!(nice(""), None);
        // The shell is the session's leader, and lives on when the test in it is killed.
        let test = "run::first::tests::holds_its_session";
        let script =
            r#""$0" --ignored --nocapture --exact "$1" & echo "pid $!"; wait; exec sleep 600"#;
        let mut leader = Command::new("setsid")
            .args(["sh", "-c", script])
            .arg(std::env::current_exe().unwrap())
            .arg(test)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let own = |process: u32| nice(&fs::read_to_string(file_of(process)).unwrap_or_default());
        let before = own(std::process::id());
        let lines = BufReader::new(leader.stdout.take().unwrap()).lines();
        let mut holder = None;
        for line in lines.map_while(Result::ok) {
            holder = holder.or_else(|| line.strip_prefix("pid ")?.parse::<i32>().ok());
            if line.contains("held") {
                break;
            }
        }
        let holder = holder.expect("the shell says which process holds the session");
        if own(leader.id()) != Some(MOST_URGENT) || before == Some(MOST_URGENT) {
            println!("skipped: sessions have no `nice` here, or it may not be set");
        } else {
            let holder = Pid::from_raw(holder).unwrap();
            kill_process(holder, Signal::KILL).unwrap();
            let until = Instant::now() + Duration::from_secs(60);
            while own(leader.id()) == Some(MOST_URGENT) && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(5));
            }
            assert_eq!(own(leader.id()), Some(0));
        }
        kill_process_group(Pid::from_child(&leader), Signal::KILL).unwrap();
        leader.wait().unwrap();
    }
}
