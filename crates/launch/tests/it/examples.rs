//! The portability layer's examples, launched over each platform.

use std::path::{Path, PathBuf};

use antiphon_launch::{Launch, LaunchError, Over};

const PLATFORMS: [Over; 4] = [Over::Shm, Over::Tcp, Over::Udp, Over::Mpi];

fn example(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("a running program has a path");
    own.parent()
        .and_then(Path::parent)
        .expect("target/PROFILE/deps")
        .join("examples")
        .join(format!("launched_{name}"))
}

/// Runs a program as `size` processes over a platform; the lines that they wrote, or nothing if the
/// platform is not installed.
fn run(over: Over, name: &str, size: u32, arguments: &[&str]) -> Option<Vec<String>> {
    let launch = Launch::new(over, size, example(name)).args(arguments);
    let running = match launch.start() {
        Err(LaunchError::NoMpi) => {
            eprintln!("skipped: there is no mpirun (apt-get install openmpi-bin)");
            return None;
        }
        running => running.expect("started"),
    };
    let mut said = Vec::new();
    let outcome = running
        .to_end(|line| said.push(String::from_utf8_lossy(&line.text).into_owned()))
        .expect("followed");
    assert_eq!(outcome.summary(), None, "{over:?}: {said:?}");
    Some(said)
}

/// Runs a program over every platform, and compares all that it writes.
fn says(name: &str, size: u32, arguments: &[&str], expected: &str) {
    for over in PLATFORMS {
        if let Some(said) = run(over, name, size, arguments) {
            assert_eq!(said, [expected], "{over:?}");
        }
    }
}

#[test]
fn ping_pong() {
    for over in PLATFORMS {
        if let Some(said) = run(over, "ping_pong", 2, &["200"]) {
            let [messages, call] = &said[..] else {
                panic!("{over:?}: {said:?}")
            };
            assert!(
                messages.starts_with("messages: ") && call.starts_with("call: "),
                "{over:?}: {said:?}"
            );
        }
    }
}

#[test]
fn replicated_counter() {
    // 40 additions of 0 to 6 from each of 4 processes.
    let sum: u64 = 4 * (0..40).map(|n| n % 7).sum::<u64>();
    let expected = format!("4 copies, value {sum}, one order");
    says("counter", 4, &["40"], &expected);
}

#[test]
fn the_tutorial_shows_what_the_counter_says() {
    let page = include_str!("../../../../docs/tutorial/panda.md");
    for over in [Over::Tcp, Over::Shm, Over::Udp] {
        let said = run(over, "counter", 3, &["100"]).expect("it needs nothing");
        assert!(page.contains(&format!("[0] {}\n", said[0])), "{said:?}");
    }
}

#[test]
fn a_counter_that_nobody_adds_to() {
    says("counter", 2, &["0"], "2 copies, value 0, one order");
}

#[test]
fn work_queue() {
    // 97 has the longest Collatz sequence below 100.
    let expected = "100 jobs, longest Some((97, 118))";
    says("work_queue", 3, &["100"], expected);
}

#[test]
fn a_work_queue_of_one_process() {
    let expected = "100 jobs, longest Some((97, 118))";
    says("work_queue", 1, &["100"], expected);
}

#[test]
fn a_work_queue_without_work() {
    says("work_queue", 2, &["0"], "0 jobs, longest None");
}

#[test]
fn a_language() {
    for over in PLATFORMS {
        if let Some(said) = run(over, "language", 3, &[]) {
            assert_eq!(said, ["all 3 are here"; 3], "{over:?}");
        }
    }
}
