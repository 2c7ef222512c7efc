//! The conformance suite over TCP connections, and tests of this platform.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use antiphon_panda::platform::bootstrap::Found::{self, Gone, Silent, There};
use antiphon_panda::platform::launch_info::Secret;
use antiphon_panda::platform::{Bootstrap, Event, Inbox, Platform, Tcp, bootstrap};
use antiphon_panda::session::SILENCE;
use antiphon_panda::{LaunchInfo, Message, Session};

use crate::conformance::{self, conformance_tests};

fn bootstrap(size: u32) -> Bootstrap {
    bootstrap_at((Ipv4Addr::LOCALHOST, 0).into(), size)
}

fn bootstrap_at(any: SocketAddr, size: u32) -> Bootstrap {
    Bootstrap::hold(any, size, Secret::fresh().unwrap()).unwrap()
}

fn join(info: &LaunchInfo) -> Session {
    let (tcp, inbox) = Tcp::join(info).unwrap();
    Session::over(tcp, inbox, info, SILENCE).unwrap()
}

fn session(size: u32) -> Vec<Session> {
    meet(&bootstrap(size), size)
}

fn meet(bootstrap: &Bootstrap, size: u32) -> Vec<Session> {
    let infos: Vec<LaunchInfo> = (0..size)
        .map(|rank| bootstrap.launch_info("tcp", rank))
        .collect();
    let threads: Vec<_> = infos
        .into_iter()
        .map(|info| thread::spawn(move || join(&info)))
        .collect();
    threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect()
}

conformance_tests!(session);
conformance_tests!(session => flow:
    who_sends_empty_messages_to_one_that_does_not_ask_is_held
    what_was_sent_last_reaches_who_is_busy
    who_takes_nothing_is_lost
);
conformance_tests!(session => choosing: a_wait_by_predicate_ends_when_nobody_is_left);
conformance_tests!(session => state: a_large_copy_goes_beside_the_order);

/// Tests between hosts are in `network`, and take root.
#[test]
fn sessions_are_held_over_ipv6() {
    let any = (Ipv6Addr::LOCALHOST, 0).into();
    if let Err(error) = Bootstrap::hold(any, 1, Secret([0; 16])) {
        eprintln!("skipped: no bootstrap on the loopback of IPv6: {error}");
        return;
    }
    let session = |size| {
        let any = (Ipv6Addr::LOCALHOST, 0).into();
        meet(&bootstrap_at(any, size), size)
    };
    conformance::messages_of_all_lengths_arrive_whole(session);
    conformance::a_group_has_one_order(session);
}

#[test]
fn processes_join_while_the_session_runs() {
    let bootstrap = bootstrap(2);
    let founders: Vec<_> = (0..2)
        .map(|rank| bootstrap.launch_info("tcp", rank))
        .map(|info| thread::spawn(move || join(&info)))
        .collect();
    let founders: Vec<Session> = founders
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    let infos = founders[1].allot(2).unwrap();
    assert_eq!(
        infos.iter().map(|info| info.rank).collect::<Vec<_>>(),
        [2, 3]
    );
    let late: Vec<Session> = infos.iter().map(join).collect();
    for session in &late {
        session
            .serve("who", |call| call.reply.send(b"late".as_slice()))
            .unwrap();
    }
    for to in [2, 3] {
        let served = late[1]
            .call(to.min(2), "who", Message::new(), None)
            .unwrap();
        assert_eq!(served.to_bytes(), b"late".as_slice());
    }
    let port = late[0].port("hello");
    port.send_synchronously(0, 5, b"from 2".as_slice()).unwrap();
    let arrived = founders[0].port("hello").receive(Some(2), Some(5)).unwrap();
    assert_eq!(arrived.payload.to_bytes(), b"from 2".as_slice());
    assert_eq!(
        founders[0]
            .call(2, "who", Message::new(), None)
            .unwrap()
            .to_bytes(),
        b"late".as_slice()
    );
}

/// Drives a platform without a session for a time, or until a condition holds.
fn drive(inboxes: &mut [&mut impl Inbox], time: Duration, is_done: impl Fn() -> bool) {
    let until = Instant::now() + time;
    while !is_done() && Instant::now() < until {
        for inbox in &mut *inboxes {
            inbox.receive(Some(Instant::now()), &mut Vec::new());
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// All earlier processes can send to a newcomer, even one that had not heard of it a moment before.
#[test]
fn who_has_joined_is_known_to_all_that_were_there() {
    let bootstrap = bootstrap(2);
    let founders = [0, 1].map(|rank| {
        let info = bootstrap.launch_info("tcp", rank);
        thread::spawn(move || Tcp::join(&info).unwrap())
    });
    let [(first, mut firsts), (second, mut seconds)] =
        founders.map(|founder| founder.join().unwrap());
    let info = first.allot(1).unwrap().remove(0);
    let joins = thread::spawn(move || Tcp::join(&info).unwrap());
    // The second process accepts the newcomer, which also waits for the first one.
    drive(&mut [&mut seconds], Duration::from_millis(300), || false);
    drive(&mut [&mut firsts], Duration::from_millis(500), || {
        joins.is_finished()
    });
    // The newcomer has joined, or waits for the second process.
    drive(&mut [&mut firsts, &mut seconds], conformance::LIMIT, || {
        joins.is_finished()
    });
    let (_late, mut lates) = joins.join().unwrap();
    second.send(2, Message::from(b"hello".as_slice()));
    let (until, mut events) = (Instant::now() + conformance::LIMIT, Vec::new());
    let is_hello = |event: &Event| matches!(event, Event::Frame { from: 1, .. });
    while !events.iter().any(is_hello) {
        assert!(Instant::now() < until, "it was not sent: {events:?}");
        lates.receive(Some(until), &mut events);
    }
}

/// The bootstrap drops strangers, whatever they send, and the session still forms.
#[test]
fn strangers_do_not_get_in() {
    let bootstrap = bootstrap(2);
    let info = bootstrap.launch_info("tcp", 0);
    let strangers: Vec<Vec<u8>> = vec![
        vec![],
        vec![0; 3],
        vec![0xff; 4096],
        [info.secret.0.to_vec(), vec![0xff; 64]].concat(),
    ];
    for bytes in strangers {
        let mut stranger = TcpStream::connect(&info.bootstrap).unwrap();
        // The bootstrap may have hung up already.
        let _ = stranger.write_all(&bytes);
        let _ = stranger.shutdown(std::net::Shutdown::Write);
        let mut reported = Vec::new();
        let _ = stranger.read_to_end(&mut reported);
        // Noise may look like an opening. Then it gets a challenge, and nothing more.
        assert!(reported.len() <= 48, "{reported:?}");
    }
    let wrong = LaunchInfo {
        secret: Secret([1; 16]),
        ..bootstrap.launch_info("tcp", 1)
    };
    let error = Tcp::join(&wrong).expect_err("kept out").to_string();
    assert!(
        error.contains("does not know this session's secret"),
        "{error}"
    );
    let other = bootstrap.launch_info("tcp", 1);
    let thread = thread::spawn(move || join(&other));
    let first = join(&info);
    let second = thread.join().unwrap();
    second.port("p").send(0, 1, b"in".as_slice()).unwrap();
    assert_eq!(first.port("p").receive(Some(1), None).unwrap().tag, 1);
}

#[test]
fn who_is_gone_before_a_later_one_comes_does_not_keep_it_out() {
    let any = "127.0.0.1:0".parse().unwrap();
    let bootstrap = Bootstrap::hold(any, 1, Secret::fresh().unwrap()).unwrap();
    let first = join(&bootstrap.launch_info("tcp", 0));
    let infos = first.allot(2).unwrap();
    drop(join(&infos[0]));
    let last = join(&infos[1]);
    // The newcomer has joined before the first process hears of it.
    first
        .wait_until(|| first.population() > last.rank(), None)
        .unwrap();
    last.port("p").send(0, 7, b"in".as_slice()).unwrap();
    first.wait_until(|| first.population() == 3, None).unwrap();
    let heard = first.port("p").receive(Some(last.rank()), None).unwrap();
    assert_eq!(heard.tag, 7);
    // Later processes need not find this out themselves.
    assert_eq!(found_of_the_first_three(&first), [There, Gone, There]);
    let next = join(&first.allot(1).unwrap()[0]);
    let sent = next.port("p").send_synchronously(1, 7, b"?".as_slice());
    let why = sent.expect_err("nobody takes it").to_string();
    assert!(why.contains("had ended before"), "{why}");
}

/// Joins as the next process, and returns the states that it learns of the first three.
fn found_of_the_first_three(session: &Session) -> Vec<Found> {
    let info = session.allot(1).unwrap().remove(0);
    let contacts = bootstrap::enter(&info, "tcp", |_| Ok("127.0.0.1:9".into())).unwrap();
    contacts
        .iter()
        .map(|contact| contact.found)
        .take(3)
        .collect()
}

/// The host of a process may be switched off, or unreachable.
#[test]
fn who_cannot_be_reached_does_not_keep_a_later_one_out() {
    let any = "127.0.0.1:0".parse().unwrap();
    let bootstrap = Bootstrap::hold(any, 1, Secret::fresh().unwrap()).unwrap();
    let first = join(&bootstrap.launch_info("tcp", 0));
    let infos = first.allot(2).unwrap();
    // The system reports that this address's network is unreachable.
    let entered = bootstrap::enter(&infos[0], "tcp", |_| Ok("255.255.255.255:9".into()));
    entered.unwrap();
    let last = join(&infos[1]);
    let sent = last.port("p").send_synchronously(1, 7, b"?".as_slice());
    let why = sent.expect_err("nobody takes it").to_string();
    assert!(why.contains("rank 1"), "{why}");
    last.port("p").send(0, 7, b"in".as_slice()).unwrap();
    first.wait_until(|| first.population() == 3, None).unwrap();
    assert_eq!(first.port("p").receive(Some(2), None).unwrap().tag, 7);
}

/// The system accepts connections for a stopped process, but that process does not answer.
#[test]
fn who_does_not_answer_a_later_one_does_not_keep_it_out() {
    let any = "127.0.0.1:0".parse().unwrap();
    let bootstrap = Bootstrap::hold(any, 1, Secret::fresh().unwrap()).unwrap();
    let first = join(&bootstrap.launch_info("tcp", 0));
    let infos = first.allot(2).unwrap();
    let mut mute = None;
    let entered = bootstrap::enter(&infos[0], "tcp", |ip| {
        let listener = mute.insert(TcpListener::bind((ip, 0))?);
        Ok(listener.local_addr()?.to_string())
    });
    entered.unwrap();
    let last = join(&infos[1]);
    let sent = last.port("p").send_synchronously(1, 7, b"?".as_slice());
    let error = sent.expect_err("nobody takes it").to_string();
    assert!(error.contains("rank 1"), "{error}");
    last.port("p").send(0, 7, b"in".as_slice()).unwrap();
    first.wait_until(|| first.population() == 3, None).unwrap();
    let heard = first.port("p").receive(Some(2), None).unwrap();
    assert_eq!(heard.tag, 7);
    // Later processes need not wait for it as long.
    assert_eq!(found_of_the_first_three(&first), [There, Silent, There]);
}

#[test]
fn a_process_that_joins_does_not_call_processes_that_have_ended() {
    let bootstrap = bootstrap(1);
    let first = join(&bootstrap.launch_info("tcp", 0));
    let infos = first.allot(3).unwrap();
    let enters = |info: &LaunchInfo| {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        bootstrap::enter(info, "tcp", |_| Ok(address)).unwrap();
        listener
    };
    let listeners = [enters(&infos[0]), enters(&infos[1])];
    // Both the starter of all processes and the parent of a spawned one report an end in this way.
    bootstrap.ended(1);
    bootstrap::tell_end(&infos[0], 2);
    let late = join(&infos[2]);
    for (rank, listener) in (1..).zip(&listeners) {
        let called = listener.accept().map(drop).unwrap_err();
        assert_eq!(called.kind(), std::io::ErrorKind::WouldBlock, "rank {rank}");
        let lost = late.port("end").receive(Some(rank), None).unwrap_err();
        assert!(lost.to_string().contains("had ended before"), "{lost}");
    }
}
