//! What a test is made of.

use crate::slices::Role;
use crate::threads::ThreadReport;

/// Why a test failed; the laboratory is answered `@@ error failed` with this text, and goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(pub String);

impl<T: std::fmt::Display> From<T> for Failure {
    fn from(why: T) -> Self {
        Failure(why.to_string())
    }
}

/// A control loop and a test loop, alike but for what is measured. What they work on is prepared before the warm-up and dropped after the
/// last slice.
pub trait Frames {
    /// Goes round `iterations` times without the feature; gives a checksum that depends on the work done, equal for equal
    /// iterations. It is timed: no output, no set-up.
    fn control(&mut self, iterations: u64) -> Result<u64, Failure>;

    /// The same with the feature.
    fn test(&mut self, iterations: u64) -> Result<u64, Failure>;

    /// Untimed, just before so many iterations of the control or the test: tells partners that are processes what is to come.
    fn begin(&mut self, _role: Role, _iterations: u64) -> Result<(), Failure> {
        Ok(())
    }

    /// Untimed, after each slice: gives back what the slice took, or fails its test if it finds that the slice went wrong.
    fn reset(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Untimed, after the warm-up and after the iteration that follows the last slice: what threads of other processes report of
    /// themselves. Those of this process call [`takes_part`](crate::takes_part) instead.
    fn report(&mut self) -> Result<Vec<ThreadReport>, Failure> {
        Ok(Vec::new())
    }
}

/// When an operation started and ended, ns of [`now_ns`](crate::now_ns).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// When it did start.
    pub actual_ns: u64,
    /// When it ended; not before its start.
    pub end_ns: u64,
}

/// An operation whose latency is measured, one at a time.
pub trait Operation {
    /// Runs it once.
    fn operate(&mut self) -> Result<Sample, Failure>;

    /// As [`Frames::report`], after the untimed operations before and after the others.
    fn report(&mut self) -> Result<Vec<ThreadReport>, Failure> {
        Ok(Vec::new())
    }
}

/// How a turn of a series ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Done; the loop goes on.
    Done,
    /// The system refused what the turn asked for, in these words; the loop ends.
    Exhausted(String),
}

/// A loop with a clock reading after each turn.
pub trait Turns {
    /// One turn; `index` counts from 1.
    fn turn(&mut self, index: u64) -> Result<Turn, Failure>;
}

type Prepare<T> = Box<dyn Fn(u64) -> Result<Box<T>, Failure>>;

pub(crate) enum Body {
    Frame(Prepare<dyn Frames>),
    Latency(Prepare<dyn Operation>),
    Series(Prepare<dyn Turns>),
    Absent(&'static str),
}

impl Body {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Body::Frame(_) => "frame",
            Body::Latency(_) => "latency",
            Body::Series(_) => "series",
            Body::Absent(kind) => kind,
        }
    }
}

/// A test: its name, what `list` says of it, and how it is prepared.
pub struct Test {
    pub(crate) name: String,
    pub(crate) body: Body,
    pub(crate) arg_unit: Option<String>,
    pub(crate) switches: Option<String>,
    pub(crate) threads: u32,
    pub(crate) work: Option<String>,
    pub(crate) most_iterations: Option<u64>,
    pub(crate) absent: Option<String>,
}

impl Test {
    fn new(name: impl Into<String>, body: Body) -> Self {
        let name = name.into();
        let allowed = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_' | '.' | '-');
        assert!(
            !name.is_empty() && name.chars().all(allowed),
            "`{name}` is no name of a test: use a-z, 0-9, `_`, `.` and `-`"
        );
        Test {
            name,
            body,
            arg_unit: None,
            switches: None,
            threads: 1,
            work: None,
            most_iterations: None,
            absent: None,
        }
    }

    /// A cost per operation. `prepare` gets the argument (0 if the test takes none) and may fail.
    ///
    /// # Panics
    /// If the name holds anything but `a-z`, `0-9`, `_`, `.` and `-`; so do the other constructors.
    pub fn frame<F: Frames + 'static>(
        name: impl Into<String>,
        prepare: impl Fn(u64) -> Result<F, Failure> + 'static,
    ) -> Self {
        let body = Body::Frame(Box::new(move |arg| Ok(Box::new(prepare(arg)?))));
        Test::new(name, body)
    }

    /// A cost per operation of two functions that need no preparation.
    pub fn functions(
        name: impl Into<String>,
        control: fn(u64) -> u64,
        test: fn(u64) -> u64,
    ) -> Self {
        Test::frame(name, move |_| Ok(Functions { control, test }))
    }

    /// A distribution of times.
    pub fn latency<O: Operation + 'static>(
        name: impl Into<String>,
        prepare: impl Fn(u64) -> Result<O, Failure> + 'static,
    ) -> Self {
        let body = Body::Latency(Box::new(move |arg| Ok(Box::new(prepare(arg)?))));
        Test::new(name, body)
    }

    /// Clock readings of a loop.
    pub fn series<T: Turns + 'static>(
        name: impl Into<String>,
        prepare: impl Fn(u64) -> Result<T, Failure> + 'static,
    ) -> Self {
        let body = Body::Series(Box::new(move |arg| Ok(Box::new(prepare(arg)?))));
        Test::new(name, body)
    }

    /// A frame that is known but cannot run here: `why`, and what would mend it.
    pub fn absent(name: impl Into<String>, why: impl Into<String>) -> Self {
        let mut test = Test::new(name, Body::Absent("frame"));
        test.absent = Some(why.into());
        test
    }

    /// The unit of the argument that it takes: `ns`, `bytes` or `count`.
    pub fn arg(mut self, unit: impl Into<String>) -> Self {
        self.arg_unit = Some(unit.into());
        self
    }

    /// Context switches of one operation under placement `same`.
    pub fn switches(mut self, count: impl std::fmt::Display) -> Self {
        self.switches = Some(count.to_string());
        self
    }

    /// How many threads take part in one operation.
    pub fn threads(mut self, count: u32) -> Self {
        self.threads = count;
        self
    }

    /// The key of equal work across subjects.
    pub fn work(mut self, key: impl Into<String>) -> Self {
        self.work = Some(key.into());
        self
    }

    /// The most iterations that a slice may have, for tests that keep what they take until it ends.
    pub fn most(mut self, iterations: u64) -> Self {
        self.most_iterations = Some(iterations);
        self
    }
}

struct Functions {
    control: fn(u64) -> u64,
    test: fn(u64) -> u64,
}

impl Frames for Functions {
    fn control(&mut self, iterations: u64) -> Result<u64, Failure> {
        Ok((self.control)(iterations))
    }

    fn test(&mut self, iterations: u64) -> Result<u64, Failure> {
        Ok((self.test)(iterations))
    }
}
