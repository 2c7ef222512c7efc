//! The exit codes of the command.

use antiphon_ada::Error as AdaError;
use antiphon_lab::LiveError;
use antiphon_lab::build::{BuildError, FillError};
use antiphon_lab::profile::ProfileError;
use antiphon_lab::run::RunError;
use antiphon_lab::store::StoreError;
use antiphon_lab::subject::SubjectError;
use antiphon_lab::suite::SuiteError;
use antiphon_launch::LaunchError;
use antiphon_load::Error as LoadError;
use antiphon_sr::build::BuildError as SrBuildError;
use std::process::{ExitCode, Termination};

/// The way a verb ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exit {
    /// Done.
    Done,
    /// The answer is no: a check failed, a regression was found.
    No,
    /// Misuse: bad arguments, a broken suite file.
    Misuse,
    /// A needed thing, such as a file that was named, is missing or unreadable.
    Missing,
    /// The measurements do not decide the question.
    CannotTell,
    /// Interrupted by Ctrl-C, SIGTERM or the end of the terminal; what was measured is kept.
    Interrupted,
    /// With the exit code of the program that was run.
    Program(u8),
    /// With the exit code of a built-in subject.
    Subject(ExitCode),
}

impl Exit {
    /// Returns `Done`, or `No` if the answer is no.
    pub fn of(is_good: bool) -> Exit {
        if is_good { Exit::Done } else { Exit::No }
    }
}

impl Termination for Exit {
    fn report(self) -> ExitCode {
        ExitCode::from(match self {
            Exit::Subject(code) => return code,
            Exit::Done => 0,
            Exit::No => 1,
            Exit::Misuse => 2,
            Exit::Missing => 3,
            Exit::CannotTell => 4,
            Exit::Interrupted => 130,
            Exit::Program(code) => code,
        })
    }
}

/// A thing that the verb needs is not there, such as a run in the store.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Missing(pub String);

/// Returns the exit code of an error: that of the first cause that has one, or misuse.
pub fn of_error(error: &anyhow::Error) -> Exit {
    error.chain().find_map(of_cause).unwrap_or(Exit::Misuse)
}

/// Returns the exit code of a cause. Some errors of our crates print their cause as their own, so
/// it is not in the chain. For those this looks inside.
fn of_cause(cause: &(dyn std::error::Error + 'static)) -> Option<Exit> {
    if let Some(error) = cause.downcast_ref::<StoreError>() {
        return Some(of_store(error));
    }
    if let Some(error) = cause.downcast_ref::<RunError>() {
        return Some(match error {
            RunError::Store(error) => of_store(error),
            RunError::Changed { .. } => Exit::Missing,
            RunError::Interrupted => Exit::Interrupted,
            _ => Exit::Misuse,
        });
    }
    if let Some(error) = cause.downcast_ref::<LiveError>() {
        return Some(match error {
            LiveError::Build { error } => of_build(error),
            LiveError::Session { .. } => Exit::Missing,
            LiveError::Pattern(_) | LiveError::Nothing { .. } => Exit::Misuse,
        });
    }
    if let Some(error) = cause.downcast_ref::<LaunchError>() {
        return Some(match error {
            LaunchError::Nobody
            | LaunchError::Hosts { .. }
            | LaunchError::HostsFile { .. }
            | LaunchError::Faults { .. } => Exit::Misuse,
            _ => Exit::Missing,
        });
    }
    if let Some(error) = cause.downcast_ref::<ProfileError>() {
        return Some(match error {
            ProfileError::NoProgram { .. } => Exit::Misuse,
            ProfileError::Interrupted => Exit::Interrupted,
            _ => Exit::Missing,
        });
    }
    if let Some(error) = cause.downcast_ref::<LoadError>() {
        return Some(match error {
            LoadError::Url { .. } | LoadError::NotLoopback { .. } | LoadError::Setting { .. } => {
                Exit::Misuse
            }
            _ => Exit::Missing,
        });
    }
    if let Some(error) = cause.downcast_ref::<SuiteError>() {
        return Some(match error {
            SuiteError::Unreadable { .. } => Exit::Missing,
            _ => Exit::Misuse,
        });
    }
    if let Some(error) = cause.downcast_ref::<SubjectError>() {
        return Some(match error {
            SubjectError::Unreadable { .. } => Exit::Missing,
            _ => Exit::Misuse,
        });
    }
    if let Some(error) = cause.downcast_ref::<AdaError>() {
        return Some(match error {
            AdaError::File { .. } => Exit::Missing,
            _ => Exit::Misuse,
        });
    }
    if let Some(error) = cause.downcast_ref::<BuildError>() {
        return Some(of_build(error));
    }
    if let Some(error) = cause.downcast_ref::<SrBuildError>() {
        return Some(match error {
            SrBuildError::NotLinked { .. } => Exit::Misuse,
            _ => Exit::Missing,
        });
    }
    let missing = cause.is::<Missing>() || cause.is::<FillError>() || cause.is::<std::io::Error>();
    missing.then_some(Exit::Missing)
}

/// A failed build counts as missing, unless the user stopped it.
fn of_build(error: &BuildError) -> Exit {
    match error {
        BuildError::Interrupted { .. } => Exit::Interrupted,
        _ => Exit::Missing,
    }
}

/// An unknown run number is misuse. Any other error is a store that cannot be used.
fn of_store(error: &StoreError) -> Exit {
    match error {
        StoreError::NoRun { .. } => Exit::Misuse,
        _ => Exit::Missing,
    }
}

/// Returns the error and its causes in one line. A cause that a message already contains is not
/// repeated.
pub fn message(error: &anyhow::Error) -> String {
    let mut message = String::new();
    for cause in error.chain().map(ToString::to_string) {
        let gist = cause.rsplit(": ").next().unwrap_or_default();
        if message.is_empty() {
            message = cause;
        } else if !message.contains(gist) {
            message = format!("{message}: {cause}");
        }
    }
    message
}
