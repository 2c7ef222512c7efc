//! Memory profile of a subject: its heap by massif, its instructions and cache misses by
//! cachegrind, both of valgrind.
//!
//! The method follows "Optimization with Valgrind Massif and Cachegrind" (Carrez), whose two
//! profiles before and after a change are taken here in one go. Neither tool times anything, so
//! policy and placement do not matter. Counts repeat nearly exactly.
//!
//! A whole program is profiled from start to end, twice under cachegrind. Its totals do not compare
//! if the two runs differ.
//!
//! A frame of an instrumented subject is also profiled twice. The first run has twice as many
//! iterations of the test, the second twice as many of the control. Their difference is the cost of
//! the test beyond its control. The kit, the start, the preparation and the loop cancel out. The
//! first run is repeated: the difference of like runs bounds the error.

mod cachegrind;
mod massif;
mod valgrind;

pub use cachegrind::{CacheUse, Counts, EVENTS, Function, place};
pub use massif::{Heap, Site, Snapshot};

use crate::build::Built;
use crate::session::SessionError;
use antiphon_runner::Error as RunnerError;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
pub(crate) use valgrind::under;
use valgrind::{Slices, Tool, Valgrind};

/// Part of a subject to profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Work {
    /// A whole program.
    Program {
        /// One of its subject's programs.
        name: String,
        /// Arguments of the program.
        arguments: Vec<String>,
    },
    /// The test frame of an instrumented subject.
    Frame {
        /// The test's name.
        test: String,
        /// Its argument, if it takes one.
        arg: Option<u64>,
        /// Iterations of the frame.
        iterations: u64,
    },
}

/// A profile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    /// `name/variant`.
    pub subject: String,
    /// Profiled work.
    pub work: Work,
    /// The heap, from the process's start to its end.
    pub heap: Heap,
    /// Instructions and cache misses of the whole program, or of all iterations of the frame beyond
    /// its control. In the latter the control's own functions are negative.
    pub cache: CacheUse,
    /// Whether a second run of a program counted the same. Frames are true, because their
    /// iterations are given. Otherwise totals do not compare, as with programs that work for a
    /// fixed time.
    pub repeats: bool,
    /// Doubts about the counts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Returns the warnings of profiles, each once.
pub fn warnings<'a>(profiles: impl IntoIterator<Item = &'a Profile>) -> Vec<&'a str> {
    let mut texts: Vec<&str> = Vec::new();
    for text in profiles.into_iter().flat_map(|profile| &profile.warnings) {
        if !texts.contains(&text.as_str()) {
            texts.push(text);
        }
    }
    texts
}

/// Reason for a missing profile.
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
        /// Requested program.
        program: String,
        /// Programs of the subject.
        programs: Vec<String>,
    },
    /// The subject has no such test.
    #[error("{subject} has no test `{test}`: {}", crate::document::did_you_mean(.test, .tests.iter().map(String::as_str)))]
    NoTest {
        /// `name/variant`.
        subject: String,
        /// Requested test.
        test: String,
        /// Tests of the subject.
        tests: Vec<String>,
    },
    /// The build did not leave the program.
    #[error("the build left no {}: see the subject's README for what it needs", path.display())]
    NotBuilt {
        /// Expected place of the file.
        path: PathBuf,
    },
    /// The program could not be run to its end.
    #[error("under {tool} {error}{}", doubt(matches!(**.error, RunnerError::Signalled { .. })))]
    Program {
        /// The tool's name.
        tool: &'static str,
        /// Cause.
        error: Box<RunnerError>,
    },
    /// The instrumented subject failed.
    #[error("under {tool} {error}{}", doubt(is_doubtful(.error)))]
    Session {
        /// The tool's name.
        tool: &'static str,
        /// Cause.
        error: Box<SessionError>,
    },
    /// The tool left nothing, because the program has replaced itself by another.
    #[error(
        "{tool} wrote nothing: `{program}` starts another program by exec, which valgrind did not follow; name that program itself in `run` of its subject.toml, or put it before `{program}` in PATH"
    )]
    NotFollowed {
        /// The tool's name.
        tool: &'static str,
        /// First word of the subject's `run`.
        program: String,
    },
    /// The tool left nothing that can be read.
    #[error("what {tool} wrote cannot be read: {why}")]
    Unreadable {
        /// The tool's name.
        tool: &'static str,
        /// The line and its fault, or the system's error.
        why: String,
    },
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
}

/// Checks that valgrind may be the cause of a failure: a signal, or a request that failed under it.
/// A process under valgrind may be unable to start others.
fn is_doubtful(error: &SessionError) -> bool {
    match error {
        SessionError::Crashed { signal, .. } => signal.is_some(),
        SessionError::Refused { code, .. } => code == "failed",
        _ => false,
    }
}

/// Returns a hint that valgrind may be the cause. It does not know every instruction or system
/// call, and runs one thread at a time.
fn doubt(is_doubtful: bool) -> &'static str {
    match is_doubtful {
        true => " (it may be valgrind's doing: does it run without?)",
        false => "",
    }
}

/// Largest relative difference in instructions between two runs of the same work.
const SAME_WORK: f64 = 0.001;

/// Relative difference of like runs of a frame that is tolerated without a warning.
const NOISE: f64 = 0.05;

/// Difference of instructions for an operation that is always tolerated.
const NOISE_FOR_ONE: f64 = 0.05;

/// Profiles a built subject.
///
/// There are three runs under a tool, and four for a frame. Each has `limit` of time; a tool makes
/// a program some twenty to fifty times as slow.
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
    let heap = valgrind.run(Tool::Massif, slices(0, 1))?;
    let heap = Heap::read(&heap).map_err(|why| Tool::Massif.unreadable(why))?;
    let mut count = |slices| {
        let text = valgrind.run(Tool::Cachegrind, slices)?;
        CacheUse::read(&text).map_err(|why| Tool::Cachegrind.unreadable(why))
    };
    // Both runs have three parts of iterations. Everything but test and control is the same in
    // both.
    let (of_test, of_control) = (count(slices(1, 2))?, count(slices(2, 1))?);
    let id = &built.record.id;
    let (cache, repeats, warning) = match work {
        Work::Program { .. } => {
            let unlike = unlike(id, &of_test, &of_control);
            (of_test, unlike.is_none(), unlike)
        }
        Work::Frame {
            test, iterations, ..
        } => {
            let again = count(slices(1, 2))?;
            let noise = instructions(&again).abs_diff(instructions(&of_test));
            let cache = of_test.without(&of_control);
            let warning = noisy(&format!("{test} of {id}"), *iterations, &cache, noise);
            (cache, true, warning)
        }
    };
    let mut warnings = valgrind.warnings;
    warnings.extend(warning);
    Ok(Profile {
        subject: built.record.id.clone(),
        work: work.clone(),
        heap,
        cache,
        repeats,
        warnings,
    })
}

fn slices(control: u64, test: u64) -> Slices {
    Slices { control, test }
}

fn instructions(run: &CacheUse) -> i64 {
    run.total.of("Ir")
}

/// Returns a warning if like runs of a frame differ by an amount that matters beside its count.
/// Digits of the times that a subject writes cause some hundreds of instructions.
fn noisy(what: &str, iterations: u64, counted: &CacheUse, noise: u64) -> Option<String> {
    let [counted, noise] = [instructions(counted).abs() as f64, noise as f64];
    let for_one = noise / iterations as f64;
    (noise > NOISE * counted && for_one > NOISE_FOR_ONE).then(|| {
        format!(
            "like runs of {what} differ by {noise} instructions, which is {for_one:.2} for an operation, where {:.2} are counted; with more --iterations that becomes less",
            counted / iterations as f64
        )
    })
}

/// Returns a warning if two runs of a program did not do the same work.
fn unlike(subject: &str, once: &CacheUse, again: &CacheUse) -> Option<String> {
    let [once, again] = [once, again].map(instructions);
    let most = once.max(again) as f64;
    (once.abs_diff(again) as f64 > SAME_WORK * most).then(|| {
        format!(
            "{subject} took {once} instructions, and {again} when it was run again: it does not do fixed work (but works for a fixed time, or by chance), so totals do not compare"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{CacheUse, ProfileError, RunnerError, SessionError, noisy, unlike};

    #[test]
    fn runs_that_do_not_do_the_same_work_are_told() {
        let run = |instructions: u64| {
            CacheUse::read(&format!("events: Ir\nfn=main\n1 {instructions}\n")).unwrap()
        };
        let reported = |once, again| unlike("a/b", &run(once), &run(again));
        assert_eq!(reported(1_000_000, 1_000_900), None);
        let text = reported(8_500_000, 4_300_000).unwrap();
        assert!(text.contains("a/b took 8500000 instructions, and 4300000"));
    }

    #[test]
    fn like_runs_of_a_frame_that_differ_by_much_are_told() {
        let reported = |counted: i64, noise| {
            let text = format!("events: Ir\nfn=main\n1 {counted}\n");
            noisy("t of a/b", 1000, &CacheUse::read(&text).unwrap(), noise)
        };
        assert_eq!(reported(3000, 120), None);
        assert_eq!(reported(0, 40), None);
        let text = reported(3000, 300).unwrap();
        let says =
            "differ by 300 instructions, which is 0.30 for an operation, where 3.00 are counted";
        assert!(text.contains(says), "{text}");
        assert!(reported(100, 300).is_some());
    }

    #[test]
    fn a_signal_may_be_valgrinds_doing() {
        let of = |error| ProfileError::Program {
            tool: "massif",
            error: Box::new(error),
        };
        let (program, last_words) = ("fill".to_owned(), String::new());
        let text = of(RunnerError::Signalled {
            program: program.clone(),
            signal: 4,
            last_words: last_words.clone(),
        });
        let text = text.to_string();
        assert!(text.starts_with("under massif `fill` was ended by"));
        assert!(text.ends_with("does it run without?)"), "{text}");
        let code = 7;
        let text = of(RunnerError::Exited {
            program,
            code,
            last_words,
        });
        assert!(!text.to_string().contains("valgrind"));
    }

    #[test]
    fn a_subject_that_cannot_do_what_it_is_asked_for_may_be_valgrinds_doing() {
        let of = |code: &str| {
            let error = ProfileError::Session {
                tool: "massif",
                error: Box::new(SessionError::Refused {
                    subject: "layer/tcp".into(),
                    request: "hello 1".into(),
                    code: code.into(),
                    text: "2 processes were not started".into(),
                    last_words: String::new(),
                }),
            };
            error.to_string()
        };
        assert!(of("failed").ends_with("does it run without?)"));
        assert!(!of("bad-argument").contains("valgrind"));
    }
}
