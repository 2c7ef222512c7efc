//! What can go wrong with a service.

use std::io;
use std::path::PathBuf;

/// Why a service could not be had.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// Its programs are not on this machine.
    #[error("{title} is not installed: there is no `{program}`; {mend}")]
    Missing {
        /// The database's name, for people.
        title: &'static str,
        /// The first program that is missing.
        program: &'static str,
        /// The command that installs it.
        mend: String,
    },
    /// A folder or file could not be made.
    #[error("{}: {source}; make room or give access, or set TMPDIR to another folder", path.display())]
    File {
        /// The folder or file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The folder of services is somebody else's.
    #[error("{} is not this user's alone; remove it, or set TMPDIR to another folder", path.display())]
    NotOurs {
        /// The folder.
        path: PathBuf,
    },
    /// There is no account to run servers as, which root needs.
    #[error("there is no user `nobody`, as which servers run for root; start as another user")]
    NoAccount,
    /// A command that prepares a server failed.
    #[error("{title} could not be set up: {source}")]
    NotSetUp {
        /// The database's name, for people.
        title: &'static str,
        /// Which command, how it ended, and its last words.
        source: Box<antiphon_runner::Error>,
    },
    /// The server ended before it answered.
    #[error("{title} ended before it answered; its last words:\n{last_words}")]
    Ended {
        /// The database's name, for people.
        title: &'static str,
        /// The end of its log.
        last_words: String,
    },
    /// The server did not answer in time.
    #[error("{title} did not answer within {seconds} s ({why}); the end of its log:\n{last_words}")]
    Silent {
        /// The database's name, for people.
        title: &'static str,
        /// How long it had.
        seconds: u64,
        /// What the client said last.
        why: String,
        /// The end of its log.
        last_words: String,
    },
    /// The server runs under another setting than it was given.
    #[error(
        "{title} has {name}={found} in place of {wanted}; costs would not compare. Install the database as the distribution has it"
    )]
    Unconfirmed {
        /// The database's name, for people.
        title: &'static str,
        /// The setting.
        name: String,
        /// What was asked for.
        wanted: String,
        /// What the server says.
        found: String,
    },
    /// It could not be stopped, or what it left not be removed.
    #[error("{title} could not be stopped: {source}")]
    NotStopped {
        /// The database's name, for people.
        title: &'static str,
        /// Why.
        source: Box<antiphon_runner::Error>,
    },
    /// The system gave no random numbers for a password.
    #[error(
        "the system gives no random numbers ({0}), without which a server would be open to all users"
    )]
    NoSecret(getrandom::Error),
}
