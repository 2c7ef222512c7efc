//! Histories that are drawn from seeds.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use antiphon_panda::{Rank, Session, thread};
use antiphon_panda_sim::{Chance, End, Fault, Kind, Network, Simulation};
use parking_lot::Mutex;

use super::check::Ledger;
use super::register::{Nest, Register, Token};
use super::{SECOND, run_on, seeds};
use crate::fault::Mutant;
use crate::{Error, On, Orca, Placement, Shared};

/// The events that may happen in a history.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub seed: u64,
    pub machines: u32,
    /// Operations of each process.
    pub operations: u32,
    pub crashes: bool,
    pub splits: bool,
    pub joins: bool,
    /// One operation in so many moves an object; 0 means none.
    pub moves: u64,
    pub kind: Kind,
}

impl Plan {
    /// Draws a plan from a seed.
    pub fn of(seed: u64) -> Self {
        let mut chance = Chance::new(seed ^ 0x0ca0_0ca0);
        let kinds = [Kind::Datagrams, Kind::Streams, Kind::Bus, Kind::Multicast];
        let kind = kinds[chance.below(4) as usize];
        let machines = match chance.below(10) {
            0 => chance.between(6, 16),
            _ => chance.between(2, 5),
        };
        Self {
            seed,
            machines: machines as u32,
            operations: chance.between(5, 25) as u32,
            crashes: machines > 2 && chance.below(4) == 0,
            splits: kind != Kind::Bus && machines > 2 && chance.below(6) == 0,
            joins: chance.below(4) == 0,
            moves: [0, 5, 20][chance.below(3) as usize],
            kind,
        }
    }

    /// Draws a plan without faults, in which every operation completes.
    pub fn calm(seed: u64) -> Self {
        Self {
            crashes: false,
            splits: false,
            joins: false,
            ..Self::of(seed)
        }
    }
}

/// Invokes operations, and records their results.
pub struct Invoker {
    pub ledger: Arc<Mutex<Ledger>>,
    pub process: u32,
    pub number: u32,
}

impl Invoker {
    /// Invokes an operation of a register.
    pub fn invoke(
        &mut self,
        object: &Shared<Register>,
        operation: &str,
        value: i64,
    ) -> Result<Option<i64>, Error> {
        let token = self.token();
        let result = match operation {
            "write" => object.write(token, value).map(|()| None),
            "give" => object.give(token, value).map(|()| None),
            "swap" => object.swap(token, value).map(Some),
            "read" => object.read(token, value).map(Some),
            "reach" => object.reach(token, value).map(Some),
            "take" => object.take(token, value).map(Some),
            _ => object.either(token, value).map(Some),
        }?;
        self.ledger.lock().ended(token, result);
        Ok(result)
    }

    /// Invokes an operation of an object with a nested one.
    pub fn nested(
        &mut self,
        object: &Shared<Nest>,
        operation: &str,
        value: i64,
    ) -> Result<i64, Error> {
        let token = self.token();
        let result = match operation {
            "give_nested" => object.give_nested(token, value),
            "take_nested" => object.take_nested(token, value),
            _ => object.take_or(token, value),
        }?;
        self.ledger.lock().ended(token, Some(result));
        Ok(result)
    }

    fn token(&mut self) -> Token {
        self.number += 1;
        let token = Token {
            process: self.process,
            number: self.number,
        };
        self.ledger.lock().invoked(token);
        token
    }
}

thread_local! {
    /// The ledger of the simulation on this thread, for processes that are forked in it.
    static LEDGER: std::cell::RefCell<Option<Arc<Mutex<Ledger>>>> = const { std::cell::RefCell::new(None) };
}

/// Lets the processes of a simulation find its ledger.
pub fn set_ledger(ledger: &Arc<Mutex<Ledger>>) {
    LEDGER.set(Some(ledger.clone()));
}

pub fn ledger() -> Arc<Mutex<Ledger>> {
    LEDGER.with_borrow(|it| it.clone().expect("a simulation is set up"))
}

/// Invokes operations at random, and then waits until all others have.
#[orca::process]
fn work(
    orca: &Orca,
    objects: Vec<Shared<Register>>,
    nest: Shared<Nest>,
    arrived: Shared<Register>,
    drawn: (u64, u64),
    counts: (u32, u32, u32),
) -> Result<(), Error> {
    let process = counts.0;
    let worked = work_at_random(orca, &objects, (&nest, &arrived), drawn, counts);
    // Machines that are lost take objects and processes with them.
    if let Err(error) = &worked
        && ledger().lock().crashed.is_empty()
    {
        ledger()
            .lock()
            .faults
            .push(format!("process {process}: {error}"));
    }
    Ok(())
}

fn work_at_random(
    orca: &Orca,
    objects: &[Shared<Register>],
    (nest, arrived): (&Shared<Nest>, &Shared<Register>),
    (seed, moves): (u64, u64),
    (process, operations, all): (u32, u32, u32),
) -> Result<(), Error> {
    let mut chance = Chance::new(seed.wrapping_mul(1009) + u64::from(process));
    let mut invoker = Invoker {
        ledger: ledger(),
        process,
        number: 0,
    };
    for _ in 0..operations {
        let object = &objects[chance.below(objects.len() as u64) as usize];
        if moves > 0 && chance.below(moves) == 0 {
            let machines = orca.machines();
            let to = match chance.below(3) {
                0 => Placement::Adaptive,
                1 => Placement::Replicated,
                _ => Placement::Owned(machines[chance.below(machines.len() as u64) as usize]),
            };
            match object.strategy(to) {
                Err(Error::NoMachine(_)) | Ok(()) => {}
                Err(other) => return Err(other),
            }
        }
        let value = chance.between(1, 9) as i64;
        match chance.below(16) {
            // Each gives before it takes, so that none waits for ever.
            0 | 1 => {
                invoker.invoke(object, "give", value)?;
                invoker.invoke(object, "take", value)?;
            }
            2 => {
                invoker.nested(nest, "give_nested", 1)?;
                invoker.nested(nest, "take_nested", 1)?;
            }
            3..=6 => drop(invoker.invoke(object, "write", value)?),
            7 | 8 => drop(invoker.invoke(object, "swap", value)?),
            9..=12 => drop(invoker.invoke(object, "read", 0)?),
            13 => drop(invoker.invoke(object, "either", value)?),
            14 => {
                invoker.nested(nest, "give_nested", 1)?;
                invoker.nested(nest, "take_or", 1)?;
            }
            _ => thread::sleep(Duration::from_micros(chance.below(3000))),
        }
    }
    invoker.invoke(arrived, "write", 0)?;
    invoker.invoke(arrived, "reach", all.into())?;
    Ok(())
}

/// Creates objects and forks processes, more than there are machines.
fn main(orca: &Orca, plan: Plan) -> Result<(), Error> {
    let mut chance = Chance::new(plan.seed ^ 0x5eed);
    let place = |chance: &mut Chance| match chance.below(4) {
        0 => Placement::Adaptive,
        1 | 2 => Placement::Replicated,
        _ => Placement::Owned(chance.below(plan.machines.into()) as Rank),
    };
    let objects: Vec<_> = (0..chance.between(1, 4))
        .map(|_| orca.create_at(place(&mut chance), Register::default()))
        .collect::<Result<_, _>>()?;
    let nest = orca.create_at(place(&mut chance), Nest::default())?;
    let arrived = orca.create_at(place(&mut chance), Register::default())?;
    let all = plan.machines + chance.below(3) as u32;
    for process in 0..all {
        let on = match chance.below(3) {
            0 => On::Any,
            _ => On::Machine(process % plan.machines),
        };
        let drawn = (plan.seed, plan.moves);
        let counts = (process, plan.operations, all);
        let shared = (objects.clone(), nest.clone(), arrived.clone());
        work::fork(orca, on, shared.0, shared.1, shared.2, drawn, counts)?;
        if plan.joins && process == 0 {
            orca.session().spawn("joiner", [""; 0], 1)?;
        }
    }
    Ok(())
}

type Ended = Result<Option<Result<(), Error>>, Error>;

/// Runs a history.
///
/// # Errors
/// The fault of the history.
pub fn run(plan: Plan, mutant: Option<Mutant>) -> Result<usize, String> {
    let mut chance = Chance::new(plan.seed ^ 0xfa11);
    let network = Network::new(
        plan.kind,
        chance.below(60),
        chance.below(30),
        50,
        chance.below(2000),
    );
    let mut simulation = Simulation::of(plan.machines)
        .over(network)
        .seed(plan.seed)
        .limit(SECOND * 600);
    let mut ledger = Ledger::default();
    // The main process is spared, because it forks all others.
    let minority = (plan.machines - 1) / 2;
    let mut out = BTreeSet::new();
    let at = Duration::from_micros(chance.between(20_000, 200_000));
    if plan.crashes {
        for _ in 0..chance.between(1, minority.max(1).into()) {
            out.insert(1 + chance.below(u64::from(plan.machines) - 1) as Rank);
        }
        for (turn, rank) in out.iter().enumerate() {
            let at = at + Duration::from_millis(7) * turn as u32;
            simulation = simulation.at(at, Fault::Crash(*rank));
        }
    } else if plan.splits {
        let cut: Vec<Rank> = (plan.machines - minority..plan.machines).collect();
        out.extend(&cut);
        simulation = simulation
            .at(at, Fault::Partition(cut))
            .at(at + SECOND * 60, Fault::Heal);
    }
    ledger.crashed.clone_from(&out);
    let ledger = Arc::new(Mutex::new(ledger));
    set_ledger(&ledger);
    let (of_founders, of_joiners) = (ledger.clone(), ledger.clone());
    let run = move |session: Session| -> Ended {
        run_on(&session, mutant, &of_founders, move |orca| main(orca, plan))
    };
    let join =
        move |session: Session, _| -> Ended { run_on(&session, mutant, &of_joiners, |_| Ok(())) };
    let outcome = simulation.program("joiner", join).run(run);
    let outcome = outcome.map_err(|error| error.to_string())?;
    if let Some(failure) = outcome.failure() {
        return Err(failure.to_string());
    }
    let mut ledger = ledger.lock();
    let may_fail = !out.is_empty();
    for (rank, end) in (0..).zip(&outcome.ends) {
        let End::Returned(ended) = end else { continue };
        let failed = match ended {
            Ok(None | Some(Ok(()))) => None,
            Ok(Some(Err(error))) | Err(error) => Some(error),
        };
        if let Some(error) = failed {
            let is_expected = match error {
                Error::Panda(_)
                | Error::ObjectLost { .. }
                | Error::Deadlock(_)
                | Error::NoMachine(_) => may_fail,
                _ => false,
            };
            if !is_expected {
                return Err(format!("machine {rank}: {error}"));
            }
            ledger.forget(rank);
        }
        if plan.splits && out.contains(&rank) {
            ledger.forget(rank);
        }
    }
    // The minority of a split may have gone on by itself for a while.
    match plan.splits {
        true => Ok(ledger.len()),
        false => ledger.check().map(|()| ledger.len()),
    }
}

/// Runs a history that should be right. If it is not, prints a smaller one of the same seed.
pub fn holds(plan: Plan) -> usize {
    match run(plan, None) {
        Ok(count) => count,
        Err(fault) => {
            let (plan, fault) = shrink(plan, fault, None);
            panic!("{plan:?}:\n{fault}\nreplay it with ORCA_SEED={}", plan.seed);
        }
    }
}

/// Removes what the fault does not need from a plan.
pub fn shrink(mut plan: Plan, mut fault: String, mutant: Option<Mutant>) -> (Plan, String) {
    let smaller: [fn(&mut Plan); 5] = [
        |plan| plan.crashes = false,
        |plan| plan.joins = false,
        |plan| plan.moves = 0,
        |plan| plan.machines = (plan.machines - 1).max(2),
        |plan| plan.operations = (plan.operations * 2 / 3).max(1),
    ];
    for _ in 0..6 {
        for change in smaller {
            let mut next = plan;
            change(&mut next);
            if let Err(other) = run(next, mutant) {
                (plan, fault) = (next, other);
            }
        }
    }
    (plan, fault)
}

#[test]
fn histories_are_sequentially_consistent() {
    let operations: usize = seeds(60).map(|seed| holds(Plan::calm(seed))).sum();
    assert!(operations > 1000, "{operations} operations were looked at");
}

#[test]
fn histories_with_crashes_splits_and_joiners_are_consistent_and_end() {
    for seed in seeds(60) {
        holds(Plan::of(seed));
    }
}
