//! Errors of a subject, by name and with its last output.

use antiphon_runner::{before_last_words, said, signal_name};
use std::sync::Arc;
use std::time::Duration;

/// Reason why a subject did not answer as it should.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// It could not be started.
    #[error("{subject} could not be started: {source}")]
    NotStarted {
        /// The subject.
        subject: String,
        /// Cause.
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
        /// Its last output.
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
        /// Its last output.
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
    /// It gave an answer against the protocol, and was killed.
    #[error("{subject} answered `{request}` with `{line}`: {why}{}", said(.last_words))]
    Rubbish {
        /// The subject.
        subject: String,
        /// The request that it was serving.
        request: String,
        /// The offending line (or its beginning).
        line: Box<str>,
        /// Fault of the answer.
        why: Box<str>,
        /// Its last output.
        last_words: String,
    },
    /// It ended with exit code 0, or closed its output, while an answer was due.
    #[error("{subject} ended before it answered `{request}`{}", said(.last_words))]
    ExitedEarly {
        /// The subject.
        subject: String,
        /// The request that it was serving.
        request: String,
        /// Its last output.
        last_words: String,
    },
    /// It refused the request. It lives on and serves further requests.
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
        /// Its last output.
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
        /// Reason and advice.
        source: Arc<antiphon_service::ServiceError>,
    },
    /// The request cannot be written in the protocol.
    #[error("{subject} cannot be asked `{request}`: {why}")]
    BadRequest {
        /// The subject.
        subject: String,
        /// The beginning of the request.
        request: String,
        /// Fault of the request.
        why: String,
    },
}

impl SessionError {
    /// Checks whether this machine lacks the program to start.
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

    /// Returns the subject's last output; empty without any.
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

    /// Checks whether the subject still serves requests.
    pub fn lives_on(&self) -> bool {
        matches!(self, Self::Refused { .. } | Self::BadRequest { .. })
    }

    /// Returns the cause in one sentence, without the last output.
    pub fn reason(&self) -> String {
        before_last_words(&self.to_string()).to_owned()
    }

    /// Returns advice for the user.
    pub fn help(&self) -> String {
        match self {
            Self::NotStarted { source, .. } => match source {
                antiphon_runner::Error::Missing { .. } => {
                    "build the subject, or correct `run` in its subject.toml".into()
                }
                antiphon_runner::Error::NotPermitted { help, .. } => help.clone(),
                _ => "correct `run` in its subject.toml".into(),
            },
            Self::Crashed { .. } | Self::ExitedEarly { .. } => {
                "give it the request by hand to see it happen; its last words may say why".into()
            }
            Self::Hung { .. } => {
                "give it the request by hand; if it is only slow, give it more time".into()
            }
            Self::Rubbish { .. } => {
                "check it with `antiphon doctor --subject DIR` against docs/reference/subject-protocol.md"
                    .into()
            }
            Self::Refused { code, .. } if code == "unknown-test" => {
                "see which tests it has with `list`; the suite asks for one that it lacks".into()
            }
            Self::Refused { .. } => "the subject's own text says what it lacks".into(),
            Self::Interrupted { .. } => "let it go on to its end".into(),
            Self::Over { .. } => "mend what ended it first".into(),
            Self::NoService { source, .. } => source.help(),
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
