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
        (&["udp", "--hosts", "no-such-file", "true"], "no-such-file"),
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
