//! Object types that the tests share.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

#[orca::object]
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Counter {
    value: i64,
}

#[orca::object]
impl Counter {
    pub fn add(&mut self, amount: i64) {
        self.value += amount;
    }

    /// Returns the new value.
    pub fn increment(&mut self) -> i64 {
        self.value += 1;
        self.value
    }

    pub fn value(&self) -> i64 {
        self.value
    }

    #[guard(self.value >= least)]
    pub fn await_at_least(&self, least: i64) -> i64 {
        self.value
    }

    /// Fails below zero.
    pub fn take(&mut self, amount: i64) -> Result<i64, String> {
        if amount > self.value {
            return Err(format!("{amount} of {}", self.value));
        }
        self.value -= amount;
        Ok(self.value)
    }

    pub fn explode(&mut self) -> i64 {
        self.value += 1;
        panic!("at {}", self.value)
    }
}

#[orca::object]
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Buffer {
    pub items: VecDeque<u32>,
    pub room: usize,
    pub is_closed: bool,
}

impl Buffer {
    pub fn new(room: usize) -> Self {
        Self {
            room,
            ..Self::default()
        }
    }
}

#[orca::object]
impl Buffer {
    #[guard(self.items.len() < self.room)]
    pub fn put(&mut self, item: u32) {
        self.items.push_back(item);
    }

    /// Takes the next item; `None` once the buffer is closed and empty.
    #[operation(get)]
    #[guard(!self.items.is_empty())]
    pub fn get_item(&mut self) -> Option<u32> {
        self.items.pop_front()
    }

    #[operation(get)]
    #[guard(self.is_closed && self.items.is_empty())]
    pub fn get_nothing(&self) -> Option<u32> {
        None
    }

    pub fn close(&mut self) {
        self.is_closed = true;
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }
}

/// A buffer inside an object. Its operations may block.
#[orca::object]
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Desk {
    #[nested]
    pub inbox: Buffer,
    pub attempts: u32,
    pub taken: Vec<u32>,
}

#[orca::object]
impl Desk {
    pub fn put(&mut self, item: u32) {
        self.inbox.put(item);
    }

    /// Changes the desk, and then blocks if the inbox is empty.
    pub fn take(&mut self) -> u32 {
        self.attempts += 1;
        let item = self.inbox.get().unwrap_or(0);
        self.taken.push(item);
        item
    }

    /// The first alternative may block. Then the second is tried.
    #[operation(take_or)]
    #[guard(self.attempts < 100)]
    pub fn take_first(&mut self, other: u32) -> u32 {
        self.attempts += 1;
        self.inbox.get().unwrap_or(other)
    }

    #[operation(take_or)]
    #[guard(self.attempts < 101)]
    pub fn take_other(&mut self, other: u32) -> u32 {
        self.taken.push(other);
        other
    }

    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    pub fn taken(&self) -> Vec<u32> {
        self.taken.clone()
    }
}

#[orca::object]
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Table {
    is_taken: Vec<bool>,
    meals: u32,
}

impl Table {
    pub fn new(seats: usize) -> Self {
        Self {
            is_taken: vec![false; seats],
            meals: 0,
        }
    }

    fn right_of(&self, seat: usize) -> usize {
        (seat + 1) % self.is_taken.len()
    }
}

#[orca::object]
impl Table {
    #[guard(!self.is_taken[seat] && !self.is_taken[self.right_of(seat)])]
    pub fn take_both(&mut self, seat: usize) {
        let right = self.right_of(seat);
        self.is_taken[seat] = true;
        self.is_taken[right] = true;
    }

    #[guard(!self.is_taken[fork])]
    pub fn take_one(&mut self, fork: usize) {
        self.is_taken[fork] = true;
    }

    pub fn put_both(&mut self, seat: usize) {
        let right = self.right_of(seat);
        assert!(self.is_taken[seat] && self.is_taken[right]);
        self.is_taken[seat] = false;
        self.is_taken[right] = false;
        self.meals += 1;
    }

    #[guard(self.meals >= count)]
    pub fn await_meals(&self, count: u32) -> u32 {
        self.meals
    }
}

/// An object whose operation prints, so that it can have only one copy.
#[orca::object]
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Log {
    lines: u32,
}

#[orca::object]
impl Log {
    #[io]
    pub fn say(&mut self, line: String) -> u32 {
        println!("{line}");
        self.lines += 1;
        self.lines
    }
}
