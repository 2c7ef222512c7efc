//! Collective operations: processes that run ahead, bytes, and processes that disagree.

use std::time::Duration;

use antiphon_panda::{Communicator, Error, Group, Message, Session, thread};

use super::{Make, run};

/// Number of operations that a process is late for.
const MANY: u32 = 10_000;

/// Roots that only send, and leaves that only send, run ahead of late processes. None of their
/// values is lost.
pub fn communicators_nobody_overruns(make: Make) {
    run(make, 3, |session| {
        let (rank, all) = (session.rank(), session.everyone().unwrap());
        let is_late = |late: u32| {
            if rank == late {
                thread::sleep(Duration::from_millis(100));
            }
        };
        is_late(1);
        for number in 0..MANY {
            let own = (rank == 0).then_some(number);
            assert_eq!(all.broadcast(0, own.as_ref()).unwrap(), number);
        }
        is_late(0);
        for number in 0..MANY / 4 {
            let gathered = all.gather(0, &(number + rank)).unwrap();
            let expected = vec![number, number + 1, number + 2];
            assert_eq!(gathered, (rank == 0).then_some(expected));
        }
        // The root changes with each operation.
        is_late(2);
        for number in 0..MANY / 4 {
            let root = number % 3;
            let own = (rank == root).then_some(number);
            assert_eq!(all.broadcast(root, own.as_ref()).unwrap(), number);
            let sum = all.reduce((root + 1) % 3, &number, |a, b| a + b).unwrap();
            assert_eq!(sum, (rank == (root + 1) % 3).then_some(3 * number));
        }
        all.barrier().unwrap();
    });
}

/// Bytes arrive unchanged, in pieces of any size.
pub fn communicators_carry_bytes(make: Make) {
    run(make, 3, |session| {
        let (rank, all) = (session.rank(), session.everyone().unwrap());
        for length in [0, 1, 5000, 300_000] {
            let of = |rank: u32| vec![rank as u8 + 1; length];
            let own = (rank == 2).then(|| Message::from(of(2)));
            assert!(all.broadcast_bytes(2, own).unwrap().to_bytes() == of(2));
            let gathered = all.gather_bytes(1, of(rank)).unwrap();
            let gathered = gathered.map(|all| all.iter().map(|one| one.to_bytes()).collect());
            assert!(
                gathered == (rank == 1).then(|| [0, 1, 2].map(|rank| of(rank).into()).to_vec())
            );
            let parts = match rank {
                0 => (0..3).map(|rank| of(rank).into()).collect(),
                _ => Vec::new(),
            };
            assert!(all.scatter_bytes(0, parts).unwrap().to_bytes() == of(rank));
            let longer = |mut a: Message, b: Message| {
                a.append(b);
                a
            };
            let sum = all.all_reduce_bytes(of(rank), longer).unwrap();
            assert_eq!(sum.len(), 3 * length);
            let sum = all.reduce_bytes(2, of(rank), longer).unwrap();
            assert_eq!(sum.map(|sum| sum.len()), (rank == 2).then_some(3 * length));
        }
        all.barrier().unwrap();
    });
}

/// Processes may call different operations, list the processes in another order, or bring values of
/// other types. They get errors, and the communicator is usable afterwards.
pub fn communicators_that_disagree_end_with_an_error(make: Make) {
    fn mismatch<T>(session: &Session, outcome: Result<T, Error>) {
        let error = outcome.map(drop).unwrap_err();
        assert!(matches!(error, Error::Mismatch { .. }), "{error}");
        let named = (0..session.size()).map(|rank| session.name_of(rank));
        assert!(
            named
                .into_iter()
                .any(|name| error.to_string().contains(&name))
        );
    }
    run(make, 2, |session| {
        let (rank, all) = (session.rank(), session.everyone().unwrap());
        let twice = session.communicator(&[0, 1, 0, 1]).err();
        assert!(matches!(twice, Some(Error::TwiceInCommunicator(0))));

        let own = session.communicator(&[rank, 1 - rank]).unwrap();
        mismatch(&session, own.barrier());
        all.barrier().unwrap();

        let other = |communicator: &Communicator| match rank {
            0 => communicator.barrier(),
            _ => communicator.all_reduce(&1, |a: u32, b| a + b).map(drop),
        };
        mismatch(&session, other(&all));
        all.barrier().unwrap();

        let outcome = match rank {
            0 => all
                .all_reduce(&String::from("text"), |a, b| a + &b)
                .map(drop),
            _ => all.all_reduce(&[u64::MAX; 4], |a, _| a).map(drop),
        };
        mismatch(&session, outcome);

        mismatch(&session, all.gather_bytes(rank, vec![1]));
        all.barrier().unwrap();

        // Communicators with the same members are separate if they have names.
        let users = ["first", "second"].map(|name| {
            let session = session.clone();
            let uses = move || {
                let communicator = session.communicator_named(name, &[0, 1]).unwrap();
                for number in 0..100 {
                    let value = format!("{name} {number}");
                    let own = (rank == 0).then_some(&value);
                    assert_eq!(communicator.broadcast(0, own).unwrap(), value);
                    communicator.barrier().unwrap();
                }
            };
            thread::spawn(uses).unwrap()
        });
        for user in users {
            user.join().expect("no panic");
        }
        all.barrier().unwrap();
    });
}

/// Waits for a view with `count` members.
fn wait_for_members(session: &Session, group: &Group, count: usize) {
    let is_there = || group.members().len() == count;
    assert!(session.wait_until(is_there, None).unwrap());
}

fn names(outcome: Result<(), Error>, rank: u32) {
    let error = outcome.expect_err("the view has changed");
    let named = match error {
        Error::Lost { rank, .. } | Error::Mismatch { rank, .. } => rank,
        other => panic!("{other}"),
    };
    assert_eq!(named, rank, "{error}");
}

/// A group's communicator belongs to one view and has its members. A process that waits for a
/// member that left, or while another joins, gets an error. The next view has a communicator of its
/// own.
pub fn communicators_of_a_group_are_of_one_view(make: Make) {
    run(make, 3, |session| {
        let (rank, all) = (session.rank(), session.everyone().unwrap());
        let join = || session.join_group("communicator", drop).unwrap();
        let group = join();
        wait_for_members(&session, &group, 3);
        let whole = group.communicator().unwrap();
        assert_eq!(whole.ranks(), group.members());
        assert_eq!(whole.all_reduce(&(rank + 1), |a, b| a + b).unwrap(), 6);
        let root = whole.ranks()[0];
        let own = (rank == root).then_some(&root);
        assert_eq!(whole.broadcast(root, own).unwrap(), root);
        all.barrier().unwrap();

        // One leaves while the others wait for it.
        if rank == 2 {
            group.leave().unwrap();
            all.barrier().unwrap();
            let group = join();
            wait_for_members(&session, &group, 3);
            group.communicator().unwrap().barrier().unwrap();
            all.barrier().unwrap();
            return;
        }
        names(whole.barrier(), 2);
        wait_for_members(&session, &group, 2);
        names(whole.barrier(), 2);
        let rest = group.communicator().unwrap();
        assert_eq!(rest.all_reduce(&(rank + 1), |a, b| a + b).unwrap(), 3);

        // It joins again. Meanwhile one of the other two waits for the other in the previous view's
        // communicator.
        all.barrier().unwrap();
        if rank == 0 {
            names(rest.barrier(), 2);
        }
        wait_for_members(&session, &group, 3);
        names(rest.barrier(), 2);
        group.communicator().unwrap().barrier().unwrap();
        all.barrier().unwrap();
        group.leave().unwrap();
    });
}

/// Every operation that waits for an ended process names it, and the next view has a communicator.
pub fn a_communicator_of_a_group_names_who_is_lost(make: Make) {
    run(make, 3, |session| {
        let rank = session.rank();
        let group = session.join_group("communicator", drop).unwrap();
        wait_for_members(&session, &group, 3);
        let whole = group.communicator().unwrap();
        whole.barrier().unwrap();
        session.everyone().unwrap().barrier().unwrap();
        if rank == 1 {
            return;
        }
        names(whole.barrier(), 1);
        wait_for_members(&session, &group, 2);
        let rest = group.communicator().unwrap();
        assert_eq!(rest.all_reduce(&rank, |a, b| a + b).unwrap(), 2);
    });
}

/// A communicator of some members of a view is separate from all others of these processes. It ends
/// with the view, even if its own members stay. Values that ran ahead in it are then dropped.
pub fn communicators_of_some_members_end_with_the_view(make: Make) {
    run(make, 4, |session| {
        let (rank, all) = (session.rank(), session.everyone().unwrap());
        let group = session.join_group("some", drop).unwrap();
        wait_for_members(&session, &group, 4);
        let whole = group.communicator().unwrap();
        if rank > 0 {
            let some = group.communicator_of(&[3, 1, 2]).unwrap();
            assert_eq!(some.ranks(), [3, 1, 2]);
            let gathered = some.gather(1, &rank).unwrap();
            assert_eq!(gathered, (rank == 1).then(|| vec![3, 1, 2]));
            // This communicator has the same processes at the same time, and rank 3 may run ahead
            // in it.
            let plain = session.communicator(&[3, 1, 2]).unwrap();
            let own = |value: u32| (rank == 3).then_some(value);
            if rank == 3 {
                some.broadcast(3, own(30).as_ref()).unwrap();
                plain.broadcast(3, own(31).as_ref()).unwrap();
            } else {
                assert_eq!(plain.broadcast::<u32>(3, None).unwrap(), 31);
                assert_eq!(some.broadcast::<u32>(3, None).unwrap(), 30);
            }
        }
        let everybody = group.communicator_of(whole.ranks()).unwrap();
        let (first, is_first) = (whole.ranks()[0], rank == whole.ranks()[0]);
        if is_first {
            everybody.broadcast(first, Some(&1u32)).unwrap();
            whole.broadcast(first, Some(&2u32)).unwrap();
        } else {
            assert_eq!(whole.broadcast::<u32>(first, None).unwrap(), 2);
            assert_eq!(everybody.broadcast::<u32>(first, None).unwrap(), 1);
        }
        assert!(matches!(
            group.communicator_of(&[rank, rank]),
            Err(Error::TwiceInCommunicator(_))
        ));
        assert!(matches!(
            group.communicator_of(&[(rank + 1) % 4]),
            Err(Error::NotInCommunicator(_))
        ));
        all.barrier().unwrap();

        // A process outside these communicators leaves the group while a member of one waits for
        // another.
        let pair = (rank < 2).then(|| group.communicator_of(&[0, 1]).unwrap());
        if rank == 2 {
            // Rank 1 asks for this communicator only in the next view.
            let early = group.communicator_of(&[2, 1]).unwrap();
            early.broadcast(2, Some(&2u32)).unwrap();
        }
        all.barrier().unwrap();
        if rank == 3 {
            group.leave().unwrap();
            all.barrier().unwrap();
            return;
        }
        if let Some(pair) = &pair {
            if rank == 0 {
                names(pair.barrier(), 3);
            }
            wait_for_members(&session, &group, 3);
            names(pair.barrier(), 3);
        }
        wait_for_members(&session, &group, 3);
        let gone = group.communicator_of(&[rank, 3]).map(drop);
        names(gone, 3);
        if rank > 0 {
            // The same list in the next view makes another communicator.
            let own = (rank == 2).then_some(&5u32);
            let again = group.communicator_of(&[2, 1]).unwrap();
            assert_eq!(again.broadcast(2, own).unwrap(), 5);
        }
        all.barrier().unwrap();
        group.leave().unwrap();
    });
}
