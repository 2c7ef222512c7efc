//! The messages of arrays outside of the order, and those that have come to one machine.
//!
//! Each of them is about an operation at a place of the order. The owners of an array reach the
//! place at different times, so a machine stores messages that come before that.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use antiphon_panda::Rank;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::kind::{ArrayType, Part};
use crate::entry::ObjectId;
use crate::error::Error;
use crate::remote::Refusal;

/// Parts, and the lengths of their bytes in a body.
pub type Lengths = Vec<(usize, usize)>;
/// Parts with their bytes.
pub type Encoded = Vec<(usize, Bytes)>;

/// A message about the operation at a place.
#[derive(Serialize, Deserialize)]
pub struct Parcel {
    pub object: ObjectId,
    pub place: u64,
    pub content: Content,
}

#[derive(Serialize, Deserialize)]
pub enum Content {
    /// Parts as they were before the operation. The body has their bytes.
    Parts(Lengths),
    /// Asks for such parts.
    Fetch(Vec<usize>),
    /// The sender fetches no more. After a first run it reports what it has fetched.
    Finished(Option<Vec<usize>>),
    /// Parts after the operation. The body has their bytes.
    Written(Lengths),
    /// The sender cannot execute the operation, nor later ones.
    Broken(Refusal),
    /// The sender's share of the result, for the process that waits for it under a number.
    Result(u64, Result<Lengths, Refusal>),
}

/// Returns the lengths of encoded parts, and their bytes.
pub fn lengths_of(parts: Encoded) -> (Lengths, Vec<Bytes>) {
    let lengths = parts.iter().map(|(part, bytes)| (*part, bytes.len()));
    let lengths = lengths.collect();
    (lengths, parts.into_iter().map(|(_, bytes)| bytes).collect())
}

/// Cuts a body into parts. A body that is too short gives fewer.
pub fn cut(lengths: Lengths, mut body: Bytes) -> Encoded {
    let mut parts = Vec::new();
    for (part, length) in lengths {
        if length > body.len() {
            break;
        }
        parts.push((part, body.split_to(length)));
    }
    parts
}

/// An array's parts before an operation, for machines that may still fetch them.
pub struct Version {
    pub array_type: &'static ArrayType,
    pub parts: BTreeMap<usize, Arc<Part>>,
    pub readers: BTreeSet<Rank>,
}

impl Version {
    /// Returns some of its parts, encoded.
    pub fn encoded(&self, parts: &[usize]) -> Encoded {
        let found = parts.iter().filter_map(|part| {
            let encoded = (self.array_type.codec.encode)(&**self.parts.get(part)?);
            // A part that cannot be encoded has already failed to be sent.
            Some((*part, encoded.ok()?.into()))
        });
        found.collect()
    }
}

/// The messages that have come for one array.
#[derive(Default)]
pub struct Stock {
    /// Parts of other machines, by place and number.
    pub parts: BTreeMap<(u64, usize), Bytes>,
    /// Parts as a sequential operation has written them.
    pub written: BTreeMap<u64, Encoded>,
    pub versions: BTreeMap<u64, Version>,
    /// Requests for versions that this machine does not have yet.
    pub requests: BTreeMap<u64, Vec<(Rank, Vec<usize>)>>,
    /// Machines that have finished before this one has published its version.
    pub early: BTreeMap<u64, BTreeSet<Rank>>,
    /// The parts that machines have fetched in first runs.
    pub records: BTreeMap<u64, BTreeMap<Rank, Vec<usize>>>,
    /// The place from which on the array is broken.
    pub broken: Option<(u64, Error)>,
    /// The last place that this machine has finished.
    pub done: u64,
    /// The newest parts, for an injected fault.
    pub newest: Option<Version>,
}

impl Stock {
    /// Records that a machine fetches no more at a place.
    pub fn finished(&mut self, place: u64, reader: Rank) {
        match self.versions.get_mut(&place) {
            None if place > self.done => {
                self.early.entry(place).or_default().insert(reader);
            }
            None => {}
            Some(version) => {
                version.readers.remove(&reader);
                if version.readers.is_empty() {
                    self.versions.remove(&place);
                }
            }
        }
    }

    /// Stores a version for its readers. Returns the requests for it that have come.
    pub fn publish(&mut self, place: u64, mut version: Version) -> Vec<(Rank, Encoded)> {
        for reader in self.early.remove(&place).unwrap_or_default() {
            version.readers.remove(&reader);
        }
        let requests = self.requests.remove(&place).unwrap_or_default();
        let answer = |(reader, parts): (Rank, Vec<usize>)| (reader, version.encoded(&parts));
        let answers = requests.into_iter().map(answer).collect();
        if !version.readers.is_empty() {
            self.versions.insert(place, version);
        }
        answers
    }

    /// Forgets all messages for a place and for those before it.
    pub fn end(&mut self, place: u64) {
        self.done = place;
        self.parts = self.parts.split_off(&(place + 1, 0));
        self.written = self.written.split_off(&(place + 1));
        self.records = self.records.split_off(&(place + 1));
    }
}
