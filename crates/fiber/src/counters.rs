//! The counters of the run-time: switches by cause, P operations, needless wake-ups, steals.

use std::sync::atomic::{AtomicU64, Ordering};

/// The cause for which a ready fiber leaves its processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// It yields.
    Yield,
    /// Its processor's count of polls is used up.
    Budget,
    /// A timer ticked.
    Tick,
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// Counts of one run, over all its servers.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct Counters {
            $($(#[$doc])* pub $name: u64,)*
        }

        /// The counts of one server, which alone writes them; others may read.
        #[derive(Debug, Default)]
        #[repr(align(128))]
        pub(crate) struct Tally {
            $(pub $name: AtomicU64,)*
        }

        impl Tally {
            /// Adds the counts to the run's.
            pub fn add_to(&self, counters: &mut Counters) {
                $(counters.$name += self.$name.load(Ordering::Relaxed);)*
            }
        }

        impl Counters {
            /// Returns every count with its name, for tables and JSON.
            pub fn all(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }
        }
    };
}

counters! {
    /// Switches by yields.
    yields,
    /// Switches because a fiber blocked.
    blocks,
    /// Switches because the count of polls was used up.
    budgets,
    /// Switches by ticks.
    ticks,
    /// Fibers that ended.
    ends,
    /// Fibers that were started.
    spawns,
    /// P operations on semaphores.
    p_operations,
    /// P operations that blocked.
    blocked_p_operations,
    /// Wake-ups of a fiber that found its condition still false and waited again.
    needless_wake_ups,
    /// Fibers that a server took from another.
    steals,
    /// Ticks that were honoured later, because the run-time was busy or the fiber could not be
    /// switched.
    deferred_ticks,
}

impl Counters {
    /// Returns all switches from one fiber to the next.
    pub fn switches(&self) -> u64 {
        self.yields + self.blocks + self.budgets + self.ticks + self.ends
    }
}

#[inline]
pub(crate) fn one_more(count: &AtomicU64) {
    // Only one thread writes, so no atomic addition is needed.
    count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}
