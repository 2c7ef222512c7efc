//! What the command tells its caller.

use antiphon_lab::LiveError;
use antiphon_lab::build::BuildError;
use antiphon_lab::profile::ProfileError;
use antiphon_lab::run::RunError;
use antiphon_lab::store::StoreError;
use antiphon_lab::subject::SubjectError;
use antiphon_lab::suite::SuiteError;
use antiphon_launch::LaunchError;
use antiphon_load::Error as LoadError;
use antiphon_sr::build::BuildError as SrBuildError;
use std::process::{ExitCode, Termination};

/// How a verb ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exit {
    /// Done.
    Done,
    /// The answer is no: a check failed, a regression was found.
    No,
    /// Misuse: bad arguments, a broken suite file.
    Misuse,
    /// Something needed is missing.
    Missing,
    /// Interrupted by Ctrl-C, SIGTERM or the end of the terminal; what was measured is kept.
    Interrupted,
    /// As the program that was run.
    Program(u8),
    /// As a subject of the command's own ended.
    Subject(ExitCode),
}

impl Exit {
    /// Done, or the answer is no.
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
            Exit::Interrupted => 130,
            Exit::Program(code) => code,
        })
    }
}

/// Something that the verb needs is not there, such as a run in the store.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Missing(pub String);

/// The exit code of an error, by the first of its causes that decides; misuse if none does.
pub fn of_error(error: &anyhow::Error) -> Exit {
    error.chain().find_map(of_cause).unwrap_or(Exit::Misuse)
}

/// What a cause decides. Some of the crates' errors show their cause as their own, so it is not in the chain: they are looked into here.
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
    if cause.is::<SuiteError>() || cause.is::<SubjectError>() {
        return Some(Exit::Misuse);
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
    let missing = cause.is::<Missing>() || cause.is::<std::io::Error>();
    missing.then_some(Exit::Missing)
}

/// What cannot be built is missing, unless the user stopped it.
fn of_build(error: &BuildError) -> Exit {
    match error {
        BuildError::Interrupted { .. } => Exit::Interrupted,
        _ => Exit::Missing,
    }
}

/// A number that no run has is misuse; all else is a store that cannot be used.
fn of_store(error: &StoreError) -> Exit {
    match error {
        StoreError::NoRun { .. } => Exit::Misuse,
        _ => Exit::Missing,
    }
}

/// The error and its causes in one line; causes that a message already tells are not told twice.
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
