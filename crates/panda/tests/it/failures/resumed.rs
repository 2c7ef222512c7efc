//! A process is stopped for longer than peers may be silent, and goes on. A receiver from any
//! process hears it again.

use std::io::stdin;
use std::thread;
use std::time::{Duration, Instant};

use antiphon_panda::platform::Rank;
use antiphon_panda::{Error, Message, Session};

use crate::members::{LIMIT, Members, say};

const RECEIVER: Rank = 0;
const SLEEPER: Rank = 1;
/// Long enough to tell a waiting process from one that does not wait.
const SOON: Duration = Duration::from_millis(200);

macro_rules! sleeps {
    ($($test:ident: $platform:literal;)*) => {
        $(#[test]
        fn $test() {
            stop_and_go_on($platform);
        })*
    };
}

sleeps! {
    who_was_stopped_is_back_over_shm: "shm";
    who_was_stopped_is_back_over_tcp: "tcp";
    who_was_stopped_is_back_over_udp: "udp";
}

fn stop_and_go_on(platform: &str) {
    let mut members = Members::start(module_path!(), platform, 2, &[]);
    members.wait_for(RECEIVER, "waits");
    members.signal(SLEEPER, libc::SIGSTOP);
    members.wait_for(RECEIVER, "lost it");
    members.wait_for(RECEIVER, "waits once more");
    members.signal(SLEEPER, libc::SIGCONT);
    members.wait_for(RECEIVER, "is back");
    members.tell(SLEEPER, "send");
    members.wait_for(RECEIVER, "has heard it");
}

#[test]
#[ignore = "one process of a session of the other tests"]
fn member() {
    let session = Session::join().unwrap();
    session.everyone().unwrap().barrier().unwrap();
    match session.rank() {
        RECEIVER => receive(&session),
        _ => send(&session),
    }
    thread::park();
}

fn send(session: &Session) {
    let mut line = String::new();
    stdin().read_line(&mut line).expect("a line");
    thread::sleep(SOON);
    session.port("later").send(0, 7, Message::new()).unwrap();
}

fn receive(session: &Session) {
    let port = session.port("later");
    say("waits");
    let lost = port.receive(None, None);
    let is_it = matches!(lost, Err(Error::Lost { rank: SLEEPER, .. }));
    assert!(is_it, "{lost:?}");
    assert!(session.why_lost(SLEEPER).is_some());
    say("lost it");
    // As in a wait for that rank alone, an event from before the wait does not end it.
    for from in [None, Some(SLEEPER)] {
        let late = port.receive_within(from, None, SOON);
        assert!(matches!(late, Err(Error::TimedOut { .. })), "{late:?}");
    }
    say("waits once more");
    let began = Instant::now();
    while let Some(why) = session.why_lost(SLEEPER) {
        assert!(began.elapsed() < LIMIT, "it {why}, for ever");
        let nothing = port.receive_within(None, None, SOON);
        assert!(nothing.is_err(), "nothing was sent yet");
    }
    say("is back");
    assert_eq!(port.receive(None, None).unwrap().tag, 7);
    say("has heard it");
}
