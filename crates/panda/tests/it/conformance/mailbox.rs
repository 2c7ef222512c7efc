//! A mailbox in which upcalls leave values for a waiting thread, an OS thread or a fiber.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use antiphon_panda::thread::{Condition, Mutex};

/// Returns both ends of a new mailbox.
pub fn mailbox<V>() -> (Sender<V>, Receiver<V>) {
    let shared = Arc::new(Shared {
        letters: Mutex::new(VecDeque::new()),
        has_come: Condition::new(),
    });
    (Sender(shared.clone()), Receiver(shared))
}

struct Shared<V> {
    letters: Mutex<VecDeque<V>>,
    has_come: Condition,
}

/// The end where upcalls leave values.
pub struct Sender<V>(Arc<Shared<V>>);

impl<V> Clone for Sender<V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<V> Sender<V> {
    pub fn send(&self, letter: V) {
        self.0.letters.lock().push_back(letter);
        self.0.has_come.signal();
    }
}

/// The end where one thread takes values.
pub struct Receiver<V>(Arc<Shared<V>>);

impl<V> Receiver<V> {
    /// Returns the first value, or `None` if there is none within `time`.
    pub fn receive_within(&self, time: Duration) -> Option<V> {
        let mut letters = self.0.letters.lock();
        while letters.is_empty() {
            if !self.0.has_come.wait_for(&mut letters, time) {
                break;
            }
        }
        letters.pop_front()
    }
}
