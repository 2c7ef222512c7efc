//! Instructions and cycles of a running subject, by the processor's counters. No process is started
//! or slowed down.
//!
//! The kernel counts each thread and its later children, in user mode only. Counters are on only
//! during a separate request, which no figure of time uses.

use super::{CountRequest, NoCount, passes};
use crate::session::Session;
use antiphon_measure::{CountedBy, InstructionCount};
use perf_event::events::{Hardware, Software};
use perf_event::{Builder, Counter};
use rustix::io::Errno;
use std::io;

/// Passes over the four requests. Several passes show an interruption of one of them.
const PASSES: usize = 3;

/// Event of a thread that the kernel can count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Countable {
    /// Instructions, in user mode.
    Instructions,
    /// Cycles, in user mode.
    Cycles,
    /// Context switches, which the kernel counts itself, also where the processor counts nothing.
    Switches,
}

/// Counters of one kind, of all threads of a process.
pub struct ProcessCounter {
    threads: Vec<Counter>,
}

impl ProcessCounter {
    /// Opens a counter for the process with this number, switched off.
    ///
    /// # Errors
    /// The system's own: there are no such counters, or they are not permitted.
    pub fn open(process: u32, what: Countable) -> io::Result<ProcessCounter> {
        let mut threads = Vec::new();
        for thread in std::fs::read_dir(format!("/proc/{process}/task"))? {
            let name = thread?.file_name();
            let number = name.to_str().and_then(|name| name.parse().ok());
            let Some(number) = number else { continue };
            let mut builder = match what {
                Countable::Instructions => Builder::new(Hardware::INSTRUCTIONS),
                Countable::Cycles => Builder::new(Hardware::CPU_CYCLES),
                Countable::Switches => Builder::new(Software::CONTEXT_SWITCHES),
            };
            // A switch is the kernel's own doing.
            builder.exclude_kernel(what != Countable::Switches);
            builder.observe_pid(number).any_cpu().inherit(true);
            match builder.build() {
                Ok(counter) => threads.push(counter),
                // It ended since it was listed.
                Err(error) if error.raw_os_error() == Some(Errno::SRCH.raw_os_error()) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(ProcessCounter { threads })
    }

    /// Switches counting on.
    ///
    /// # Errors
    /// The system's own.
    pub fn enable(&mut self) -> io::Result<()> {
        self.threads.iter_mut().try_for_each(Counter::enable)
    }

    /// Switches counting off.
    ///
    /// # Errors
    /// The system's own.
    pub fn disable(&mut self) -> io::Result<()> {
        self.threads.iter_mut().try_for_each(Counter::disable)
    }

    /// Returns the total of this counter since it was opened.
    ///
    /// # Errors
    /// The system's own. Also an error: the processor had too few counters for all programs, so
    /// that it counted only part of the time.
    pub fn total(&mut self) -> io::Result<u64> {
        let mut sum = 0;
        for counter in &mut self.threads {
            let counted = counter.read_full()?;
            if counted.time_running() < counted.time_enabled() {
                return Err(io::Error::other(
                    "other programs use the processor's counters at the same time; end them first",
                ));
            }
            sum += counted.count();
        }
        Ok(sum)
    }
}

/// The counters that a running subject is looked at with.
pub struct ProcessorCounters {
    instructions: ProcessCounter,
    cycles: ProcessCounter,
}

impl ProcessorCounters {
    /// Counters of a subject's process.
    ///
    /// # Errors
    /// [`NoCount::Processor`], with why not.
    pub fn open(process: u32) -> Result<ProcessorCounters, NoCount> {
        let [instructions, cycles] = [Countable::Instructions, Countable::Cycles]
            .map(|what| ProcessCounter::open(process, what));
        Ok(Self::of(instructions?, cycles?))
    }

    /// Combines any two counters as instructions and cycles. Software events of the kernel can be
    /// counted on any machine.
    pub fn of(instructions: ProcessCounter, cycles: ProcessCounter) -> ProcessorCounters {
        ProcessorCounters {
            instructions,
            cycles,
        }
    }

    /// Counts the instructions of a frame, in the session that these counters were opened for.
    ///
    /// # Errors
    /// See [`NoCount`]. After a session's error other than a refusal the subject is dead.
    pub fn count(
        &mut self,
        session: &mut Session<'_>,
        request: &CountRequest<'_>,
    ) -> Result<InstructionCount, NoCount> {
        let mut of_cycles = Vec::new();
        let of_instructions = passes(PASSES, request.iterations, |role, iterations| {
            let before = (self.instructions.total()?, self.cycles.total()?);
            self.instructions.enable()?;
            self.cycles.enable()?;
            let answer = super::slice(session, request, role, iterations);
            self.cycles.disable()?;
            self.instructions.disable()?;
            answer?;
            of_cycles.push(self.cycles.total()? - before.1);
            Ok::<u64, NoCount>(self.instructions.total()? - before.0)
        })?;
        let by = CountedBy::Processor;
        let n = request.iterations;
        let count = |passes: &[_]| InstructionCount::from_passes(n, passes, by);
        let cycles = count(&super::in_passes(&of_cycles)).map(|found| found.test - found.control);
        let counted = count(&of_instructions).ok_or(NoCount::NoIterations)?;
        Ok(InstructionCount { cycles, ..counted })
    }
}
