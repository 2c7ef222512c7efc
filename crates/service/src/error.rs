//! Errors of a service, with advice.

use antiphon_runner::{before_last_words, help_for_lack, said};
use std::io;
use std::path::PathBuf;

/// Why a service is not available.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// Its programs are not on this machine.
    #[error("{title} is not installed: there is no `{program}`; {help}")]
    Missing {
        /// The database's name, for people.
        title: &'static str,
        /// The first program that is missing.
        program: &'static str,
        /// The command that installs it.
        help: String,
    },
    /// A folder or file could not be made.
    #[error("{}: {source}; make room or give access, or set TMPDIR to another folder", path.display())]
    File {
        /// The folder or file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// The folder of services belongs to another user.
    #[error("{} is not this user's alone; remove it, or set TMPDIR to another folder", path.display())]
    NotOurs {
        /// The folder.
        path: PathBuf,
    },
    /// The system refuses a lock, without which the owner of a folder is unknown.
    #[error("{} cannot be locked: {source}; set TMPDIR to a folder on a disk of this machine", path.display())]
    NoLock {
        /// The lock file, which is not left behind.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// Root needs an account for servers, and there is none.
    #[error("there is no user `nobody`, as which servers run for root; start as another user")]
    NoAccount,
    /// A command that prepares a server failed.
    #[error("{title} could not be set up: {source}")]
    NotSetUp {
        /// The database's name, for people.
        title: &'static str,
        /// The failed command, its end and its last output.
        source: Box<antiphon_runner::Error>,
    },
    /// The server ended before it answered.
    #[error("{title} ended before it answered{}", said(.last_words))]
    Ended {
        /// The database's name, for people.
        title: &'static str,
        /// The end of its log.
        last_words: String,
    },
    /// The server ended while it was used.
    #[error("{title} {end} while it was used{}", said(.last_words))]
    Lost {
        /// The database's name, for people.
        title: &'static str,
        /// End of the server, such as `was ended by SIGKILL`.
        end: String,
        /// The end of its log.
        last_words: String,
    },
    /// The server did not answer in time.
    #[error("{title} did not answer within {seconds} s ({why}){}", said(.last_words))]
    Silent {
        /// The database's name, for people.
        title: &'static str,
        /// Time limit.
        seconds: u64,
        /// Last output of the client.
        why: String,
        /// The end of its log.
        last_words: String,
    },
    /// The server runs with another setting than the requested one.
    #[error(
        "{title} has {name}={found} in place of {wanted}; costs would not compare. Install the database as the distribution has it"
    )]
    Unconfirmed {
        /// The database's name, for people.
        title: &'static str,
        /// The setting.
        name: String,
        /// Wanted value.
        wanted: String,
        /// Value of the server.
        found: String,
    },
    /// It could not be stopped, or its remains could not be removed.
    #[error("{title} could not be stopped: {source}")]
    NotStopped {
        /// The database's name, for people.
        title: &'static str,
        /// Actual end, or the reason why it is unknown.
        source: Box<antiphon_runner::Error>,
    },
    /// The system gave no random numbers for a password.
    #[error(
        "the system gives no random numbers ({0}), without which a server would be open to all users"
    )]
    NoSecret(getrandom::Error),
}

impl ServiceError {
    /// Returns the last output of its server or the program that prepares it; empty without any.
    pub fn last_words(&self) -> &str {
        match self {
            Self::Ended { last_words, .. }
            | Self::Lost { last_words, .. }
            | Self::Silent { last_words, .. } => last_words,
            Self::NotSetUp { source, .. } | Self::NotStopped { source, .. } => source.last_words(),
            _ => "",
        }
    }

    /// Returns the cause in one sentence, without the last output.
    pub fn reason(&self) -> String {
        before_last_words(&self.to_string()).to_owned()
    }

    /// Returns advice for the user.
    pub fn help(&self) -> String {
        use ServiceError::{Ended, Lost, NotSetUp, NotStopped, Silent};
        let (NotSetUp { .. } | Ended { .. } | Silent { .. } | Lost { .. } | NotStopped { .. }) =
            self
        else {
            return "see what its reason names".to_owned();
        };
        let said = self.to_string();
        if said.contains("No space left") {
            return "make room where TMPDIR is, or set it to another folder".to_owned();
        }
        let otherwise = match self {
            Lost { .. } => {
                "see what ended it (`dmesg` tells if the system did, for want of memory), and measure again"
            }
            _ if !self.last_words().is_empty() => "mend what its last words name",
            _ => "see what else is at work on the machine, and measure again",
        };
        help_for_lack(&said).unwrap_or(otherwise).to_owned()
    }

    /// Checks whether another start may succeed: this one ended early by itself.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Ended { .. } | Self::Lost { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn not_set_up(last_words: &str) -> ServiceError {
        ServiceError::NotSetUp {
            title: "MariaDB",
            source: Box::new(antiphon_runner::Error::Exited {
                program: "mariadb-install-db".to_owned(),
                code: 1,
                last_words: last_words.to_owned(),
            }),
        }
    }

    #[test]
    fn what_a_program_said_is_kept_apart_and_tells_the_mend() {
        let full = not_set_up("write: No space left on device");
        assert_eq!(
            full.reason(),
            "MariaDB could not be set up: `mariadb-install-db` ended with exit code 1"
        );
        assert_eq!(full.last_words(), "write: No space left on device");
        assert!(full.help().contains("TMPDIR"), "{}", full.help());
        let forks = not_set_up("fork: Resource temporarily unavailable");
        assert!(forks.help().contains("ulimit -u"), "{}", forks.help());
        let other = not_set_up("I will not");
        assert_eq!(other.help(), "mend what its last words name");
        assert!(not_set_up("").help().contains("measure again"));
    }
}
