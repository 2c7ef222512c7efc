//! One slice: between the two readings of the clock there is the frame and nothing else.

use crate::answer::Answer;
use crate::clocks::now_ns;
use crate::enter::{Entry, enter, unlearn};
use crate::frame;
use crate::resources::{Resources, Schedstat};
use crate::system;
use crate::test::{Failure, Frames};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Which frame a slice is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The loop without the feature.
    Control,
    /// The loop with it.
    Test,
    /// The operation of known cost.
    Reference,
}

impl Role {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Role::Control => "control",
            Role::Test => "test",
            Role::Reference => "reference",
        }
    }

    pub(crate) fn of(word: &str) -> Option<Role> {
        [Role::Control, Role::Test, Role::Reference]
            .into_iter()
            .find(|role| role.word() == word)
    }

    fn entry(self) -> Entry {
        match self {
            Role::Control => control,
            Role::Test => test,
            Role::Reference => reference,
        }
    }
}

/// What a frame works on, and what came of it.
struct Call<'f> {
    frames: &'f mut dyn Frames,
    outcome: Result<u64, Failure>,
}

extern "C" fn control(call: *mut (), iterations: u64) {
    // SAFETY: `run` alone calls this, with the address of a Call that nobody else uses meanwhile.
    let call = unsafe { &mut *call.cast::<Call<'_>>() };
    call.outcome = caught(|| call.frames.control(iterations));
}

extern "C" fn test(call: *mut (), iterations: u64) {
    // SAFETY: as in `control`.
    let call = unsafe { &mut *call.cast::<Call<'_>>() };
    call.outcome = caught(|| call.frames.test(iterations));
}

extern "C" fn reference(call: *mut (), iterations: u64) {
    // SAFETY: as in `control`.
    let call = unsafe { &mut *call.cast::<Call<'_>>() };
    call.outcome = Ok(frame::reference(iterations));
}

/// Runs a test's code; a panic in it is the test's failure.
pub(crate) fn caught<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(outcome) => outcome,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(Failure(format!(
                "it panicked: {}",
                text.unwrap_or("no words")
            )))
        }
    }
}

fn begin(frames: &mut dyn Frames, role: Role, iterations: u64) -> Result<(), Failure> {
    match role {
        Role::Control | Role::Test => caught(|| frames.begin(role, iterations)),
        Role::Reference => Ok(()),
    }
}

/// Runs a frame untimed.
pub(crate) fn run_untimed(
    frames: &mut dyn Frames,
    role: Role,
    iterations: u64,
) -> Result<(), Failure> {
    if iterations > 0 {
        begin(frames, role, iterations)?;
        run(frames, role, iterations)?;
        caught(|| frames.reset())?;
    }
    Ok(())
}

fn run(frames: &mut dyn Frames, role: Role, iterations: u64) -> Result<u64, Failure> {
    let mut call = Call {
        frames,
        outcome: Ok(0),
    };
    enter(role.entry(), (&raw mut call).cast(), iterations);
    call.outcome
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Slice {
    role: Role,
    iterations: u64,
    start_ns: u64,
    end_ns: u64,
    before: Resources,
    after: Resources,
    processor: Option<u32>,
    checksum: u64,
}

impl Slice {
    /// Writes to every byte, so that no page is first touched while time is taken.
    pub(crate) const TOUCHED: Slice = Slice {
        role: Role::Reference,
        iterations: u64::MAX,
        start_ns: u64::MAX,
        end_ns: u64::MAX,
        before: Resources::TOUCHED,
        after: Resources::TOUCHED,
        processor: None,
        checksum: u64::MAX,
    };

    pub(crate) fn answer(&self, block: u64, answer: &mut Answer) {
        let Slice { before, after, .. } = self;
        let or_dash = |number: Option<u64>| number.map_or("-".to_owned(), |n| n.to_string());
        let wait = after
            .wait_ns
            .zip(before.wait_ns)
            .map(|(after, before)| after - before);
        answer.line(format_args!(
            "slice {block} {} {} {} {} {} {} {} {} {} {} {}",
            self.role.word(),
            self.iterations,
            self.start_ns,
            self.end_ns - self.start_ns,
            after.voluntary.wrapping_sub(before.voluntary),
            after.involuntary - before.involuntary,
            after.minor - before.minor,
            after.major - before.major,
            or_dash(wait),
            or_dash(self.processor.map(u64::from)),
            self.checksum,
        ));
    }
}

/// What counts the context switches of a subject that counts its own.
pub(crate) type OwnSwitches = Box<dyn FnMut() -> u64>;

/// Times slices.
pub(crate) struct Timer {
    schedstat: Schedstat,
    bits: u64,
    own_switches: Option<OwnSwitches>,
}

impl Timer {
    /// For the calling thread.
    pub(crate) fn new(own_switches: Option<OwnSwitches>) -> Self {
        Timer {
            schedstat: Schedstat::open(),
            bits: 88_172_645_463_325_252,
            own_switches,
        }
    }

    pub(crate) fn wait_ns(&self) -> Option<u64> {
        self.schedstat.wait_ns()
    }

    pub(crate) fn counts_switches(&self) -> bool {
        self.own_switches.is_some()
    }

    fn resources(&mut self) -> Resources {
        let mut resources = Resources::now(&self.schedstat);
        if let Some(count) = &mut self.own_switches {
            resources.voluntary = count();
            resources.involuntary = 0;
        }
        resources
    }

    /// One slice. An error is the test's.
    pub(crate) fn slice(
        &mut self,
        frames: &mut dyn Frames,
        role: Role,
        iterations: u64,
    ) -> Result<Slice, Failure> {
        let entry = role.entry();
        unlearn(&mut self.bits);
        begin(frames, role, iterations)?;
        let mut call = Call {
            frames,
            outcome: Ok(0),
        };
        let context = (&raw mut call).cast();
        let before = self.resources();
        let start_ns = now_ns();
        enter(entry, context, iterations);
        let end_ns = now_ns();
        let after = self.resources();
        let processor = system::processor();
        let checksum = call.outcome?;
        caught(|| call.frames.reset())?;
        Ok(Slice {
            role,
            iterations,
            start_ns,
            end_ns,
            before,
            after,
            processor,
            checksum,
        })
    }
}
