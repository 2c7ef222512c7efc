//! What can go wrong with a subject, by name and with its last words.

use antiphon_runner::{before_last_words, said, signal_name};
use std::sync::Arc;
use std::time::Duration;

/// Why a subject did not answer as it should.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// It could not be started.
    #[error("{subject} could not be started: {source}")]
    NotStarted {
        /// The subject.
        subject: String,
        /// Why.
        source: antiphon_runner::Error,
    },
    /// It crashed: ended by a signal, or with an exit code that is not 0.
    #[error("{subject} crashed at `{request}`: {}{}", crashed(*.signal, *.code), said(.last_words))]
    Crashed {
        /// The subject.
        subject: String,
        /// The request that it was serving.
        request: String,
        /// The signal that ended it.
        signal: Option<i32>,
        /// Its exit code, if it was not a signal.
        code: Option<i32>,
        /// The last of what it printed.
        last_words: String,
    },
    /// It did not answer in time and was killed.
    #[error("{subject} did not answer `{request}` within {limit:?} and was killed{}", said(.last_words))]
    Hung {
        /// The subject.
        subject: String,
        /// The request that it was serving.
        request: String,
        /// The time that it had.
        limit: Duration,
        /// The last of what it printed.
        last_words: String,
    },
    /// The user stopped it.
    #[error("{subject} was interrupted at `{request}`")]
    Interrupted {
        /// The subject.
        subject: String,
        /// The request that it was serving, or would have served next.
        request: String,
    },
    /// It answered what the protocol does not allow, and was killed.
    #[error("{subject} answered `{request}` with `{line}`: {why}{}", said(.last_words))]
    Rubbish {
        /// The subject.
        subject: String,
        /// The request that it was serving.
        request: String,
        /// The offending line (or its beginning).
        line: Box<str>,
        /// What is wrong with it.
        why: Box<str>,
        /// The last of what it printed.
        last_words: String,
    },
    /// It ended with exit code 0, or closed its output, while an answer was due.
    #[error("{subject} ended before it answered `{request}`{}", said(.last_words))]
    ExitedEarly {
        /// The subject.
        subject: String,
        /// The request that it was serving.
        request: String,
        /// The last of what it printed.
        last_words: String,
    },
    /// It said that it does not do what was asked. It lives on and serves further requests.
    #[error("{subject} refused `{request}`: {code}{}{text}", if .text.is_empty() { "" } else { ": " })]
    Refused {
        /// The subject.
        subject: String,
        /// The request.
        request: String,
        /// One of the protocol's codes, such as `unknown-test`.
        code: String,
        /// The subject's explanation.
        text: String,
        /// The last of what it printed.
        last_words: String,
    },
    /// The subject ended before, by an error that was given then.
    #[error("{subject} is not running any more: {cause}")]
    Over {
        /// The subject.
        subject: String,
        /// The error that ended it.
        cause: String,
    },
    /// The database that it is measured with could not be started.
    #[error("{subject} has no database: {source}")]
    NoService {
        /// The subject.
        subject: String,
        /// Why, and what to do.
        source: Arc<antiphon_service::ServiceError>,
    },
    /// What was asked cannot be written as a request.
    #[error("{subject} cannot be asked `{request}`: {why}")]
    BadRequest {
        /// The subject.
        subject: String,
        /// The beginning of the request.
        request: String,
        /// What is wrong with it.
        why: String,
    },
}

impl SessionError {
    /// Whether the program to be started is not on this machine.
    pub(crate) fn is_missing_program(&self) -> bool {
        use antiphon_runner::Error::Missing;
        matches!(
            self,
            Self::NotStarted {
                source: Missing { .. },
                ..
            }
        )
    }

    /// The last of what the subject printed; empty if nothing.
    pub fn last_words(&self) -> &str {
        match self {
            Self::NotStarted { source, .. } => source.last_words(),
            Self::NoService { source, .. } => source.last_words(),
            Self::Over { .. } | Self::BadRequest { .. } | Self::Interrupted { .. } => "",
            Self::Crashed { last_words, .. }
            | Self::Hung { last_words, .. }
            | Self::Rubbish { last_words, .. }
            | Self::ExitedEarly { last_words, .. }
            | Self::Refused { last_words, .. } => last_words,
        }
    }

    /// Whether the subject still serves requests.
    pub fn lives_on(&self) -> bool {
        matches!(self, Self::Refused { .. } | Self::BadRequest { .. })
    }

    /// What happened in one sentence, without the last words.
    pub fn reason(&self) -> String {
        before_last_words(&self.to_string()).to_owned()
    }

    /// What the user can do about it.
    pub fn mend(&self) -> String {
        match self {
            Self::NotStarted { source, .. } => match source {
                antiphon_runner::Error::Missing { .. } => {
                    "build the subject, or correct `run` in its subject.toml".into()
                }
                antiphon_runner::Error::NotPermitted { mend, .. } => mend.clone(),
                _ => "correct `run` in its subject.toml".into(),
            },
            Self::Crashed { .. } | Self::ExitedEarly { .. } => {
                "give it the request by hand to see it happen; its last words may say why".into()
            }
            Self::Hung { .. } => {
                "give it the request by hand; if it is only slow, give it more time".into()
            }
            Self::Rubbish { .. } => {
                "check it with `antiphon doctor --subject DIR` against docs/subject-protocol.md"
                    .into()
            }
            Self::Refused { code, .. } if code == "unknown-test" => {
                "see which tests it has with `list`; the suite asks for one that it lacks".into()
            }
            Self::Refused { .. } => "the subject's own text says what it lacks".into(),
            Self::Interrupted { .. } => "let it go on to its end".into(),
            Self::Over { .. } => "mend what ended it first".into(),
            Self::NoService { source, .. } => source.mend(),
            Self::BadRequest { .. } => "correct the suite".into(),
        }
    }
}

fn crashed(signal: Option<i32>, code: Option<i32>) -> String {
    match (signal, code) {
        (Some(signal), _) => signal_name(signal),
        (None, Some(code)) => format!("exit code {code}"),
        (None, None) => "in an unknown way".into(),
    }
}
