use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::*;
use crate::platform::bootstrap::towards;
use crate::platform::{Event, Inbox, Secret, Tcp};

const PATIENCE: Duration = Duration::from_secs(20);

fn session(bootstrap: &Bootstrap, size: u32) -> Vec<(Udp, UdpInbox)> {
    let joining: Vec<_> = (0..size)
        .map(|rank| bootstrap.launch_info(rank))
        .map(|info| std::thread::spawn(move || Udp::join(&info).expect("joined")))
        .collect();
    let members = joining.into_iter().map(|j| j.join().expect("no panic"));
    members.collect()
}

fn bootstrap(size: u32) -> Bootstrap {
    Bootstrap::new(size, Secret([7; 16])).expect("a port")
}

fn keys() -> wire::Keys {
    wire::Keys::of(Secret([7; 16]))
}

fn address_of(socket: &std::net::UdpSocket) -> std::net::SocketAddr {
    socket.local_addr().expect("bound")
}

/// Receives until an event passes `wanted`, and calls `meanwhile` a thousand times a second.
fn until<T>(
    inbox: &mut UdpInbox,
    mut meanwhile: impl FnMut(),
    mut wanted: impl FnMut(Event) -> Option<T>,
) -> T {
    let end = Instant::now() + PATIENCE;
    let mut events = Vec::new();
    loop {
        meanwhile();
        inbox.receive(Some(Instant::now() + Duration::from_millis(1)), &mut events);
        if let Some(found) = events.drain(..).find_map(&mut wanted) {
            return found;
        }
        assert!(Instant::now() < end, "it did not come");
    }
}

fn number(event: Event) -> Option<(Rank, u64)> {
    match event {
        Event::Frame { from, frame } => {
            let bytes = frame.look().expect("eight bytes");
            Some((from, u64::from_le_bytes(bytes)))
        }
        _ => None,
    }
}

#[test]
fn frames_of_the_longest_kind_arrive_when_sent_again_and_again() {
    let bootstrap = bootstrap(3);
    let mut members = session(&bootstrap, 3);
    let (udp, _inbox) = members.pop().expect("three");
    let frame = Message::from(vec![9; Udp::LARGEST]);
    for (rank, (_, inbox)) in (0..).zip(&mut members) {
        let send = || {
            let _ = udp.send(rank, frame.clone());
        };
        let (from, length) = until(inbox, send, |event| match event {
            Event::Frame { from, frame } => Some((from, frame.len())),
            _ => None,
        });
        assert_eq!((from, length), (2, Udp::LARGEST));
    }
}

#[test]
fn faults_lose_and_double_frames() {
    let faults = "seed=3,lost=200,doubled=200,late=200,late_us=500";
    let bootstrap = bootstrap(2).with_faults(faults.parse().expect("good"));
    let mut members = session(&bootstrap, 2);
    let (udp, _inbox) = members.pop().expect("two");
    let mut next = 0_u64;
    let (mut seen, mut doubled, mut overtaken, mut highest) = (BTreeSet::new(), 0, 0, 0);
    until(
        &mut members[0].1,
        || {
            next += 1;
            let _ = udp.send(0, Message::from(next.to_le_bytes().to_vec()));
        },
        |event| {
            let (_, at) = number(event)?;
            doubled += u32::from(!seen.insert(at));
            overtaken += u32::from(at < highest);
            highest = highest.max(at);
            let lost = highest - seen.len() as u64;
            (doubled > 0 && overtaken > 0 && lost > 0).then_some(())
        },
    );
}

#[test]
fn a_spawned_process_is_met_and_one_that_leaves_is_lost() {
    let bootstrap = bootstrap(2);
    let mut members = session(&bootstrap, 2);
    let infos = members[0].0.allot(2).expect("room");
    assert_eq!(
        infos.iter().map(|info| info.rank).collect::<Vec<_>>(),
        [2, 3]
    );
    let info = infos.into_iter().next().expect("two");
    // It waits for the others to answer, so it joins on a thread of its own.
    let joining = std::thread::spawn(move || Udp::join(&info).expect("joined"));
    for (_, inbox) in &mut members {
        let name = until(
            inbox,
            || (),
            |event| match event {
                Event::Joined { rank: 2, name } => Some(name),
                _ => None,
            },
        );
        assert_eq!(name, "rank 2");
    }
    let (late, _) = &joining.join().expect("no panic");
    let send = || {
        let _ = late.send(1, Message::from(7_u64.to_le_bytes().to_vec()));
    };
    assert_eq!(until(&mut members[1].1, send, number), (2, 7));
    drop(members.remove(0));
    let loss = until(
        &mut members[0].1,
        || (),
        |event| match event {
            Event::Lost { rank: 0, loss } => Some(loss),
            _ => None,
        },
    );
    assert!(loss.is_certain, "{loss:?}");
}

#[test]
fn strangers_are_not_heard() {
    let bootstrap = bootstrap(2);
    let mut members = session(&bootstrap, 2);
    let (udp, inbox) = &mut members[0];
    let target = udp.shared.socket.local_addr().expect("bound");
    let stranger = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let at = stranger.local_addr().expect("bound");
    let foreign = wire::Keys::of(Secret([8; 16]));
    let sealed = wire::note(&foreign, (1, at), 0, &Note::Leaving { birth: 0 });
    for datagram in [&sealed[..], &[0; 2000], &[], &[1; 13]] {
        stranger.send_to(datagram, target).expect("sent");
    }
    let mut events = Vec::new();
    for _ in 0..50 {
        inbox.receive(Some(Instant::now() + Duration::from_millis(1)), &mut events);
    }
    assert!(events.is_empty(), "{events:?}");
}

/// A stranger in between holds the datagrams of a process back, and sends them from its own address
/// first.
#[test]
fn nobody_is_met_at_an_address_that_it_does_not_send_from() {
    let bootstrap = bootstrap(2);
    let mut members = session(&bootstrap, 2);
    let later = members[0].0.allot(1).expect("room").remove(0);
    let genuine = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let stranger = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let own = (2, address_of(&genuine));
    let (birth, name) = (1, String::from("rank 2"));
    let (udp, inbox) = &mut members[0];
    let target = udp.shared.socket.local_addr().expect("bound");
    let knock = Note::Knock {
        birth,
        name: name.clone(),
    };
    let knock = wire::note(&keys(), own, 0, &knock);
    stranger.send_to(&knock, target).expect("sent");
    let mut events = Vec::new();
    for _ in 0..50 {
        inbox.receive(Some(Instant::now() + Duration::from_millis(1)), &mut events);
    }
    assert!(events.is_empty(), "{events:?}");
    genuine.send_to(&knock, target).expect("sent");
    let is_joined = |event| matches!(event, Event::Joined { rank: 2, .. }).then_some(());
    until(inbox, || (), is_joined);
    assert_eq!(
        udp.shared.peers.read()[&2].place.address,
        address_of(&genuine)
    );
    // The same at the bootstrap, which answers in the order in which it is asked.
    let at: std::net::SocketAddr = later.bootstrap.parse().expect("an address");
    let next = 2;
    let here = wire::note(
        &keys(),
        own,
        wire::BOOTSTRAP,
        &Note::Here { birth, name, next },
    );
    stranger.send_to(&here, at).expect("sent");
    let asking = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    asking.set_read_timeout(Some(PATIENCE)).expect("set");
    let (birth, name) = (0, String::new());
    let asks = Note::Here { birth, name, next };
    let asks = wire::note(&keys(), (0, address_of(&asking)), wire::BOOTSTRAP, &asks);
    asking.send_to(&asks, at).expect("sent");
    let mut space = [0; wire::NOTE_MAX];
    let length = asking.recv(&mut space).expect("an answer");
    let answer = wire::open(&keys(), 0, (&space[..length], at));
    let Some((_, wire::Content::Note(Note::Known { places, .. }))) = answer else {
        panic!("{answer:?}");
    };
    assert_eq!(places, [wire::Found::Nobody]);
}

/// A process that knows the secret may be mistaken, or lie.
#[test]
fn ranks_and_names_that_nobody_can_have_are_not_taken() {
    let bootstrap = bootstrap(1);
    let (udp, mut inbox) = session(&bootstrap, 1).remove(0);
    let target = udp.shared.socket.local_addr().expect("bound");
    let liar = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    for (rank, name) in [
        (Rank::MAX - 2, "liar".into()),
        (1, "x".repeat(wire::NAME + 1)),
    ] {
        let knock = Note::Knock { birth: 1, name };
        let knock = wire::note(&keys(), (rank, address_of(&liar)), 0, &knock);
        liar.send_to(&knock, target).expect("sent");
    }
    let mut events = Vec::new();
    for _ in 0..50 {
        inbox.receive(Some(Instant::now() + Duration::from_millis(1)), &mut events);
    }
    assert!(events.is_empty(), "{events:?}");
}

/// The stranger overhears what a process sends as it comes, and sends it again from elsewhere once
/// the process has left.
#[test]
fn who_has_left_does_not_come_again_by_an_old_knock() {
    let bootstrap = bootstrap(2);
    let mut members = session(&bootstrap, 2);
    let info = members[0].0.allot(1).expect("room").remove(0);
    let joining = std::thread::spawn(move || Udp::join(&info).expect("joined"));
    for (_, inbox) in &mut members {
        let is_joined = |event| matches!(event, Event::Joined { .. }).then_some(());
        until(inbox, || (), is_joined);
    }
    let (late, inbox) = joining.join().expect("no panic");
    let birth = late.shared.birth;
    drop((late, inbox));
    let (udp, inbox) = &mut members[0];
    let is_lost = |event| matches!(event, Event::Lost { rank: 2, .. }).then_some(());
    until(inbox, || (), is_lost);
    let name = String::from("rank 2");
    let target = udp.shared.socket.local_addr().expect("bound");
    let stranger = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let knock = Note::Knock { birth, name };
    let knock = wire::note(&keys(), (2, address_of(&stranger)), 0, &knock);
    stranger.send_to(&knock, target).expect("sent");
    let mut events = Vec::new();
    for _ in 0..50 {
        inbox.receive(Some(Instant::now() + Duration::from_millis(1)), &mut events);
    }
    assert!(events.is_empty(), "{events:?}");
}

/// A process with nothing to send does this, while another one is still joining.
#[test]
fn who_left_before_another_has_joined_is_not_waited_for() {
    let bootstrap = bootstrap(2);
    let info = bootstrap.launch_info(1);
    let name = String::from("rank 1");
    let here = Note::Here {
        birth: 1,
        name,
        next: 0,
    };
    // The process has come, and its answer is still on the way.
    let asking = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let address: std::net::SocketAddr = info.bootstrap.parse().expect("an address");
    let here = wire::note(&keys(), (1, address_of(&asking)), wire::BOOTSTRAP, &here);
    asking.send_to(&here, address).expect("sent");
    drop(Udp::join(&bootstrap.launch_info(0)).expect("both have come"));
    let (late, mut inbox) = Udp::join(&info).expect("nobody is waited for");
    let loss = until(
        &mut inbox,
        || (),
        |event| match event {
            Event::Lost { rank: 0, loss } => Some(loss),
            _ => None,
        },
    );
    assert!(loss.is_certain && loss.reason.contains("left"), "{loss:?}");
    // A spawned process does not wait for it either.
    let later = late.allot(1).expect("room").remove(0);
    let joining = std::thread::spawn(move || Udp::join(&later).expect("joined"));
    let is_joined = |event| matches!(event, Event::Joined { rank: 2, .. }).then_some(());
    until(&mut inbox, || (), is_joined);
    joining.join().expect("no panic");
}

/// A process that was killed or is stopped is not waited for anew by each newcomer.
#[test]
fn who_did_not_answer_is_doubted_until_it_does() {
    let bootstrap = bootstrap(1);
    let (first, mut inbox) = session(&bootstrap, 1).remove(0);
    let infos = first.allot(3).expect("room");
    let address: std::net::SocketAddr = infos[0].bootstrap.parse().expect("an address");
    let join = |at: usize, inboxes: &mut [&mut UdpInbox]| join_beside(&infos[at], inboxes);
    // Returns the bootstrap's answer on rank 1. The question goes out in the name of an older
    // process than it knows.
    let said = || {
        let asking = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
        asking.set_read_timeout(Some(PATIENCE)).expect("set");
        let (birth, name, next) = (0, String::new(), 1);
        let here = wire::note(
            &keys(),
            (0, address_of(&asking)),
            wire::BOOTSTRAP,
            &Note::Here { birth, name, next },
        );
        asking.send_to(&here, address).expect("sent");
        let mut space = [0; wire::NOTE_MAX];
        let length = asking.recv(&mut space).expect("an answer");
        match wire::open(&keys(), 0, (&space[..length], address)) {
            Some((_, wire::Content::Note(Note::Known { mut places, .. }))) => places.remove(0),
            other => panic!("{other:?}"),
        }
    };
    let (_silent, mut silents) = join(0, &mut [&mut inbox]);
    assert!(matches!(said(), wire::Found::There(_)));
    let (_second, mut seconds) = join(1, &mut [&mut inbox]);
    assert!(matches!(said(), wire::Found::Doubted(_)), "{:?}", said());
    let _third = join(2, &mut [&mut inbox, &mut silents, &mut seconds]);
    assert!(matches!(said(), wire::Found::There(_)), "{:?}", said());
}

/// Joins while others answer.
fn join_beside(info: &LaunchInfo, inboxes: &mut [&mut UdpInbox]) -> (Udp, UdpInbox) {
    let info = info.clone();
    let joining = std::thread::spawn(move || Udp::join(&info).expect("joined"));
    while !joining.is_finished() {
        for inbox in &mut *inboxes {
            let soon = Instant::now() + Duration::from_millis(1);
            inbox.receive(Some(soon), &mut Vec::new());
        }
    }
    joining.join().expect("no panic")
}

/// Enters the bootstrap by a test's own socket in a process's place.
fn enters(info: &LaunchInfo) -> std::net::UdpSocket {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    socket.set_read_timeout(Some(PATIENCE)).expect("set");
    let address: std::net::SocketAddr = info.bootstrap.parse().expect("an address");
    let (birth, name, next) = (1, info.name.clone(), 0);
    let here = Note::Here { birth, name, next };
    let own = (info.rank, address_of(&socket));
    let here = wire::note(&keys(), own, wire::BOOTSTRAP, &here);
    socket.send_to(&here, address).expect("sent");
    let mut space = [0; wire::NOTE_MAX];
    socket.recv(&mut space).expect("the bootstrap knows it");
    socket
}

/// Returns whether a knock came to a socket. The datagrams lie there already.
fn was_knocked_at(info: &LaunchInfo, socket: &std::net::UdpSocket) -> bool {
    socket.set_nonblocking(true).expect("set");
    let mut space = [0; wire::NOTE_MAX];
    std::iter::from_fn(|| {
        socket
            .recv_from(&mut space)
            .ok()
            .map(|(length, from)| (space[..length].to_vec(), from))
    })
    .any(|(datagram, from)| {
        let opened = wire::open(&keys(), info.rank, (&datagram, from));
        matches!(opened, Some((_, wire::Content::Note(Note::Knock { .. }))))
    })
}

#[test]
fn a_process_that_joins_does_not_knock_at_processes_that_have_ended() {
    let bootstrap = bootstrap(1);
    let (first, mut inbox) = session(&bootstrap, 1).remove(0);
    let infos = first.allot(4).expect("room");
    let killed = enters(&infos[0]);
    bootstrap.ended(1);
    let _second = join_beside(&infos[1], &mut [&mut inbox]);
    assert!(!was_knocked_at(&infos[0], &killed));
    // The same holds if the process that had started it reports the end.
    let (third, mut thirds) = join_beside(&infos[2], &mut [&mut inbox]);
    let silent = enters(&infos[3]);
    let address = silent.local_addr().expect("bound");
    let (birth, name) = (1, String::new());
    let place = wire::Place {
        address,
        birth,
        name,
    };
    third.shared.peers.write().insert(4, place.into());
    third.has_ended(4);
    let last = third.allot(1).expect("room").remove(0);
    let _last = join_beside(&last, &mut [&mut inbox, &mut thirds]);
    assert!(!was_knocked_at(&infos[3], &silent));
}

/// The process had not left when the other one asked for all places.
#[test]
fn a_process_that_leaves_while_another_one_knocks_at_it_is_not_waited_for() {
    let bootstrap = bootstrap(1);
    let (first, mut inbox) = session(&bootstrap, 1).remove(0);
    let infos = first.allot(2).expect("room");
    let leaving = enters(&infos[0]);
    let info = infos[1].clone();
    let joining = std::thread::spawn(move || Udp::join(&info).expect("joined"));
    let mut space = [0; wire::NOTE_MAX];
    leaving.recv(&mut space).expect("it is knocked at");
    bootstrap.ended(1);
    while !joining.is_finished() {
        inbox.receive(Some(Instant::now()), &mut Vec::new());
    }
    let (second, _inbox) = joining.join().expect("no panic");
    // The session would know it if it were still waited for.
    assert!(!second.shared.peers.read().contains_key(&1));
}

/// Two processes learn of each other while both are joining.
#[test]
fn processes_that_join_at_the_same_time_let_each_other_in() {
    let bootstrap = bootstrap(1);
    let (first, mut inbox) = session(&bootstrap, 1).remove(0);
    let infos = first.allot(2).expect("room");
    // This test is rank 2: it has come, joins, and knocks at rank 1, which does as well.
    let other = enters(&infos[1]);
    let own = infos[0].clone();
    let joining = std::thread::spawn(move || Udp::join(&own).expect("joined"));
    let (birth, name) = (1, String::from("rank 2"));
    let knock = Note::Knock { birth, name };
    let knock = wire::note(&keys(), (2, address_of(&other)), 1, &knock);
    let mut space = [0; wire::NOTE_MAX];
    let mut is_let_in = false;
    other
        .set_read_timeout(Some(Duration::from_millis(1)))
        .expect("set");
    let end = Instant::now() + PATIENCE;
    while !is_let_in {
        assert!(Instant::now() < end, "it does not answer while it joins");
        inbox.receive(Some(Instant::now()), &mut Vec::new());
        let Ok((length, from)) = other.recv_from(&mut space) else {
            continue;
        };
        // Each waits only until the other one knows its place.
        match wire::open(&keys(), 2, (&space[..length], from)) {
            Some((1, wire::Content::Note(Note::Knock { .. }))) => {
                assert!(!joining.is_finished(), "nobody has answered it");
                other.send_to(&knock, from).expect("sent");
            }
            Some((1, wire::Content::Note(Note::Welcome))) => is_let_in = true,
            _ => {}
        }
    }
    let (_second, mut seconds) = loop {
        if joining.is_finished() {
            break joining.join().expect("no panic");
        }
        inbox.receive(Some(Instant::now()), &mut Vec::new());
    };
    // Its session counts on lower ranks only, and is told of this one.
    until(
        &mut seconds,
        || (),
        |event| matches!(event, Event::Joined { rank: 2, name } if name == "rank 2").then_some(()),
    );
}

/// A process says once that it leaves: one that asks for others then must not miss it.
#[test]
fn who_leaves_while_another_asks_its_way_in_is_not_waited_for() {
    // This test answers in the bootstrap's place.
    let bootstrap = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    bootstrap.set_read_timeout(Some(PATIENCE)).expect("set");
    let info = LaunchInfo {
        bootstrap: bootstrap.local_addr().expect("bound").to_string(),
        ..self::bootstrap(2).launch_info(1)
    };
    let joining = std::thread::spawn(move || Udp::join(&info).expect("joined"));
    let place = |birth| {
        let address = bootstrap.local_addr().expect("bound");
        let name = String::new();
        wire::Found::There(wire::Place {
            address,
            birth,
            name,
        })
    };
    let mut space = [0; wire::NOTE_MAX];
    let mut answer_from = |wanted: Rank, found: Vec<wire::Found>, leaves: bool| loop {
        let (length, from) = bootstrap.recv_from(&mut space).expect("it asks");
        let asked = wire::open(&keys(), wire::BOOTSTRAP, (&space[..length], from));
        let Some((1, wire::Content::Note(Note::Here { next, .. }))) = asked else {
            continue;
        };
        if leaves {
            let own = (0, address_of(&bootstrap));
            let leaving = wire::note(&keys(), own, 1, &Note::Leaving { birth: 5 });
            bootstrap.send_to(&leaving, from).expect("sent");
        }
        let known = Note::Known {
            next,
            given: 2,
            places: found.clone(),
        };
        if next == wanted {
            let own = (wire::BOOTSTRAP, address_of(&bootstrap));
            let known = wire::note(&keys(), own, 1, &known);
            bootstrap.send_to(&known, from).expect("sent");
            return;
        }
    };
    answer_from(0, vec![place(5), wire::Found::Nobody], false);
    answer_from(1, vec![place(6)], true);
    let (_late, mut inbox) = joining.join().expect("no panic");
    let is_lost = |event| match event {
        Event::Lost { rank: 0, loss } => Some(loss.is_certain),
        _ => None,
    };
    assert!(until(&mut inbox, || (), is_lost));
}

#[test]
fn a_bootstrap_that_is_none_is_refused() {
    let info = LaunchInfo {
        bootstrap: "somewhere".into(),
        ..bootstrap(1).launch_info(0)
    };
    let refusal = Udp::join(&info).err().expect("refused").to_string();
    assert!(refusal.contains("`somewhere` is no address"), "{refusal}");
}

/// Such addresses need the number of a card, which differs from host to host.
#[test]
fn addresses_of_one_link_are_refused() {
    let refused = |error: String| {
        let says = error.contains("fe80::1 is an address of one link: use one of a wider scope");
        assert!(says, "{error}");
    };
    let secret = Secret([7; 16]);
    let link = "[fe80::1%1]:0".parse().expect("an address");
    refused(Bootstrap::at(link, 2, secret).unwrap_err().to_string());
    let tcp = crate::platform::Bootstrap::hold(link, 2, secret);
    refused(tcp.unwrap_err().to_string());
    refused(towards(link).unwrap_err().to_string());
    let info = LaunchInfo {
        address: Some(link.ip()),
        ..bootstrap(2).launch_info(0)
    };
    refused(Udp::join(&info).err().expect("refused").to_string());
    let any = "127.0.0.1:0".parse().expect("an address");
    let tcp = crate::platform::Bootstrap::hold(any, 2, secret).expect("a port");
    let info = LaunchInfo {
        address: Some(link.ip()),
        ..tcp.launch_info("tcp", 0)
    };
    refused(Tcp::join(&info).expect_err("refused").to_string());
}

/// Three processes find out which ones hear; one datagram then comes to both others.
#[test]
fn what_is_sent_to_the_group_comes_to_all_who_hear() {
    let bootstrap = bootstrap(3).multicast(true);
    let mut members = session(&bootstrap, 3);
    if members
        .iter()
        .any(|(udp, _)| udp.shared.multicast.is_none())
    {
        eprintln!("skipped: the system lets no process join a multicast group");
        return;
    }
    let (udp, mut inbox) = members.remove(0);
    let mut hearing = BTreeSet::new();
    let end = Instant::now() + Duration::from_secs(3);
    let mut events = Vec::new();
    while hearing.len() < 2 && Instant::now() < end {
        inbox.receive(Some(Instant::now() + Duration::from_millis(1)), &mut events);
        for (_, other) in &mut members {
            let mut theirs = Vec::new();
            other.receive(Some(Instant::now() + Duration::from_millis(1)), &mut theirs);
        }
        hearing.extend(events.drain(..).filter_map(|event| match event {
            Event::Hears { rank } => Some(rank),
            _ => None,
        }));
    }
    if hearing.len() < 2 {
        eprintln!("skipped: multicast does not pass between processes here");
        return;
    }
    let frame = Message::from(7_u64.to_le_bytes().to_vec());
    for (_, other) in &mut members {
        let send = || udp.multicast(frame.clone());
        let came = until(other, send, |event| match event {
            Event::Multicast { from, frame } => number(Event::Frame { from, frame }),
            _ => None,
        });
        assert_eq!(came, (0, 7));
    }
    udp.is_deaf(1);
    let again = Duration::from_secs(1);
    let due = udp.shared.multicast.as_ref().expect("there");
    assert!(due.probing.lock().due() > Some(Instant::now() + again));
}

/// Strangers send to the group, and so do datagrams that were sealed for one process.
#[test]
fn strangers_are_not_heard_in_the_group() {
    let bootstrap = bootstrap(3).multicast(true);
    let mut members = session(&bootstrap, 3);
    let (udp, inbox) = &mut members[0];
    let Some(multicast) = &udp.shared.multicast else {
        eprintln!("skipped: the system lets no process join a multicast group");
        return;
    };
    let stranger = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let mut other = Vec::new();
    wire::frame(
        &wire::Keys::of(Secret([8; 16])),
        1,
        wire::EVERYBODY,
        [&[1; 8][..]],
        &mut other,
    );
    let mut own = Vec::new();
    wire::frame(&keys(), 1, 0, [&[1; 8][..]], &mut own);
    let leaving = Note::Leaving { birth: 0 };
    let leaving = wire::note(
        &keys(),
        (1, address_of(&stranger)),
        wire::EVERYBODY,
        &leaving,
    );
    for datagram in [&other[..], &own, &leaving, &[0; 2000], &[]] {
        // If the group cannot be reached, nothing comes either.
        let _ = stranger.send_to(datagram, multicast.group);
    }
    let mut events = Vec::new();
    for _ in 0..50 {
        inbox.receive(Some(Instant::now() + Duration::from_millis(1)), &mut events);
    }
    events.retain(|event| !matches!(event, Event::Hears { .. }));
    assert!(events.is_empty(), "{events:?}");
}
