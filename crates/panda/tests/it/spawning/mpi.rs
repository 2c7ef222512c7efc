//! Processes that join a running session over Open MPI. They communicate over TCP connections. This
//! test starts itself under `mpirun`, and spawns itself.

use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use antiphon_panda::platform::Rank;
use antiphon_panda::{Error, GroupEvent, Message, Session};

use crate::{mpirun, process};

const FOUNDERS: u32 = 3;
const LONG: Duration = Duration::from_secs(60);
/// Bytes of a message that takes many pieces on either path.
const MUCH: usize = 9 << 20;

fn child(name: &str) -> [String; 5] {
    process::arguments(module_path!(), name)
}

/// Runs an ignored test of this module as `count` processes. `check` gets their exit code and
/// output.
fn run(member: &str, count: u32, check: impl FnOnce(Option<i32>, &str)) {
    mpirun::run(module_path!(), member, count, check);
}

/// Runs an ignored test of this file as the founders, all of which must end well.
fn ends_well(member: &str) {
    run(member, FOUNDERS, |code, output| {
        assert_eq!(code, Some(0), "{output}");
    });
}

#[test]
fn all_reach_those_that_two_founders_spawn_at_once() {
    ends_well("founder_of_more");
}

#[test]
fn a_spawned_process_that_dies_is_lost_and_the_session_goes_on() {
    ends_well("founder_of_one_that_dies");
}

#[test]
fn founders_that_have_left_keep_nobody_out() {
    run("founder_that_may_leave", FOUNDERS, |code, output| {
        assert_eq!(code, Some(0), "{output}");
        for left in [0, 2] {
            let reported = format!("rank {left} is lost: it had ended before");
            assert!(output.contains(&reported), "{left}: {output}");
        }
    });
}

fn session() -> Session {
    let session = Session::join().expect("its session is there");
    assert_eq!(session.size(), FOUNDERS);
    session
}

fn spawn(session: &Session, name: &str, count: u32) -> Vec<Rank> {
    let exe = std::env::current_exe().expect("this test has a path");
    session.spawn(exe, child(name), count).expect("spawned")
}

/// Joins the session's group. Returns it with the sizes of its views and the payloads.
fn group(session: &Session) -> (antiphon_panda::Group, Receiver<usize>, Receiver<u64>) {
    let ((views, viewed), (messages, reported)) = (channel(), channel());
    let group = session.join_group("all", move |event| match event {
        GroupEvent::View { members, .. } => drop(views.send(members.len())),
        GroupEvent::Message { payload, .. } => drop(messages.send(payload.value().unwrap())),
        _ => {}
    });
    (group.expect("joined"), viewed, reported)
}

fn much_of(rank: Rank) -> Message {
    Message::from(vec![rank as u8; MUCH])
}

/// Founders and newcomers exchange long messages. All are in one group, and see one order.
#[test]
#[ignore = "a process of all_reach_those_that_two_founders_spawn_at_once"]
fn founder_of_more() {
    let session = session();
    let own = session.rank();
    let (group, viewed, reported) = group(&session);
    match own {
        0 => assert_eq!(spawn(&session, "later", 1).len(), 1),
        2 => assert_eq!(spawn(&session, "later", 2).len(), 2),
        _ => {}
    }
    let all = FOUNDERS as usize + 3;
    while viewed.recv_timeout(LONG).expect("all join the group") < all {}
    assert_eq!(session.population() as usize, all);
    let [long, end] = ["long", "end"].map(|name| session.port(name));
    for later in FOUNDERS..all as Rank {
        long.send(later, 0, much_of(own)).unwrap();
    }
    for later in FOUNDERS..all as Rank {
        let came = long.receive(Some(later), None).unwrap().payload;
        assert!(came.to_bytes() == much_of(later).to_bytes());
    }
    group.send(Message::of(&u64::from(own)).unwrap()).unwrap();
    let order: Vec<u64> = reported.iter().take(all).collect();
    for later in FOUNDERS..all as Rank {
        let theirs = end.receive(Some(later), None).unwrap().payload;
        assert_eq!(theirs.value::<Vec<u64>>().unwrap(), order);
    }
    for later in FOUNDERS..all as Rank {
        let lost = end.receive(Some(later), None).unwrap_err();
        assert!(matches!(lost, Error::Lost { .. }), "{lost}");
    }
}

#[test]
#[ignore = "a process that founders spawn"]
fn later() {
    let session = session();
    assert!([Some(0), Some(2)].contains(&session.parent()));
    let (group, viewed, reported) = group(&session);
    let all = FOUNDERS as usize + 3;
    while viewed.recv_timeout(LONG).expect("all join the group") < all {}
    let [long, end, neighbours] = ["long", "end", "neighbours"].map(|name| session.port(name));
    for founder in 0..FOUNDERS {
        long.send(founder, 0, much_of(session.rank())).unwrap();
    }
    for founder in 0..FOUNDERS {
        let came = long.receive(Some(founder), None).unwrap().payload;
        assert!(came.to_bytes() == much_of(founder).to_bytes());
    }
    let others = (FOUNDERS..all as Rank).filter(|other| *other != session.rank());
    for other in others.clone() {
        neighbours.send(other, 0, Message::new()).unwrap();
    }
    for other in others.clone() {
        neighbours.receive(Some(other), None).unwrap();
    }
    let own = Message::of(&u64::from(session.rank())).unwrap();
    group.send(own).unwrap();
    let order: Vec<u64> = reported.iter().take(all).collect();
    // The process that ends first must have sent the order to all.
    for to in (0..all as Rank).filter(|to| *to != session.rank()) {
        let order = Message::of(&order).unwrap();
        end.send_synchronously(to, 0, order).unwrap();
    }
    for other in others {
        end.receive(Some(other), None).unwrap();
    }
}

#[test]
#[ignore = "a process of a_spawned_process_that_dies_is_lost_and_the_session_goes_on"]
fn founder_of_one_that_dies() {
    let session = session();
    let everyone = session.everyone().unwrap();
    if session.rank() == 1 {
        let dies = spawn(&session, "dies", 1)[0];
        let port = session.port("number");
        let number = port.receive(Some(dies), None).unwrap().payload;
        // SAFETY: a process that this one has spawned, and that has not ended.
        unsafe { libc::kill(number.value().unwrap(), libc::SIGKILL) };
    }
    everyone.barrier().unwrap();
    // All processes knew it before it was killed.
    let lost = session.port("number").receive(Some(FOUNDERS), None);
    let lost = lost.expect_err("it is dead").to_string();
    assert!(lost.contains("rank 3 is lost"), "{lost}");
    everyone.barrier().unwrap();
    if session.rank() == 1 {
        let refused = session.spawn("./no-such-program", [""; 0], 1);
        let refused = refused.expect_err("it is not there").to_string();
        assert!(refused.contains("no-such-program"), "{refused}");
        let exe = std::env::current_exe().unwrap();
        let refused = session.spawn(exe, child("ends_at_once"), 2);
        let refused = refused.expect_err("it does not join").to_string();
        assert!(refused.contains("did not join"), "{refused}");
    }
    everyone.barrier().unwrap();
}

#[test]
#[ignore = "a process that founders spawn"]
fn dies() {
    let session = session();
    // The variables that `mpirun` sets for its own processes must not reach spawned ones.
    assert!(std::env::vars().all(|(name, _)| !name.starts_with("OMPI_COMM_WORLD")));
    let number = Message::of(&(std::process::id() as i32)).unwrap();
    let parent = session.parent().expect("it was spawned");
    session.port("number").send(parent, 0, number).unwrap();
    std::thread::sleep(LONG);
}

#[test]
#[ignore = "a process that founders spawn"]
fn ends_at_once() {}

/// Rank 0, which holds the bootstrap, and rank 2 leave. Rank 1 goes on and spawns a process, which
/// then spawns another.
#[test]
#[ignore = "a process of founders_that_have_left_keep_nobody_out"]
fn founder_that_may_leave() {
    let session = session();
    session.everyone().unwrap().barrier().unwrap();
    if session.rank() != 1 {
        return;
    }
    for gone in [0, 2] {
        let lost = session.port("end").receive(Some(gone), None);
        assert!(matches!(lost, Err(Error::Lost { .. })), "{lost:?}");
    }
    let later = spawn(&session, "later_without_founders", 1);
    assert_eq!(later, [FOUNDERS]);
    session.port("end").receive(Some(FOUNDERS), None).unwrap();
}

#[test]
#[ignore = "a process that founders spawn"]
fn later_without_founders() {
    let session = session();
    if session.rank() > FOUNDERS {
        let greeting = session.port("greeting");
        return greeting
            .send_synchronously(FOUNDERS, 0, Message::new())
            .unwrap();
    }
    for gone in [0, 2] {
        let lost = session.port("greeting").receive(Some(gone), None);
        println!("{}", lost.expect_err("it has left"));
    }
    let next = spawn(&session, "later_without_founders", 1)[0];
    session.port("greeting").receive(Some(next), None).unwrap();
    session
        .port("end")
        .send_synchronously(1, 0, Message::new())
        .unwrap();
}
