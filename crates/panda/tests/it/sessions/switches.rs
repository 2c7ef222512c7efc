//! To dispatch an upcall in a sleeping process takes at most one switch: the system wakes one
//! thread, and that thread runs it. This holds for OS threads and for fibers, whether they wait by
//! the session or otherwise.
//!
//! The sender sees that all threads of the receiver sleep, and how often each has slept until then.
//! The upcall then counts how often each has been woken since. Timers may wake a thread, too, and
//! on a busy machine a thread may sleep twice. So the median counts.

use std::collections::HashMap;
use std::sync::mpsc;
use std::time::Duration;

use antiphon_panda::session::detect_waiting_upcalls;
use antiphon_panda::thread::{self, Condition, Mutex, Threads};
use antiphon_panda::{Message, Rank, Session};
use std::sync::Arc;

use crate::members::{LIMIT, Members, say};

const SENDER: Rank = 0;
const RECEIVER: Rank = 1;
const ROUNDS: usize = 101;

macro_rules! dispatches {
    ($($test:ident: $platform:literal, $threads:literal, $waits:literal;)*) => {
        $(#[test]
        fn $test() {
            is_dispatched_with_one_switch($platform, $threads, $waits);
        })*
    };
}

dispatches! {
    over_shm_to_threads_that_wait_by_the_session: "shm", "system", "session";
    over_shm_to_threads_that_wait_otherwise: "shm", "system", "condition";
    over_shm_to_fibers_that_wait_by_the_session: "shm", "fibers", "session";
    over_shm_to_fibers_that_wait_otherwise: "shm", "fibers", "condition";
    over_tcp_to_threads_that_wait_by_the_session: "tcp", "system", "session";
    over_tcp_to_threads_that_wait_otherwise: "tcp", "system", "condition";
    over_tcp_to_fibers_that_wait_by_the_session: "tcp", "fibers", "session";
    over_tcp_to_fibers_that_wait_otherwise: "tcp", "fibers", "condition";
    over_udp_to_threads_that_wait_by_the_session: "udp", "system", "session";
    over_udp_to_threads_that_wait_otherwise: "udp", "system", "condition";
    over_udp_to_fibers_that_wait_by_the_session: "udp", "fibers", "session";
    over_udp_to_fibers_that_wait_otherwise: "udp", "fibers", "condition";
}

fn is_dispatched_with_one_switch(platform: &str, threads: &str, waits: &str) {
    let variables = [("THREADS", threads.to_owned()), ("WAITS", waits.to_owned())];
    let mut members = Members::start(module_path!(), platform, 2, &variables);
    let woken = members.wait_for(RECEIVER, "woken: ");
    let mut woken: Vec<u64> = woken
        .split_whitespace()
        .map(|n| n.parse().expect("a number"))
        .collect();
    woken.sort_unstable();
    // A median of 0 would mean that the receiver did not sleep.
    assert_eq!(woken[ROUNDS / 2], 1, "{woken:?}");
}

/// How often each thread of a process has gone to sleep, by its number. Empty while one runs.
type Sleeps = HashMap<u32, u64>;

/// Returns the system's figures of a process's threads: number, how often it has gone to sleep, and
/// whether it sleeps.
fn threads_of(process: &str) -> Vec<(u32, u64, bool)> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).expect("it is there");
    let seen = tasks.flatten().filter_map(|task| {
        let status = std::fs::read_to_string(task.path().join("status")).ok()?;
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
        let sleeps = field("voluntary_ctxt_switches:")?.trim().parse().ok()?;
        let is_asleep = field("State:")?.trim().starts_with('S');
        let number = task.file_name().to_str()?.parse().ok()?;
        Some((number, sleeps, is_asleep))
    });
    seen.collect()
}

/// Waits until all threads of a process have slept for a while.
fn asleep(process: &str) -> Sleeps {
    loop {
        let before = threads_of(process);
        std::thread::sleep(Duration::from_millis(2));
        let seen = threads_of(process);
        if seen == before && seen.iter().all(|(.., is_asleep)| *is_asleep) {
            let sleeps = seen.into_iter();
            return sleeps.map(|(thread, sleeps, _)| (thread, sleeps)).collect();
        }
    }
}

/// Returns how often threads of this process were woken since. Each sleep that followed another
/// counts, and each thread that does not sleep now.
fn woken_since(before: &Sleeps) -> u64 {
    let now = threads_of("self").into_iter();
    let woken = now.map(|(thread, sleeps, is_asleep)| {
        let more = sleeps - before.get(&thread).unwrap_or(&sleeps);
        more + u64::from(!is_asleep)
    });
    woken.sum()
}

#[test]
#[ignore = "one process of a session of the other tests"]
fn member() {
    let kind = match std::env::var("THREADS").as_deref() {
        Ok("fibers") => Threads::Fibers,
        _ => Threads::System,
    };
    // Otherwise each upcall would wake the watchdog thread, too.
    detect_waiting_upcalls(false);
    let session = Session::join().expect("joined");
    match session.rank() {
        SENDER => send(&session),
        _ => thread::run(kind, move || receive(&session)).expect("threads"),
    }
}

fn send(session: &Session) {
    let port = session.port("upcall");
    let (begins, begun) = mpsc::channel();
    let hear =
        move |process: antiphon_panda::Arrived| begins.send(process.tag).expect("somebody waits");
    session.port("begin").on_message(hear).unwrap();
    let process = begun.recv_timeout(LIMIT).expect("it is there").to_string();
    for _ in 0..ROUNDS {
        port.send(RECEIVER, 0, Message::of(&asleep(&process)).unwrap())
            .unwrap();
    }
    // If this process ended, the receiver would be woken to learn of it.
    std::thread::park_timeout(LIMIT);
}

fn receive(session: &Session) {
    let seen = Arc::new((Mutex::new(Vec::new()), Condition::new()));
    let own = seen.clone();
    let upcall = move |arrived: antiphon_panda::Arrived| {
        let woken = woken_since(&arrived.payload.value().unwrap());
        let mut seen = own.0.lock();
        seen.push(woken.to_string());
        if seen.len() == ROUNDS {
            own.1.signal();
        }
    };
    session.port("upcall").on_message(upcall).unwrap();
    let begin = session.port("begin");
    begin
        .send(SENDER, std::process::id(), Message::new())
        .unwrap();
    match std::env::var("WAITS").as_deref() {
        Ok("session") => {
            let has_all = || seen.0.lock().len() == ROUNDS;
            session.wait_until(has_all, None).unwrap();
        }
        _ => {
            let mut seen_all = seen.0.lock();
            while seen_all.len() < ROUNDS {
                seen.1.wait(&mut seen_all);
            }
        }
    }
    say(&format!("woken: {}", seen.0.lock().join(" ")));
}
