//! Programs over a simulated network: histories drawn from seeds, and checks of the claimed order.

use std::sync::Arc;
use std::time::Duration;

use antiphon_panda::Session;
use parking_lot::Mutex;

use crate::fault::{Fault, Mutant};
use crate::machine::Machine;
use crate::process::Program;
use crate::{Error, Orca};

mod arrays;
mod check;
mod history;
mod mutants;
mod register;
mod scenarios;

use check::Ledger;

const SECOND: Duration = Duration::from_secs(1);

/// Returns the seeds: the usual number, or that of a variable in `make soak`.
fn seeds(usual: u64) -> impl Iterator<Item = u64> {
    let said = std::env::var("ORCA_SEEDS").ok();
    let count = said.map_or(usual, |said| said.parse().expect("a number of seeds"));
    let one = std::env::var("ORCA_SEED").ok();
    let one = one.map(|said| said.parse().expect("a seed"));
    let (first, count) = one.map_or((0, count), |seed| (seed, 1));
    first..first + count
}

/// Runs a program on one simulated machine, and records its operations in a ledger.
fn run_on<R: Send + 'static>(
    session: &Session,
    mutant: Option<Mutant>,
    ledger: &Arc<Mutex<Ledger>>,
    main: impl FnOnce(&Orca) -> R + Send + 'static,
) -> Result<Option<R>, Error> {
    let of = ledger.clone();
    let at_end = ledger.clone();
    let program = Program {
        fault: Fault { mutant },
        trace: Some(Arc::new(move |executed, machine, place, is_ordered| {
            of.lock().enter(&executed, machine, place, is_ordered);
        })),
        at_end: Some(Arc::new(move |machine: &Machine| {
            at_end.lock().close(machine);
        })),
        ..Program::default()
    };
    program.run(session, main)
}
