//! Prevention of sleep on processors while turns wait.
//!
//! An operation that waits, for a disk or for a server on another processor, leaves its processor
//! idle. An idle processor goes to sleep; a virtual machine's host takes it away and brings it
//! back. The cost falls on the woken thread. A commit of SQLite used 70 µs of the processor after
//! sleep, and 42 where another program ran. The figure thus depended on other work of the machine.
//! A busy loop now runs there, behind everything else, and an operation costs what it costs on a
//! busy processor.

use super::first::{file_of, set_nice};
use antiphon_runner::{Policy, Process, Program};

/// Shell script that never waits, and asks nothing of the system.
const BUSY: &str = "while :; do :; done";

/// The least share of a processor that Linux gives a session, and the ordinary one.
const LEAST: i32 = 19;
const ORDINARY: i32 = 0;

/// Processors that are kept awake until this is dropped.
pub(super) struct IdlePrevention(Vec<Process>);

impl IdlePrevention {
    /// Keeps all of these awake.
    pub(super) fn keep(processors: &[usize]) -> Result<IdlePrevention, antiphon_runner::Error> {
        let busy = processors.iter().map(|processor| busy_on(*processor));
        busy.collect::<Result<_, _>>().map(IdlePrevention)
    }
}

impl Drop for IdlePrevention {
    /// Restores the ordinary priority of the loops, because they would otherwise end only after all
    /// other work.
    fn drop(&mut self) {
        self.0.iter().for_each(|busy| put(busy, ORDINARY));
    }
}

fn busy_on(processor: usize) -> Result<Process, antiphon_runner::Error> {
    let program = Program::new("sh").args(["-c", BUSY]);
    let idle = program.affinity([processor]).policy(Policy::Idle);
    let busy = idle.spawn()?;
    put(&busy, LEAST);
    Ok(busy)
}

/// Gives the loop's session a share of the processor.
///
/// Each child of the runner has its own session. Our session comes before others during turns, and
/// would give the loop more than them, whatever its policy. Without shares of sessions, its policy
/// alone counts.
fn put(busy: &Process, nice: i32) {
    let _ = set_nice(&file_of(busy.id()), nice);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::allowed_processors;
    use crate::run::busy::busy_ns;
    use antiphon_runner::ProcessStat;
    use std::time::{Duration, Instant};

    #[test]
    fn a_processor_with_nothing_to_do_is_busy_until_it_is_let_go() {
        let last = *allowed_processors().last().unwrap();
        let awake = IdlePrevention::keep(&[last]).expect("there is a shell");
        let busy = awake.0[0].id();
        let stat = || ProcessStat::of(busy);
        let policy = stat().unwrap().number(41);
        assert_eq!(policy, Some(libc::SCHED_IDLE as u64));
        let (begun, before_ns) = (Instant::now(), busy_ns(&[last]));
        while busy_ns(&[last]) < before_ns + 100_000_000 {
            assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", stat());
            std::thread::sleep(Duration::from_millis(10));
        }
        drop(awake);
        assert!(stat().is_err(), "it is gone");
    }

    #[test]
    fn a_processor_that_is_not_there_is_told() {
        let reported = IdlePrevention::keep(&[1000])
            .err()
            .expect("there are none so many");
        assert!(reported.to_string().contains("[1000]"), "{reported}");
    }
}
