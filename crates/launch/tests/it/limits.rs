//! Sessions that meet a limit of the system: the limit is named, with its value.

use antiphon_launch::{Launch, Over};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

const MEMBER: &str = env!("CARGO_BIN_EXE_launch-test-member");

/// Launches a session of processes that meet at a barrier, under a limit.
fn launched(limit: &str, member: &str, over: &str, count: u32) -> Command {
    let mut command = Command::new("prlimit");
    let count = count.to_string();
    command.args([limit, member, "launch", over, &count, "gather"]);
    command
}

/// Returns all that a command writes.
fn written(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    String::from_utf8_lossy(&[&out[..], err].concat()).into_owned()
}

#[test]
fn a_session_without_descriptors_names_their_limit() {
    for (over, files, count) in [
        // The launcher has none for the last process, or for the connections of all.
        ("tcp", 16, 6),
        ("tcp", 40, 9),
        ("shm", 16, 6),
        ("udp", 16, 6),
    ] {
        let limit = format!("--nofile={files}");
        let output = launched(&limit, MEMBER, over, count).output().unwrap();
        let said = written(&output);
        assert_ne!(output.status.code(), Some(0), "{over} {files}: {said}");
        let names_it = said.contains(&format!("may have {files} files open"));
        assert!(
            names_it && said.contains("ulimit -n"),
            "{over} {files}: {said}"
        );
        assert!(!said.contains("panicked"), "{said}");
    }
}

#[test]
fn a_process_without_descriptors_names_their_limit() {
    // The first process accepts what the others connect, of which the last connects most.
    for rank in [0, 3] {
        let launch = Launch::new(Over::Tcp, 4, MEMBER).args(["few", "8", &rank.to_string()]);
        let mut lines = Vec::new();
        let running = launch.start().unwrap();
        running.to_end(|line| lines.push(line)).unwrap();
        let own = lines.iter().filter(|line| line.rank == Some(rank));
        let own: Vec<_> = own
            .map(|line| String::from_utf8_lossy(&line.text))
            .collect();
        let said = own.join("\n");
        assert!(said.contains("may have 8 files open"), "{rank}: {lines:?}");
    }
}

#[test]
fn a_session_without_memory_names_its_limit() {
    let mut command = Command::new(MEMBER);
    command.args(["launch", "shm", "2", "gather"]);
    // Less than the stack of a thread.
    let output = command.env("MEMBER_SPARE_KIB", "1000").output().unwrap();
    let said = written(&output);
    assert_ne!(output.status.code(), Some(0), "{said}");
    let names_it = said.contains("KiB of addresses (`ulimit -v`)");
    assert!(names_it, "{said}");
}

#[test]
fn a_session_without_large_files_names_their_limit() {
    let output = launched("--fsize=1000", MEMBER, "shm", 2).output();
    let output = output.unwrap();
    let said = written(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let names_it = said.contains("may have 1000 bytes, raise `ulimit -f`");
    assert!(names_it, "{said}");
}

/// No limit of processes holds for root. So this runs as another user, with a copy that it may read.
#[test]
fn a_session_without_processes_or_threads_names_their_limit() {
    let folder = tempfile::tempdir().unwrap();
    let member = folder.path().join("member");
    fs::copy(MEMBER, &member).unwrap();
    for path in [folder.path(), &member] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    // SAFETY: the call takes nothing.
    let is_root = unsafe { libc::geteuid() } == 0;
    // What another user of the machine's tests runs counts as well. So only a limit that leaves no
    // room at all is sure to be met.
    for over in ["tcp", "shm", "udp"] {
        let mut command = launched("--nproc=1", member.to_str().unwrap(), over, 3);
        if is_root {
            // A user that nobody is.
            command.uid(65_521).gid(65_521).current_dir("/");
        }
        let output = command.output().unwrap();
        let said = written(&output);
        assert_ne!(output.status.code(), Some(0), "{over}: {said}");
        assert!(said.contains("this user 1 (`ulimit -u`)"), "{over}: {said}");
        assert!(!said.contains("panicked"), "{said}");
    }
}
