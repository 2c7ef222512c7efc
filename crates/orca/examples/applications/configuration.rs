//! A replicated configuration store. Reads are local on every machine, changes are compared and
//! set, and watchers wait for the next version of a key.

use std::collections::BTreeMap;

use orca::{Error, On, Orca, Placement, Shared};
use serde::{Deserialize, Serialize};

use crate::jobs::Tally;

#[orca::object]
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Store {
    /// The version and the value of each key.
    entries: BTreeMap<String, (u64, u64)>,
}

impl Store {
    fn version_of(&self, key: &str) -> u64 {
        self.entries.get(key).map_or(0, |(version, _)| *version)
    }
}

#[orca::object]
impl Store {
    pub fn get(&self, key: String) -> Option<(u64, u64)> {
        self.entries.get(&key).copied()
    }

    /// Sets a value if its version is still `version`.
    pub fn set_if(&mut self, key: String, version: u64, value: u64) -> Result<u64, u64> {
        match self.version_of(&key) {
            now if now == version => {
                self.entries.insert(key, (version + 1, value));
                Ok(version + 1)
            }
            now => Err(now),
        }
    }

    /// Waits for a later version.
    #[guard(self.version_of(&key) > version)]
    pub fn watch(&self, key: String, version: u64) -> (u64, u64) {
        self.entries.get(&key).copied().unwrap_or_default()
    }
}

const KEY: &str = "limit";

pub fn sequential(changes: usize) -> u64 {
    (0..changes as u64).sum()
}

/// Adds all its numbers to the value, even if others change it meanwhile.
#[orca::process]
fn author(store: Shared<Store>, from: u64, to: u64) -> Result<(), Error> {
    for amount in from..to {
        loop {
            let (version, value) = store.get(KEY.into())?.unwrap_or_default();
            if store.set_if(KEY.into(), version, value + amount)?.is_ok() {
                break;
            }
        }
    }
    Ok(())
}

/// Checks that versions come in their order, up to the last one.
#[orca::process]
fn watcher(store: Shared<Store>, seen: Shared<Tally>, last: u64) -> Result<(), Error> {
    let (mut version, mut value) = (0, 0);
    while version < last {
        let next = store.watch(KEY.into(), version)?;
        assert!(next.0 > version && next.1 >= value, "it went back");
        (version, value) = next;
    }
    seen.add(value)
}

pub fn parallel(orca: &Orca, changes: usize) -> Result<u64, Error> {
    let store = orca.create_at(Placement::Replicated, Store::default())?;
    let seen = orca.create(Tally::default())?;
    let machines = orca.machines();
    let (parts, changes) = (machines.len() as u64, changes as u64);
    for (part, machine) in (0..).zip(&machines) {
        let on = On::Machine(*machine);
        watcher::fork(orca, on, store.clone(), seen.clone(), changes)?;
        author::fork(
            orca,
            on,
            store.clone(),
            part * changes / parts,
            (part + 1) * changes / parts,
        )?;
    }
    // All have seen the same last value.
    Ok(seen.total(parts as u32)? / parts)
}
