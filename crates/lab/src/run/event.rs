//! Progress events of a run.

use super::Item;
use crate::record::ResultRecord;

/// Something that happened.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'e> {
    /// A build begins (or is taken from the cache).
    Building {
        /// `name/variant`.
        subject: &'e str,
        /// The policy it is built for.
        policy: &'e str,
    },
    /// A build is there.
    Built {
        /// `name/variant`.
        subject: &'e str,
        /// The policy it is built for.
        policy: &'e str,
        /// Whether it was in the cache.
        cached: bool,
    },
    /// A subject cannot be measured at all.
    SubjectAbsent {
        /// `name/variant`.
        subject: &'e str,
        /// Cause.
        reason: &'e str,
        /// Advice to the user.
        help: &'e str,
        /// Its, or its compiler's, last words.
        last_words: &'e str,
    },
    /// The plan is made, and the run is in the store.
    Planned {
        /// The run's number.
        run: i64,
        /// Items to be measured.
        items: usize,
        /// Starts of each subject's process; frames are measured in every start.
        starts: u32,
        /// Measurements of items in process starts.
        measurements: usize,
        /// Items measured before, in a resumed run.
        measured: usize,
        /// Estimate of the whole time, s.
        seconds: f64,
    },
    /// An item begins.
    Started {
        /// The item.
        item: &'e Item,
        /// Number of items before it, in all process starts.
        position: usize,
        /// Number of all items.
        of: usize,
        /// Estimate of the time left, s.
        seconds_left: f64,
    },
    /// An item has its result. It may get a better one in a later process start.
    Finished {
        /// The item.
        item: &'e Item,
        /// Its result.
        result: &'e ResultRecord,
        /// Estimate of the time left, s.
        seconds_left: f64,
    },
    /// Callgrind counts instructions of costs that their control hides.
    Counting {
        /// Number of finished counts.
        done: usize,
        /// Number of all counts.
        of: usize,
    },
    /// A live comparison turns to its next test.
    Comparing {
        /// The test's name.
        test: &'e str,
        /// Number of counts before it.
        position: usize,
        /// Number of all counts.
        of: usize,
        /// Estimate of the time left, s.
        seconds_left: f64,
    },
    /// A line of a subject's own output.
    OwnOutput {
        /// `name/variant`.
        subject: &'e str,
        /// The line.
        line: &'e str,
    },
    /// Something that the user should know.
    Warning(&'e str),
    /// The run ended.
    Ended {
        /// The run's number.
        run: i64,
        /// Whether it was interrupted.
        interrupted: bool,
    },
}

/// Receiver of events.
pub trait Observer {
    /// Takes one event. Nothing is being timed meanwhile, but it should return soon.
    fn event(&mut self, event: Event<'_>);
}

/// An observer that does nothing.
impl Observer for () {
    fn event(&mut self, _event: Event<'_>) {}
}
