//! Launch of a subject.

use crate::environment;
use antiphon_measure::Placement;
use antiphon_runner::{Limits, Policy, Program};
use std::path::PathBuf;
use std::time::Duration;

/// A subject to start, and the conditions that it runs under.
#[derive(Clone, Debug)]
pub struct Launch {
    /// `name/variant`, for messages.
    pub subject: String,
    /// The program and its arguments. A relative program path is looked up from `cwd`.
    pub argv: Vec<String>,
    /// The directory that it starts in.
    pub cwd: PathBuf,
    /// Environment variables beside the laboratory's own, whose tuning variables are removed
    /// (`environment.rs`).
    pub env: Vec<(String, String)>,
    /// Scheduling policy of the process.
    pub policy: Policy,
    /// Placement of its threads, which also gives the process's affinity.
    pub placement: Placement,
    /// Resource limits.
    pub limits: Limits,
    /// Time for it to start and say hello.
    pub start_limit: Duration,
}

impl Launch {
    /// Creates a launch under ordinary scheduling, without placement.
    pub fn new(
        subject: impl Into<String>,
        argv: impl IntoIterator<Item = impl Into<String>>,
        cwd: impl Into<PathBuf>,
    ) -> Self {
        Self {
            subject: subject.into(),
            argv: argv.into_iter().map(Into::into).collect(),
            cwd: cwd.into(),
            env: Vec::new(),
            policy: Policy::Other,
            placement: Placement::Free,
            limits: Limits::default(),
            start_limit: super::ANSWER_LIMIT,
        }
    }

    /// Returns the launch under a counting command, such as valgrind's.
    ///
    /// It is neither pinned nor FIFO, because the command runs one thread at a time. Its storage is
    /// not limited, because the command itself needs much.
    pub(crate) fn under(&self, mut command: Vec<String>, start_limit: Duration) -> Self {
        command.extend(self.argv.iter().cloned());
        Self {
            argv: command,
            policy: Policy::Other,
            placement: Placement::Free,
            limits: Limits::default(),
            start_limit,
            ..self.clone()
        }
    }

    /// Returns the child process to start; `None` if `argv` is empty.
    pub(crate) fn program(&self) -> Option<Program> {
        let (program, args) = self.argv.split_first()?;
        let path = if program.contains('/') {
            self.cwd.join(program)
        } else {
            PathBuf::from(program)
        };
        let env = self.env.iter();
        let program = environment::of_subject(Program::new(path))
            .args(args)
            .cwd(&self.cwd)
            .envs(env.map(|(name, value)| (name, value)))
            .affinity(processors(self.placement))
            .policy(self.policy)
            .limits(self.limits)
            .time_limit(self.start_limit)
            .grace(Duration::ZERO)
            .line_max(crate::protocol::ANSWER_LINE_MAX);
        Some(program)
    }
}

/// Returns the processors that the process must be allowed on; empty for every one.
fn processors(placement: Placement) -> Vec<usize> {
    match placement {
        Placement::Same { processor } => vec![processor as usize],
        Placement::Across { main, partner } => vec![main as usize, partner as usize],
        Placement::Free => Vec::new(),
    }
}
