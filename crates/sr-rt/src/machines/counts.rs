//! The counts of all machines, which the first one reports.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::letters::Letter;
use super::session::Link;
use super::vms;
use crate::options::{self, Stats};
use crate::stats::{self, Counts};

/// Counts as they are sent: of a distribution, the values and how often each occurred.
#[derive(Serialize, Deserialize)]
struct Sent {
    counters: Vec<(String, u64)>,
    ready_to_run_ns: Vec<(u64, u64)>,
    turn_ns: Vec<(u64, u64)>,
}

/// Counts of other machines.
static COUNTS: Mutex<BTreeMap<u32, Sent>> = Mutex::new(BTreeMap::new());

/// Returns this machine's counts, if they are wanted. The caller is on a server's OS thread.
pub fn own() -> Option<Counts> {
    (options::get().stats != Stats::None).then(stats::own)
}

/// Sends this machine's counts to the first machine.
pub fn send(link: &Link, counts: &Counts) {
    let mut sent = Sent {
        counters: counts.counters.clone(),
        ready_to_run_ns: Vec::new(),
        turn_ns: Vec::new(),
    };
    if let Some(histograms) = &counts.histograms {
        let (ready, turn) = (&histograms.ready_to_run_ns, &histograms.turn_ns);
        let ready = ready.iter_recorded();
        sent.ready_to_run_ns = ready
            .map(|it| (it.value_iterated_to(), it.count_at_value()))
            .collect();
        let turn = turn.iter_recorded();
        sent.turn_ns = turn
            .map(|it| (it.value_iterated_to(), it.count_at_value()))
            .collect();
    }
    let body = postcard::to_stdvec(&sent).unwrap_or_default();
    let _ = link.post(0, &Letter::Counts, body);
}

/// Takes the counts of another machine.
pub fn take(from: u32, body: &[u8]) {
    if let Ok(sent) = postcard::from_bytes(body) {
        COUNTS.lock().insert(from, sent);
    }
}

/// Returns the counts of the other machines that there are or were, by their numbers in messages. A
/// lost machine has none.
pub fn of_others() -> Vec<(u32, Option<Counts>)> {
    let empty = stats::own();
    let counts = COUNTS.lock();
    let machines = vms::created();
    let of = |machine: &u32| (machine + 1, counts.get(machine).map(|it| it.opened(&empty)));
    machines.iter().map(of).collect()
}

impl Sent {
    /// Returns the counts. Distributions have the bounds of those of `like`.
    fn opened(&self, like: &Counts) -> Counts {
        let mut histograms = like.histograms.clone();
        if let Some(histograms) = &mut histograms {
            histograms.ready_to_run_ns.reset();
            histograms.turn_ns.reset();
            for (value, count) in &self.ready_to_run_ns {
                histograms
                    .ready_to_run_ns
                    .saturating_record_n(*value, *count);
            }
            for (value, count) in &self.turn_ns {
                histograms.turn_ns.saturating_record_n(*value, *count);
            }
        }
        Counts {
            counters: self.counters.clone(),
            histograms,
        }
    }
}
