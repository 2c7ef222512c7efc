//! Use of the processors by others during a measurement, read before and after it, never in
//! between.
//!
//! The use of the laboratory and its children is subtracted on all processors, so the result is a
//! lower bound. It includes the time that the host of a virtual machine took. It also includes the
//! time for which a container's quota stopped everything.

use super::busy::busy_ns;
use super::tree::{Followed, Parents};
use crate::machine::{allowed_processors, stopped_ns};
use crate::record::Foreign;
use antiphon_measure::Placement;
use std::time::Instant;

/// The state before a measurement.
pub(super) struct Watch {
    used: Vec<usize>,
    busy_ns: u64,
    own_ns: u64,
    stopped_ns: u64,
    begun: Instant,
    /// Reads the processor time of the laboratory and its children.
    own: Box<dyn FnMut() -> u64>,
}

/// Readings that are added up where single ones are too short for the kernel's account.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    foreign_ns: f64,
    stopped_ns: f64,
    processors_ns: f64,
}

impl Watch {
    /// Begins to watch the processors of a placement.
    pub(super) fn begin(placement: Placement) -> Watch {
        Watch::with(placement, Box::new(own_ns))
    }

    /// Begins a watch for turns, which leave little time between them: our own processes are
    /// followed.
    pub(super) fn in_turns(placement: Placement) -> Watch {
        let mut own = Followed::of(std::process::id());
        Watch::with(placement, Box::new(move || own.read().cpu_ns()))
    }

    fn with(placement: Placement, mut own: Box<dyn FnMut() -> u64>) -> Watch {
        let used = processors(placement);
        Watch {
            own_ns: own(),
            own,
            busy_ns: busy_ns(&used),
            stopped_ns: stopped_ns(),
            begun: Instant::now(),
            used,
        }
    }

    /// Ends the watch and returns the use by others since its beginning.
    pub(super) fn end(mut self) -> Seen {
        self.next()
    }

    /// Returns the use by others since the last call, and begins anew. One look at all processes
    /// ends a turn and begins the next.
    pub(super) fn next(&mut self) -> Seen {
        let (own_ns, busy_ns, now) = ((self.own)(), busy_ns(&self.used), Instant::now());
        let busy = busy_ns.saturating_sub(self.busy_ns) as f64;
        let own = own_ns.saturating_sub(self.own_ns) as f64;
        let so_far_ns = stopped_ns();
        let stopped_ns = so_far_ns.saturating_sub(self.stopped_ns) as f64;
        self.stopped_ns = so_far_ns;
        let elapsed_ns = now.duration_since(self.begun).as_nanos() as f64;
        (self.own_ns, self.busy_ns, self.begun) = (own_ns, busy_ns, now);
        Seen {
            foreign_ns: busy - own + stopped_ns,
            stopped_ns,
            processors_ns: elapsed_ns * self.used.len() as f64,
        }
    }

    /// Takes a turn, which advances the watch on success. After a failure the watch begins anew.
    /// Programs that ran while a subject hung disturbed no turn, least of all the next subject's.
    pub(super) fn through<T, E>(
        &mut self,
        turn: impl FnOnce(&mut Watch) -> Result<T, E>,
    ) -> Result<T, E> {
        turn(self).inspect_err(|_| {
            self.next();
        })
    }
}

impl Seen {
    /// Adds a later reading.
    pub(super) fn and(self, other: Seen) -> Seen {
        Seen {
            foreign_ns: self.foreign_ns + other.foreign_ns,
            stopped_ns: self.stopped_ns + other.stopped_ns,
            processors_ns: self.processors_ns + other.processors_ns,
        }
    }

    /// Converts to the stored form.
    pub(super) fn foreign(self, attempts: u32) -> Foreign {
        let foreign_ns = self.foreign_ns.clamp(0.0, self.processors_ns.max(0.0));
        Foreign {
            share: foreign_ns / self.processors_ns.max(1.0),
            foreign_ns,
            stopped_ns: self.stopped_ns,
            attempts,
        }
    }
}

/// Returns the processor time of the laboratory and its children so far, ns.
fn own_ns() -> u64 {
    // Nearly all that live here are its own: one look at all is the shortest.
    Parents::now().tree(std::process::id()).cpu_ns()
}

/// Returns the processors of a placement.
pub(super) fn processors(placement: Placement) -> Vec<usize> {
    match placement {
        Placement::Same { processor } => vec![processor as usize],
        Placement::Across { main, partner } => vec![main as usize, partner as usize],
        Placement::Free => allowed_processors(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::time::{ClockId, clock_gettime};
    use std::hint::black_box;
    use std::time::Duration;

    #[test]
    fn short_readings_add_up() {
        let seen = |foreign_ns, processors_ns| Seen {
            foreign_ns,
            stopped_ns: 0.0,
            processors_ns,
        };
        // A step of the account fell into the second reading, and was not used up in the first.
        let both = seen(-4e6, 50e6).and(seen(14e6, 50e6)).foreign(1);
        assert_eq!((both.foreign_ns, both.share), (10e6, 0.1));
        assert_eq!(seen(-4e6, 50e6).foreign(2).share, 0.0);
        assert_eq!(Seen::default().foreign(1).share, 0.0);
    }

    /// Works until this thread has had a processor for several steps of the account. A busy machine
    /// takes longer for that.
    fn work() {
        let used_ns = || {
            let used = clock_gettime(ClockId::ThreadCPUTime);
            used.tv_sec as u64 * 1_000_000_000 + used.tv_nsec as u64
        };
        let (begun, begun_ns) = (Instant::now(), used_ns());
        let mut chain = 1u64;
        while used_ns() < begun_ns + 50_000_000 {
            assert!(begun.elapsed() < Duration::from_secs(60), "no processor");
            for _ in 0..10_000 {
                chain = black_box(chain.wrapping_mul(6364136223846793005));
            }
        }
    }

    #[test]
    fn what_the_laboratory_does_itself_is_not_foreign() {
        for begin in [Watch::begin, Watch::in_turns] {
            let mut seen = Vec::new();
            // Children of other tests in this process may end meanwhile, and are then missing in
            // our use.
            let is_taken_off = (0..5).any(|_| {
                let mut watch = begin(Placement::Free);
                let (used, busy_before_ns) = (watch.used.clone(), watch.busy_ns);
                work();
                let foreign_ns = watch.next().foreign_ns;
                let busy_ns = busy_ns(&used).saturating_sub(busy_before_ns) as f64;
                seen.push((foreign_ns, busy_ns));
                foreign_ns < busy_ns
            });
            assert!(is_taken_off, "{seen:?}");
        }
    }

    /// Returns a watch from before this machine's first work, and the least values of a fresh one.
    fn long_begun() -> (Watch, Instant, u64) {
        let used = processors(Placement::Free);
        let (now, busy_ns) = (Instant::now(), busy_ns(&used));
        let watch = Watch {
            used,
            busy_ns: 0,
            own_ns: 0,
            stopped_ns: 0,
            begun: now - Duration::from_secs(1),
            own: Box::new(|| 7),
        };
        (watch, now, busy_ns)
    }

    #[test]
    fn what_was_told_is_not_told_again() {
        let (mut watch, now, busy_ns) = long_begun();
        let seen = watch.next();
        assert!(seen.processors_ns >= 1e9 && seen.foreign_ns >= busy_ns as f64 - 7.0);
        assert!(watch.begun >= now && watch.busy_ns >= busy_ns && busy_ns > 0);
        assert_eq!(watch.own_ns, 7);
    }

    #[test]
    fn who_ran_while_a_turn_failed_did_not_disturb_the_next() {
        let (mut watch, now, busy_ns) = long_begun();
        let failed = watch.through(|_| Err::<(), _>("it hung"));
        assert_eq!(failed, Err("it hung"));
        assert!(watch.begun >= now && watch.busy_ns >= busy_ns);
        // One that goes well has moved it on itself.
        let (mut watch, now, _) = long_begun();
        let seen = watch.through(|watch| Ok::<_, ()>(watch.next()));
        assert!(seen.unwrap().processors_ns >= 1e9 && watch.begun >= now);
        let (mut watch, now, _) = long_begun();
        watch.through(|_| Ok::<_, ()>(())).unwrap();
        assert!(watch.begun < now && watch.busy_ns == 0);
    }
}
