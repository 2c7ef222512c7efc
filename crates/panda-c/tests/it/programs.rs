//! Programs in C over each platform, linked statically and dynamically. Each checks its own results
//! and exits with 1 if one is wrong.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};

use antiphon_launch::Over;
use antiphon_panda::platform::{self, Bootstrap, Registry, Secret};

use crate::support::{Linked, compiled, output, run, session};

const PLATFORMS: [Over; 4] = [Over::Shm, Over::Tcp, Over::Udp, Over::Mpi];
const BOTH: [Linked; 2] = [Linked::Statically, Linked::Dynamically];

/// Returns the command for a program that joins no session by its environment.
fn alone(program: &Path) -> Command {
    let mut command = Command::new("timeout");
    command.arg("120").arg(program);
    for name in ["ANTIPHON_PLATFORM", "ANTIPHON_RANK"] {
        command.env_remove(name);
    }
    command
}

/// Runs such a program, linked in both ways.
fn by_itself(source: &str) {
    for linked in BOTH {
        run(&mut alone(&compiled(source, linked)));
    }
}

#[test]
fn messages() {
    by_itself("tests/c/messages.c");
}

#[test]
fn threads() {
    by_itself("tests/c/threads.c");
}

#[test]
fn sessions_of_one_process() {
    by_itself("tests/c/local.c");
}

#[test]
fn programs_of_one_process() {
    by_itself("tests/c/programs.c");
}

#[test]
fn more_unread_than_may_be() {
    by_itself("tests/c/unread.c");
}

#[test]
fn a_program_in_another_language() {
    by_itself("tests/c/header.cpp");
}

/// Handlers of exit() and destructors of thread keys may call the library, although the thread's
/// own values are gone.
#[test]
fn the_end_of_a_process_and_of_a_thread() {
    by_itself("tests/c/late.c");
}

/// A callback that ends other than by returning ends the process, with a message.
#[test]
fn callbacks_that_do_not_return() {
    const SIGABRT: i32 = 6;
    let program = compiled("tests/c/leaving.cpp", Linked::Dynamically);
    for callback in [
        "message",
        "call",
        "event",
        "predicate",
        "accepts",
        "combine",
        "release",
        "buffer",
    ] {
        for way in ["exit", "throw"] {
            let ran = output(alone(&program).args([callback, way]));
            let errors = String::from_utf8_lossy(&ran.stderr);
            let is_said = errors.contains("libpanda: panda_thread_exit or an exception left");
            let signal = ran.status.signal();
            assert!(
                signal == Some(SIGABRT) && is_said,
                "{callback}, {way}: {:?}, {errors}",
                ran.status
            );
        }
    }
}

/// Runs a program over each platform, where no process fails, and checks its output.
pub fn over_all(size: u32, program: &Path, arguments: &[&str], check: impl Fn(Over, &[String])) {
    for over in PLATFORMS {
        if let Some(ran) = session(over, size, program, arguments) {
            assert_eq!(
                ran.summary,
                None,
                "{over:?}, {}: {:?}",
                program.display(),
                ran.said
            );
            check(over, &ran.said);
        }
    }
}

fn everywhere(source: &str, size: u32) {
    for linked in BOTH {
        over_all(size, &compiled(source, linked), &[], |_, _| ());
    }
}

#[test]
fn ports_and_calls() {
    everywhere("tests/c/passing.c", 3);
}

#[test]
fn groups() {
    everywhere("tests/c/groups.c", 3);
}

#[test]
fn the_state_of_a_group() {
    everywhere("tests/c/state.c", 3);
}

#[test]
fn quiescence() {
    everywhere("tests/c/quiescence.c", 3);
}

#[test]
fn communicators() {
    everywhere("tests/c/communicators.c", 4);
}

#[test]
fn spawned_processes() {
    everywhere("tests/c/spawn.c", 2);
}

#[test]
fn processes_that_the_program_starts_itself() {
    everywhere("tests/c/launch_info.c", 2);
}

#[test]
fn a_process_that_is_started_by_hand() {
    let base = tempfile::tempdir().expect("a directory");
    let secret = Secret::fresh().expect("random numbers");
    let bootstrap = Bootstrap::hold(([127, 0, 0, 1], 0).into(), 1, secret).expect("a port");
    let info = bootstrap.launch_info("tcp", 0);
    let session = platform::join(&info).expect("it is alone");
    let registry = Registry::below(base.path());
    let _joinable = registry.announce("board", &info).expect("free");
    let greeted = std::thread::spawn(move || session.port("greetings").receive(None, None));
    let program = compiled("tests/c/by_hand.c", Linked::Dynamically);
    run(alone(&program).env("XDG_RUNTIME_DIR", base.path()));
    let greeting = greeted.join().expect("no panic").expect("it greets");
    assert_eq!((greeting.from, greeting.tag), (1, 1));
}

/// Over Open MPI no process outlives one that is killed.
const SURVIVING: [Over; 3] = [Over::Shm, Over::Tcp, Over::Udp];

#[test]
fn a_peer_that_is_killed() {
    let program = compiled("tests/c/lost.c", Linked::Dynamically);
    for over in SURVIVING {
        let ran = session(over, 3, &program, &[]).expect("it needs nothing");
        let killed = Some("rank 1 was ended by SIGKILL (9)");
        assert_eq!(ran.summary.as_deref(), killed, "{over:?}: {:?}", ran.said);
        assert_eq!(ran.said, ["told", "told"], "{over:?}");
    }
}

#[test]
fn peers_that_leave() {
    for linked in BOTH {
        over_all(
            3,
            &compiled("tests/c/peers.c", linked),
            &["leave"],
            |_, _| (),
        );
    }
}

#[test]
fn a_peer_that_is_followed_and_killed() {
    let program = compiled("tests/c/peers.c", Linked::Dynamically);
    for over in SURVIVING {
        let ran = session(over, 3, &program, &["kill"]).expect("it needs nothing");
        let killed = Some("rank 2 was ended by SIGKILL (9)");
        assert_eq!(ran.summary.as_deref(), killed, "{over:?}: {:?}", ran.said);
    }
}

#[test]
fn a_group_that_cannot_go_on() {
    let program = compiled("tests/c/expelled.c", Linked::Dynamically);
    for over in SURVIVING {
        let ran = session(over, 2, &program, &[]).expect("it needs nothing");
        let killed = Some("rank 1 was ended by SIGKILL (9)");
        assert_eq!(ran.summary.as_deref(), killed, "{over:?}: {:?}", ran.said);
        assert_eq!(ran.said, ["told"], "{over:?}");
    }
}

/// Returns whether a program can be called. Otherwise says why a test is skipped.
pub fn is_there(program: &str, package: &str) -> bool {
    let is_there = Command::new(program).arg("--version").output().is_ok();
    if !is_there {
        eprintln!("skipped: there is no {program} (apt-get install {package})");
    }
    is_there
}

/// Runs a program while its memory is checked. It exits with 9 on a fault.
fn watched(source: &str) -> Output {
    let mut command = alone(Path::new("valgrind"));
    command
        .args(["--quiet", "--error-exitcode=9", "--leak-check=full"])
        .args([
            "--errors-for-leak-kinds=definite,indirect",
            "--show-leak-kinds=definite,indirect",
        ])
        .arg("--fair-sched=yes")
        .arg(compiled(source, Linked::Dynamically));
    output(&mut command)
}

/// There is no leak, no invalid access, and no read of uninitialized memory.
#[test]
fn memory() {
    if !is_there("valgrind", "valgrind") {
        return;
    }
    for source in [
        "tests/c/messages.c",
        "tests/c/local.c",
        "tests/c/programs.c",
    ] {
        let ran = watched(source);
        let errors = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{source}: {errors}");
    }
}

/// The memory check can fail: this program leaks a message.
#[test]
fn memory_that_is_lost_is_found() {
    if !is_there("valgrind", "valgrind") {
        return;
    }
    assert_eq!(watched("tests/c/leak.c").status.code(), Some(9));
}
