//! The run to which a fiber belongs. Queues and handles may outlive their run; descriptors do not.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

/// The number of a run. No two runs of a process have the same; 0 is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct RunId(u64);

/// The number of a run, and the mark that the run's descriptors exist. The mark goes when this is
/// dropped.
#[derive(Debug)]
pub(crate) struct Registration(RunId);

static LAST: AtomicU64 = AtomicU64::new(0);
static LIVE: Mutex<Vec<RunId>> = Mutex::new(Vec::new());

impl Registration {
    pub fn new() -> Self {
        let run = RunId(LAST.fetch_add(1, Ordering::Relaxed) + 1);
        LIVE.lock().push(run);
        Registration(run)
    }

    pub fn run(&self) -> RunId {
        self.0
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        LIVE.lock().retain(|run| *run != self.0);
    }
}

impl RunId {
    /// Returns whether the run's descriptors still exist.
    pub fn is_live(self) -> bool {
        LIVE.lock().contains(&self)
    }
}
