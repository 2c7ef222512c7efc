//! Receiving by predicate, and looking at messages without taking them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use antiphon_panda::thread;
use antiphon_panda::{Arrived, Error, Message, Probed};

use super::{Make, run};

const MOMENT: Duration = Duration::from_millis(5);

fn number(arrived: &Arrived) -> u32 {
    arrived.payload.value().unwrap()
}

fn is_late<T>(outcome: &Result<T, Error>) -> bool {
    matches!(outcome, Err(Error::TimedOut { .. }))
}

pub fn a_predicate_chooses_among_what_lies_there_and_what_comes(make: Make) {
    const COUNT: u32 = 60;
    run(make, 3, |session| {
        let (port, all) = (session.port("predicate"), session.everyone().unwrap());
        let send = |value: u32| {
            port.send(0, value % 7, Message::of(&value).unwrap())
                .unwrap()
        };
        if session.rank() > 0 {
            // 1 and 3 and 5 … from rank 1, 2 and 4 and 6 … from rank 2.
            (0..COUNT).for_each(|at| send(2 * at + session.rank()));
            port.send_synchronously(0, 9, Message::of(&900_u32).unwrap())
                .unwrap();
        }
        all.barrier().unwrap();
        if session.rank() == 0 {
            let mut shown = Vec::new();
            let chosen = port.receive_where(|arrived| {
                shown.push((arrived.from, number(arrived)));
                number(arrived) == 2 * COUNT
            });
            assert_eq!(chosen.unwrap().from, 2);
            assert!(shown.len() as u32 >= COUNT, "what its sender sent before");
            for from in [1, 2] {
                let its = shown.iter().filter(|(sender, _)| *sender == from);
                assert!(its.is_sorted(), "in the order of arrival");
            }
            // The chosen message was taken. All others stay.
            let mut count = 0;
            let none = port.poll_where(|arrived| {
                count += 1;
                number(arrived) == 2 * COUNT
            });
            assert!(none.unwrap().is_none());
            assert_eq!(count, 2 * COUNT + 1);
            let mut shown = 0;
            let late = port.receive_where_within(
                |_| {
                    shown += 1;
                    false
                },
                MOMENT,
            );
            assert!(is_late(&late));
            assert_eq!(shown, count, "each once, however often this thread looked");
            let large = |arrived: &Arrived| number(arrived) > 100 && arrived.from == 1;
            let probed = port.peek_where(large).unwrap().expect("it is there");
            let taken = port.poll_where(large).unwrap().expect("it is there still");
            assert_eq!(
                (taken.from, taken.tag, number(&taken)),
                (1, probed.tag, 101)
            );
            assert_eq!(probed.length, taken.payload.len());
        }
        all.barrier().unwrap();
        if session.rank() == 2 {
            (1000..1010).for_each(send);
        }
        if session.rank() == 0 {
            // The predicate also sees a message that arrives while this thread waits.
            let chosen = port
                .receive_where(|arrived| number(arrived) == 1009)
                .unwrap();
            assert_eq!((chosen.from, chosen.tag), (2, 1009 % 7));
        }
        all.barrier().unwrap();
    });
}

pub fn the_last_of_many_messages_is_taken_first(make: Make) {
    const COUNT: u32 = 2000;
    run(make, 3, |session| {
        let (port, all) = (session.port("many"), session.everyone().unwrap());
        if session.rank() > 0 {
            for tag in 0..COUNT {
                port.send(0, tag, Message::of(&session.rank()).unwrap())
                    .unwrap();
            }
        } else {
            // Receives by tag, then by sender and tag, and at last by sender. In each order, other
            // messages lie in between.
            for tag in (0..COUNT).rev().step_by(2) {
                let first = port.receive(None, Some(tag)).unwrap();
                let second = port.receive(Some(3 - first.from), Some(tag)).unwrap();
                assert_eq!((first.tag, second.tag), (tag, tag));
                assert_eq!(number(&first) + number(&second), 3);
            }
            for from in [2, 1] {
                for tag in (0..COUNT).step_by(2) {
                    let arrived = port.receive(Some(from), None).unwrap();
                    assert_eq!(
                        (arrived.from, arrived.tag, number(&arrived)),
                        (from, tag, from)
                    );
                }
            }
            assert!(port.poll(None, None).is_none());
        }
        all.barrier().unwrap();
    });
}

pub fn a_probe_leaves_its_message(make: Make) {
    run(make, 3, |session| {
        let (port, all) = (session.port("probed"), session.everyone().unwrap());
        let rank = session.rank();
        if rank == 0 {
            assert_eq!(port.peek(None, None).unwrap(), None);
            assert!(is_late(&port.probe_within(None, Some(1), MOMENT)));
            assert!(is_late(&port.probe_within(Some(2), None, MOMENT)));
        }
        all.barrier().unwrap();
        if rank > 0 {
            port.send(0, rank, vec![7; 100 * rank as usize]).unwrap();
            port.send(0, 10 * rank, Message::new()).unwrap();
        } else {
            let of = |from, tag, length| Probed { from, tag, length };
            // Looks while the messages arrive, and again once they are there.
            assert_eq!(port.probe(Some(2), None).unwrap(), of(2, 2, 200));
            assert_eq!(port.probe(None, Some(20)).unwrap(), of(2, 20, 0));
            assert_eq!(port.probe(Some(1), Some(10)).unwrap(), of(1, 10, 0));
            assert_eq!(port.peek(None, Some(1)).unwrap(), Some(of(1, 1, 100)));
            let first = port.peek(None, None).unwrap().expect("four lie there");
            let taken = port.receive(None, None).unwrap();
            assert_eq!(first, of(taken.from, taken.tag, taken.payload.len()));
            assert_eq!(port.peek(Some(first.from), Some(first.tag)).unwrap(), None);
            let left = std::iter::from_fn(|| port.poll(None, None));
            assert_eq!(left.count(), 3);
        }
        all.barrier().unwrap();
    });
}

/// The predicate of each thread sees the messages that the others refuse, whichever thread drives
/// the session.
pub fn threads_choose_at_one_port(make: Make) {
    const CHOOSERS: u32 = 4;
    const COUNT: u32 = 50;
    run(make, 2, |session| {
        let (port, all) = (session.port("chosen"), session.everyone().unwrap());
        if session.rank() == 1 {
            for value in 0..CHOOSERS * COUNT {
                port.send(0, 0, Message::of(&value).unwrap()).unwrap();
            }
            all.barrier().unwrap();
            return;
        }
        let choosers: Vec<_> = (0..CHOOSERS)
            .map(|own| {
                let port = port.clone();
                let body = move || {
                    for at in 0..COUNT {
                        let is_own = |arrived: &Arrived| number(arrived) % CHOOSERS == own;
                        let chosen = port.receive_where(is_own).unwrap();
                        assert_eq!(number(&chosen), at * CHOOSERS + own);
                    }
                };
                thread::spawn(body).unwrap()
            })
            .collect();
        for chooser in choosers {
            chooser.join().expect("all get theirs, in order");
        }
        assert_eq!(port.peek(None, None).unwrap(), None);
        all.barrier().unwrap();
    });
}

pub fn a_port_with_an_upcall_is_not_searched(make: Make) {
    run(make, 2, |session| {
        let (port, all) = (session.port("taken"), session.everyone().unwrap());
        // Registering the upcall ends the wait of a waiting thread with an error.
        let waiting = port.clone();
        let waiter = thread::spawn(move || waiting.receive_where(|_| true).map(drop)).unwrap();
        thread::sleep(MOMENT);
        let came = Arc::<AtomicU32>::default();
        let upcall = came.clone();
        let counts = move |_| {
            upcall.fetch_add(1, SeqCst);
        };
        port.on_message(counts).unwrap();
        all.barrier().unwrap();
        port.send(1 - session.rank(), 0, Message::new()).unwrap();
        let refused = [
            waiter.join().expect("it does not panic"),
            port.receive_where(|_| true).map(drop),
            port.poll_where(|_| true).map(drop),
            port.probe(None, None).map(drop),
            port.peek(None, Some(1)).map(drop),
            port.peek_where(|_| true).map(drop),
        ];
        for outcome in refused {
            let Err(error @ Error::HasUpcall(_)) = outcome else {
                panic!("{outcome:?}");
            };
            let words = error.to_string();
            assert!(words.contains("port \"taken\" has an upcall"), "{words}");
        }
        assert!(session.wait_until(|| came.load(SeqCst) == 1, None).unwrap());
        all.barrier().unwrap();
    });
}

pub fn a_wait_by_predicate_ends_when_nobody_is_left(make: Make) {
    run(make, 3, |session| {
        let port = session.port("left");
        if session.rank() > 0 {
            port.send(0, 7, Message::new()).unwrap();
            return;
        }
        let mut shown = 0;
        let outcome = port.receive_where(|_| {
            shown += 1;
            false
        });
        assert!(matches!(outcome, Err(Error::Lost { .. })), "{outcome:?}");
        assert!(shown <= 2, "each once");
        for from in [1, 2] {
            let stays = port.probe(Some(from), Some(7));
            assert!(stays.is_ok(), "{stays:?}");
        }
    });
}
