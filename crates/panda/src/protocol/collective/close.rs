//! The end of a list: its operations and all later ones fail. A list that was closed is not used again.

use super::{Collectives, Key, Outcome};
use crate::protocol::requests::Failure;

impl Collectives {
    /// Ends the operations on a list, and tells the others in their trees; those that this process may still begin, if it `may_begin` any, fail at once.
    pub fn close(&mut self, list: u64, failure: &Failure, may_begin: bool, out: &mut Outcome) {
        let all = Key { list, number: 0 }..=Key {
            list,
            number: u64::MAX,
        };
        let trees = self.active.range(all.clone()).map(|(key, _)| *key);
        let exchanges = self.exchanges.range(all).map(|(key, _)| *key);
        let keys: Vec<Key> = trees.chain(exchanges).collect();
        let next = self.begun.get(&list).map_or(1, |begun| begun + 1);
        self.early.close(list, next, failure, may_begin);
        for key in keys {
            self.fail(key, failure, None, out);
        }
    }
}
