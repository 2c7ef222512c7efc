//! A subject's work under a tool of valgrind's.

use super::{ProfileError, Work};
use crate::build::Built;
use crate::environment;
use crate::run::{launch, program_launch};
use crate::services::Services;
use crate::session::{Launch, Session, SessionError};
use antiphon_measure::{Placement, Role};
use antiphon_outside::read_text;
use antiphon_runner::Error as RunnerError;
use antiphon_service::Place;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Largest output of a tool about a program, bytes.
const OUTPUT_MAX: u64 = 256 << 20;

/// A tool of valgrind's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    /// The heap.
    Massif,
    /// Instructions and caches.
    Cachegrind,
}

/// Functions that allocate for others: their caller is the site. Massif knows those of the C
/// library and C++'s `new`.
const ALLOCATORS: [&str; 4] = [
    "__gnat_malloc",
    "__gnat_realloc",
    "__rust_alloc",
    "__rust_realloc",
];

/// Valgrind's command, without its own text in the program's output. Debugger pipes are off,
/// because a killed valgrind would leave them behind.
const WITHOUT_TRACES: [&str; 3] = ["valgrind", "--quiet", "--vgdb=no"];

/// Returns the launch of the same subject under a tool of valgrind's, given by these words.
///
/// Valgrind's temporary files go into the folder of its results. The folder is removed with its
/// content even after a kill.
pub(crate) fn under(
    launch: &Launch,
    tool: impl IntoIterator<Item = String>,
    folder: &Path,
    start_limit: Duration,
) -> Launch {
    let valgrind = WITHOUT_TRACES.map(str::to_owned).into_iter();
    let mut under = launch.under(valgrind.chain(tool).collect(), start_limit);
    let temporary = ("TMPDIR".to_owned(), folder.display().to_string());
    // Settings of the subject's variant come later and therefore win.
    under.env.insert(0, temporary);
    under
}

/// Simulated caches, in bytes, ways, and bytes of a line. They are the same on every machine,
/// because a host may report anything: a virtual one may claim a last cache of 256 MiB.
const CACHES: [&str; 3] = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64"];

impl Tool {
    pub(super) fn name(self) -> &'static str {
        match self {
            Tool::Massif => "massif",
            Tool::Cachegrind => "cachegrind",
        }
    }

    pub(super) fn unreadable(self, why: String) -> ProfileError {
        ProfileError::Unreadable {
            tool: self.name(),
            why,
        }
    }

    /// Its part of valgrind's command line.
    fn command(self, out: &Path) -> Vec<String> {
        let mut words = vec![
            format!("--tool={}", self.name()),
            format!("--{}-out-file={}", self.name(), out.display()),
        ];
        match self {
            Tool::Massif => {
                // Every snapshot lists the holders, and the peak is exact, not one within a
                // hundredth of it.
                let exact = [
                    "--detailed-freq=1",
                    "--threshold=0.1",
                    "--peak-inaccuracy=0.0",
                ];
                words.extend(exact.map(str::to_owned));
                words.extend(ALLOCATORS.map(|name| format!("--alloc-fn={name}")));
            }
            Tool::Cachegrind => {
                words.push("--cache-sim=yes".to_owned());
                words.extend(CACHES.map(str::to_owned));
            }
        }
        words
    }

    /// Returns the variables that the tool sets for the program.
    fn environment(self) -> Vec<(String, String)> {
        // Lazy binding is off: the first call of a library function would look it up, which may
        // cost more than the work.
        let mut pairs = vec![("LD_BIND_NOW", "1")];
        // Massif does not see Python's own allocator, which maps memory. Cachegrind counts Python
        // in its normal mode.
        if self == Tool::Massif {
            pairs.push(("PYTHONMALLOC", "malloc"));
        }
        let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        pairs.into_iter().map(pair).collect()
    }
}

/// Iterations of a frame in one process, in order: the control's part, then the test's.
#[derive(Clone, Copy)]
pub(super) struct Slices {
    /// Parts of the control; with 0 it is not run.
    pub(super) control: u64,
    /// Parts of the test.
    pub(super) test: u64,
}

/// Work to run, with its time limit.
pub(super) struct Valgrind<'a> {
    pub(super) built: &'a Built,
    pub(super) work: &'a Work,
    pub(super) limit: Duration,
    pub(super) stop: &'a AtomicBool,
    /// Doubts about the counts, each once.
    pub(super) warnings: Vec<String>,
}

impl Valgrind<'_> {
    /// Runs the work under a tool, a frame in these slices, and returns the tool's output.
    pub(super) fn run(&mut self, tool: Tool, slices: Slices) -> Result<String, ProfileError> {
        if self.is_stopped() {
            return Err(ProfileError::Interrupted);
        }
        let place = Place::of_user();
        let folder = place.and_then(|place| place.folder(tool.name()));
        let folder = folder.map_err(|error| tool.unreadable(error.to_string()))?;
        let out = folder.path().join("out");
        let mut launch = match self.work {
            Work::Program { name, arguments } => self.program(name, arguments)?,
            Work::Frame { .. } => launch(self.built, "other", Placement::Free),
        };
        let program = launch.argv.first().cloned().unwrap_or_default();
        self.warn(environment::warning());
        if tool == Tool::Massif {
            let unseen = unseen_heap(&self.built.record.language, &launch.argv);
            let id = &self.built.record.id;
            let texts = unseen.map(|why| format!("the heap of {id} is not whole: {why}"));
            self.warn(texts);
        }
        // Settings of the subject's variant come later and therefore win.
        launch.env.splice(..0, tool.environment());
        let services = Services::default();
        if matches!(self.work, Work::Frame { .. }) {
            let environment = services.environment(self.built);
            launch
                .env
                .extend(environment.map_err(|error| self.failed(tool, error))?);
            // Each run has a separate database.
            self.warn(services.take_warnings());
        }
        let launch = under(&launch, tool.command(&out), folder.path(), self.limit);
        match self.work {
            Work::Program { name, .. } => self.run_program(tool, &launch, name)?,
            Work::Frame { test, .. } => self
                .run_frame(&launch, slices)
                .map_err(|stopped| self.stopped(tool, test, stopped))?,
        }
        read_text(&out, OUTPUT_MAX).map_err(|error| match error.kind() {
            ErrorKind::NotFound => ProfileError::NotFollowed {
                tool: tool.name(),
                program,
            },
            _ => tool.unreadable(error.to_string()),
        })
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn warn(&mut self, texts: impl IntoIterator<Item = String>) {
        for text in texts {
            if !self.warnings.contains(&text) {
                self.warnings.push(text);
            }
        }
    }

    fn program(&self, name: &str, arguments: &[String]) -> Result<Launch, ProfileError> {
        let programs = &self.built.programs;
        if !programs.iter().any(|program| program == name) {
            return Err(ProfileError::NoProgram {
                subject: self.built.record.id.clone(),
                program: name.to_owned(),
                programs: programs.clone(),
            });
        }
        program_launch(self.built, "other", Placement::Free, name, arguments)
            .map_err(|path| ProfileError::NotBuilt { path })
    }

    fn run_program(&self, tool: Tool, launch: &Launch, name: &str) -> Result<(), ProfileError> {
        let failed = |error| match error {
            RunnerError::Missing { .. } => ProfileError::Missing,
            RunnerError::Interrupted { .. } => ProfileError::Interrupted,
            error => ProfileError::Program {
                tool: tool.name(),
                error: Box::new(error),
            },
        };
        let program = launch.program().expect("valgrind comes first");
        let program = program.shown_as(name);
        let output = program.run_unless(self.stop).map_err(failed)?;
        output.success().map_err(failed)?;
        Ok(())
    }

    /// Runs the slices of the frame, all within the time of a run; does nothing for a program.
    fn run_frame(&self, launch: &Launch, slices: Slices) -> Result<(), Stopped> {
        let Work::Frame {
            test,
            arg,
            iterations,
        } = self.work
        else {
            return Ok(());
        };
        let begun = Instant::now();
        let left = || self.limit.saturating_sub(begun.elapsed());
        let mut session = Session::start_unless(launch, self.stop)?;
        let parts = [(Role::Control, slices.control), (Role::Test, slices.test)];
        for (role, times) in parts.into_iter().filter(|(_, times)| *times > 0) {
            let iterations = iterations.saturating_mul(times);
            let done = session.slice(test, role, iterations, 0, *arg, left());
            if let Err(error) = done {
                return Err(unknown_test(&mut session, &error).unwrap_or(error.into()));
            }
        }
        session.quit_within(left())?;
        Ok(())
    }

    fn stopped(&self, tool: Tool, test: &str, stopped: Stopped) -> ProfileError {
        match stopped {
            Stopped::Failed(error) => self.failed(tool, *error),
            Stopped::NoTest(tests) => ProfileError::NoTest {
                subject: self.built.record.id.clone(),
                test: test.to_owned(),
                tests,
            },
        }
    }

    fn failed(&self, tool: Tool, error: SessionError) -> ProfileError {
        match error {
            error if error.is_missing_program() => ProfileError::Missing,
            _ if self.is_stopped() => ProfileError::Interrupted,
            error => ProfileError::Session {
                tool: tool.name(),
                error: Box::new(error),
            },
        }
    }
}

/// Reason why not all slices of a frame were run.
enum Stopped {
    Failed(Box<SessionError>),
    /// There is no such test, but there are these.
    NoTest(Vec<String>),
}

impl From<SessionError> for Stopped {
    fn from(error: SessionError) -> Self {
        Stopped::Failed(Box::new(error))
    }
}

/// Returns the known tests if the subject refused an unknown one.
fn unknown_test(session: &mut Session<'_>, error: &SessionError) -> Option<Stopped> {
    let SessionError::Refused { code, .. } = error else {
        return None;
    };
    let listing = session.list().ok().filter(|_| code == "unknown-test")?;
    let tests = listing.tests.into_iter().map(|test| test.name);
    Some(Stopped::NoTest(tests.collect()))
}

/// Returns the reason why massif does not see the heap of a language's programs; `None` if it does.
fn unseen_heap(language: &str, argv: &[String]) -> Option<&'static str> {
    match language {
        "Go" => Some("Go does not take it from malloc, and massif sees only what C code takes"),
        "Python" if ignores_environment(argv) => Some(
            "`-I` or `-E` in its run line has Python ignore PYTHONMALLOC=malloc, so massif does not see the objects that Python's own allocator holds",
        ),
        _ => None,
    }
}

/// Checks Python's own options for one that ignores the environment. They precede the program's
/// file.
fn ignores_environment(argv: &[String]) -> bool {
    let options = argv.iter().skip(1).take_while(|word| !word.contains('.'));
    let letters = options.filter_map(|word| word.strip_prefix('-'));
    letters
        .filter(|letters| letters.bytes().all(|byte| byte.is_ascii_alphabetic()))
        .any(|letters| letters.contains(['I', 'E']))
}

#[cfg(test)]
mod tests {
    use super::unseen_heap;

    #[test]
    fn says_whose_heap_massif_does_not_see() {
        let unseen = |language, line: &str| {
            let argv: Vec<String> = line.split(' ').map(str::to_owned).collect();
            unseen_heap(language, &argv)
        };
        assert!(unseen("Go", "/b/examined").unwrap().contains("malloc"));
        assert_eq!(unseen("C", "/b/examined -I"), None);
        let isolated = unseen("Python", "python3 -I -S /b/shared.py counter");
        assert!(isolated.unwrap().contains("PYTHONMALLOC"));
        assert!(unseen("Python", "python3 -SE /b/shared.py").is_some());
        assert_eq!(unseen("Python", "python3 -u -X utf8 /b/a.py -I"), None);
    }
}
