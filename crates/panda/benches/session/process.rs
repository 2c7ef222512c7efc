//! One process of a round. Even ranks send, and the odd ranks after them answer.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use antiphon_panda::platform::{Event, Inbox, Local, Platform, Shm, Tcp, Udp};
use antiphon_panda::session::SILENCE;
use antiphon_panda::thread::{self, Condition, Mutex, Semaphore, Threads};
use antiphon_panda::{Call, LaunchInfo, Message, Session};

use crate::table::Case;
use crate::{communicator, raw, star};

const PAYLOAD: [u8; 8] = [7; 8];
/// The tag of the last message.
const LAST: u32 = 1;

/// Runs the round. Every process prints its nanoseconds a round trip (0 if it answers) and its
/// context switches a round trip.
pub fn run(case: &Case) {
    let words = case.words();
    if words[0] != "local" {
        pin(case, case.rank);
    }
    match words[..] {
        ["raw", over, way] => star::run(case, over, way),
        ["raw", "tcp"] => raw::tcp(case),
        ["raw", "udp"] => raw::udp(case),
        ["raw", ..] => raw::unix(case),
        ["local"] => local(case, Threads::System, "receive"),
        ["local", "fiber"] => local(case, Threads::Fibers, "receive"),
        ["local", "fiber", way] => local(case, Threads::Fibers, way),
        ["local", way] => local(case, Threads::System, way),
        ["tcp", "bare"] => bare::<Tcp>(case),
        ["udp", "bare"] => bare::<Udp>(case),
        [_, "bare"] => bare::<Shm>(case),
        [_, "fiber"] => fibers(case, "receive"),
        [_, "fiber", way] => fibers(case, way),
        [_, way] if communicator::is_one(way) => {
            communicator::run(case, way, &Session::join().expect("joined"));
        }
        [_, way] => session(case, way, &Session::join().expect("joined")),
        _ => session(case, "receive", &Session::join().expect("joined")),
    }
}

/// Returns the context switches of this process so far.
fn switches() -> f64 {
    // SAFETY: the record is written by the system before it is read.
    let usage = unsafe {
        let mut usage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    (usage.ru_nvcsw + usage.ru_nivcsw) as f64
}

/// Times the trips after a tenth of them, and prints the result.
pub fn time(case: &Case, mut trip: impl FnMut()) {
    (0..case.trips / 10).for_each(|_| trip());
    let (before, began) = (switches(), Instant::now());
    (0..case.trips).for_each(|_| trip());
    let (took, trips) = (began.elapsed(), f64::from(case.trips));
    println!(
        "{} {}",
        took.as_nanos() as f64 / trips,
        (switches() - before) / trips
    );
}

/// Answers the trips that the other process times.
pub fn answer(case: &Case, trip: impl FnMut()) {
    let trips = case.trips + case.trips / 10;
    let before = switches();
    std::iter::repeat_with(trip)
        .take(trips as usize)
        .for_each(drop);
    println!("0 {}", (switches() - before) / f64::from(trips));
}

fn pin(case: &Case, rank: u32) {
    if case.placement == "free" {
        return;
    }
    let mut set = rustix::thread::CpuSet::new();
    set.set(if case.placement == "one" {
        0
    } else {
        rank as usize % 2
    });
    rustix::thread::sched_setaffinity(None, &set).expect("this machine has two processors");
}

impl Case {
    fn with_rank(&self, rank: u32) -> Self {
        Self {
            contestant: self.contestant.clone(),
            placement: self.placement.clone(),
            bootstrap: self.bootstrap.clone(),
            rank,
            trips: self.trips,
        }
    }
}

/// Measures two threads of one process, OS threads or fibers.
fn local(case: &Case, kind: Threads, way: &str) {
    let ends = Local::session(2);
    let processes = ends.into_iter().map(|(info, local, inbox)| {
        let (case, way) = (case.with_rank(info.rank), way.to_owned());
        std::thread::spawn(move || {
            pin(&case, case.rank);
            let main = move || {
                let own = Session::over(local, inbox, &info, SILENCE).expect("a session");
                session(&case, &way, &own);
            };
            thread::run(kind, main).expect("threads");
        })
    });
    let processes: Vec<_> = processes.collect();
    for process in processes {
        process.join().expect("no panic");
    }
}

/// Measures a process whose threads are fibers.
fn fibers(case: &Case, way: &str) {
    let (case, way) = (case.with_rank(case.rank), way.to_owned());
    let main = move || session(&case, &way, &Session::join().expect("joined"));
    thread::run(Threads::Fibers, main).expect("fibers");
}

/// Calls that wait for a thread to accept them.
type Entry = (Mutex<VecDeque<Call>>, Condition);

/// Waits for a call, and answers it.
fn accept((waiting, has_come): &Entry) {
    let mut waiting = waiting.lock();
    let call = loop {
        match waiting.pop_front() {
            Some(call) => break call,
            None => has_come.wait(&mut waiting),
        }
    };
    drop(waiting);
    call.reply.send(call.payload);
}

/// Measures round trips through a session, in one of four ways.
fn session(case: &Case, way: &str, session: &Session) {
    let (port, other) = (session.port("ball"), case.rank ^ 1);
    let everyone = session.everyone().expect("all take part");
    let is_first = case.rank.is_multiple_of(2);
    let is_over = Arc::new(Semaphore::new(0));
    let (ends, entry) = (
        is_over.clone(),
        Arc::new((Mutex::new(VecDeque::new()), Condition::new())),
    );
    if !is_first && way == "upcall" {
        let back = port.clone();
        port.on_message(move |arrived| match arrived.tag {
            LAST => ends.v(),
            _ => back.send(arrived.from, 0, arrived.payload).expect("sent"),
        })
        .expect("no other has its number");
    } else if !is_first && way == "rpc" {
        session
            .serve("ball", move |call| match call.payload.len() {
                0 => ends.v(),
                _ => call.reply.send(call.payload),
            })
            .expect("no other has its number");
    } else if !is_first && way == "entry" {
        let called = entry.clone();
        session
            .serve("ball", move |call| {
                called.0.lock().push_back(call);
                called.1.signal();
            })
            .expect("no other has its number");
    }
    everyone.barrier().expect("all are here");
    match (is_first, way) {
        (true, "rpc" | "entry") => {
            time(case, || {
                let reply = session.call(other, "ball", PAYLOAD.as_slice(), None);
                assert_eq!(reply.expect("a reply").len(), PAYLOAD.len());
            });
            let _ = session.call(other, "ball", Message::new(), None);
        }
        (true, _) => {
            time(case, || {
                port.send(other, 0, PAYLOAD.as_slice()).expect("sent");
                port.receive(Some(other), None).expect("received");
            });
            port.send(other, LAST, Message::new()).expect("sent");
        }
        (false, "receive") => answer(case, || {
            let ball = port.receive(Some(other), None).expect("received");
            port.send(other, 0, ball.payload).expect("sent");
        }),
        (false, "entry") => {
            answer(case, || accept(&entry));
            // Answers the call that is marked as the last.
            accept(&entry);
        }
        (false, _) => {
            let before = switches();
            is_over.p();
            let trips = f64::from(case.trips + case.trips / 10);
            println!("0 {}", (switches() - before) / trips);
        }
    }
    everyone.barrier().expect("all are here");
}

/// Measures round trips of frames, below the protocols.
fn bare<P: Platform>(case: &Case) {
    let info = LaunchInfo::from_environment().expect("launch info");
    let (platform, mut inbox) = P::join(&info).expect("joined");
    let mut events = Vec::new();
    let give = || {
        let _ = platform.send(case.rank ^ 1, Message::from(PAYLOAD.as_slice()));
    };
    // The other process leaves once it has done its part.
    let mut take = || {
        let mut is_taken = false;
        while !is_taken {
            inbox.receive(Some(Instant::now() + Duration::from_secs(20)), &mut events);
            let ends = |event: &Event| matches!(event, Event::Frame { .. } | Event::Lost { .. });
            is_taken = events.drain(..).filter(ends).count() > 0;
        }
    };
    if case.rank.is_multiple_of(2) {
        // A first frame may come before the other process listens. Over datagrams it would be lost.
        std::thread::sleep(Duration::from_millis(50));
        time(case, || {
            give();
            take();
        });
    } else {
        answer(case, || {
            take();
            give();
        });
        std::thread::sleep(Duration::from_millis(50));
    }
}
