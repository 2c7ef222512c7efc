//! Servers of a known conduct, and loads on them.

use antiphon_load::{Expected, Load, Reach, Target, first_exchange, run};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Wait of a test for an event that never comes.
pub const LIMIT: Duration = Duration::from_secs(1);
/// Wait for an event that comes, on however busy a machine.
pub const LONG: Duration = Duration::from_secs(20);

/// A server that ends with this value.
pub struct Server {
    child: Child,
    pub target: Target,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn server(conduct: &str) -> Server {
    let mut child = Command::new(env!("CARGO_BIN_EXE_load-test-server"))
        .arg(conduct)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the test server");
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let url = format!("http://127.0.0.1:{}/api", line.trim());
    Server {
        child,
        target: Target::parse(&url, Reach::Loopback).unwrap(),
    }
}

pub fn expected() -> Expected {
    Expected {
        status: 200,
        body: b"{\"greeting\":\"Hello World!\"}".to_vec(),
    }
}

/// Returns a load of 400 requests, after a first exchange that only servers with immediate
/// misconduct fail.
///
/// It ends by its count, at any speed of the machine.
pub fn load(server: &Server) -> Load {
    assert_eq!(first_exchange(&server.target, LONG).unwrap(), expected());
    Load {
        connections: 4,
        duration: Duration::from_secs(60),
        requests_max: 400,
        time_limit: LONG,
        drain: LONG,
        failures_max: 20,
        ..Load::new(server.target.clone(), expected())
    }
}

/// Checks a server that answers three requests of each connection and never the fourth: the waits
/// for it end, and count.
pub fn gives_up_who_never_answers(busy_poll: bool) {
    let server = server("never");
    let load = Load {
        // Three answers and one that never comes on each connection.
        requests_max: 16,
        time_limit: LIMIT,
        busy_poll,
        ..load(&server)
    };
    let measured = run(&load).unwrap();
    assert_eq!(measured.failures.get("timed out"), Some(&4), "{measured:?}");
    assert_eq!(
        measured.latency.above(LIMIT.as_nanos() as u64 - 10_000_000),
        4
    );
    // All waited alike.
    assert_eq!(measured.starved(), Vec::<usize>::new());
}
