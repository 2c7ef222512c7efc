//! The unread messages of one port: kept in the order of their arrival, found by sender and tag.
//!
//! Most ports hold few of them. They lie in a queue, and a search looks at each in turn. A search
//! that would look deeper than [`SHALLOW`] moves them into trees, where it takes O(log n):
//!
//! ```text
//!   few    3 7 8 9                      a queue of numbered messages, searched from the front
//!
//!   many   messages   3  7  8  9        by number, which is the order of arrival
//!          by tag     1:7 1:9 5:3 5:8   the first 5 is message 3
//! ```
//!
//! A tree of tags, of senders or of both is made by the first search that needs it, and kept from
//! then on. When few messages are left they move back into a queue. An entry of a tree takes 16 to
//! 32 bytes, which is not counted as memory that the sender uses.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::platform::Rank;
use crate::session::Arrived;

/// Number of messages that a search looks at before it uses the trees.
pub const SHALLOW: usize = 32;

/// A message with its number. Numbers grow in the order of arrival.
pub struct Numbered {
    number: u64,
    arrived: Arrived,
}

/// The unread messages of a port.
pub struct Unread(Store);

enum Store {
    Few(VecDeque<Numbered>),
    Many(Box<Indexed>),
}

/// Messages by number, and their numbers by what searches ask for.
#[derive(Default)]
struct Indexed {
    messages: BTreeMap<u64, Arrived>,
    by_sender: Index<Rank>,
    by_tag: Index<u32>,
    by_both: Index<(Rank, u32)>,
}

/// Pairs of a key and the number of a message that has it; `None` until a search needs them.
struct Index<K>(Option<BTreeSet<(K, u64)>>);

impl<K> Default for Index<K> {
    fn default() -> Self {
        Self(None)
    }
}

impl<K: Copy + Ord> Index<K> {
    /// Returns the first message that has a key.
    fn first(
        &mut self,
        key: K,
        messages: &BTreeMap<u64, Arrived>,
        key_of: impl Fn(&Arrived) -> K,
    ) -> Option<u64> {
        let pair = |(number, arrived): (&u64, &Arrived)| (key_of(arrived), *number);
        let pairs = (self.0).get_or_insert_with(|| messages.iter().map(pair).collect());
        let (found, number) = *pairs.range((key, 0)..).next()?;
        (found == key).then_some(number)
    }

    fn insert(&mut self, key: K, number: u64) {
        self.0.as_mut().map(|pairs| pairs.insert((key, number)));
    }

    fn remove(&mut self, key: K, number: u64) {
        self.0.as_mut().map(|pairs| pairs.remove(&(key, number)));
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.0.as_ref().map_or(0, BTreeSet::len)
    }
}

impl Indexed {
    fn first(&mut self, from: Option<Rank>, tag: Option<u32>) -> Option<u64> {
        let messages = &self.messages;
        match (from, tag) {
            (None, None) => messages.first_key_value().map(|(number, _)| *number),
            (Some(from), None) => self.by_sender.first(from, messages, |it| it.from),
            (None, Some(tag)) => self.by_tag.first(tag, messages, |it| it.tag),
            (Some(from), Some(tag)) => {
                let key = (from, tag);
                self.by_both.first(key, messages, |it| (it.from, it.tag))
            }
        }
    }

    fn insert(&mut self, number: u64, arrived: Arrived) {
        let (from, tag) = (arrived.from, arrived.tag);
        self.by_sender.insert(from, number);
        self.by_tag.insert(tag, number);
        self.by_both.insert((from, tag), number);
        self.messages.insert(number, arrived);
    }

    fn remove(&mut self, number: u64) -> Option<Arrived> {
        let arrived = self.messages.remove(&number)?;
        let (from, tag) = (arrived.from, arrived.tag);
        self.by_sender.remove(from, number);
        self.by_tag.remove(tag, number);
        self.by_both.remove((from, tag), number);
        Some(arrived)
    }
}

fn queue_of(messages: BTreeMap<u64, Arrived>) -> VecDeque<Numbered> {
    let numbered = |(number, arrived)| Numbered { number, arrived };
    messages.into_iter().map(numbered).collect()
}

impl Default for Unread {
    fn default() -> Self {
        Self(Store::Few(VecDeque::new()))
    }
}

impl Unread {
    pub fn len(&self) -> usize {
        match &self.0 {
            Store::Few(queue) => queue.len(),
            Store::Many(indexed) => indexed.messages.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of entries in the trees that searches need.
    #[cfg(test)]
    fn entries(&self) -> usize {
        match &self.0 {
            Store::Few(_) => 0,
            Store::Many(indexed) => {
                indexed.by_sender.len() + indexed.by_tag.len() + indexed.by_both.len()
            }
        }
    }

    /// Returns the messages that a queue has room for.
    #[cfg(test)]
    pub fn capacity(&self) -> usize {
        match &self.0 {
            Store::Few(queue) => queue.capacity(),
            Store::Many(_) => 0,
        }
    }

    /// Keeps a message. Its number is greater than all before.
    pub fn push(&mut self, number: u64, arrived: Arrived) {
        match &mut self.0 {
            Store::Few(queue) => queue.push_back(Numbered { number, arrived }),
            Store::Many(indexed) => indexed.insert(number, arrived),
        }
    }

    /// Takes the first message of a sender and with a tag, or of any.
    pub fn take(&mut self, from: Option<Rank>, tag: Option<u32>) -> Option<Arrived> {
        // Mostly the first one fits.
        if let Store::Few(queue) = &mut self.0
            && queue.front().is_some_and(|it| it.arrived.fits(from, tag))
        {
            return queue.pop_front().map(|it| it.arrived);
        }
        let number = self.find(from, tag)?;
        self.remove(number)
    }

    /// Returns the number of the first message of a sender and with a tag, or of any.
    pub fn find(&mut self, from: Option<Rank>, tag: Option<u32>) -> Option<u64> {
        if let Store::Few(queue) = &self.0 {
            let fits = |it: &&Numbered| {
                #[cfg(test)]
                tests::LOOKS.set(tests::LOOKS.get() + 1);
                it.arrived.fits(from, tag)
            };
            let found = queue.iter().take(SHALLOW).find(fits);
            if found.is_some() || queue.len() <= SHALLOW {
                return found.map(|it| it.number);
            }
        }
        self.index().first(from, tag)
    }

    /// Returns the message of a number, if nobody has taken it.
    pub fn get(&self, number: u64) -> Option<&Arrived> {
        let (first, arrived) = self.next(number)?;
        (first == number).then_some(arrived)
    }

    /// Returns the first message from a number on, with its own number.
    pub fn next(&self, number: u64) -> Option<(u64, &Arrived)> {
        match &self.0 {
            Store::Few(queue) => {
                let at = queue.partition_point(|it| it.number < number);
                queue.get(at).map(|it| (it.number, &it.arrived))
            }
            Store::Many(indexed) => {
                let (number, arrived) = indexed.messages.range(number..).next()?;
                Some((*number, arrived))
            }
        }
    }

    /// Takes the message of a number, if nobody has.
    pub fn remove(&mut self, number: u64) -> Option<Arrived> {
        if let Store::Few(queue) = &mut self.0 {
            let at = (queue.binary_search_by_key(&number, |it| it.number)).ok()?;
            // The messages before it, or those behind, move: there are few.
            if at.min(queue.len() - 1 - at) <= SHALLOW {
                return queue.remove(at).map(|it| it.arrived);
            }
        }
        let indexed = self.index();
        let removed = indexed.remove(number);
        // Half of the limit, so that messages do not move to and fro when one comes and one goes.
        if indexed.messages.len() <= SHALLOW / 2 {
            let messages = std::mem::take(&mut indexed.messages);
            self.0 = Store::Few(queue_of(messages));
        }
        removed
    }

    /// Takes the messages of a sender.
    pub fn remove_from(&mut self, from: Rank) -> Vec<Arrived> {
        let queue = std::mem::take(self).into_queue().into_iter();
        let (its, others): (VecDeque<_>, _) = queue.partition(|it| it.arrived.from == from);
        self.0 = Store::Few(others);
        its.into_iter().map(|it| it.arrived).collect()
    }

    /// Hands over the messages in the order of their arrival.
    pub fn into_messages(self) -> impl Iterator<Item = Arrived> {
        self.into_queue().into_iter().map(|it| it.arrived)
    }

    fn into_queue(self) -> VecDeque<Numbered> {
        match self.0 {
            Store::Few(queue) => queue,
            Store::Many(indexed) => queue_of(indexed.messages),
        }
    }

    /// Iterates over the messages in the order of their arrival.
    pub fn iter(&self) -> impl Iterator<Item = &Arrived> {
        let (few, many) = match &self.0 {
            Store::Few(queue) => (Some(queue), None),
            Store::Many(indexed) => (None, Some(&indexed.messages)),
        };
        let few = few.into_iter().flatten().map(|it| &it.arrived);
        few.chain(many.into_iter().flat_map(BTreeMap::values))
    }

    /// Moves the messages into trees, unless they are there.
    fn index(&mut self) -> &mut Indexed {
        if let Store::Few(queue) = &mut self.0 {
            let messages = std::mem::take(queue).into_iter();
            let indexed = Indexed {
                messages: messages.map(|it| (it.number, it.arrived)).collect(),
                ..Indexed::default()
            };
            self.0 = Store::Many(Box::new(indexed));
        }
        match &mut self.0 {
            Store::Many(indexed) => indexed,
            Store::Few(_) => unreachable!("they were moved"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::*;

    thread_local! {
        /// Number of messages that searches have looked at one by one.
        pub static LOOKS: Cell<usize> = const { Cell::new(0) };
    }

    fn message(from: Rank, tag: u32, length: usize) -> Arrived {
        Arrived {
            from,
            tag,
            payload: vec![0; length].into(),
        }
    }

    /// A step of a program on the messages of a port.
    #[derive(Debug, Clone)]
    enum Step {
        Push(Rank, u32, usize),
        Take(Option<Rank>, Option<u32>),
        Find(Option<Rank>, Option<u32>),
        /// Takes the first message whose payload is no shorter, as a predicate would.
        TakeLong(usize),
        RemoveFrom(Rank),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let from = || proptest::option::of(0..3_u32);
        let tag = || proptest::option::of(0..4_u32);
        let push = |most| {
            let one = (0..3_u32, 0..4_u32, 0..9_usize);
            let one = one.prop_map(|(from, tag, length)| Step::Push(from, tag, length));
            proptest::collection::vec(one, 1..most)
        };
        let other = prop_oneof![
            12 => (from(), tag()).prop_map(|(from, tag)| Step::Take(from, tag)),
            6 => (from(), tag()).prop_map(|(from, tag)| Step::Find(from, tag)),
            3 => (0..10_usize).prop_map(Step::TakeLong),
            1 => (0..3_u32).prop_map(Step::RemoveFrom),
        ];
        let others = proptest::collection::vec(other, 1..60);
        // From few messages to many and back, several times.
        let rounds = prop_oneof![push(100), push(8), others];
        proptest::collection::vec(rounds, 1..24).prop_map(|rounds| rounds.concat())
    }

    /// A model: the same messages in a list that is searched from the front.
    #[derive(Default)]
    struct Walked(Vec<(u64, Arrived)>);

    impl Walked {
        fn position(&self, fits: impl Fn(&Arrived) -> bool) -> Option<usize> {
            self.0.iter().position(|(_, arrived)| fits(arrived))
        }

        fn take(&mut self, fits: impl Fn(&Arrived) -> bool) -> Option<u64> {
            let at = self.position(fits)?;
            Some(self.0.remove(at).0)
        }
    }

    /// The numbers of messages, which the tests also put into their tags.
    fn numbers(unread: &Unread) -> Vec<u64> {
        let mut numbers = Vec::new();
        while let Some((number, _)) = unread.next(numbers.last().map_or(0, |last| last + 1)) {
            numbers.push(number);
        }
        numbers
    }

    fn known(arrived: &Arrived) -> (Rank, u32, usize) {
        (arrived.from, arrived.tag, arrived.payload.len())
    }

    proptest! {
        #[test]
        fn searches_find_what_a_walk_finds(steps in steps()) {
            let (mut unread, mut walked) = (Unread::default(), Walked::default());
            for (number, step) in (1..).zip(steps) {
                match step {
                    Step::Push(from, tag, length) => {
                        unread.push(number, message(from, tag, length));
                        walked.0.push((number, message(from, tag, length)));
                    }
                    Step::Take(from, tag) => {
                        let expected = walked.position(|it| it.fits(from, tag));
                        let expected = expected.map(|at| walked.0.remove(at).1);
                        let taken = unread.take(from, tag);
                        let same = (taken.as_ref().map(known), expected.as_ref().map(known));
                        prop_assert_eq!(same.0, same.1);
                    }
                    Step::Find(from, tag) => {
                        let at = walked.position(|it| it.fits(from, tag));
                        let expected = at.map(|at| walked.0[at].0);
                        let found = unread.find(from, tag);
                        prop_assert_eq!(found, expected);
                        let of = found.and_then(|number| unread.get(number)).map(known);
                        prop_assert_eq!(of, at.map(|at| known(&walked.0[at].1)));
                    }
                    Step::TakeLong(length) => {
                        let is_long = |it: &Arrived| it.payload.len() >= length;
                        let mut from = 0;
                        let found = loop {
                            match unread.next(from) {
                                Some((number, arrived)) if is_long(arrived) => break Some(number),
                                Some((number, _)) => from = number + 1,
                                None => break None,
                            }
                        };
                        prop_assert_eq!(found, walked.take(is_long));
                        if let Some(number) = found {
                            prop_assert!(unread.remove(number).is_some());
                            prop_assert!(unread.remove(number).is_none(), "it was taken");
                            prop_assert!(unread.get(number).is_none());
                        }
                    }
                    Step::RemoveFrom(from) => {
                        let before = walked.0.len();
                        walked.0.retain(|(_, arrived)| arrived.from != from);
                        let removed = unread.remove_from(from);
                        prop_assert_eq!(removed.len(), before - walked.0.len());
                        prop_assert!(removed.iter().all(|it| it.from == from));
                    }
                }
                prop_assert_eq!(unread.len(), walked.0.len());
                let expected: Vec<u64> = walked.0.iter().map(|(number, _)| *number).collect();
                prop_assert_eq!(numbers(&unread), expected);
                let all = unread.iter().map(known);
                prop_assert!(all.eq(walked.0.iter().map(|(_, arrived)| known(arrived))));
                let most = 3 * unread.len();
                prop_assert!(unread.entries() <= most, "an entry is left of a taken message");
            }
        }
    }

    /// Takes all of many messages by searches, last arrival first. Returns how many messages the
    /// searches look at.
    fn looks_from_the_last(by: impl Fn(u32) -> (Option<Rank>, Option<u32>)) -> usize {
        const COUNT: u32 = 100_000;
        let mut unread = Unread::default();
        for number in 0..COUNT {
            unread.push(number.into(), message(number, number, 0));
        }
        LOOKS.set(0);
        for number in (0..COUNT).rev() {
            let (from, tag) = by(number);
            let taken = unread.take(from, tag).expect("it is there");
            assert_eq!((taken.from, taken.tag), (number, number));
        }
        assert!(unread.is_empty() && unread.entries() == 0);
        LOOKS.get()
    }

    #[test]
    fn few_messages_are_looked_at_whatever_lies_before() {
        let both = |number| (Some(number), Some(number));
        let by: [fn(u32) -> _; 3] = [
            |number| (None, Some(number)),
            |number| (Some(number), None),
            both,
        ];
        for by in by {
            // The first search and the last ones look one by one, when few messages are left.
            let looks = looks_from_the_last(by);
            assert!(looks <= 2 * SHALLOW * SHALLOW, "{looks} messages");
        }
    }

    #[test]
    fn a_search_that_finds_its_message_soon_makes_no_trees() {
        let mut unread = Unread::default();
        for number in 0..10_000 {
            unread.push(number, message(number as Rank % 2, 0, 0));
        }
        while unread.take(Some(1), None).is_some() && unread.len() > 5000 + SHALLOW {
            assert!(matches!(unread.0, Store::Few(_)));
            let _ = unread.take(Some(0), None);
        }
    }
}
