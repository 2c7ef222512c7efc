//! What the command tells its caller.

use antiphon_lab::LiveError;
use antiphon_lab::build::BuildError;
use std::process::{ExitCode, Termination};

/// How a verb ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// The answer is no: a check failed, a regression was found.
    No,
    /// Misuse: bad arguments, a broken suite file.
    Misuse,
    /// Something needed is missing.
    Missing,
}

impl Termination for Exit {
    fn report(self) -> ExitCode {
        ExitCode::from(match self {
            Exit::Done => 0,
            Exit::No => 1,
            Exit::Misuse => 2,
            Exit::Missing => 3,
        })
    }
}

/// The exit code of an error: misuse, unless something was missing or the store failed.
pub fn of_error(error: &anyhow::Error) -> Exit {
    let missing = error.chain().any(|cause| {
        cause
            .downcast_ref::<BuildError>()
            .is_some_and(|error| matches!(error, BuildError::Missing { .. }))
            || cause
                .downcast_ref::<LiveError>()
                .is_some_and(|error| matches!(error, LiveError::Build { .. }))
            || cause.is::<std::io::Error>()
    });
    match missing {
        true => Exit::Missing,
        false => Exit::Misuse,
    }
}
