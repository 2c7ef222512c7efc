//! A counter to which a process on every machine adds: the first program of `docs/tutorial/orca.md`.
//!
//! ```text
//! cargo build --release -p antiphon-orca --examples
//! antiphon launch -n 3 --over tcp target/release/examples/shared_counter
//! ```

use orca::{Error, On, Orca, Shared};
use serde::{Deserialize, Serialize};

#[orca::object]
#[derive(Clone, Default, Serialize, Deserialize)]
struct Counter {
    value: i64,
}

#[orca::object]
impl Counter {
    fn add(&mut self, amount: i64) {
        self.value += amount;
    }

    #[guard(self.value >= least)]
    fn await_at_least(&self, least: i64) -> i64 {
        self.value
    }
}

#[orca::process]
fn adder(orca: &Orca, counter: Shared<Counter>, times: u32) -> Result<(), Error> {
    println!("adding on machine {}", orca.machine());
    (0..times).try_for_each(|_| counter.add(1))
}

fn program(orca: &Orca) -> Result<(), Error> {
    let counter = orca.create(Counter::default())?;
    let machines = orca.machines();
    for machine in &machines {
        adder::fork(orca, On::Machine(*machine), counter.clone(), 100)?;
    }
    let value = counter.await_at_least(100 * machines.len() as i64)?;
    println!("{value} on {} machines", machines.len());
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let session = antiphon_panda::Session::join()?;
    orca::run(&session, program)?.transpose()?;
    Ok(())
}
