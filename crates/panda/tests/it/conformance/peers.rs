//! Reports to a program about its peers.

use std::sync::{Arc, Mutex};

use antiphon_panda::{Message, PeerEvent, Rank, Session};

use super::{Make, run};

/// The reports that a process got, in order.
type Reported = Arc<Mutex<Vec<(Rank, PeerEvent)>>>;

fn follow(session: &Session) -> Reported {
    let reported = Reported::default();
    let upcall = reported.clone();
    let keep = move |rank, event| upcall.lock().unwrap().push((rank, event));
    session.on_peer(keep).unwrap();
    reported
}

fn wait_for(session: &Session, reported: &Reported, what: impl Fn(&[(Rank, PeerEvent)]) -> bool) {
    let is_reported = session.wait_until(|| what(&reported.lock().unwrap()), None);
    assert!(is_reported.unwrap(), "{:?}", reported.lock().unwrap());
}

fn events_of(rank: Rank, reported: &Reported) -> Vec<PeerEvent> {
    let reported = reported.lock().unwrap();
    let of = reported.iter().filter(|(of, _)| *of == rank);
    of.map(|(_, event)| event.clone()).collect()
}

pub fn all_are_told_of_all_who_join_and_leave(make: Make) {
    run(make, 4, |session| {
        let (own, reported) = (session.rank(), follow(&session));
        wait_for(&session, &reported, |reported| reported.len() == 3);
        for rank in (0..4).filter(|rank| *rank != own) {
            assert_eq!(events_of(rank, &reported), [PeerEvent::Joined]);
        }
        session.everyone().unwrap().barrier().unwrap();
        // The processes leave one after the other, the highest rank first.
        wait_for(&session, &reported, |reported| {
            let has_left = |rank| reported.contains(&(rank, PeerEvent::Left));
            (own + 1..4).all(has_left)
        });
        for rank in own + 1..4 {
            assert_eq!(
                events_of(rank, &reported),
                [PeerEvent::Joined, PeerEvent::Left]
            );
        }
    });
}

pub fn a_late_follower_is_told_who_has_left(make: Make) {
    run(make, 3, |session| {
        session.everyone().unwrap().barrier().unwrap();
        if session.rank() > 0 {
            return;
        }
        let early = follow(&session);
        wait_for(&session, &early, |reported| reported.len() == 4);
        // This upcall replaces the first one.
        let late = follow(&session);
        wait_for(&session, &late, |reported| reported.len() == 4);
        let all = [1, 2].map(|rank| [(rank, PeerEvent::Joined), (rank, PeerEvent::Left)]);
        assert_eq!(*late.lock().unwrap(), all.concat());
        assert_eq!(early.lock().unwrap().len(), 4, "it is not told any more");
    });
}

pub fn what_was_sent_is_handed_over_before_its_sender_has_left(make: Make) {
    const COUNT: usize = 200;
    run(make, 2, |session| {
        let port = session.port("last words");
        session.everyone().unwrap().barrier().unwrap();
        if session.rank() == 1 {
            for number in 0..COUNT {
                port.send(0, number as u32, Message::new()).unwrap();
            }
            return;
        }
        let heard = Arc::new(Mutex::new(0));
        let counts = heard.clone();
        let count = move |_| *counts.lock().unwrap() += 1;
        port.on_message(count).unwrap();
        let reported = Arc::new(Mutex::new(Vec::new()));
        let (upcall, before) = (reported.clone(), heard.clone());
        let note = move |_, event| {
            upcall
                .lock()
                .unwrap()
                .push((event, *before.lock().unwrap()))
        };
        session.on_peer(note).unwrap();
        let has_left = || reported.lock().unwrap().len() == 2;
        assert!(session.wait_until(has_left, None).unwrap());
        assert_eq!(reported.lock().unwrap()[1], (PeerEvent::Left, COUNT));
    });
}

/// A panic in an upcall is reported, and the session goes on. A wait in an upcall is refused.
pub fn an_upcall_that_panics_is_called_again(make: Make) {
    run(make, 2, |session| {
        session.everyone().unwrap().barrier().unwrap();
        if session.rank() == 1 {
            return;
        }
        let reported = Reported::default();
        let upcall = reported.clone();
        let follow = move |rank, event: PeerEvent| {
            upcall.lock().unwrap().push((rank, event.clone()));
            assert!(event != PeerEvent::Joined, "on purpose");
        };
        session.on_peer(follow).unwrap();
        wait_for(&session, &reported, |reported| reported.len() == 2);
        assert_eq!(
            events_of(1, &reported),
            [PeerEvent::Joined, PeerEvent::Left]
        );
    });
}
