//! Whole programs over the simulated network.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use antiphon_panda::session::SILENCE;
use antiphon_panda::thread::{self, Condition, Mutex};
use antiphon_panda::{Error, GroupEvent, Message, Session};
use antiphon_panda_sim::{Chance, End, Fault, Halt, Kind, Network, Simulation, seeds};

const SECOND: Duration = Duration::from_secs(1);

/// One frame in ten is lost and one in twenty doubled; some overtake others by far.
fn rough() -> Network {
    Network::new(Kind::Datagrams, 100, 50, 50, 2000)
}

/// Everybody's rank goes round, and all are added.
fn ring(session: &Session) -> Result<u32, Error> {
    let port = session.port("ring");
    let next = (session.rank() + 1) % session.size();
    port.send(next, 0, Message::of(&session.rank())?)?;
    let from: u32 = port.receive(None, None)?.payload.value()?;
    session.everyone()?.all_reduce(&from, |a, b| a + b)
}

#[test]
fn programs_run_over_every_kind_of_network() {
    for kind in [Kind::Datagrams, Kind::Multicast, Kind::Streams, Kind::Bus] {
        let network = Network::new(kind, 100, 50, 50, 2000);
        let run = Simulation::of(4)
            .over(network)
            .run(|session| ring(&session));
        let values = run.unwrap().values().unwrap();
        let sums: Vec<u32> = values.into_iter().map(Result::unwrap).collect();
        assert_eq!(sums, [6; 4], "{kind:?}");
    }
}

#[test]
fn waits_take_virtual_time() {
    let run = Simulation::of(2).run(|session| {
        let began = thread::now();
        thread::sleep(Duration::from_secs(3600));
        let slept = thread::now() - began;
        let nothing = session.port("nothing");
        let error = nothing.receive_within(Some(1 - session.rank()), None, Duration::from_secs(7));
        assert!(matches!(error, Err(Error::TimedOut { .. })), "{error:?}");
        (slept, thread::now() - began - slept)
    });
    let run = run.unwrap();
    assert_eq!(run.time, Duration::from_secs(3607));
    for (slept, waited) in run.values().unwrap() {
        assert_eq!(slept, Duration::from_secs(3600));
        assert_eq!(waited, Duration::from_secs(7));
    }
}

#[test]
fn the_history_follows_from_the_seed() {
    let history = |seed| {
        let run = Simulation::of(4).over(rough()).seed(seed);
        let run = run.run(|session| ring(&session)).unwrap();
        assert!(run.failure().is_none());
        (run.digest, run.time, run.frames, run.bytes, run.lost)
    };
    for seed in seeds(5) {
        assert_eq!(history(seed), history(seed));
        assert_ne!(history(seed).0, history(seed + 1).0);
    }
}

#[test]
fn those_that_wait_for_each_other_are_named() {
    let run = Simulation::of(5).run(|session| {
        let port = session.port("silence");
        match session.rank() {
            0 => port.receive(Some(1), Some(7)).map(drop),
            1 => session.everyone()?.barrier(),
            2 => {
                session.serve("never", std::mem::forget)?;
                let (lock, never) = (Mutex::new(()), Condition::new());
                never.wait(&mut lock.lock());
                Ok(())
            }
            3 => session.call(2, "never", Message::new(), None).map(drop),
            _ => session.wait_until(|| false, None).map(drop),
        }
    });
    let run = run.unwrap();
    assert_eq!(run.halt, Halt::Deadlock);
    let reported = run.failure().expect("all wait").to_string();
    for words in [
        "rank 0 waits for a message from rank 1 at port \"silence\", with tag 7",
        "rank 1 waits for a collective operation of ranks [0, 1, 2, 3, 4]",
        concat!("rank 2 waits for a condition at ", file!(), ":"),
        "rank 3 waits for the reply of rank 2 to a call",
        "rank 4 waits for what upcalls bring about",
        "PANDA_SEED=0",
    ] {
        assert!(reported.contains(words), "{words}: {reported}");
    }
    // It is known some silences after the last thing that came to a program.
    assert!(run.time < SECOND, "{:?}", run.time);
}

#[test]
fn who_waits_for_a_message_that_nobody_sends_is_named() {
    let run = Simulation::of(2).run(|session| {
        let port = session.port("chosen");
        port.send(1 - session.rank(), 3, Message::new())?;
        match session.rank() {
            0 => port.receive_where(|arrived| arrived.tag == 4).map(drop),
            _ => port.probe(Some(0), Some(5)).map(drop),
        }
    });
    let run = run.unwrap();
    assert_eq!(run.halt, Halt::Deadlock);
    let reported = run.failure().expect("all wait").to_string();
    for words in [
        "rank 0 waits for a message at port \"chosen\" that its predicate accepts",
        "rank 1 waits for a message from rank 0 at port \"chosen\", with tag 5",
    ] {
        assert!(reported.contains(words), "{words}: {reported}");
    }
}

#[test]
fn who_waits_for_a_time_is_in_no_deadlock() {
    let run = Simulation::of(2).run(|session| {
        if session.rank() == 1 {
            thread::sleep(SECOND * 10_000);
            return session.port("late").send(0, 0, Message::new());
        }
        session.port("late").receive(Some(1), None).map(drop)
    });
    assert!(run.unwrap().values().unwrap().iter().all(Result::is_ok));
}

#[test]
fn a_program_that_never_ends_is_ended() {
    let run = Simulation::of(1).limit(SECOND * 60).run(|session| {
        let port = session.port("nothing");
        while port.poll(None, None).is_none() {
            thread::sleep(Duration::from_millis(1));
        }
    });
    let run = run.unwrap();
    assert_eq!(run.halt, Halt::Limit);
    assert!(matches!(run.ends[0], End::Waits(_)));
    assert!(run.time > SECOND * 59 && run.time <= SECOND * 60);
}

#[test]
fn who_only_looks_lets_time_pass() {
    let run = Simulation::of(2).run(|session| {
        let port = session.port("looked at");
        port.send(1 - session.rank(), 0, Message::new()).unwrap();
        while port.poll(None, None).is_none() {}
        let has_come = Arc::<AtomicU32>::default();
        let own = has_come.clone();
        port.on_message(move |_| own.store(1, Relaxed)).unwrap();
        port.send(1 - session.rank(), 0, Message::new()).unwrap();
        while has_come.load(Relaxed) == 0 {
            thread::yield_now();
        }
    });
    assert_eq!(run.unwrap().failure(), None);
}

#[test]
fn deadlines_are_kept_to_the_moment() {
    const TIME: Duration = Duration::from_millis(1234);
    for kind in [Kind::Datagrams, Kind::Streams, Kind::Bus] {
        let network = Network::new(kind, 0, 0, 50, 0);
        let run = Simulation::of(2).over(network).run(|session| {
            let (kept, all) = (Arc::new(Mutex::new(Vec::new())), session.everyone()?);
            let own = kept.clone();
            session.serve("late", move |call| own.lock().push(call))?;
            all.barrier()?;
            let mut late = Ok(Message::new());
            if session.rank() == 0 {
                let began = thread::now();
                late = session.call(1, "late", Message::new(), Some(TIME));
                assert_eq!(thread::now() - began, TIME);
                let until = thread::now() + TIME;
                assert!(!session.wait_until(|| false, Some(until))?);
                assert_eq!(thread::now(), until);
                let (lock, never) = (Mutex::new(()), Condition::new());
                assert!(!never.wait_for(&mut lock.lock(), TIME));
                assert_eq!(thread::now(), until + TIME);
            }
            all.barrier()?;
            // Replies that come too late are nobody's.
            for call in kept.lock().drain(..) {
                call.reply.send(Message::new());
            }
            all.barrier()?;
            Ok::<_, Error>(matches!(late, Err(Error::TimedOut { .. })))
        });
        let late: Vec<bool> = run
            .unwrap()
            .values()
            .unwrap()
            .into_iter()
            .map(Result::unwrap)
            .collect();
        assert_eq!(late, [true, false], "{kind:?}");
    }
}

/// What a member of a group sees of who is lost, and what the others go on with.
fn survivors(session: &Session, late: Duration) -> Result<(Vec<u32>, Duration), Error> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let own = seen.clone();
    let group = session.join_group("survivors", move |event| {
        if let GroupEvent::Message { from, .. } = event {
            own.lock().push(from);
        }
    })?;
    session.everyone()?.barrier()?;
    thread::sleep(late);
    let began = thread::now();
    let error = session.everyone()?.barrier().expect_err("one is lost");
    let took = thread::now() - began;
    assert!(matches!(error, Error::Lost { .. }), "{error}");
    group.send(Message::new())?;
    session.wait_until(
        || seen.lock().len() >= 4 || group.members().is_empty(),
        None,
    )?;
    let order = seen.lock().clone();
    Ok((order, took))
}

#[test]
fn the_group_goes_on_without_a_sequencer_that_crashes() {
    for kind in [Kind::Datagrams, Kind::Streams] {
        for seed in seeds(5) {
            let network = Network::new(kind, 50, 20, 50, 1000);
            let run = Simulation::of(5)
                .over(network)
                .seed(seed)
                .at(SECOND * 5, Fault::Crash(0))
                .run(|session| survivors(&session, SECOND * 10))
                .unwrap();
            assert!(matches!(run.ends[0], End::Crashed));
            let values = run.values().unwrap();
            let orders: Vec<_> = values.into_iter().map(Result::unwrap).collect();
            assert_eq!(orders.len(), 4);
            for (order, took) in &orders {
                assert_eq!(order.len(), 4, "{order:?}");
                assert_eq!(order, &orders[0].0);
                assert!(*took < 3 * SILENCE, "{took:?}");
            }
        }
    }
}

#[test]
fn the_majority_goes_on_without_who_is_cut_off() {
    for seed in seeds(5) {
        let network = Network::new(Kind::Datagrams, 50, 20, 50, 1000);
        let run = Simulation::of(5)
            .over(network)
            .seed(seed)
            .at(SECOND * 5, Fault::Partition(vec![0, 3]))
            .at(SECOND * 60, Fault::Heal)
            .run(|session| {
                let (views, ended) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(None)));
                let (own, end) = (views.clone(), ended.clone());
                let group = session.join_group("split", move |event| match event {
                    GroupEvent::View { members, .. } => own.lock().push(members),
                    GroupEvent::Expelled { .. } => *end.lock() = Some(thread::now()),
                    _ => {}
                })?;
                session.everyone()?.barrier()?;
                let began = thread::now();
                let holds = || ended.lock().is_some() || group.members().len() == 3;
                session.wait_until(holds, Some(began + SECOND * 50))?;
                let took = ended.lock().map(|at| at - began);
                // Until the network is whole, so that the parts find each other again.
                thread::sleep((began + SECOND * 70) - thread::now());
                let again = match took {
                    Some(_) => session.join_group("split", drop)?,
                    None => group,
                };
                session.wait_until(|| again.members().len() == 5, None)?;
                // A process that has seen all must not leave before the others have.
                thread::sleep(SECOND * 10);
                Ok::<_, Error>(took)
            })
            .unwrap();
        let ends = run.values().unwrap_or_else(|failure| panic!("{failure}"));
        for (rank, end) in ends.into_iter().enumerate() {
            let expelled = end.unwrap_or_else(|error| panic!("seed {seed}, rank {rank}: {error}"));
            assert_eq!(
                expelled.is_some(),
                [0, 3].contains(&rank),
                "seed {seed}, rank {rank}"
            );
            // Cut off after five seconds at the latest; a silence later that is known, and six
            // silences after that it gives up.
            assert!(
                expelled.is_none_or(|took| took < SECOND * 5 + 8 * SILENCE),
                "{expelled:?}"
            );
        }
    }
}

/// What the first is told of the second, which stops for so long, and what the second gets then.
fn stopped_for(time: Duration) -> (Result<(), Error>, Result<(), Error>) {
    let run = Simulation::of(2)
        .at(SECOND, Fault::Stop(1))
        .at(SECOND + time, Fault::Continue(1))
        .run(move |session| {
            session.serve("echo", |call| call.reply.send(call.payload))?;
            session.everyone()?.barrier()?;
            thread::sleep(SECOND * 2);
            if session.rank() == 0 {
                let called = session.call(1, "echo", Message::new(), None);
                session.port("end").send(1, 0, Message::new())?;
                thread::sleep(SECOND * 60);
                return called.map(drop);
            }
            session.port("end").receive(Some(0), None).map(drop)
        });
    let mut values = run.unwrap().values().unwrap().into_iter();
    (values.next().expect("two"), values.next().expect("two"))
}

#[test]
fn who_stops_for_long_is_lost_and_who_does_not_is_not() {
    let (called, received) = stopped_for(SECOND * 2);
    called.unwrap();
    received.unwrap();
    let (called, _) = stopped_for(SECOND * 20);
    assert!(
        matches!(called, Err(Error::Lost { rank: 1, .. })),
        "{called:?}"
    );
}

/// Where the platform orders, groups are what it says: one whom a call has given up, since it was
/// silent, is a member all the same, to all alike.
#[test]
fn who_stops_on_a_bus_is_lost_to_who_calls_it_and_stays_a_member() {
    let run = Simulation::of(3)
        .over(Network::new(Kind::Bus, 0, 0, 50, 0))
        .at(SECOND, Fault::Stop(2))
        .at(SECOND * 20, Fault::Continue(2))
        .run(|session| {
            let seen = Arc::new(Mutex::<Vec<String>>::new(Default::default()));
            let own = seen.clone();
            let group = session.join_group("all", move |event| {
                own.lock().push(match event {
                    GroupEvent::Message { from, place, .. } => format!("{place} of {from}"),
                    other => format!("{other:?}"),
                });
            })?;
            thread::sleep(SECOND * 2);
            if session.rank() == 0 {
                let called = session.call(2, "echo", Message::new(), None);
                assert!(matches!(called, Err(Error::Lost { rank: 2, .. })));
            }
            thread::sleep(SECOND * 8);
            group.send(Message::new())?;
            thread::sleep(SECOND * 20);
            Ok::<_, Error>(std::mem::take(&mut *seen.lock()))
        });
    let ends = run
        .unwrap()
        .values()
        .unwrap_or_else(|failure| panic!("{failure}"));
    for seen in ends {
        let mut seen = seen.unwrap();
        assert!(!seen.iter().any(|event| event.ends_with("left: [2] }")));
        seen.retain(|event| event.contains(" of "));
        // Three views are before them.
        assert_eq!(seen, ["4 of 1", "5 of 0", "6 of 2"]);
    }
}

#[test]
fn one_that_stays_stopped_is_told() {
    let run = Simulation::of(2).at(SECOND, Fault::Stop(1)).run(|session| {
        thread::sleep(SECOND * 2);
        session.everyone()?.barrier()
    });
    let run = run.unwrap();
    assert_eq!(run.halt, Halt::Deadlock);
    assert!(matches!(
        &run.ends[0],
        End::Returned(Err(Error::Lost { rank: 1, .. }))
    ));
    let reported = run.failure().expect("it never goes on").to_string();
    assert!(reported.contains("rank 1 waits for to go on"), "{reported}");
}

/// Counts those that were dropped.
struct Witness(Arc<AtomicU32>);

impl Drop for Witness {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

#[test]
fn a_crash_drops_nothing_and_ends_all_threads() {
    let (dropped, went_on) = (Arc::<AtomicU32>::default(), Arc::<AtomicU32>::default());
    let (of_program, goes_on) = (dropped.clone(), went_on.clone());
    let run = Simulation::of(2)
        .at(SECOND, Fault::Crash(1))
        .run(move |session| {
            let kept = Witness(of_program.clone());
            let goes_on = goes_on.clone();
            let other = thread::spawn(move || {
                for _ in 0..10 {
                    thread::sleep(Duration::from_millis(300));
                    goes_on.fetch_add(1, Relaxed);
                }
            });
            other.unwrap().join().unwrap();
            drop(kept);
            session.rank()
        });
    let run = run.unwrap();
    assert_eq!(run.ends, [End::Returned(0), End::Crashed]);
    assert_eq!(dropped.load(Relaxed), 1);
    assert_eq!(went_on.load(Relaxed), 13);
}

#[test]
fn who_panics_is_told_and_lost_to_others() {
    let run = Simulation::of(2).run(|session| {
        let all = session.everyone().unwrap();
        all.barrier().unwrap();
        assert!(session.rank() == 0, "not the second");
        all.barrier()
    });
    let run = run.unwrap();
    assert!(matches!(
        &run.ends[0],
        End::Returned(Err(Error::Lost { rank: 1, .. }))
    ));
    assert!(matches!(&run.ends[1], End::Panicked(words) if words == "not the second"));
    let reported = run.failure().expect("one panicked").to_string();
    assert!(
        reported.contains("rank 1 panicked: not the second"),
        "{reported}"
    );
}

#[test]
fn upcalls_may_wait_for_mutexes_and_start_threads() {
    let run = Simulation::of(2).over(rough()).run(|session| {
        let sum = Arc::new((Mutex::new(0u32), Condition::new()));
        let own = sum.clone();
        let port = session.port("sum");
        port.on_message(move |arrived| {
            let own = own.clone();
            let add = move || {
                *own.0.lock() += arrived.tag;
                own.1.broadcast();
            };
            // In the upcall, and in a thread that it starts.
            match arrived.tag % 2 {
                0 => add(),
                _ => drop(thread::spawn(add).unwrap()),
            }
        })?;
        session.everyone()?.barrier()?;
        // Upcalls wait for it meanwhile.
        let mut value = sum.0.lock();
        for tag in 1..=10 {
            port.send(1 - session.rank(), tag, Message::new())?;
        }
        thread::sleep(SECOND);
        while *value < 55 {
            sum.1.wait(&mut value);
        }
        session.everyone()?.barrier()?;
        Ok::<u32, Error>(*value)
    });
    for sum in run.unwrap().values().unwrap() {
        assert_eq!(sum.unwrap(), 55);
    }
}

#[test]
fn what_a_simulation_cannot_do_is_refused_with_the_mend() {
    let run = Simulation::of(1).run(|session| {
        let refused = [
            session.allot(1).map(drop),
            session.spawn("true", [""; 0], 1).map(drop),
        ];
        let nested = Simulation::of(1).run(drop);
        assert!(nested.is_err(), "in another");
        let joined = Session::join().expect("in a session").rank();
        (
            refused.map(|refused| refused.unwrap_err().to_string()),
            joined,
        )
    });
    for (refused, joined) in run.unwrap().values().unwrap() {
        assert_eq!(joined, 0);
        for why in refused {
            assert!(why.contains("Simulation::program"), "{why}");
        }
    }
}

#[test]
fn threads_of_the_system_have_no_part_in_it() {
    let run = Simulation::of(1).run(|session| {
        let port = session.port("own");
        let sender = std::thread::spawn(move || port.send(0, 0, Message::new()));
        sender
            .join()
            .expect_err("it panics")
            .downcast::<&str>()
            .map(|words| *words)
            .ok()
    });
    let words = run.unwrap().values().unwrap().remove(0).expect("a text");
    assert!(words.contains("antiphon_panda::thread::spawn"), "{words}");
}

#[test]
fn a_thousand_processes_reduce() {
    let run = Simulation::of(1000).run(|session| {
        session
            .everyone()?
            .all_reduce(&u64::from(session.rank()), |a, b| a + b)
    });
    let sums = run.unwrap().values().unwrap();
    assert!(sums.into_iter().all(|sum| sum.unwrap() == 499_500));
}

/// Counts together in whatever network the seed draws, while one may crash. Those that are left
/// agree, and nobody waits for ever.
fn counts_together(seed: u64) -> Result<u64, String> {
    let mut chance = Chance::new(seed);
    let size = chance.between(2, 5) as u32;
    let kinds = [Kind::Datagrams, Kind::Multicast, Kind::Streams, Kind::Bus];
    let kind = kinds[chance.below(4) as usize];
    let network = Network::new(
        kind,
        chance.below(150),
        chance.below(100),
        chance.between(20, 500),
        chance.below(3000),
    );
    let mut simulation = Simulation::of(size).over(network).seed(seed);
    if chance.happens(500) {
        let when = Duration::from_micros(chance.below(2_000_000));
        simulation = simulation.at(when, Fault::Crash(chance.below(size.into()) as u32));
    }
    let run = simulation.run(move |session| {
        let order = Arc::new(Mutex::new(Vec::new()));
        let (own, is_over) = (order.clone(), Arc::new(Mutex::new(false)));
        let over = is_over.clone();
        let group = session.join_group("count", move |event| match event {
            GroupEvent::Message { place, payload, .. } => {
                own.lock()
                    .push((place, payload.value::<u32>().expect("a number")));
            }
            GroupEvent::Expelled { .. } => *over.lock() = true,
            _ => {}
        });
        let group = match group {
            Ok(group) => group,
            // Its members were gone before it was in.
            Err(Error::Expelled { .. }) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        for number in 0..10 {
            if let Err(Error::Expelled { .. }) =
                group.send(Message::of(&(session.rank() * 100 + number))?)
            {
                return Ok(Vec::new());
            }
            thread::sleep(Duration::from_millis(100));
        }
        // Until the last who lives has sent all, and long after.
        thread::sleep(SECOND * 30);
        let order = order.lock().clone();
        Ok(if *is_over.lock() { Vec::new() } else { order })
    });
    let run = run.map_err(|error| error.to_string())?;
    let digest = run.digest;
    let ends = run.values().map_err(|failure| failure.to_string())?;
    let orders = ends.into_iter().collect::<Result<Vec<_>, _>>();
    let orders = orders.map_err(|error| error.to_string())?;
    let orders: Vec<_> = orders.iter().filter(|order| !order.is_empty()).collect();
    for pair in orders.windows(2) {
        let from = pair[0][0].0.max(pair[1][0].0);
        let both = [pair[0], pair[1]]
            .map(|order| order.iter().filter(|it| it.0 >= from).collect::<Vec<_>>());
        if both[0] != both[1] {
            return Err(format!("{kind:?}, {size} processes: {both:?}"));
        }
    }
    Ok(digest)
}

#[test]
fn members_agree_whatever_the_seed() {
    let mut digests = std::collections::BTreeSet::new();
    let range = seeds(600);
    let count = range.end - range.start;
    for seed in range {
        match counts_together(seed) {
            Ok(digest) => drop(digests.insert(digest)),
            Err(fault) => panic!(
                "{fault}\nPANDA_SEED={seed} cargo test -p {} --test it whatever_the_seed",
                env!("CARGO_PKG_NAME")
            ),
        }
    }
    assert_eq!(digests.len() as u64, count, "no two histories are the same");
}

/// How long a message of so many bytes takes to come to each of the others, one after the other,
/// from when it is sent.
fn takes(kind: Kind, bytes: usize, bandwidth: Option<u64>) -> Vec<Duration> {
    let mut network = Network::new(kind, 0, 0, 50, 0);
    if let Some(bandwidth) = bandwidth {
        network = network.bandwidth(bandwidth);
    }
    let simulation = Simulation::of(3).over(network).silence(SECOND * 1000);
    let run = simulation.run(move |session| {
        let port = session.port("long");
        session.everyone()?.barrier()?;
        let began = Duration::from_secs(10);
        thread::sleep(began);
        if session.rank() == 0 {
            let message = Message::from(vec![7; bytes]);
            port.send(1, 0, message.clone())?;
            port.send(2, 0, message)?;
            return Ok(Duration::ZERO);
        }
        let waits = thread::now();
        assert_eq!(port.receive(Some(0), None)?.payload.len(), bytes);
        Ok::<_, Error>(thread::now() - waits)
    });
    let times = run.unwrap().values().unwrap().into_iter();
    times.skip(1).map(Result::unwrap).collect()
}

#[test]
fn what_is_long_takes_longer_where_there_is_a_bandwidth() {
    for kind in [Kind::Datagrams, Kind::Streams] {
        for time in takes(kind, 1_000_000, None) {
            assert!(time < Duration::from_millis(50), "{kind:?}: {time:?}");
        }
        let [first, other] = takes(kind, 1_000_000, Some(1_000_000))[..] else {
            panic!("two wait");
        };
        let [first, other] = [first, other].map(|time| time.as_secs_f64());
        match kind {
            // A frame each, the second after the first.
            Kind::Streams => {
                assert!((0.99..1.01).contains(&first), "{first}");
                assert!((1.99..2.01).contains(&other), "{other}");
            }
            // Each is cut into frames, which take turns; they carry headers, and some are sent
            // again.
            _ => assert!((1.9..3.0).contains(&first.max(other)), "{first}, {other}"),
        }
    }
}

#[test]
fn who_sends_slowly_is_not_lost_to_who_waits_for_it_nor_who_takes_it() {
    for kind in [Kind::Datagrams, Kind::Streams, Kind::Bus] {
        let network = Network::new(kind, 0, 0, 50, 0).bandwidth(5_000);
        let run = Simulation::of(2).over(network).run(|session| {
            let port = session.port("slow");
            let message = Message::from(vec![7; 100_000]);
            match session.rank() {
                0 => port.send_synchronously(1, 0, message)?,
                _ => drop(port.receive(Some(0), None)?),
            }
            Ok::<_, Error>(())
        });
        let run = run.unwrap();
        assert!(run.time > SECOND * 19, "{kind:?}: {:?}", run.time);
        for end in run.values().unwrap() {
            end.unwrap_or_else(|error| panic!("{kind:?}: {error}"));
        }
    }
}

#[test]
fn who_crashed_is_lost_however_much_it_was_sent_and_who_was_stopped_when_all_has_left() {
    for fault in [Fault::Crash(1), Fault::Stop(1)] {
        let network = Network::new(Kind::Streams, 0, 0, 50, 0).bandwidth(5_000);
        let simulation = Simulation::of(2).over(network).at(SECOND * 2, fault);
        let run = simulation.run(|session| {
            let port = session.port("slow");
            if session.rank() == 1 {
                thread::sleep(SECOND * 100);
                return Ok(());
            }
            port.send_synchronously(1, 0, Message::from(vec![7; 100_000]))
        });
        let run = run.unwrap();
        let End::Returned(ended) = &run.ends[0] else {
            panic!("{:?}", run.ends[0]);
        };
        assert!(
            matches!(ended, Err(Error::Lost { rank: 1, .. })),
            "{ended:?}"
        );
    }
}

#[test]
fn what_comes_slowly_is_no_deadlock() {
    // More than thirty silences of the network's: the programs see nothing of what comes meanwhile.
    for kind in [Kind::Datagrams, Kind::Streams] {
        let network = Network::new(kind, 0, 0, 50, 0).bandwidth(5_000);
        let run = Simulation::of(2).over(network).run(|session| {
            let port = session.port("slow");
            // Of nobody in particular, so that no sign of life stirs it either.
            let has_come = Arc::<AtomicU32>::default();
            let own = has_come.clone();
            port.on_message(move |_| own.store(1, Relaxed))?;
            if session.rank() == 0 {
                port.send(1, 0, Message::from(vec![7; 1_000_000]))?;
            }
            session.wait_until(|| has_come.load(Relaxed) == 1, None)?;
            if session.rank() == 1 {
                port.send(0, 0, Message::new())?;
            }
            Ok::<_, Error>(())
        });
        let run = run.unwrap();
        assert_eq!(run.failure(), None, "{kind:?}");
        assert!(run.time > SECOND * 199, "{kind:?}: {:?}", run.time);
    }
}
