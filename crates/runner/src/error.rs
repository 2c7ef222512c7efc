//! Errors of a child, each with its last output.

use crate::end::signal_name;
use crate::shortage::limit_of;
use std::io;
use std::time::Duration;

/// Reason why a child was not started, or did not behave as expected.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such program. The caller knows which package to install.
    #[error("there is no program `{program}` {}", looked_in(.program))]
    Missing {
        /// The program that was asked for.
        program: String,
    },
    /// The system did not permit a condition of the child.
    #[error("`{program}` was not started: {what}: {source}; {help}")]
    NotPermitted {
        /// The program.
        program: String,
        /// Refused condition, such as `SCHED_FIFO at priority 50`.
        what: String,
        /// Advice to the user.
        help: String,
        /// Error of the system.
        source: io::Error,
    },
    /// It could not be started for another reason.
    #[error("`{program}` was not started: {source}{}", limit_of(.source))]
    NotStarted {
        /// The program.
        program: String,
        /// Error of the system.
        source: io::Error,
    },
    /// The request is impossible on any system.
    #[error("`{program}` was not started: {why}")]
    BadRequest {
        /// The program.
        program: String,
        /// Fault of the request, and its correct form.
        why: String,
    },
    /// It took too long and was killed.
    #[error("`{program}` did not finish within {limit:?} and was killed{}", said(.last_words))]
    TimedOut {
        /// The program.
        program: String,
        /// The time that it had.
        limit: Duration,
        /// Its last text on standard error.
        last_words: String,
    },
    /// It was ended early, as the caller asked.
    #[error("`{program}` was interrupted")]
    Interrupted {
        /// The program.
        program: String,
    },
    /// A signal ended it.
    #[error("`{program}` was ended by {}{}", signal_name(*.signal), said(.last_words))]
    Signalled {
        /// The program.
        program: String,
        /// The signal's number.
        signal: i32,
        /// Its last text on standard error.
        last_words: String,
    },
    /// It ended by itself: with a code that is not 0, or with 0 while more was expected of it.
    #[error("`{program}` ended with exit code {code}{}", said(.last_words))]
    Exited {
        /// The program.
        program: String,
        /// Its exit code.
        code: i32,
        /// Its last text on standard error.
        last_words: String,
    },
    /// It closed its standard output or input and lives on.
    #[error("`{program}` closed its standard {stream} without ending{}", said(.last_words))]
    Closed {
        /// The program.
        program: String,
        /// `output` or `input`.
        stream: &'static str,
        /// Its last text on standard error.
        last_words: String,
    },
    /// A line that is no text.
    #[error("`{program}` wrote what is not UTF-8: `{line}`{}", said(.last_words))]
    NotUtf8 {
        /// The program.
        program: String,
        /// The line, with `\u{fffd}` in place of unreadable bytes.
        line: String,
        /// Its last text on standard error.
        last_words: String,
    },
    /// A line without an end.
    #[error("`{program}` wrote a line of more than {max_bytes} bytes, which begins `{head}`{}", said(.last_words))]
    LineTooLong {
        /// The program.
        program: String,
        /// The longest line allowed, bytes.
        max_bytes: usize,
        /// Beginning of the line.
        head: String,
        /// Its last text on standard error.
        last_words: String,
    },
    /// The system failed at something that does not usually fail.
    #[error("{doing} of `{program}`: {source}{}", limit_of(.source))]
    Io {
        /// The program.
        program: String,
        /// Failed action.
        doing: &'static str,
        /// Error of the system.
        source: io::Error,
    },
}

impl Error {
    /// Returns the program's last text on standard error; empty if it wrote nothing or never
    /// started.
    pub fn last_words(&self) -> &str {
        match self {
            Self::Missing { .. }
            | Self::NotPermitted { .. }
            | Self::NotStarted { .. }
            | Self::BadRequest { .. }
            | Self::Interrupted { .. }
            | Self::Io { .. } => "",
            Self::TimedOut { last_words, .. }
            | Self::Signalled { last_words, .. }
            | Self::Exited { last_words, .. }
            | Self::Closed { last_words, .. }
            | Self::NotUtf8 { last_words, .. }
            | Self::LineTooLong { last_words, .. } => last_words,
        }
    }
}

/// Shortages of a system, in its own words, and their remedies.
const LACKS: [(&str, &str); 3] = [
    (
        "Too many open files",
        "raise `ulimit -n`, or end other programs",
    ),
    (
        "Resource temporarily unavailable",
        "raise `ulimit -u`, or end other programs",
    ),
    ("Cannot allocate memory", "end other programs"),
];

/// Returns the remedy if a message tells of a shortage; `None` otherwise.
pub fn help_for_lack(said: &str) -> Option<&'static str> {
    let lack = LACKS.iter().find(|(lack, _)| said.contains(lack));
    lack.map(|(_, help)| *help)
}

fn looked_in(program: &str) -> &'static str {
    if program.contains('/') {
        "(no such file)"
    } else {
        "(looked in every directory of PATH)"
    }
}

/// Text between the error and the last output.
const SAID: &str = "; its last words:\n";

/// Formats the last output for the end of an error's text; empty without any.
pub fn said(last_words: &str) -> String {
    match last_words.trim() {
        "" => String::new(),
        words => format!("{SAID}{words}"),
    }
}

/// Returns an error's text without the last output that [`said`] appended.
pub fn before_last_words(text: &str) -> &str {
    text.split_once(SAID).map_or(text, |(before, _)| before)
}
