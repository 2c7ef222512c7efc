//! Program to start, with its conditions.

use crate::{
    End, Error, Forwarding, Limits, Output, Policy, Process, attached, forward, process, run,
};
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Source of a child's standard input.
#[derive(Clone, Debug, Default)]
pub(crate) enum Input {
    /// A pipe that this process writes to.
    #[default]
    Ours,
    /// This process's own standard input.
    Inherited,
    /// There is none: it reads the end at once.
    Nothing,
    /// Something that is open.
    From(Arc<OwnedFd>),
}

/// A program to start: like [`std::process::Command`], with the conditions it runs under.
///
/// Every child leads its own process group, watched by a small keeper process. The keeper kills all
/// the child's descendants when the child ends, when its time is over, and at any end of this
/// process.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) program: OsString,
    /// Name in messages, if it differs from its own.
    pub(crate) shown: Option<String>,
    pub(crate) args: Vec<OsString>,
    pub(crate) cwd: Option<PathBuf>,
    /// Variables to set, and those to remove, which have no value.
    pub(crate) env: Vec<(OsString, Option<OsString>)>,
    pub(crate) clear_env: bool,
    pub(crate) affinity: Vec<usize>,
    pub(crate) policy: Policy,
    pub(crate) comes_first: bool,
    pub(crate) limits: Limits,
    pub(crate) time_limit: Option<Duration>,
    pub(crate) grace: Duration,
    pub(crate) input: Vec<u8>,
    pub(crate) stdout_max: usize,
    pub(crate) stderr_max: usize,
    pub(crate) line_max: usize,
    pub(crate) stdin: Input,
}

impl Program {
    /// Creates a program by its path, or by its name if it is in a directory of `PATH`.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            shown: None,
            args: Vec::new(),
            cwd: None,
            env: Vec::new(),
            clear_env: false,
            affinity: Vec::new(),
            policy: Policy::Other,
            comes_first: false,
            limits: Limits::default(),
            time_limit: None,
            grace: Duration::from_secs(2),
            input: Vec::new(),
            stdout_max: 64 << 20,
            stderr_max: 64 << 10,
            line_max: 64 << 10,
            stdin: Input::Ours,
        }
    }

    /// Sets the name in messages: that of the actual program, if this one only starts it, as
    /// `setpriv` does.
    pub fn shown_as(mut self, name: impl Into<String>) -> Self {
        self.shown = Some(name.into());
        self
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        let args = args.into_iter().map(|arg| arg.as_ref().to_owned());
        self.args.extend(args);
        self
    }

    /// Sets the directory that it starts in; by default this process's own. A relative path of the
    /// program itself still counts from this process's directory.
    pub fn cwd(mut self, directory: impl AsRef<Path>) -> Self {
        self.cwd = Some(directory.as_ref().to_owned());
        self
    }

    /// Sets an environment variable; the others are this process's own.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        let value = Some(value.as_ref().to_owned());
        self.env.push((name.as_ref().to_owned(), value));
        self
    }

    /// Sets environment variables.
    pub fn envs(
        self,
        variables: impl IntoIterator<Item = (impl AsRef<OsStr>, impl AsRef<OsStr>)>,
    ) -> Self {
        let variables = variables.into_iter();
        variables.fold(self, |program, (name, value)| program.env(name, value))
    }

    /// Leaves out a variable of this process's own environment, unless it is set after this.
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), None));
        self
    }

    /// Leaves out this process's own environment, but for `PATH`.
    pub fn clear_env(mut self) -> Self {
        self.clear_env = true;
        self
    }

    /// Sets the processors that it may run on; none means those of this process.
    pub fn affinity(mut self, processors: impl IntoIterator<Item = usize>) -> Self {
        self.affinity = processors.into_iter().collect();
        self
    }

    /// Its scheduling policy.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Gives it priority over other work of the machine, if that is permitted; otherwise it runs
    /// like any other.
    ///
    /// It gets the most urgent `nice`, and its session as well: with autogroups Linux first shares
    /// the processors among sessions.
    pub fn comes_first(mut self) -> Self {
        self.comes_first = true;
        self
    }

    /// Sets its resource limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets its time from start to end. Then SIGTERM goes to its process group and, after the
    /// grace, SIGKILL to everything.
    ///
    /// For [`spawn`](Self::spawn) this is the first deadline, which [`Process::set_deadline`]
    /// replaces.
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = Some(limit);
        self
    }

    /// Sets the time between SIGTERM and SIGKILL (2 s by default; zero means SIGKILL at once).
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Sets the standard input that [`run`](Self::run) gives it; nothing by default.
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = bytes.into();
        self
    }

    /// Sets the kept part from the beginning of standard output for [`run`](Self::run) (64 MiB by
    /// default); the rest is counted.
    pub fn stdout_max(mut self, bytes: usize) -> Self {
        self.stdout_max = bytes;
        self
    }

    /// Sets the kept part at the end of standard error (64 KiB by default).
    pub fn stderr_max(mut self, bytes: usize) -> Self {
        self.stderr_max = bytes;
        self
    }

    /// Sets the longest line that [`Process::read_line`] takes (64 KiB by default).
    pub fn line_max(mut self, bytes: usize) -> Self {
        self.line_max = bytes;
        self
    }

    /// Runs it to its end.
    ///
    /// # Errors
    /// It could not be started. Its end is in the output: see [`Output::success`].
    pub fn run(&self) -> Result<Output, Error> {
        run::run(self, None)
    }

    /// Runs it to its end, or ends it early once `stop` is set.
    ///
    /// SIGTERM goes to its process group, so that it can tidy up, and after the grace SIGKILL to
    /// all its descendants.
    ///
    /// # Errors
    /// It could not be started, or was ended early ([`Error::Interrupted`]).
    pub fn run_unless(&self, stop: &AtomicBool) -> Result<Output, Error> {
        run::run(self, Some(stop))
    }

    /// Starts it to talk to, line by line.
    ///
    /// # Errors
    /// It could not be started.
    pub fn spawn(&self) -> Result<Process, Error> {
        process::spawn(self)
    }

    /// Runs it in our place to its end, with our standard streams.
    ///
    /// It is in our process group, so that the terminal's Ctrl-C reaches it. SIGTERM, SIGHUP and
    /// other requests to end are passed on to it. If we are killed, so is it. There is no keeper:
    /// processes that the program leaves go on. Of the conditions only arguments, environment and
    /// directory hold.
    ///
    /// # Errors
    /// It could not be started.
    pub fn run_attached(&self) -> Result<End, Error> {
        attached::run(self)
    }

    /// Starts it to pass its output on. It reads this process's own standard input if
    /// `reads_input`, else nothing.
    ///
    /// # Errors
    /// It could not be started.
    pub fn forward(mut self, reads_input: bool) -> Result<Forwarding, Error> {
        self.stdin = if reads_input {
            Input::Inherited
        } else {
            Input::Nothing
        };
        forward::start(&self)
    }

    /// Starts it to pass its output on, with an open input, such as a pipe from another process.
    ///
    /// # Errors
    /// It could not be started.
    pub fn forward_from(mut self, input: impl Into<OwnedFd>) -> Result<Forwarding, Error> {
        self.stdin = Input::From(Arc::new(input.into()));
        forward::start(&self)
    }

    /// Returns the program's name for messages.
    pub(crate) fn name(&self) -> String {
        self.shown.clone().unwrap_or_else(|| self.own_name())
    }

    /// Returns the name to look for and load, independent of messages.
    pub(crate) fn own_name(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }
}
