//! `antiphon launch` as a user runs it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn launch(count: u32, over: &str, script: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_antiphon"));
    let count = count.to_string();
    command.args(["launch", "-n", &count, "--over", over, "sh", "-c", script]);
    command
}

fn text(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn each_process_has_its_place_and_its_lines_are_marked() {
    let output = launch(3, "shm", "echo I am $ANTIPHON_RANK of $ANTIPHON_SIZE").output();
    let output = output.expect("started");
    let (stdout, _) = text(&output);
    let mut lines: Vec<&str> = stdout.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        ["[0] I am 0 of 3", "[1] I am 1 of 3", "[2] I am 2 of 3"]
    );
    assert_eq!(output.status.code(), Some(0));
}

/// Arguments of the program may look like options of the command.
#[test]
fn arguments_behind_the_program_are_its_own() {
    let arguments = ["-n", "5", "--over", "udp", "--plain", "--", "--help"];
    let output = Command::new(env!("CARGO_BIN_EXE_antiphon"))
        .args(["launch", "-n", "2", "--over", "shm", "/bin/echo"])
        .args(arguments)
        .output()
        .expect("started");
    let (stdout, stderr) = text(&output);
    let mut lines: Vec<&str> = stdout.lines().collect();
    lines.sort_unstable();
    let words = arguments[1..].join(" ");
    assert_eq!(
        lines,
        [format!("[0] {words}"), format!("[1] {words}")],
        "{stderr}"
    );
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn the_exit_code_is_the_first_failures() {
    let script = "if [ $ANTIPHON_RANK = 1 ]; then echo no >&2; exit 7; fi";
    let output = launch(2, "udp", script).output().expect("started");
    assert_eq!(output.status.code(), Some(7));
    let (_, stderr) = text(&output);
    assert_eq!(stderr, "[1] no\nantiphon: rank 1 ended with exit code 7\n");
}

#[test]
fn the_first_process_reads_our_input() {
    let mut command = launch(2, "shm", "read line; echo got $line");
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = child.expect("started");
    std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), b"it\n").expect("read");
    let (stdout, _) = text(&child.wait_with_output().expect("ended"));
    let mut lines: Vec<&str> = stdout.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["[0] got it", "[1] got"]);
}

#[test]
fn nothing_is_left_when_it_is_killed() {
    let mut child = launch(2, "shm", "echo $$; exec sleep 1000")
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    let ids: Vec<String> = stdout
        .lines()
        .take(2)
        .map(|line| line.expect("text")[4..].to_owned())
        .collect();
    child.kill().expect("killed");
    child.wait().expect("ended");
    let end = Instant::now() + Duration::from_secs(30);
    for id in ids {
        while Path::new("/proc").join(&id).exists() {
            assert!(Instant::now() < end, "process {id} is still there");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn what_cannot_be_is_misuse_with_the_mend() {
    let mut command = launch(2, "shm", "true");
    let output = command.args(["x"]).output().expect("started");
    assert_eq!(
        output.status.code(),
        Some(0),
        "arguments of the program are its own"
    );
    let program = env!("CARGO_BIN_EXE_antiphon");
    let missing = Command::new(program)
        .args(["launch", "-n", "2", "--over", "shm", "./no-such-program"])
        .output()
        .expect("started");
    assert_eq!(missing.status.code(), Some(3), "{missing:?}");
    assert!(text(&missing).1.contains("no-such-program"));
    for (words, said) in [
        (["shm", "--hosts", "h", "true"].as_slice(), "--over tcp"),
        (&["local", "true"], "over shm"),
    ] {
        let refused = Command::new(program)
            .args(["launch", "-n", "2", "--over"])
            .args(words)
            .output()
            .expect("started");
        assert_eq!(refused.status.code(), Some(2), "{words:?}");
        assert!(text(&refused).1.contains(said), "{refused:?}");
    }
}

#[test]
fn a_full_disk_is_told_unless_a_process_failed_anyway() {
    for (script, code) in [("echo hello", 3), ("echo hello; exit 7", 7)] {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let output = launch(1, "shm", script).stdout(full.unwrap()).output();
        let output = output.expect("started");
        let (_, stderr) = text(&output);
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        let is_told = stderr.contains("cannot write to standard output");
        assert_eq!(is_told, code == 3, "{stderr}");
    }
}

/// The processes print one line each and no more. The command still notices that the reader is
/// gone.
#[test]
fn a_reader_that_has_seen_enough_ends_the_processes() {
    let mut platforms = vec!["shm", "tcp", "udp"];
    if Command::new("mpirun").arg("--version").output().is_ok() {
        platforms.push("mpi");
    }
    for over in platforms {
        for script in [
            "echo here $$; exec sleep 1000",
            "while :; do echo here $$; done",
        ] {
            let mut child = launch(2, over, script)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("started");
            let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
            let line = lines.next().expect("a line").expect("text");
            let id = line.rsplit(' ').next().expect("a number").to_owned();
            drop(lines);
            let output = child.wait_with_output().expect("ended");
            let (_, said) = text(&output);
            assert_eq!(output.status.code(), Some(0), "{over}: {said}");
            let is_there = || Path::new("/proc").join(&id).exists();
            let end = Instant::now() + Duration::from_secs(30);
            while is_there() {
                assert!(Instant::now() < end, "{over}: process {id} is still there");
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

/// This needs `script`, which gives a command a terminal.
#[test]
fn a_dumb_terminal_gets_no_escape_sequences() {
    let antiphon = env!("CARGO_BIN_EXE_antiphon");
    let said = |kind: &str| {
        let command = format!("{antiphon} launch -n 2 --over shm sh -c 'echo a line'");
        let output = Command::new("script")
            .args(["-qec", &command, "/dev/null"])
            .env("TERM", kind)
            .env_remove("NO_COLOR")
            .output();
        output.ok().map(|output| text(&output).0)
    };
    let Some(dumb) = said("dumb") else {
        eprintln!("skipped: there is no `script` (apt-get install bsdutils)");
        return;
    };
    assert!(dumb.contains("[0] a line"), "{dumb:?}");
    assert!(!dumb.contains('\x1b'), "{dumb:?}");
    let other = said("xterm").expect("it was there");
    assert!(other.contains("\x1b[36m[0]\x1b[0m a line"), "{other:?}");
}
