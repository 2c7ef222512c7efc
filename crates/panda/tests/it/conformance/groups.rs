//! Groups: one order, views that all members see alike, and progress after a loss.

use std::time::Duration;

use antiphon_panda::{Error, GroupEvent, Message, Session, thread};

use super::{LIMIT, Make, mailbox, run};

/// All members send, and all deliver the same order.
pub fn a_group_has_one_order(make: Make) {
    const EACH: u32 = 300;
    let orders = run(make, 3, |session| {
        let (sender, receiver) = mailbox();
        let group = session
            .join_group("all", move |event| sender.send(event))
            .unwrap();
        let all = session.everyone().unwrap();
        all.barrier().unwrap();
        for number in 0..EACH {
            // Some are long, because long messages take another path.
            let length = if number % 50 == 7 { 4000 } else { 10 };
            group
                .send(Message::of(&(session.rank(), number, vec![7u8; length])).unwrap())
                .unwrap();
        }
        let mut order = Vec::new();
        while order.len() < 3 * EACH as usize {
            if let GroupEvent::Message { from, payload, .. } =
                receiver.receive_within(LIMIT).expect("all are delivered")
            {
                let (rank, number, _): (u32, u32, Vec<u8>) = payload.value().unwrap();
                assert_eq!(rank, from);
                order.push((rank, number));
            }
        }
        all.barrier().unwrap();
        group.leave().unwrap();
        all.barrier().unwrap();
        order
    });
    assert!(orders.windows(2).all(|pair| pair[0] == pair[1]));
    for rank in 0..3 {
        let own: Vec<u32> = orders[0]
            .iter()
            .filter(|(from, _)| *from == rank)
            .map(|(_, number)| *number)
            .collect();
        assert!(own.iter().copied().eq(0..EACH));
    }
}

/// Groups that share members are ordered independently. All members of a group see one order, and
/// no member sees another group's messages.
pub fn groups_of_different_members_have_an_order_each(make: Make) {
    const EACH: u32 = 100;
    const GROUPS: [&[u32]; 3] = [&[0, 1], &[1, 2], &[2, 0, 1]];
    let orders = run(make, 3, |session| {
        let all = session.everyone().unwrap();
        let (sender, receiver) = mailbox();
        let mine = (0..GROUPS.len()).filter(|at| GROUPS[*at].contains(&session.rank()));
        let groups: Vec<_> = mine
            .map(|at| {
                let sender = sender.clone();
                let upcall = move |event| sender.send((at, event));
                let group = session.join_group(&format!("group {at}"), upcall).unwrap();
                (at, group)
            })
            .collect();
        all.barrier().unwrap();
        for number in 0..EACH {
            for (at, group) in &groups {
                let payload = Message::of(&(*at as u32, session.rank(), number)).unwrap();
                group.send(payload).unwrap();
            }
        }
        let expected: usize = groups
            .iter()
            .map(|(at, _)| GROUPS[*at].len() * EACH as usize)
            .sum();
        let mut orders = vec![Vec::new(); GROUPS.len()];
        while orders.iter().map(Vec::len).sum::<usize>() < expected {
            let (at, event) = receiver.receive_within(LIMIT).expect("all are delivered");
            if let GroupEvent::Message { payload, .. } = event {
                let (of, from, number): (u32, u32, u32) = payload.value().unwrap();
                assert_eq!(of as usize, at);
                orders[at].push((from, number));
            }
        }
        all.barrier().unwrap();
        for (_, group) in groups {
            group.leave().unwrap();
        }
        all.barrier().unwrap();
        orders
    });
    for (at, members) in GROUPS.iter().enumerate() {
        let first = &orders[members[0] as usize][at];
        assert!(
            members
                .iter()
                .all(|rank| orders[*rank as usize][at] == *first)
        );
        for rank in *members {
            let own = first.iter().filter(|(from, _)| from == rank);
            assert!(own.map(|(_, number)| *number).eq(0..EACH));
        }
    }
}

/// One member of a group of two ends. The other goes on alone, whichever of them was the sequencer.
pub fn a_group_of_two_goes_on_when_one_has_ended(make: Make) {
    for survivor in [0, 1] {
        run(make, 2, move |session| {
            let all = session.everyone().unwrap();
            let (sender, receiver) = mailbox();
            let mut group = None;
            // They join in this order, so that rank 0 is the sequencer.
            for rank in 0..2 {
                if rank == session.rank() {
                    let sender = sender.clone();
                    let joined = session.join_group("two", move |event| sender.send(event));
                    group = Some(joined.unwrap());
                }
                all.barrier().unwrap();
            }
            if session.rank() != survivor {
                return;
            }
            let group = group.expect("joined");
            loop {
                match receiver.receive_within(LIMIT).expect("the group goes on") {
                    GroupEvent::View { members, left, .. } if left == [1 - survivor] => {
                        assert_eq!(members, [survivor]);
                        break;
                    }
                    GroupEvent::View { .. } => {}
                    other => panic!("{other:?}"),
                }
            }
            group.send(b"alone".as_slice()).unwrap();
            let event = receiver.receive_within(LIMIT).expect("it is delivered");
            assert!(matches!(event, GroupEvent::Message { from, .. } if from == survivor));
        });
    }
}

/// A late member begins with a view, and then sees all that the others see.
pub fn a_joiner_begins_at_one_point(make: Make) {
    let seen = run(make, 3, |session| {
        let all = session.everyone().unwrap();
        let (sender, receiver) = mailbox();
        let events = move |event: GroupEvent| sender.send(event);
        let group = if session.rank() < 2 {
            Some(session.join_group("late", events.clone()).unwrap())
        } else {
            None
        };
        all.barrier().unwrap();
        if let Some(group) = &group {
            (0..50u32).for_each(|n| group.send(Message::of(&n).unwrap()).unwrap());
        }
        let group = group.unwrap_or_else(|| session.join_group("late", events).unwrap());
        all.barrier().unwrap();
        if session.rank() == 0 {
            group.send(Message::of(&1000u32).unwrap()).unwrap();
        }
        let mut seen = Vec::new();
        let mut has_begun = false;
        loop {
            let event = receiver.receive_within(LIMIT);
            let event = event.expect("the last message comes");
            let is_view = matches!(event, GroupEvent::View { .. });
            assert!(has_begun || is_view, "begins with {event:?}");
            has_begun = true;
            match event {
                GroupEvent::Message { place, payload, .. } => {
                    let number: u32 = payload.value().unwrap();
                    seen.push((place, number));
                    if number == 1000 {
                        break;
                    }
                }
                // Messages before the view of all three are not common to all.
                GroupEvent::View { members, .. } if members.len() == 3 => seen.clear(),
                _ => {}
            }
        }
        all.barrier().unwrap();
        seen
    });
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0], seen[2]);
}

/// A process joins a group, and then more other groups than any process keeps by name alone. It
/// leaves some of them. Then the other processes join the first group.
pub fn groups_beside_many_others_are_as_they_were(make: Make) {
    const OTHERS: u32 = 1100;
    const AT_ONCE: u32 = 20;
    let seen = run(make, 3, |session| {
        let all = session.everyone().unwrap();
        let (sender, receiver) = mailbox();
        let events = move |event: GroupEvent| sender.send(event);
        let mut group = None;
        if session.rank() == 1 {
            group = Some(session.join_group("kept", events.clone()).unwrap());
            let part = |part: u32, session: Session| {
                for number in (part..OTHERS).step_by(AT_ONCE as usize) {
                    let other = session
                        .join_group(&format!("other {number}"), drop)
                        .unwrap();
                    if number % 8 == 0 {
                        other.leave().unwrap();
                    }
                }
            };
            let parts = (0..AT_ONCE).map(|at| {
                let session = session.clone();
                thread::spawn(move || part(at, session)).unwrap()
            });
            let parts: Vec<_> = parts.collect();
            parts.into_iter().for_each(|part| part.join().unwrap());
        }
        let (busy, begun) = (session.port("busy"), session.port("begun"));
        let tell = begun.clone();
        // For a while this member does not answer processes that ask whether the group has members.
        busy.on_message(move |_| {
            [0, 2]
                .into_iter()
                .for_each(|to| tell.send(to, 0, Message::new()).unwrap());
            std::thread::sleep(Duration::from_secs(1));
        })
        .unwrap();
        all.barrier().unwrap();
        if session.rank() == 2 {
            busy.send(1, 0, Message::new()).unwrap();
        }
        if session.rank() != 1 {
            begun.receive(Some(1), None).unwrap();
        }
        let group = group.unwrap_or_else(|| session.join_group("kept", events).unwrap());
        all.barrier().unwrap();
        group.send(Message::of(&session.rank()).unwrap()).unwrap();
        let (mut members, mut order) = (Vec::new(), Vec::new());
        while order.len() < 3 {
            match receiver.receive_within(LIMIT).expect("all are delivered") {
                GroupEvent::Message { payload, .. } => order.push(payload.value::<u32>().unwrap()),
                GroupEvent::View { members: now, .. } => members = now,
                other => panic!("{other:?}"),
            }
        }
        all.barrier().unwrap();
        (members, order)
    });
    let (members, order) = &seen[0];
    assert_eq!((members.len(), order.len()), (3, 3));
    assert!(seen.iter().all(|other| other == &seen[0]), "{seen:?}");
}

/// Every operation that waits for an ended process names it, and the group goes on.
pub fn a_lost_peer_is_named_and_the_group_goes_on(make: Make) {
    run(make, 3, |session| {
        let name = session.name_of(1);
        let (sender, receiver) = mailbox();
        let group = session
            .join_group("survivors", move |event| sender.send(event))
            .unwrap();
        let all = session.everyone().unwrap();
        all.barrier().unwrap();
        if session.rank() == 1 {
            return;
        }
        let port = session.port("nothing");
        let failures = [
            port.receive(Some(1), None).map(drop),
            session.call(1, "nothing", Message::new(), None).map(drop),
            port.send_synchronously(1, 0, Message::new()),
            all.barrier(),
        ];
        for failure in failures {
            let error = failure.unwrap_err();
            assert!(
                matches!(&error, Error::Lost { peer, .. } if *peer == name),
                "{error}"
            );
        }
        group.send(Message::of(&session.rank()).unwrap()).unwrap();
        let (mut from, mut members) = (Vec::new(), Vec::new());
        while from.len() < 2 || members.len() != 2 {
            match receiver.receive_within(LIMIT).expect("the group goes on") {
                GroupEvent::Message { from: rank, .. } => from.push(rank),
                GroupEvent::View { members: now, .. } => members = now,
                other => panic!("{other:?}"),
            }
        }
        from.sort_unstable();
        assert_eq!(from, [0, 2]);
        session.communicator(&[0, 2]).unwrap().barrier().unwrap();
    });
}
