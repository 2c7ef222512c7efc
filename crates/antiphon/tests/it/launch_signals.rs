//! Signals that `antiphon launch` passes on, and its output on a terminal.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{await_full, signal};

/// Bounds waits that end far sooner.
const LIMIT: Duration = Duration::from_secs(60);
/// Loops until it is ended. Each wait is short, so that the shell soon sees a signal. It runs in a
/// forked shell of its own: a shell that starts a command by `vfork` cannot stop while the command
/// is stopped before it has begun.
const GO_ON: &str = "echo ready $$; while :; do (sleep 0.05); done";

#[test]
fn a_session_whose_output_nobody_takes_ends_when_asked_to() {
    let mut command = launch(&["--grace", "0"], "while :; do echo much to say; done");
    let mut command = command.stdout(Stdio::piped()).spawn().expect("started");
    let output = command.stdout.take().expect("a pipe");
    await_full(&output);
    signal(command.id(), libc::SIGTERM);
    let code = command.wait().expect("waited for").code();
    assert!([Some(143), Some(137)].contains(&code), "{code:?}");
}

/// Two shell processes under the command.
struct Launched {
    command: Child,
    lines: Receiver<String>,
    /// Process numbers.
    shells: [u32; 2],
}

impl Launched {
    /// Starts them with a `trap`, and waits until they are ready.
    fn start(options: &[&str], trap: &str) -> Self {
        let mut command = launch(options, &format!("{trap}; {GO_ON}"));
        let mut command = command.stdout(Stdio::piped()).spawn().expect("started");
        let output = BufReader::new(command.stdout.take().expect("a pipe"));
        let (line, lines) = mpsc::channel();
        thread::spawn(move || {
            let text = output.lines().map(|line| line.expect("text"));
            text.take_while(|text| line.send(text.clone()).is_ok())
                .for_each(drop);
        });
        let mut launched = Self {
            command,
            lines,
            shells: [0; 2],
        };
        let ids = launched.both_say("ready");
        launched.shells = ids.map(|id| id.parse().expect("a number"));
        launched
    }

    fn signal(&self, number: i32) {
        signal(self.command.id(), number);
    }

    /// Waits until both have printed a word, and returns the rest of the lines.
    fn both_say(&mut self, word: &str) -> [String; 2] {
        let mut said = Vec::new();
        while said.len() < 2 {
            let line = self.lines.recv_timeout(LIMIT);
            let line = line.unwrap_or_else(|end| panic!("they did not both say {word}: {end}"));
            if let Some((_, rest)) = line.split_once(word) {
                said.push(rest.trim().to_owned());
            }
        }
        said.try_into().expect("two")
    }

    /// Waits for the command, and returns its exit code.
    fn code(mut self) -> Option<i32> {
        self.command.wait().expect("ended").code()
    }
}

impl Drop for Launched {
    /// Kills the command after a failed test.
    fn drop(&mut self) {
        let _ = self.command.kill();
        let _ = self.command.wait();
    }
}

/// Returns the command with default signals. In the background of a shell or under `nohup` some
/// signals are ignored, and a shell cannot trap those that were ignored when it began.
fn launch(options: &[&str], script: &str) -> Command {
    let mut command = Command::new("env");
    command
        .arg("--default-signal=HUP,INT,QUIT")
        .arg(env!("CARGO_BIN_EXE_antiphon"))
        .args(["launch", "-n", "2", "--over", "shm"])
        .args(options)
        .args(["sh", "-c", script]);
    command
}

fn is_stopped(id: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat"));
    stat.is_ok_and(|stat| stat.contains(") T "))
}

#[test]
fn a_second_request_to_end_kills() {
    for (number, name) in [(libc::SIGINT, "INT"), (libc::SIGQUIT, "QUIT")] {
        let trap = format!("trap 'echo asked' {name}");
        let mut launched = Launched::start(&["--grace", "1000"], &trap);
        launched.signal(number);
        launched.both_say("asked");
        launched.signal(number);
        assert_eq!(launched.code(), Some(128 + libc::SIGKILL), "{name}");
    }
}

#[test]
fn what_does_not_end_is_killed_after_the_grace() {
    let launched = Launched::start(&["--grace", "1"], "trap '' TERM");
    launched.signal(libc::SIGTERM);
    assert_eq!(launched.code(), Some(128 + libc::SIGKILL));
}

#[test]
fn a_signal_of_the_programs_own_is_passed_on() {
    let launched = Launched::start(&[], "trap 'exit 5' USR1");
    launched.signal(libc::SIGUSR1);
    assert_eq!(launched.code(), Some(5));
}

/// As a request to end, it would kill them at once.
#[test]
fn a_hangup_ends_only_those_that_it_ends() {
    let mut launched = Launched::start(&["--grace", "0"], "trap 'echo again' HUP");
    for _ in 0..3 {
        launched.signal(libc::SIGHUP);
        launched.both_say("again");
    }
    launched.signal(libc::SIGTERM);
    // The request has ended it, or the kill that follows at once.
    assert!(launched.code().is_some_and(|code| code > 128));
}

#[test]
fn all_stop_and_go_on() {
    let mut launched = Launched::start(&[], "trap 'echo goes on' CONT");
    launched.signal(libc::SIGTSTP);
    let all = launched.shells.into_iter().chain([launched.command.id()]);
    let end = Instant::now() + LIMIT;
    for id in all {
        while !is_stopped(id) {
            assert!(Instant::now() < end, "process {id} does not stop");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    launched.signal(libc::SIGCONT);
    launched.both_say("goes on");
    launched.signal(libc::SIGTERM);
    assert_eq!(launched.code(), Some(128 + libc::SIGTERM));
}

/// Returns our end of a terminal, and the command's.
fn terminal() -> (File, OwnedFd) {
    let (mut own, mut theirs) = (-1, -1);
    let null = std::ptr::null_mut();
    // SAFETY: the two numbers are written, and nothing else is asked for.
    let opened = unsafe { libc::openpty(&mut own, &mut theirs, null, null.cast(), null.cast()) };
    assert_eq!(opened, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: both were opened above and are nobody else's.
    unsafe { (File::from_raw_fd(own), OwnedFd::from_raw_fd(theirs)) }
}

/// Returns the lines that a terminal shows after the program has ended, in no order.
fn shown(mut own: File) -> Vec<String> {
    let mut shown = Vec::new();
    let mut room = [0; 4096];
    // Once all is read, the system reports an error.
    while let Ok(length @ 1..) = own.read(&mut room) {
        shown.extend_from_slice(&room[..length]);
    }
    in_no_order(shown)
}

fn in_no_order(text: Vec<u8>) -> Vec<String> {
    let text = String::from_utf8(text).expect("text");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

const COLOURED: [&str; 2] = ["\x1b[33m[1]\x1b[0m hello", "\x1b[36m[0]\x1b[0m hello"];
const MARKED: [&str; 2] = ["[0] hello", "[1] hello"];

/// Only the terminal gets colours. In the other stream they would be in the way.
#[test]
fn ranks_have_colours_on_a_terminal_alone() {
    let (own, theirs) = terminal();
    let mut command = launch(&[], "echo hello; echo hello >&2");
    command.env_remove("NO_COLOR");
    command.stdout(theirs).stderr(Stdio::piped());
    let ended = command.spawn().and_then(Child::wait_with_output);
    // Closes the command's end.
    drop(command);
    assert_eq!(shown(own), COLOURED);
    assert_eq!(in_no_order(ended.expect("started").stderr), MARKED);
}

#[test]
fn errors_have_colours_where_they_alone_go_to_a_terminal() {
    let (own, theirs) = terminal();
    let mut command = launch(&[], "echo hello; echo hello >&2");
    command.env_remove("NO_COLOR");
    command.stdout(Stdio::piped()).stderr(theirs);
    let ended = command.spawn().and_then(Child::wait_with_output);
    drop(command);
    assert_eq!(shown(own), COLOURED);
    assert_eq!(in_no_order(ended.expect("started").stdout), MARKED);
}
