//! The conformance suite over datagrams, on a good network and on a bad one, there also with multicast.

mod conformance;

use antiphon_panda::platform::{Platform, Secret, Udp, udp};
use antiphon_panda::session::SILENCE;
use antiphon_panda::{Seat, Session};
use std::net::Ipv6Addr;
use std::thread;

fn join(seat: &Seat) -> Session {
    let (udp, inbox) = Udp::join(seat).unwrap();
    Session::over(udp, inbox, seat, SILENCE).unwrap()
}

fn meet(meeting: &udp::Meeting, size: u32) -> Vec<Session> {
    let seats: Vec<Seat> = (0..size).map(|rank| meeting.seat(rank)).collect();
    let threads: Vec<_> = seats
        .into_iter()
        .map(|seat| thread::spawn(move || join(&seat)))
        .collect();
    let sessions = threads.into_iter().map(|thread| thread.join().unwrap());
    sessions.collect()
}

fn meeting(size: u32) -> udp::Meeting {
    udp::Meeting::new(size, Secret::fresh().unwrap()).unwrap()
}

/// Between hosts see `network`, which takes root.
#[test]
fn sessions_are_held_over_ipv6() {
    let any = (Ipv6Addr::LOCALHOST, 0).into();
    if let Err(error) = udp::Meeting::at(any, 1, Secret([0; 16])) {
        eprintln!("skipped: no meeting on the loopback of IPv6: {error}");
        return;
    }
    let session = |size| {
        let faults = "seed=13,lost=50,doubled=30,late=100,late_us=2000";
        let any = (Ipv6Addr::LOCALHOST, 0).into();
        let meeting = udp::Meeting::at(any, size, Secret::fresh().unwrap()).unwrap();
        // No multicast passes there: what is for several goes to each alone.
        let meeting = meeting.multicast(true);
        meet(&meeting.with_faults(faults.parse().unwrap()), size)
    };
    conformance::messages_of_all_lengths_arrive_whole(session);
    conformance::a_group_has_one_order(session);
}

mod over_a_good_network {
    use super::*;

    fn session(size: u32) -> Vec<Session> {
        meet(&meeting(size), size)
    }

    conformance_tests!(session);
    // Not over bad networks, where as many as it takes are under way for minutes.
    conformance_tests!(session => flow: who_sends_empty_messages_to_one_that_does_not_ask_is_held);
}

mod over_a_bad_network {
    use super::*;

    fn session(size: u32) -> Vec<Session> {
        let faults = "seed=11,lost=50,doubled=30,late=100,late_us=2000";
        meet(&meeting(size).with_faults(faults.parse().unwrap()), size)
    }

    conformance_tests!(session);
}

mod over_a_bad_network_with_multicast {
    use super::*;

    fn session(size: u32) -> Vec<Session> {
        let faults = "seed=12,lost=50,doubled=30,late=100,late_us=2000";
        let meeting = meeting(size).with_faults(faults.parse().unwrap());
        meet(&meeting.multicast(true), size)
    }

    conformance_tests!(session);
}
