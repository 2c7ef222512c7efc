//! Loss of processors during a whole run, for its record.

use crate::machine::{Taken, own_quota};
use std::time::Duration;

/// Parts of a run's time above which waits for a processor, or the time that a host took, cause a
/// warning.
const MUCH_WAITED: f64 = 0.1;
const MUCH_STOLEN: f64 = 0.01;

/// Returns warnings about losses in this time.
pub(super) fn warnings(taken: &Taken, elapsed: Duration) -> Vec<String> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    let (quota, elapsed_ns) = (own_quota(), elapsed.as_nanos().max(1) as f64);
    let share = |ns: u64, of_ns: f64| ns as f64 / of_ns;
    let (stolen, waited) = (
        share(taken.stolen_ns, elapsed_ns * processors),
        share(taken.pressed_ns, elapsed_ns),
    );
    let stopped = (taken.stops > 0).then(|| {
        let of = quota.map_or(String::new(), |quota| {
            format!(
                " of {} processors in each {} ms (/{})",
                quota.processors, quota.period_ms, quota.file
            )
        });
        format!(
            "the processor quota{of} stopped this run {} times, for {:.1} s in all: latencies and times that it cut are too long, and are marked where it took more than \
             a tenth; give the container whole processors in place of a quota",
            taken.stops,
            taken.stopped_ns as f64 / 1e9
        )
    });
    let stolen = (stolen > MUCH_STOLEN).then(|| {
        format!(
            "the host of this virtual machine took {:.1} % of the processors' time during the run; give the machine processors of its own on the host",
            100.0 * stolen
        )
    });
    let waited = (waited > MUCH_WAITED).then(|| {
        format!(
            "in {:.0} % of the run's time something waited for a processor (/proc/pressure/cpu); figures that others disturbed are marked",
            100.0 * waited.min(1.0)
        )
    });
    stopped.into_iter().chain(stolen).chain(waited).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_that_stopped_the_run_and_a_host_that_stole_are_told() {
        let second = Duration::from_secs(1);
        assert_eq!(warnings(&Taken::default(), second), Vec::<String>::new());
        let taken = Taken {
            stops: 3,
            stopped_ns: 200_000_000,
            stolen_ns: 64_000_000_000,
            pressed_ns: 500_000_000,
        };
        let reported = warnings(&taken, second);
        assert!(reported[0].contains("stopped this run 3 times, for 0.2 s"));
        assert!(reported[1].starts_with("the host of this virtual machine took"));
        assert!(reported[2].starts_with("in 50 % of the run's time"));
        assert_eq!(reported.len(), 3);
    }
}
