//! Panda's members: a process each, or for `local` all as threads of one process.

use std::env;
use std::io::{BufRead, Write, stdin, stdout};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Instant;

use antiphon_panda::platform::{LaunchInfo, Local};
use antiphon_panda::session::SILENCE;
use antiphon_panda::{Group, GroupEvent, Session};
use bytes::Bytes;

const ONE: &str = "BENCH_ORDERED_MEMBER";
const ALL: &str = "BENCH_ORDERED_THREADS";
const BYTES: usize = 100;

/// Returns the command of one member's process.
pub fn one(info: &LaunchInfo) -> Command {
    let mut command = own();
    command.env(ONE, "1").envs(info.to_environment());
    command
}

/// Returns the command of the process that holds all members.
pub fn all(members: u32) -> Command {
    let mut command = own();
    command.env(ALL, members.to_string());
    command
}

fn own() -> Command {
    Command::new(env::current_exe().expect("this program has a path"))
}

/// Returns whether this process is one of those.
pub fn is_one() -> bool {
    [ONE, ALL].iter().any(|name| env::var_os(name).is_some())
}

/// Runs the rounds that standard input asks for.
pub fn run() {
    let mut members = Vec::new();
    let (answers, answered) = mpsc::channel();
    let sessions = match env::var(ALL) {
        Err(_) => vec![Session::join().expect("launch info")],
        Ok(members) => Local::session(members.parse().expect("a number"))
            .into_iter()
            .map(|(info, local, inbox)| {
                Session::over(local, inbox, &info, SILENCE).expect("joined")
            })
            .collect(),
    };
    let count = sessions.len();
    for session in sessions {
        let (lines, reported) = mpsc::channel::<String>();
        let answers = answers.clone();
        let member = move || {
            let mut member = Member::join(session);
            let _ = answers.send("ready".into());
            for line in reported {
                let _ = answers.send(member.play(&line));
            }
        };
        members.push((lines, thread::spawn(member)));
    }
    (0..count).for_each(|_| drop(answered.recv()));
    say("ready");
    for line in stdin().lock().lines().map_while(Result::ok) {
        members
            .iter()
            .for_each(|(lines, _)| drop(lines.send(line.clone())));
        for _ in 0..count {
            say(&answered.recv().expect("members answer"));
        }
    }
}

fn say(line: &str) {
    println!("{line}");
    let _ = stdout().flush();
}

struct Member {
    session: Session,
    group: Group,
    delivered: Arc<AtomicU64>,
    own: Arc<AtomicU64>,
    /// Messages that will have been delivered when all rounds so far are over.
    expected: u64,
    sent: u64,
}

impl Member {
    fn join(session: Session) -> Self {
        let rank = session.rank();
        let (delivered, own) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
        let counts = (delivered.clone(), own.clone());
        let everyone = session.everyone().expect("a founder");
        let mut group = None;
        let mut upcall = Some(move |event| {
            if let GroupEvent::Message { from, .. } = event {
                counts.0.fetch_add(1, Ordering::Release);
                if from == rank {
                    counts.1.fetch_add(1, Ordering::Release);
                }
            }
        });
        // The members join one after another, so that rank 0 is the oldest member, which is the
        // sequencer.
        for turn in 0..session.size() {
            if let Some(upcall) = upcall.take_if(|_| turn == rank) {
                group = Some(session.join_group("bench", upcall).expect("let in"));
            }
            everyone.barrier().expect("all are here");
        }
        Self {
            session,
            group: group.expect("its turn came"),
            delivered,
            own,
            expected: 0,
            sent: 0,
        }
    }

    fn play(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| words[at].parse::<u64>().expect("a number");
        let size = u64::from(self.session.size());
        match words[0] {
            "rate" => {
                self.expected += number(1) * size;
                self.rate(number(1)).to_string()
            }
            "alone" => {
                self.expected += number(2);
                match number(1) == u64::from(self.session.rank()) {
                    true => self.trips(number(2)),
                    false => String::new(),
                }
            }
            "together" => {
                self.expected += number(1) * size;
                self.trips(number(1))
            }
            other => panic!("no round {other:?}"),
        }
    }

    fn rate(&mut self, count: u64) -> u128 {
        let payload = Bytes::from(vec![7; BYTES]);
        let began = Instant::now();
        for _ in 0..count {
            self.group.send(payload.clone()).expect("a member");
        }
        self.sent += count;
        let (delivered, expected) = (&self.delivered, self.expected);
        self.session
            .wait_until(|| delivered.load(Ordering::Acquire) >= expected, None)
            .expect("no upcall");
        began.elapsed().as_nanos()
    }

    fn trips(&mut self, count: u64) -> String {
        let payload = Bytes::from(vec![7; BYTES]);
        let mut times = Vec::with_capacity(count as usize);
        for _ in 0..count {
            self.sent += 1;
            let (own, sent) = (&self.own, self.sent);
            let began = Instant::now();
            self.group.send(payload.clone()).expect("a member");
            self.session
                .wait_until(|| own.load(Ordering::Acquire) >= sent, None)
                .expect("no upcall");
            times.push(began.elapsed().as_nanos().to_string());
        }
        times.join(" ")
    }
}
