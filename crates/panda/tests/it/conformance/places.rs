//! Places in the order of a group: the result of a send, the events of every member, and waits for
//! a place.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use antiphon_panda::thread::{self, Mutex};
use antiphon_panda::{Error, GroupEvent, Message, Session};

use super::{Make, run};

/// The events that a member's upcall has seen: by place, the message's number, or 0 for a view.
type Seen = Arc<Mutex<BTreeMap<u64, u32>>>;

/// Returns an upcall that records its events.
fn noted(seen: &Seen) -> impl FnMut(GroupEvent) + Send + 'static {
    let seen = seen.clone();
    move |event| {
        let number = match &event {
            GroupEvent::Message { payload, .. } => payload.value().unwrap(),
            _ => 0,
        };
        if let Some(place) = event.place() {
            let mut seen = seen.lock();
            let last = seen.last_key_value().map(|(last, _)| *last);
            assert!(last.is_none_or(|last| place == last + 1), "{place}");
            seen.insert(place, number);
        }
    }
}

/// A send returns the message's place. By then the sender has delivered it, and every member
/// delivers it at this place.
pub fn sends_return_their_places(make: Make) {
    const EACH: u32 = 100;
    let reported = run(make, 3, |session| {
        let seen: Seen = Arc::new(Mutex::new(BTreeMap::new()));
        let group = session.join_group("places", noted(&seen)).unwrap();
        let all = session.everyone().unwrap();
        all.barrier().unwrap();
        let numbers = (1..=EACH).map(|number| session.rank() * 1000 + number);
        let sent: Vec<(u64, u32)> = numbers
            .map(|number| {
                let message = Message::of(&number).unwrap();
                if number % 10 == 3 {
                    group.send(message.clone()).unwrap();
                }
                let place = group.send_synchronously(message).unwrap();
                assert!(group.delivered() >= place);
                assert_eq!(seen.lock().get(&place), Some(&number));
                (place, number)
            })
            .collect();
        assert!(sent.is_sorted_by(|one, next| one.0 < next.0));
        all.barrier().unwrap();
        let last = all.all_reduce(&group.delivered(), u64::max).unwrap();
        assert!(group.wait_for(last, None).unwrap());
        all.barrier().unwrap();
        group.leave().unwrap();
        all.barrier().unwrap();
        let seen: Vec<(u64, u32)> = seen.lock().clone().into_iter().collect();
        (sent, seen)
    });
    let whole: BTreeMap<u64, u32> = (reported.iter())
        .flat_map(|(_, seen)| seen.iter().copied())
        .collect();
    for (sent, seen) in &reported {
        let messages = seen.iter().filter(|(_, number)| *number > 0).count();
        assert_eq!(messages as u32, 3 * (EACH + EACH / 10));
        for (place, number) in sent.iter().chain(seen) {
            assert_eq!(whole.get(place), Some(number), "place {place}");
        }
    }
}

/// A process waits for a place that another process names. Then it has seen all that the other had
/// seen. A run-time of shared objects needs this for a write to a replica, followed by a request to
/// another process.
pub fn a_place_named_by_another_is_waited_for(make: Make) {
    const ROUNDS: u32 = 60;
    run(make, 3, |session| {
        let copy = Arc::new(AtomicU64::new(0));
        let own = copy.clone();
        let follow = move |event| {
            if let GroupEvent::Message { payload, .. } = event {
                own.store(payload.value().unwrap(), SeqCst);
            }
        };
        let group = session.join_group("replica", follow).unwrap();
        let all = session.everyone().unwrap();
        all.barrier().unwrap();
        let port = session.port("turn");
        let next = (session.rank() + 1) % 3;
        for round in 0..u64::from(ROUNDS) {
            if round > 0 || session.rank() > 0 {
                let reported = port.receive(None, None).unwrap();
                let (place, written): (u64, u64) = reported.payload.value().unwrap();
                assert!(group.wait_for(place, None).unwrap());
                assert_eq!(copy.load(SeqCst), written);
            }
            let write = round * 3 + u64::from(session.rank()) + 1;
            let place = group
                .send_synchronously(Message::of(&write).unwrap())
                .unwrap();
            assert_eq!(copy.load(SeqCst), write);
            port.send(next, 0, Message::of(&(place, write)).unwrap())
                .unwrap();
        }
        all.barrier().unwrap();
    });
}

/// A wait for a place that the group has not reached ends with its timeout, or with the membership.
pub fn waits_for_a_place_end(make: Make) {
    run(make, 2, |session: Session| {
        let group = session.join_group("ending", drop).unwrap();
        let all = session.everyone().unwrap();
        all.barrier().unwrap();
        let far = group.delivered() + 1000;
        let soon = thread::now() + Duration::from_millis(20);
        assert!(!group.wait_for(far, Some(soon)).unwrap());
        assert!(group.wait_for(group.delivered(), Some(soon)).unwrap());
        let waiting = group.clone();
        let waiter = thread::spawn(move || waiting.wait_for(far, None)).unwrap();
        let last = group.send_synchronously(Message::new()).unwrap();
        group.clone().leave().unwrap();
        let outcome = waiter.join().unwrap();
        assert!(matches!(outcome, Err(Error::NotMember(_))), "{outcome:?}");
        // Delivered places stay delivered after the leave. No more can be sent.
        assert!(group.delivered() >= last && group.wait_for(last, None).unwrap());
        let sent = group.send_synchronously(Message::new());
        assert!(matches!(sent, Err(Error::NotMember(_))), "{sent:?}");
        // A wait of this membership does not last into the next one.
        let again = session.join_group("ending", drop).unwrap();
        let outcome = group.wait_for(far, None);
        assert!(matches!(outcome, Err(Error::NotMember(_))), "{outcome:?}");
        assert!(again.delivered() > last);
        all.barrier().unwrap();
    });
}
