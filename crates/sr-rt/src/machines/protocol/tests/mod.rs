//! Histories of machines that call each other, are destroyed and die, over a simulated network.
//!
//! In each history every invocation is answered once, or fails for a machine that is gone. The end
//! is found when nothing can go on, and only then.

use std::sync::Arc;
use std::time::Duration;

use antiphon_panda::Session;
use antiphon_panda_sim::{Chance, End, Fault, Kind, Network, Simulation};
use parking_lot::Mutex;

use super::fault::Mutant;
use ledger::Ledger;
use machine::Machine;

mod ledger;
mod machine;
mod mutants;

/// Most invocations of a history.
const MOST_INVOCATIONS: usize = 400;

/// What may happen in a history.
#[derive(Debug, Clone)]
pub struct Plan {
    pub seed: u64,
    pub kind: Kind,
    /// Machines besides the first that are created at the beginning.
    pub machines: u32,
    /// Processes that begin.
    pub roots: u32,
    /// How many invocations may follow from each other.
    pub depth: u32,
    /// Whether processes may wait for ever.
    pub blocks: bool,
    pub crashes: Vec<(u32, Duration)>,
    pub mutant: Option<Mutant>,
}

impl Plan {
    /// Draws a plan from a seed.
    fn of(seed: u64) -> Self {
        let mut chance = Chance::new(seed ^ 0x5eed_0047);
        let kinds = [Kind::Datagrams, Kind::Streams, Kind::Bus];
        let machines = chance.between(2, 5) as u32;
        let count = match chance.below(3) {
            0 => 0,
            _ => chance.between(1, 2),
        };
        let mut crash = || {
            let machine = chance.between(1, machines.into()) as u32;
            (
                machine,
                Duration::from_micros(chance.between(5_000, 60_000)),
            )
        };
        let crashes = (0..count).map(|_| crash()).collect();
        Self {
            seed,
            kind: kinds[(seed % 3) as usize],
            machines,
            roots: 2 + (seed % 7) as u32,
            depth: 2 + (seed % 5) as u32,
            blocks: seed.is_multiple_of(2),
            crashes,
            mutant: None,
        }
    }
}

/// Runs a history, and returns how many invocations it had.
///
/// # Errors
/// The fault that was found.
fn run(plan: Plan) -> Result<usize, String> {
    let seed = plan.seed;
    let network = Network::new(
        plan.kind,
        seed % 7 * 10,
        seed % 5 * 10,
        50,
        100 + seed % 11 * 150,
    );
    let mut simulation = Simulation::of(1)
        .over(network)
        .seed(seed)
        .limit(Duration::from_secs(30));
    let mut ledger = Ledger {
        is_lossy: plan.kind == Kind::Datagrams,
        ..Ledger::default()
    };
    ledger.machines.push(0);
    for (machine, at) in &plan.crashes {
        simulation = simulation.at(*at, Fault::Crash(*machine));
        ledger.crashes.push((*machine, *at));
    }
    let ledger = Arc::new(Mutex::new(ledger));
    let (of_first, of_others) = ((plan.clone(), ledger.clone()), (plan, ledger.clone()));
    let first = move |session: Session| {
        let machine = Machine::join(&session, &of_first.0, &of_first.1);
        machine.begin();
        machine.serve();
        machine.leave();
    };
    let other = move |session: Session, _| {
        let machine = Machine::join(&session, &of_others.0, &of_others.1);
        machine.serve();
        machine.leave();
    };
    let outcome = simulation.program("vm", other).run(first);
    let outcome = outcome.map_err(|error| error.to_string())?;
    let ledger = ledger.lock();
    if let Some(fault) = ledger.faults.first() {
        return Err(fault.clone());
    }
    let is_stuck = |end: &End<()>| matches!(end, End::Waits(_) | End::Panicked(_));
    if let Some(machine) = outcome.ends.iter().position(is_stuck) {
        let ends = &outcome.ends;
        let (halt, time) = (&outcome.halt, outcome.time);
        let (running, under_way) = (&ledger.running, &ledger.under_way);
        return Err(format!(
            "machine {machine} does not end: {halt:?} after {time:?}: {ends:?}; running {running:?}, under way {under_way:?}, destroyed {:?}",
            ledger.destroyed
        ));
    }
    match ledger.verdicts {
        0 => Err("the end is never found".into()),
        _ => Ok(ledger.invocations.len()),
    }
}

/// Returns the seeds: the usual number, or that of a variable in `make soak`.
fn seeds(usual: u64) -> std::ops::Range<u64> {
    let number = |variable: &str| {
        let text = std::env::var(variable).ok()?;
        Some(text.parse::<u64>().expect("a number"))
    };
    match number("SR_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SR_SEEDS").unwrap_or(usual),
    }
}

#[test]
fn every_invocation_is_answered_once_or_fails_and_the_end_is_found() {
    let mut invocations = 0;
    for seed in seeds(300) {
        let plan = Plan::of(seed);
        invocations +=
            run(plan.clone()).unwrap_or_else(|fault| panic!("SR_SEED={seed}: {fault}\n{plan:?}"));
    }
    println!("{invocations} invocations");
    assert!(invocations > 0);
}

/// In the first history a crash is planned for a machine before it is there. In the second a machine
/// crashes as it joins. In the third one dies between the last wave and the verdict, and another one
/// goes on because it hears of that.
#[test]
fn a_crash_around_the_beginning_or_the_end_makes_no_claim_wrong() {
    for seed in [450, 531, 5482] {
        run(Plan::of(seed)).unwrap_or_else(|fault| panic!("SR_SEED={seed}: {fault}"));
    }
}

#[test]
fn a_history_is_the_same_again() {
    for seed in 0..5 {
        assert_eq!(run(Plan::of(seed)), run(Plan::of(seed)), "seed {seed}");
    }
}
