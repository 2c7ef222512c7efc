//! Processors that do not fall asleep while turns wait.
//!
//! An operation that waits, for a disk or for a server on another processor, leaves its processor idle, and an idle one goes to sleep; under a virtual machine
//! its host takes it away and brings it back. What that costs is charged to who wakes up: a commit of SQLite used 70 µs of the processor where it slept
//! meanwhile, and 42 where something else ran. So it depended on what else the machine did. Something that never waits runs there, behind everything else,
//! and an operation costs what it costs on a busy processor.

use super::first::{file_of, set_nice};
use antiphon_runner::{Policy, Process, Program};

/// It never waits, and asks nothing of the system.
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
    /// Who is behind all others is so in ending, too.
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

/// Gives its session a share of the processor. Each child of the runner has a session of its own; in ours, which comes before others during turns, it would
/// have more than they, whatever its policy. Where sessions have no share, its policy alone counts.
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
        let told = IdlePrevention::keep(&[1000])
            .err()
            .expect("there are none so many");
        assert!(told.to_string().contains("[1000]"), "{told}");
    }
}
