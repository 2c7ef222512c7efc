//! A process whose upcalls do the work of a slice, while its own thread sleeps.
//!
//! No message tells that thread the end of the operations before the slice; therefore the upcalls
//! count.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::failure::Failed;
use crate::member_state::MemberState;
use crate::tests::Part;
use crate::usage::{Whose, switches};

/// Counts at some moment.
#[derive(Clone, Copy)]
pub struct Counted {
    /// Context switches of the process so far.
    pub switches: u64,
    /// Whether the thread of the slice already slept.
    pub is_asleep: bool,
}

/// Counts operations.
pub struct Served {
    primes: u64,
    count: AtomicU64,
    is_asleep: AtomicBool,
    switches: AtomicU64,
    was_asleep: AtomicBool,
}

impl Served {
    pub fn new(member_state: &MemberState) -> Arc<Self> {
        Arc::new(Self {
            primes: member_state.primes(),
            count: AtomicU64::new(0),
            is_asleep: AtomicBool::new(false),
            switches: AtomicU64::new(0),
            was_asleep: AtomicBool::new(false),
        })
    }

    /// Counts one more call, which is about to be answered. Upcalls run one at a time.
    pub fn one(&self) {
        let count = self.count.load(Relaxed) + 1;
        self.count.store(count, Relaxed);
        if count == self.primes {
            self.switches.store(switches(Whose::Process), Relaxed);
            self.was_asleep.store(self.is_asleep.load(Relaxed), Relaxed);
        }
    }
}

/// The part of a process whose upcalls serve. It keeps its value alive.
pub struct Serving<T> {
    served: Arc<Served>,
    _kept: T,
}

impl<T> Serving<T> {
    pub fn new(served: Arc<Served>, kept: T) -> Self {
        Self {
            served,
            _kept: kept,
        }
    }
}

impl<T> Part for Serving<T> {
    fn run(&mut self, _iterations: u64) -> Result<u64, Failed> {
        self.served.is_asleep.store(true, Relaxed);
        Ok(0)
    }

    fn primed(&mut self) -> Option<Counted> {
        let served = &self.served;
        let counted = Counted {
            switches: served.switches.load(Relaxed),
            is_asleep: served.was_asleep.load(Relaxed),
        };
        served.is_asleep.store(false, Relaxed);
        let is_whole = served.count.swap(0, Relaxed) >= served.primes;
        is_whole.then_some(counted)
    }
}
