//! Handles of shared objects, and how they are passed with the arguments of processes.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use antiphon_panda::Message;
use bytes::Bytes;
use parking_lot::Mutex;
use serde::de::{DeserializeOwned, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::cell::Outcome;
use crate::entry::{Entry, ObjectId};
use crate::error::Error;
use crate::fault::Mutant;
use crate::machine::Machine;
use crate::object::{ObjectType, State, words_of};
use crate::order::Order;
use crate::placement::{Location, Placement};
use crate::statistics::{ObjectStatistics, count};

/// A type whose values can be shared objects. [`object`](macro@crate::object) implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no type of shared objects",
    label = "mark the struct and its impl block with #[orca::object]"
)]
pub trait Object: StateOf {
    /// The type that has the operations as methods.
    type Proxy: From<Handle> + AsRef<Handle> + Send + Sync + 'static;
    /// Returns its table of operations.
    fn object_type() -> &'static ObjectType;
}

/// A type that can be the state of a shared object.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the state of a shared object",
    label = "the struct needs #[orca::object] and #[derive(Clone, Serialize, Deserialize)]",
    note = "copies of the state go to other machines, and are taken before operations that may block"
)]
pub trait StateOf: Serialize + DeserializeOwned + Clone + Send + Sync + 'static {
    /// The state holds nested objects, whose operations may block.
    const NESTS: bool;
}

/// A shared object of type `T`. Operations are called on it as methods. They return the operation's
/// result, or why it could not be executed. Clones share the object.
pub struct Shared<T: Object> {
    proxy: T::Proxy,
    of: PhantomData<fn() -> T>,
}

impl<T: Object> Shared<T> {
    /// Makes a handle of this type.
    pub(crate) fn of(handle: Handle) -> Self {
        Self {
            proxy: handle.into(),
            of: PhantomData,
        }
    }

    fn handle(&self) -> &Handle {
        self.proxy.as_ref()
    }

    /// Fixes the object's placement, or makes it adaptive again, and waits until it is there.
    ///
    /// # Errors
    /// There is no such machine; the object cannot be replicated, or is lost.
    pub fn strategy(&self, placement: Placement) -> Result<(), Error> {
        self.handle().strategy(placement)
    }

    /// Returns where the object is, as far as this machine knows.
    #[must_use]
    pub fn location(&self) -> Location {
        self.handle().0.entry.copy.read().location
    }

    /// Returns the run-time's knowledge of the object here.
    #[must_use]
    pub fn statistics(&self) -> ObjectStatistics {
        ObjectStatistics::of(&self.handle().0.entry)
    }

    /// Returns the object's number, the same at all machines.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.handle().0.entry.id
    }
}

impl<T: Object> Deref for Shared<T> {
    type Target = T::Proxy;

    fn deref(&self) -> &T::Proxy {
        &self.proxy
    }
}

impl<T: Object> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self::of(self.handle().clone())
    }
}

impl<T: Object> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.handle().0.entry.name())
    }
}

/// A sharer's hold of an object of any type. Clones are the same hold. It can be an argument of a
/// process, anywhere within it.
#[derive(Clone)]
pub struct Handle(Arc<Hold>);

struct Hold {
    machine: Arc<Machine>,
    entry: Arc<Entry>,
    process: Arc<str>,
}

impl Drop for Hold {
    fn drop(&mut self) {
        let order = Order::Release {
            object: self.entry.id,
        };
        // It fails if the program is over here, and then so is the object.
        let _ = self.machine.send(&order, Bytes::new());
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.entry.name())
    }
}

/// The outcome of an operation that was tried on the copy here.
pub enum Here<R, A> {
    /// It completed, or failed.
    Done(Result<R, Error>),
    /// It must take the longer path, with its arguments.
    Not(A),
}

/// Checks that objects of a type may have this placement.
pub(crate) fn check_placement(
    object_type: &ObjectType,
    placement: Placement,
    name: &str,
) -> Result<(), Error> {
    let does_io = object_type.operations().iter().find(|it| it.does_io);
    match (placement, does_io) {
        (Placement::Replicated, Some(operation)) => Err(Error::NotReplicable {
            object: name.to_owned(),
            operation: operation.name.clone(),
        }),
        _ => Ok(()),
    }
}

impl Handle {
    pub(crate) fn new(machine: &Arc<Machine>, entry: Arc<Entry>, process: &Arc<str>) -> Self {
        Self(Arc::new(Hold {
            machine: machine.clone(),
            entry,
            process: process.clone(),
        }))
    }

    pub(crate) fn machine(&self) -> &Arc<Machine> {
        &self.0.machine
    }

    pub(crate) fn entry(&self) -> &Arc<Entry> {
        &self.0.entry
    }

    /// Executes an operation by its number in the table, with encoded arguments.
    ///
    /// # Errors
    /// The operation could not be executed.
    pub fn invoke_raw(&self, operation: usize, arguments: Bytes) -> Result<Bytes, Error> {
        let hold = &self.0;
        hold.machine
            .invoke(&hold.entry, operation, arguments, &hold.process)
    }

    /// Executes an operation by its number in the table.
    ///
    /// # Errors
    /// The operation could not be executed.
    pub fn invoke<R: DeserializeOwned>(
        &self,
        operation: usize,
        arguments: &impl Serialize,
    ) -> Result<R, Error> {
        let arguments = Message::of(arguments)?.to_bytes();
        let result = self.invoke_raw(operation, arguments)?;
        Ok(antiphon_panda::message::value_in(&result)?)
    }

    /// Tries to read the copy here, if there is one and it is up to date. This encodes neither
    /// arguments nor result. `run` returns the arguments if no guard holds.
    #[inline]
    pub fn read_here<T: Object, R, A>(
        &self,
        operation: usize,
        arguments: A,
        run: impl FnOnce(&T, A) -> Result<R, A>,
    ) -> Here<R, A> {
        if T::NESTS {
            return Here::Not(arguments);
        }
        self.read_state_here(operation, arguments, |state, arguments| {
            match state.downcast_ref::<T>() {
                Some(state) => run(state, arguments),
                None => Err(arguments),
            }
        })
    }

    /// Does the same with a state that is known to its table of operations alone. An operation that
    /// blocks within is unwound by `run`, which then returns the arguments.
    #[inline]
    pub fn read_state_here<R, A>(
        &self,
        operation: usize,
        arguments: A,
        run: impl FnOnce(&State, A) -> Result<R, A>,
    ) -> Here<R, A> {
        let hold = &*self.0;
        if !hold.machine.is_settled() || hold.machine.trace.is_some() {
            return Here::Not(arguments);
        }
        let copy = hold.entry.copy.read();
        let Some(state) = copy.state.as_deref().filter(|_| copy.broken.is_none()) else {
            return Here::Not(arguments);
        };
        match catch_unwind(AssertUnwindSafe(|| run(state, arguments))) {
            Ok(Ok(result)) => {
                hold.entry.reads.fetch_add(1, Ordering::Relaxed);
                Here::Done(Ok(result))
            }
            Ok(Err(arguments)) => Here::Not(arguments),
            Err(panic) => Here::Done(Err(hold.entry.failed(operation, &words_of(panic.as_ref())))),
        }
    }

    /// Tries to write the object here, if this machine owns it.
    #[inline]
    pub fn write_here<T: Object, R, A>(
        &self,
        operation: usize,
        arguments: A,
        run: impl FnOnce(&mut T, A) -> Result<R, A>,
    ) -> Here<R, A> {
        let hold = &*self.0;
        let machine = &*hold.machine;
        if T::NESTS || !machine.is_settled() || machine.trace.is_some() {
            return Here::Not(arguments);
        }
        let mut copy = hold.entry.copy.write();
        let is_free = copy.location == Location::Owned(machine.rank)
            && (!copy.is_moving || machine.fault.is(Mutant::DoesNotFreeze))
            && copy.broken.is_none()
            && copy.returning.is_empty();
        let state = copy.state.as_deref_mut().filter(|_| is_free);
        let Some(state) = state.and_then(|state| state.downcast_mut::<T>()) else {
            return Here::Not(arguments);
        };
        match catch_unwind(AssertUnwindSafe(|| run(state, arguments))) {
            Ok(Ok(result)) => {
                copy.usage.note(machine.rank, 0, 1);
                count(&hold.entry.counts.local_writes);
                if !copy.blocked.is_empty() {
                    let effects = machine.retry(&hold.entry, &mut copy, false);
                    drop(copy);
                    machine.perform_here(effects);
                }
                Here::Done(Ok(result))
            }
            Ok(Err(arguments)) => Here::Not(arguments),
            Err(panic) => {
                let why = words_of(panic.as_ref());
                let effects = hold.entry.break_it(&mut copy, operation, &why);
                drop(copy);
                machine.perform_here(effects);
                Here::Done(Err(hold.entry.failed(operation, &why)))
            }
        }
    }

    /// Fixes the object's placement: see [`Shared::strategy`].
    ///
    /// # Errors
    /// As there.
    pub fn strategy(&self, placement: Placement) -> Result<(), Error> {
        let Hold { machine, entry, .. } = &*self.0;
        check_placement(entry.object_type, placement, &entry.name())?;
        machine.settle()?;
        let order = |number| Order::Wish {
            number,
            object: entry.id,
            wanted: placement,
        };
        match machine.ask(order, Bytes::new())? {
            Outcome::Failed(error) => Err(error),
            Outcome::Done(_) | Outcome::Again => Ok(()),
        }
    }
}

/// The collection of handles while arguments are encoded or decoded.
enum Context {
    Encoding(Vec<ObjectId>),
    Decoding(Grants),
}

/// The objects of a process's arguments, one for each handle.
#[derive(Clone)]
struct Grants {
    machine: Arc<Machine>,
    process: Arc<str>,
    left: Arc<Mutex<VecDeque<ObjectId>>>,
}

thread_local! {
    static CONTEXT: RefCell<Option<Context>> = const { RefCell::new(None) };
}

/// Encodes the arguments of a process. Also returns the objects that they hold, in their order.
pub(crate) fn encode(arguments: &impl Serialize) -> Result<(Bytes, Vec<ObjectId>), Error> {
    let before = CONTEXT.replace(Some(Context::Encoding(Vec::new())));
    let encoded = Message::of(arguments);
    let after = CONTEXT.replace(before);
    let objects = match after {
        Some(Context::Encoding(objects)) => objects,
        _ => Vec::new(),
    };
    Ok((encoded?.to_bytes(), objects))
}

/// The handles that the arguments of a process may hold. Those not taken are released at its end.
pub(crate) struct Scope(Grants);

impl Scope {
    pub fn of(machine: &Arc<Machine>, process: &Arc<str>, objects: Vec<ObjectId>) -> Self {
        Self(Grants {
            machine: machine.clone(),
            process: process.clone(),
            left: Arc::new(Mutex::new(objects.into())),
        })
    }

    /// Calls `decode` within this scope.
    pub fn within<R>(&self, decode: impl FnOnce() -> R) -> R {
        let before = CONTEXT.replace(Some(Context::Decoding(self.0.clone())));
        let decoded = decode();
        CONTEXT.replace(before);
        decoded
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        let left = std::mem::take(&mut *self.0.left.lock());
        for object in left {
            // It fails if the program is over here, and then so is the object.
            let _ = self
                .0
                .machine
                .send(&Order::Release { object }, Bytes::new());
        }
    }
}

impl Serialize for Handle {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let id = self.0.entry.id;
        let is_argument = CONTEXT.with_borrow_mut(|context| match context {
            Some(Context::Encoding(objects)) => {
                objects.push(id);
                true
            }
            _ => false,
        });
        match is_argument {
            true => serializer.serialize_u64(id),
            false => Err(S::Error::custom(
                "a shared object can be an argument of a process, not of an operation or a part of a state",
            )),
        }
    }
}

impl<'de> Deserialize<'de> for Handle {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = u64::deserialize(deserializer)?;
        let grants = CONTEXT.with_borrow(|context| match context {
            Some(Context::Decoding(grants)) => Some(grants.clone()),
            _ => None,
        });
        let grants = grants.ok_or_else(|| {
            D::Error::custom("a shared object comes with the arguments of a process")
        })?;
        let entry = grants.machine.entry(id);
        let entry = entry
            .ok_or_else(|| D::Error::custom(format!("there is no shared object {id} here")))?;
        let mut left = grants.left.lock();
        let at = left.iter().position(|it| *it == id);
        let at = at.ok_or_else(|| D::Error::custom(format!("object {id} was not given")))?;
        left.remove(at);
        drop(left);
        Ok(Self::new(&grants.machine, entry, &grants.process))
    }
}

impl<T: Object> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.handle().serialize(serializer)
    }
}

impl<'de, T: Object> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let handle = Handle::deserialize(deserializer)?;
        let entry = &handle.0.entry;
        let (is, wanted) = (entry.object_type.name(), T::object_type().name());
        if is != wanted {
            let id = entry.id;
            return Err(D::Error::custom(format!(
                "object {id} is a {is}, and no {wanted}"
            )));
        }
        Ok(Self::of(handle))
    }
}
