//! Counts of operations, and the run-time's decisions about objects with their reasons.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use antiphon_panda::Rank;
use serde::{Deserialize, Serialize};

use crate::entry::{Entry, ObjectId};
use crate::machine::Machine;
use crate::placement::{Location, Placement};

/// An object as one machine knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObjectStatistics {
    /// Its number, the same at all machines.
    pub object: ObjectId,
    /// Its type.
    pub object_type: String,
    /// The placement that the program asks for.
    pub wanted: Placement,
    /// The location of its copies.
    pub location: Location,
    /// The number of its moves.
    pub moved: u64,
    /// The last moves in words, with the costs that decided them.
    pub moves: Vec<String>,
    /// Reads on this machine that no other machine knows of.
    pub unreported_reads: u64,
    /// Operations that are blocked here.
    pub blocked: usize,
}

/// The operations of one machine on the objects of one type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TypeStatistics {
    /// The number of objects, which all machines know.
    pub objects: u64,
    /// Reads of a copy on this machine.
    pub local_reads: u64,
    /// Writes of objects that this machine owns.
    pub local_writes: u64,
    /// Operations that another machine executed for this one.
    pub remote_calls: u64,
    /// Writes that this machine sent to all machines, in the one order.
    pub ordered_writes: u64,
    /// Operations that blocked: those of this machine's processes, and of others at the owner.
    pub blocked: u64,
    /// Attempts on this machine to go on with blocked operations.
    pub retries: u64,
    /// Moves of the objects, which all machines know.
    pub moves: u64,
}

/// The operations of one machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MachineStatistics {
    /// The machine.
    pub machine: Rank,
    /// By type of object.
    pub types: BTreeMap<String, TypeStatistics>,
    /// The last moves of objects in words.
    pub moves: Vec<String>,
}

/// The number of moves that are kept of objects that have ended.
const MOST_MOVES: usize = 256;

/// Counts of an object on one machine. [`Entry::reads`] counts most reads.
#[derive(Debug, Default)]
pub struct Counts {
    /// Reads that other machines know of.
    pub reported_reads: AtomicU64,
    /// Reads at the owner, and reads that had to wait.
    pub other_reads: AtomicU64,
    /// Attempts to read that found no open guard.
    pub closed_reads: AtomicU64,
    pub local_writes: AtomicU64,
    pub remote_calls: AtomicU64,
    pub ordered_writes: AtomicU64,
    pub blocked: AtomicU64,
    pub retries: AtomicU64,
}

/// Adds one to a count.
pub fn count(of: &AtomicU64) {
    of.fetch_add(1, Ordering::Relaxed);
}

impl Entry {
    /// Takes the reads that no other machine knows of.
    pub fn take_reads(&self) -> u64 {
        let reads = self.reads.swap(0, Ordering::Relaxed);
        self.counts
            .reported_reads
            .fetch_add(reads, Ordering::Relaxed);
        reads
    }

    /// Adds the object's counts to those of its type.
    fn add_to(&self, all: &mut MachineStatistics) {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let counts = &self.counts;
        let reads = of(&self.reads) + of(&counts.reported_reads) + of(&counts.other_reads);
        // The thread that asks may be within an operation that failed, and hold the lock.
        let copy = self.copy.try_read();
        let sum = all.types.entry(self.object_type.name().to_owned());
        let sum = sum.or_default();
        sum.objects += 1;
        sum.local_reads += reads.saturating_sub(of(&counts.closed_reads));
        sum.local_writes += of(&counts.local_writes);
        sum.remote_calls += of(&counts.remote_calls);
        sum.ordered_writes += of(&counts.ordered_writes);
        sum.blocked += of(&counts.blocked);
        sum.retries += of(&counts.retries);
        let Some(copy) = copy else { return };
        sum.moves += copy.generation;
        let name = self.name();
        let moves = copy.moves.iter().map(|why| format!("{name} {why}"));
        all.moves.extend(moves);
    }
}

impl Machine {
    /// Keeps the counts of an object that has ended.
    pub fn remember(&self, entry: &Entry) {
        let mut past = self.past.lock();
        entry.add_to(&mut past);
        let more = past.moves.len().saturating_sub(MOST_MOVES);
        past.moves.drain(..more);
    }

    /// Returns the operations of this machine so far.
    pub fn statistics(&self) -> MachineStatistics {
        let mut all = self.past.lock().clone();
        all.machine = self.rank;
        for entry in self.all_entries() {
            entry.add_to(&mut all);
        }
        all
    }
}

impl TypeStatistics {
    /// Adds the counts of another machine.
    pub fn add(&mut self, other: &Self) {
        self.objects = self.objects.max(other.objects);
        self.moves = self.moves.max(other.moves);
        self.local_reads += other.local_reads;
        self.local_writes += other.local_writes;
        self.remote_calls += other.remote_calls;
        self.ordered_writes += other.ordered_writes;
        self.blocked += other.blocked;
        self.retries += other.retries;
    }
}

impl ObjectStatistics {
    pub(crate) fn of(entry: &Entry) -> Self {
        let copy = entry.copy.read();
        Self {
            object: entry.id,
            object_type: entry.object_type.name().to_owned(),
            wanted: copy.wanted,
            location: copy.location,
            moved: copy.generation,
            moves: copy.moves.clone(),
            unreported_reads: entry.reads.load(Ordering::Relaxed),
            blocked: copy.blocked.len(),
        }
    }
}
