//! Dining philosophers. Each takes both forks in one operation, so none waits for ever.

use orca::{Error, On, Orca, Shared};
use serde::{Deserialize, Serialize};

use crate::jobs::Tally;

const SEATS: usize = 5;

#[orca::object]
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Table {
    is_taken: [bool; SEATS],
}

#[orca::object]
impl Table {
    #[guard(!self.is_taken[seat] && !self.is_taken[(seat + 1) % SEATS])]
    pub fn take_forks(&mut self, seat: usize) {
        self.is_taken[seat] = true;
        self.is_taken[(seat + 1) % SEATS] = true;
    }

    pub fn put_forks(&mut self, seat: usize) {
        self.is_taken[seat] = false;
        self.is_taken[(seat + 1) % SEATS] = false;
    }
}

pub fn sequential(meals: usize) -> u64 {
    (SEATS * meals) as u64
}

#[orca::process]
fn philosopher(
    table: Shared<Table>,
    eaten: Shared<Tally>,
    seat: usize,
    meals: usize,
) -> Result<(), Error> {
    for _ in 0..meals {
        table.take_forks(seat)?;
        table.put_forks(seat)?;
    }
    eaten.add(meals as u64)
}

pub fn parallel(orca: &Orca, meals: usize) -> Result<u64, Error> {
    let table = orca.create(Table::default())?;
    let eaten = orca.create(Tally::default())?;
    for seat in 0..SEATS {
        philosopher::fork(orca, On::Any, table.clone(), eaten.clone(), seat, meals)?;
    }
    eaten.total(SEATS as u32)
}
