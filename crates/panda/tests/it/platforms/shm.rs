//! The conformance suite over shared memory.

use antiphon_panda::platform::{Platform, Secret, Shm, shm};
use antiphon_panda::session::SILENCE;
use antiphon_panda::{LaunchInfo, Session};
use std::thread;

use crate::conformance::{self, conformance_tests};

fn join(info: &LaunchInfo) -> Session {
    let (shm, inbox) = Shm::join(info).unwrap();
    Session::over(shm, inbox, info, SILENCE).unwrap()
}

fn session(size: u32) -> Vec<Session> {
    // The memory lasts as long as one of the sessions.
    let bootstrap = shm::Bootstrap::new(size, Secret::fresh().unwrap()).unwrap();
    let infos: Vec<LaunchInfo> = (0..size).map(|rank| bootstrap.launch_info(rank)).collect();
    let threads: Vec<_> = infos
        .into_iter()
        .map(|info| thread::spawn(move || join(&info)))
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
conformance_tests!(session => choosing: a_wait_by_predicate_ends_when_nobody_is_left);
conformance_tests!(session => state: a_large_copy_goes_beside_the_order);
