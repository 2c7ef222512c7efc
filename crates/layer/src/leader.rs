//! The leader: the process that is asked by the laboratory, and whose clock times an operation.

use std::cell::{Cell, RefCell};
use std::process::ExitCode;
use std::rc::Rc;

use antiphon_kit::{Failure, Frames, Placement, Role, Subject, ThreadReport, increment};

use crate::control_page::Order;
use crate::failure::Failed;
use crate::member_state::MemberState;
use crate::tests::{Part, Test};
use crate::usage::{Whose, switches};

/// State of a slice.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slice {
    /// Members wait for orders.
    None,
    /// A slice is in progress, by the order of this number.
    Begun(u32),
    /// The slice is being timed.
    Counted(u32),
}

/// Common state of the leader's tests.
struct Led {
    member_state: RefCell<MemberState>,
    tests: Vec<Test>,
    /// The processor of members; none: any.
    processor: Cell<Option<u32>>,
    slice: Cell<Slice>,
    /// Switches of members in all slices so far.
    switches: Cell<i64>,
    /// The last count that was given.
    counted: Cell<u64>,
    /// Reason why the process group can do no more.
    broken: RefCell<Option<Failed>>,
}

/// Serves the laboratory until it has had enough.
pub fn serve(member_state: MemberState, tests: Vec<Test>) -> ExitCode {
    let led = Rc::new(Led {
        member_state: RefCell::new(member_state),
        tests,
        processor: Cell::new(None),
        slice: Cell::new(Slice::None),
        switches: Cell::new(0),
        counted: Cell::new(0),
        broken: RefCell::new(None),
    });
    let (counted, placed) = (led.clone(), led.clone());
    let offered = (0..led.tests.len()).map(|index| offer(&led, index));
    let offered: Vec<_> = offered.collect();
    let code = Subject::new("Rust")
        .own_switches(move || counted.count())
        .on_placement(move |placement| {
            placed.place(placement);
            Ok(())
        })
        .tests(offered)
        .serve();
    if led.check().is_ok() {
        led.member_state.borrow_mut().end_objects();
    }
    led.member_state.borrow().control_page.give(Order::Quit);
    code
}

/// Wraps a test for the kit.
fn offer(led: &Rc<Led>, index: usize) -> antiphon_kit::Test {
    let (own, test) = (led.clone(), &led.tests[index]);
    let offered = antiphon_kit::Test::frame(test.name.clone(), move |bytes| {
        Ok(Operation::new(own.clone(), index, bytes)?)
    });
    let offered = offered.threads(test.members as u32);
    match test.takes_bytes {
        true => offered.arg("bytes"),
        false => offered,
    }
}

impl Led {
    fn place(&self, placement: Placement) {
        self.processor.set(placement.partner_processor());
        self.member_state.borrow_mut().is_apart = matches!(placement, Placement::Across { .. });
    }

    /// Has all members carry out an order.
    fn order(&self, order: Order) -> Result<(), Failed> {
        let (control_page, size) = {
            let member_state = self.member_state.borrow();
            (member_state.control_page.clone(), member_state.size)
        };
        let given = control_page.give(order);
        control_page.wait_for(given, size)
    }

    fn check(&self) -> Result<(), Failed> {
        self.broken.borrow().clone().map_or(Ok(()), Err)
    }

    /// Marks the process group as broken after a failure; its starter then starts another.
    fn breaks<T>(&self, went: Result<T, Failed>) -> Result<T, Failed> {
        went.inspect_err(|why| *self.broken.borrow_mut() = Some(why.clone()))
    }

    /// Ends the slice that runs, if one does.
    fn end_slice(&self) {
        let (Slice::Begun(given) | Slice::Counted(given)) = self.slice.replace(Slice::None) else {
            return;
        };
        if self.check().is_err() {
            return;
        }
        let member_state = self.member_state.borrow();
        member_state.control_page.slice_is_over(given);
        let went = self.breaks(member_state.control_page.wait_for(given, member_state.size));
        if went.is_ok() {
            let members = member_state.control_page.switches(member_state.size);
            self.switches.set(self.switches.get() + members);
        }
    }

    /// Returns the context switches of all processes so far. The kit calls it before and after the
    /// timed part; the second call ends a slice.
    fn count(&self) -> u64 {
        let own = switches(Whose::Process);
        match self.slice.get() {
            Slice::None => {}
            Slice::Begun(given) => self.slice.set(Slice::Counted(given)),
            Slice::Counted(_) => self.end_slice(),
        }
        // A member that had not fallen asleep when we looked has one taken off too many.
        let all = own.saturating_add_signed(self.switches.get());
        self.counted.set(all.max(self.counted.get()));
        self.counted.get()
    }
}

/// A test that has been prepared in all processes.
struct Operation {
    led: Rc<Led>,
    part: Box<dyn Part>,
}

impl Operation {
    fn new(led: Rc<Led>, index: usize, bytes: u64) -> Result<Self, Failed> {
        led.check()?;
        let (test, size) = (&led.tests[index], led.member_state.borrow().size);
        if test.members != size {
            let why = format!(
                "{} is for {} members; there are {size}",
                test.name, test.members
            );
            return Err(Failed(why));
        }
        let order = Order::Prepare {
            test: index,
            arg: bytes,
            processor: led.processor.get(),
            is_apart: led.member_state.borrow().is_apart,
        };
        let control_page = led.member_state.borrow().control_page.clone();
        let given = control_page.give(order);
        // At the same time as the members: they join the session, and meet.
        let part = test.prepare(&mut led.member_state.borrow_mut(), bytes);
        let part = led.breaks(part)?;
        led.breaks(control_page.wait_for(given, size))?;
        Ok(Self { led, part })
    }
}

impl Frames for Operation {
    fn begin(&mut self, role: Role, iterations: u64) -> Result<(), Failure> {
        self.led.check()?;
        let iterations = match role {
            Role::Test => iterations,
            _ if self.part.confirms() => 0,
            _ => return Ok(()),
        };
        let (control_page, size, primes) = {
            let member_state = self.led.member_state.borrow();
            (
                member_state.control_page.clone(),
                member_state.size,
                member_state.primes(),
            )
        };
        let given = control_page.give(Order::Slice(iterations));
        self.led.slice.set(Slice::Begun(given));
        // A late wake-up would disturb the member that serves on the same processor amid the slice.
        control_page.wait_for_begin(given, size);
        let primed = self.part.run(primes);
        self.led.breaks(primed.and_then(|_| self.part.confirm()))?;
        Ok(())
    }

    fn control(&mut self, iterations: u64) -> Result<u64, Failure> {
        let (mut sum, mut index) = (0_u64, 0);
        while index < iterations {
            sum = sum.wrapping_add(index);
            index = increment(index);
        }
        self.led.breaks(self.part.confirm())?;
        Ok(sum)
    }

    fn test(&mut self, iterations: u64) -> Result<u64, Failure> {
        let ran = self.part.run(iterations);
        let confirmed = ran.and_then(|sum| self.part.confirm().map(|()| sum));
        Ok(self.led.breaks(confirmed)?)
    }

    fn reset(&mut self) -> Result<(), Failure> {
        self.led.end_slice();
        Ok(())
    }

    fn report(&mut self) -> Result<Vec<ThreadReport>, Failure> {
        self.led.breaks(self.led.order(Order::Report))?;
        let member_state = self.led.member_state.borrow();
        (1..member_state.size)
            .map(|rank| member_state.control_page.said(rank).parse())
            .collect()
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        self.led.end_slice();
        if self.led.check().is_ok() {
            let _ = self.led.breaks(self.led.order(Order::Finish));
        }
    }
}
