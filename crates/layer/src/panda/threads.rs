//! What threads of the leader alone cost: to create one, and to switch between two.
//!
//! The operations of a slice run as a program of their own on threads of a kind, which the leader's
//! thread begins.

use std::sync::Arc;

use antiphon_panda::thread::{self, Semaphore, Threads};

use super::Passive;
use crate::failure::Failed;
use crate::member_state::MemberState;
use crate::tests::Part;

/// Does a number of operations, on threads of a kind.
struct Alone {
    kind: Threads,
    operate: fn(u64) -> Result<(), Failed>,
}

impl Part for Alone {
    fn run(&mut self, iterations: u64) -> Result<u64, Failed> {
        let operate = self.operate;
        thread::run(self.kind, move || operate(iterations))
            .map_err(|error| Failed(error.to_string()))??;
        Ok(iterations)
    }
}

fn alone(
    member_state: &mut MemberState,
    kind: Threads,
    operate: fn(u64) -> Result<(), Failed>,
) -> Result<Box<dyn Part>, Failed> {
    // All members join, or those that do would wait for the leader.
    let session = member_state.session()?;
    Ok(match member_state.rank {
        0 => Box::new(Alone { kind, operate }),
        _ => Box::new(Passive(session)),
    })
}

/// Creates threads one after the other, and waits for the end of each.
fn create(iterations: u64) -> Result<(), Failed> {
    for _ in 0..iterations {
        start(|| ())?.join().map_err(panicked)?;
    }
    Ok(())
}

/// Switches to another thread and back: two switches for each operation.
fn switch(iterations: u64) -> Result<(), Failed> {
    let turns = Arc::new([Semaphore::new(0), Semaphore::new(0)]);
    let others = turns.clone();
    let other = start(move || {
        for _ in 0..iterations {
            others[0].p();
            others[1].v();
        }
    })?;
    for _ in 0..iterations {
        turns[0].v();
        turns[1].p();
    }
    other.join().map_err(panicked)
}

fn start(body: impl FnOnce() + Send + 'static) -> Result<thread::Handle<()>, Failed> {
    thread::spawn(body).map_err(|error| Failed(error.to_string()))
}

fn panicked<T>(_: T) -> Failed {
    Failed("a thread panicked".into())
}

/// Prepares the creation of a thread of the system.
pub fn create_system(member_state: &mut MemberState, _: usize) -> Result<Box<dyn Part>, Failed> {
    alone(member_state, Threads::System, create)
}

/// Prepares the creation of a fiber.
pub fn create_fiber(member_state: &mut MemberState, _: usize) -> Result<Box<dyn Part>, Failed> {
    alone(member_state, Threads::Fibers, create)
}

/// Prepares switches between two threads of the system.
pub fn switch_system(member_state: &mut MemberState, _: usize) -> Result<Box<dyn Part>, Failed> {
    alone(member_state, Threads::System, switch)
}

/// Prepares switches between two fibers.
pub fn switch_fiber(member_state: &mut MemberState, _: usize) -> Result<Box<dyn Part>, Failed> {
    alone(member_state, Threads::Fibers, switch)
}
