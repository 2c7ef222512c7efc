//! Who waits for whom: senders that are faster than receivers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use antiphon_panda::{Message, Session};

use super::Make;

/// Two sessions of this process.
fn pair(make: Make) -> (Session, Session) {
    let mut sessions = make(2);
    let second = sessions.remove(1);
    (sessions.remove(0), second)
}

/// A synchronous send returns after the upcall that took its message has, or when the message can be received without waiting.
pub fn a_synchronous_send_returns_when_its_message_was_taken(make: Make) {
    const COUNT: u32 = 100;
    let (sender, receiver) = pair(make);
    let taken = Arc::new(AtomicU32::new(0));
    for session in [&sender, &receiver] {
        let taken = taken.clone();
        session.port("taken").on_message(move |_| {
            // A receipt that did not wait for this would be there first.
            thread::sleep(Duration::from_micros(500));
            taken.fetch_add(1, Ordering::SeqCst);
        });
    }
    // To the other, and to itself.
    for number in 0..COUNT {
        let port = sender.port("taken");
        port.send_synchronously(1 - number % 2, 0, Message::new())
            .unwrap();
        assert_eq!(taken.load(Ordering::SeqCst), number + 1);
    }
    let port = sender.port("kept");
    port.send_synchronously(1, 5, Message::new()).unwrap();
    assert!(receiver.port("kept").poll(Some(0), Some(5)).is_some());
}
