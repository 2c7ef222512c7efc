//! Processes that others start while a simulation runs: what `spawning/local.rs` of panda's tests
//! does, over the simulated network.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use antiphon_panda::thread::{self, Mutex};
use antiphon_panda::{Error, GroupEvent, Message, PeerEvent, Session, Signal, SpawnOptions};
use antiphon_panda_sim::{End, Fault, Halt, Kind, Network, Programs, Simulation, seeds};

const SECOND: Duration = Duration::from_secs(1);
const KINDS: [Kind; 4] = [Kind::Datagrams, Kind::Multicast, Kind::Streams, Kind::Bus];

fn rough(kind: Kind) -> Network {
    Network::new(kind, 100, 50, 50, 2000)
}

/// Adds its rank to what it is sent when all are there.
fn child(session: &Session) -> Result<Vec<u64>, Error> {
    let numbers = Arc::new(Mutex::<Vec<u64>>::new(Default::default()));
    let own = numbers.clone();
    let _group = session.join_group("all", move |event| {
        if let GroupEvent::Message { payload, .. } = event {
            own.lock().push(payload.value().unwrap());
        }
    })?;
    session.wait_until(|| !numbers.lock().is_empty(), None)?;
    let result = numbers.lock()[0] + u64::from(session.rank());
    let parent = session.parent().expect("it was spawned");
    session.call(parent, "result", Message::of(&result)?, None)?;
    Ok(vec![result])
}

fn spawner(session: &Session) -> Result<Vec<u64>, Error> {
    assert_eq!(session.spawn("no", [""; 0], 0)?, []);
    assert_eq!(session.parent(), None);
    let results = Arc::new(Mutex::<Vec<(u32, u64)>>::new(Default::default()));
    let own = results.clone();
    session.serve("result", move |call| {
        own.lock().push((call.from, call.payload.value().unwrap()));
        call.reply.send(Message::new());
    })?;
    let members = Arc::new(Mutex::<usize>::new(Default::default()));
    let own = members.clone();
    let group = session.join_group("all", move |event| {
        if let GroupEvent::View { members, .. } = event {
            *own.lock() = members.len();
        }
    })?;
    assert_eq!(session.spawn("child", [""; 0], 2)?, [1, 2]);
    assert_eq!((session.size(), session.population()), (1, 3));
    // Those that are there serve those that come.
    assert_eq!(session.spawn("child", [""; 0], 1)?, [3]);
    session.wait_until(|| *members.lock() == 4, None)?;
    group.send(Message::of(&7u64)?)?;
    for rank in 1..4 {
        let end = session.port("end").receive(Some(rank), None).unwrap_err();
        assert!(matches!(end, Error::Lost { .. }), "{end}");
    }
    let mut all = results.lock().clone();
    all.sort_unstable();
    assert_eq!(all, [(1, 8), (2, 9), (3, 10)]);
    Ok(Vec::new())
}

#[test]
fn who_is_spawned_is_told_of_and_tells() {
    for kind in KINDS {
        let run = Simulation::of(1).over(rough(kind));
        let follow = |session: &Session| {
            let reported = Arc::new(Mutex::<Vec<(u32, PeerEvent)>>::new(Default::default()));
            let upcall = reported.clone();
            let keep = move |rank, event| upcall.lock().push((rank, event));
            session.on_peer(keep).expect("the session goes on");
            reported
        };
        let run = run.program("child", move |session, _| {
            let reported = follow(&session);
            let ranks = || {
                reported
                    .lock()
                    .iter()
                    .map(|(rank, _)| *rank)
                    .collect::<BTreeSet<u32>>()
            };
            session
                .wait_until(|| ranks().len() == 2, None)
                .expect("no upcall");
            (session.rank(), ranks().into_iter().collect())
        });
        let run = run.run(move |session| {
            let reported = follow(&session);
            session.spawn("child", [""; 0], 2).expect("it is known");
            session
                .wait_until(|| reported.lock().len() == 4, None)
                .expect("no upcall");
            for rank in [1, 2] {
                let reported = reported.lock();
                let mut events = reported.iter().filter(|(of, _)| *of == rank);
                assert_eq!(events.next(), Some(&(rank, PeerEvent::Joined)));
                assert!(matches!(events.next(), Some((_, PeerEvent::Left))));
            }
            (session.rank(), vec![1, 2])
        });
        let values = run.unwrap().values().unwrap();
        assert_eq!(values, [(0, vec![1, 2]), (1, vec![0, 2]), (2, vec![0, 1])]);
    }
}

#[test]
fn processes_are_spawned() {
    for kind in KINDS {
        for seed in seeds(5) {
            let run = Simulation::of(1).over(rough(kind)).seed(seed);
            let run = run.program("child", |session, _| child(&session));
            let run = run.run(|session| spawner(&session)).unwrap();
            let ends = run.values().unwrap_or_else(|failure| panic!("{failure}"));
            let ends: Result<Vec<_>, _> = ends.into_iter().collect();
            assert_eq!(
                ends.unwrap(),
                [vec![], vec![8], vec![9], vec![10]],
                "{kind:?}, seed {seed}"
            );
        }
    }
}

#[test]
fn a_spawned_process_is_known_to_all_and_has_its_arguments() {
    for kind in KINDS {
        for seed in seeds(5) {
            let run = Simulation::of(3)
                .over(rough(kind))
                .seed(seed)
                .program("is greeted", |session, args| {
                    let greeting = session.port("greeting").receive(Some(1), None)?;
                    assert_eq!(greeting.tag, 7);
                    session
                        .port("thanks")
                        .send_synchronously(0, 0, Message::new())?;
                    Ok(args)
                })
                .run(|session| {
                    if session.rank() == 0 {
                        let spawned = session.spawn("is greeted", ["one", "two"], 1)?[0];
                        session.port("told").send(1, spawned, Message::new())?;
                        session.port("thanks").receive(Some(spawned), None)?;
                    } else if session.rank() == 1 {
                        // It knows the rank that it is told.
                        let reported = session.port("told").receive(Some(0), None)?;
                        session
                            .port("greeting")
                            .send(reported.tag, 7, Message::new())?;
                    }
                    // And so does who was neither asked nor told.
                    session.wait_until(|| session.population() == 4, None)?;
                    Ok::<_, Error>(Vec::new())
                })
                .unwrap();
            let mut ends = run.values().unwrap_or_else(|failure| panic!("{failure}"));
            let args = ends.remove(3).unwrap();
            assert_eq!(args, ["one", "two"].map(OsString::from));
            ends.into_iter().for_each(|end| drop(end.unwrap()));
        }
    }
}

/// Over a bus only those that have followed a group know who is in it. While all of them are
/// stopped nobody else is let in, and hears why.
#[test]
fn who_wants_into_a_group_that_stopped_processes_know_is_told_so() {
    let joins = |session: &Session| session.join_group("all", |_| ());
    for seed in seeds(5) {
        let run = Simulation::of(1)
            .over(rough(Kind::Bus))
            .seed(seed)
            .at(SECOND * 5, Fault::Stop(0))
            .at(SECOND * 40, Fault::Continue(0))
            .program("worker", move |session, _| {
                thread::sleep(SECOND * 10);
                let refused = joins(&session).err().expect("nobody says who is in it");
                // At the latest when the other goes on it would be let in.
                let is_named = refused.to_string().contains("rank 0 did not answer");
                assert!(is_named, "{refused}");
                thread::sleep(SECOND * 40);
                drop(joins(&session)?);
                Ok::<_, Error>(())
            })
            .run(move |session| {
                let _group = joins(&session)?;
                let worker = session.spawn("worker", [""; 0], 1)?[0];
                thread::sleep(SECOND * 60);
                let end = session.port("end").receive(Some(worker), None);
                assert!(matches!(end, Err(Error::Lost { .. })), "{end:?}");
                Ok(())
            })
            .unwrap();
        let ends = run.values().unwrap_or_else(|failure| panic!("{failure}"));
        ends.into_iter().for_each(|end| end.unwrap());
    }
}

#[test]
fn a_program_that_there_is_not_is_an_error_as_elsewhere() {
    let run = Programs::run(
        Simulation::of(1).program("worker", |_, _| Ok(())),
        |session| session.spawn("wroker", [""; 0], 1).map(drop),
    );
    let error = run.unwrap().values().unwrap().remove(0).unwrap_err();
    let Error::NotSpawned { program, rank, why } = error else {
        panic!("{error}");
    };
    assert_eq!((program.as_str(), rank), ("wroker", 1));
    assert!(why.contains("Simulation::program"), "{why}");
}

/// Processes that have ended, well or badly, are not waited for by those that come later. Time is
/// virtual.
#[test]
fn a_second_spawn_waits_for_nobody_that_has_ended() {
    for kind in KINDS {
        let run = Simulation::of(1)
            .over(Network::new(kind, 0, 0, 50, 100))
            .at(SECOND * 5, Fault::Crash(3))
            .program("worker", |session, _| {
                // The third one stays until it is crashed.
                thread::sleep(if session.rank() == 3 {
                    SECOND * 60
                } else {
                    SECOND
                });
                Ok(())
            })
            .run(|session| {
                session.spawn("worker", [""; 0], 3)?;
                thread::sleep(SECOND * 10);
                let began = thread::now();
                session.spawn("worker", [""; 0], 3)?;
                let took = thread::now() - began;
                assert!(took < SECOND, "{took:?}");
                Ok::<_, Error>(())
            })
            .unwrap();
        assert_eq!(run.failure(), None, "{kind:?}");
    }
}

#[test]
fn those_that_are_spawned_spawn_and_crash_and_come_back() {
    let begun = Arc::new(Mutex::<Vec<(u32, Option<u32>)>>::new(Default::default()));
    let own = begun.clone();
    let run = Simulation::of(1)
        .at(SECOND * 5, Fault::Crash(2))
        .at(SECOND * 6, Fault::Restart(2))
        // Nobody, ever.
        .at(SECOND * 7, Fault::Crash(9))
        .program("other", move |session, args| {
            own.lock().push((session.rank(), session.parent()));
            if !args.is_empty() {
                session.spawn("other", [""; 0], 1)?;
            }
            thread::sleep(SECOND * 10);
            Ok(())
        })
        .run(|session| {
            session.spawn("other", ["and one more"], 1)?;
            thread::sleep(SECOND * 30);
            Ok::<_, Error>(())
        })
        .unwrap();
    assert_eq!(run.failure(), None);
    assert!(matches!(run.earlier[..], [(2, End::Crashed)]));
    assert_eq!(run.ends.len(), 3);
    assert_eq!(*begun.lock(), [(1, Some(0)), (2, Some(1)), (2, Some(1))]);
}

#[test]
fn who_crashes_before_it_has_joined_is_not_spawned() {
    let run = Simulation::of(1)
        // Before anything of it can have come to who spawned it.
        .at(SECOND * 2 + Duration::from_micros(10), Fault::Crash(1))
        .program("late", |_, _| Ok(Vec::new()))
        .run(|session| {
            thread::sleep(SECOND * 2);
            session.spawn("late", [""; 0], 2)
        })
        .unwrap();
    assert_eq!(run.halt, Halt::Ended);
    let End::Returned(Err(Error::NotSpawned { rank: 1, why, .. })) = &run.ends[0] else {
        panic!("{:?}", run.ends);
    };
    assert!(why.contains("did not join"), "{why}");
    // The other one is taken back.
    assert!(matches!(run.ends[1..], [End::Crashed, End::Crashed]));
}

/// The system tells a process of the end of its child, also where no frame does.
#[test]
fn a_spawn_waits_for_no_process_that_crashes_as_it_joins() {
    for kind in KINDS {
        let run = Simulation::of(1)
            .over(Network::new(kind, 0, 0, 50, 100))
            .at(SECOND + Duration::from_micros(10), Fault::Crash(1))
            .program("late", |_, _| Duration::ZERO)
            .run(|session| {
                thread::sleep(SECOND);
                let began = thread::now();
                let spawned = session.spawn("late", [""; 0], 1);
                assert!(
                    matches!(spawned, Err(Error::NotSpawned { rank: 1, .. })),
                    "{spawned:?}"
                );
                thread::now() - began
            });
        let End::Returned(took) = run.unwrap().ends[0] else {
            panic!("{kind:?}: it waits");
        };
        assert!(took < SECOND, "{kind:?}: {took:?}");
    }
}

#[test]
fn who_is_spawned_is_on_its_parents_side_of_a_split() {
    let run = Simulation::of(3)
        .at(SECOND, Fault::Partition(vec![0]))
        .at(SECOND * 30, Fault::Heal)
        .program("child", |session, _| {
            let parent = session.parent().expect("it was spawned");
            session.call(parent, "near", Message::new(), None)?;
            let far = session.call(1, "near", Message::new(), Some(SECOND));
            Ok(far.is_ok())
        })
        .run(|session| {
            session.serve("near", |call| call.reply.send(Message::new()))?;
            thread::sleep(SECOND * 2);
            if session.rank() == 0 {
                session.spawn("child", [""; 0], 1)?;
            }
            thread::sleep(SECOND * 60);
            Ok::<_, Error>(true)
        })
        .unwrap();
    let ends = run.values().unwrap_or_else(|failure| panic!("{failure}"));
    let ends: Result<Vec<_>, _> = ends.into_iter().collect();
    assert_eq!(ends.unwrap(), [true, true, true, false]);
}

#[test]
fn those_that_have_joined_stay_where_each_is_wanted() {
    let run = Simulation::of(1)
        // Before anything of it can have come to its spawner.
        .at(SECOND * 2 + Duration::from_micros(10), Fault::Crash(1))
        .program("late", |session, args| {
            assert_eq!(args, [OsString::from("one")]);
            session.port("there").send(0, 0, Message::new())?;
            Ok(())
        })
        .run(|session| {
            thread::sleep(SECOND * 2);
            let mut options = SpawnOptions {
                arguments: vec!["one".into()],
                ..SpawnOptions::default()
            };
            let mut spawned = session.spawn_with("late", 2, &options)?;
            let there = spawned.remove(1)?;
            session.port("there").receive(Some(there), None)?;
            let why = spawned.remove(0).unwrap_err().to_string();
            assert!(why.contains("did not join"), "{why}");
            options.host = Some("node7".into());
            let why = session.spawn_with("late", 1, &options)?.remove(0);
            let why = why.unwrap_err().to_string();
            assert!(why.contains("leave the option `host` out"), "{why}");
            Ok::<_, Error>(())
        })
        .unwrap();
    assert_eq!(run.halt, Halt::Ended);
    assert!(
        matches!(run.ends[0], End::Returned(Ok(()))),
        "{:?}",
        run.ends
    );
    assert!(
        matches!(run.ends[2], End::Returned(Ok(()))),
        "{:?}",
        run.ends
    );
}

#[test]
fn a_simulated_process_is_stopped_goes_on_and_is_killed() {
    for kind in KINDS {
        let run = Simulation::of(2)
            .over(Network::new(kind, 0, 0, 50, 100))
            .run(|session| {
                let port = session.port("beats");
                if session.rank() == 1 {
                    loop {
                        port.send(0, 0, Message::new())?;
                        thread::sleep(SECOND / 10);
                    }
                }
                port.receive(Some(1), None)?;
                session.signal(1, Signal::STOP)?;
                thread::sleep(SECOND);
                while port.poll(Some(1), None).is_some() {}
                thread::sleep(SECOND);
                assert!(port.poll(Some(1), None).is_none(), "it is stopped");
                session.signal(1, Signal::CONT)?;
                port.receive(Some(1), None)?;
                let refused = session.signal(1, Signal::TERM).unwrap_err().to_string();
                assert!(refused.contains("no handlers"), "{refused}");
                session.signal(1, Signal::KILL)?;
                while port.receive(Some(1), None).is_ok() {}
                let refused = session.signal(1, Signal::KILL).unwrap_err().to_string();
                assert!(refused.contains("has ended"), "{refused}");
                Ok::<_, Error>(())
            })
            .unwrap();
        assert!(
            matches!(run.ends[0], End::Returned(Ok(()))),
            "{kind:?}: {:?}",
            run.ends
        );
        assert!(
            matches!(run.ends[1], End::Crashed),
            "{kind:?}: {:?}",
            run.ends
        );
    }
}
