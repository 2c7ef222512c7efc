//! The conformance suite over threads of one process.

use antiphon_panda::Session;
use antiphon_panda::platform::Local;

use crate::conformance::{self, conformance_tests};

fn session(size: u32) -> Vec<Session> {
    Local::sessions(size).unwrap()
}

conformance_tests!(session);
conformance_tests!(session => flow: who_sends_empty_messages_to_one_that_does_not_ask_is_held);
conformance_tests!(session => choosing: a_wait_by_predicate_ends_when_nobody_is_left);
