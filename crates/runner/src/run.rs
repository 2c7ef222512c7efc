//! A whole program, from start to end.

use crate::pump::Pump;
use crate::{End, Error, Program, Usage, start};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Pause between two checks of a stop flag without other events.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

/// Output of a program that ran to its end.
#[derive(Clone, Debug)]
pub struct Output {
    /// The program's name, for messages.
    pub program: String,
    /// End of the program.
    pub end: End,
    /// The beginning of standard output, as much as was asked for.
    pub stdout: Vec<u8>,
    /// Number of dropped bytes of standard output after that.
    pub stdout_dropped_bytes: u64,
    /// The last of standard error.
    pub stderr: String,
    /// Resource use.
    pub usage: Usage,
}

impl Output {
    /// Returns the output if it ended with exit code 0.
    ///
    /// # Errors
    /// It ended in another way: [`Error::Exited`], [`Error::Signalled`] or [`Error::TimedOut`].
    pub fn success(self) -> Result<Self, Error> {
        match self.end {
            End::Exited(0) => Ok(self),
            end => Err(end.into_error(self.program, self.stderr)),
        }
    }

    /// Returns standard output as text.
    ///
    /// # Errors
    /// [`Error::NotUtf8`], with the first line that is not.
    pub fn text(&self) -> Result<&str, Error> {
        std::str::from_utf8(&self.stdout).map_err(|error| {
            let good = &self.stdout[..error.valid_up_to()];
            let begin = good
                .iter()
                .rposition(|&byte| byte == b'\n')
                .map_or(0, |end| end + 1);
            let line = self.stdout[begin..].split(|&byte| byte == b'\n').next();
            Error::NotUtf8 {
                program: self.program.clone(),
                line: String::from_utf8_lossy(line.unwrap_or_default()).into_owned(),
                last_words: self.stderr.clone(),
            }
        })
    }
}

pub(crate) fn run(program: &Program, stop: Option<&AtomicBool>) -> Result<Output, Error> {
    let mut pump = Pump::new(program, start::start(program)?)?;
    let mut stopping = false;
    pump.write(&program.input);
    let mut stdout = Vec::new();
    let mut dropped = 0;
    let mut keep = |received: &mut Vec<u8>| {
        let room = program.stdout_max.saturating_sub(stdout.len());
        let kept = received.len().min(room);
        stdout.extend_from_slice(&received[..kept]);
        dropped += (received.len() - kept) as u64;
        received.clear();
    };
    while !pump.has_ended() {
        if pump.all_written() {
            pump.close_stdin();
        }
        match stop.filter(|_| !stopping) {
            None => pump.turn(usize::MAX)?,
            Some(stop) if stop.load(Ordering::Relaxed) => {
                pump.set_deadline(Some(Duration::ZERO), program.grace);
                stopping = true;
            }
            Some(_) => {
                pump.turn_until(usize::MAX, Some(Instant::now() + LOOK))?;
            }
        }
        keep(&mut pump.received);
    }
    // It may have come to its own end just before.
    if stopping && matches!(pump.end(), Some(End::TimedOut { .. })) {
        return Err(Error::Interrupted {
            program: program.name(),
        });
    }
    while pump.take_rest(usize::MAX)? {
        keep(&mut pump.received);
    }
    Ok(Output {
        program: program.name(),
        end: pump.end().unwrap_or(End::Signalled(libc::SIGKILL)),
        stdout,
        stdout_dropped_bytes: dropped,
        stderr: pump.stderr_tail.text(),
        usage: pump.usage(),
    })
}
