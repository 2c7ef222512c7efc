//! End of a child, and its resource use.

use crate::Error;
use nix::sys::signal::Signal;
use std::fmt;
use std::time::Duration;

/// End of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It ended by itself, with this exit code.
    Exited(i32),
    /// It was ended by this signal.
    Signalled(i32),
    /// It was killed when its time was over.
    TimedOut {
        /// The time that it had been given.
        limit: Duration,
    },
}

impl fmt::Display for End {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(out, "ended with exit code {code}"),
            Self::Signalled(number) => write!(out, "was ended by {}", signal_name(*number)),
            Self::TimedOut { limit } => write!(out, "was killed after its {limit:?} were over"),
        }
    }
}

/// Returns a signal's name and number, such as `SIGSEGV (11)`.
pub fn signal_name(number: i32) -> String {
    match Signal::try_from(number) {
        Ok(signal) => format!("{} ({number})", signal.as_str()),
        Err(_) => format!("signal {number}"),
    }
}

/// Resource use of a child and all its descendants, from its start to the end of the last of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time from just before the program was loaded to its end.
    pub wall: Duration,
    /// Processor time in user mode.
    pub user: Duration,
    /// Processor time in the system.
    pub system: Duration,
    /// Largest resident memory of any one process, bytes.
    ///
    /// The system also counts the moment before the program was loaded, when the child was a copy
    /// of this process. A figure near `peak_rss_floor_bytes` is therefore only an upper bound. The
    /// copy grows by some pages after the floor was read (132 KiB on x86-64). The program's own
    /// peak is unknown, because the system's account of each address space is gone when the end
    /// becomes visible.
    pub peak_rss_bytes: u64,
    /// Resident memory, in bytes, of the copy of this process that became the child, shortly before
    /// its program was loaded.
    pub peak_rss_floor_bytes: u64,
    /// Page faults served without reading from a device.
    pub minor_faults: u64,
    /// Page faults that had to read.
    pub major_faults: u64,
    /// Context switches because the child waited.
    pub voluntary_switches: u64,
    /// Context switches because it was made to give way.
    pub involuntary_switches: u64,
}

impl End {
    /// Turns an unexpected end into an error.
    pub fn into_error(self, program: String, last_words: String) -> Error {
        match self {
            Self::Exited(code) => Error::Exited {
                program,
                code,
                last_words,
            },
            Self::Signalled(signal) => Error::Signalled {
                program,
                signal,
                last_words,
            },
            Self::TimedOut { limit } => Error::TimedOut {
                program,
                limit,
                last_words,
            },
        }
    }
}
