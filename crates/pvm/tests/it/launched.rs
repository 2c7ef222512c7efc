//! Programs under a launcher, which has started the session and knows its hosts.

use std::process::Command;

use antiphon_launch::{Launch, Over};

use crate::support::{Place, compiled, libraries, run};

/// A replacement for ssh that runs the command on this host.
const SSH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../launch/tests/hosts/ssh.sh");

/// Returns the output of one task that a launcher starts with a file of two hosts.
fn shown(over: &str, arguments: &[&str]) -> String {
    let place = Place::ours();
    let program = compiled(&place.programs(), "cases");
    let folder = place.folder.path();
    // The launcher reads its settings from its process, so it is a process of its own.
    let ssh = folder.join("ssh");
    std::os::unix::fs::symlink(SSH, &ssh).unwrap();
    std::fs::write(folder.join("reach"), "exec sh -c \"$*\"").unwrap();
    std::fs::write(folder.join("hosts"), "localhost\n127.0.0.2\n").unwrap();
    let exe = std::env::current_exe().expect("a running program has a path");
    run(Command::new(exe)
        .args(["launched::launcher", "--exact", "--ignored", "--nocapture"])
        .env("ANTIPHON_SSH", ssh)
        .env("HOME", folder)
        .env("XDG_RUNTIME_DIR", folder)
        .env("LD_LIBRARY_PATH", libraries())
        .env("LAUNCH_OVER", over)
        .env("LAUNCH_PROGRAM", program)
        .env("LAUNCH_ARGUMENTS", arguments.join(" "))
        .current_dir(folder))
}

#[test]
#[ignore = "the launcher of other tests"]
fn launcher() {
    let told = |name: &str| std::env::var(name).expect("it is told");
    let over = match told("LAUNCH_OVER").as_str() {
        "udp" => Over::Udp,
        _ => Over::Tcp,
    };
    let arguments = told("LAUNCH_ARGUMENTS");
    let launch = Launch::new(over, 1, told("LAUNCH_PROGRAM"))
        .args(arguments.split(' '))
        .hosts(Some("hosts"));
    let running = launch.start().expect("started");
    let outcome = running.to_end(|line| println!("> {}", String::from_utf8_lossy(&line.text)));
    if let Some(summary) = outcome.expect("followed").summary() {
        println!("> {summary}");
    }
}

/// Returns the lines that the task has written.
fn lines(shown: &str) -> Vec<&str> {
    let lines = shown.lines();
    lines.filter_map(|line| line.strip_prefix("> ")).collect()
}

#[test]
fn hosts_that_the_launcher_knows_come_and_go() {
    // Over datagrams a killed task counts as lost only after the time of silence.
    let shown = shown("tcp", &["hosts"]);
    let wanted = [
        "added 1",
        "results 1 -29",
        "again 0 -28",
        "told of 1, the same 1",
        "spawned 1",
        "2 hosts, its own 1, itself 1",
        "deleted 1",
        "told of both 1, 1 hosts",
        "rank 3 was ended by SIGKILL (9)",
    ];
    assert_eq!(lines(&shown), wanted);
}

#[test]
fn children_under_a_launcher_are_sent_to_before_they_call_the_library() {
    for over in ["tcp", "udp"] {
        let shown = shown(over, &["early", "gate"]);
        let lines = lines(&shown);
        let heard = lines.iter().filter(|line| **line == "last heard 20");
        assert_eq!(heard.count(), 3, "{over}: {shown}");
        assert_eq!(lines.last(), Some(&"told of the last: 1"), "{over}");
    }
}
