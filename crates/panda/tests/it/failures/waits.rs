//! A process is killed or stopped while another waits for it in every possible way. Each wait ends
//! with an error that names it.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use antiphon_panda::platform::{Platform, Rank, Shm, Tcp, Udp};
use antiphon_panda::{Error, GroupEvent, LaunchInfo, Message, Session};

use crate::members::{Members, say};

const SIZE: u32 = 3;
/// The roles: the waiting process, the victim, and a process that waits for the first.
const WAITER: Rank = 0;
const VICTIM: Rank = 1;
const BYSTANDER: Rank = 2;
/// Short, so that the tests are, but longer than a busy machine delays a process.
const SILENCE: Duration = Duration::from_secs(1);
/// More messages than a member may have in flight before they are ordered.
const MANY: u32 = 2000;

macro_rules! strikes {
    ($($test:ident: $platform:literal, $signal:ident;)*) => {
        $(#[test]
        fn $test() {
            strike($platform, libc::$signal);
        })*
    };
}

strikes! {
    a_peer_is_killed_over_shm: "shm", SIGKILL;
    a_peer_is_stopped_over_shm: "shm", SIGSTOP;
    a_peer_is_killed_over_tcp: "tcp", SIGKILL;
    a_peer_is_stopped_over_tcp: "tcp", SIGSTOP;
    a_peer_is_killed_over_udp: "udp", SIGKILL;
    a_peer_is_stopped_over_udp: "udp", SIGSTOP;
}

fn strike(platform: &str, signal: i32) {
    let variables = [
        ("OVER", platform.to_owned()),
        ("SIGNAL", signal.to_string()),
    ];
    let mut members = Members::start(module_path!(), platform, SIZE, &variables);
    members.wait_for(WAITER, "waits");
    members.wait_for(BYSTANDER, "waits");
    members.wait_for(VICTIM, "was called");
    members.signal(VICTIM, signal);
    members.tell(WAITER, "struck");
    members.wait_for(WAITER, "all have ended");
    members.wait_for(BYSTANDER, "all have ended");
}

fn join() -> Session {
    fn over<P: Platform>(info: &LaunchInfo) -> Session {
        let (platform, inbox) = P::join(info).expect("joined");
        Session::over(platform, inbox, info, SILENCE).expect("a thread")
    }
    let info = LaunchInfo::from_environment().expect("launch info");
    match std::env::var("OVER").as_deref() {
        Ok("shm") => over::<Shm>(&info),
        Ok("udp") => over::<Udp>(&info),
        _ => over::<Tcp>(&info),
    }
}

#[test]
#[ignore = "one process of a session of the other tests"]
fn member() {
    let session = join();
    let everyone = session.everyone().expect("a founder");
    match session.rank() {
        VICTIM => {
            let mut kept = Vec::new();
            session
                .serve("keep", move |call| {
                    kept.push(call);
                    say("was called");
                })
                .unwrap();
            // It is the oldest member, which is the sequencer.
            let group = session.join_group("pair", |_| ()).expect("joined");
            let own = session.join_group("own", |_| ()).expect("joined");
            everyone.barrier().expect("all are here");
            thread::park();
            drop((group, own));
        }
        WAITER => {
            everyone.barrier().expect("all are here");
            wait_in_every_way(&session);
            say("all have ended");
            thread::park();
        }
        _ => {
            everyone.barrier().expect("all are here");
            say("waits");
            // It waits for the waiter, who finds the victim lost.
            named("barrier", &session, everyone.barrier());
            say("all have ended");
            thread::park();
        }
    }
}

/// Checks that the outcome is an error that names the victim.
fn named<T>(what: &str, session: &Session, outcome: Result<T, Error>) {
    let name = session.name_of(VICTIM);
    match outcome {
        Err(Error::Lost { rank, peer, .. }) if rank == VICTIM && peer == name => {}
        Err(other) => panic!("{what} ended with: {other}"),
        Ok(_) => panic!("{what} succeeded"),
    }
}

fn wait_in_every_way(session: &Session) {
    let group = session.join_group("pair", |event| {
        if let GroupEvent::Message { from, .. } = event {
            assert_ne!(from, VICTIM);
        }
    });
    let group = Arc::new(group.expect("joined"));
    let everyone = session.everyone().expect("a founder");
    let pair = session
        .communicator(&[WAITER, VICTIM])
        .expect("one of them");
    let port = session.port("nothing");
    thread::scope(|scope| {
        // These waits begin before the signal.
        scope.spawn(|| named("receive", session, port.receive(Some(VICTIM), None)));
        scope.spawn(|| {
            named(
                "call",
                session,
                session.call(VICTIM, "keep", Message::new(), None),
            )
        });
        scope.spawn(|| named("barrier", session, everyone.barrier()));
        scope.spawn(|| named("gather", session, pair.gather(WAITER, &1)));
        scope.spawn(|| named("send", session, flood(session)));
        let flooded = session.port("flooded");
        while flooded.takes_more(VICTIM) {
            thread::sleep(Duration::from_millis(1));
        }
        say("waits");
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).expect("a line");
        // These begin after the signal.
        let send = || port.send_synchronously(VICTIM, 0, Message::new());
        scope.spawn(move || named("synchronous send", session, send()));
        let sent = (0..MANY).try_for_each(|number| group.send(Message::of(&number)?));
        goes_on_or_is_expelled(session, sent);
    });
    named("later receive", session, port.receive(Some(VICTIM), None));
    let call = session.call(VICTIM, "keep", Message::new(), None);
    named("later call", session, call);
    // The only member of this group was the victim.
    is_not_let_in(session, session.join_group("own", |_| ()).map(drop));
}

/// Sends to the victim, which never receives, until that fails. The signal may come between two
/// sends, and messages to a lost process are dropped. So this calls the victim as well.
fn flood(session: &Session) -> Result<(), Error> {
    let port = session.port("flooded");
    loop {
        port.send(VICTIM, 0, vec![0; 1 << 18])?;
        let brief = port.receive_within(Some(VICTIM), None, Duration::from_millis(2));
        if let Err(lost @ Error::Lost { .. }) = brief {
            return Err(lost);
        }
    }
}

/// Of two members, the other goes on alone if the first is known to have ended.
fn goes_on_or_is_expelled(session: &Session, outcome: Result<(), Error>) {
    match (is_known_to_have_ended(session), outcome) {
        (true, Ok(())) => {}
        (true, Err(other)) => panic!("the group does not go on: {other}"),
        (false, outcome) => expelled(&format!("rank {VICTIM} did not answer"), outcome),
    }
}

/// Checks that no process can join a group whose only member has ended or does not answer.
fn is_not_let_in(session: &Session, outcome: Result<(), Error>) {
    match is_known_to_have_ended(session) {
        true => expelled("the group ended with its last member", outcome),
        false => expelled(&format!("rank {VICTIM} did not answer"), outcome),
    }
}

/// Returns whether the platform can tell that the victim has ended. Over datagrams it cannot, and a
/// stopped process may go on. Then the member is expelled, and the error names the process that did
/// not answer.
fn is_known_to_have_ended(session: &Session) -> bool {
    let signal = std::env::var("SIGNAL").expect("set");
    session.platform() != "udp" && signal == libc::SIGKILL.to_string()
}

fn expelled(expected: &str, outcome: Result<(), Error>) {
    match outcome {
        Err(Error::Expelled { why, .. }) => assert!(why.contains(expected), "{why}"),
        Err(other) => panic!("an operation on a group ended with: {other}"),
        Ok(()) => panic!("an operation on a group succeeded, and not with: {expected}"),
    }
}
