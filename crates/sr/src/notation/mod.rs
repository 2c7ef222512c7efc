//! Other notations, which are translated to SR before it is parsed: monitors, conditional critical
//! regions, and communicating sequential processes. They are those of the commands `m2sr`, `ccr2sr`
//! and `csp2sr` of the original distribution. Places in the result refer to the original text.
//!
//! A construct begins with an underscore and may have arguments in parentheses; SR surrounds it.
//! Each construct is replaced by a template with its arguments.

use antiphon_lang::{Diagnostic, Origin, Span};

mod csp;
mod monitors;
mod output;
mod regions;
pub(crate) mod reports;
mod scan;

use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// A notation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// Monitors (`m2sr`).
    Monitors(Signalling),
    /// Conditional critical regions (`ccr2sr`).
    Regions,
    /// Communicating sequential processes (`csp2sr`).
    Csp(Termination),
}

/// What a signal does to the signalling and to the woken process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Signalling {
    /// Signal and continue: the woken process enters the monitor again.
    #[default]
    Continue,
    /// Signal and wait: the woken process has the monitor, and the signalling one enters again.
    Wait,
    /// Signal and urgent wait: as before, but the signalling process comes before those that want
    /// to enter.
    UrgentWait,
    /// Signal and exit: the woken process has the monitor, and the signalling one leaves its
    /// procedure.
    Exit,
}

/// When a communication with a process that has ended fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Termination {
    /// At once; a loop of which all communications have failed ends.
    #[default]
    Implicit,
    /// Never.
    Explicit,
}

/// The text that is no notation's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no notation \"{0}\"; there are m2sr (or m2sr=sc, sw, su, sx), ccr2sr, and csp2sr (or csp2sr=ti, te)"
)]
pub struct NoNotation(String);

impl FromStr for Notation {
    type Err = NoNotation;

    fn from_str(text: &str) -> Result<Notation, NoNotation> {
        Ok(match text {
            "m2sr" | "m2sr=sc" => Notation::Monitors(Signalling::Continue),
            "m2sr=sw" => Notation::Monitors(Signalling::Wait),
            "m2sr=su" => Notation::Monitors(Signalling::UrgentWait),
            "m2sr=sx" => Notation::Monitors(Signalling::Exit),
            "ccr2sr" => Notation::Regions,
            "csp2sr" | "csp2sr=ti" => Notation::Csp(Termination::Implicit),
            "csp2sr=te" => Notation::Csp(Termination::Explicit),
            _ => return Err(NoNotation(text.to_owned())),
        })
    }
}

impl fmt::Display for Notation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Notation::Monitors(Signalling::Continue) => "m2sr=sc",
            Notation::Monitors(Signalling::Wait) => "m2sr=sw",
            Notation::Monitors(Signalling::UrgentWait) => "m2sr=su",
            Notation::Monitors(Signalling::Exit) => "m2sr=sx",
            Notation::Regions => "ccr2sr",
            Notation::Csp(Termination::Implicit) => "csp2sr=ti",
            Notation::Csp(Termination::Explicit) => "csp2sr=te",
        })
    }
}

impl Notation {
    /// Returns the notation for the ending of a file's name: `.m`, `.ccr`, `.csp`.
    pub fn of_file(path: &Path) -> Option<Notation> {
        match path.extension()?.to_str()? {
            "m" => Some(Notation::Monitors(Signalling::default())),
            "ccr" => Some(Notation::Regions),
            "csp" => Some(Notation::Csp(Termination::default())),
            _ => None,
        }
    }

    /// Translates a text to SR.
    pub(crate) fn translate(self, written: &str) -> Made {
        match self {
            Notation::Monitors(signalling) => monitors::translate(written, signalling),
            Notation::Regions => regions::translate(written),
            Notation::Csp(termination) => csp::translate(written, termination),
        }
    }
}

/// SR that was translated from another notation.
pub(crate) struct Made {
    pub text: String,
    /// Where its parts come from.
    pub origins: Vec<Origin>,
    /// Errors in the constructs.
    pub errors: Vec<Mistake>,
}

/// A construct that is used wrongly.
pub(crate) struct Mistake {
    /// An offset in the SR text that comes from it.
    pub at: u32,
    pub message: String,
    pub help: String,
}

impl Mistake {
    pub(crate) fn diagnostic(self, file: u32) -> Diagnostic {
        let span = Span {
            file,
            start: self.at,
            end: self.at + 1,
        };
        Diagnostic::error(span, self.message).help(self.help)
    }
}
