//! What a subject does with memory: its heap by massif, its instructions and cache misses by cachegrind, both of valgrind.
//!
//! After "Optimization with Valgrind Massif and Cachegrind" (Carrez), whose two profiles before and after a change this takes by itself. Neither tool times anything, so
//! neither policy nor placement matters, and counts repeat nearly exactly.
//!
//! A whole program is profiled from start to end. A frame of an instrumented subject is profiled twice under cachegrind, with as many iterations and with twice as
//! many, and what it counts is the difference: the kit, the start and the preparation of the test drop out of it.

mod cachegrind;
mod massif;
mod valgrind;

pub use cachegrind::{CacheUse, Counts, EVENTS, Function, place};
pub use massif::{Heap, Site, Snapshot};

use crate::build::Built;
use crate::session::SessionError;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
pub(crate) use valgrind::WITHOUT_TRACES;
use valgrind::{Tool, Valgrind};

/// What of a subject is profiled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Work {
    /// A whole program.
    Program {
        /// One of its subject's.
        name: String,
        /// What it is given.
        arguments: Vec<String>,
    },
    /// The test frame of an instrumented subject.
    Frame {
        /// The test's name.
        test: String,
        /// Its argument, if it takes one.
        arg: Option<u64>,
        /// How often it is run.
        iterations: u64,
    },
}

/// A profile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    /// `name/variant`.
    pub subject: String,
    /// What was profiled.
    pub work: Work,
    /// The heap, from the process's start to its end.
    pub heap: Heap,
    /// Instructions and cache misses: of the whole program, or of all iterations of the frame.
    pub cache: CacheUse,
    /// What makes them doubtful.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What makes the counts of profiles doubtful, each once.
pub fn warnings<'a>(profiles: impl IntoIterator<Item = &'a Profile>) -> Vec<&'a str> {
    let mut texts: Vec<&str> = Vec::new();
    for text in profiles.into_iter().flat_map(|profile| &profile.warnings) {
        if !texts.contains(&text.as_str()) {
            texts.push(text);
        }
    }
    texts
}

/// Why there is no profile.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// There is no valgrind.
    #[error("valgrind is not installed (install it: apt-get install valgrind)")]
    Missing,
    /// The subject has no such program.
    #[error("{subject} has no program `{program}`; it has {}", .programs.join(", "))]
    NoProgram {
        /// `name/variant`.
        subject: String,
        /// What was asked for.
        program: String,
        /// What there is.
        programs: Vec<String>,
    },
    /// The build did not leave the program.
    #[error("the build left no {}: see the subject's README for what it needs", path.display())]
    NotBuilt {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The program could not be run to its end.
    #[error("under {tool} {error}")]
    Program {
        /// The tool's name.
        tool: &'static str,
        /// What happened.
        error: Box<antiphon_runner::Error>,
    },
    /// The instrumented subject failed.
    #[error("under {tool} {error}")]
    Session {
        /// The tool's name.
        tool: &'static str,
        /// What happened.
        error: Box<SessionError>,
    },
    /// The tool left nothing that can be read.
    #[error("what {tool} wrote cannot be read: {why}")]
    Unreadable {
        /// The tool's name.
        tool: &'static str,
        /// The line, and what is wrong with it; or the system's error.
        why: String,
    },
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
}

/// Profiles what a built subject does. Each run under a tool, which makes a program some twenty to fifty times as slow, has `limit` of time.
///
/// # Errors
/// See [`ProfileError`].
pub fn profile(
    built: &Built,
    work: &Work,
    limit: Duration,
    stop: &AtomicBool,
) -> Result<Profile, ProfileError> {
    let mut valgrind = Valgrind {
        built,
        work,
        limit,
        stop,
        warnings: Vec::new(),
    };
    let heap =
        Heap::read(&valgrind.run(Tool::Massif, 1)?).map_err(|why| Tool::Massif.unreadable(why))?;
    let mut count = |times| {
        let text = valgrind.run(Tool::Cachegrind, times)?;
        CacheUse::read(&text).map_err(|why| Tool::Cachegrind.unreadable(why))
    };
    let once = count(1)?;
    let cache = match work {
        Work::Program { .. } => once,
        Work::Frame { .. } => count(2)?.without(&once),
    };
    Ok(Profile {
        subject: built.record.id.clone(),
        work: work.clone(),
        heap,
        cache,
        warnings: valgrind.warnings,
    })
}
