//! Names of ports, services and groups. They go between processes as numbers, the same everywhere; two names of one process that have the same number are told apart by nobody,
//! so the second one is refused.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::error::{Named, SameNumber};

/// A name as a number, the same at all processes: FNV-1a (Fowler, Noll and Vo).
pub fn number_of(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// The names that this process uses, kept as long as its session.
#[derive(Debug, Default)]
pub struct Names(Mutex<HashMap<(Named, u64), Arc<str>>>);

impl Names {
    /// The name of a number, for reports.
    pub fn name(&self, what: Named, number: u64) -> String {
        let names = self.0.lock();
        let name = names.get(&(what, number));
        name.map_or_else(|| format!("{number:x}"), |name| format!("{name:?}"))
    }

    /// A name's number.
    ///
    /// # Errors
    /// Another name that is used for the same has it.
    pub fn number(&self, what: Named, name: &str) -> Result<u64, SameNumber> {
        let number = number_of(name);
        match self.0.lock().entry((what, number)) {
            Entry::Vacant(entry) => drop(entry.insert(name.into())),
            Entry::Occupied(entry) if **entry.get() == *name => {}
            Entry::Occupied(entry) => {
                return Err(SameNumber {
                    what,
                    name: name.into(),
                    other: entry.get().clone(),
                });
            }
        }
        Ok(number)
    }
}
