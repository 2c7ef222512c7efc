//! The end of a family of lists: their operations and all later ones fail. The lists are not used
//! again.

use super::{Collectives, Key, Outcome};
use crate::protocol::requests::Failure;

impl Collectives {
    /// Ends the operations on lists, and tells the neighbours in their trees. Later operations of
    /// this process, if it `may_begin` any, fail at once.
    pub fn close(&mut self, family: u64, failure: &Failure, may_begin: bool, out: &mut Outcome) {
        let at = |end| Key {
            family,
            list: end,
            number: end,
        };
        let all = at(u64::MIN)..=at(u64::MAX);
        let trees = self.active.range(all.clone()).map(|(key, _)| *key);
        let exchanges = self.exchanges.range(all).map(|(key, _)| *key);
        let keys: Vec<Key> = trees.chain(exchanges).collect();
        self.early.close(family, failure, may_begin);
        for key in keys {
            self.fail(key, failure, None, out);
        }
    }
}
