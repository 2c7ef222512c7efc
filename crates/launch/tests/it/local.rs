//! Sessions of real processes.

use antiphon_launch::{Launch, LaunchError, Line, Outcome, Over};
use antiphon_runner::{End, Stream};
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Lines, Write};
use std::net::IpAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crate::open_mpi::has_mpi;
use crate::spawned;

const MEMBER: &str = env!("CARGO_BIN_EXE_launch-test-member");

fn launch(over: Over, count: u32, mode: &str) -> Launch {
    Launch::new(over, count, MEMBER).args([mode])
}

/// Whose line, where to, what.
type Written = (u32, Stream, String);

/// Follows a session to its end; what was written, sorted.
fn follow(launch: &Launch) -> Result<(Outcome, Vec<Written>), LaunchError> {
    let mut lines = Vec::new();
    let outcome = launch.start()?.to_end(|line: Line| {
        let rank = line.rank.unwrap_or(u32::MAX);
        lines.push((
            rank,
            line.stream,
            String::from_utf8_lossy(&line.text).into_owned(),
        ));
    })?;
    lines.sort_by_key(|(rank, stream, _)| (*rank, *stream == Stream::Error));
    Ok((outcome, lines))
}

fn all_hear_all(launch: &Launch) {
    let (outcome, lines) = follow(launch).expect("started");
    assert_eq!(outcome.summary(), None, "{lines:?}");
    let heard = |rank, text: &str| (rank, Stream::Output, text.to_owned());
    let expected = [
        heard(0, "heard [1, 2]"),
        heard(1, "heard [0, 2]"),
        heard(2, "heard [0, 1]"),
    ];
    assert_eq!(lines, expected);
}

#[test]
fn processes_hear_each_other_over_shm() {
    all_hear_all(&launch(Over::Shm, 3, "greet"));
}

#[test]
fn processes_hear_each_other_over_tcp() {
    all_hear_all(&launch(Over::Tcp, 3, "greet"));
}

#[test]
fn processes_hear_each_other_over_udp() {
    all_hear_all(&launch(Over::Udp, 3, "greet"));
}

#[test]
fn processes_hear_each_other_over_a_bad_network() {
    let faults = "seed=5,lost=300,doubled=100,late=300,late_us=2000".parse();
    all_hear_all(&launch(Over::Udp, 3, "greet").faults(Some(faults.expect("good"))));
}

#[test]
fn processes_hear_each_other_over_mpi() {
    if has_mpi() {
        all_hear_all(&launch(Over::Mpi, 3, "greet"));
    }
}

#[test]
fn output_comes_in_lines_of_one_process() {
    let (outcome, lines) = follow(&launch(Over::Shm, 2, "say")).expect("started");
    assert_eq!(outcome.exit_code(), 0);
    let text: Vec<_> = lines
        .iter()
        .map(|(rank, _, text)| (*rank, text.as_str()))
        .collect();
    assert_eq!(
        text,
        [
            (0, "one from 0"),
            (0, "half a line, "),
            (0, "and no end from 0"),
            (1, "one from 1"),
            (1, "half a line, "),
            (1, "and no end from 1"),
        ]
    );
}

#[test]
fn the_first_failure_decides_and_all_are_named() {
    let (outcome, _) = follow(&launch(Over::Shm, 4, "fail")).expect("started");
    assert_eq!(outcome.exit_code(), 3);
    let summary = outcome.summary().expect("two failed");
    assert_eq!(
        summary,
        "rank 1 ended with exit code 3; rank 2 was ended by SIGABRT (6)"
    );
}

#[test]
fn signals_are_passed_to_all() {
    let running = launch(Over::Shm, 3, "hang").start().expect("started");
    let signals = running.signals();
    let mut here = 0;
    let outcome = running.to_end(|_| {
        here += 1;
        if here == 3 {
            signals.signal(15);
        }
    });
    let outcome = outcome.expect("followed");
    assert_eq!(outcome.ended.len(), 3);
    assert!(
        outcome
            .ended
            .iter()
            .all(|ended| ended.end == End::Signalled(15)),
        "{outcome:?}"
    );
    assert_eq!(outcome.exit_code(), 143);
}

/// Sends three processes SIGUSR1 once all are there, and SIGTERM once all have said that it came;
/// what came of it, and what was written.
fn heed(over: Over) -> (Outcome, Vec<Written>) {
    let running = launch(over, 3, "heed").start().expect("started");
    let signals = running.signals();
    let (mut lines, mut here, mut heard) = (Vec::new(), 0, 0);
    let outcome = running.to_end(|line| {
        let text = String::from_utf8_lossy(&line.text).into_owned();
        here += u32::from(text.starts_with("here "));
        heard += u32::from(text == "heard 10");
        if here == 3 && text.starts_with("here ") {
            signals.signal(libc::SIGUSR1);
        } else if heard == 3 && text == "heard 10" {
            signals.signal(libc::SIGTERM);
        }
        lines.push((line.rank.unwrap_or(u32::MAX), line.stream, text));
    });
    (outcome.expect("followed"), lines)
}

/// Returns the ranks that a signal reached, by their output.
fn reached(lines: &[Written], signal: i32) -> Vec<u32> {
    let said = format!("heard {signal}");
    let ranks = lines.iter().filter(|line| line.2 == said);
    let mut ranks: Vec<u32> = ranks.map(|line| line.0).collect();
    ranks.sort_unstable();
    ranks
}

#[test]
fn signals_that_do_not_end_a_process_reach_all() {
    let (outcome, lines) = heed(Over::Shm);
    assert_eq!(reached(&lines, libc::SIGUSR1), [0, 1, 2]);
    assert_eq!(reached(&lines, libc::SIGTERM), [0, 1, 2]);
    assert_eq!(outcome.exit_code(), 0, "{outcome:?}");
}

/// They go by way of `mpirun`, which takes SIGTERM for its own end, too: it kills as soon as the
/// first process has ended by it, perhaps another amid what that does.
#[test]
fn signals_reach_all_over_mpi() {
    if !has_mpi() {
        return;
    }
    let (outcome, lines) = heed(Over::Mpi);
    assert_eq!(reached(&lines, libc::SIGUSR1), [0, 1, 2]);
    assert!(!reached(&lines, libc::SIGTERM).is_empty(), "{lines:?}");
    assert_eq!(outcome.exit_code(), 1, "{lines:?}");
    let summary = outcome.summary();
    assert_eq!(summary.as_deref(), Some("mpirun ended with exit code 1"));
}

/// A process that does not handle the signal ends by it, as everywhere.
#[test]
fn sigterm_ends_all_over_mpi() {
    if !has_mpi() {
        return;
    }
    let running = launch(Over::Mpi, 2, "hang").start().expect("started");
    let signals = running.signals();
    let mut here = Vec::new();
    let outcome = running.to_end(|line| {
        let text = String::from_utf8_lossy(&line.text).into_owned();
        here.extend(text.strip_prefix("here ").map(str::to_owned));
        if here.len() == 2 && text.starts_with("here ") {
            signals.signal(libc::SIGTERM);
        }
    });
    assert_eq!(outcome.expect("followed").exit_code(), 1);
    for id in here {
        assert!(!Path::new("/proc").join(&id).exists(), "{id} is there");
    }
}

/// The addresses at which a process listens.
fn listened_at(id: &str) -> Vec<IpAddr> {
    let mut found = Vec::new();
    let inodes: HashSet<String> = std::fs::read_dir(format!("/proc/{id}/fd"))
        .into_iter()
        .flatten()
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .filter_map(|link| {
            let inode = link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?;
            Some(inode.to_owned())
        })
        .collect();
    for table in ["tcp", "tcp6"] {
        let table = std::fs::read_to_string(format!("/proc/{id}/net/{table}")).unwrap_or_default();
        for line in table.lines().skip(1) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [_, own, _, "0A", ..] = words[..] else {
                continue;
            };
            if !inodes.contains(words[9]) {
                continue;
            }
            let (address, _) = own.split_once(':').expect("an address and a port");
            // Words of four bytes, in this host's order.
            let words = address.as_bytes().chunks(8).map(|word| {
                let word = str::from_utf8(word).expect("digits");
                u32::from_str_radix(word, 16)
                    .expect("a number")
                    .to_ne_bytes()
            });
            let bytes: Vec<u8> = words.flatten().collect();
            found.push(match <[u8; 4]>::try_from(&bytes[..]) {
                Ok(v4) => IpAddr::from(v4),
                Err(_) => IpAddr::from(<[u8; 16]>::try_from(&bytes[..]).expect("16 bytes")),
            });
        }
    }
    found
}

/// Those of Open MPI listen nowhere. `mpirun` itself does in any case.
#[test]
fn without_hosts_processes_listen_at_the_loopback_alone() {
    for over in [Over::Mpi, Over::Tcp] {
        if over == Over::Mpi && !has_mpi() {
            continue;
        }
        let running = launch(over, 2, "stay").start().expect("started");
        let signals = running.signals();
        let (mut here, mut at) = (Vec::new(), Vec::new());
        let outcome = running.to_end(|line| {
            let text = String::from_utf8_lossy(&line.text).into_owned();
            here.extend(text.strip_prefix("here ").map(str::to_owned));
            if here.len() == 2 && text.starts_with("here ") {
                at = here.iter().flat_map(|id| listened_at(id)).collect();
                signals.signal(libc::SIGTERM);
            }
        });
        assert!(outcome.is_ok() && here.len() == 2, "{over:?}: {here:?}");
        assert_eq!(at.is_empty(), over == Over::Mpi, "{over:?}: {at:?}");
        assert!(at.iter().all(IpAddr::is_loopback), "{over:?}: {at:?}");
    }
}

/// One that fails ends all, with its exit code.
#[test]
fn one_that_fails_ends_all_over_mpi() {
    if !has_mpi() {
        return;
    }
    let (outcome, lines) = follow(&launch(Over::Mpi, 3, "hang-exit")).expect("started");
    assert_eq!(outcome.exit_code(), 7, "{lines:?}");
    let summary = outcome.summary();
    assert_eq!(summary.as_deref(), Some("mpirun ended with exit code 7"));
}

#[test]
fn dropping_a_session_ends_its_processes() {
    let running = launch(Over::Shm, 2, "hang").start().expect("started");
    let ids = running.ids();
    drop(running);
    // Its keepers have gone by now, and they go last.
    for id in ids {
        let is_there = std::fs::read_to_string(format!("/proc/{id}/cmdline"))
            .is_ok_and(|line| line.contains("launch-test-member"));
        assert!(!is_there, "process {id} is still there");
    }
}

#[test]
fn spawned_processes_are_heard_over_mpi() {
    if !has_mpi() {
        return;
    }
    let (outcome, lines) = follow(&launch(Over::Mpi, 2, "spawn")).expect("started");
    let lines = lines.into_iter().map(|(rank, _, text)| (rank, text));
    spawned::are_heard(&outcome, lines);
}

fn spawned_are_followed(over: Over) {
    let (outcome, lines) = follow(&launch(over, 2, "spawn")).expect("started");
    let is_output = |line: &Written| line.1 == Stream::Output;
    assert!(lines.iter().all(is_output), "{lines:?}");
    let lines = lines.into_iter().map(|(rank, _, text)| (rank, text));
    spawned::are_followed(&outcome, lines);
}

#[test]
fn spawned_processes_are_followed_over_shm() {
    spawned_are_followed(Over::Shm);
}

#[test]
fn spawned_processes_are_followed_over_tcp() {
    spawned_are_followed(Over::Tcp);
}

#[test]
fn spawned_processes_are_followed_over_udp() {
    spawned_are_followed(Over::Udp);
}

/// A process that launches a session; what it says.
#[test]
fn a_process_signals_another_one_that_the_launcher_has_started() {
    for over in [Over::Shm, Over::Tcp, Over::Udp] {
        let (outcome, lines) = follow(&launch(over, 2, "signalled")).expect("started");
        assert_eq!(outcome.exit_code(), 0, "{over:?}: {lines:?}");
        let says = |rank, text: &str| {
            lines
                .iter()
                .any(|line| line.0 == rank && line.2.contains(text))
        };
        assert!(says(1, "heard 10"), "{over:?}: {lines:?}");
        assert!(
            says(0, "cannot send SIGUSR1 (10) to rank 1: it has ended"),
            "{over:?}: {lines:?}"
        );
    }
}

fn processes_join_by_hand(over: &str) {
    let base = tempfile::tempdir().expect("a directory");
    let by_hand = |name: Option<&str>| {
        let mut command = Command::new(MEMBER);
        command.arg("by-hand").args(name);
        command.env("XDG_RUNTIME_DIR", base.path());
        let ran = command.output().expect("it runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (ran.status.success(), text(&ran.stdout), text(&ran.stderr))
    };
    let mut launcher = Command::new(MEMBER)
        .args(["launch", over, "2", "joinable", "board"])
        .env("XDG_RUNTIME_DIR", base.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let mut lines = BufReader::new(launcher.stdout.take().expect("piped")).lines();
    assert!(lines.any(|line| line.expect("text") == "begun"));
    let (_, _, why) = by_hand(Some("bored"));
    assert!(why.contains("those that can: board"), "{why}");
    for (name, said) in [(None, "rank 2 of 3\n"), (Some("board"), "rank 3 of 4\n")] {
        let (is_good, output, why) = by_hand(name);
        assert!(is_good && output == said, "{over}: {output}{why}");
    }
    let rest: Vec<String> = lines.map(|line| line.expect("text")).collect();
    assert_eq!(rest, ["came 2", "came 3"], "{over}");
    assert!(launcher.wait().expect("ended").success());
    let (_, _, why) = by_hand(None);
    assert!(
        why.contains("no session of this user can be joined"),
        "{why}"
    );
}

#[test]
fn processes_join_by_hand_over_shm() {
    processes_join_by_hand("shm");
}

#[test]
fn processes_join_by_hand_over_tcp() {
    processes_join_by_hand("tcp");
}

#[test]
fn processes_join_by_hand_over_udp() {
    processes_join_by_hand("udp");
}

/// A launcher that is killed removes nothing: the next process that looks finds that its session is
/// over.
#[test]
fn a_session_whose_launcher_was_killed_is_not_found() {
    let base = tempfile::tempdir().expect("a directory");
    let mut launcher = Command::new(MEMBER)
        .args(["launch", "shm", "1", "hang", "board"])
        .env("XDG_RUNTIME_DIR", base.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let mut lines = BufReader::new(launcher.stdout.take().expect("piped")).lines();
    assert!(lines.any(|line| line.expect("text").starts_with("here")));
    let registry = antiphon_panda::platform::Registry::below(base.path());
    let names = || {
        let running = registry.running().expect("readable").into_iter();
        running.map(|session| session.name).collect::<Vec<_>>()
    };
    assert_eq!(names(), ["board"]);
    launcher.kill().expect("it runs");
    launcher.wait().expect("ended");
    wait_until("its keepers let go of what they have of it", || {
        names().is_empty()
    });
    assert!(!base.path().join("antiphon/board").exists());
}

#[test]
fn a_session_over_mpi_cannot_be_joined_by_hand() {
    let refused = launch(Over::Mpi, 1, "seat").joinable(Some("board"));
    let why = refused.start().err().expect("refused").to_string();
    assert!(why.contains("leave --joinable out"), "{why}");
}

/// Over `udp` a process that is killed says nothing. The launcher tells it to those that come
/// later.
#[test]
fn processes_that_have_ended_are_known_to_those_that_are_spawned() {
    for over in [Over::Tcp, Over::Udp] {
        let (outcome, lines) = follow(&launch(over, 2, "outlive")).expect("started");
        assert_eq!(outcome.exit_code(), 0, "{over:?}: {lines:?}");
        let reported = match over {
            Over::Udp => "left the session",
            _ => "had ended before",
        };
        let says_so = |line: &Written| line.2.contains(reported);
        assert!(lines.iter().any(says_so), "{over:?}: {lines:?}");
    }
}

fn launcher(over: &str, count: u32, mode: &str) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut launcher = Command::new(MEMBER)
        .args(["launch", over, &count.to_string(), mode])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let lines = BufReader::new(launcher.stdout.take().expect("a pipe")).lines();
    (launcher, lines)
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Two processes that say who they are and hang end with the launcher.
fn nobody_outlives_a_killed_launcher(over: &str, count: u32, mode: &str) {
    let (mut launcher, lines) = launcher(over, count, mode);
    let ids: Vec<String> = lines
        .map(|line| line.expect("text"))
        .filter_map(|line| line.strip_prefix("here ").map(str::to_owned))
        .take(2)
        .collect();
    assert_eq!(ids.len(), 2);
    launcher.kill().expect("killed");
    launcher.wait().expect("ended");
    for id in ids {
        let is_there = || Path::new("/proc").join(&id).exists();
        wait_until(&format!("process {id} is still there"), || !is_there());
    }
}

#[test]
fn spawned_processes_do_not_outlive_a_launcher_that_is_killed() {
    nobody_outlives_a_killed_launcher("tcp", 1, "spawn-hang");
}

/// `mpirun` stands between, which is killed with what it started.
#[test]
fn processes_over_mpi_do_not_outlive_a_launcher_that_is_killed() {
    if has_mpi() {
        nobody_outlives_a_killed_launcher("mpi", 2, "hang");
    }
}

/// Those are what one of `mpirun`'s processes started.
#[test]
fn spawned_processes_over_mpi_do_not_outlive_a_launcher_that_is_killed() {
    if has_mpi() {
        nobody_outlives_a_killed_launcher("mpi", 1, "spawn-hang");
    }
}

/// What a launcher keeps of a process goes with it.
#[test]
fn a_launcher_keeps_no_descriptors_of_processes_that_have_ended() {
    let (mut launcher, mut lines) = launcher("shm", 1, "spawn-many");
    let folder = Path::new("/proc")
        .join(launcher.id().to_string())
        .join("fd");
    let descriptors = || std::fs::read_dir(&folder).expect("it runs").count();
    let mut hear = |said: &str| {
        let line = lines.next().expect("it says").expect("text");
        assert_eq!(line, said);
    };
    hear("begun");
    let before = descriptors();
    let mut orders = launcher.stdin.take().expect("a pipe");
    for rank in 1..=50 {
        writeln!(orders, "one more").expect("it reads");
        hear(&format!("Err({rank})"));
    }
    // The last ones may just be going.
    wait_until("it keeps descriptors", || descriptors() <= before + 4);
    drop(orders);
    assert!(launcher.wait().expect("ended").success());
}

/// What the outer session's processes have in their environment is not for the inner one's.
#[test]
fn a_launch_within_a_session_begins_one_of_its_own() {
    let outer = [
        ("ANTIPHON_ADDRESS", "192.0.2.1"),
        ("ANTIPHON_SILENCE", "0.25"),
        ("ANTIPHON_PARENT", "7"),
        ("ANTIPHON_STARTER", "192.0.2.1:9"),
    ];
    for over in ["shm", "tcp", "udp", "mpi"] {
        if over == "mpi" && !has_mpi() {
            continue;
        }
        let output = Command::new(MEMBER)
            .args(["launch", over, "2", "info"])
            .envs(outer)
            .output()
            .expect("started");
        let said = String::from_utf8_lossy(&output.stdout);
        let wrong = String::from_utf8_lossy(&output.stderr);
        let said: Vec<&str> = said.lines().collect();
        assert_eq!(said, ["None None None true"; 2], "{over}: {wrong}");
        assert!(output.status.success(), "{over}: {wrong}");
    }
}

/// Sessions that are as large as is promised, in `make soak`; elsewhere smaller ones.
#[test]
fn large_sessions_come_up() {
    let is_soak = std::env::var_os("LAUNCH_LARGE").is_some();
    for (over, few, most) in [
        (Over::Tcp, 24, 200),
        (Over::Udp, 24, 200),
        (Over::Shm, 50, 1000),
    ] {
        let count = if is_soak { most } else { few };
        let began = Instant::now();
        let (outcome, lines) = follow(&launch(over, count, "gather")).expect("started");
        assert_eq!(outcome.summary(), None, "{over:?}: {lines:?}");
        let said = lines.iter().filter(|(_, _, text)| text == "here").count();
        assert_eq!(said, count as usize, "{over:?}: {lines:?}");
        eprintln!("{count} processes over {over:?}: {:?}", began.elapsed());
    }
}

/// In a session of many not every process has the system tell of every other's end.
#[test]
fn all_of_a_large_session_hear_of_an_end() {
    let (outcome, _) = follow(&launch(Over::Shm, 50, "fail")).expect("started");
    let summary = outcome.summary().expect("two failed");
    assert_eq!(
        summary,
        "rank 1 ended with exit code 3; rank 2 was ended by SIGABRT (6)"
    );
}

/// The others wait for it to join, and are told that it never will.
#[test]
fn a_process_that_ends_before_it_joins_holds_nobody() {
    for over in [Over::Shm, Over::Tcp, Over::Udp] {
        let (outcome, lines) = follow(&launch(over, 3, "never")).expect("started");
        assert_eq!(outcome.exit_code(), 3, "{over:?}: {lines:?}");
        let ranks: Vec<u32> = lines.iter().map(|(rank, ..)| *rank).collect();
        assert_eq!(ranks, [0, 2], "{over:?}: {lines:?}");
        for (_, _, text) in &lines {
            assert!(
                text.contains("rank 1 ended before joining"),
                "{over:?}: {text}"
            );
            assert!(!text.contains("rank 2"), "{over:?}: {text}");
        }
    }
}

#[test]
fn silence_is_as_it_was_given() {
    // Longer than a busy machine lets a process wait for its turn, and not what it is where none is
    // given.
    let launch = launch(Over::Tcp, 2, "stop").silence(Some(Duration::from_secs(2)));
    let (outcome, lines) = follow(&launch).expect("started");
    assert_eq!(outcome.exit_code(), 137, "{lines:?}");
    let says = &lines[0].2;
    assert!(says.contains("has not answered for 2s"), "{says}");
}

#[test]
fn what_cannot_be_is_refused_with_the_mend() {
    let refusal = |launch: Launch| launch.start().err().expect("refused").to_string();
    assert!(refusal(launch(Over::Shm, 0, "say")).contains("-n"));
    assert!(refusal(launch(Over::Shm, 3000, "say")).contains("use tcp"));
    assert!(refusal(launch(Over::Shm, 2, "say").hosts(Some("hosts"))).contains("--over tcp"));
    let missing = refusal(launch(Over::Udp, 2, "say").hosts(Some("no-such-file")));
    assert!(missing.contains("no-such-file"), "{missing}");
    let faults = "lost=1".parse().ok();
    assert!(refusal(launch(Over::Shm, 2, "say").faults(faults)).contains("--over udp"));
    let missing = refusal(Launch::new(Over::Shm, 2, "./no-such-program"));
    assert!(missing.contains("no-such-program"), "{missing}");
}
