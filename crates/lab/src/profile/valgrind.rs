//! A subject's work under a tool of valgrind's.

use super::{ProfileError, Work};
use crate::build::Built;
use crate::run::{launch, program_launch};
use crate::services::Services;
use crate::session::{Launch, Session, SessionError};
use antiphon_measure::{Placement, Role};
use antiphon_runner::Error as RunnerError;
use antiphon_service::Place;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A tool of valgrind's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    /// The heap.
    Massif,
    /// Instructions and caches.
    Cachegrind,
}

/// Functions that allocate for others: a site is whoever calls them. The C library's own, and C++'s `new`, massif knows.
const ALLOCATORS: [&str; 4] = [
    "__gnat_malloc",
    "__gnat_realloc",
    "__rust_alloc",
    "__rust_realloc",
];

/// Valgrind, with nothing of its own in what the program says, and no pipes for debuggers, which it would leave behind when it is killed.
pub(crate) const WITHOUT_TRACES: [&str; 3] = ["valgrind", "--quiet", "--vgdb=no"];

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

    /// Its command line, before that of the program.
    fn command(self, out: &Path) -> Vec<String> {
        let mut words = WITHOUT_TRACES.map(str::to_owned).to_vec();
        words.push(format!("--tool={}", self.name()));
        words.push(format!("--{}-out-file={}", self.name(), out.display()));
        match self {
            Tool::Massif => {
                // Every snapshot says who holds the memory, and the peak is the true one: not one within a hundredth of it.
                let exact = [
                    "--detailed-freq=1",
                    "--threshold=0.1",
                    "--peak-inaccuracy=0.0",
                ];
                words.extend(exact.map(str::to_owned));
                words.extend(ALLOCATORS.map(|name| format!("--alloc-fn={name}")));
            }
            Tool::Cachegrind => words.push("--cache-sim=yes".to_owned()),
        }
        words
    }
}

/// What is run, and how long it may take.
pub(super) struct Valgrind<'a> {
    pub(super) built: &'a Built,
    pub(super) work: &'a Work,
    pub(super) limit: Duration,
    pub(super) stop: &'a AtomicBool,
    /// What was found that makes counts doubtful, each once.
    pub(super) warnings: Vec<String>,
}

impl Valgrind<'_> {
    /// Runs the work under a tool, a frame with so many times its iterations, and gives what the tool wrote.
    pub(super) fn run(&mut self, tool: Tool, times: u64) -> Result<String, ProfileError> {
        let place = Place::of_user();
        let folder = place.and_then(|place| place.folder(tool.name()));
        let folder = folder.map_err(|error| tool.unreadable(error.to_string()))?;
        let out = folder.path().join("out");
        let under = |launch: Launch| launch.under(tool.command(&out), self.limit);
        match self.work {
            Work::Program { name, arguments } => {
                self.run_program(tool, under(self.program(name, arguments)?))?;
            }
            Work::Frame {
                test,
                arg,
                iterations,
            } => {
                let services = Services::default();
                let mut launch = launch(self.built, "other", Placement::Free);
                let environment = services.environment(self.built);
                launch
                    .env
                    .extend(environment.map_err(|error| self.failed(tool, error))?);
                for text in services.take_warnings() {
                    // Each run has a database of its own.
                    if !self.warnings.contains(&text) {
                        self.warnings.push(text);
                    }
                }
                let launch = under(launch);
                self.run_frame(&launch, test, *arg, iterations * times)
                    .map_err(|error| self.failed(tool, error))?;
            }
        }
        std::fs::read_to_string(&out).map_err(|error| tool.unreadable(error.to_string()))
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

    fn run_program(&self, tool: Tool, launch: Launch) -> Result<(), ProfileError> {
        let failed = |error| match error {
            RunnerError::Missing { .. } => ProfileError::Missing,
            RunnerError::Interrupted { .. } => ProfileError::Interrupted,
            error => ProfileError::Program {
                tool: tool.name(),
                error: Box::new(error),
            },
        };
        let program = launch.program().expect("valgrind comes first");
        let output = program.run_unless(self.stop).map_err(failed)?;
        output.success().map_err(failed)?;
        Ok(())
    }

    fn run_frame(
        &self,
        launch: &Launch,
        test: &str,
        arg: Option<u64>,
        iterations: u64,
    ) -> Result<(), SessionError> {
        let mut session = Session::start(launch)?;
        session.slice(test, Role::Test, iterations, 0, arg, self.limit)?;
        session.quit_within(self.limit)?;
        Ok(())
    }

    fn failed(&self, tool: Tool, error: SessionError) -> ProfileError {
        match error {
            error if error.is_missing_program() => ProfileError::Missing,
            _ if self.stop.load(Ordering::Relaxed) => ProfileError::Interrupted,
            error => ProfileError::Session {
                tool: tool.name(),
                error: Box::new(error),
            },
        }
    }
}
