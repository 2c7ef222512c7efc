//! One child's streams and keeper. The calling thread waits for all of them, without further
//! threads beside a measurement.

use crate::keeper::{self, Kind, Order, OrderKind, Report, now_ns};
use crate::start::{Started, in_ns};
use crate::tail::Tail;
use crate::{End, Error, Program, Usage};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

/// Time of the keeper after a deadline, before we kill the child ourselves.
const KEEPER_PATIENCE: Duration = Duration::from_secs(10);

/// Reading time of a child's pipes after its end, for other processes that hold them open.
const REST: Duration = Duration::from_secs(1);

const CHUNK: usize = 64 << 10;

pub(crate) struct Pump {
    pub name: String,
    keeper: Child,
    pub socket: Option<OwnedFd>,
    first: Report,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    /// Bytes still to be written to standard input.
    unwritten: Vec<u8>,
    /// Bytes read from standard output and not yet taken.
    pub received: Vec<u8>,
    pub stderr_tail: Tail,
    /// Bytes read from standard error and not yet taken, if a caller takes them.
    pub stderr_received: Option<Vec<u8>>,
    ended: Option<Report>,
    /// Rest to read after its end.
    rest: Rest,
    /// The deadline in force, with the grace.
    deadline: Option<Instant>,
    /// Length of the last deadline when it was set.
    limit: Duration,
    chunk: Box<[u8; CHUNK]>,
}

impl Pump {
    pub fn new(program: &Program, started: Started) -> Result<Self, Error> {
        let pump = Self {
            name: program.name(),
            keeper: started.keeper,
            socket: Some(started.socket),
            first: started.first,
            stdin: started.stdin,
            stdout: Some(started.stdout),
            stderr: Some(started.stderr),
            unwritten: Vec::new(),
            received: Vec::new(),
            stderr_tail: Tail::new(program.stderr_max),
            stderr_received: None,
            ended: None,
            rest: Rest::default(),
            deadline: program
                .time_limit
                .map(|limit| later(limit.saturating_add(program.grace))),
            limit: program.time_limit.unwrap_or_default(),
            chunk: Box::new([0; CHUNK]),
        };
        pump.set_nonblocking()
            .map_err(|source| pump.io_error("setting up the streams", source))?;
        Ok(pump)
    }

    fn set_nonblocking(&self) -> io::Result<()> {
        let streams = [
            self.stdin.as_ref().map(AsFd::as_fd),
            self.stdout.as_ref().map(AsFd::as_fd),
            self.stderr.as_ref().map(AsFd::as_fd),
        ];
        for stream in streams.into_iter().flatten() {
            fcntl(stream, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        }
        Ok(())
    }

    /// Returns the number of the child's process and process group.
    pub fn id(&self) -> u32 {
        self.first.value.unsigned_abs()
    }

    /// Ends the child after `limit` from now, in place of any deadline before.
    pub fn set_deadline(&mut self, limit: Option<Duration>, grace: Duration) {
        self.deadline = limit.map(|limit| later(limit.saturating_add(grace)));
        self.limit = limit.unwrap_or(self.limit);
        self.order(Order {
            kind: OrderKind::Deadline as u32,
            at_ns: limit.map_or(0, |limit| now_ns().saturating_add(in_ns(limit)).max(1)),
            grace_ns: in_ns(grace),
            ..Order::default()
        });
    }

    /// Sends a signal to the child's group.
    pub fn signal(&self, number: i32) {
        self.order(Order {
            kind: OrderKind::Signal as u32,
            signal: number,
            ..Order::default()
        });
    }

    fn order(&self, order: Order) {
        if let Some(socket) = &self.socket {
            keeper::order(socket, order);
        }
    }

    /// Kills everything now.
    pub fn kill(&mut self) {
        self.signal(libc::SIGKILL);
    }

    pub fn write(&mut self, bytes: &[u8]) {
        self.unwritten.extend_from_slice(bytes);
    }

    pub fn all_written(&self) -> bool {
        self.unwritten.is_empty()
    }

    pub fn stdin_open(&self) -> bool {
        self.stdin.is_some()
    }

    pub fn stdout_open(&self) -> bool {
        self.stdout.is_some()
    }

    /// Closes standard input: the child reads the end of it.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
        self.unwritten.clear();
    }

    pub fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Waits for the next event and handles it. It reads standard output only while `received` is
    /// shorter than `room`.
    pub fn turn(&mut self, room: usize) -> Result<(), Error> {
        let patience = self.deadline.map(|at| at + KEEPER_PATIENCE);
        self.turn_until(room, patience).map(|_| ())
    }

    /// Works like [`turn`](Self::turn), but at most until a moment. Returns false if that came
    /// first.
    pub fn turn_until(&mut self, room: usize, until: Option<Instant>) -> Result<bool, Error> {
        let ready = self
            .wait(room, until)
            .map_err(|source| self.io_error("waiting for the output", source))?;
        if ready.nothing() {
            // Either the caller's moment came, or the keeper missed a deadline because it was
            // stopped.
            let overdue = |at| Instant::now() >= at + KEEPER_PATIENCE;
            if self.deadline.is_some_and(overdue) {
                self.kill_without_keeper();
            }
            return Ok(false);
        }
        if ready.stdin {
            self.feed();
        }
        if ready.stderr {
            self.drain_stderr();
        }
        if ready.stdout {
            self.take_stdout();
        }
        if ready.socket {
            self.take_reports();
        }
        Ok(true)
    }

    fn wait(&self, room: usize, until: Option<Instant>) -> io::Result<Ready> {
        let stdin = self.stdin.as_ref().filter(|_| !self.unwritten.is_empty());
        let stdout = self.stdout.as_ref().filter(|_| self.received.len() < room);
        let wanted = [
            (stdin.map(AsFd::as_fd), PollFlags::POLLOUT),
            (stdout.map(AsFd::as_fd), PollFlags::POLLIN),
            (self.stderr.as_ref().map(AsFd::as_fd), PollFlags::POLLIN),
            (self.socket.as_ref().map(AsFd::as_fd), PollFlags::POLLIN),
        ];
        let mut polled: Vec<PollFd<'_>> = wanted
            .iter()
            .filter_map(|(fd, events)| Some(PollFd::new((*fd)?, *events)))
            .collect();
        loop {
            let timeout = match until {
                None => PollTimeout::NONE,
                Some(until) => {
                    let left = until.saturating_duration_since(Instant::now());
                    let left_ms = left.as_nanos().div_ceil(1_000_000);
                    PollTimeout::try_from(left_ms).unwrap_or(PollTimeout::MAX)
                }
            };
            match poll(&mut polled, timeout) {
                Ok(_) => break,
                Err(nix::errno::Errno::EINTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        let mut seen = polled.iter();
        let [stdin, stdout, stderr, socket] = wanted.map(|(fd, _)| {
            let seen = fd.and_then(|_| seen.next()).and_then(PollFd::revents);
            seen.is_some_and(|events| !events.is_empty())
        });
        Ok(Ready {
            stdin,
            stdout,
            stderr,
            socket,
        })
    }

    fn feed(&mut self) {
        let Some(stdin) = &mut self.stdin else { return };
        match stdin.write(&self.unwritten) {
            Ok(written) => {
                self.unwritten.drain(..written);
            }
            Err(error) if passing(&error) => {}
            Err(_) => self.close_stdin(), // it does not read any more; how it ends says the rest
        }
    }

    fn drain_stderr(&mut self) {
        let Some(stderr) = &mut self.stderr else {
            return;
        };
        match stderr.read(&mut self.chunk[..]) {
            Ok(size) if size > 0 => match &mut self.stderr_received {
                Some(received) => received.extend_from_slice(&self.chunk[..size]),
                None => self.stderr_tail.push(&self.chunk[..size]),
            },
            Err(error) if passing(&error) => {}
            _ => self.stderr = None,
        }
    }

    fn take_stdout(&mut self) {
        let Some(stdout) = &mut self.stdout else {
            return;
        };
        match stdout.read(&mut self.chunk[..]) {
            Ok(size) if size > 0 => self.received.extend_from_slice(&self.chunk[..size]),
            Err(error) if passing(&error) => {}
            _ => self.stdout = None,
        }
    }

    fn take_reports(&mut self) {
        let Some(socket) = &self.socket else { return };
        match keeper::report(socket) {
            Ok(report) if report.kind == Kind::Ended as u32 => {
                self.ended = Some(report);
                self.release();
            }
            Ok(_) => {}
            Err(error) if passing(&error) => {}
            Err(_) => self.kill_without_keeper(),
        }
    }

    /// Kills the child without the keeper, which is gone or does not act. The system may have
    /// killed the child with it.
    fn kill_without_keeper(&mut self) {
        if self.ended.is_some() {
            return;
        }
        let _ = self.keeper.kill();
        if let Ok(group) = i32::try_from(self.id()) {
            let group = nix::unistd::Pid::from_raw(group);
            let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
        }
        let over = self.deadline.is_some_and(|at| Instant::now() >= at);
        self.ended = Some(Report {
            kind: Kind::Ended as u32,
            value: libc::SIGKILL,
            timed_out: over.into(),
            at_ns: now_ns(),
            ..Report::default()
        });
        self.release();
    }

    /// Lets go of the keeper and takes leave of it.
    fn release(&mut self) {
        self.socket = None;
        let _ = self.keeper.wait();
        self.rest = Rest {
            until: Some(later(REST)),
            pieces: self.pieces_in_pipes(),
        };
    }

    /// Returns the number of our reads that empty full pipes.
    fn pieces_in_pipes(&self) -> usize {
        let streams = [
            self.stdout.as_ref().map(AsFd::as_fd),
            self.stderr.as_ref().map(AsFd::as_fd),
        ];
        let sizes = streams.into_iter().flatten().map(|stream| {
            let size = fcntl(stream, FcntlArg::F_GETPIPE_SZ).unwrap_or_default();
            usize::try_from(size).unwrap_or_default()
        });
        sizes.max().unwrap_or_default().div_ceil(CHUNK).max(1)
    }

    /// Reads a piece of the rest in the pipes of an ended child. Returns false when no more is due.
    ///
    /// Mostly no writer is left, so this ends at once. Another process that holds the pipes and
    /// goes on writing is heard for a moment.
    pub fn take_rest(&mut self, room: usize) -> Result<bool, Error> {
        let reads_output = self.stdout.is_some() && self.received.len() < room;
        let is_over = self.rest.is_over();
        self.rest.pieces = self.rest.pieces.saturating_sub(1);
        if is_over || !(reads_output || self.stderr.is_some()) {
            return Ok(false);
        }
        self.turn_until(room, self.rest.until)
    }

    /// Takes in all of it, or as much of standard output as there is room for.
    pub fn drain(&mut self, room: usize) -> Result<(), Error> {
        while self.take_rest(room)? {}
        Ok(())
    }

    /// Returns its end, if it has ended.
    pub fn end(&self) -> Option<End> {
        let report = self.ended?;
        if report.timed_out != 0 {
            return Some(End::TimedOut { limit: self.limit });
        }
        Some(if libc::WIFSIGNALED(report.value) {
            End::Signalled(libc::WTERMSIG(report.value))
        } else {
            End::Exited(libc::WEXITSTATUS(report.value))
        })
    }

    /// Returns its resource use, if it has ended.
    pub fn usage(&self) -> Usage {
        let Some(report) = self.ended else {
            return Usage::default();
        };
        Usage {
            wall: Duration::from_nanos(report.at_ns.saturating_sub(self.first.at_ns)),
            user: Duration::from_nanos(report.user_ns),
            system: Duration::from_nanos(report.system_ns),
            peak_rss_bytes: report.peak_rss_bytes,
            peak_rss_floor_bytes: self.first.peak_rss_bytes,
            minor_faults: report.minor_faults,
            major_faults: report.major_faults,
            voluntary_switches: report.voluntary,
            involuntary_switches: report.involuntary,
        }
    }

    pub fn io_error(&self, doing: &'static str, source: io::Error) -> Error {
        Error::Io {
            program: self.name.clone(),
            doing,
            source,
        }
    }
}

impl Drop for Pump {
    /// Lets the keeper go, which sees its socket close, kills everything and ends. It is our child,
    /// so we reap it.
    fn drop(&mut self) {
        let Some(socket) = self.socket.take() else {
            return;
        };
        keeper::let_go(&socket);
        let patience_ms = u16::try_from(KEEPER_PATIENCE.as_millis()).unwrap_or(u16::MAX);
        let mut polled = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
        loop {
            match poll(&mut polled, PollTimeout::from(patience_ms)) {
                // A report may be waiting before the end of the socket.
                Ok(1..) if keeper::report(&socket).is_ok() => {}
                Err(nix::errno::Errno::EINTR) => {}
                Ok(1..) => break,
                // The keeper was stopped. The child dies with it.
                Ok(_) | Err(_) => {
                    let _ = self.keeper.kill();
                    break;
                }
            }
        }
        let _ = self.keeper.wait();
    }
}

/// Rest of an ended child's pipes. However late we read, everything that it left in them is
/// included.
#[derive(Clone, Copy, Default)]
struct Rest {
    until: Option<Instant>,
    /// Least number of pieces to read, if they exist.
    pieces: usize,
}

impl Rest {
    fn is_over(&self) -> bool {
        self.pieces == 0 && self.until.is_none_or(|until| Instant::now() >= until)
    }
}

/// Sources that are ready.
struct Ready {
    stdin: bool,
    stdout: bool,
    stderr: bool,
    socket: bool,
}

impl Ready {
    fn nothing(&self) -> bool {
        !(self.stdin || self.stdout || self.stderr || self.socket)
    }
}

/// Checks for an error that means "not now" rather than an end.
fn passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

/// Returns a moment that far ahead, or the farthest possible one.
fn later(after: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
    Instant::now() + after.min(FAR)
}
