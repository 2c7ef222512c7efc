//! How a session ends.

use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use antiphon_panda::{Error, Message, Session};

use super::{LIMIT, Make, pair};

/// Sends a message when it is dropped.
struct Witness(mpsc::Sender<()>);

impl Drop for Witness {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

fn witness() -> (Arc<Witness>, mpsc::Receiver<()>) {
    let (sender, receiver) = mpsc::channel();
    (Arc::new(Witness(sender)), receiver)
}

/// Checks that the second process learns that the first has ended its session.
fn hears_of_the_end(other: &Session) {
    let lost = other.port("own").receive(Some(0), None).unwrap_err();
    assert!(matches!(lost, Error::Lost { rank: 0, .. }), "{lost}");
}

/// Upcalls hold their port, group, communicator and session weakly. They drop with the last handle
/// outside of them, and peers learn of the end.
pub fn upcalls_do_not_keep_their_session(make: Make) {
    let (session, other) = pair(make);
    let (witness, is_dropped) = witness();
    let port = session.port("own");
    let (own, kept, communicator) = (
        port.clone(),
        witness.clone(),
        session.communicator(&[0]).unwrap(),
    );
    port.on_message(move |arrived| {
        let _ = (&kept, &communicator);
        own.send(arrived.from, 0, arrived.payload).unwrap();
    })
    .unwrap();
    let (weak, kept) = (session.downgrade(), witness.clone());
    session
        .serve("rank", move |call| {
            let rank = weak.upgrade().map(|session| session.rank()).ok();
            let _ = &kept;
            call.reply.send(Message::of(&rank).unwrap());
        })
        .unwrap();
    let (group_of_upcall, late_group) = mpsc::channel::<antiphon_panda::Group>();
    let group = session
        .join_group("own", move |_| drop((late_group.try_recv(), &witness)))
        .unwrap();
    group_of_upcall.send(group.clone()).unwrap();
    other.port("own").send(0, 0, Message::new()).unwrap();
    other.port("own").receive(Some(0), None).unwrap();
    let rank = other.call(0, "rank", Message::new(), None).unwrap();
    assert_eq!(rank.value::<Option<u32>>().unwrap(), Some(0));

    drop(session);
    is_dropped.recv_timeout(LIMIT).expect("upcalls are dropped");
    hears_of_the_end(&other);
    assert!(matches!(port.send(1, 0, Message::new()), Err(Error::Over)));
    assert!(matches!(group.send(Message::new()), Err(Error::Over)));
}

/// A second join is refused while the first membership lasts, and succeeds after that.
pub fn a_group_is_joined_once_at_a_time(make: Make) {
    let sessions = make(2);
    let own = sessions[0].join_group("once", |_| ()).unwrap();
    let again = sessions[0].join_group("once", |_| ()).err();
    assert!(matches!(again, Some(Error::AlreadyMember(name)) if name == "once"));
    let other = sessions[1].join_group("once", |_| ()).unwrap();
    own.leave().unwrap();
    let own = sessions[0].join_group("once", |_| ()).unwrap();
    own.send(Message::new()).unwrap();
    other.leave().unwrap();
}

/// A clone that an upcall keeps is dropped by `end`.
pub fn an_upcall_that_keeps_its_session_is_dropped_at_its_end(make: Make) {
    let (session, other) = pair(make);
    let (witness, is_dropped) = witness();
    let kept = session.clone();
    session
        .port("own")
        .on_message(move |_| {
            let _ = (&kept, &witness);
        })
        .unwrap();
    session.end();
    is_dropped.recv_timeout(LIMIT).expect("upcalls are dropped");
    hears_of_the_end(&other);
}

/// A thread that waits at a port gets an error when the session ends in another thread.
pub fn a_wait_at_a_port_ends_with_its_session(make: Make) {
    let (session, other) = pair(make);
    let port = session.port("own");
    let waiter = thread::spawn(move || port.receive(None, None).map(drop));
    drop(session);
    let outcome = waiter.join().unwrap();
    assert!(matches!(outcome, Err(Error::Over)), "{outcome:?}");
    hears_of_the_end(&other);
}

/// An upcall may drop the last handle, also where it runs on a thread that waits at a port.
pub fn an_upcall_may_end_its_session(make: Make) {
    let (session, other) = pair(make);
    let port = session.port("own");
    let last = Arc::new(Mutex::new(None));
    let held = last.clone();
    let end = session.port("end");
    end.on_message(move |_| drop(held.lock().unwrap().take()))
        .unwrap();
    *last.lock().unwrap() = Some(session);
    other.port("end").send(0, 0, Message::new()).unwrap();
    let outcome = port.receive(None, None).map(drop);
    assert!(matches!(outcome, Err(Error::Over)), "{outcome:?}");
    hears_of_the_end(&other);
}

/// The last handle may be held by an upcall that still runs when the session ends.
pub fn an_upcall_may_outlast_the_end_of_its_session(make: Make) {
    let (session, other) = pair(make);
    let (begins, begun) = mpsc::channel();
    let (go_on, goes_on) = mpsc::channel::<()>();
    let kept = session.clone();
    let slow = session.port("slow");
    slow.on_message(move |_| {
        let _ = &kept;
        begins.send(()).unwrap();
        goes_on.recv_timeout(LIMIT).unwrap();
    })
    .unwrap();
    let port = session.port("own");
    let waiter = thread::spawn(move || port.receive(None, None).map(drop));
    other.port("slow").send(0, 0, Message::new()).unwrap();
    begun.recv_timeout(LIMIT).unwrap();
    session.end();
    go_on.send(()).unwrap();
    let outcome = waiter.join().unwrap();
    assert!(matches!(outcome, Err(Error::Over)), "{outcome:?}");
    hears_of_the_end(&other);
}
