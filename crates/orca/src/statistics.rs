//! The run-time's decisions about objects, and their reasons.

use std::sync::atomic::Ordering;

use crate::entry::{Entry, ObjectId};
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
