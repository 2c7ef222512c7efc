//! Copies of a group's state at simulated processes that crash, come back and are cut off.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use antiphon_panda::thread::{self, Mutex};
use antiphon_panda::{Error, Group, GroupEvent, Message, Rank, Replica, Session};
use antiphon_panda_sim::{Chance, Fault, Kind, Network, Simulation, seeds};

const SECOND: Duration = Duration::from_secs(1);
const KINDS: [Kind; 4] = [Kind::Datagrams, Kind::Multicast, Kind::Streams, Kind::Bus];

/// What a member has: every number that was added, with its place.
#[derive(Clone, Default)]
struct Added {
    all: Vec<(u64, u32)>,
    is_over: bool,
}

/// A member's copy.
#[derive(Clone)]
struct Copy {
    own: Arc<Mutex<Added>>,
    ballast: usize,
}

impl Replica for Copy {
    fn deliver(&mut self, event: GroupEvent) {
        let mut own = self.own.lock();
        match event {
            GroupEvent::Message { place, payload, .. } => {
                own.all.push((place, payload.value().expect("a number")));
            }
            GroupEvent::View { .. } => {}
            GroupEvent::Left | GroupEvent::Expelled { .. } => own.is_over = true,
        }
    }

    fn snapshot(&mut self, _: u64) -> Result<Message, Error> {
        let ballast = vec![0u8; self.ballast];
        Ok(Message::of(&(&self.own.lock().all, ballast))?)
    }

    fn install(&mut self, _: u64, state: Message) -> Result<(), Error> {
        let (all, _): (Vec<(u64, u32)>, Vec<u8>) = state.value()?;
        self.own.lock().all = all;
        Ok(())
    }
}

/// What a process has in the end, and what it was told of the places of the numbers that it added.
type Counted = (Vec<(u64, u32)>, Vec<(u64, u32)>);

/// Adds twenty numbers, a second apart, and joins again whenever it is out of the group.
fn count(
    session: &Session,
    (began, incarnation): (Instant, u32),
    ballast: usize,
) -> Result<Counted, Error> {
    let mut copy = None;
    let mut group: Option<Group> = None;
    let mut added = Vec::new();
    while thread::now() < began + SECOND * 90 {
        let is_out = |copy: &Copy| copy.own.lock().is_over;
        if copy.as_ref().is_none_or(is_out) {
            let own = Arc::new(Mutex::new(Added::default()));
            let fresh = Copy { own, ballast };
            (group, copy) = match session.join_group_with_state("copies", fresh.clone()) {
                Ok(joined) => (Some(joined), Some(fresh)),
                Err(Error::Expelled { .. } | Error::NoState { .. }) => (None, None),
                Err(other) => return Err(other),
            };
        }
        let number = session.rank() * 1000 + incarnation * 100 + added.len() as u32;
        if let Some(group) = group.as_ref().filter(|_| added.len() < 20)
            && let Ok(place) = group.send_synchronously(Message::of(&number)?)
        {
            added.push((place, number));
        }
        thread::sleep(SECOND);
    }
    let all = copy.map(|copy| copy.own.lock().all.clone());
    Ok((all.unwrap_or_default(), added))
}

/// Three to five members over whatever network the seed draws, of whom one after the other crashes
/// and comes back, mostly while it or another one is about to get a copy.
fn counts_on(seed: u64) -> Result<(), String> {
    let mut chance = Chance::new(seed);
    let size = chance.between(3, 5) as u32;
    let kind = KINDS[chance.below(4) as usize];
    let (loss, double) = (chance.below(100), chance.below(50));
    let network = Network::new(kind, loss, double, 50, chance.below(2000));
    let ballast = [0, 1000, 100_000, 400_000][chance.below(4) as usize];
    let mut simulation = Simulation::of(size).over(network).seed(seed);
    let mut crashed = BTreeSet::new();
    for turn in 0..chance.between(1, 3) {
        let rank: Rank = chance.below(size.into()) as Rank;
        let at = SECOND * 25 * turn as u32 + Duration::from_micros(chance.below(8_000_000));
        let back = at + Duration::from_micros(chance.below(12_000_000));
        simulation = simulation
            .at(at, Fault::Crash(rank))
            .at(back, Fault::Restart(rank));
        crashed.insert(rank);
    }
    let incarnations: Arc<[AtomicU32]> = (0..size).map(|_| AtomicU32::new(0)).collect();
    let began = OnceLock::new();
    let run = simulation.run(move |session| {
        let incarnation = incarnations[session.rank() as usize].fetch_add(1, Relaxed) + 1;
        let began = *began.get_or_init(thread::now);
        count(&session, (began, incarnation), ballast)
    });
    let run = run.map_err(|error| error.to_string())?;
    let ends = run.values().map_err(|failure| failure.to_string())?;
    let ends: Result<Vec<_>, _> = ends.into_iter().collect();
    check(&ends.map_err(|error| error.to_string())?).map_err(|fault| {
        format!(
            "{kind:?}, {size} processes, of which {crashed:?} crashed, {ballast} bytes: {fault}"
        )
    })
}

/// All have the same, each number once, and each at the place that its sender was told.
fn check(ends: &[Counted]) -> Result<(), String> {
    let first = &ends[0].0;
    let numbers: BTreeSet<u32> = first.iter().map(|(_, number)| *number).collect();
    if numbers.len() != first.len() {
        return Err(format!("something was added twice: {first:?}"));
    }
    for (rank, (all, added)) in ends.iter().enumerate() {
        if all != first {
            return Err(format!("rank {rank} has {all:?}, the first {first:?}"));
        }
        if added.len() < 20 {
            return Err(format!("rank {rank} added no more than {added:?}"));
        }
        if let Some(missing) = added.iter().find(|added| !first.contains(added)) {
            return Err(format!("rank {rank} added {missing:?}: {first:?}"));
        }
    }
    Ok(())
}

#[test]
fn copies_are_equal_whoever_crashes_and_comes_back() {
    for seed in seeds(60) {
        if let Err(fault) = counts_on(seed) {
            panic!(
                "{fault}\nPANDA_SEED={seed} cargo test -p {} --test it copies_are_equal",
                env!("CARGO_PKG_NAME")
            );
        }
    }
}

/// The member that gives its copy crashes amid it: another one gives its own.
#[test]
fn another_member_gives_when_the_giver_crashes() {
    const BALLAST: usize = 2_000_000;
    for kind in KINDS {
        for seed in seeds(10) {
            let after = Duration::from_micros(Chance::new(seed).below(400_000));
            let network = Network::new(kind, 0, 0, 50, 500).bandwidth(20_000_000);
            let run = Simulation::of(4)
                .over(network)
                .seed(seed)
                .at(SECOND * 10 + after, Fault::Crash(1))
                .run(move |session| {
                    let own = Arc::new(Mutex::new(Added::default()));
                    let copy = Copy {
                        own: own.clone(),
                        ballast: BALLAST,
                    };
                    // One after the other, so that the second one is asked first.
                    let rank = session.rank();
                    let wait = if rank == 3 { 10 } else { rank };
                    thread::sleep(SECOND * wait);
                    let group = session.join_group_with_state("copies", copy)?;
                    for number in 0..20 {
                        let number = rank * 100 + number;
                        group.send_synchronously(Message::of(&number)?)?;
                    }
                    thread::sleep(SECOND * 60);
                    let all = own.lock().all.clone();
                    Ok::<_, Error>(all)
                })
                .unwrap();
            let all: Vec<_> = [0, 2, 3]
                .iter()
                .map(|rank| match &run.ends[*rank] {
                    antiphon_panda_sim::End::Returned(Ok(all)) => all.clone(),
                    other => panic!("{kind:?}, seed {seed}, rank {rank}: {other:?}"),
                })
                .collect();
            assert_eq!(all[0].len(), 80, "{kind:?}, seed {seed}");
            assert!(
                all.iter().all(|other| *other == all[0]),
                "{kind:?}, seed {seed}"
            );
        }
    }
}

/// A member that is cut off from the others is expelled, and so ends what waits for a place there.
#[test]
fn who_waits_for_a_place_and_is_expelled_is_told_so() {
    for seed in seeds(5) {
        let network = Network::new(Kind::Datagrams, 50, 20, 50, 1000);
        let run = Simulation::of(3)
            .over(network)
            .seed(seed)
            .at(SECOND * 5, Fault::Partition(vec![0]))
            .at(SECOND * 60, Fault::Heal)
            .run(|session| {
                let group = session.join_group("split", drop)?;
                session.everyone()?.barrier()?;
                if session.rank() == 1 {
                    thread::sleep(SECOND * 40);
                    group.send_synchronously(Message::new())?;
                }
                let waits = group.clone();
                let far = group.delivered() + 1000;
                let waiter = thread::spawn(move || waits.wait_for(far, None)).expect("a fiber");
                if session.rank() > 0 {
                    thread::sleep(SECOND * 60);
                    assert!(!group.wait_for(far, Some(thread::now() + SECOND))?);
                    group.leave()?;
                    assert!(matches!(waiter.join(), Ok(Err(Error::NotMember(_)))));
                    return Ok(false);
                }
                thread::sleep(SECOND * 6);
                // It may have been the one that gives places.
                let sent = group.send_synchronously(Message::new());
                let waited = waiter.join().expect("it returns");
                assert!(matches!(waited, Err(Error::Expelled { .. })), "{waited:?}");
                assert!(
                    matches!(sent, Ok(_) | Err(Error::Expelled { .. })),
                    "{sent:?}"
                );
                thread::sleep(SECOND * 60);
                Ok::<_, Error>(true)
            })
            .unwrap();
        let ends = run.values().unwrap_or_else(|failure| panic!("{failure}"));
        let ends: Result<Vec<bool>, _> = ends.into_iter().collect();
        assert_eq!(ends.unwrap(), [true, false, false], "seed {seed}");
    }
}
