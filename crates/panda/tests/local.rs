//! The conformance suite over threads of one process.

mod conformance;

use antiphon_panda::Session;
use antiphon_panda::platform::Local;
use antiphon_panda::session::SILENCE;

fn session(size: u32) -> Vec<Session> {
    let ends = Local::session(size).into_iter();
    ends.map(|(seat, local, inbox)| Session::over(local, inbox, &seat, SILENCE).unwrap())
        .collect()
}

conformance_tests!(session);
