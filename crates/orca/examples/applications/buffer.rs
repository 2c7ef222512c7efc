//! A bounded buffer: producers wait for room, and consumers for items.

use std::collections::VecDeque;

use orca::{Error, On, Orca, Shared};
use serde::{Deserialize, Serialize};

use crate::jobs::Tally;

const ROOM: usize = 4;

#[orca::object]
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Buffer {
    items: VecDeque<u64>,
}

#[orca::object]
impl Buffer {
    #[guard(self.items.len() < ROOM)]
    pub fn put(&mut self, item: u64) {
        self.items.push_back(item);
    }

    #[guard(!self.items.is_empty())]
    pub fn get(&mut self) -> u64 {
        self.items.pop_front().unwrap_or_default()
    }
}

fn item(number: u64) -> u64 {
    number * number % 1009
}

pub fn sequential(count: usize) -> u64 {
    (0..count as u64).map(item).sum()
}

#[orca::process]
fn producer(buffer: Shared<Buffer>, from: u64, to: u64) -> Result<(), Error> {
    (from..to).try_for_each(|number| buffer.put(item(number)))
}

#[orca::process]
fn consumer(buffer: Shared<Buffer>, sum: Shared<Tally>, count: u64) -> Result<(), Error> {
    let mut own = 0;
    for _ in 0..count {
        own += buffer.get()?;
    }
    sum.add(own)
}

pub fn parallel(orca: &Orca, count: usize) -> Result<u64, Error> {
    let buffer = orca.create(Buffer::default())?;
    let sum = orca.create(Tally::default())?;
    let machines = orca.machines();
    let (parts, count) = (machines.len() as u64, count as u64);
    for (part, machine) in (0..).zip(&machines) {
        let on = On::Machine(*machine);
        let (from, to) = (part * count / parts, (part + 1) * count / parts);
        producer::fork(orca, on, buffer.clone(), from, to)?;
        consumer::fork(orca, on, buffer.clone(), sum.clone(), to - from)?;
    }
    sum.total(machines.len() as u32)
}
