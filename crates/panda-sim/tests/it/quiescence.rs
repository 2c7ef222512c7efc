//! Quiescence and clocks of whole programs over the simulated network.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use antiphon_panda::{Message, QuiescenceEvent, Session, thread};
use antiphon_panda_sim::{Chance, Clock, End, Fault, Kind, Network, Simulation, seeds};

const SECOND: Duration = Duration::from_secs(1);

/// What all processes of a simulation have done, which run on one thread of the system.
#[derive(Default)]
struct Ledger {
    sent: AtomicU64,
    done: AtomicU64,
    active: AtomicU64,
}

/// Works at random until all is done, in some rounds. Returns how many verdicts came.
fn work_at_random(session: &Session, ledger: &Arc<Ledger>, seed: u64) -> u64 {
    let (own, size) = (session.rank(), session.size());
    let quiescence = session.quiescence().unwrap();
    let port = session.port("work");
    let mut chance = Chance::new(seed * 1000 + u64::from(own));
    let (counts, out, of) = (quiescence.clone(), port.clone(), ledger.clone());
    port.on_message(move |arrived| {
        counts.active();
        of.active.fetch_add(1, Relaxed);
        counts.received(arrived.from).unwrap();
        of.done.fetch_add(1, Relaxed);
        let hops: u32 = arrived.payload.value().unwrap();
        for _ in 0..chance.below(3).min(hops.into()) {
            let to = chance.below(size.into()) as u32;
            counts.sent(to).unwrap();
            of.sent.fetch_add(1, Relaxed);
            out.send(to, 0, Message::of(&(hops - 1)).unwrap()).unwrap();
        }
        of.active.fetch_sub(1, Relaxed);
        counts.passive();
    })
    .unwrap();
    let all = session.everyone().unwrap();
    all.barrier().unwrap();
    for round in 1..=3 {
        ledger.active.fetch_add(1, Relaxed);
        for to in (0..size).filter(|to| (to + own + round) % 2 == 0) {
            quiescence.sent(to).unwrap();
            ledger.sent.fetch_add(1, Relaxed);
            port.send(to, 0, Message::of(&6_u32).unwrap()).unwrap();
        }
        thread::sleep(Duration::from_micros((seed * 37 + u64::from(own)) % 5000));
        ledger.active.fetch_sub(1, Relaxed);
        quiescence.passive();
        let verdict = quiescence.wait(None).unwrap().expect("it waits for ever");
        assert_eq!(verdict.number, u64::from(round));
        let (sent, done) = (ledger.sent.load(Relaxed), ledger.done.load(Relaxed));
        assert_eq!((sent, ledger.active.load(Relaxed)), (done, 0));
        // Nobody begins the next round before all have looked.
        quiescence.active();
        all.barrier().unwrap();
    }
    3
}

#[test]
fn no_verdict_comes_too_soon_over_any_network() {
    for kind in [Kind::Datagrams, Kind::Streams, Kind::Bus] {
        for seed in seeds(40) {
            let ledger = Arc::new(Ledger::default());
            let program = move |session: Session| work_at_random(&session, &ledger, seed);
            let size = 1 + (seed % 5) as u32;
            let network = Network::new(kind, 100, 50, 50, 2000);
            let run = Simulation::of(size).over(network).seed(seed).run(program);
            let verdicts = run.unwrap().values().unwrap();
            assert_eq!(verdicts, vec![3; size as usize], "{kind:?}, seed {seed}");
        }
    }
}

/// While one process is active nobody sends anything but signs of life.
#[test]
fn a_wave_waits_for_an_active_process_without_traffic() {
    let frames = |seconds: u32| {
        let network = Network::new(Kind::Streams, 0, 0, 50, 100);
        let run = Simulation::of(4).over(network).silence(SECOND * 3600);
        let run = run.run(move |session| {
            let quiescence = session.quiescence().unwrap();
            if session.rank() == 2 {
                thread::sleep(SECOND * seconds);
            }
            quiescence.passive();
            quiescence
                .wait(None)
                .unwrap()
                .expect("it waits for ever")
                .number
        });
        let run = run.unwrap();
        let frames = run.frames;
        assert_eq!(run.values().unwrap(), [1; 4]);
        frames
    };
    assert_eq!(frames(1), frames(800));
}

#[test]
fn a_deadlock_is_told_from_an_end_by_what_processes_report() {
    let run = Simulation::of(3).run(|session| {
        let quiescence = session.quiescence().unwrap();
        let next = (session.rank() + 1) % 3;
        // Each waits for the next.
        quiescence
            .report(Message::of(&Some(next)).unwrap())
            .unwrap();
        quiescence.passive();
        let verdict = quiescence.wait(None).unwrap().expect("it waits for ever");
        let waits = verdict.reports.iter();
        waits
            .map(|(rank, said)| (*rank, said.value::<Option<u32>>().unwrap()))
            .collect::<Vec<_>>()
    });
    let ring = vec![(0, Some(1)), (1, Some(2)), (2, Some(0))];
    assert_eq!(run.unwrap().values().unwrap(), vec![ring; 3]);
}

#[test]
fn processes_that_were_spawned_take_part() {
    let run = Simulation::of(2)
        .program("worker", |session, _| {
            let quiescence = session.quiescence().unwrap();
            let port = session.port("work");
            let arrived = port.receive(Some(0), None).unwrap();
            quiescence.received(arrived.from).unwrap();
            thread::sleep(SECOND);
            quiescence.passive();
            let verdict = quiescence.wait(None).unwrap().expect("it waits for ever");
            verdict.reports.len()
        })
        .run(|session| {
            let quiescence = session.quiescence().unwrap();
            if session.rank() == 0 {
                for _ in 0..2 {
                    let rank = session.spawn("worker", [""; 0], 1).unwrap()[0];
                    quiescence.sent(rank).unwrap();
                    session.port("work").send(rank, 0, Message::new()).unwrap();
                }
            }
            quiescence.passive();
            let verdict = quiescence.wait(None).unwrap().expect("it waits for ever");
            verdict.reports.len()
        });
    assert_eq!(run.unwrap().values().unwrap(), [4; 4]);
}

/// The loss of any process, the initiator's included, is written off, and the verdict names it.
#[test]
fn a_process_that_crashes_is_written_off() {
    for kind in [Kind::Datagrams, Kind::Streams] {
        for crashed in 0..4 {
            let network = Network::new(kind, 0, 0, 50, 100);
            let run = Simulation::of(4)
                .over(network)
                .at(SECOND, Fault::Crash(crashed))
                .run(move |session| {
                    let quiescence = session.quiescence().unwrap();
                    if session.rank() == crashed {
                        thread::sleep(SECOND * 60);
                    } else {
                        // Nobody takes it.
                        quiescence.sent(crashed).unwrap();
                    }
                    quiescence.passive();
                    let verdict = quiescence.wait(None).unwrap().expect("it waits for ever");
                    let members = verdict.reports.iter().map(|(rank, _)| *rank);
                    (members.collect::<Vec<_>>(), verdict.lost.clone())
                });
            let others: Vec<u32> = (0..4).filter(|rank| *rank != crashed).collect();
            let reported = run.unwrap().values().unwrap();
            let expected = vec![(others, vec![crashed]); 3];
            assert_eq!(reported, expected, "{kind:?}, {crashed}");
        }
    }
}

#[test]
fn a_process_that_is_started_again_takes_no_part() {
    let network = Network::new(Kind::Streams, 0, 0, 50, 100);
    let run = Simulation::of(3)
        .over(network)
        .at(SECOND, Fault::Crash(1))
        .at(SECOND * 2, Fault::Restart(1))
        .run(|session| {
            let quiescence = match session.quiescence() {
                Ok(quiescence) => quiescence,
                Err(error) => return error.to_string(),
            };
            if session.rank() == 1 {
                thread::sleep(SECOND / 2);
            }
            quiescence.passive();
            // All are passive before the crash.
            let first = quiescence.wait(None);
            if session.rank() != 1 {
                quiescence.active();
                thread::sleep(SECOND * 10);
                quiescence.passive();
                let verdict = quiescence.wait(None).unwrap().expect("it waits for ever");
                return format!("{:?}", verdict.lost);
            }
            let next = first.and_then(|_| quiescence.wait(None));
            next.map_or_else(|error| error.to_string(), |_| "a verdict".into())
        });
    let run = run.unwrap();
    let said = |end: &End<String>| match end {
        End::Returned(said) => said.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        (said(&run.ends[0]), said(&run.ends[2])),
        ("[1]".into(), "[1]".into())
    );
    let again = said(&run.ends[1]);
    assert!(again.contains("taken for lost by rank 0"), "{again}");
}

#[test]
fn upcalls_are_told_of_verdicts() {
    let run = Simulation::of(3).run(|session| {
        let quiescence = session.quiescence().unwrap();
        let reported = Arc::new(AtomicU64::new(0));
        let count = reported.clone();
        quiescence
            .on_event(move |event| match event {
                QuiescenceEvent::Quiescent(verdict) => count.store(verdict.number, Relaxed),
                QuiescenceEvent::Excluded { by } => panic!("excluded by {by}"),
            })
            .unwrap();
        quiescence.passive();
        session
            .wait_until(|| reported.load(Relaxed) == 1, None)
            .unwrap()
    });
    assert_eq!(run.unwrap().values().unwrap(), [true; 3]);
}

/// Of clocks that are known the true offset lies in the interval, whatever the network does.
#[test]
fn offsets_hold_the_truth_of_skewed_clocks() {
    let clocks = [(0, 0), (-400_000_000, 80), (7_000_000_000, -35)];
    let clock = move |rank: u32| {
        let (ahead_ns, drift_ppm) = clocks[rank as usize];
        Clock {
            ahead_ns,
            drift_ppm,
        }
    };
    for seed in seeds(30) {
        let network = Network::new(Kind::Datagrams, 100, 50, 50, 2000);
        let mut simulation = Simulation::of(3).over(network).seed(seed);
        for rank in 0..3 {
            simulation = simulation.clock(rank, clock(rank));
        }
        let run = simulation.run(move |session| {
            let own = clock(session.rank());
            let mut errors = Vec::new();
            for rank in (0..3).filter(|rank| *rank != session.rank()) {
                for _ in 0..2 {
                    let offset = session.clock_offset(rank).unwrap();
                    // The time of the simulation at that moment, from what the own clock showed.
                    let shown_ns = offset.measured_at.as_nanos() as i128 - i128::from(own.ahead_ns);
                    let time_ns = shown_ns * 1_000_000 / (1_000_000 + i128::from(own.drift_ppm));
                    let time = Duration::from_nanos(time_ns as u64);
                    let others = clock(rank).at(time).as_nanos() as i64;
                    let truth_ns = others - own.at(time).as_nanos() as i64;
                    let error_ns = (offset.offset_ns - truth_ns).unsigned_abs();
                    // In half a round trip of some ms the clocks drift apart by less than that.
                    errors.push(error_ns <= offset.uncertainty_ns + 1000);
                    assert!(offset.uncertainty_ns < 10_000_000, "{offset:?}");
                    thread::sleep(SECOND * 100);
                }
            }
            session.everyone().unwrap().barrier().unwrap();
            errors
        });
        for errors in run.unwrap().values().unwrap() {
            assert_eq!(errors, [true; 4], "seed {seed}");
        }
    }
}
