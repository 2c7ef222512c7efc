//! The upcall that ran last, kept for the next time. A lookup takes three locked instructions, all
//! between a call's arrival and its answer.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use super::Registered;

/// A count of changes to the registrations. A change counts with the table locked; a reader loads
/// the count before it locks the table.
#[derive(Debug, Default)]
pub struct Changes(AtomicU64);

impl Changes {
    pub fn one_more(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }

    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// The upcall that ran last, held by a weak reference.
pub struct Last<F> {
    number: u64,
    /// Count of changes at that time.
    changes: u64,
    upcall: Weak<Registered<F>>,
}

impl<F> Default for Last<F> {
    fn default() -> Self {
        Self {
            number: 0,
            changes: 0,
            upcall: Weak::new(),
        }
    }
}

impl<F> Last<F> {
    /// Returns the upcall of a number after so many changes, if it is this one.
    #[inline]
    pub fn get(&self, number: u64, changes: u64) -> Option<Arc<Registered<F>>> {
        let is_it = (number, changes) == (self.number, self.changes);
        is_it.then(|| self.upcall.upgrade()).flatten()
    }

    /// Keeps the upcall that was found after so many changes.
    pub fn set(&mut self, number: u64, changes: u64, found: &Arc<Registered<F>>) {
        *self = Self {
            number,
            changes,
            upcall: Arc::downgrade(found),
        };
    }
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use parking_lot::Mutex;

    use super::*;

    #[test]
    fn it_is_at_hand_for_its_number_until_something_changes_and_is_not_kept() {
        let (mut last, changes) = (Last::default(), Changes::default());
        assert!(last.get(0, changes.count()).is_none());
        let upcall = Arc::new(Registered {
            place: Location::caller(),
            call: Mutex::new(|| ()),
        });
        last.set(7, changes.count(), &upcall);
        assert!(
            last.get(7, changes.count())
                .is_some_and(|found| Arc::ptr_eq(&found, &upcall))
        );
        assert!(last.get(8, changes.count()).is_none());
        assert_eq!(Arc::strong_count(&upcall), 1);
        changes.one_more();
        assert!(last.get(7, changes.count()).is_none());
        last.set(7, changes.count(), &upcall);
        drop(upcall);
        assert!(last.get(7, changes.count()).is_none());
    }
}
