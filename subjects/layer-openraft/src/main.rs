//! A number that processes have replicas of, by openraft. Measured beside shared objects.

use std::cell::{Cell, RefCell};
use std::net::TcpStream;
use std::process::ExitCode;
use std::rc::Rc;

use antiphon_kit::{Failure, Frames, Role, Subject, Test, ThreadReport, increment};

use group::Group;
use member::{PREPARE, TURNS, Turns, connect};
use node::write;

mod group;
mod member;
mod node;
mod store;
mod wire;

/// Numbers of members.
const MEMBERS: [usize; 3] = [2, 4, 16];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => measured(),
        ["member", rank] => member(rank),
        _ => {
            eprintln!("it takes no arguments: only the subject itself starts members");
            ExitCode::from(2)
        }
    }
}

fn member(rank: &str) -> ExitCode {
    let served = rank.parse().map_err(std::io::Error::other);
    match served.and_then(member::serve) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("member {rank}: {why}");
            ExitCode::FAILURE
        }
    }
}

/// The common state of all tests. A group lasts until a test needs one of another size.
#[derive(Default)]
struct Led {
    group: RefCell<Option<Group>>,
    processor: Cell<Option<u32>>,
    ended: Rc<Cell<u64>>,
}

impl Led {
    /// Begins a group of a size, unless there is one.
    fn begin(&self, size: usize) -> Result<(), Failure> {
        let mut group = self.group.borrow_mut();
        if group.as_ref().is_none_or(|group| group.size != size) {
            *group = None;
            *group = Some(Group::begin(size, self.processor.get(), &self.ended)?);
        }
        Ok(())
    }

    /// Uses the group. After a failure the next test begins another.
    fn with<T>(&self, act: impl FnOnce(&mut Group) -> std::io::Result<T>) -> Result<T, Failure> {
        let mut group = self.group.borrow_mut();
        let Some(present) = group.as_mut() else {
            return Err(Failure("the group has failed before".into()));
        };
        let outcome = act(present);
        if outcome.is_err() {
            *group = None;
        }
        Ok(outcome?)
    }

    fn switches(&self) -> u64 {
        match &*self.group.borrow() {
            Some(group) => group.switches(),
            None => self.ended.get() + group::switches("self"),
        }
    }
}

fn measured() -> ExitCode {
    let led = Rc::new(Led::default());
    let (placed, counted) = (led.clone(), led.clone());
    let mut most = 0;
    let mut subject = Subject::new("Rust")
        .on_placement(move |placement| {
            placed.processor.set(placement.partner_processor());
            Ok(())
        })
        // Threads that end take their counts along.
        .own_switches(move || {
            most = counted.switches().max(most);
            most
        });
    for size in MEMBERS {
        let own = led.clone();
        let alone = Test::frame(format!("object.group.{size}"), move |_| {
            Writes::new(&own, size)
        });
        let own = led.clone();
        let in_turn = Test::frame(format!("object.turn.{size}"), move |_| {
            WritesInTurn::new(&own, size)
        });
        let tests = [alone, in_turn].map(|test| test.threads(size as u32));
        subject = subject.tests(tests);
    }
    subject.serve()
}

/// The loop without the feature.
fn count(iterations: u64) -> u64 {
    let (mut sum, mut index) = (0_u64, 0);
    while index < iterations {
        sum = sum.wrapping_add(index);
        index = increment(index);
    }
    sum
}

/// Writes of the timed process.
struct Writes {
    led: Rc<Led>,
    leader: TcpStream,
    value: u64,
}

impl Writes {
    fn new(led: &Rc<Led>, size: usize) -> Result<Self, Failure> {
        led.begin(size)?;
        let mut leader = led.with(|group| connect(&group.leader))?;
        // The replica here may not have the last write of an earlier test yet.
        let value = led.with(|_| write(&mut leader, 0))?;
        Ok(Self {
            led: led.clone(),
            leader,
            value,
        })
    }
}

impl Frames for Writes {
    fn control(&mut self, iterations: u64) -> Result<u64, Failure> {
        Ok(count(iterations))
    }

    fn test(&mut self, iterations: u64) -> Result<u64, Failure> {
        for _ in 0..iterations {
            let value = self.led.with(|_| write(&mut self.leader, 1))?;
            self.value += 1;
            if value != self.value {
                let why = format!("the number is at {value} after write {}", self.value);
                return Err(Failure(why));
            }
        }
        Ok(count(iterations))
    }

    fn report(&mut self) -> Result<Vec<ThreadReport>, Failure> {
        self.led.with(Group::report)
    }
}

/// Writes of the timed process and the last member in turn.
struct WritesInTurn {
    led: Rc<Led>,
    turns: Turns,
    /// Whether the last member has an order that it has not answered.
    is_ordered: bool,
}

impl WritesInTurn {
    fn new(led: &Rc<Led>, size: usize) -> Result<Self, Failure> {
        let mut writes = Writes::new(led, size)?;
        // The turns begin at an even value, which both replicas have.
        if !writes.value.is_multiple_of(2) {
            writes.test(1)?;
        }
        let turns = led.with(|group| {
            group.tell_last(&format!("{PREPARE} {}", writes.value))?;
            group.answer_of_last()?;
            Turns::new(true, &group.leader, &group.replica()?, writes.value)
        })?;
        Ok(Self {
            led: led.clone(),
            turns,
            is_ordered: false,
        })
    }
}

impl Frames for WritesInTurn {
    fn control(&mut self, iterations: u64) -> Result<u64, Failure> {
        Ok(count(iterations))
    }

    fn begin(&mut self, role: Role, iterations: u64) -> Result<(), Failure> {
        if role == Role::Test {
            self.led
                .with(|group| group.tell_last(&format!("{TURNS} {iterations}")))?;
            self.is_ordered = true;
        }
        Ok(())
    }

    fn test(&mut self, iterations: u64) -> Result<u64, Failure> {
        self.led.with(|_| self.turns.run(iterations))?;
        Ok(count(iterations))
    }

    fn reset(&mut self) -> Result<(), Failure> {
        if std::mem::take(&mut self.is_ordered) {
            self.led.with(Group::answer_of_last)?;
        }
        Ok(())
    }

    fn report(&mut self) -> Result<Vec<ThreadReport>, Failure> {
        self.led.with(Group::report)
    }
}
