//! Whole programs over the simulated network, in virtual time. Each process's program runs on a
//! fiber, all on one OS thread. All events follow from the seed.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use antiphon_fiber::{Run, StackError};
use rustc_hash::FxHashMap;

use super::{Kind, Network};
use antiphon_panda::hook;
use antiphon_panda::session::{SILENCE, Session};
use antiphon_panda::thread::{self, ThreadError};
use antiphon_panda_core::Rank;
use cast::Cast;
use node::Here;
use outcome::Halted;
use switch::{Counts, Starter, Switch};

mod cast;
mod engine;
mod node;
mod outcome;
mod switch;

pub use cast::Programs;
pub use node::{Command, INSTANT, Incoming, Machine, Node};
pub use outcome::{End, Failure, Outcome, seeds};
pub use switch::{Halt, What};

/// The platform's name.
pub const NAME: &str = "sim";

/// Virtual time after which a simulation ends by default.
const LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// An event that no program causes, at a predetermined time.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Fault {
    /// A process dies, as by SIGKILL: nothing that it owns is dropped. Over streams its connections
    /// are closed.
    Crash(Rank),
    /// A crashed process starts again. Its program begins anew, with a session that it joins under
    /// its rank as soon as the others have let it in. To them it was lost and is back. A process
    /// that is there, or has ended otherwise, is not started.
    Restart(Rank),
    /// A process stops where it is, as by SIGSTOP. Messages to it are kept.
    Stop(Rank),
    /// A stopped process goes on.
    Continue(Rank),
    /// These processes reach each other and no others, until the network is whole. Streams across
    /// the split wait until then. A bus is never split.
    Partition(Vec<Rank>),
    /// The network is whole.
    Heal,
}

/// A process's clock, by which [`Session::clock`] tells the time. Waits still go by the
/// simulation's time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Clock {
    /// Nanoseconds that it is ahead at the beginning; negative if it is behind.
    pub ahead_ns: i64,
    /// Nanoseconds that it gains in a millisecond; negative if it loses them.
    pub drift_ppm: i64,
}

impl Clock {
    /// Returns its reading at a time of the simulation.
    #[must_use]
    pub fn at(self, time: Duration) -> Duration {
        let time_ns = time.as_nanos() as i128;
        let gained_ns = time_ns * i128::from(self.drift_ppm) / 1_000_000;
        let shown_ns = time_ns + gained_ns + i128::from(self.ahead_ns);
        Duration::from_nanos(u64::try_from(shown_ns).unwrap_or(0))
    }
}

/// A session of simulated processes that is to be run.
///
/// ```
/// use antiphon_panda::Message;
/// use antiphon_panda_sim::{Kind, Network, Simulation};
///
/// // Of a thousand datagrams 50 are lost and 20 doubled; each takes 100 to 1100 µs, so some overtake others.
/// let network = Network::new(Kind::Datagrams, 50, 20, 100, 1000);
/// let run = Simulation::of(3).over(network).seed(7).run(|session| {
///     let port = session.port("ring");
///     port.send((session.rank() + 1) % 3, 0, Message::of(&session.rank())?)?;
///     let from: u32 = port.receive(None, None)?.payload.value()?;
///     session.everyone()?.all_reduce(&from, |a, b| a + b)
/// })?;
/// for sum in run.values()? {
///     assert_eq!(sum?, 3);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Simulation {
    size: u32,
    seed: u64,
    network: Network,
    silence: Duration,
    limit: Duration,
    faults: Vec<(Duration, Fault)>,
    clocks: FxHashMap<Rank, Clock>,
}

impl Simulation {
    /// Makes a session of `size` processes, over datagrams of which none is lost and each takes 50
    /// to 150 µs.
    ///
    /// # Panics
    ///
    /// `size` is 0.
    #[must_use]
    pub fn of(size: u32) -> Self {
        assert!(size > 0, "a session has a process");
        Self {
            size,
            seed: 0,
            network: Network::new(Kind::Datagrams, 0, 0, 50, 100),
            silence: SILENCE,
            limit: LIMIT,
            faults: Vec::new(),
            clocks: FxHashMap::default(),
        }
    }

    /// Sets the seed of all chance; the default is 0.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the network.
    #[must_use]
    pub fn over(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Sets how long a peer may be silent before it is taken for lost; the default is [`SILENCE`].
    #[must_use]
    pub fn silence(mut self, silence: Duration) -> Self {
        self.silence = silence;
        self
    }

    /// Sets the virtual time after which the simulation ends, wherever its programs are; the
    /// default is a day.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Gives a process a clock of its own. By default all show the simulation's time.
    #[must_use]
    pub fn clock(mut self, rank: Rank, clock: Clock) -> Self {
        self.clocks.insert(rank, clock);
        self
    }

    /// Plans a fault at a virtual time after the beginning. It does nothing to a process that has
    /// ended by then, or is not there yet.
    #[must_use]
    pub fn at(mut self, time: Duration, fault: Fault) -> Self {
        self.faults.push((time, fault));
        self
    }

    /// Adds a program that processes start by its name, with [`Session::spawn`]. It gets its
    /// session and its arguments, and returns the type that all programs return. All other settings
    /// of the simulation come before this.
    #[must_use]
    pub fn program<T: Send + 'static>(
        self,
        name: impl Into<OsString>,
        program: impl Fn(Session, Vec<OsString>) -> T + Send + Sync + 'static,
    ) -> Programs<T> {
        Programs::of(self).program(name, program)
    }

    /// Runs a program as each of the processes, until all have ended or never will.
    ///
    /// A process ends with the last of its threads, those started by [`thread::spawn`] included.
    /// Then it takes leave, if it still holds its session. Time passes only while all threads wait:
    /// see [`thread::now`]. OS threads have no part in it.
    ///
    /// # Errors
    ///
    /// There is no memory for fibers' stacks, or the caller is a fiber.
    ///
    /// # Panics
    ///
    /// A bus is to be split. Or a fault names a process that there never is.
    pub fn run<T: Send + 'static>(
        self,
        program: impl Fn(Session) -> T + Send + Sync + 'static,
    ) -> Result<Outcome<T>, ThreadError> {
        Programs::of(self).run(program)
    }

    /// Runs the founders' programs, and those that they start.
    fn play<T: Send + 'static>(self, cast: Cast<T>) -> Result<Outcome<T>, ThreadError> {
        let (seed, results) = (self.seed, cast.results.clone());
        let (counts, halted) = self.direct_all(Arc::new(cast))?;
        let results = std::mem::take(&mut *results.lock());
        Ok(Outcome::new(seed, counts, halted, results))
    }

    /// Runs the part that does not depend on the programs' type.
    fn direct_all(self, cast: Arc<dyn Starter>) -> Result<(Counts, Halted), ThreadError> {
        // The clock of waits begins before the simulation's, whose times it counts.
        let _ = <thread::AnyThreads as antiphon_fiber::Threads>::now();
        let _here = Here::begin();
        let network = self.network.clone();
        let switch = Switch::new(self.size, network, self.seed, self.silence, self.limit);
        switch.set_clocks(self.clocks.clone());
        let of_switch = switch.clone();
        let main = move || self.direct(&of_switch, cast);
        let run = Run::many(NonZeroUsize::MIN).stack_bytes(hook::STACK_BYTES);
        // SAFETY: with one server no fiber ever goes on on another OS thread.
        let outcome = unsafe { run.start(main) }?;
        let halted = match outcome.value {
            Some(Ok(halted)) => halted?,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => unreachable!("the simulation's own fiber never waits"),
        };
        let counts = switch.counts();
        switch.forget();
        Ok((counts, halted))
    }

    /// Checks that the network can have the planned faults, and that their processes exist. Those
    /// are the founders, if no more can come.
    fn check_faults(&self, more_may_come: bool) {
        let is_bus = self.network.kind == Kind::Bus;
        for (_, fault) in &self.faults {
            let is_split = matches!(fault, Fault::Partition(_));
            assert!(
                !(is_bus && is_split),
                "a bus is never split: simulate streams or datagrams"
            );
            let is_there = fault.ranks().iter().all(|rank| *rank < self.size);
            assert!(
                is_there || more_may_come,
                "{fault:?}: there are {} processes",
                self.size
            );
        }
    }

    /// Begins all processes, and is the fiber that runs when no other can.
    fn direct(&self, switch: &Arc<Switch>, cast: Arc<dyn Starter>) -> Result<Halted, StackError> {
        for (time, fault) in &self.faults {
            switch.plan(*time, fault.clone());
        }
        switch.cast(cast.clone());
        let begun = (0..self.size).try_for_each(|rank| {
            let node = Node::new(rank, switch);
            switch.begin(node.clone());
            cast.start(&node)
        });
        let halt = begun.map(|()| switch.run());
        let state = |node: &Arc<Node>| (node.rank, node.life, node.state());
        let states = switch.nodes().iter().map(state).collect();
        let earlier = switch.past().iter().map(state).collect();
        switch.end();
        Ok(Halted {
            halt: halt?,
            states,
            earlier,
        })
    }
}

impl Fault {
    /// Returns the ranks that a fault affects.
    fn ranks(&self) -> &[Rank] {
        match self {
            Self::Crash(rank) | Self::Restart(rank) | Self::Stop(rank) | Self::Continue(rank) => {
                std::slice::from_ref(rank)
            }
            Self::Partition(ranks) => ranks,
            Self::Heal => &[],
        }
    }
}
