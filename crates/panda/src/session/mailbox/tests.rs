//! Tests of the messages to others, and to the program, about a full mailbox: their order, and the
//! locks held.

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::platform::{JoinError, LaunchInfo};
use crate::protocol::requests::RequestId;
use crate::protocol::{Delivery, GroupId};
use crate::session::Multicast;
use crate::session::dispatcher::{Dispatcher, LastUpcalls};
use crate::session::engine::{Ask, Awaited, Interest, Nobody, Request};

/// Bound on steps that never take so long.
const LIMIT: Duration = Duration::from_secs(60);
const OWN: Rank = 0;
const PORT: u64 = 7;

/// An engine that does only what a test scripts.
struct Scripted<P, A> {
    post: P,
    ask: A,
}

impl<P: Fn(Rank, Envelope) + Send + Sync, A: Fn(Ask) + Send + Sync> Engine for Scripted<P, A> {
    fn post(&self, to: Rank, envelope: Envelope, _: Message) {
        (self.post)(to, envelope);
    }

    fn request(&self, _: Rank, _: Request, _: Message, _: Option<Duration>) -> RequestId {
        unreachable!("nobody asks a peer")
    }

    fn ask(&self, ask: Ask) {
        (self.ask)(ask);
    }

    fn number(&self) -> RequestId {
        unreachable!("nobody asks for a number")
    }

    fn group_is_congested(&self, _: GroupId) -> bool {
        false
    }

    fn wait(&self, _: Interest, _: &mut dyn Awaited, _: Option<Instant>) -> bool {
        unreachable!("nobody waits")
    }

    fn nudge(&self) {}

    fn is_awaited(&self) -> bool {
        false
    }

    fn poll(&self) {}

    fn clock(&self) -> Duration {
        Duration::ZERO
    }
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn allot(&self, _: u32) -> Result<Vec<LaunchInfo>, JoinError> {
        unreachable!("nobody else joins")
    }

    fn stop(&self) {}

    fn rank(&self) -> Rank {
        OWN
    }

    fn platform(&self) -> &'static str {
        "none"
    }

    fn multicast(&self) -> Multicast {
        unreachable!("nobody asks what is multicast")
    }
}

fn letter(from: Rank, length: usize) -> Delivery {
    tagged(from, 0, length)
}

fn tagged(from: Rank, tag: u32, length: usize) -> Delivery {
    Delivery::Port {
        from,
        port: PORT,
        tag,
        receipt: None,
        payload: vec![0; length].into(),
    }
}

/// Delivers something, with no upcall at hand and no waiter.
fn deliver(dispatcher: &Dispatcher, delivery: Delivery, engine: &dyn Engine) {
    dispatcher.deliver(delivery, engine, &mut Nobody, &mut LastUpcalls::default());
}

/// A process that joins is announced under the protocols' lock, which a thread that tells a sender
/// wants.
#[test]
fn who_joins_is_let_in_while_senders_are_told() {
    let dispatcher = Arc::new(Dispatcher::default());
    let (says, said) = mpsc::channel();
    let joining = dispatcher.clone();
    let engine = Scripted {
        post: move |to, envelope| {
            let Envelope::Hold { is_held, .. } = envelope else {
                return;
            };
            says.send((to, is_held)).expect("the test goes on");
            let (joins, joined) = mpsc::channel();
            let joining = joining.clone();
            thread::spawn(move || {
                joining.joined(9, "another".into());
                // No thread takes it if that was too late.
                let _ = joins.send(());
            });
            let joined = joined.recv_timeout(LIMIT);
            joined.expect("it is let in meanwhile");
        },
        ask: |_| (),
    };
    dispatcher.mailbox.limit(UNREAD_MAX + 2);
    deliver(&dispatcher, letter(3, UNREAD_MAX + 3), &engine);
    assert!(dispatcher.mailbox.is_barred(3), "somebody was barred once");
    dispatcher.mailbox.limit(usize::MAX);
    deliver(&dispatcher, letter(1, UNREAD_MAX), &engine);
    while dispatcher
        .mailbox
        .first(PORT, None, None, &engine)
        .is_some()
    {}
    deliver(&dispatcher, letter(1, UNREAD_MAX), &engine);
    dispatcher.mailbox.let_go(&engine);
    let said: Vec<_> = said.try_iter().collect();
    assert_eq!(said, [(1, true), (1, false), (1, true), (1, false)]);
}

/// A waiter that is told of news finds out what it is.
#[test]
fn there_is_news_of_a_loss_only_when_it_is_known() {
    let dispatcher = Arc::new(Dispatcher::default());
    let noted = dispatcher.clone();
    let engine = Scripted {
        post: |_, _| (),
        ask: move |ask| {
            if let Ask::GiveUp { rank, why } = ask {
                assert!(!noted.mailbox.has_news(), "nobody could say why");
                assert_eq!(noted.mailbox.take_news(), None);
                noted.lost(rank, why);
            }
        },
    };
    dispatcher.mailbox.limit(1000);
    for from in [1, 2] {
        deliver(&dispatcher, letter(from, 2000), &engine);
        assert!(dispatcher.mailbox.has_news());
        assert_eq!(dispatcher.mailbox.take_news(), Some(from));
        assert!(dispatcher.why_lost(from).is_some());
        assert_eq!(dispatcher.mailbox.take_news(), None, "it is told once");
        assert!(!dispatcher.mailbox.has_news());
    }
}

/// Senders are told to go on when enough was taken, wherever it lay.
#[test]
fn senders_go_on_when_the_last_messages_are_taken_first() {
    const PARTS: usize = 8;
    const PART: usize = UNREAD_MAX / PARTS;
    let dispatcher = Dispatcher::default();
    let (says, said) = mpsc::channel();
    let says = std::sync::Mutex::new(says);
    let post = move |_, envelope| {
        if let Envelope::Hold { is_held, .. } = envelope {
            let says = says.lock().expect("no test panics here");
            says.send(is_held).expect("the test goes on");
        }
    };
    let engine = Scripted { post, ask: |_| () };
    for round in 0..2 {
        for tag in 0..=PARTS {
            deliver(&dispatcher, tagged(1, tag as u32, PART), &engine);
        }
        assert_eq!(said.try_iter().collect::<Vec<_>>(), [true]);
        let mut left = PARTS + 1;
        while said.try_iter().next().is_none() {
            assert!(left * PART >= UNREAD_LOW, "it is not let go");
            left -= 1;
            let (tag, mut next) = (left as u32, 0);
            let taken = match round {
                0 => dispatcher.mailbox.first(PORT, None, Some(tag), &engine),
                _ => {
                    let mut accepts = |arrived: &Arrived| arrived.tag == tag;
                    (dispatcher.mailbox).first_where(PORT, &mut next, &mut accepts, &engine)
                }
            };
            assert_eq!(taken.map(|taken| taken.tag), Some(tag));
        }
        assert!(left * PART < UNREAD_LOW);
        let first = dispatcher
            .mailbox
            .peek(PORT, Some(1), None)
            .expect("others are left");
        assert_eq!((first.tag, first.length), (0, PART));
        for tag in 0..left {
            let taken = dispatcher.mailbox.first(PORT, None, None, &engine);
            assert_eq!(taken.map(|taken| taken.tag), Some(tag as u32));
        }
        assert!(dispatcher.mailbox.peek(PORT, None, None).is_none());
    }
}
