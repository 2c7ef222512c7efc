//! A member: a process that runs the rounds that its standard input asks for.

use std::io::{BufRead, Write, stdin, stdout};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use antiphon_panda::{Group, GroupEvent, LaunchInfo, Session};
use bytes::Bytes;

const ONE: &str = "BENCH_MULTICAST_MEMBER";
/// How long members may take to learn which of them hear each other, before rounds begin.
const PROBED: Duration = Duration::from_millis(500);

/// Makes a command the process of a member.
pub fn mark(command: &mut Command, info: &LaunchInfo) {
    command.env(ONE, "1").envs(info.to_environment());
}

/// Returns whether this process is a member.
pub fn is_one() -> bool {
    std::env::var_os(ONE).is_some()
}

/// Runs the rounds.
pub fn run() {
    let session = Session::join().expect("launch info");
    let delivered = Arc::<AtomicU64>::default();
    let group = join(&session, &delivered);
    let _ = session.wait_until(|| false, Some(Instant::now() + PROBED));
    let mut expected = 0;
    say("ready");
    for line in stdin().lock().lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| words[at].parse::<usize>().expect("a number");
        match words[0] {
            "rate" => {
                expected += number(1) as u64 * u64::from(session.size());
                let took = rate(&session, &group, (number(1), number(2)), || {
                    delivered.load(Ordering::Acquire) >= expected
                });
                say(&took.as_nanos().to_string());
            }
            "report" => {
                let to = session.multicast().to;
                say(&format!("rank {} to {to:?}", session.rank()));
            }
            other => panic!("no round {other:?}"),
        }
    }
}

/// Joins one after another, so that rank 0 is the oldest member, which is the sequencer.
fn join(session: &Session, delivered: &Arc<AtomicU64>) -> Group {
    let everyone = session.everyone().expect("a founder");
    let mut group = None;
    for turn in 0..session.size() {
        if turn == session.rank() {
            let own = delivered.clone();
            let upcall = move |event| {
                let is_message = matches!(event, GroupEvent::Message { .. });
                own.fetch_add(u64::from(is_message), Ordering::Release);
            };
            group = Some(session.join_group("bench", upcall).expect("let in"));
        }
        everyone.barrier().expect("all are here");
    }
    group.expect("its turn came")
}

fn rate(
    session: &Session,
    group: &Group,
    (count, length): (usize, usize),
    is_done: impl Fn() -> bool,
) -> Duration {
    let payload = Bytes::from(vec![7; length]);
    let began = Instant::now();
    for _ in 0..count {
        group.send(payload.clone()).expect("a member");
    }
    session.wait_until(is_done, None).expect("no upcall");
    began.elapsed()
}

fn say(line: &str) {
    println!("{line}");
    let _ = stdout().flush();
}
