//! Shared objects: processes on several machines use them as if they had a common memory.
//!
//! After Orca (Bal, Kaashoek and Tanenbaum, IEEE TSE 18(3) 1992). An object is a state with
//! operations. Each operation is atomic, and all processes see all operations on all objects in one
//! order. A guard blocks an operation, without effect, until the object's state allows it.
//!
//! An object is replicated on all machines, or owned by one. Reads of a replica are local, and
//! writes are broadcast in one order. An owner is called by the other machines. By default the
//! run-time moves an object to where its use is cheapest.
//!
//! ```
//! use orca::Shared;
//! use serde::{Deserialize, Serialize};
//!
//! #[orca::object]
//! #[derive(Clone, Default, Serialize, Deserialize)]
//! struct Counter {
//!     value: i64,
//! }
//!
//! #[orca::object]
//! impl Counter {
//!     fn add(&mut self, amount: i64) {
//!         self.value += amount;
//!     }
//!     #[guard(self.value >= least)]
//!     fn await_at_least(&self, least: i64) -> i64 {
//!         self.value
//!     }
//! }
//!
//! #[orca::process]
//! fn adder(counter: Shared<Counter>, times: u32) -> Result<(), orca::Error> {
//!     (0..times).try_for_each(|_| counter.add(1))
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let session = antiphon_panda::platform::local::Local::sessions(1)?.remove(0);
//! // Every machine of the session runs this. `main` runs on the first one.
//! let value = orca::run(&session, |orca| {
//!     let counter = orca.create(Counter::default())?;
//!     for machine in orca.machines() {
//!         adder::fork(orca, orca::On::Machine(machine), counter.clone(), 10)?;
//!     }
//!     counter.await_at_least(10 * orca.machines().len() as i64)
//! })?;
//! # assert_eq!(value.unwrap().unwrap(), 10);
//! # Ok(())
//! # }
//! ```
//!
//! A [`Partitioned`] array holds data that each machine processes in place. A parallel operation on
//! it runs once an element, on the machines that own them, as one step.
//!
//! The core knows no language. An object type is a [table of operations](ObjectType), which the
//! attributes of this crate make of Rust code. The core uses only panda's public interface, so it
//! runs in panda's simulator as on networks.

// The attributes' code uses this name for the crate, in its own tests as well.
extern crate self as orca;

mod cell;
mod entry;
mod envelope;
mod error;
mod event;
mod fault;
mod machine;
mod object;
mod order;
pub mod partitioned;
mod placement;
mod process;
mod remote;
mod shared;
mod statistics;
mod termination;
#[cfg(test)]
mod tests;
mod waiters;

pub use entry::ObjectId;
pub use error::{BlockedProcess, Deadlock, Error};
pub use event::{Event, EventKind, Observer};
pub use object::{
    Alternative, Body, Codec, Copying, Decoding, Encoding, ObjectType, Operation, Reading, State,
    Step, Writing, find, register,
};
pub use orca_macros::{elements, object, process};
pub use partitioned::{Distribution, Element, Gathered, Partitioned, Spread, View, Whole};
pub use placement::{Accesses, Costs, Location, Placement};
pub use process::{Arguments, On, Orca, Program, register_process, run};
pub use shared::{Handle, Here, Object, Shared, StateOf};
pub use statistics::{MachineStatistics, ObjectStatistics, TypeStatistics};

/// Used by the attributes' code. Not part of the interface.
#[doc(hidden)]
pub mod private {
    pub use crate::object::{RegisteredType, block, codec, encode, or_undo};
    pub use crate::partitioned::attribute as arrays;
    pub use crate::process::{Ending, Made, RegisteredProcess};
    pub use crate::shared::Here;
    pub use antiphon_panda::message::value_in;
    pub use inventory;
}

/// The programs of the tutorial.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/tutorial/orca.md")]
mod tutorial {}
