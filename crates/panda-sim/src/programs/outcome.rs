//! The outcome of a simulation.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use super::cast::Returned;
use super::node::State;
use super::switch::{Counts, Halt};
use antiphon_panda::hook::words_of;
use antiphon_panda::thread::Panic;
use antiphon_panda_core::Rank;

/// The outcome of a simulation. The same program, processes, network, faults and seed give the same
/// one.
#[derive(Debug)]
pub struct Outcome<T> {
    /// The seed.
    pub seed: u64,
    /// End of each process, by rank, spawned ones included. For a restarted process it is that of
    /// the last incarnation.
    pub ends: Vec<End<T>>,
    /// Ends of the earlier incarnations, in the order in which the next ones followed.
    pub earlier: Vec<(Rank, End<T>)>,
    /// Reason why the simulation ended.
    pub halt: Halt,
    /// Virtual time at which a program last went on.
    pub time: Duration,
    /// Frames that were sent.
    pub frames: u64,
    /// Bytes of those frames.
    pub bytes: u64,
    /// Frames that the network lost, once for each process that a frame for several did not reach.
    pub lost: u64,
    /// Digest of all events with their times: the same for the same history. It compares runs of
    /// one build of the program.
    pub digest: u64,
}

/// The end of a simulation, and the states of its processes, each with its rank and its life.
pub struct Halted {
    pub halt: Halt,
    pub states: Vec<(Rank, usize, State)>,
    pub earlier: Vec<(Rank, usize, State)>,
}

/// The end of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End<T> {
    /// Its program returned, and all its threads have ended.
    Returned(T),
    /// Its program panicked, with this text.
    Panicked(String),
    /// It was [crashed](super::Fault::Crash).
    Crashed,
    /// It had not ended: the waits of its threads, in words.
    Waits(Vec<String>),
}

/// Processes that neither returned nor were to crash, with the line that replays the run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Failure {
    /// The seed.
    pub seed: u64,
    /// Reason why the simulation ended.
    pub halt: Halt,
    /// The processes, and what each of them did.
    pub processes: Vec<(Rank, String)>,
}

/// Number of failures that are printed in full: of a thousand waiting processes, a few say enough.
const TOLD: usize = 20;

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.halt {
            Halt::Ended => "processes failed",
            Halt::Deadlock => "processes wait for each other",
            Halt::Limit => "processes had not ended when the time was over",
        };
        writeln!(f, "{what}:")?;
        for (rank, did) in self.processes.iter().take(TOLD) {
            writeln!(f, "  rank {rank} {did}")?;
        }
        if let Some(more) = self.processes.len().checked_sub(TOLD + 1) {
            writeln!(f, "  and {} more", more + 1)?;
        }
        write!(f, "replay it with PANDA_SEED={}", self.seed)
    }
}

impl<T> Outcome<T> {
    pub(super) fn new(seed: u64, counts: Counts, halted: Halted, mut results: Returned<T>) -> Self {
        let mut end = |(rank, life, state)| (rank, End::of(state, results.remove(&life)));
        let ends = halted.states.into_iter().map(&mut end);
        Self {
            seed,
            ends: ends.map(|(_, end)| end).collect(),
            earlier: halted.earlier.into_iter().map(end).collect(),
            halt: halted.halt,
            time: counts.time,
            frames: counts.frames,
            bytes: counts.bytes,
            lost: counts.lost,
            digest: counts.digest,
        }
    }

    /// Returns the failure, if any incarnation of a process neither returned nor was to crash.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        let failed = |(end, rank): (&End<T>, Rank)| match end {
            End::Returned(_) | End::Crashed => None,
            End::Panicked(words) => Some((rank, format!("panicked: {words}"))),
            End::Waits(what) => Some((rank, format!("waits for {}", what.join("; for ")))),
        };
        let earlier = self.earlier.iter().map(|(rank, end)| (end, *rank));
        let all = earlier.chain(self.ends.iter().zip(0..));
        let processes: Vec<_> = all.filter_map(failed).collect();
        (!processes.is_empty()).then_some(Failure {
            seed: self.seed,
            halt: self.halt,
            processes,
        })
    }

    /// Returns the programs' results, by rank, without crashed processes that did not come back.
    ///
    /// # Errors
    ///
    /// Others did not return.
    pub fn values(self) -> Result<Vec<T>, Failure> {
        if let Some(failure) = self.failure() {
            return Err(failure);
        }
        let returned = self.ends.into_iter().filter_map(|end| match end {
            End::Returned(value) => Some(value),
            _ => None,
        });
        Ok(returned.collect())
    }
}

impl<T> End<T> {
    fn of(state: State, result: Option<Result<T, Panic>>) -> Self {
        match (state.panic, result) {
            (Some(words), _) => Self::Panicked(words),
            (None, _) if state.is_crashed => Self::Crashed,
            (None, Some(Err(panic))) => Self::Panicked(words_of(panic)),
            (None, Some(Ok(value))) if state.waits.is_empty() => Self::Returned(value),
            (None, _) => Self::Waits(state.waits),
        }
    }
}

/// Returns the seeds for a test to try. They are `count` seeds, or as many as the environment's
/// `PANDA_SEEDS` says, or only that of `PANDA_SEED`, which a [`Failure`] names.
///
/// # Panics
///
/// A variable is no number.
#[must_use]
pub fn seeds(count: u64) -> Range<u64> {
    let number = |variable| {
        let text = std::env::var(variable).ok()?;
        let number = text.parse::<u64>();
        Some(number.unwrap_or_else(|_| panic!("{variable}={text}: expected a number")))
    };
    match number("PANDA_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("PANDA_SEEDS").unwrap_or(count),
    }
}
