//! Simulated processes that crash and come back.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use antiphon_panda::thread::{self, Mutex};
use antiphon_panda::{Error, Group, GroupEvent, Message, PeerEvent, Rank, Session};
use antiphon_panda_sim::{Chance, End, Fault, Halt, Kind, Network, Simulation, seeds};

const SECOND: Duration = Duration::from_secs(1);
const KINDS: [Kind; 4] = [Kind::Datagrams, Kind::Multicast, Kind::Streams, Kind::Bus];

/// Which incarnation of a process this is, counted from 1 by the test itself.
fn counted(counts: &Arc<[AtomicU32]>, session: &Session) -> u32 {
    counts[session.rank() as usize].fetch_add(1, Relaxed) + 1
}

fn counts(size: u32) -> Arc<[AtomicU32]> {
    (0..size).map(|_| AtomicU32::new(0)).collect()
}

/// A process that crashes after five seconds and comes back after so long; what the first asks of
/// it before, meanwhile and after that.
fn comes_back(kind: Kind, after: Duration, seed: u64) -> Vec<Result<u32, Error>> {
    let incarnations = counts(3);
    let network = Network::new(kind, 50, 20, 50, 1000);
    let run = Simulation::of(3)
        .over(network)
        .seed(seed)
        .at(SECOND * 5, Fault::Crash(1))
        .at(SECOND * 5 + after, Fault::Restart(1))
        .run(move |session| {
            let incarnation = counted(&incarnations, &session);
            assert_eq!(Session::join()?.rank(), session.rank());
            session.serve("which", move |call| {
                call.reply.send(Message::of(&incarnation).unwrap());
            })?;
            let ask = || {
                let answer = session.call(1, "which", Message::new(), None)?;
                answer.value::<u32>().map_err(Error::from)
            };
            let began = thread::now();
            thread::sleep(SECOND);
            if session.rank() > 0 {
                thread::sleep(SECOND * 59);
                return Ok::<_, Error>(Vec::new());
            }
            let before = ask();
            session.serve("never", |call| call.reply.send(Message::new()))?;
            // Under way, or begun, when it crashes.
            let nothing = session.port("nothing").receive(Some(1), None).map(|_| 0);
            thread::sleep((began + SECOND * 30) - thread::now());
            let after = ask();
            assert_eq!(session.why_lost(1), None, "it is back");
            Ok(vec![before, nothing, after])
        })
        .unwrap();
    assert_eq!(run.halt, Halt::Ended, "{kind:?}");
    assert!(
        matches!(run.earlier[..], [(1, End::Crashed)]),
        "{:?}",
        run.earlier
    );
    run.values().unwrap().remove(0).unwrap()
}

#[test]
fn who_crashed_comes_back_under_its_rank() {
    for kind in KINDS {
        // Before the others can know that it is lost, and long after.
        for after in [SECOND / 1000, SECOND / 2, SECOND * 20] {
            for seed in seeds(5) {
                let asked = comes_back(kind, after, seed);
                assert!(
                    matches!(asked[..], [Ok(1), Err(Error::Lost { rank: 1, .. }), Ok(2)]),
                    "{kind:?}, back {after:?} later, seed {seed}: {asked:?}"
                );
            }
        }
    }
}

/// What the first process is told of the others, though it waits for none of them.
fn follows(kind: Kind, seed: u64) -> [Vec<PeerEvent>; 2] {
    let network = Network::new(kind, 50, 20, 50, 1000);
    let simulation = Simulation::of(3)
        .over(network)
        .seed(seed)
        .at(SECOND * 5, Fault::Crash(1))
        .at(SECOND * 20, Fault::Restart(1));
    let simulation = match kind {
        // It is never split.
        Kind::Bus => simulation,
        _ => (simulation.at(SECOND * 40, Fault::Partition(vec![2]))).at(SECOND * 60, Fault::Heal),
    };
    let run = simulation
        .run(move |session| {
            let reported = Arc::new(Mutex::<Vec<(Rank, PeerEvent)>>::new(Vec::new()));
            if session.rank() > 0 {
                // The one that comes back leaves first.
                thread::sleep(SECOND * if session.rank() == 1 { 60 } else { 90 });
                return Vec::new();
            }
            let upcall = reported.clone();
            let follow = move |rank, event| upcall.lock().push((rank, event));
            session.on_peer(follow).expect("the session goes on");
            thread::sleep(SECOND * 120);
            let reported = reported.lock();
            reported.clone()
        })
        .unwrap();
    assert_eq!(run.halt, Halt::Ended, "{kind:?}");
    let reported = run.values().unwrap().remove(0);
    [1, 2].map(|rank| {
        let of = reported.iter().filter(|(of, _)| *of == rank);
        of.map(|(_, event)| event.clone()).collect()
    })
}

#[test]
fn a_follower_is_told_of_crashes_silence_and_returns() {
    for kind in KINDS {
        for seed in seeds(20) {
            use PeerEvent::{Joined, Left, Lost};
            for (rank, events) in (1..).zip(follows(kind, seed)) {
                let is_reported = match events[..] {
                    [Joined, Left] => rank == 2 && kind == Kind::Bus,
                    [Joined, Lost { .. }, Joined, Left] => true,
                    _ => false,
                };
                assert!(
                    is_reported,
                    "{kind:?}, seed {seed}, rank {rank}: {events:?}"
                );
            }
        }
    }
}

#[test]
fn only_who_crashed_is_started_again() {
    let begun = Arc::<AtomicU32>::default();
    let own = begun.clone();
    let run = Simulation::of(2)
        .at(SECOND, Fault::Restart(0))
        .at(SECOND * 10, Fault::Restart(1))
        .run(move |session| {
            own.fetch_add(1, Relaxed);
            thread::sleep(SECOND * 5);
            session.rank()
        })
        .unwrap();
    // Nobody waits for a restart that is none.
    assert_eq!((run.halt, run.earlier.len()), (Halt::Ended, 0));
    assert_eq!(run.values().unwrap(), [0, 1]);
    assert_eq!(begun.load(Relaxed), 2);
}

#[test]
fn a_simulation_waits_for_who_comes_back_alone() {
    let incarnations = counts(1);
    let run = Simulation::of(1)
        .at(SECOND, Fault::Crash(0))
        .at(SECOND * 3600, Fault::Restart(0))
        .at(SECOND * 3601, Fault::Crash(0))
        .at(SECOND * 7200, Fault::Restart(0))
        .run(move |session| {
            let incarnation = counted(&incarnations, &session);
            thread::sleep(SECOND * 2);
            incarnation
        })
        .unwrap();
    assert_eq!(run.earlier, [(0, End::Crashed), (0, End::Crashed)]);
    assert_eq!(run.ends, [End::Returned(3)]);
    assert!(run.time > SECOND * 7200);
}

#[test]
fn who_is_cut_off_hears_of_it_when_the_network_is_whole() {
    for seed in seeds(5) {
        let incarnations = counts(3);
        let run = Simulation::of(3)
            .seed(seed)
            .at(SECOND, Fault::Crash(1))
            .at(SECOND * 2, Fault::Partition(vec![0]))
            .at(SECOND * 3, Fault::Restart(1))
            .at(SECOND * 40, Fault::Heal)
            .run(move |session| {
                let incarnation = counted(&incarnations, &session);
                let port = session.port("from who came back");
                if incarnation == 2 {
                    // It does not wait for who is cut off for ever.
                    port.send(2, 0, Message::new())?;
                    port.send(0, 0, Message::new())?;
                }
                let began = thread::now();
                if session.rank() != 1 {
                    // From anybody: it was lost meanwhile, and is not any more.
                    while let Err(error) = port.receive(None, None) {
                        assert!(matches!(error, Error::Lost { .. }), "{error}");
                        thread::sleep(SECOND);
                    }
                }
                let took = thread::now() - began;
                thread::sleep(SECOND * 60);
                Ok::<_, Error>(took)
            })
            .unwrap();
        let times = run.values().unwrap_or_else(|failure| panic!("{failure}"));
        let [cut_off, _, other] = &times[..] else {
            panic!("three return")
        };
        assert!(*other.as_ref().unwrap() < SECOND * 10, "{other:?}");
        let late = cut_off.as_ref().unwrap();
        assert!(*late >= SECOND * 40 && *late < SECOND * 45, "{late:?}");
    }
}

/// What a member of the replicated counter has: which numbers were added, once it knows.
#[derive(Default)]
struct Copy {
    /// The view that it came in, and what was added since.
    came: Option<(u64, Vec<u32>)>,
    /// All that was added, once a member that knows has told of what was before.
    all: Option<Vec<u32>>,
    is_over: bool,
}

impl Copy {
    fn add(&mut self, number: u32) {
        let since = self.came.as_mut().map(|(_, since)| since);
        self.all
            .as_mut()
            .or(since)
            .into_iter()
            .for_each(|to| to.push(number));
    }

    /// Another one tells what it had at the beginning of a view.
    fn learn(&mut self, view: u64, mut before: Vec<u32>) {
        if self.all.is_none()
            && let Some((_, since)) = self.came.take_if(|(came, _)| *came == view)
        {
            before.extend(since);
            self.all = Some(before);
        }
    }
}

/// Joins the counter's group. Who knows tells those that come what was added before they came.
fn join_counter(session: &Session, copy: &Arc<Mutex<Copy>>) -> Result<Group, Error> {
    *copy.lock() = Copy::default();
    let (own, state, rank) = (copy.clone(), session.port("state"), session.rank());
    session.join_group("counter", move |event| {
        let mut copy = own.lock();
        match event {
            GroupEvent::Message { payload, .. } => copy.add(payload.value().expect("a number")),
            GroupEvent::View { number, joined, .. } => {
                if joined.contains(&rank) {
                    copy.came = Some((number, Vec::new()));
                    if number == 1 {
                        // Nobody was there before.
                        copy.learn(number, Vec::new());
                    }
                }
                for to in joined.into_iter().filter(|to| *to != rank) {
                    if let Some(all) = &copy.all {
                        let reported = Message::of(&(number, all)).expect("numbers");
                        state.send(to, 0, reported).expect("a member");
                    }
                }
            }
            GroupEvent::Expelled { .. } => copy.is_over = true,
            GroupEvent::Left => {}
        }
    })
}

/// Adds twenty numbers to the counter, a second apart, and gives what it has when ninety seconds
/// are over with those that it added itself.
fn count(session: &Session, began: Instant, incarnation: u32) -> Result<Counted, Error> {
    let copy = Arc::new(Mutex::<Copy>::new(Default::default()));
    let own = copy.clone();
    session.port("state").on_message(move |reported| {
        let (view, before) = reported.payload.value().expect("what was added");
        own.lock().learn(view, before);
    })?;
    let mut group = None;
    let mut added = Vec::new();
    while thread::now() < began + SECOND * 90 {
        if copy.lock().is_over || group.is_none() {
            group = match join_counter(session, &copy) {
                Err(Error::Expelled { .. }) => None,
                joined => Some(joined?),
            };
        }
        let number = session.rank() * 1000 + incarnation * 100 + added.len() as u32;
        if let Some(group) = group.as_ref().filter(|_| added.len() < 20)
            && group.send(Message::of(&number)?).is_ok()
        {
            added.push(number);
        }
        thread::sleep(SECOND);
    }
    let all = copy.lock().all.clone();
    Ok((all, added))
}

type Counted = (Option<Vec<u32>>, Vec<u32>);

/// A counter of three to five members over whatever network the seed draws, of whom one after the
/// other crashes and comes back.
fn counts_on(seed: u64) -> Result<(), String> {
    let mut chance = Chance::new(seed);
    let size = chance.between(3, 5) as u32;
    let kind = KINDS[chance.below(4) as usize];
    let (loss, double) = (chance.below(100), chance.below(50));
    let network = Network::new(kind, loss, double, 50, chance.below(2000));
    let mut simulation = Simulation::of(size).over(network).seed(seed);
    let mut crashed = BTreeSet::new();
    for turn in 0..chance.between(1, 2) {
        let rank: Rank = chance.below(size.into()) as Rank;
        let at = SECOND * 30 * turn as u32 + Duration::from_micros(chance.below(8_000_000));
        let back = at + Duration::from_micros(chance.below(12_000_000));
        simulation = simulation
            .at(at, Fault::Crash(rank))
            .at(back, Fault::Restart(rank));
        crashed.insert(rank);
    }
    let (incarnations, began) = (counts(size), OnceLock::new());
    let run = simulation.run(move |session| {
        let incarnation = counted(&incarnations, &session);
        let began = *began.get_or_init(thread::now);
        count(&session, began, incarnation)
    });
    let run = run.map_err(|error| error.to_string())?;
    let ends = run.values().map_err(|failure| failure.to_string())?;
    let ends: Result<Vec<_>, _> = ends.into_iter().collect();
    check_counted(&ends.map_err(|error| error.to_string())?).map_err(|fault| {
        format!("{kind:?}, {size} processes, of which {crashed:?} crashed: {fault}")
    })
}

/// All have the same, each number once, and nothing that one of them added is missing.
fn check_counted(ends: &[Counted]) -> Result<(), String> {
    let first = ends[0].0.as_ref().ok_or("the first one knows nothing")?;
    let once: BTreeSet<_> = first.iter().collect();
    if once.len() != first.len() {
        return Err(format!("something was added twice: {first:?}"));
    }
    for (rank, (all, added)) in ends.iter().enumerate() {
        if all.as_ref() != Some(first) {
            return Err(format!("rank {rank} has {all:?}, the first {first:?}"));
        }
        if added.len() < 20 {
            return Err(format!("rank {rank} added no more than {added:?}"));
        }
        if let Some(missing) = added.iter().find(|number| !once.contains(number)) {
            return Err(format!("rank {rank} added {missing}: {first:?}"));
        }
    }
    Ok(())
}

#[test]
fn a_replicated_counter_is_right_whoever_crashes_and_comes_back() {
    for seed in seeds(100) {
        if let Err(fault) = counts_on(seed) {
            panic!(
                "{fault}\nPANDA_SEED={seed} cargo test -p {} --test it whoever_crashes",
                env!("CARGO_PKG_NAME")
            );
        }
    }
}

#[test]
fn the_history_of_who_comes_back_follows_from_the_seed() {
    let history = |seed| {
        let run = Simulation::of(3)
            .over(Network::new(Kind::Datagrams, 100, 50, 50, 2000))
            .seed(seed)
            .at(SECOND, Fault::Crash(0))
            .at(SECOND * 2, Fault::Restart(0))
            .run(|session| {
                thread::sleep(SECOND * 5);
                session.everyone().map(drop)
            })
            .unwrap();
        (run.digest, run.time, run.frames, run.lost)
    };
    for seed in seeds(5) {
        assert_eq!(history(seed), history(seed));
        assert_ne!(history(seed).0, history(seed + 1).0);
    }
}
