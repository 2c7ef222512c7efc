//! Situations that histories seldom reach, each set up on purpose.

use std::sync::Arc;
use std::time::Duration;

use antiphon_panda::{Rank, Session, thread};
use antiphon_panda_sim::{End, Fault, Kind, Network, Simulation};
use parking_lot::Mutex;

use super::check::Ledger;
use super::history::{Invoker, ledger, set_ledger};
use super::register::{Nest, Register};
use super::{SECOND, run_on};
use crate::fault::Mutant;
use crate::{Error, On, Orca, Placement, Shared};

/// A situation: its main process, its number of machines, and which one crashes when.
#[derive(Clone, Copy)]
pub struct Scenario {
    pub machines: u32,
    pub crash: Option<(u32, Duration)>,
    pub main: fn(&Orca) -> Result<(), Error>,
}

const MILLI: Duration = Duration::from_millis(1);

fn invoker(process: u32) -> Invoker {
    Invoker {
        ledger: ledger(),
        process,
        number: 0,
    }
}

/// Runs a situation from a seed. Nothing in it may fail.
///
/// # Errors
/// The fault.
pub fn run(scenario: Scenario, seed: u64, mutant: Option<Mutant>) -> Result<(), String> {
    let kind = [Kind::Datagrams, Kind::Streams, Kind::Bus][seed as usize % 3];
    let network = Network::new(
        kind,
        seed % 7 * 10,
        seed % 5 * 10,
        50,
        100 + seed % 11 * 150,
    );
    let mut simulation = Simulation::of(scenario.machines)
        .over(network)
        .seed(seed)
        .limit(SECOND * 600);
    let ledger = Arc::new(Mutex::new(Ledger::default()));
    if let Some((rank, at)) = scenario.crash {
        simulation = simulation.at(at, Fault::Crash(rank));
        ledger.lock().crashed.insert(rank);
    }
    set_ledger(&ledger);
    let (founders, joiners) = (ledger.clone(), ledger.clone());
    let run = move |session: Session| run_on(&session, mutant, &founders, scenario.main);
    let join = move |session: Session, _| run_on(&session, mutant, &joiners, |_| Ok(()));
    let outcome = simulation.program("joiner", join).run(run);
    let outcome = outcome.map_err(|error| error.to_string())?;
    if let Some(failure) = outcome.failure() {
        return Err(failure.to_string());
    }
    for (rank, end) in outcome.ends.iter().enumerate() {
        match end {
            End::Returned(Ok(None | Some(Ok(())))) | End::Crashed => {}
            End::Returned(Ok(Some(Err(error))) | Err(error)) => {
                return Err(format!("machine {rank}: {error}"));
            }
            other => return Err(format!("machine {rank}: {other:?}")),
        }
    }
    ledger.lock().check()
}

/// Runs a situation from several seeds.
fn holds(scenario: Scenario) {
    for seed in super::seeds(12) {
        if let Err(fault) = run(scenario, seed, None) {
            panic!("seed {seed}: {fault}");
        }
    }
}

/// Starts a writer on machine 2 and a reader on machine 3 for x, and for y, which has an owner.
fn write_and_look(orca: &Orca, owner: Rank) -> Result<(), Error> {
    for round in 0..6_u32 {
        let x = orca.create_at(Placement::Replicated, Register::default())?;
        let y = orca.create_at(Placement::Owned(owner), Register::default())?;
        let done = orca.create_at(Placement::Owned(0), Register::default())?;
        writer::fork(
            orca,
            On::Machine(2),
            x.clone(),
            y.clone(),
            done.clone(),
            round * 2,
        )?;
        looker::fork(
            orca,
            On::Machine(3),
            x.clone(),
            y.clone(),
            done.clone(),
            round * 2 + 1,
        )?;
        invoker(1000 + round).invoke(&done, "reach", 2)?;
    }
    Ok(())
}

/// Writes replicated x, then owned y. A process that sees y sees x, at whichever copy it reads.
pub const MIXED: Scenario = Scenario {
    machines: 4,
    crash: None,
    main: |orca| write_and_look(orca, 1),
};

#[orca::process]
fn writer(
    x: Shared<Register>,
    y: Shared<Register>,
    done: Shared<Register>,
    process: u32,
) -> Result<(), Error> {
    let mut invoker = invoker(process);
    invoker.invoke(&x, "swap", 7)?;
    invoker.invoke(&y, "swap", 7)?;
    invoker.invoke(&done, "write", 0).map(drop)
}

#[orca::process]
fn looker(
    x: Shared<Register>,
    y: Shared<Register>,
    done: Shared<Register>,
    process: u32,
) -> Result<(), Error> {
    let mut invoker = invoker(process);
    for _ in 0..200 {
        let seen = invoker.invoke(&y, "read", 0)?;
        let x = invoker.invoke(&x, "read", 0)?;
        if seen == Some(7001) {
            assert_eq!(x, Some(7001), "it sees y, and not x, which came before");
            break;
        }
    }
    invoker.invoke(&done, "write", 0).map(drop)
}

#[test]
fn who_sees_an_owned_object_sees_the_replicated_ones_before_it() {
    holds(MIXED);
}

/// The same through an owner that reads its own old copy of x. A request carries its place.
pub const MIXED_AT_OWNER: Scenario = Scenario {
    machines: 4,
    crash: None,
    main: |orca| write_and_look(orca, 3),
};

#[test]
fn an_owner_waits_for_the_place_of_a_request() {
    holds(MIXED_AT_OWNER);
}

/// A process that waits for credit is on a machine that crashes, so another process gets it.
pub const DEAD_WAITER: Scenario = Scenario {
    machines: 4,
    crash: Some((3, Duration::from_millis(400))),
    main: |orca| {
        let objects = [Placement::Replicated, Placement::Owned(1)];
        let objects = objects.map(|it| orca.create_at(it, Register::default()));
        let objects: Vec<_> = objects.into_iter().collect::<Result<_, _>>()?;
        for (process, object) in (0..).zip(&objects) {
            taker::fork(orca, On::Machine(3), object.clone(), process)?;
        }
        thread::sleep(SECOND * 40);
        let mut invoker = invoker(10);
        for object in &objects {
            invoker.invoke(object, "give", 1)?;
            invoker.invoke(object, "take", 1)?;
        }
        Ok(())
    },
};

#[orca::process]
fn taker(object: Shared<Register>, process: u32) -> Result<(), Error> {
    invoker(process).invoke(&object, "take", 1).map(drop)
}

#[test]
fn a_dead_process_takes_nothing() {
    holds(DEAD_WAITER);
}

/// The owner of an object crashes. Replicated objects go on, and the others learn that it is lost.
pub const DEAD_OWNER: Scenario = Scenario {
    machines: 4,
    crash: Some((3, Duration::from_millis(400))),
    main: |orca| {
        let lost = orca.create_at(Placement::Owned(3), Register::default())?;
        let kept = orca.create_at(Placement::Replicated, Register::default())?;
        // A running process keeps the wait from being a deadlock.
        sleeper::fork(orca, On::Machine(1), 60)?;
        let mut invoker = invoker(0);
        invoker.invoke(&lost, "swap", 1)?;
        // This waits while the owner crashes.
        let ended = invoker
            .invoke(&lost, "take", 1)
            .expect_err("the owner is gone");
        if !matches!(ended, Error::ObjectLost { machine: 3, .. }) {
            return Err(ended);
        }
        invoker.invoke(&kept, "swap", 1)?;
        let ended = invoker
            .invoke(&lost, "read", 0)
            .expect_err("the owner is gone");
        if !matches!(ended, Error::ObjectLost { machine: 3, .. }) {
            return Err(ended);
        }
        match orca.fork(On::Machine(3), taker::NAME, &(kept, 5)) {
            Err(Error::NoMachine(3)) => Ok(()),
            other => other.and(Err(Error::Over)),
        }
    },
};

#[orca::process]
fn sleeper(seconds: u32) {
    thread::sleep(SECOND * seconds);
}

#[test]
fn an_object_of_a_dead_machine_is_lost_and_says_so() {
    holds(DEAD_OWNER);
}

/// A machine joins while processes are blocked and writes are in flight.
pub const JOINER: Scenario = Scenario {
    machines: 2,
    crash: None,
    main: |orca| {
        let object = orca.create_at(Placement::Replicated, Register::default())?;
        let mut own = invoker(10);
        own.invoke(&object, "write", 3)?;
        taker::fork(orca, On::Machine(1), object.clone(), 0)?;
        thread::sleep(SECOND);
        let joiner = orca.session().spawn("joiner", [""; 0], 1)?[0];
        for _ in 0..10 {
            own.invoke(&object, "write", 4)?;
        }
        while !orca.machines().contains(&joiner) {
            own.invoke(&object, "swap", 5)?;
            thread::sleep(MILLI);
        }
        // The waiting process is woken at the joiner's copy, too.
        own.invoke(&object, "give", 1)?;
        taker::fork(orca, On::Machine(joiner), object.clone(), 1)?;
        own.invoke(&object, "give", 1)?;
        own.invoke(&object, "reach", 10).map(drop)
    },
};

#[test]
fn a_joiner_has_blocked_operations_too() {
    holds(JOINER);
}

/// Objects without sharers are gone, and others are not.
pub const LIFETIMES: Scenario = Scenario {
    machines: 3,
    crash: None,
    main: |orca| {
        let kept = orca.create_at(Placement::Replicated, Register::default())?;
        for process in 0..5 {
            let object = orca.create(Register::default())?;
            late_user::fork(orca, On::Machine(1), object, kept.clone(), process)?;
        }
        invoker(100).invoke(&kept, "reach", 5)?;
        for _ in 0..100 {
            if orca.statistics().len() == 1 {
                return Ok(());
            }
            thread::sleep(MILLI * 10);
        }
        Err(Error::NoType(format!(
            "{} objects are left",
            orca.statistics().len()
        )))
    },
};

#[orca::process]
fn late_user(object: Shared<Register>, kept: Shared<Register>, process: u32) -> Result<(), Error> {
    let mut invoker = invoker(process);
    // By now its creator has released it.
    thread::sleep(MILLI * 50);
    invoker.invoke(&object, "swap", 1)?;
    invoker.invoke(&kept, "write", 0).map(drop)
}

#[test]
fn objects_end_with_their_last_sharer() {
    holds(LIFETIMES);
}

/// A machine ends the program and leaves while others call its object.
pub const FINISHED: Scenario = Scenario {
    machines: 3,
    crash: None,
    main: |orca| {
        let object = orca.create_at(Placement::Owned(0), Register::default())?;
        for process in 1..3 {
            caller::fork(orca, On::Machine(process), object.clone(), process)?;
        }
        thread::sleep(MILLI * 20);
        orca.finish()
    },
};

#[orca::process]
fn caller(object: Shared<Register>, process: u32) {
    let mut invoker = invoker(process);
    let ended = loop {
        if let Err(error) = invoker.invoke(&object, "swap", 1) {
            break error;
        }
    };
    assert!(matches!(ended, Error::Finished), "{ended}");
}

#[test]
fn nobody_loses_an_object_of_a_finished_program() {
    holds(FINISHED);
}

/// All processes wait for each other.
pub const DEADLOCK: Scenario = Scenario {
    machines: 3,
    crash: None,
    main: |orca| {
        let objects = [
            Placement::Replicated,
            Placement::Owned(1),
            Placement::Adaptive,
        ];
        let objects = objects.map(|it| orca.create_at(it, Register::default()));
        let objects: Vec<_> = objects.into_iter().collect::<Result<_, _>>()?;
        for (process, object) in (0..).zip(&objects) {
            stuck::fork(orca, On::Machine(process), object.clone(), process)?;
        }
        let ended = invoker(10)
            .invoke(&objects[0], "take", 1)
            .expect_err("nobody gives");
        match &ended {
            Error::Deadlock(deadlock) if deadlock.blocked.len() == 4 => Ok(()),
            _ => Err(ended),
        }
    },
};

#[orca::process]
fn stuck(object: Shared<Register>, process: u32) {
    let ended = invoker(process)
        .invoke(&object, "take", 1)
        .expect_err("nobody gives");
    if !matches!(ended, Error::Deadlock(_)) {
        ledger().lock().faults.push(ended.to_string());
    }
}

/// Runs it, and checks that all machines report the deadlock.
///
/// # Errors
/// It is not reported.
pub fn run_deadlock(seed: u64, mutant: Option<Mutant>) -> Result<(), String> {
    match run(DEADLOCK, seed, mutant) {
        Err(said) if said.contains("deadlock: all 4 processes wait") => Ok(()),
        Err(said) => Err(said),
        Ok(()) => Err("no machine reports the deadlock".into()),
    }
}

#[test]
fn a_deadlock_is_reported_to_all() {
    for seed in super::seeds(12) {
        run_deadlock(seed, None).unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
    }
}

/// Writes without results race with an object that moves on and on.
pub const MOVES: Scenario = Scenario {
    machines: 3,
    crash: None,
    main: |orca| {
        let object = orca.create_at(Placement::Replicated, Register::default())?;
        for process in 0..3 {
            streamer::fork(orca, On::Machine(process), object.clone(), process)?;
        }
        for round in 0..12 {
            let to = [
                Placement::Owned(1),
                Placement::Replicated,
                Placement::Owned(2),
                Placement::Replicated,
            ];
            object.strategy(to[round % 4])?;
        }
        invoker(10).invoke(&object, "reach", 90)?;
        object.strategy(Placement::Replicated)
    },
};

#[orca::process]
fn streamer(object: Shared<Register>, process: u32) -> Result<(), Error> {
    let mut invoker = invoker(process);
    for number in 0..30 {
        invoker.invoke(&object, "write", number)?;
        if number % 10 == 0 {
            invoker.invoke(&object, "read", 0)?;
        }
    }
    invoker.invoke(&object, "give", 1)?;
    invoker.invoke(&object, "take", 1).map(drop)
}

#[test]
fn moves_lose_no_write() {
    holds(MOVES);
}

/// Blocked processes on all machines are still served when their object moves.
pub const MOVE_OF_BLOCKED: Scenario = Scenario {
    machines: 3,
    crash: None,
    main: |orca| {
        let places = [
            Placement::Owned(1),
            Placement::Replicated,
            Placement::Owned(2),
        ];
        let object = orca.create_at(Placement::Replicated, Register::default())?;
        for process in 0..3 {
            taker::fork(orca, On::Machine(process), object.clone(), process)?;
            reacher::fork(orca, On::Machine(process), object.clone(), 10 + process)?;
        }
        let mut own = invoker(20);
        for place in places {
            thread::sleep(MILLI * 20);
            object.strategy(place)?;
            own.invoke(&object, "give", 1)?;
        }
        for _ in 0..5 {
            own.invoke(&object, "write", 1)?;
        }
        Ok(())
    },
};

#[orca::process]
fn reacher(object: Shared<Register>, process: u32) -> Result<(), Error> {
    invoker(process).invoke(&object, "reach", 5).map(drop)
}

#[test]
fn blocked_operations_follow_their_object() {
    holds(MOVE_OF_BLOCKED);
}

/// Blocked operations are served in the order of their arrival.
pub const FIRST_COME: Scenario = Scenario {
    machines: 3,
    crash: None,
    main: |orca| {
        for placement in [Placement::Replicated, Placement::Owned(1)] {
            let object = orca.create_at(placement, Register::default())?;
            let base = if placement == Placement::Replicated {
                0
            } else {
                100
            };
            // The first wants much, the others little.
            for process in 0..4 {
                wanter::fork(
                    orca,
                    On::Machine(process % 3),
                    object.clone(),
                    base + process,
                )?;
                thread::sleep(MILLI * 300);
            }
            let mut own = invoker(base + 50);
            own.invoke(&object, "give", 3)?;
            thread::sleep(MILLI * 300);
            let left = own.invoke(&object, "swap", 0)?;
            assert_eq!(left, Some(0));
            own.invoke(&object, "give", 5)?;
            own.invoke(&object, "reach", 4)?;
            let order = ledger().lock().log_of(object.id());
            let wanted: Vec<u32> = [1, 2, 3, 0].iter().map(|it| base + it).collect();
            assert_eq!(
                order, wanted,
                "first come, first served, where there is enough"
            );
        }
        Ok(())
    },
};

/// They keep their turns when their object moves, even if their condition holds at once.
pub const MOVE_IN_TURN: Scenario = Scenario {
    machines: 4,
    crash: None,
    main: |orca| {
        let object = orca.create_at(Placement::Replicated, Register::default())?;
        for process in 0..6 {
            taker::fork(orca, On::Machine(process % 4), object.clone(), process)?;
            thread::sleep(MILLI * 300);
        }
        let mut own = invoker(50);
        for place in [
            Placement::Owned(1),
            Placement::Owned(2),
            Placement::Replicated,
            Placement::Owned(3),
        ] {
            object.strategy(place)?;
            own.invoke(&object, "give", 1)?;
        }
        own.invoke(&object, "give", 2)?;
        // All have their turn before this one.
        own.invoke(&object, "give", 1)?;
        own.invoke(&object, "take", 1)?;
        let order = ledger().lock().log_of(object.id());
        assert_eq!(order, [0, 1, 2, 3, 4, 5, 50], "they keep their turns");
        Ok(())
    },
};

#[test]
fn blocked_operations_keep_their_turns_where_their_object_moves() {
    holds(MOVE_IN_TURN);
}

#[orca::process]
fn wanter(object: Shared<Register>, process: u32) -> Result<(), Error> {
    let mut invoker = invoker(process);
    let wanted = if process.is_multiple_of(100) { 5 } else { 1 };
    invoker.invoke(&object, "take", wanted)?;
    invoker.invoke(&object, "write", 0).map(drop)
}

#[test]
fn blocked_operations_are_served_first_come_first() {
    holds(FIRST_COME);
}

/// Blocked operations leave no trace, and after an alternative that blocks the next is tried.
pub const NESTED: Scenario = Scenario {
    machines: 3,
    crash: None,
    main: |orca| {
        for (base, placement) in [(0, Placement::Replicated), (100, Placement::Owned(1))] {
            let nest = orca.create_at(placement, Nest::default())?;
            let done = orca.create_at(Placement::Replicated, Register::default())?;
            let mut own = invoker(base + 50);
            assert_eq!(
                own.nested(&nest, "take_or", 1)?,
                -1,
                "there is nothing to take"
            );
            for process in 0..3 {
                let on = On::Machine(process);
                nested_taker::fork(orca, on, nest.clone(), done.clone(), base + process)?;
            }
            // Each is tried in vain several times.
            for _ in 0..3 {
                thread::sleep(MILLI * 20);
                own.nested(&nest, "take_or", 1)?;
                own.nested(&nest, "give_nested", 1)?;
            }
            own.invoke(&done, "reach", 3)?;
        }
        Ok(())
    },
};

#[orca::process]
fn nested_taker(nest: Shared<Nest>, done: Shared<Register>, process: u32) -> Result<(), Error> {
    let mut invoker = invoker(process);
    invoker.nested(&nest, "take_nested", 1)?;
    invoker.invoke(&done, "write", 0).map(drop)
}

#[test]
fn blocked_operations_leave_no_trace() {
    holds(NESTED);
}
