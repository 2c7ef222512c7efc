//! Costs of operations on shared objects, beside those of their parts: a lock, panda's call, and
//! its ordered broadcast. Sessions consist of threads of this process, over `local` and over `shm`.
//!
//! ```text
//! cargo bench -p antiphon-orca --bench objects [-- ROUNDS]
//! ```

use std::hint::black_box;
use std::sync::RwLock;
use std::thread;
use std::time::{Duration, Instant};

use antiphon_panda::platform::local::Local;
use antiphon_panda::platform::{self, Secret, shm};
use antiphon_panda::{GroupEvent, Message, Session};
use orca::{Error, Orca, Placement};
use serde::{Deserialize, Serialize};

#[orca::object]
#[derive(Clone, Default, Serialize, Deserialize)]
struct Number {
    value: u64,
}

#[orca::object]
impl Number {
    fn value(&self) -> u64 {
        self.value
    }

    fn increment(&mut self) -> u64 {
        self.value += 1;
        self.value
    }

    fn add(&mut self, amount: u64) {
        self.value += amount;
    }
}

fn local(size: u32) -> Vec<Session> {
    Local::sessions(size).expect("a session")
}

fn over_shm(size: u32) -> Vec<Session> {
    let secret = Secret::fresh().expect("random bytes");
    let bootstrap = shm::Bootstrap::new(size, secret).expect("shared memory");
    let infos: Vec<_> = (0..size).map(|rank| bootstrap.launch_info(rank)).collect();
    let join = |info| thread::spawn(move || platform::join(&info).expect("it joins"));
    let threads: Vec<_> = infos.into_iter().map(join).collect();
    let sessions = threads
        .into_iter()
        .map(|thread| thread.join().expect("it joins"));
    sessions.collect()
}

/// Returns the time of one round: the best of five series.
fn time(rounds: u32, mut series: impl FnMut(u32)) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let began = Instant::now();
        series(rounds);
        best = best.min(began.elapsed() / rounds);
    }
    best
}

fn say(what: &str, time: Duration, beside: &str, base: Duration) {
    let ratio = time.as_secs_f64() / base.as_secs_f64();
    println!("{what:<48} {time:>10.2?}   {ratio:>5.2} of {beside}, {base:.2?}");
}

/// Measures panda itself: a call, an ordered broadcast until its own delivery, and one of a stream.
fn panda(sessions: Vec<Session>, rounds: u32) -> [Duration; 3] {
    let body = move |session: Session| -> Result<[Duration; 3], antiphon_panda::Error> {
        session.serve("echo", |call| call.reply.send(call.payload))?;
        let group = session.join_group("all", |event: GroupEvent| drop(event))?;
        let all = session.everyone()?;
        all.barrier()?;
        let mut times = [Duration::ZERO; 3];
        if session.rank() == 0 {
            let payload = || Message::from(vec![7; 20]);
            times[0] = time(rounds, |count| {
                for _ in 0..count {
                    session.call(1, "echo", payload(), None).expect("a reply");
                }
            });
            times[1] = time(rounds, |count| {
                for _ in 0..count {
                    group.send_synchronously(payload()).expect("a place");
                }
            });
            times[2] = time(rounds * 4, |count| {
                for _ in 1..count {
                    group.send(payload()).expect("it is sent");
                }
                group.send_synchronously(payload()).expect("a place");
            });
        }
        all.barrier()?;
        Ok(times)
    };
    let threads: Vec<_> = sessions
        .into_iter()
        .map(|session| thread::spawn(move || body(session).expect("panda works")))
        .collect();
    let times: Vec<_> = threads
        .into_iter()
        .map(|it| it.join().expect("no panic"))
        .collect();
    times[0]
}

fn objects(orca: &Orca, rounds: u32) -> Result<[Duration; 4], Error> {
    let replicated = orca.create_at(Placement::Replicated, Number::default())?;
    let owned = orca.create_at(Placement::Owned(1), Number::default())?;
    let read = time(rounds * 100, |count| {
        for _ in 0..count {
            black_box(replicated.value().expect("a value"));
        }
    });
    let remote = time(rounds, |count| {
        for _ in 0..count {
            black_box(owned.increment().expect("a value"));
        }
    });
    let group = time(rounds, |count| {
        for _ in 0..count {
            black_box(replicated.increment().expect("a value"));
        }
    });
    let stream = time(rounds * 4, |count| {
        for _ in 0..count {
            replicated.add(1).expect("it is sent");
        }
        orca.flush().expect("it is delivered");
    });
    Ok([read, remote, group, stream])
}

fn main() {
    let rounds = std::env::args().skip(1).find_map(|word| word.parse().ok());
    let rounds = rounds.unwrap_or(1000);
    let lock = RwLock::new(7_u64);
    let base = time(rounds * 100, |count| {
        for _ in 0..count {
            black_box(*lock.read().expect("no writer panics"));
        }
    });
    for (name, sessions) in [
        ("local", local as fn(u32) -> Vec<Session>),
        ("shm", over_shm),
    ] {
        for machines in [2, 4] {
            let [call, ordered, streamed] = panda(sessions(machines), rounds);
            let run = |session| {
                thread::spawn(move || orca::run(&session, move |orca| objects(orca, rounds)))
            };
            let threads: Vec<_> = sessions(machines).into_iter().map(run).collect();
            let ended = threads
                .into_iter()
                .map(|it| it.join().expect("no panic").expect("it ends"));
            let ended: Vec<_> = ended.collect();
            let times = ended
                .into_iter()
                .flatten()
                .next()
                .expect("main ran")
                .expect("nothing fails");
            println!("{name}, {machines} machines");
            say(
                "  read of a replicated object",
                times[0],
                "an RwLock's read",
                base,
            );
            say(
                "  operation on another machine (ROI)",
                times[1],
                "panda's call",
                call,
            );
            say(
                "  write of a replicated object (GOI)",
                times[2],
                "an ordered send",
                ordered,
            );
            say(
                "  writes without result, each",
                times[3],
                "a stream of ordered sends",
                streamed,
            );
        }
    }
}
