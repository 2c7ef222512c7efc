//! Invocations of operations on arrays, and their places in the order.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, OnceLock};

use antiphon_panda::thread::{self, Condition, Handle as Thread, Mutex as Blocking};
use antiphon_panda::{Arrived, Port, Rank};
use bytes::Bytes;
use parking_lot::Mutex;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::kind::{ArrayType, find_array};
use super::layout::{Distribution, Layout, Plan};
use super::parcel::{Content, Encoded, Parcel, Stock, cut, lengths_of};
use super::site::{Job, Site, Worker};
use crate::cell::{Cell, Outcome};
use crate::entry::{Entry, ObjectId};
use crate::envelope::{pack, unpack};
use crate::error::Error;
use crate::fault::Mutant;
use crate::machine::Machine;
use crate::object::{self, ObjectType, RegisteredType};
use crate::order::Order;
use crate::placement::Placement;
use crate::process::Orca;
use crate::remote::Refusal;
use crate::shared::Handle;

/// The port of machines for the parts of arrays.
const PORT: &str = "orca.array";

/// An event of an array at a place of the order.
pub enum Task {
    /// An operation of its type, by number, with encoded arguments.
    Operation(usize, Bytes),
    /// Its parts get other owners, or it is divided differently. Elements keep their values, or
    /// start over, with a first operation and its arguments if there is one.
    Distribute {
        to: Arc<Plan>,
        keeps: bool,
        first: Option<(usize, Bytes)>,
    },
}

/// The outcome of an operation: the plan of the array at its place, and results by part.
pub type Returned = (Arc<Plan>, Vec<(usize, Bytes)>);

/// A process that waits for the result of an operation.
struct Pending {
    object: ObjectId,
    cell: Arc<Cell>,
    /// The plan at the operation's place, and its owners, once the place is known.
    plan: Option<(Arc<Plan>, Arc<BTreeSet<Rank>>)>,
    shares: BTreeMap<Rank, Result<Encoded, Error>>,
}

/// The arrays on one machine.
pub struct Arrays {
    port: OnceLock<Port>,
    plans: Mutex<BTreeMap<ObjectId, Arc<Plan>>>,
    sites: Mutex<BTreeMap<ObjectId, Arc<Site>>>,
    threads: Mutex<Vec<Thread<()>>>,
    pending: Mutex<BTreeMap<u64, Pending>>,
    depot: Blocking<Depot>,
    has_come: Condition,
}

/// Parts and requests that have come for the arrays on one machine.
#[derive(Default)]
struct Depot {
    stocks: BTreeMap<ObjectId, Stock>,
    /// Machines that are gone.
    gone: BTreeSet<Rank>,
}

impl Default for Arrays {
    fn default() -> Self {
        Self {
            port: OnceLock::new(),
            plans: Mutex::default(),
            sites: Mutex::default(),
            threads: Mutex::default(),
            pending: Mutex::default(),
            depot: Blocking::new(Depot::default()),
            has_come: Condition::new(),
        }
    }
}

impl Arrays {
    /// Changes the stock of an array.
    pub fn in_stock<R>(&self, object: ObjectId, change: impl FnOnce(&mut Stock) -> R) -> Option<R> {
        let mut depot = self.depot.lock();
        depot.stocks.get_mut(&object).map(change)
    }

    /// Forgets an array without sharers.
    pub fn forget(&self, object: ObjectId) {
        self.plans.lock().remove(&object);
        let site = self.sites.lock().remove(&object);
        if let Some(site) = site {
            site.stop();
        }
        self.depot.lock().stocks.remove(&object);
        self.has_come.broadcast();
    }

    /// Ends all threads of arrays.
    pub fn stop(&self) {
        let sites = std::mem::take(&mut *self.sites.lock());
        for site in sites.values() {
            site.stop();
        }
        // This holds the lock, so that no thread is between its check and its wait.
        drop(self.depot.lock());
        self.has_come.broadcast();
        let threads = std::mem::take(&mut *self.threads.lock());
        for thread in threads {
            let _ = thread.join();
        }
    }
}

/// Begins to take messages about arrays.
pub fn follow(machine: &Arc<Machine>) -> Result<(), Error> {
    let port = machine.session.port(PORT);
    let weak = Arc::downgrade(machine);
    port.on_message(move |arrived| {
        if let Some(machine) = weak.upgrade() {
            machine.take_parcel(arrived);
        }
    })?;
    let _ = machine.arrays.port.set(port);
    Ok(())
}

impl Machine {
    /// Applies an event to an array at a place of the order.
    pub fn on_array(
        self: &Arc<Self>,
        (from, place, number): (Rank, u64, u64),
        object: ObjectId,
        task: Task,
    ) {
        match self.job_of((from, place, number), object, task) {
            Ok((site, job)) => {
                if from == self.rank {
                    self.place_is_known(number, &job);
                }
                if let Some(site) = site {
                    site.push(job);
                }
            }
            Err(error) if from == self.rank => self.end_pending(number, error),
            Err(_) => {}
        }
    }

    /// Finds the executing machines. All machines find the same.
    fn job_of(
        self: &Arc<Self>,
        (from, place, number): (Rank, u64, u64),
        object: ObjectId,
        task: Task,
    ) -> Result<(Option<Arc<Site>>, Job), Error> {
        let entry = self.entry(object).ok_or(Error::Over)?;
        let plan = self.plan_of(&entry)?;
        let mut owners = plan.owners();
        self.check_owners(&entry, &owners)?;
        if let Task::Distribute { to, .. } = &task {
            let is_same = to.layout.array_type == plan.layout.array_type;
            if !is_same || to.lengths() != plan.lengths() {
                return Err(Error::Decode("a distribution is of another array".into()));
            }
            let new = to.owners();
            if let Some(missing) = new.iter().find(|it| !self.is_machine(**it)) {
                return Err(Error::NoMachine(*missing));
            }
            owners.extend(new);
            entry.copy.write().state = Some(Box::new(to.layout.clone()));
            self.arrays.plans.lock().insert(object, to.clone());
        }
        let array_type = find_array(&plan.layout.array_type)
            .ok_or_else(|| Error::NoType(plan.layout.array_type.clone()))?;
        let operation = match &task {
            Task::Operation(operation, _) => Some(operation),
            Task::Distribute { first, .. } => first.as_ref().map(|(operation, _)| operation),
        };
        if let Some(operation) = operation
            && *operation >= array_type.operations.len()
        {
            let name = &array_type.name;
            return Err(Error::Decode(format!(
                "{name} has no operation {operation}"
            )));
        }
        let site = owners
            .contains(&self.rank)
            .then(|| self.site_of(&entry, array_type));
        let job = Job {
            place,
            from,
            number,
            plan,
            owners: Arc::new(owners),
            task,
        };
        Ok((site, job))
    }

    /// Checks that no owner is lost, because then the array is lost.
    fn check_owners(&self, entry: &Entry, owners: &BTreeSet<Rank>) -> Result<(), Error> {
        match owners.iter().find(|it| !self.is_machine(**it)) {
            None => Ok(()),
            Some(gone) => Err(Error::ObjectLost {
                object: entry.name(),
                machine: *gone,
            }),
        }
    }

    /// Returns the plan of an array at this machine's place.
    fn plan_of(&self, entry: &Entry) -> Result<Arc<Plan>, Error> {
        // Held throughout, so that no older plan replaces a newer one.
        let mut plans = self.arrays.plans.lock();
        if let Some(plan) = plans.get(&entry.id) {
            return Ok(plan.clone());
        }
        let copy = entry.copy.read();
        if let Some(error) = entry.unusable(&copy) {
            return Err(error);
        }
        let layout = copy
            .state
            .as_deref()
            .and_then(|it| it.downcast_ref::<Layout>());
        let layout = layout.ok_or_else(|| Error::NoType(entry.object_type.name().into()))?;
        let plan = Arc::new(Plan::of(layout.clone()));
        plans.insert(entry.id, plan.clone());
        Ok(plan)
    }

    /// Returns this machine's part of an array. For a new part the machine's own thread starts a
    /// thread.
    fn site_of(self: &Arc<Self>, entry: &Arc<Entry>, array_type: &'static ArrayType) -> Arc<Site> {
        let mut sites = self.arrays.sites.lock();
        if let Some(site) = sites.get(&entry.id) {
            return site.clone();
        }
        let site = Site::new(entry.clone(), array_type);
        sites.insert(entry.id, site.clone());
        drop(sites);
        self.arrays.depot.lock().stocks.entry(entry.id).or_default();
        self.daemon.lock().sites.push(site.clone());
        self.wakes.broadcast();
        site
    }

    /// Starts the thread of an array.
    pub fn start_site(self: &Arc<Self>, site: Arc<Site>) {
        let worker = Worker::new(self.clone(), site.clone());
        let spawned = thread::Builder::new().name("array").spawn(|| worker.run());
        let mut threads = self.arrays.threads.lock();
        threads.retain(|it| !it.is_over());
        match spawned {
            Ok(thread) => threads.push(thread),
            Err(error) => self.fail(Error::Layout(format!(
                "no thread can be started for {}: {error}",
                site.entry.name()
            ))),
        }
    }

    fn place_is_known(&self, number: u64, job: &Job) {
        let mut pending = self.arrays.pending.lock();
        if let Some(it) = pending.get_mut(&number) {
            it.plan = Some((job.plan.clone(), job.owners.clone()));
            it.end_if_complete(self.fault.is(Mutant::EndsWithFirstShare));
        }
    }

    fn end_pending(&self, number: u64, error: Error) {
        if let Some(it) = self.arrays.pending.lock().get(&number) {
            it.cell.complete(Outcome::Failed(error), || {});
        }
    }

    /// Gives the process that waits for an operation this machine's share of the result.
    pub fn give_share(&self, object: ObjectId, job: &Job, share: Result<Encoded, Error>) {
        if job.from == self.rank {
            self.take_share(job.number, self.rank, share);
            return;
        }
        let (content, body) = match share {
            Ok(parts) => {
                let (lengths, body) = lengths_of(parts);
                (Content::Result(job.number, Ok(lengths)), body)
            }
            Err(error) => (
                Content::Result(job.number, Err(Refusal::of(&error))),
                Vec::new(),
            ),
        };
        self.send_parcel(job.from, object, job.place, content, body);
    }

    fn take_share(&self, number: u64, from: Rank, share: Result<Encoded, Error>) {
        let mut pending = self.arrays.pending.lock();
        if let Some(it) = pending.get_mut(&number) {
            it.shares.insert(from, share);
            it.end_if_complete(self.fault.is(Mutant::EndsWithFirstShare));
        }
    }

    pub fn send_parcel(
        &self,
        to: Rank,
        object: ObjectId,
        place: u64,
        content: Content,
        body: Vec<Bytes>,
    ) {
        let parcel = Parcel {
            object,
            place,
            content,
        };
        // It holds numbers and text. If the session is over there is no receiver to wait for.
        if let (Ok(message), Some(port)) = (pack(&parcel, body), self.arrays.port.get()) {
            let _ = port.send(to, 0, message);
        }
    }

    fn take_parcel(&self, arrived: Arrived) {
        let from = arrived.from;
        let (parcel, body) = match unpack::<Parcel>(arrived.payload) {
            Ok(taken) => taken,
            Err(error) => return self.fail(error.into()),
        };
        let Parcel {
            object,
            place,
            content,
        } = parcel;
        if let Content::Result(number, share) = content {
            let share = share
                .map(|lengths| cut(lengths, body))
                .map_err(Refusal::error);
            return self.take_share(number, from, share);
        }
        // Late messages for an array that is gone are dropped.
        let is_gone = self.entry(object).is_none()
            && self.applied.load(std::sync::atomic::Ordering::Acquire) >= object;
        if is_gone {
            return;
        }
        let answer = {
            let mut depot = self.arrays.depot.lock();
            let stock = depot.stocks.entry(object).or_default();
            self.put(stock, (from, place), content, body)
        };
        self.arrays.has_come.broadcast();
        if let Some(parts) = answer {
            let (lengths, body) = lengths_of(parts);
            self.send_parcel(from, object, place, Content::Parts(lengths), body);
        }
    }

    /// Stores what has come. Returns the answer, if there is one.
    fn put(
        &self,
        stock: &mut Stock,
        (from, place): (Rank, u64),
        content: Content,
        body: Bytes,
    ) -> Option<Encoded> {
        match content {
            Content::Fetch(parts) => {
                if let Some(newest) = &stock.newest {
                    return Some(newest.encoded(&parts));
                }
                match stock.versions.get(&place) {
                    Some(version) => return Some(version.encoded(&parts)),
                    None => stock.requests.entry(place).or_default().push((from, parts)),
                }
            }
            Content::Finished(took) => {
                if let Some(took) = took {
                    stock.records.entry(place).or_default().insert(from, took);
                }
                stock.finished(place, from);
            }
            Content::Broken(why) => {
                let is_earlier = stock.broken.as_ref().is_none_or(|(at, _)| place < *at);
                if is_earlier {
                    stock.broken = Some((place, why.error()));
                }
            }
            // The others are useless once this machine has finished the place.
            _ if place <= stock.done => {}
            Content::Parts(lengths) => {
                for (part, bytes) in cut(lengths, body) {
                    stock.parts.insert((place, part), bytes);
                }
            }
            Content::Written(lengths) => {
                stock.written.insert(place, cut(lengths, body));
            }
            Content::Result(..) => {}
        }
        None
    }

    /// Waits for a message about the operation at a place, from one of some machines.
    pub fn await_stock<R>(
        &self,
        site: &Site,
        place: u64,
        from: &[Rank],
        mut find: impl FnMut(&mut Stock) -> Option<R>,
    ) -> Result<R, Error> {
        let mut depot = self.arrays.depot.lock();
        loop {
            self.check()?;
            if site.is_over() {
                return Err(Error::Over);
            }
            let Depot { stocks, gone } = &mut *depot;
            let stock = stocks.get_mut(&site.object).ok_or(Error::Over)?;
            if let Some(found) = find(stock) {
                return Ok(found);
            }
            if let Some((at, error)) = &stock.broken
                && *at <= place
            {
                return Err(error.clone());
            }
            if let Some(machine) = from.iter().find(|it| gone.contains(it)) {
                return Err(Error::ObjectLost {
                    object: site.entry.name(),
                    machine: *machine,
                });
            }
            self.arrays.has_come.wait(&mut depot);
        }
    }

    /// Records machines that are gone, and the arrays that are lost with them.
    pub fn lose_arrays(&self, left: &[Rank]) {
        self.arrays.depot.lock().gone.extend(left);
        self.arrays.has_come.broadcast();
        let pending = self.arrays.pending.lock();
        for it in pending.values() {
            let owners = it.plan.as_ref().map(|(_, owners)| owners);
            let Some(machine) = owners.and_then(|all| left.iter().find(|it| all.contains(it)))
            else {
                continue;
            };
            let object = self.entry(it.object);
            let error = Error::ObjectLost {
                object: object.map(|it| it.name()).unwrap_or_default(),
                machine: *machine,
            };
            it.cell.complete(Outcome::Failed(error), || {});
        }
    }

    /// Applies an event to an array, and waits for its end. Returns the results of its parts, and
    /// their plan.
    fn ask_array(
        &self,
        object: ObjectId,
        order: impl FnOnce(u64) -> Order,
        arguments: Bytes,
    ) -> Result<Returned, Error> {
        self.settle()?;
        let (number, cell) = self.awaited();
        let pending = Pending {
            object,
            cell: cell.clone(),
            plan: None,
            shares: BTreeMap::new(),
        };
        self.arrays.pending.lock().insert(number, pending);
        let outcome = match self.send(&order(number), arguments) {
            Ok(()) => cell.wait(),
            Err(error) => Outcome::Failed(error),
        };
        self.no_more_awaited(number);
        let pending = self.arrays.pending.lock().remove(&number);
        if let Outcome::Failed(error) = outcome {
            return Err(error);
        }
        pending.and_then(Pending::result).ok_or(Error::Over)
    }
}

impl Pending {
    /// Ends the wait if all owners have given their share.
    fn end_if_complete(&self, takes_first: bool) {
        let Some((_, owners)) = &self.plan else {
            return;
        };
        let is_complete = owners.iter().all(|it| self.shares.contains_key(it));
        let is_enough = takes_first && !self.shares.is_empty();
        if !is_complete && !is_enough {
            return;
        }
        let errors: Vec<_> = self
            .shares
            .values()
            .filter_map(|it| it.as_ref().err())
            .collect();
        // The machine on which it failed has the best error.
        let failed = errors.iter().find(|it| matches!(it, Error::Failed { .. }));
        let outcome = match failed.or(errors.first()) {
            Some(error) => Outcome::Failed((*error).clone()),
            None => Outcome::Done(Bytes::new()),
        };
        self.cell.complete(outcome, || {});
    }

    /// Returns the results, by part.
    fn result(self) -> Option<Returned> {
        let (plan, _) = self.plan?;
        let shares = self.shares.into_values().filter_map(Result::ok);
        let mut results: Encoded = shares.flatten().collect();
        results.sort_by_key(|(part, _)| *part);
        Some((plan, results))
    }
}

/// An array of any type. It can be an argument of a process, anywhere within it. Clones share the
/// array.
#[derive(Clone)]
pub struct Array(Handle);

impl Array {
    /// Executes an operation by its number in the table, with encoded arguments. Returns the
    /// results of a parallel operation by part, or the result of a sequential one as that of part
    /// 0. Also returns the plan that the array had then.
    ///
    /// # Errors
    /// The operation could not be executed.
    pub fn invoke_raw(&self, operation: usize, arguments: Bytes) -> Result<Returned, Error> {
        let (machine, entry) = (self.0.machine(), self.0.entry());
        let order = |number| Order::Array {
            number,
            object: entry.id,
            operation: operation as u32,
        };
        machine.ask_array(entry.id, order, arguments)
    }

    /// The same, with arguments that serde encodes.
    ///
    /// # Errors
    /// As there, or the arguments cannot be encoded.
    pub fn invoke(&self, operation: usize, arguments: &impl Serialize) -> Result<Returned, Error> {
        self.invoke_raw(
            operation,
            antiphon_panda::Message::of(arguments)?.to_bytes(),
        )
    }

    /// Distributes the array differently. Its elements keep their values, or start over.
    ///
    /// # Errors
    /// The distribution does not fit the array; there is no such machine; the array is lost.
    pub fn distribute(&self, how: &Distribution, keeps: bool) -> Result<(), Error> {
        let about = self.plan()?.about().to_vec();
        self.lay_out(how, about, keeps, None)
    }

    /// Distributes the array differently, and lets its elements start over. The first operation on
    /// them, by its number and arguments, is a part of the same step. `about` is what the functions
    /// of the type know of the array from now on.
    ///
    /// # Errors
    /// As [`distribute`](Self::distribute), and those of the operation.
    pub fn distribute_raw(
        &self,
        how: &Distribution,
        about: Vec<u8>,
        first: Option<(usize, Bytes)>,
    ) -> Result<(), Error> {
        self.lay_out(how, about, false, first)
    }

    fn lay_out(
        &self,
        how: &Distribution,
        about: Vec<u8>,
        keeps: bool,
        first: Option<(usize, Bytes)>,
    ) -> Result<(), Error> {
        let (machine, entry) = (self.0.machine(), self.0.entry());
        let before = self.plan()?;
        let layout =
            Layout::new(&before.layout.array_type, before.lengths(), how)?.with_about(about);
        let (first, arguments) = match first {
            Some((operation, arguments)) => (Some(operation as u32), arguments),
            None => (None, Bytes::new()),
        };
        let order = |number| Order::Distribute {
            number,
            object: entry.id,
            layout: Box::new(layout),
            keeps,
            first,
        };
        machine.ask_array(entry.id, order, arguments).map(drop)
    }

    /// Returns the array that a handle shares, if its object is an array.
    #[must_use]
    pub fn of(handle: &Handle) -> Option<Self> {
        let is_array = handle.entry().object_type.name() == ARRAY;
        is_array.then(|| Self(handle.clone()))
    }

    /// Returns the array as an object, for arguments of processes.
    #[must_use]
    pub fn handle(&self) -> &Handle {
        &self.0
    }

    /// Returns the array's plan, as far as this machine knows.
    ///
    /// # Errors
    /// The program is over here.
    pub fn plan(&self) -> Result<Arc<Plan>, Error> {
        self.0.machine().plan_of(self.0.entry())
    }

    /// Returns its number, the same at all machines.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.0.entry().id
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Array {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Array {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let handle = Handle::deserialize(deserializer)?;
        let is = handle.entry().object_type.name();
        Self::of(&handle).ok_or_else(|| D::Error::custom(format!("a {is} is no array")))
    }
}

/// The object type of all arrays. Its state, which all machines have, is the layout.
const ARRAY: &str = "array";

fn array_object() -> ObjectType {
    ObjectType::new(ARRAY, object::codec::<Layout>(), Vec::new())
}

static MADE: OnceLock<ObjectType> = OnceLock::new();

inventory::submit! {
    RegisteredType { make: array_object, made: &MADE }
}

impl Orca {
    /// Creates an array of a type that was registered by hand.
    ///
    /// # Errors
    /// The distribution does not fit the lengths; the program is over here.
    pub fn create_array_raw(
        &self,
        array_type: &'static ArrayType,
        lengths: &[usize],
        how: &Distribution,
    ) -> Result<Array, Error> {
        self.create_array_about(array_type, lengths, how, Vec::new())
    }

    /// The same, with what the functions of the type know of the array beyond its lengths.
    ///
    /// # Errors
    /// As there.
    pub fn create_array_about(
        &self,
        array_type: &'static ArrayType,
        lengths: &[usize],
        how: &Distribution,
        about: Vec<u8>,
    ) -> Result<Array, Error> {
        if lengths.len() != array_type.dimensions {
            return Err(Error::Layout(format!(
                "arrays of {} have {} dimensions, and {} lengths are given",
                array_type.name,
                array_type.dimensions,
                lengths.len()
            )));
        }
        let layout = Layout::new(&array_type.name, lengths, how)?.with_about(about);
        let machines = self.machines();
        if let Some(missing) = layout.owners.iter().find(|it| !machines.contains(it)) {
            return Err(Error::NoMachine(*missing));
        }
        let state = antiphon_panda::Message::of(&layout)?.to_bytes();
        let of = RegisteredType {
            make: array_object,
            made: &MADE,
        };
        self.create_raw(of.get(), Placement::Replicated, state)
            .map(Array)
    }
}
