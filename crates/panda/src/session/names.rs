//! Names of ports, services and groups.
//!
//! Between processes a name is a number, the same everywhere. A process cannot tell apart two names
//! with the same number, so it refuses the second one.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::error::{Named, SameNumber};

/// Returns the number of a name, the same at all processes: FNV-1a (Fowler, Noll and Vo).
pub fn number_of(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// The names that this process uses, kept as long as its session.
#[derive(Debug, Default)]
pub struct Names(Mutex<HashMap<(Named, u64), Arc<str>>>);

impl Names {
    /// Returns a name's number.
    ///
    /// # Errors
    ///
    /// Another name of the same kind has that number.
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

    /// Returns the name that has a number, if this process uses it.
    pub fn of(&self, what: Named, number: u64) -> Option<Arc<str>> {
        self.0.lock().get(&(what, number)).cloned()
    }
}
