//! How a subject is started.

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
    /// Environment variables set besides the laboratory's own, of which those that tune some subjects are left out (`environment.rs`).
    pub env: Vec<(String, String)>,
    /// Scheduling policy of the process.
    pub policy: Policy,
    /// Where its threads run; gives the process's affinity as well.
    pub placement: Placement,
    /// What it may use.
    pub limits: Limits,
    /// Time for it to start and say hello.
    pub start_limit: Duration,
}

impl Launch {
    /// A subject under ordinary scheduling, wherever the system puts it.
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

    /// The same under a command that counts, such as valgrind's: neither pinned nor FIFO (it runs one thread at a time anyhow), nor limited in storage, of which
    /// the command itself takes much.
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

    /// The same as a child process to start; `None` if `argv` is empty.
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

/// The processors that the process must be allowed on; empty where every one is.
fn processors(placement: Placement) -> Vec<usize> {
    match placement {
        Placement::Same { processor } => vec![processor as usize],
        Placement::Across { main, partner } => vec![main as usize, partner as usize],
        Placement::Free => Vec::new(),
    }
}
