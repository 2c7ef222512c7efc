//! Flow control: senders that are faster than receivers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use antiphon_panda::{Error, Message};
use bytes::Bytes;

use super::{LIMIT, Make, pair};

/// A synchronous send returns once the upcall that took its message has returned, or once the
/// message can be received without waiting.
pub fn a_synchronous_send_returns_when_its_message_was_taken(make: Make) {
    const COUNT: u32 = 100;
    let (sender, receiver) = pair(make);
    let taken = Arc::new(AtomicU32::new(0));
    for session in [&sender, &receiver] {
        let taken = taken.clone();
        session
            .port("taken")
            .on_message(move |_| {
                // A receipt that did not wait for the upcall would arrive before this.
                thread::sleep(Duration::from_micros(500));
                taken.fetch_add(1, Ordering::SeqCst);
            })
            .unwrap();
    }
    // Alternates between the peer and this process.
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

const LONG: usize = 1 << 20;

/// A sender to a computing process is held until that process receives. No message is lost.
pub fn who_sends_to_one_that_does_not_ask_is_held(make: Make) {
    // The sender sends little before it learns that it is held.
    is_held(make, LONG, Duration::from_millis(2));
}

/// Messages without payload count as unread memory, too.
pub fn who_sends_empty_messages_to_one_that_does_not_ask_is_held(make: Make) {
    is_held(make, 0, Duration::ZERO);
}

fn is_held(make: Make, length: usize, pause: Duration) {
    let (sender, receiver) = pair(make);
    let port = sender.port("unread");
    let is_enough = Arc::new(AtomicBool::new(false));
    let (own, enough) = (port.clone(), is_enough.clone());
    let (done, is_done) = (sender.port("done"), receiver.port("done"));
    let flood = thread::spawn(move || {
        let mut sent = 0;
        while !enough.load(Ordering::SeqCst) {
            own.send(1, sent, vec![sent as u8; length]).unwrap();
            sent += 1;
            thread::sleep(pause);
        }
        done.send(1, sent, Message::new()).unwrap();
    });
    held(&port);
    is_enough.store(true, Ordering::SeqCst);
    // This wait is for a later message, so it releases the sender.
    let sent = is_done.receive(Some(0), None).unwrap().tag;
    let unread = receiver.port("unread");
    for number in 0..sent {
        let arrived = unread.receive(Some(0), None).unwrap();
        assert_eq!(arrived.tag, number);
        assert_eq!(arrived.payload.len(), length);
    }
    assert!(unread.poll(None, None).is_none());
    flood.join().unwrap();
}

/// A sender that cannot be held and never stops is reported lost in the end. Its earlier messages
/// are received, and memory stays within the bound.
pub fn who_leaves_too_much_unread_is_lost(make: Make) {
    const MOST: usize = 8 * LONG;
    let (sender, receiver) = pair(make);
    receiver.limit_unread(MOST);
    let flood = sender.port("flood");
    // Upcalls are never held, so this one acts like a sender that ignores flow control.
    sender
        .port("begin")
        .on_message(move |_| {
            // The session may end first.
            let mut sent = (0..64).map(|number| flood.send(1, number, vec![0; LONG]));
            let _ = sent.try_for_each(|sent| sent);
        })
        .unwrap();
    let port = receiver.port("flood");
    sender.port("begin").send(0, 0, Message::new()).unwrap();
    let began = Instant::now();
    while receiver.why_lost(0).is_none() {
        assert!(began.elapsed() < LIMIT, "it is never lost");
        thread::sleep(Duration::from_millis(1));
    }
    let mut kept = 0;
    let why = loop {
        match port.receive(None, None) {
            Ok(arrived) => assert_eq!(arrived.tag, kept),
            Err(error) => break error,
        }
        kept += 1;
    };
    assert!(kept as usize * LONG <= MOST + LONG, "{kept} were kept");
    let is_said = |error: &Error| matches!(error, Error::Lost { rank: 0, why, .. } if why.contains("port \"flood\"") && why.contains(&MOST.to_string()));
    assert!(is_said(&why), "{why}");
    // The sender still runs, but its messages are refused.
    for _ in 0..2 {
        let error = port.receive(Some(0), None).unwrap_err();
        assert!(is_said(&error), "{error}");
    }
    let later = port.receive_within(None, None, Duration::from_millis(20));
    assert!(later.is_err(), "{later:?}");
    // The sender learns of it when it waits for an answer.
    let refused = sender
        .port("flood")
        .send_synchronously(1, 0, Message::new());
    assert!(
        matches!(refused, Err(Error::Lost { rank: 1, .. })),
        "{refused:?}"
    );
}

/// Of several threads that receive from any process, one learns of a barred process; the others
/// wait for the remaining ones.
pub fn one_of_those_who_wait_is_told_who_is_not_heard_any_more(make: Make) {
    // Only now and then do several threads see the loss before one reports it, so this runs often.
    const TIMES: u32 = 8;
    (0..TIMES).for_each(|_| one_of_many_is_told(make));
}

fn one_of_many_is_told(make: Make) {
    const WAITING: u32 = 24;
    const MOST: usize = 2 * LONG;
    let mut sessions = make(3);
    let [other, receiver, sender] = [2, 1, 0].map(|at| sessions.remove(at));
    receiver.limit_unread(MOST);
    let flood = sender.port("flood");
    // As above, this upcall ignores flow control.
    (sender.port("begin"))
        .on_message(move |_| {
            let mut sent = (0..16).map(|number| flood.send(1, number, vec![0; LONG]));
            let _ = sent.try_for_each(|sent| sent);
        })
        .unwrap();
    let (ends, ended) = mpsc::channel();
    let threads: Vec<_> = (0..WAITING)
        .map(|_| {
            let (port, ends) = (receiver.port("quiet"), ends.clone());
            thread::spawn(move || ends.send(port.receive(None, None)).unwrap())
        })
        .collect();
    sender.port("begin").send(0, 0, Message::new()).unwrap();
    let reported = ended.recv_timeout(LIMIT).expect("one is told");
    assert!(
        matches!(reported, Err(Error::Lost { rank: 0, .. })),
        "{reported:?}"
    );
    for number in 1..WAITING {
        let quiet = other.port("quiet");
        quiet.send(1, number, Message::new()).unwrap();
        let arrived = ended.recv_timeout(LIMIT).expect("the others wait");
        assert_eq!(arrived.expect("for what comes").tag, number);
    }
    for thread in threads {
        thread.join().unwrap();
    }
}

/// A payload of a MiB that counts how many such bytes exist.
struct Counted {
    held: Arc<AtomicUsize>,
    bytes: Vec<u8>,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.held.fetch_sub(self.bytes.len(), Ordering::SeqCst);
    }
}

/// Upcalls send without end to a process that takes nothing, because it is in an upcall itself.
/// They keep no more than the bound. Then the receiver is lost, and the error says why.
pub fn who_takes_nothing_is_lost(make: Make) {
    const MOST: usize = 16 * LONG;
    const SENT: u32 = 128;
    let (sender, receiver) = pair(make);
    sender.limit_untaken(MOST);
    let (begins, begun) = mpsc::channel();
    let (goes_on, going_on) = mpsc::channel::<()>();
    let stuck = receiver.port("stuck");
    stuck
        .on_message(move |_| {
            begins.send(()).unwrap();
            let _ = going_on.recv_timeout(LIMIT);
        })
        .unwrap();
    sender.port("stuck").send(1, 0, Message::new()).unwrap();
    begun.recv_timeout(LIMIT).unwrap();
    let (held, most_held) = (Arc::new(AtomicUsize::new(0)), Arc::default());
    let (now_held, most): (_, Arc<AtomicUsize>) = (held.clone(), Arc::clone(&most_held));
    let (is_sent, all_sent) = mpsc::channel();
    let (flood, again) = (sender.port("flood"), sender.port("again"));
    sender
        .port("again")
        .on_message(move |arrived| {
            let held = now_held.fetch_add(LONG, Ordering::SeqCst) + LONG;
            most.fetch_max(held, Ordering::SeqCst);
            let payload = Counted {
                held: now_held.clone(),
                bytes: vec![7; LONG],
            };
            flood.send(1, 0, Bytes::from_owner(payload)).unwrap();
            match arrived.tag {
                SENT => is_sent.send(()).unwrap(),
                sent => again.send(0, sent + 1, Message::new()).unwrap(),
            }
        })
        .unwrap();
    sender.port("again").send(0, 0, Message::new()).unwrap();
    all_sent.recv_timeout(LIMIT).unwrap();
    let why = sender.why_lost(1).expect("it takes nothing");
    assert!(why.contains(&format!("{MOST} that may wait")), "{why}");
    let most_held = most_held.load(Ordering::SeqCst);
    assert!(most_held <= MOST + 2 * LONG, "{most_held} bytes were held");
    let call = sender.call(1, "none", Message::new(), None);
    assert!(matches!(call, Err(Error::Lost { rank: 1, .. })), "{call:?}");
    // The receiver still runs. It learns of the loss, or both may have started anew.
    goes_on.send(()).unwrap();
    let call = receiver.call(0, "none", Message::new(), None);
    assert!(
        matches!(
            call,
            Err(Error::Lost { rank: 0, .. } | Error::NoService { .. })
        ),
        "{call:?}"
    );
}

/// Both processes send more than flow control allows before either receives.
pub fn two_who_send_much_before_they_receive_go_on(make: Make) {
    const COUNT: u32 = 16;
    let (one, other) = pair(make);
    let threads = [one, other].map(|session| {
        thread::spawn(move || {
            let port = session.port("both");
            let peer = 1 - session.rank();
            for number in 0..COUNT {
                port.send(peer, number, vec![0; LONG]).unwrap();
            }
            session.everyone().unwrap().barrier().unwrap();
            // The last first.
            for number in (0..COUNT).rev() {
                let arrived = port.receive(Some(peer), Some(number)).unwrap();
                assert_eq!(arrived.payload.len(), LONG);
            }
            session.everyone().unwrap().barrier().unwrap();
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}

/// An upcall that sends to its own process again and again does not starve other messages.
pub fn an_upcall_that_sends_to_its_own_process_leaves_others_their_turn(make: Make) {
    let (caller, busy) = pair(make);
    let is_enough = Arc::new(AtomicBool::new(false));
    let (again, enough) = (busy.port("again"), is_enough.clone());
    let own = again.clone();
    own.on_message(move |arrived| {
        if !enough.load(Ordering::SeqCst) {
            again.send(1, 0, arrived.payload).unwrap();
        }
    })
    .unwrap();
    busy.serve("answer", |call| call.reply.send(call.payload))
        .unwrap();
    own.send(1, 0, Message::new()).unwrap();
    for _ in 0..10 {
        let answer = caller.call(1, "answer", Message::new(), Some(LIMIT));
        answer.unwrap();
    }
    // Nor does it delay the time limit of a waiting thread of its own process.
    let late = busy.port("nothing");
    let late = late.receive_within(Some(0), None, Duration::from_millis(20));
    assert!(matches!(late, Err(Error::TimedOut { .. })));
    is_enough.store(true, Ordering::SeqCst);
}

/// Messages sent just before a session ends reach a peer that is busy for a while.
pub fn what_was_sent_last_reaches_who_is_busy(make: Make) {
    const LAST: usize = 64 << 20;
    // This is longer than a process lingers without an answer, and shorter than peers may be
    // silent.
    let busy = Duration::from_millis(2200);
    let (sender, receiver) = pair(make);
    let (begins, begun) = mpsc::channel();
    let port = receiver.port("busy");
    port.on_message(move |_| {
        begins.send(()).unwrap();
        thread::sleep(busy);
    })
    .unwrap();
    sender.port("busy").send(1, 0, Message::new()).unwrap();
    begun.recv_timeout(LIMIT).unwrap();
    let last = sender.port("last");
    last.send(1, 0, vec![7; LAST]).unwrap();
    drop(sender);
    let arrived = receiver.port("last").receive(Some(0), None).unwrap();
    assert_eq!(arrived.payload.len(), LAST);
}

/// A timeout that the clock cannot represent means no timeout.
pub fn a_wait_may_be_of_any_length(make: Make) {
    let (sender, receiver) = pair(make);
    sender.port("late").send(1, 7, Message::new()).unwrap();
    let arrived = (receiver.port("late")).receive_within(Some(0), None, Duration::MAX);
    assert_eq!(arrived.unwrap().tag, 7);
}

/// Waits until a send to the second process would wait.
fn held(port: &antiphon_panda::Port) {
    let began = Instant::now();
    while port.takes_more(1) {
        assert!(began.elapsed() < LIMIT, "its sends are never held");
        thread::sleep(Duration::from_millis(1));
    }
}
