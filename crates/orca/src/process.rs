//! Programs and their processes.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

use antiphon_panda::{Message, Rank, Session, thread};
use bytes::Bytes;
use parking_lot::Mutex;
use serde::Serialize;

use crate::cell::Outcome;
use crate::error::Error;
use crate::event::{EventKind, Observer};
use crate::fault::Fault;
use crate::machine::{GROUP, Machine, Start, Trace};
use crate::object::{self, words_of};
use crate::order::{Copies, Order};
use crate::partitioned;
use crate::placement::{Costs, Location, Placement};
use crate::remote::SERVICE;
use crate::shared::{self, Handle, Object, Shared};
use crate::statistics::{MachineStatistics, ObjectStatistics};

/// A process's part in its program: creates objects and forks processes.
#[derive(Clone)]
pub struct Orca {
    machine: Arc<Machine>,
    process: Arc<str>,
}

impl fmt::Debug for Orca {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "process {} on machine {}",
            self.process, self.machine.rank
        )
    }
}

/// The machine that a process is to run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum On {
    /// On the machine that fewest processes were forked on.
    #[default]
    Any,
    /// On this machine.
    Machine(Rank),
}

/// A process that the executable has, under its name.
pub struct RegisteredProcess {
    /// Its name, the same on all machines.
    pub name: &'static str,
    /// Runs it with encoded arguments.
    pub run: fn(&Orca, &Arguments) -> Result<(), String>,
}

inventory::collect!(RegisteredProcess);

/// A process that a program registers by hand.
type ByHand = Arc<dyn Fn(&Orca, &Arguments) -> Result<(), String> + Send + Sync>;

static BY_HAND: Mutex<Vec<(String, ByHand)>> = Mutex::new(Vec::new());

/// Registers a process under a name, for generated code. All machines register the same processes.
pub fn register_process(
    name: impl Into<String>,
    run: impl Fn(&Orca, &Arguments) -> Result<(), String> + Send + Sync + 'static,
) {
    BY_HAND.lock().push((name.into(), Arc::new(run)));
}

fn find_process(name: &str) -> Option<ByHand> {
    let mut all = inventory::iter::<RegisteredProcess>.into_iter();
    if let Some(process) = all.find(|it| it.name == name) {
        return Some(Arc::new(process.run));
    }
    let by_hand = BY_HAND.lock();
    let found = by_hand.iter().find(|(it, _)| it == name);
    found.map(|(_, run)| run.clone())
}

/// The encoded arguments of a process.
pub struct Arguments {
    bytes: Bytes,
    scope: shared::Scope,
}

impl Arguments {
    /// Decodes them.
    ///
    /// # Errors
    /// They are of other types.
    pub fn decode<A: serde::de::DeserializeOwned>(&self) -> Result<A, String> {
        let decode = || antiphon_panda::message::value_in(&self.bytes);
        let arguments = self.scope.within(decode);
        arguments.map_err(|error| format!("its arguments do not fit: {error}"))
    }
}

/// The set-up of a program on this machine.
#[derive(Clone, Default)]
pub struct Program {
    pub(crate) fault: Fault,
    pub(crate) trace: Option<Trace>,
    pub(crate) observer: Option<Observer>,
    pub(crate) statistics: Option<AtEndStatistics>,
    /// Called with the machine when the program has ended on it.
    pub(crate) at_end: Option<AtEnd>,
    pub(crate) hash: Option<[u8; 32]>,
    pub(crate) first: Option<Rank>,
}

/// A function that takes the counts of a machine.
type AtEndStatistics = Arc<dyn Fn(MachineStatistics) + Send + Sync>;

pub(crate) type AtEnd = Arc<dyn Fn(&Machine) + Send + Sync>;

/// Runs a program on the machines of a session: `main` on the first one, and forked processes on
/// all. Returns when all processes of the program have ended. On the first machine it returns the
/// result of `main`.
///
/// Every machine of the session calls this, with the same executable. A machine that joins the
/// session later and calls it takes part from then on.
///
/// # Errors
/// The processes wait for each other; a process of this machine failed; this machine is cut off
/// from the others, or runs another executable.
pub fn run<R: Send + 'static>(
    session: &Session,
    main: impl FnOnce(&Orca) -> R + Send + 'static,
) -> Result<Option<R>, Error> {
    Program::default().run(session, main)
}

impl Program {
    /// Uses this as the hash of the executable, for programs that are linked at run time.
    #[must_use]
    pub fn hash(mut self, hash: [u8; 32]) -> Self {
        self.hash = Some(hash);
        self
    }

    /// Makes this machine the sequencer, which gives all writes their places. Its own writes of
    /// replicated objects are then the cheapest. Otherwise the machine that begins first is the
    /// sequencer. All machines must choose the same one. A machine that is not a founder of the
    /// session is not waited for.
    #[must_use]
    pub fn ordered_by(mut self, machine: Rank) -> Self {
        self.first = Some(machine);
        self
    }

    /// Passes the events of this machine to an observer, for a timeline. Operations on a copy here
    /// that do not wait are no events.
    #[must_use]
    pub fn observed_by(mut self, observer: Observer) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Passes the counts of this machine to a function when the program has ended here.
    #[must_use]
    pub fn statistics(mut self, take: impl Fn(MachineStatistics) + Send + Sync + 'static) -> Self {
        self.statistics = Some(Arc::new(take));
        self
    }

    /// Runs it: see [`run`].
    ///
    /// # Errors
    /// As there.
    pub fn run<R: Send + 'static>(
        self,
        session: &Session,
        main: impl FnOnce(&Orca) -> R + Send + 'static,
    ) -> Result<Option<R>, Error> {
        let machine = Machine::new(session, self.fault, self.trace, self.observer)?;
        let outcome = run_on(&machine, (self.hash, self.first), main);
        if let Some(at_end) = self.at_end {
            at_end(&machine);
        }
        if let Some(take) = self.statistics {
            take(machine.statistics());
        }
        machine.stop(Error::Over);
        machine.arrays.stop();
        outcome
    }
}

fn run_on<R: Send + 'static>(
    machine: &Arc<Machine>,
    (hash, first): (Option<[u8; 32]>, Option<Rank>),
    main: impl FnOnce(&Orca) -> R + Send + 'static,
) -> Result<Option<R>, Error> {
    let session = machine.session.clone();
    let weak = Arc::downgrade(machine);
    session.serve(SERVICE, move |call| {
        if let Some(machine) = weak.upgrade() {
            machine.on_call(call);
        }
    })?;
    let weak = Arc::downgrade(machine);
    session.serve(STATISTICS, move |call| {
        let counts = weak.upgrade().map(|machine| machine.statistics());
        if let Some(Ok(counts)) = counts.map(|counts| Message::of(&counts)) {
            call.reply.send(counts);
        }
    })?;
    partitioned::follow(machine)?;
    session.serve(PING, |call| call.reply.send(call.payload))?;
    let copies = Copies {
        machine: Arc::downgrade(machine),
    };
    let is_founder = session.rank() < session.size();
    let first = first.filter(|first| is_founder && *first < session.size());
    if first.is_some_and(|first| first != session.rank()) {
        session.everyone()?.barrier()?;
    }
    let group = session.join_group_with_state(GROUP, copies)?;
    if first == Some(session.rank()) {
        session.everyone()?.barrier()?;
    }
    let _ = machine.group.set(group);
    machine.follow_quiescence()?;
    let hash = hash.unwrap_or_else(|| *EXECUTABLE);
    machine.send(&Order::Hello { hash }, Bytes::new())?;
    machine.wait_until(|| machine.is_machine(machine.rank))?;
    if is_founder {
        session.everyone()?.barrier()?;
    }
    let result = Arc::new(Mutex::new(None));
    if session.rank() == 0 {
        measure(machine)?;
        machine.quiescence.active();
        machine.own.lock().live += 1;
        machine.report();
        let result = result.clone();
        machine.spawn("main".into(), move |orca| {
            *result.lock() = Some(main(orca));
            Ok(())
        });
    }
    machine.quiescence.passive();
    machine.serve()?;
    let result = result.lock().take();
    Ok(result)
}

/// The service that gives the counts of a machine.
const STATISTICS: &str = "orca.statistics";

/// The service for measuring calls.
const PING: &str = "orca.ping";

/// Measures a call and an ordered broadcast here, and sends the results to all machines.
fn measure(machine: &Arc<Machine>) -> Result<(), Error> {
    const TIMES: u32 = 16;
    let session = &machine.session;
    if session.size() < 2 {
        return Ok(());
    }
    let last = session.size() - 1;
    let mut call_ns = Vec::new();
    let mut ordered_ns = Vec::new();
    for _ in 0..TIMES {
        let began = thread::now();
        session.call(last, PING, Message::new(), None)?;
        call_ns.push((thread::now() - began).as_nanos() as u64);
        let began = thread::now();
        machine.ask(|number| Order::Ping { number }, Bytes::new())?;
        ordered_ns.push((thread::now() - began).as_nanos() as u64);
    }
    let median = |mut of: Vec<u64>| {
        of.sort_unstable();
        of[of.len() / 2].max(1)
    };
    let costs = Costs {
        ordered_ns: median(ordered_ns),
        call_ns: median(call_ns),
    };
    machine.send(&Order::Costs(costs), Bytes::new())
}

/// The hash of the executable and of its registered names.
static EXECUTABLE: LazyLock<[u8; 32]> = LazyLock::new(|| {
    let mut hasher = blake3::Hasher::new();
    // If the file cannot be read, names alone are compared.
    if let Ok(mut file) = std::fs::File::open("/proc/self/exe") {
        let _ = std::io::copy(&mut file, &mut hasher);
    }
    let mut names = object::names();
    names.extend(partitioned::array_names());
    names.extend(
        inventory::iter::<RegisteredProcess>
            .into_iter()
            .map(|it| it.name.to_owned()),
    );
    names.sort();
    for name in names {
        hasher.update(name.as_bytes());
        hasher.update(&[0]);
    }
    *hasher.finalize().as_bytes()
});

impl Machine {
    /// Starts a process that was forked here.
    pub(crate) fn run_process(self: &Arc<Self>, start: Start) {
        let Start {
            process,
            arguments,
            objects,
        } = start;
        let name = process.clone();
        let machine = self.clone();
        self.spawn(process, move |orca| {
            let scope = shared::Scope::of(&machine, &orca.process, objects);
            let arguments = Arguments {
                bytes: arguments,
                scope,
            };
            let run = find_process(&name).ok_or_else(|| Error::NoProcess(name).to_string())?;
            run(orca, &arguments)
        });
    }

    /// Starts a process, which already counts as active.
    fn spawn(
        self: &Arc<Self>,
        name: String,
        body: impl FnOnce(&Orca) -> Result<(), String> + Send + 'static,
    ) {
        let machine = self.clone();
        let process: Arc<str> = name.as_str().into();
        let thread = thread::Builder::new().name(short(&name));
        let spawned = thread.spawn(move || {
            let orca = Orca { machine, process };
            let began = orca.machine.observed();
            let outcome = catch_unwind(AssertUnwindSafe(|| body(&orca)));
            let outcome = outcome.unwrap_or_else(|panic| Err(words_of(panic.as_ref())));
            let name = || orca.process.to_string();
            orca.machine.observe(began, EventKind::Process, None, name);
            orca.machine.end_process(&orca.process, outcome);
        });
        if let Err(error) = spawned {
            self.end_process(&name, Err(error.to_string()));
        }
    }

    fn end_process(&self, process: &str, outcome: Result<(), String>) {
        // Its last writes are in flight, and count as work until they arrive.
        let _ = self.settle();
        if let Err(why) = outcome {
            let machine = self.rank;
            let process = process.to_owned();
            let failed = Error::ProcessFailed {
                process,
                machine,
                why,
            };
            eprintln!("orca: {failed}");
            self.daemon.lock().failures.push(failed);
        }
        self.own.lock().live -= 1;
        self.report();
        self.quiescence.passive();
    }
}

/// Shortens a thread's name to the system's limit.
fn short(name: &str) -> String {
    name.rsplit("::").next().unwrap_or(name).to_owned()
}

impl Orca {
    /// Returns the machine that this process runs on.
    #[must_use]
    pub fn machine(&self) -> Rank {
        self.machine.rank
    }

    /// Returns the machines of the program, as of now.
    #[must_use]
    pub fn machines(&self) -> Vec<Rank> {
        self.machine
            .common
            .lock()
            .machines
            .keys()
            .copied()
            .collect()
    }

    /// Returns the session below, for uses outside of the run-time.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.machine.session
    }

    /// Returns the costs of operations here, as measured when the program started.
    #[must_use]
    pub fn costs(&self) -> Costs {
        self.machine.costs()
    }

    /// Creates a shared object with an adaptive placement.
    ///
    /// # Errors
    /// The program is over here.
    pub fn create<T: Object>(&self, state: T) -> Result<Shared<T>, Error> {
        self.create_at(Placement::Adaptive, state)
    }

    /// Creates a shared object with a placement.
    ///
    /// # Errors
    /// There is no such machine; the object cannot be replicated; the program is over here.
    pub fn create_at<T: Object>(&self, placement: Placement, state: T) -> Result<Shared<T>, Error> {
        let state = Message::of(&state)?.to_bytes();
        let handle = self.create_raw(T::object_type(), placement, state)?;
        Ok(Shared::of(handle))
    }

    /// Creates an object of a type that was registered by hand, with an encoded state.
    ///
    /// # Errors
    /// As [`create_at`](Self::create_at).
    pub fn create_raw(
        &self,
        object_type: &'static object::ObjectType,
        placement: Placement,
        state: Bytes,
    ) -> Result<Handle, Error> {
        let machine = &self.machine;
        let name = object_type.name().to_owned();
        shared::check_placement(object_type, placement, &name)?;
        let location = match placement {
            Placement::Replicated => Location::Replicated,
            Placement::Owned(owner) => Location::Owned(owner),
            Placement::Adaptive => Location::Owned(machine.rank),
        };
        let order = |number| Order::Create {
            number,
            object_type: name,
            wanted: placement,
            location,
        };
        match machine.ask(order, state)? {
            Outcome::Done(id) => {
                let id = id.as_ref().try_into().map(u64::from_le_bytes);
                let id = id.map_err(|_| Error::Over)?;
                let entry = machine.entry(id).ok_or(Error::Over)?;
                Ok(Handle::new(machine, entry, &self.process))
            }
            Outcome::Failed(error) => Err(error),
            Outcome::Again => Err(Error::Over),
        }
    }

    /// Starts a process by its name. Its arguments are a tuple, in which a [`Shared`] may be
    /// anywhere. [`process`](macro@crate::process) defines functions that start processes with
    /// checked types.
    ///
    /// # Errors
    /// There is no such machine or process; the arguments cannot be encoded.
    pub fn fork(&self, on: On, process: &str, arguments: &impl Serialize) -> Result<(), Error> {
        if find_process(process).is_none() {
            return Err(Error::NoProcess(process.into()));
        }
        let machine = &self.machine;
        let target = match on {
            On::Machine(target) => target,
            On::Any => self.least_used()?,
        };
        let encoded = shared::encode(arguments)?;
        let order = |number| Order::Fork {
            number,
            target,
            process: process.to_owned(),
            objects: encoded.1,
        };
        match machine.ask(order, encoded.0)? {
            Outcome::Failed(error) => Err(error),
            Outcome::Done(_) | Outcome::Again => Ok(()),
        }
    }

    fn least_used(&self) -> Result<Rank, Error> {
        let common = self.machine.common.lock();
        // The machines after this one come first, so that forks of several processes spread.
        let own = self.machine.rank;
        let mut machines: Vec<_> = common
            .machines
            .iter()
            .map(|(rank, forks)| (*forks, *rank))
            .collect();
        machines.sort_by_key(|(forks, rank)| (*forks, *rank <= own, *rank));
        let least = machines.first().map(|(_, rank)| *rank);
        least.ok_or(Error::Over)
    }

    /// Ends the program now, even if its processes wait: their operations fail.
    ///
    /// # Errors
    /// It is over already.
    pub fn finish(&self) -> Result<(), Error> {
        self.machine.send(&Order::Finish, Bytes::new())
    }

    /// Waits until all writes of this machine that have no waiting process are executed.
    ///
    /// # Errors
    /// The program is over here.
    pub fn flush(&self) -> Result<(), Error> {
        self.machine.settle()
    }

    /// Returns the run-time's knowledge of each object here: its location, its use, and the reasons
    /// of its moves.
    #[must_use]
    pub fn statistics(&self) -> Vec<ObjectStatistics> {
        let entries = self.machine.all_entries();
        entries
            .iter()
            .map(|entry| ObjectStatistics::of(entry))
            .collect()
    }

    /// Returns the operations of this machine so far.
    #[must_use]
    pub fn machine_statistics(&self) -> MachineStatistics {
        self.machine.statistics()
    }

    /// Asks another machine for its operations so far.
    ///
    /// # Errors
    /// The machine gives no answer in time, or this is an upcall.
    pub fn statistics_of(
        &self,
        machine: Rank,
        deadline: Duration,
    ) -> Result<MachineStatistics, Error> {
        let session = &self.machine.session;
        let answer = session.call(machine, STATISTICS, Message::new(), Some(deadline))?;
        Ok(answer.value()?)
    }

    /// Returns how many writes without a result are in flight.
    #[must_use]
    pub fn under_way(&self) -> u64 {
        let issued = self.machine.issued.load(Ordering::Acquire);
        issued.saturating_sub(self.machine.landed.load(Ordering::Acquire))
    }
}

/// Holds an object type once it is made.
pub type Made = OnceLock<object::ObjectType>;

/// The ways in which a process may end.
#[diagnostic::on_unimplemented(
    message = "a process returns nothing, or a Result<(), E> whose error can be printed",
    label = "what it should tell others it writes to a shared object"
)]
pub trait Ending {
    /// Returns the failure of the process, if it failed.
    ///
    /// # Errors
    /// The process failed.
    fn end(self) -> Result<(), String>;
}

impl Ending for () {
    fn end(self) -> Result<(), String> {
        Ok(())
    }
}

impl<E: fmt::Display> Ending for Result<(), E> {
    fn end(self) -> Result<(), String> {
        self.map_err(|error| error.to_string())
    }
}
