//! The conformance suite over threads of one process.

mod conformance;

use antiphon_panda::Session;
use antiphon_panda::platform::Local;

fn session(size: u32) -> Vec<Session> {
    Local::sessions(size).unwrap()
}

conformance_tests!(session);
