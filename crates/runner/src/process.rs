//! A child to talk to, line by line.

use crate::pump::Pump;
use crate::run::LOOK;
use crate::{End, Error, Program, Usage, start};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A running child whose standard input and output are read and written in lines.
///
/// A deadline, if one is set, bounds all waiting: the keeper kills the child when it passes, and
/// the waiting call returns [`Error::TimedOut`]. Memory is bounded too: the longest line, and the
/// end of standard error. A drop kills the child and all its descendants.
pub struct Process {
    pump: Pump,
    line_max: usize,
    /// Beginning of the next line in the received bytes, and end of the part without a line end.
    taken: usize,
    searched: usize,
}

pub(crate) fn spawn(program: &Program) -> Result<Process, Error> {
    let started = start::start(program)?;
    Ok(Process {
        pump: Pump::new(program, started)?,
        line_max: program.line_max,
        taken: 0,
        searched: 0,
    })
}

impl Process {
    /// Returns the child's process number, which is also that of its process group.
    pub fn id(&self) -> u32 {
        self.pump.id()
    }

    /// Gives the child this long from now; it is killed (SIGKILL, at once) when that is over.
    /// `None` is for ever.
    pub fn set_deadline(&mut self, limit: Option<Duration>) {
        self.pump.set_deadline(limit, Duration::ZERO);
    }

    /// Writes a line and its line end. `Ok` says that the pipe took it, not that the child will
    /// read it.
    ///
    /// # Errors
    /// The child ended, closed its standard input, or did not read before the deadline.
    pub fn write_line(&mut self, line: &str) -> Result<(), Error> {
        if self.pump.has_ended() || !self.pump.stdin_open() {
            return Err(self.gone("input"));
        }
        self.pump.write(line.as_bytes());
        self.pump.write(b"\n");
        while !self.pump.all_written() {
            // Output is read meanwhile, because the child may wait for us to read before it reads.
            self.pump.turn(self.room())?;
            if self.pump.has_ended() || !self.pump.stdin_open() {
                return Err(self.gone("input"));
            }
        }
        Ok(())
    }

    /// Reads the next line of standard output, without its line end (LF or CR LF). The last one may
    /// lack it.
    ///
    /// # Errors
    /// The child ended or closed its standard output ([`Error::Exited`] also with code 0), or the
    /// deadline passed. The line may also be too long (the rest of it is lost), or not UTF-8 (the
    /// next call goes on after it).
    pub fn read_line(&mut self) -> Result<String, Error> {
        self.next_line(None)
    }

    /// Reads the next line, but kills the child if `stop` is set before a whole line has come.
    ///
    /// # Errors
    /// Those of [`read_line`](Self::read_line), and [`Error::Interrupted`] after such a kill.
    pub fn read_line_unless(&mut self, stop: &AtomicBool) -> Result<String, Error> {
        self.next_line(Some(stop))
    }

    fn next_line(&mut self, stop: Option<&AtomicBool>) -> Result<String, Error> {
        loop {
            if let Some(line) = self.take_line()? {
                return Ok(line);
            }
            if !self.pump.stdout_open() {
                return self.last_line();
            }
            if !self.pump.has_ended() {
                self.turn(self.room(), stop)?;
            } else if !self.pump.take_rest(self.room())? {
                // Something that escaped holds the pipe open.
                return self.last_line();
            }
        }
    }

    /// Closes standard input: the child reads the end of it.
    pub fn close_input(&mut self) {
        self.pump.close_stdin();
    }

    /// Sends a signal to the child's process group, for example `libc::SIGINT`.
    pub fn signal(&mut self, number: i32) {
        self.pump.signal(number);
    }

    /// Kills the child and all that it started, at once.
    pub fn kill(&mut self) {
        self.pump.kill();
    }

    /// Waits for the end; it is killed if it does not come within `limit`. Output is thrown away.
    ///
    /// # Errors
    /// The system failed at waiting.
    pub fn wait(&mut self, limit: Duration) -> Result<(End, Usage), Error> {
        self.wait_for_end(limit, None)
    }

    /// Waits for the child's end, but kills it once `stop` is set.
    ///
    /// # Errors
    /// The system failed at waiting, or the child was killed for `stop` ([`Error::Interrupted`]).
    pub fn wait_unless(
        &mut self,
        limit: Duration,
        stop: &AtomicBool,
    ) -> Result<(End, Usage), Error> {
        self.wait_for_end(limit, Some(stop))
    }

    fn wait_for_end(
        &mut self,
        limit: Duration,
        stop: Option<&AtomicBool>,
    ) -> Result<(End, Usage), Error> {
        if !self.pump.has_ended() {
            self.set_deadline(Some(limit));
        }
        while !self.pump.has_ended() {
            self.pump.received.clear();
            (self.taken, self.searched) = (0, 0);
            self.turn(usize::MAX, stop)?;
        }
        self.pump.drain(0)?;
        Ok((self.end(), self.pump.usage()))
    }

    /// Returns the end of the child's standard error so far.
    pub fn last_words(&self) -> String {
        self.pump.stderr_tail.text()
    }

    /// Handles the next event. A stop flag is polled, because setting it wakes no waiting thread.
    fn turn(&mut self, room: usize, stop: Option<&AtomicBool>) -> Result<(), Error> {
        let Some(stop) = stop else {
            return self.pump.turn(room);
        };
        if stop.load(Ordering::Relaxed) {
            self.kill();
            let program = self.pump.name.clone();
            return Err(Error::Interrupted { program });
        }
        let until = Some(Instant::now() + LOOK);
        self.pump.turn_until(room, until).map(|_| ())
    }

    fn room(&self) -> usize {
        // One line beyond the longest is enough to know that it is too long.
        self.taken.saturating_add(self.line_max).saturating_add(2)
    }

    fn end(&self) -> End {
        self.pump.end().unwrap_or(End::Signalled(libc::SIGKILL))
    }

    fn take_line(&mut self) -> Result<Option<String>, Error> {
        let unsearched = &self.pump.received[self.searched..];
        let Some(offset) = unsearched.iter().position(|&byte| byte == b'\n') else {
            self.searched = self.pump.received.len();
            return self.no_line_yet();
        };
        let end = self.searched + offset;
        let line = self.pump.received[self.taken..end].to_vec();
        self.taken = end + 1;
        self.searched = self.taken;
        if self.taken == self.pump.received.len() {
            self.forget_taken();
        }
        if line.len() > self.line_max {
            return Err(self.too_long(&line));
        }
        self.text(line).map(Some)
    }

    fn no_line_yet(&mut self) -> Result<Option<String>, Error> {
        self.forget_taken();
        if self.pump.received.len() <= self.line_max {
            return Ok(None);
        }
        let line = std::mem::take(&mut self.pump.received);
        self.searched = 0;
        Err(self.too_long(&line))
    }

    fn forget_taken(&mut self) {
        self.pump.received.drain(..self.taken);
        self.searched -= self.taken;
        self.taken = 0;
    }

    fn last_line(&mut self) -> Result<String, Error> {
        let rest = self.pump.received.split_off(self.taken);
        (self.taken, self.searched) = (0, 0);
        self.pump.received.clear();
        if rest.is_empty() {
            return Err(self.gone("output"));
        }
        self.text(rest)
    }

    fn text(&self, mut line: Vec<u8>) -> Result<String, Error> {
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        String::from_utf8(line).map_err(|error| Error::NotUtf8 {
            program: self.pump.name.clone(),
            line: String::from_utf8_lossy(error.as_bytes()).into_owned(),
            last_words: self.last_words(),
        })
    }

    fn too_long(&self, line: &[u8]) -> Error {
        const HEAD: usize = 80;
        Error::LineTooLong {
            program: self.pump.name.clone(),
            max_bytes: self.line_max,
            head: String::from_utf8_lossy(&line[..line.len().min(HEAD)]).into_owned(),
            last_words: self.last_words(),
        }
    }

    /// Returns the reason why nothing more can be read or written: the child's end, after a short
    /// wait for it.
    fn gone(&mut self, stream: &'static str) -> Error {
        let until = Instant::now() + Duration::from_secs(1);
        while !self.pump.has_ended() {
            match self.pump.turn_until(self.room(), Some(until)) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => return error,
            }
        }
        if self.pump.has_ended() {
            let _ = self.pump.drain(0); // for its last words; what it wrote to standard output was read before
        }
        let (program, last_words) = (self.pump.name.clone(), self.last_words());
        match self.pump.end() {
            None => Error::Closed {
                program,
                stream,
                last_words,
            },
            Some(end) => end.into_error(program, last_words),
        }
    }
}
