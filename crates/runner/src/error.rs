//! What can go wrong with a child, each with its last words.

use crate::end::signal_name;
use std::io;
use std::time::Duration;

/// Why a child was not started, or did not do what was expected of it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such program. What to install is for the caller to say.
    #[error("there is no program `{program}` {}", looked_in(.program))]
    Missing {
        /// The program that was asked for.
        program: String,
    },
    /// The system did not permit what was asked for the child.
    #[error("`{program}` was not started: {what}: {source}; {mend}")]
    NotPermitted {
        /// The program.
        program: String,
        /// What was asked for, such as `SCHED_FIFO at priority 50`.
        what: String,
        /// What the user can do.
        mend: String,
        /// What the system said.
        source: io::Error,
    },
    /// It could not be started for another reason.
    #[error("`{program}` was not started: {source}")]
    NotStarted {
        /// The program.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// What was asked for cannot be, whatever the system.
    #[error("`{program}` was not started: {why}")]
    BadRequest {
        /// The program.
        program: String,
        /// What is wrong with the request, and what would be right.
        why: String,
    },
    /// It took too long and was killed.
    #[error("`{program}` did not finish within {limit:?} and was killed{}", said(.last_words))]
    TimedOut {
        /// The program.
        program: String,
        /// The time that it had.
        limit: Duration,
        /// The last of what it wrote to standard error.
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
        /// The last of what it wrote to standard error.
        last_words: String,
    },
    /// It ended by itself: with a code that is not 0, or with 0 while more was expected of it.
    #[error("`{program}` ended with exit code {code}{}", said(.last_words))]
    Exited {
        /// The program.
        program: String,
        /// Its exit code.
        code: i32,
        /// The last of what it wrote to standard error.
        last_words: String,
    },
    /// It closed its standard output or input and lives on.
    #[error("`{program}` closed its standard {stream} without ending{}", said(.last_words))]
    Closed {
        /// The program.
        program: String,
        /// `output` or `input`.
        stream: &'static str,
        /// The last of what it wrote to standard error.
        last_words: String,
    },
    /// A line that is no text.
    #[error("`{program}` wrote what is not UTF-8: `{line}`{}", said(.last_words))]
    NotUtf8 {
        /// The program.
        program: String,
        /// The line, with `\u{fffd}` in place of what could not be read.
        line: String,
        /// The last of what it wrote to standard error.
        last_words: String,
    },
    /// A line without an end.
    #[error("`{program}` wrote a line of more than {max_bytes} bytes, which begins `{head}`{}", said(.last_words))]
    LineTooLong {
        /// The program.
        program: String,
        /// The longest line allowed, bytes.
        max_bytes: usize,
        /// How the line begins.
        head: String,
        /// The last of what it wrote to standard error.
        last_words: String,
    },
    /// The system failed at something that does not usually fail.
    #[error("{doing} of `{program}`: {source}")]
    Io {
        /// The program.
        program: String,
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// The last of what the program wrote to standard error; empty if it wrote nothing or never started.
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

/// What a system has too little of, in its own words, and what gives it more.
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

/// What the user can do where what was said is that the system has too little of something; `None` where it is not.
pub fn mend_of_lack(said: &str) -> Option<&'static str> {
    let lack = LACKS.iter().find(|(lack, _)| said.contains(lack));
    lack.map(|(_, mend)| *mend)
}

fn looked_in(program: &str) -> &'static str {
    if program.contains('/') {
        "(no such file)"
    } else {
        "(looked in every directory of PATH)"
    }
}

/// Between what happened and the last words.
const SAID: &str = "; its last words:\n";

/// The last words as they end an error's text; nothing if there are none.
pub fn said(last_words: &str) -> String {
    match last_words.trim() {
        "" => String::new(),
        words => format!("{SAID}{words}"),
    }
}

/// An error's text without the last words that end it by [`said`].
pub fn before_last_words(text: &str) -> &str {
    text.split_once(SAID).map_or(text, |(before, _)| before)
}
