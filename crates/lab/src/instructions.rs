//! Instruction counts of an operation, as a second measure beside its time.
//!
//! The processor's counters are used if the kernel gives them. Otherwise callgrind counts each cost
//! that its control hides.
//!
//! Under callgrind one process serves all counts of a subject, because its start takes a second.
//! Callgrind dumps and resets its counts at each entry into the C library's `write`, with which a
//! subject answers. The dump at an answer is therefore the cost of the request. Counts repeat
//! (nearly) exactly, because nothing is timed. They cover all threads of the process, in user mode.

mod processor;

pub use processor::{Countable, ProcessCounter, ProcessorCounters};

use crate::profile::under;
use crate::session::{Launch, Session, SessionError};
use antiphon_measure::{CountPass, CountedBy, InstructionCount, Role, Slice};
use antiphon_outside::read_text;
use antiphon_service::{Folder, Place};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The most bytes of a dump of callgrind.
const OUTPUT_MAX: u64 = 256 << 20;

/// Most of the time under callgrind goes into starting it.
const START_LIMIT: Duration = Duration::from_secs(60);

/// Passes over the four requests of a count under callgrind.
const PASSES: usize = 2;

/// Frame to count.
#[derive(Clone, Copy, Debug)]
pub struct CountRequest<'a> {
    /// The frame's name.
    pub test: &'a str,
    /// Its argument, if it takes one.
    pub arg: Option<u64>,
    /// Iterations of the shorter requests; the longer ones have twice as many.
    pub iterations: u64,
    /// Time for each request; under callgrind everything takes some fifty times as long.
    pub limit: Duration,
}

/// Reason why instructions were not counted.
#[derive(Debug, thiserror::Error)]
pub enum NoCount {
    /// There is no valgrind.
    #[error(
        "instructions cannot be counted: valgrind is not installed (install it: apt-get install valgrind)"
    )]
    Missing,
    /// The request has no iterations to count.
    #[error("instructions cannot be counted: no iteration was asked for")]
    NoIterations,
    /// The processor's counters could not be read.
    #[error("the processor's counters cannot be read: {0}")]
    Processor(#[from] std::io::Error),
    /// The subject failed under callgrind.
    #[error("instructions cannot be counted: under callgrind {0}")]
    Session(#[from] SessionError),
    /// Callgrind left nothing that can be read.
    #[error("instructions cannot be counted: callgrind's result `{}` {why}", path.display())]
    Unreadable {
        /// Expected place of the file.
        path: PathBuf,
        /// Fault of the file.
        why: String,
    },
}

/// Runs one slice, whose time does not matter.
fn slice(
    session: &mut Session<'_>,
    request: &CountRequest<'_>,
    role: Role,
    iterations: u64,
) -> Result<Slice, SessionError> {
    session.slice(
        request.test,
        role,
        iterations,
        0,
        request.arg,
        request.limit,
    )
}

/// Requests before the first pass, one a frame. The first slice of a test prepares it, and the
/// first of a frame may load code.
const UNCOUNTED: [Role; 2] = [Role::Control, Role::Test];

/// Counts the four requests of each pass, after the uncounted ones.
fn passes<E>(
    passes: usize,
    iterations: u64,
    mut total: impl FnMut(Role, u64) -> Result<u64, E>,
) -> Result<Vec<CountPass>, E> {
    let mut totals = Vec::new();
    for role in UNCOUNTED {
        totals.push(total(role, 1)?);
    }
    for _ in 0..passes {
        for times in [1, 2] {
            for role in [Role::Control, Role::Test] {
                totals.push(total(role, times * iterations)?);
            }
        }
    }
    Ok(in_passes(&totals))
}

/// Groups totals into passes, in the order in which [`passes`] requests them.
fn in_passes(totals: &[u64]) -> Vec<CountPass> {
    let pass = |four: &[u64]| CountPass {
        control: (four[0], four[2]),
        test: (four[1], four[3]),
    };
    totals
        .get(UNCOUNTED.len()..)
        .unwrap_or_default()
        .chunks_exact(4)
        .map(pass)
        .collect()
}

/// A subject that runs under callgrind.
pub struct Counter<'s> {
    session: Session<'s>,
    dumps: Dumps,
}

impl<'s> Counter<'s> {
    /// Starts the subject, which is killed once `stop` is set, during any request.
    ///
    /// # Errors
    /// See [`NoCount`].
    pub fn start(launch: &Launch, stop: &'s AtomicBool) -> Result<Counter<'s>, NoCount> {
        let folder = Place::of_user().and_then(|place| place.folder("callgrind"));
        let folder = folder.map_err(|error| NoCount::Unreadable {
            path: std::env::temp_dir(),
            why: format!("cannot be put there: {error}"),
        })?;
        let under = under_callgrind(launch, folder.path());
        let session = Session::start_unless(&under, stop).map_err(missing)?;
        let mut dumps = Dumps { folder, read: 0 };
        dumps.take()?;
        Ok(Counter { session, dumps })
    }

    /// Counts the instructions of a frame.
    ///
    /// # Errors
    /// See [`NoCount`]. After any but a refusal the subject is dead.
    pub fn count(&mut self, request: &CountRequest<'_>) -> Result<InstructionCount, NoCount> {
        let total = |role, iterations| {
            slice(&mut self.session, request, role, iterations)?;
            self.dumps.take()
        };
        let passes = passes(PASSES, request.iterations, total)?;
        InstructionCount::from_passes(request.iterations, &passes, CountedBy::Callgrind)
            .ok_or(NoCount::NoIterations)
    }

    /// Ends the subject.
    ///
    /// # Errors
    /// It did not end as the protocol says.
    pub fn end(self) -> Result<(), NoCount> {
        self.session.quit_within(START_LIMIT)?;
        Ok(())
    }
}

/// The name of callgrind's last result; those before it have `.1`, `.2` … added.
const OUT: &str = "callgrind.out";

/// Callgrind's results so far.
struct Dumps {
    folder: Folder,
    /// Number of dumps already read.
    read: u64,
}

impl Dumps {
    /// Returns the instructions of all dumps since the last call.
    fn take(&mut self) -> Result<u64, NoCount> {
        let mut sum = 0;
        let before = self.read;
        loop {
            let path = self.folder.path().join(format!("{OUT}.{}", self.read + 1));
            let unreadable = |why| NoCount::Unreadable {
                path: path.clone(),
                why,
            };
            let text = match read_text(&path, OUTPUT_MAX) {
                Ok(text) => text,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => break,
                Err(error) => return Err(unreadable(format!("cannot be read: {error}"))),
            };
            sum += total_of(&text)
                .ok_or_else(|| unreadable("has no line `totals:` or `summary:`".into()))?;
            self.read += 1;
            // Read once; hundreds of them would fill the folder.
            let _ = std::fs::remove_file(&path);
        }
        if self.read == before {
            return Err(NoCount::Unreadable {
                path: self.folder.path().join(OUT),
                why: "was not written at an answer: the subject does not write through the C library's `write`".into(),
            });
        }
        Ok(sum)
    }
}

/// Returns the launch of the same subject under callgrind, with its files in a folder.
fn under_callgrind(launch: &Launch, folder: &Path) -> Launch {
    let callgrind = [
        "--tool=callgrind".to_owned(),
        format!("--callgrind-out-file={}", folder.join(OUT).display()),
        "--dump-before=write*".to_owned(),
        "--dump-line=no".to_owned(),
    ];
    under(launch, callgrind, folder, START_LIMIT)
}

fn missing(error: SessionError) -> NoCount {
    match error.is_missing_program() {
        true => NoCount::Missing,
        false => NoCount::Session(error),
    }
}

/// Returns the number of instructions in a callgrind file, whose only event is `Ir`.
fn total_of(text: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let number = line
            .strip_prefix("totals:")
            .or_else(|| line.strip_prefix("summary:"))?;
        number.trim().parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::{Launch, OUT, total_of, under_callgrind};
    use std::path::Path;

    #[test]
    fn whatever_is_written_lies_in_the_folder_that_is_removed() {
        let folder = Path::new("/results/of/one");
        let under = under_callgrind(&Launch::new("a/v", ["subject"], "/"), folder);
        let out = format!("--callgrind-out-file={}", folder.join(OUT).display());
        assert!(under.argv.contains(&out), "{:?}", under.argv);
        let temporary = ("TMPDIR".to_owned(), folder.display().to_string());
        assert_eq!(under.env, [temporary]);
    }

    #[test]
    fn reads_the_total_of_either_form() {
        let text = "version: 1\nevents: Ir\nfn=main\n1 5\nsummary: 1234\n\ntotals: 1234\n";
        assert_eq!(total_of(text), Some(1234));
        assert_eq!(total_of("events: Ir\ntotals: 7\n"), Some(7));
        assert_eq!(total_of("events: Ir\n"), None);
        assert_eq!(total_of("summary: many\n"), None);
    }
}
