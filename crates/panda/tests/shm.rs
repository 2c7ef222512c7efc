//! The conformance suite over shared memory.

mod conformance;

use antiphon_panda::platform::{Platform, Secret, Shm, shm};
use antiphon_panda::session::SILENCE;
use antiphon_panda::{Seat, Session};
use std::thread;

fn join(seat: &Seat) -> Session {
    let (shm, inbox) = Shm::join(seat).unwrap();
    Session::over(shm, inbox, seat, SILENCE).unwrap()
}

fn session(size: u32) -> Vec<Session> {
    // The memory stays while one of them has it.
    let meeting = shm::Meeting::new(size, Secret::fresh().unwrap()).unwrap();
    let seats: Vec<Seat> = (0..size).map(|rank| meeting.seat(rank)).collect();
    let threads: Vec<_> = seats
        .into_iter()
        .map(|seat| thread::spawn(move || join(&seat)))
        .collect();
    let sessions = threads.into_iter().map(|thread| thread.join().unwrap());
    sessions.collect()
}

conformance_tests!(session);
conformance_tests!(session => flow:
    who_sends_empty_messages_to_one_that_does_not_ask_is_held
    what_was_sent_last_reaches_who_is_busy
    who_takes_nothing_is_lost
);
