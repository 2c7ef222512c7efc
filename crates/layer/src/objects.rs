//! Operations on shared objects of Orca's model.
//!
//! A member runs the program of shared objects on a thread of its own. The first process creates the
//! objects, and a process on each other machine takes them there. The member's thread then operates
//! on them in place of that process, which sleeps until the program ends.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::{self, JoinHandle};

use antiphon_panda::{Rank, Session};
use bytes::Bytes;
use orca::{Error, On, Orca, Placement, Shared};
use serde::{Deserialize, Serialize};

use crate::failure::Failed;
use crate::member_state::MemberState;
use crate::panda::{Passive, place_in_turn};
use crate::tests::Part;

/// The machine that gives writes their places. It is not the leader's, whose own writes would
/// otherwise return without any transfer. The same one owns the object that has one copy.
const ORDERS: Rank = 1;

/// The state of the objects.
#[orca::object]
#[derive(Clone, Default, Serialize, Deserialize)]
struct Number {
    value: u64,
}

#[orca::object]
impl Number {
    fn value(&self) -> u64 {
        self.value
    }

    fn increment(&mut self) -> u64 {
        self.value += 1;
        self.value
    }

    /// Takes an argument of some length.
    fn increment_by_length(&mut self, argument: Bytes) -> u64 {
        self.value += argument.len() as u64 + 1;
        self.value
    }

    fn add(&mut self, amount: u64) {
        self.value += amount;
    }

    #[guard(self.value >= least)]
    fn await_at_least(&self, least: u64) -> u64 {
        self.value
    }
}

/// The objects, as one process has them.
#[derive(Clone)]
pub struct Objects {
    /// Has one copy, which another process than the leader has.
    owned: Shared<Number>,
    /// Has a copy in each process.
    replicated: Shared<Number>,
}

/// Members that wait for their objects, by their ranks: threads of one process over `local`.
static WAITING: Mutex<BTreeMap<Rank, Sender<Objects>>> = Mutex::new(BTreeMap::new());

fn waiting() -> MutexGuard<'static, BTreeMap<Rank, Sender<Objects>>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives the objects to the member's thread.
fn hand_over(to: Rank, objects: Objects) {
    if let Some(waits) = waiting().remove(&to) {
        // A member that has failed takes nothing.
        let _ = waits.send(objects);
    }
}

#[orca::process]
fn take_part(orca: &Orca, owned: Shared<Number>, replicated: Shared<Number>) {
    hand_over(orca.machine(), Objects { owned, replicated });
    loop {
        thread::park();
    }
}

/// Creates the objects, gives them to all members, and waits until they are not needed any more.
fn create(orca: &Orca, over: &Receiver<()>) -> Result<(), Error> {
    let objects = Objects {
        owned: orca.create_at(Placement::Owned(ORDERS), Number::default())?,
        replicated: orca.create_at(Placement::Replicated, Number::default())?,
    };
    let own = orca.machine();
    for other in orca.machines().into_iter().filter(|it| *it != own) {
        let Objects { owned, replicated } = objects.clone();
        take_part::fork(orca, On::Machine(other), owned, replicated)?;
    }
    hand_over(own, objects);
    // The other end goes away without a word.
    let _ = over.recv();
    orca.finish()
}

/// A member's part in the program of shared objects.
pub struct Program {
    objects: Objects,
    over: Sender<()>,
    thread: JoinHandle<()>,
}

impl Program {
    /// Begins it, in all members of a session at the same time.
    pub fn begin(session: Session) -> Result<Self, Failed> {
        let rank = session.rank();
        let (gives, given) = mpsc::channel();
        waiting().insert(rank, gives);
        let (over, is_over) = mpsc::channel();
        let thread = thread::Builder::new().name("orca".into());
        let thread = thread.spawn(move || {
            let program = orca::Program::default().ordered_by(ORDERS);
            let outcome = program.run(&session, move |orca| create(orca, &is_over));
            if let Err(why) = outcome.and_then(|main| main.unwrap_or(Ok(()))) {
                eprintln!("member {rank}: its shared objects: {why}");
            }
            // A member that waits for its objects learns that there are none.
            waiting().remove(&rank);
        })?;
        let gone = |_| Failed("there are no shared objects; see the first failure".into());
        let objects = given.recv().map_err(gone)?;
        Ok(Self {
            objects,
            over,
            thread,
        })
    }

    /// Returns the objects.
    pub fn objects(&self) -> Objects {
        self.objects.clone()
    }

    /// Ends the program, for all members, and waits until it has ended here.
    pub fn end(self) {
        drop((self.objects, self.over));
        // Its thread has said what went wrong.
        let _ = self.thread.join();
    }
}

/// An operation of the leader alone. The machines of the others take part in it by their upcalls.
struct Alone<F>(F);

impl<F: FnMut(u64) -> Result<(), Failed>> Part for Alone<F> {
    fn run(&mut self, iterations: u64) -> Result<u64, Failed> {
        (self.0)(iterations).map(|()| iterations)
    }
}

/// Makes the leader's part of an operation, which does so many of them.
fn alone<F>(
    member_state: &mut MemberState,
    operate: impl FnOnce(Objects) -> F,
) -> Result<Box<dyn Part>, Failed>
where
    F: FnMut(u64) -> Result<(), Failed> + 'static,
{
    let objects = member_state.objects()?;
    Ok(match member_state.rank {
        0 => Box::new(Alone(operate(objects))),
        _ => Box::new(Passive(objects)),
    })
}

/// Prepares an operation, with `bytes` of arguments, on an object that another process owns.
pub fn remote(member_state: &mut MemberState, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    let argument = Bytes::from(vec![7; bytes]);
    alone(member_state, |objects| {
        move |iterations| {
            for _ in 0..iterations {
                objects.owned.increment_by_length(argument.clone())?;
            }
            Ok(())
        }
    })
}

/// Prepares a write of an object that all processes have a copy of.
pub fn group(member_state: &mut MemberState, _bytes: usize) -> Result<Box<dyn Part>, Failed> {
    alone(member_state, |objects| {
        move |iterations| {
            for _ in 0..iterations {
                objects.replicated.increment()?;
            }
            Ok(())
        }
    })
}

/// Prepares writes without a result, of which the next read waits for the last.
pub fn stream(member_state: &mut MemberState, _bytes: usize) -> Result<Box<dyn Part>, Failed> {
    alone(member_state, |objects| {
        move |iterations| {
            for _ in 0..iterations {
                objects.replicated.add(1)?;
            }
            black_box(objects.replicated.value()?);
            Ok(())
        }
    })
}

/// Prepares a read of the copy that the process has.
pub fn read(member_state: &mut MemberState, _bytes: usize) -> Result<Box<dyn Part>, Failed> {
    alone(member_state, |objects| {
        move |iterations| {
            for _ in 0..iterations {
                black_box(objects.replicated.value()?);
            }
            Ok(())
        }
    })
}

/// Prepares a read under a lock that nobody else takes, which a read of a copy is held against.
pub fn lock_read(member_state: &mut MemberState, _bytes: usize) -> Result<Box<dyn Part>, Failed> {
    alone(member_state, |_| {
        let number = RwLock::new(7_u64);
        move |iterations| {
            for _ in 0..iterations {
                black_box(*number.read().unwrap_or_else(PoisonError::into_inner));
            }
            Ok(())
        }
    })
}

/// Two processes write in turn, each after it has seen the other's write.
struct Turns {
    replicated: Shared<Number>,
    /// 0 and 1 for the two, none for the others.
    place: Option<u64>,
    value: u64,
}

impl Part for Turns {
    fn run(&mut self, iterations: u64) -> Result<u64, Failed> {
        let Some(place) = self.place else {
            return Ok(0);
        };
        for _ in 0..iterations {
            let next = self.value + 1;
            self.value = match self.value % 2 == place {
                true => self.replicated.increment()?,
                false => self.replicated.await_at_least(next)?,
            };
            if self.value != next {
                let why = format!("the object is at {} after write {next}", self.value);
                return Err(Failed(why));
            }
        }
        Ok(iterations)
    }
}

/// Prepares writes of two processes in turn, of an object that all have a copy of.
pub fn turn(member_state: &mut MemberState, _bytes: usize) -> Result<Box<dyn Part>, Failed> {
    let Objects { replicated, .. } = member_state.objects()?;
    // Earlier tests have written it, which not every member may have seen yet.
    let own = match member_state.rank {
        0 => Some(replicated.value()?),
        _ => None,
    };
    let value = member_state.everyone()?.broadcast(0, own.as_ref())?;
    Ok(Box::new(Turns {
        replicated,
        place: place_in_turn(member_state),
        value,
    }))
}
