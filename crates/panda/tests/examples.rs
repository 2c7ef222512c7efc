//! The examples, as processes over TCP.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use antiphon_panda::platform::{Meeting, seat::Secret};

fn example(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("a running program has a path");
    own.parent()
        .and_then(Path::parent)
        .expect("target/PROFILE/deps")
        .join("examples")
        .join(name)
}

/// Runs a program as `size` processes; what rank 0 printed.
fn run(name: &str, size: u32, arguments: &[&str]) -> String {
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let meeting = Meeting::hold(any, size, Secret::fresh().unwrap()).unwrap();
    let start = |rank| {
        Command::new(example(name))
            .args(arguments)
            .envs(meeting.seat("tcp", rank).to_environment())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let children: Vec<Child> = (0..size).map(start).collect();
    let outputs: Vec<_> = children
        .into_iter()
        .map(|child| child.wait_with_output().unwrap())
        .collect();
    assert!(
        outputs.iter().all(|output| output.status.success()),
        "{outputs:?}"
    );
    String::from_utf8(outputs[0].stdout.clone()).unwrap()
}

#[test]
fn ping_pong() {
    let said = run("ping_pong", 2, &["200"]);
    assert!(
        said.contains("a round trip") && said.contains("call:"),
        "{said}"
    );
}

#[test]
fn replicated_counter() {
    // 40 additions of 0 to 6 from each of 4 processes.
    let sum: u64 = 4 * (0..40).map(|n| n % 7).sum::<u64>();
    assert_eq!(
        run("counter", 4, &["40"]).trim(),
        format!("4 copies, value {sum}, one order")
    );
}

#[test]
fn work_queue() {
    let said = run("work_queue", 3, &["100"]);
    // 97 has the longest Collatz sequence below 100.
    assert_eq!(said.trim(), "100 jobs, longest Some((97, 118))");
}
