//! `antiphon pvm`: programs in a virtual machine of the command.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::common::{await_full, signal};

/// Bounds waits that end far sooner.
const LIMIT: Duration = Duration::from_secs(60);

/// Returns the command, with virtual machines of its own.
fn antiphon(runtime: &TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_antiphon"));
    command.arg("pvm").env("XDG_RUNTIME_DIR", runtime.path());
    command
}

fn shown(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn what_tasks_write_is_shown_with_their_ids() {
    let runtime = tempfile::tempdir().unwrap();
    let mut command = antiphon(&runtime);
    let output = command
        .args(["run", "-n", "2", "/bin/echo", "-n", "hello"])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        shown(&output),
        ["[t40002] hello", "[t40003] hello"],
        "{errors}"
    );
    assert_eq!(output.status.code(), Some(0), "{errors}");
}

#[test]
fn a_run_ends_as_its_tasks_end() {
    let runtime = tempfile::tempdir().unwrap();
    let mut command = antiphon(&runtime);
    let failed = command
        .args(["run", "/bin/sh", "-c", "exit 7"])
        .output()
        .unwrap();
    assert_eq!(failed.status.code(), Some(7));
    let mut command = antiphon(&runtime);
    let missing = command.args(["run", "./no-such-program"]).output().unwrap();
    let errors = String::from_utf8_lossy(&missing.stderr);
    assert_eq!(missing.status.code(), Some(3), "{errors}");
    assert!(
        errors.contains("there is no program ./no-such-program"),
        "{errors}"
    );
}

#[test]
fn the_console_obeys_a_file() {
    let runtime = tempfile::tempdir().unwrap();
    let mut console = antiphon(&runtime)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let commands = "spawn -2 -> /bin/echo hello\nkill nobody\nsig 999 t40002\nno-such-command\nversion\nquit\n";
    let mut input = console.stdin.take().unwrap();
    input.write_all(commands.as_bytes()).unwrap();
    drop(input);
    let output = console.wait_with_output().unwrap();
    let lines = shown(&output);
    for line in [
        "3.4.6",
        "[t40002] hello",
        "[t40003] hello",
        "t40002",
        "t40003",
    ] {
        assert!(
            lines.iter().any(|shown| shown == line),
            "{line} is not in {lines:?}"
        );
    }
    for start in [
        "nobody is no task's id",
        "there is no signal 999",
        "there is no command no-such-command",
    ] {
        assert!(
            lines.iter().any(|line| line.starts_with(start)),
            "{start}: {lines:?}"
        );
    }
}

/// Writes a program that prints its process number and never ends.
fn endless(folder: &TempDir) -> PathBuf {
    let program = folder.path().join("endless.sh");
    std::fs::write(&program, "echo pid $$\nexec sleep 1000\n").unwrap();
    program
}

/// Returns the process number at the end of a line of such a program.
fn number(line: &str) -> Option<u32> {
    line.trim().rsplit_once("pid ")?.1.parse().ok()
}

fn await_ends(numbers: &[u32]) {
    let until = Instant::now() + LIMIT;
    // A process that has ended but was not waited for has no command line.
    let runs = |number: &u32| {
        std::fs::read(format!("/proc/{number}/cmdline")).is_ok_and(|line| !line.is_empty())
    };
    while numbers.iter().any(runs) {
        assert!(Instant::now() < until, "of {numbers:?} some run on");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_run_that_is_ended_leaves_no_tasks() {
    for (signalled, code) in [
        (libc::SIGINT, Some(130)),
        (libc::SIGHUP, Some(130)),
        (libc::SIGKILL, None),
    ] {
        let runtime = tempfile::tempdir().unwrap();
        let mut command = Command::new("env");
        command
            // In the background of a shell some signals are ignored.
            .arg("--default-signal=HUP,INT")
            .arg(env!("CARGO_BIN_EXE_antiphon"))
            .args(["pvm", "run", "-n", "2", "/bin/sh"])
            .arg(endless(&runtime))
            .env("XDG_RUNTIME_DIR", runtime.path());
        let mut command = command.stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(command.stdout.take().unwrap());
        let lines = output.lines().map(Result::unwrap);
        let numbers: Vec<u32> = lines.filter_map(|line| number(&line)).take(2).collect();
        assert_eq!(numbers.len(), 2);
        signal(command.id(), signalled);
        assert_eq!(command.wait().unwrap().code(), code, "{signalled}");
        await_ends(&numbers);
    }
}

/// A console at a terminal of its own.
struct AtTerminal {
    own: File,
    console: Child,
    shown: String,
    runtime: TempDir,
}

impl AtTerminal {
    fn start() -> Self {
        let runtime = tempfile::tempdir().unwrap();
        let (mut own, mut theirs) = (-1, -1);
        let null = std::ptr::null_mut();
        // SAFETY: the two numbers are written, and nothing else is asked for.
        let opened =
            unsafe { libc::openpty(&mut own, &mut theirs, null, null.cast(), null.cast()) };
        assert_eq!(opened, 0, "{}", std::io::Error::last_os_error());
        // The console must not keep our end open.
        // SAFETY: the call takes numbers.
        assert_eq!(
            unsafe { libc::fcntl(own, libc::F_SETFD, libc::FD_CLOEXEC) },
            0
        );
        // SAFETY: both were opened above and are nobody else's.
        let (own, theirs) = unsafe { (File::from_raw_fd(own), OwnedFd::from_raw_fd(theirs)) };
        let mut command = Command::new(env!("CARGO_BIN_EXE_antiphon"));
        command
            .arg("pvm")
            .env("XDG_RUNTIME_DIR", runtime.path())
            .env("XDG_STATE_HOME", runtime.path())
            .env("TERM", "xterm")
            .stdin(theirs.try_clone().unwrap())
            .stdout(theirs.try_clone().unwrap())
            .stderr(theirs);
        // SAFETY: the calls take numbers, and may be made between fork and exec.
        unsafe {
            command.pre_exec(|| {
                // In the background of a shell it is ignored.
                libc::signal(libc::SIGHUP, libc::SIG_DFL);
                libc::setsid();
                libc::ioctl(0, libc::TIOCSCTTY, 0);
                Ok(())
            });
        }
        let console = command.spawn().unwrap();
        let mut at_terminal = Self {
            own,
            console,
            shown: String::new(),
            runtime,
        };
        at_terminal.await_text("pvm> ", 1);
        at_terminal
    }

    fn types(&mut self, text: &str) {
        self.own.write_all(text.as_bytes()).unwrap();
    }

    /// Reads until a text has appeared `times` times.
    fn await_text(&mut self, text: &str, times: usize) {
        let until = Instant::now() + LIMIT;
        while self.shown.matches(text).count() < times {
            assert!(Instant::now() < until, "no {text:?} in {:?}", self.shown);
            let mut ready = libc::pollfd {
                fd: std::os::fd::AsRawFd::as_raw_fd(&self.own),
                events: libc::POLLIN,
                revents: 0,
            };
            // SAFETY: it points to one structure, which lives until the call returns.
            if unsafe { libc::poll(&raw mut ready, 1, 1000) } < 1 {
                continue;
            }
            let mut room = [0; 4096];
            let length = self.own.read(&mut room).unwrap();
            self.shown += &String::from_utf8_lossy(&room[..length]);
        }
    }
}

impl Drop for AtTerminal {
    /// Kills the console after a failed test.
    fn drop(&mut self) {
        let _ = self.console.kill();
        let _ = self.console.wait();
    }
}

#[test]
fn the_console_completes_and_remembers_at_a_terminal() {
    let mut terminal = AtTerminal::start();
    terminal.types("ver\t\r");
    terminal.await_text("3.4.6", 1);
    terminal.types("\x1b[A\r");
    terminal.await_text("3.4.6", 2);
    terminal.types("quit\r");
    assert!(terminal.console.wait().unwrap().success());
}

#[test]
fn a_reader_that_leaves_ends_the_tasks_and_a_full_disk_is_told() {
    let runtime = tempfile::tempdir().unwrap();
    let mut command = antiphon(&runtime);
    command.args(["run", "-n", "2", "/bin/sh"]);
    command.arg(endless(&runtime)).stdout(Stdio::piped());
    let mut command = command.spawn().unwrap();
    let output = BufReader::new(command.stdout.take().unwrap());
    let lines = output.lines().map(Result::unwrap);
    let numbers: Vec<u32> = lines.filter_map(|line| number(&line)).take(2).collect();
    assert_eq!(command.wait().unwrap().code(), Some(0));
    await_ends(&numbers);

    let full = || File::options().write(true).open("/dev/full").unwrap();
    let mut run = antiphon(&runtime);
    run.args(["run", "/bin/echo", "hello"]);
    let mut console = antiphon(&runtime);
    let commands = runtime.path().join("commands");
    std::fs::write(&commands, "version\n").unwrap();
    console.stdin(File::open(&commands).unwrap());
    for command in [&mut run, &mut console] {
        let output = command.stdout(full()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{errors}");
        assert!(
            errors.contains("cannot write to standard output"),
            "{errors}"
        );
    }
}

#[test]
fn a_run_whose_output_nobody_takes_ends_when_asked_to() {
    let runtime = tempfile::tempdir().unwrap();
    let mut command = antiphon(&runtime);
    command.args(["run", "/bin/sh", "-c", "while :; do echo much to say; done"]);
    let mut command = command.stdout(Stdio::piped()).spawn().unwrap();
    let output = command.stdout.take().unwrap();
    await_full(&output);
    signal(command.id(), libc::SIGTERM);
    assert_eq!(command.wait().unwrap().code(), Some(130));
}

/// Starts two tasks that never end, and returns their process numbers.
fn with_two_tasks(terminal: &mut AtTerminal) -> Vec<u32> {
    let program = endless(&terminal.runtime);
    terminal.types(&format!("spawn -2 -> /bin/sh {}\r", program.display()));
    terminal.await_text("] pid ", 2);
    // By then the second number is complete.
    terminal.types("version\r");
    terminal.await_text("3.4.6", 1);
    let numbers: Vec<u32> = terminal.shown.lines().filter_map(number).collect();
    assert_eq!(numbers.len(), 2, "{:?}", terminal.shown);
    numbers
}

#[test]
fn a_terminal_that_is_closed_leaves_no_tasks() {
    let mut terminal = AtTerminal::start();
    let numbers = with_two_tasks(&mut terminal);
    terminal.own = File::open("/dev/null").unwrap();
    await_ends(&numbers);
}

#[test]
fn a_console_that_is_killed_or_ended_leaves_no_tasks() {
    for signalled in [libc::SIGKILL, libc::SIGTERM, libc::SIGHUP] {
        let mut terminal = AtTerminal::start();
        let numbers = with_two_tasks(&mut terminal);
        signal(terminal.console.id(), signalled);
        await_ends(&numbers);
        terminal.console.wait().unwrap();
    }
}

#[test]
fn old_fortran_packs_values_of_several_types_by_one_subroutine() {
    if Command::new("gfortran").arg("--version").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "gfortran is missing");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = "      subroutine both(n, x)
      include 'fpvm3.h'
      integer n, info
      double precision x(2)
      call pvmfpack(INTEGER4, n, 1, 1, info)
      call pvmfpack(REAL8, x, 2, 1, info)
      end
";
    std::fs::write(folder.path().join("both.f"), program).unwrap();
    let output = antiphon(&folder)
        .args(["fc", "-c", "both.f"])
        .current_dir(folder.path())
        .env(
            "ANTIPHON_PVM_HOME",
            concat!(env!("CARGO_MANIFEST_DIR"), "/../pvm"),
        )
        .env_remove("FC")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert!(folder.path().join("both.o").is_file());
}
