//! One instrumented subject, alive: its start, its requests, and its faults by name.

mod conversation;
mod error;
mod gaps;
mod launch;
mod order;

pub use conversation::{Answer, Conversation, RawLine};
pub use error::SessionError;
pub(crate) use gaps::gap_loop;
pub use launch::Launch;
pub(crate) use order::wrong_slice;

use crate::protocol::{
    ClockInfo, Data, Hello, Outcome, READINGS_MAX, Request, TestInfo, Usage, VERSION,
};
use antiphon_measure::{Batch, BatchRequest, LatencySample, Placement, Role, Slice, ThreadReport};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Time for a subject to start and answer `hello`, `placement`, `list`, `usage`.
pub const ANSWER_LIMIT: Duration = Duration::from_secs(20);

/// Time for a subject to end after `quit`: far more than it takes, since the machine may be busy.
pub const QUIT_LIMIT: Duration = Duration::from_secs(10);

/// A subject that has said hello and waits for requests.
///
/// After any error but [`SessionError::Refused`] the subject is dead, and every further request
/// gives [`SessionError::Over`]. A drop kills the subject and all its children.
pub struct Session<'s> {
    conversation: Conversation<'s>,
    hello: Hello,
}

/// A subject's abilities.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// Its tests, in its order; names are unique.
    pub tests: Vec<TestInfo>,
    /// Its clocks, in its order; names are unique.
    pub clocks: Vec<ClockInfo>,
    /// The whole programs that it has, if it is a subject of such.
    pub programs: Vec<String>,
    /// Whether it is a server, to be put under load.
    pub serves: bool,
}

/// An answer, and the reports of its threads about themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported<T> {
    /// Requested answer.
    pub answer: T,
    /// The threads' reports; empty if the subject's kit has none.
    pub threads: Vec<ThreadReport>,
}

/// Answer of a storage loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesAnswer {
    /// Absolute readings, ns: one before the first operation and one after each.
    pub readings: Vec<i64>,
    /// Operations done.
    pub completed: u64,
    /// The exception or message with which the system refused storage; `None` when all were done.
    pub exhausted: Option<String>,
}

impl Session<'static> {
    /// Starts a subject, greets it and tells it the placement.
    ///
    /// # Errors
    /// It could not be started, or did not greet as the protocol says.
    pub fn start(launch: &Launch) -> Result<Self, SessionError> {
        Session::ready(Conversation::start(launch)?, launch)
    }

    /// Starts a subject and keeps a value until it is ready; the value is made from the number of
    /// its process.
    pub(crate) fn start_under<T>(
        launch: &Launch,
        under: impl FnOnce(u32) -> T,
    ) -> Result<Self, SessionError> {
        let conversation = Conversation::start(launch)?;
        let _until_ready = under(conversation.process());
        Session::ready(conversation, launch)
    }
}

impl<'s> Session<'s> {
    /// Starts a subject that is killed as soon as `stop` is set, also during its start or a
    /// request.
    ///
    /// # Errors
    /// Those of a plain start, and [`SessionError::Interrupted`], then and for each later request.
    pub fn start_unless(launch: &Launch, stop: &'s AtomicBool) -> Result<Self, SessionError> {
        Session::ready(Conversation::start_unless(launch, Some(stop))?, launch)
    }

    /// Greets the subject and tells it the placement.
    fn ready(mut conversation: Conversation<'s>, launch: &Launch) -> Result<Self, SessionError> {
        let hello = greet(&mut conversation, launch.start_limit)?;
        let placement = Request::Placement(launch.placement);
        match conversation.ask(&placement, ANSWER_LIMIT) {
            // A subject without placement leaves its threads to the system, which is the meaning of
            // `free`.
            Err(SessionError::Refused { code, .. })
                if launch.placement == Placement::Free && code == "unsupported" => {}
            Err(error) => return Err(error),
            Ok(answer) => answer.nothing(&mut conversation)?,
        }
        Ok(Self {
            conversation,
            hello,
        })
    }

    /// Returns the identity that the subject reported.
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Returns the number of its process.
    pub fn process(&self) -> u32 {
        self.conversation.process()
    }

    /// Asks for the subject's abilities.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub fn list(&mut self) -> Result<Listing, SessionError> {
        let answer = self.conversation.ask(&Request::List, ANSWER_LIMIT)?;
        let mut listing = Listing::default();
        for data in &answer.data {
            match data {
                Data::Test(test) => {
                    if listing.tests.iter().any(|known| known.name == test.name) {
                        let why = format!("the test `{}` is listed twice", test.name);
                        return Err(self.conversation.rubbish(&answer, why));
                    }
                    listing.tests.push(test.clone());
                }
                Data::Clock(clock) => {
                    if listing.clocks.iter().any(|known| known.name == clock.name) {
                        let why = format!("the clock `{}` is listed twice", clock.name);
                        return Err(self.conversation.rubbish(&answer, why));
                    }
                    listing.clocks.push(clock.clone());
                }
                _ => return Err(self.conversation.unexpected(&answer, "test` or `clock")),
            }
        }
        Ok(listing)
    }

    /// Returns `count` (1 … 1 000 000) successive readings of a clock, absolute, in the clock's
    /// unit.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub fn clock(
        &mut self,
        name: &str,
        count: u64,
        limit: Duration,
    ) -> Result<Reported<Vec<i64>>, SessionError> {
        let count = count.clamp(1, READINGS_MAX);
        let answer = self
            .conversation
            .ask(&Request::Clock { name, count }, limit)?;
        let (mut readings, mut threads) = (Vec::new(), Vec::new());
        for data in &answer.data {
            match data {
                Data::Readings(line) => readings.extend_from_slice(line),
                Data::Thread(thread) => threads.push(thread.clone()),
                _ => {
                    return Err(self
                        .conversation
                        .unexpected(&answer, "readings` or `thread"));
                }
            }
        }
        if readings.len() as u64 != count {
            let why = format!("{} readings, where {count} were asked for", readings.len());
            return Err(self.conversation.rubbish(&answer, why));
        }
        Ok(Reported {
            answer: readings,
            threads,
        })
    }

    /// Runs a batch of ABBA slices of a frame.
    ///
    /// # Errors
    /// See [`SessionError`]; slices that differ from the request, also in order, are
    /// [`SessionError::Rubbish`].
    pub fn batch(
        &mut self,
        test: &str,
        arg: Option<u64>,
        wanted: &BatchRequest,
        limit: Duration,
    ) -> Result<Batch, SessionError> {
        let request = Request::Batch {
            test,
            iterations: wanted.iterations,
            blocks: wanted.blocks,
            reference: wanted.reference_iterations,
            warmup: wanted.warmup,
            arg,
        };
        let begun = Instant::now();
        let answer = self.conversation.ask(&request, limit)?;
        let mut batch = Batch {
            wall_ns: u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX),
            ..Batch::default()
        };
        for data in &answer.data {
            match data {
                Data::Slice(slice) => batch.slices.push(slice.clone()),
                Data::Thread(thread) => batch.threads.push(thread.clone()),
                _ => return Err(self.conversation.unexpected(&answer, "slice` or `thread")),
            }
        }
        match wrong_slice(&batch.slices, wanted) {
            Some(why) => Err(self.conversation.rubbish(&answer, why)),
            None => Ok(batch),
        }
    }

    /// Runs one slice of a frame, after `warmup` untimed iterations.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub fn slice(
        &mut self,
        test: &str,
        role: Role,
        iterations: u64,
        warmup: u64,
        arg: Option<u64>,
        limit: Duration,
    ) -> Result<Slice, SessionError> {
        let request = Request::Slice {
            test,
            role,
            iterations,
            warmup,
            arg,
        };
        let answer = self.conversation.ask(&request, limit)?;
        match answer.data.as_slice() {
            [Data::Slice(slice)] if (slice.role, slice.iterations) == (role, iterations) => {
                Ok(slice.clone())
            }
            [Data::Slice(_)] => {
                let why = "another slice than the one that was asked for".into();
                Err(self.conversation.rubbish(&answer, why))
            }
            _ => Err(self.conversation.unexpected(&answer, "slice")),
        }
    }

    /// Runs `count` operations whose planned starts are `interval_ns` apart (0: each after the end
    /// of the one before).
    ///
    /// # Errors
    /// See [`SessionError`].
    pub fn latency(
        &mut self,
        test: &str,
        arg: Option<u64>,
        count: u64,
        interval_ns: u64,
        limit: Duration,
    ) -> Result<Reported<Vec<LatencySample>>, SessionError> {
        let request = Request::Latency {
            test,
            count,
            interval_ns,
            arg,
        };
        let answer = self.conversation.ask(&request, limit)?;
        let (mut samples, mut threads) = (Vec::new(), Vec::new());
        for data in &answer.data {
            match data {
                Data::Sample(sample) if sample.end_ns < sample.actual_ns => {
                    let why = format!(
                        "an operation that started at {} ns ended before, at {} ns",
                        sample.actual_ns, sample.end_ns
                    );
                    return Err(self.conversation.rubbish(&answer, why));
                }
                Data::Sample(sample) => samples.push(*sample),
                Data::Thread(thread) => threads.push(thread.clone()),
                _ => return Err(self.conversation.unexpected(&answer, "sample` or `thread")),
            }
        }
        if samples.len() as u64 != count {
            let why = format!("{} samples, where {count} were asked for", samples.len());
            return Err(self.conversation.rubbish(&answer, why));
        }
        Ok(Reported {
            answer: samples,
            threads,
        })
    }

    /// Runs a storage loop of at most `count` operations.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub fn series(
        &mut self,
        test: &str,
        arg: Option<u64>,
        count: u64,
        limit: Duration,
    ) -> Result<Reported<SeriesAnswer>, SessionError> {
        let request = Request::Series { test, count, arg };
        let answer = self.conversation.ask(&request, limit)?;
        let (mut readings, mut outcome, mut threads) = (Vec::new(), None, Vec::new());
        for data in &answer.data {
            match data {
                Data::Readings(line) => readings.extend_from_slice(line),
                Data::Outcome(end) if outcome.is_none() => outcome = Some(end.clone()),
                Data::Thread(thread) => threads.push(thread.clone()),
                _ => {
                    return Err(self
                        .conversation
                        .unexpected(&answer, "readings` or `outcome` or `thread"));
                }
            }
        }
        let Some(Outcome {
            completed,
            exhausted,
        }) = outcome
        else {
            let why = "no `@@ outcome` line".into();
            return Err(self.conversation.rubbish(&answer, why));
        };
        if completed > count || readings.len() as u64 != completed + 1 {
            let why = format!(
                "{} readings and completed={completed} of {count}: there must be one reading before the loop and one after each operation",
                readings.len()
            );
            return Err(self.conversation.rubbish(&answer, why));
        }
        Ok(Reported {
            answer: SeriesAnswer {
                readings,
                completed,
                exhausted,
            },
            threads,
        })
    }

    /// Returns the resource use of the subject's process so far.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub fn usage(&mut self) -> Result<Usage, SessionError> {
        let answer = self.conversation.ask(&Request::Usage, ANSWER_LIMIT)?;
        match answer.data.as_slice() {
            [Data::Usage(usage)] => Ok(*usage),
            _ => Err(self.conversation.unexpected(&answer, "usage")),
        }
    }

    /// Asks the subject to end and waits for it; returns its resource use.
    ///
    /// # Errors
    /// It did not answer, did not end within `QUIT_LIMIT`, or ended with another code than 0.
    pub fn quit(self) -> Result<antiphon_runner::Usage, SessionError> {
        self.quit_within(QUIT_LIMIT)
    }

    /// Ends the subject within another time than the protocol's: under valgrind everything takes
    /// longer.
    pub(crate) fn quit_within(
        mut self,
        limit: Duration,
    ) -> Result<antiphon_runner::Usage, SessionError> {
        let answer = self.conversation.ask(&Request::Quit, ANSWER_LIMIT)?;
        answer.nothing(&mut self.conversation)?;
        self.conversation.end(limit)
    }

    /// Takes the subject's own text on standard output since the last call (the last 64 KiB of it).
    pub fn take_own_output(&mut self) -> Vec<String> {
        self.conversation.take_own_output()
    }
}

/// Says hello.
fn greet(conversation: &mut Conversation<'_>, limit: Duration) -> Result<Hello, SessionError> {
    let answer = conversation.ask(&Request::Hello, limit)?;
    match answer.data.as_slice() {
        [Data::Hello(hello)] if hello.protocol == VERSION => Ok(hello.clone()),
        [Data::Hello(hello)] => {
            let why = format!(
                "it speaks version {} of the protocol; this laboratory speaks {VERSION}",
                hello.protocol
            );
            Err(conversation.rubbish(&answer, why))
        }
        _ => Err(conversation.unexpected(&answer, "hello")),
    }
}
