//! One process of a pair.

use std::time::{Duration, Instant};

use antiphon_panda::platform::mpi::Mpi;
use antiphon_panda::platform::shm::Shm;
use antiphon_panda::platform::tcp::Tcp;
use antiphon_panda::platform::udp::Udp;
use antiphon_panda::platform::{Event, Inbox, LaunchInfo, Platform};
use antiphon_panda::{Message, Port, Session};
use bytes::Bytes;

use crate::bare;
use crate::contest::Case;
use crate::mpi;

/// Longer than any trip.
const LONG: Duration = Duration::from_secs(20);

/// Runs the round. The first of the two processes prints nanoseconds a round trip.
pub fn run(case: &Case) {
    pin(if case.placement == "one" {
        0
    } else {
        case.rank as usize
    });
    match case.contestant.as_str() {
        "shm" => platform::<Shm>(case),
        "shm session" | "tcp session" | "udp session" => session(case),
        "tcp" => platform::<Tcp>(case),
        "udp" => platform::<Udp>(case),
        "mpi" => platform::<Mpi>(case),
        "open mpi" | "open mpi tcp" => mpi::run(case),
        "bare futex" => bare::futex(case),
        "bare ring" => bare::ring(case),
        "bare read" => bare::read(case),
        "raw udp" => bare::udp(case),
        "raw tcp" => bare::tcp(case),
        other => panic!("no contestant {other}"),
    }
}

/// Times the trips after a tenth of them, and prints the result.
fn time(case: &Case, mut trip: impl FnMut()) {
    (0..case.trips / 10).for_each(|_| trip());
    let began = Instant::now();
    (0..case.trips).for_each(|_| trip());
    let messages = case.trips * case.burst.max(1);
    let took = began.elapsed().as_nanos() as f64 / f64::from(messages);
    println!("{took}");
}

/// Answers the trips, as the second of the two processes.
fn answer(case: &Case, trip: impl FnMut()) {
    std::iter::repeat_with(trip)
        .take((case.trips + case.trips / 10) as usize)
        .for_each(drop);
}

fn pin(processor: usize) {
    let mut set = rustix::thread::CpuSet::new();
    set.set(processor);
    rustix::thread::sched_setaffinity(None, &set).expect("this machine has two processors");
}

fn platform<P: Platform>(case: &Case) {
    let info = LaunchInfo::from_environment().expect("launch info");
    let (platform, mut inbox) = P::join(&info).expect("joined");
    let payload = Bytes::from(vec![7; case.bytes]);
    let mut events = Vec::new();
    let send = || {
        let _ = platform.send(1 - case.rank, Message::from(payload.clone()));
    };
    // Returns whether a frame came, or `None` if the other process has left.
    let mut receive = |patience: Duration| -> Option<bool> {
        inbox.receive(Some(Instant::now() + patience), &mut events);
        let is_over = events
            .iter()
            .any(|event| matches!(event, Event::Lost { .. }));
        let frames = events
            .iter()
            .filter(|event| matches!(event, Event::Frame { .. }))
            .count();
        events.clear();
        (!is_over).then_some(frames > 0)
    };
    if case.rank == 0 {
        // The first frame may come before the other process listens, and may then be lost.
        while receive(Duration::from_millis(20)) != Some(true) {
            send();
        }
        while receive(Duration::from_millis(20)) == Some(true) {}
        time(case, || {
            send();
            while receive(LONG) != Some(true) {}
        });
    } else {
        while let Some(is_there) = receive(LONG) {
            if is_there {
                send();
            }
        }
    }
}

/// Sends and receives messages between two processes.
pub trait Exchange {
    fn give(&mut self, bytes: usize);
    fn take(&mut self);
}

/// Messages through a session, received explicitly.
struct Ports {
    port: Port,
    other: u32,
    payload: Bytes,
}

impl Exchange for Ports {
    fn give(&mut self, bytes: usize) {
        let payload = self.payload.slice(..bytes);
        self.port.send(self.other, 0, payload).expect("sent");
    }

    fn take(&mut self) {
        let arrived = self.port.receive(Some(self.other), None);
        drop(arrived.expect("received"));
    }
}

fn session(case: &Case) {
    let session = Session::join().expect("joined");
    let everyone = session.everyone().expect("both take part");
    everyone.barrier().expect("both are here");
    let ports = Ports {
        port: session.port("ball"),
        other: 1 - case.rank,
        payload: Bytes::from(vec![7; case.bytes]),
    };
    exchange(case, ports);
    everyone.barrier().expect("both are here");
}

/// The first process times round trips, or messages in one direction of which the last of a burst
/// is confirmed. The second answers.
pub fn exchange(case: &Case, mut with: impl Exchange) {
    let (bytes, burst) = (case.bytes, case.burst.max(1));
    if case.rank == 0 {
        time(case, || {
            (0..burst).for_each(|_| with.give(bytes));
            with.take();
        });
        return;
    }
    let back = if case.burst == 0 { bytes } else { 0 };
    answer(case, || {
        (0..burst).for_each(|_| with.take());
        with.give(back);
    });
}

/// The first process times round trips. The second answers.
pub fn trips(case: &Case, mut give: impl FnMut(), mut take: impl FnMut()) {
    if case.rank == 0 {
        time(case, || {
            give();
            take();
        });
    } else {
        answer(case, || {
            take();
            give();
        });
    }
}
