//! Values that an upcall keeps drop when the upcall is not needed any more. They drop outside of
//! the session's locks, so they may use the session.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use antiphon_panda::platform::Local;
use antiphon_panda::{Message, Session};

/// Bounds steps that would wait for ever on a fault.
const LIMIT: Duration = Duration::from_secs(20);

/// A value that an upcall keeps, and that uses the session when it drops.
struct Kept {
    session: Session,
    gone: mpsc::Sender<()>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        assert!(self.session.port("port").poll(None, None).is_none());
        self.session.serve("other", drop).unwrap();
        let port = self.session.port("other");
        port.send(0, 0, Message::new()).unwrap();
        self.gone.send(()).unwrap();
    }
}

/// Runs a part of a test in a thread, because on a fault it would wait for ever.
fn within_limit(part: impl FnOnce() + Send + 'static) {
    let (done, is_done) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        part();
        done.send(()).unwrap();
    });
    let outcome = is_done.recv_timeout(LIMIT);
    assert_ne!(
        outcome,
        Err(mpsc::RecvTimeoutError::Timeout),
        "it waits for ever"
    );
    thread.join().unwrap();
}

fn session() -> Session {
    Local::sessions(1).unwrap().remove(0)
}

/// Returns such a value, and the channel that reports its drop.
fn kept(session: &Session) -> (Kept, mpsc::Receiver<()>) {
    let (gone, is_gone) = mpsc::channel();
    let session = session.clone();
    (Kept { session, gone }, is_gone)
}

#[test]
fn an_upcall_of_a_port_that_another_replaces() {
    within_limit(|| {
        let session = session();
        let (kept, is_gone) = kept(&session);
        let port = session.port("port");
        port.on_message(move |_| drop(kept.gone.clone())).unwrap();
        port.on_message(drop).unwrap();
        is_gone.recv_timeout(LIMIT).unwrap();
    });
}

#[test]
fn a_service_that_another_replaces() {
    within_limit(|| {
        let session = session();
        let (kept, is_gone) = kept(&session);
        session
            .serve("service", move |_| drop(kept.gone.clone()))
            .unwrap();
        session.serve("service", drop).unwrap();
        is_gone.recv_timeout(LIMIT).unwrap();
    });
}

#[test]
fn a_membership_that_is_over() {
    within_limit(|| {
        let session = session();
        let (kept, is_gone) = kept(&session);
        let group = session
            .join_group("group", move |_| drop(kept.gone.clone()))
            .unwrap();
        assert!(is_gone.try_recv().is_err());
        group.leave().unwrap();
        // The session goes on, and no process joins again.
        is_gone.recv_timeout(LIMIT).unwrap();
    });
}

#[test]
fn an_upcall_with_which_a_member_would_join_twice() {
    within_limit(|| {
        let session = session();
        let _group = session.join_group("group", drop).unwrap();
        let (kept, is_gone) = kept(&session);
        let kept = Arc::new(kept);
        let twice = session.join_group("group", move |_| drop(kept.clone()));
        assert!(twice.is_err());
        is_gone.recv_timeout(LIMIT).unwrap();
    });
}
