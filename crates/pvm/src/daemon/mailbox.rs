//! Mailbox entries, and tasks that wait for them.

use std::collections::BTreeMap;
use std::ffi::c_int;

use antiphon_panda::Rank;

use super::{Daemon, Reply, of};
use crate::code::Code;
use crate::protocol::{Answer, Class, Letter};
use crate::tid::Tid;

/// Flags of mailbox entries.
pub const PERSISTENT: c_int = 1;
pub const MULTI_INSTANCE: c_int = 2;
pub const OVERWRITABLE: c_int = 4;
pub const FIRST_AVAILABLE: c_int = 8;
pub const READ_AND_DELETE: c_int = 16;
pub const WAIT_FOR_INFO: c_int = 32;

/// A mailbox entry, by its index.
pub(super) struct Entry {
    pub owner: Option<Rank>,
    pub flags: c_int,
    pub letter: Letter,
}

/// A task that waits for a mailbox entry.
pub(super) struct Reader {
    pub rank: Rank,
    pub name: String,
    pub index: c_int,
    pub flags: c_int,
    pub reply: Reply,
}

impl Daemon {
    pub(super) fn put(
        &mut self,
        from: Rank,
        name: String,
        (flags, index, replaces): (c_int, Option<c_int>, bool),
        letter: Letter,
    ) -> Result<Answer, Code> {
        if name.is_empty() {
            return Err(Code::BAD_PARAM);
        }
        let entries = self.letters.entry(name.clone()).or_default();
        let free = || (0..).find(|at| !entries.contains_key(at)).unwrap_or(0);
        let index = match index {
            Some(index) => index,
            None if flags & MULTI_INSTANCE != 0 => free(),
            None => 0,
        };
        let refused = match entries.get(&index) {
            Some(entry) if entry.flags & OVERWRITABLE != 0 => None,
            Some(entry) if entry.owner == Some(from) && replaces => None,
            Some(_) => Some(Code::DENIED),
            None => None,
        };
        if let Some(code) = refused {
            return Err(code);
        }
        entries.insert(
            index,
            Entry {
                owner: Some(from),
                flags,
                letter,
            },
        );
        Ok(Answer::Number(index))
    }

    pub(super) fn get_letter(
        &mut self,
        from: Rank,
        name: &str,
        index: c_int,
        flags: c_int,
    ) -> Result<Answer, Code> {
        if index < 0 || name.is_empty() {
            return Err(Code::BAD_PARAM);
        }
        let entries = self.letters.get_mut(name).ok_or(Code::NOT_FOUND)?;
        let found = match flags & FIRST_AVAILABLE {
            0 => entries.get_key_value(&index),
            _ => entries.range(index..).next(),
        };
        let (&index, entry) = found.ok_or(Code::NOT_FOUND)?;
        let letter = entry.letter.clone();
        if flags & READ_AND_DELETE != 0 {
            self.remove(from, name, index)?;
        }
        Ok(Answer::Letter(letter))
    }

    pub(super) fn remove(&mut self, from: Rank, name: &str, index: c_int) -> Result<Answer, Code> {
        let entries = self.letters.get_mut(name).ok_or(Code::NOT_FOUND)?;
        let entry = entries.get(&index).ok_or(Code::NOT_FOUND)?;
        if entry.owner != Some(from) && entry.flags & OVERWRITABLE == 0 {
            return Err(Code::DENIED);
        }
        entries.remove(&index);
        if entries.is_empty() {
            self.letters.remove(name);
        }
        Ok(Answer::Number(index))
    }

    pub(super) fn classes(&self) -> Vec<Class> {
        let entry = |(index, entry): (&c_int, &Entry)| {
            let owner = entry.owner.map_or(Tid(0), |owner| self.tid(owner));
            (*index, owner, entry.flags)
        };
        let class = |(name, entries): (&String, &BTreeMap<c_int, Entry>)| Class {
            name: name.clone(),
            entries: entries.iter().map(entry).collect(),
        };
        self.letters.iter().map(class).collect()
    }

    /// Replies to tasks whose mailbox entry has come.
    pub(super) fn serve_readers(&mut self) {
        let mut at = 0;
        while at < self.readers.len() {
            let reader = &self.readers[at];
            let (rank, name) = (reader.rank, reader.name.clone());
            match self.get_letter(rank, &name, self.readers[at].index, self.readers[at].flags) {
                Err(Code::NOT_FOUND) => at += 1,
                answer => (self.readers.remove(at).reply)(of(answer)),
            }
        }
    }
}
