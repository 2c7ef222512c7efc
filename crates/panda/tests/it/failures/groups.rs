//! Processes that are killed (SIGKILL) or stopped (SIGSTOP) while a group sends, the sequencer or
//! another member, over the real platforms. This test starts itself as the processes of a session.

use std::collections::BTreeMap;
use std::sync::mpsc;

use antiphon_panda::platform::Rank;
use antiphon_panda::{Error, GroupEvent, Message, Session};

use crate::members::{LIMIT, Members, say};

const SIZE: u32 = 3;
/// Messages that each survivor sends before it knows of the loss, and after.
const SENT: u32 = 30;

macro_rules! faults {
    ($($test:ident: $platform:literal, $victim:literal, $signal:ident;)*) => {
        $(#[test]
        fn $test() {
            lose($platform, $victim, libc::$signal);
        })*
    };
}

faults! {
    the_sequencer_is_killed_over_shm: "shm", 0, SIGKILL;
    a_member_is_killed_over_shm: "shm", 1, SIGKILL;
    the_sequencer_is_stopped_over_shm: "shm", 0, SIGSTOP;
    a_member_is_stopped_over_shm: "shm", 1, SIGSTOP;
    the_sequencer_is_killed_over_tcp: "tcp", 0, SIGKILL;
    a_member_is_killed_over_tcp: "tcp", 1, SIGKILL;
    the_sequencer_is_stopped_over_tcp: "tcp", 0, SIGSTOP;
    a_member_is_stopped_over_tcp: "tcp", 1, SIGSTOP;
    the_sequencer_is_killed_over_udp: "udp", 0, SIGKILL;
    a_member_is_killed_over_udp: "udp", 1, SIGKILL;
    the_sequencer_is_stopped_over_udp: "udp", 0, SIGSTOP;
    a_member_is_stopped_over_udp: "udp", 1, SIGSTOP;
}

macro_rules! sleeps {
    ($($test:ident: $platform:literal, $sleeper:literal;)*) => {
        $(#[test]
        fn $test() {
            sleep_through($platform, $sleeper);
        })*
    };
}

sleeps! {
    who_sleeps_through_all_is_told_over_udp: "udp", 1;
    a_sequencer_that_sleeps_through_all_is_told_over_udp: "udp", 0;
}

/// Stops a process until all others have gone on without it and have left.
fn sleep_through(platform: &str, sleeper: Rank) {
    let mut members = start(platform, sleeper, true);
    members.signal(sleeper, libc::SIGSTOP);
    for rank in (0..SIZE).filter(|&rank| rank != sleeper) {
        members.wait_for(rank, "order ");
        members.wait_until_it_ends(rank);
    }
    members.signal(sleeper, libc::SIGCONT);
    members.wait_for(sleeper, "expelled");
}

/// Starts a session, signals one of its processes, and checks what the others delivered.
fn lose(platform: &str, victim: Rank, signal: i32) {
    let mut members = start(platform, victim, false);
    members.signal(victim, signal);
    let survivors = (0..SIZE).filter(|&rank| rank != victim);
    let orders: Vec<String> = survivors
        .map(|rank| members.wait_for(rank, "order "))
        .collect();
    assert_eq!(
        orders[0], orders[1],
        "survivors delivered the same in the same order"
    );
    check(&orders[0], victim);
    if signal == libc::SIGSTOP {
        members.signal(victim, libc::SIGCONT);
        members.wait_for(victim, "expelled");
        members.wait_for(victim, "back");
    }
}

/// Starts a session, and waits until the victim has sent its messages.
fn start(platform: &str, victim: Rank, leaves: bool) -> Members {
    let variables = [
        ("VICTIM", victim.to_string()),
        ("LEAVES", leaves.to_string()),
    ];
    let mut members = Members::start(module_path!(), platform, SIZE, &variables);
    members.wait_for(victim, "ready");
    members
}

/// Checks that no message of any sender is missing or came twice. Of the survivors, all must be
/// there.
fn check(order: &str, victim: Rank) {
    let mut next: BTreeMap<Rank, u32> = (0..SIZE).map(|rank| (rank, 0)).collect();
    for word in order.split_whitespace() {
        let (from, number) = word.split_once(':').expect("FROM:NUMBER");
        let next = next.get_mut(&from.parse().unwrap()).expect("a rank");
        assert_eq!(number, next.to_string(), "of rank {from} in {order}");
        *next += 1;
    }
    for (rank, count) in next {
        assert!(
            rank == victim || count == 2 * SENT,
            "{count} of rank {rank}"
        );
    }
}

/// An expelled process may join again as a new member, and its messages are delivered.
fn come_back(session: &Session) {
    let (sender, events) = mpsc::channel();
    let group = session
        .join_group("g", move |event| drop(sender.send(event)))
        .expect("let in again");
    group.send(Message::of(&SENT).unwrap()).unwrap();
    let is_own =
        |event| matches!(event, GroupEvent::Message { from, .. } if from == session.rank());
    while !is_own(
        events
            .recv_timeout(LIMIT)
            .expect("its message is delivered"),
    ) {}
    say("back");
}

#[test]
#[ignore = "one process of a session of the other tests"]
fn member() {
    let session = Session::join().unwrap();
    let victim: Rank = std::env::var("VICTIM").unwrap().parse().unwrap();
    let (sender, events) = mpsc::channel();
    let everyone = session.everyone().unwrap();
    // They join in this order, so that rank 0 is the oldest member, which is the sequencer.
    let mut group = None;
    for rank in 0..SIZE {
        if rank == session.rank() {
            let sender = sender.clone();
            let joined = session.join_group("g", move |event| drop(sender.send(event)));
            group = Some(joined.unwrap());
        }
        everyone.barrier().unwrap();
    }
    let group = group.expect("joined");
    let send = |number: u32| group.send(Message::of(&number).unwrap());
    if session.rank() == victim {
        (0..SENT).for_each(|number| send(number).unwrap());
        say("ready");
        while !matches!(
            events.recv_timeout(LIMIT).unwrap(),
            GroupEvent::Expelled { .. }
        ) {}
        say("expelled");
        come_back(&session);
        return;
    }
    (0..SENT).for_each(|number| send(number).unwrap());
    let mut order = Vec::new();
    let mut own = 0;
    let (mut is_alone, mut others) = (false, 0);
    let mut has_all = false;
    while !has_all || !is_alone {
        match events.recv_timeout(LIMIT).expect("the group goes on") {
            GroupEvent::Message { from, payload, .. } => {
                own += u32::from(from == session.rank());
                others += u32::from(from != session.rank() && from != victim);
                order.push(format!("{from}:{}", payload.value::<u32>().unwrap()));
            }
            GroupEvent::View { left, .. } if left.contains(&victim) => {
                is_alone = true;
                (SENT..2 * SENT).for_each(|number| send(number).unwrap());
            }
            GroupEvent::View { .. } => {}
            other => panic!("{other:?}"),
        }
        has_all = own == 2 * SENT && others == 2 * SENT;
    }
    let error = session
        .call(victim, "nothing", Message::new(), None)
        .unwrap_err();
    let name = session.name_of(victim);
    assert!(
        matches!(&error, Error::Lost { peer, .. } if *peer == name),
        "{error}"
    );
    say(&format!("order {}", order.join(" ")));
    if std::env::var("LEAVES").is_ok_and(|leaves| leaves == "true") {
        group.leave().unwrap();
        return;
    }
    // Stays until the test ends it, so that a process that was only stopped learns that the others
    // went on.
    while events.recv_timeout(LIMIT).is_ok() {}
}
