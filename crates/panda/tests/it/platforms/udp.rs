//! The conformance suite over datagrams, on a good network and on a bad one, and on the bad one
//! also with multicast.

use antiphon_panda::platform::{Platform, Secret, Udp, udp};
use antiphon_panda::session::SILENCE;
use antiphon_panda::{Error, LaunchInfo, Message, Session};
use bytes::Bytes;
use std::net::Ipv6Addr;
use std::thread;

use crate::conformance::{self, conformance_tests};

fn join(info: &LaunchInfo) -> Session {
    let (udp, inbox) = Udp::join(info).unwrap();
    Session::over(udp, inbox, info, SILENCE).unwrap()
}

fn meet(bootstrap: &udp::Bootstrap, size: u32) -> Vec<Session> {
    let infos: Vec<LaunchInfo> = (0..size).map(|rank| bootstrap.launch_info(rank)).collect();
    let threads: Vec<_> = infos
        .into_iter()
        .map(|info| thread::spawn(move || join(&info)))
        .collect();
    let sessions = threads.into_iter().map(|thread| thread.join().unwrap());
    sessions.collect()
}

fn bootstrap(size: u32) -> udp::Bootstrap {
    udp::Bootstrap::new(size, Secret::fresh().unwrap()).unwrap()
}

/// Tests between hosts are in `network`, and take root.
#[test]
fn sessions_are_held_over_ipv6() {
    let any = (Ipv6Addr::LOCALHOST, 0).into();
    if let Err(error) = udp::Bootstrap::at(any, 1, Secret([0; 16])) {
        eprintln!("skipped: no bootstrap on the loopback of IPv6: {error}");
        return;
    }
    let session = |size| {
        let faults = "seed=13,lost=50,doubled=30,late=100,late_us=2000";
        let any = (Ipv6Addr::LOCALHOST, 0).into();
        let bootstrap = udp::Bootstrap::at(any, size, Secret::fresh().unwrap()).unwrap();
        // The loopback carries no multicast here, so frames for several peers go to each alone.
        let bootstrap = bootstrap.multicast(true);
        meet(&bootstrap.with_faults(faults.parse().unwrap()), size)
    };
    conformance::messages_of_all_lengths_arrive_whole(session);
    conformance::a_group_has_one_order(session);
}

/// A message that is too long for a link is refused before any of it is sent, and no peer is lost.
#[test]
fn what_is_too_long_is_refused() {
    let mut sessions = meet(&bootstrap(2), 2);
    let (other, session) = (sessions.remove(1), sessions.remove(0));
    let piece = Bytes::from(vec![0; 64 << 20]);
    let mut long = Message::new();
    (0..64).for_each(|_| long.append_bytes(piece.clone()));
    let kept = long.clone();
    other
        .serve("long", move |call| call.reply.send(kept.clone()))
        .unwrap();
    let group = session.join_group("long", drop).unwrap();
    let (port, all) = (session.port("long"), session.everyone().unwrap());
    let refused = [
        port.send(1, 0, long.clone()),
        port.send_synchronously(1, 0, long.clone()),
        session.call(1, "long", long.clone(), None).map(drop),
        group.send(long.clone()),
        all.broadcast_bytes(0, Some(long.clone())).map(drop),
        all.scatter_bytes(0, vec![Message::new(), long]).map(drop),
    ];
    for (which, refused) in refused.into_iter().enumerate() {
        let is_refused = matches!(refused, Err(Error::TooLong { length, .. }) if length == 4 << 30);
        assert!(is_refused, "{which}: {refused:?}");
    }
    let answer = session.call(1, "long", Message::new(), None);
    assert!(matches!(answer, Err(Error::NoReply { .. })), "{answer:?}");
    assert!(session.why_lost(1).is_none() && other.why_lost(0).is_none());
}

mod over_a_good_network {
    use super::*;

    fn session(size: u32) -> Vec<Session> {
        meet(&bootstrap(size), size)
    }

    conformance_tests!(session);
    // Left out over bad networks, where filling a link takes minutes.
    conformance_tests!(session => flow:
        who_sends_empty_messages_to_one_that_does_not_ask_is_held
        who_takes_nothing_is_lost
    );
    conformance_tests!(session => choosing: a_wait_by_predicate_ends_when_nobody_is_left);
}

mod over_a_bad_network {
    use super::*;

    fn session(size: u32) -> Vec<Session> {
        let faults = "seed=11,lost=50,doubled=30,late=100,late_us=2000";
        meet(&bootstrap(size).with_faults(faults.parse().unwrap()), size)
    }

    conformance_tests!(session);
}

mod over_a_bad_network_with_multicast {
    use super::*;

    fn session(size: u32) -> Vec<Session> {
        let faults = "seed=12,lost=50,doubled=30,late=100,late_us=2000";
        let bootstrap = bootstrap(size).with_faults(faults.parse().unwrap());
        meet(&bootstrap.multicast(true), size)
    }

    conformance_tests!(session);
}
