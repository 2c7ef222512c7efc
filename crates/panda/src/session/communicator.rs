//! Collective operations over a list of processes.

use std::panic::Location;
use std::sync::Arc;

use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::core::Core;
use super::engine::Ask;
use super::pending_requests::Ended;
use super::upcall::{self, Registered};
use super::{Session, number_of};
use crate::error::Error;
use crate::message::{DecodeError, Message};
use crate::platform::Rank;
use crate::protocol::GroupId;
use crate::protocol::collective::{Combine, Operation, Part, Refused};

/// Some processes of a session, in a fixed order.
///
/// All of them must call the same operations in the same order, each from one thread at a time.
/// Otherwise the operation fails with [`Error::Mismatch`] at the processes that can detect it.
///
/// Values may be under way for up to 256 operations, if their root only gives or their leaves only
/// give to it. Then these processes wait until all have begun as many.
#[derive(Clone)]
pub struct Communicator {
    core: Arc<Core>,
    ranks: Arc<[Rank]>,
    list: u64,
    family: u64,
    order: u64,
    at: usize,
    /// Rank at which values turn from going up to going down. It is the same at processes that list
    /// the ranks in different orders, so that they detect the mismatch.
    turn: Rank,
}

impl Session {
    /// Returns the communicator of the processes that the session began with.
    ///
    /// # Errors
    ///
    /// This process is not one of them.
    pub fn everyone(&self) -> Result<Communicator, Error> {
        let ranks: Vec<Rank> = (0..self.size()).collect();
        self.communicator(&ranks)
    }

    /// Returns the communicator of some processes, each listed once. All of them give the same list
    /// in the same order.
    ///
    /// All communicators of the same processes are one. Two threads that use one each at the same
    /// time [name](Self::communicator_named) them.
    ///
    /// # Errors
    ///
    /// This process is not in the list, a rank does not exist, or a rank is there twice.
    pub fn communicator(&self, ranks: &[Rank]) -> Result<Communicator, Error> {
        self.communicator_named("", ranks)
    }

    /// Does the same as [`communicator`](Self::communicator), apart from communicators of other
    /// names. The same processes may use several names at the same time.
    ///
    /// # Errors
    ///
    /// See [`communicator`](Self::communicator).
    pub fn communicator_named(&self, name: &str, ranks: &[Rank]) -> Result<Communicator, Error> {
        Communicator::named(&self.keeper.core, name, ranks)
    }
}

impl Communicator {
    pub(super) fn named(core: &Arc<Core>, name: &str, ranks: &[Rank]) -> Result<Self, Error> {
        let mut all = ranks.iter();
        all.try_for_each(|rank| core.check_rank(*rank))?;
        let at = ranks
            .iter()
            .position(|rank| *rank == core.rank)
            .ok_or(Error::NotInCommunicator(core.rank))?;
        let mut sorted = ranks.to_vec();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::TwiceInCommunicator(twice[0]));
        }
        let list = list_of(name, &sorted);
        Ok(Self {
            core: core.clone(),
            ranks: ranks.into(),
            list,
            family: list,
            order: hash_of(ranks),
            at,
            turn: sorted[0],
        })
    }

    /// Makes the communicator of some members of a view: it ends with the communicator of all of
    /// them.
    pub(super) fn of_view(
        core: &Arc<Core>,
        (group, number, members): (GroupId, u64, &[Rank]),
        ranks: &[Rank],
    ) -> Result<Self, Error> {
        let name = format!("{}, some", name_of_view(group, number));
        Ok(Self {
            family: family_of_view(group, number, members),
            ..Self::named(core, &name, ranks)?
        })
    }

    /// Returns the ranks of the processes that take part, in order.
    #[must_use]
    pub fn ranks(&self) -> &[Rank] {
        &self.ranks
    }

    /// Waits until all processes have called it.
    ///
    /// # Errors
    ///
    /// As for all operations: a process is lost, and the error names it. Or this is an upcall.
    #[track_caller]
    pub fn barrier(&self) -> Result<(), Error> {
        self.run(self.turn, Operation::Barrier, Message::new())
            .map(drop)
    }

    /// Returns the root's value at all processes. Only the root needs a `value`.
    ///
    /// # Errors
    ///
    /// See [`barrier`](Self::barrier). If the root gave no value, or one of another type, all
    /// processes get an error.
    #[track_caller]
    pub fn broadcast<V: Serialize + DeserializeOwned>(
        &self,
        root: Rank,
        value: Option<&V>,
    ) -> Result<V, Error> {
        let own = value.filter(|_| root == self.core.rank);
        let own = own.map(Message::of).transpose()?;
        Ok(self.broadcast_bytes(root, own)?.value()?)
    }

    /// Returns the root's bytes at all processes, without copying them on their way. `None` is sent
    /// as an empty message.
    ///
    /// # Errors
    ///
    /// See [`barrier`](Self::barrier).
    #[track_caller]
    pub fn broadcast_bytes(&self, root: Rank, value: Option<Message>) -> Result<Message, Error> {
        let own = value.filter(|_| root == self.core.rank).unwrap_or_default();
        Ok(one(self.run(root, Operation::Broadcast, own)?))
    }

    /// Returns all values at the root, in the order of the list; `None` elsewhere.
    ///
    /// # Errors
    ///
    /// See [`barrier`](Self::barrier).
    #[track_caller]
    pub fn gather<V: Serialize + DeserializeOwned>(
        &self,
        root: Rank,
        value: &V,
    ) -> Result<Option<Vec<V>>, Error> {
        let values = self.gather_bytes(root, Message::of(value)?)?;
        let decode = |values: Vec<Message>| values.iter().map(Message::value).collect();
        Ok(values.map(decode).transpose()?)
    }

    /// Does the same as [`gather`](Self::gather), with bytes.
    ///
    /// # Errors
    ///
    /// See [`barrier`](Self::barrier).
    #[track_caller]
    pub fn gather_bytes(
        &self,
        root: Rank,
        value: impl Into<Message>,
    ) -> Result<Option<Vec<Message>>, Error> {
        let values = self.run(root, Operation::Gather, value.into())?;
        Ok((root == self.core.rank).then_some(values))
    }

    /// Returns to each process its own of the root's values, in the order of the list. Only the
    /// root's `values` count.
    ///
    /// # Errors
    ///
    /// See [`barrier`](Self::barrier).
    ///
    /// # Panics
    ///
    /// The root's `values` are not as many as the processes.
    #[track_caller]
    pub fn scatter<V: Serialize + DeserializeOwned>(
        &self,
        root: Rank,
        values: &[V],
    ) -> Result<V, Error> {
        let values = match root == self.core.rank {
            true => values.iter().map(Message::of).collect::<Result<_, _>>()?,
            false => Vec::new(),
        };
        Ok(self.scatter_bytes(root, values)?.value()?)
    }

    /// Does the same as [`scatter`](Self::scatter), with bytes.
    ///
    /// # Errors
    ///
    /// See [`barrier`](Self::barrier).
    ///
    /// # Panics
    ///
    /// The root's `values` are not as many as the processes.
    #[track_caller]
    pub fn scatter_bytes(&self, root: Rank, values: Vec<Message>) -> Result<Message, Error> {
        assert!(
            root != self.core.rank || values.len() == self.ranks.len(),
            "{} values for {} processes",
            values.len(),
            self.ranks.len()
        );
        Ok(one(self.run(
            root,
            Operation::Scatter(values),
            Message::new(),
        )?))
    }

    /// Returns all values combined, at the root; `None` elsewhere.
    ///
    /// `combine` must be associative and commutative. It runs as an upcall: on the thread that
    /// drives the session, and it must not block.
    ///
    /// # Errors
    ///
    /// See [`barrier`](Self::barrier). [`Error::Panicked`]: `combine` panicked, here or at another
    /// process.
    #[track_caller]
    pub fn reduce<V: Serialize + DeserializeOwned>(
        &self,
        root: Rank,
        value: &V,
        combine: impl Fn(V, V) -> V + Send + 'static,
    ) -> Result<Option<V>, Error> {
        let given = given(on_values(combine));
        let operation = Operation::Reduce(as_upcall(&given));
        let values = self.run(root, operation, Message::of(value)?)?;
        let is_root = root == self.core.rank;
        Ok(is_root.then(|| one(values).value()).transpose()?)
    }

    /// Does the same as [`reduce`](Self::reduce), with bytes.
    ///
    /// # Errors
    ///
    /// See [`barrier`](Self::barrier).
    #[track_caller]
    pub fn reduce_bytes(
        &self,
        root: Rank,
        value: impl Into<Message>,
        combine: impl Fn(Message, Message) -> Message + Send + 'static,
    ) -> Result<Option<Message>, Error> {
        let given = given(move |a, b| Ok(combine(a, b)));
        let operation = Operation::Reduce(as_upcall(&given));
        let values = self.run(root, operation, value.into())?;
        Ok((root == self.core.rank).then(|| one(values)))
    }

    /// Returns all values combined, at all processes. `combine` is as for [`reduce`](Self::reduce).
    ///
    /// # Errors
    ///
    /// See [`reduce`](Self::reduce).
    #[track_caller]
    pub fn all_reduce<V: Serialize + DeserializeOwned>(
        &self,
        value: &V,
        combine: impl Fn(V, V) -> V + Send + 'static,
    ) -> Result<V, Error> {
        let given = given(on_values(combine));
        let operation = Operation::AllReduce(as_upcall(&given));
        let values = self.run(self.turn, operation, Message::of(value)?)?;
        Ok(one(values).value()?)
    }

    /// Does the same as [`all_reduce`](Self::all_reduce), with bytes.
    ///
    /// # Errors
    ///
    /// See [`barrier`](Self::barrier).
    #[track_caller]
    pub fn all_reduce_bytes(
        &self,
        value: impl Into<Message>,
        combine: impl Fn(Message, Message) -> Message + Send + 'static,
    ) -> Result<Message, Error> {
        let given = given(move |a, b| Ok(combine(a, b)));
        let operation = Operation::AllReduce(as_upcall(&given));
        Ok(one(self.run(self.turn, operation, value.into())?))
    }

    /// Returns the rank at which values turn from going up to going down, whatever the order of the
    /// list.
    pub(super) fn turn(&self) -> Rank {
        self.turn
    }

    /// Returns this process's place, counted from that of a rank, and the number of processes.
    pub(super) fn place_from(&self, rank: Rank) -> Result<(usize, usize), Error> {
        let (from, count) = (self.place_of(rank)?, self.ranks.len());
        Ok(((self.at + count - from) % count, count))
    }

    fn place_of(&self, rank: Rank) -> Result<usize, Error> {
        let mut ranks = self.ranks.iter();
        let place = ranks.position(|it| *it == rank);
        place.ok_or(Error::NotInCommunicator(rank))
    }

    #[track_caller]
    pub(super) fn run(
        &self,
        root: Rank,
        operation: Operation,
        value: Message,
    ) -> Result<Vec<Message>, Error> {
        upcall::must_not_wait()?;
        let root = self.place_of(root)?;
        let core = &self.core;
        core.check()?;
        core.check_length(&value)?;
        match &operation {
            Operation::Scatter(values) => {
                let mut values = values.iter();
                values.try_for_each(|value| core.check_length(value))?;
            }
            // In some rounds a message is the whole array, where in others it is a part.
            Operation::Numbers(numbers) => core.check_bytes(numbers.bytes())?,
            _ => {}
        }
        let id = core.engine.number();
        let part = Part {
            id,
            list: self.list,
            family: self.family,
            order: self.order,
            ranks: self.ranks.clone(),
            at: self.at,
            root,
            operation,
            value,
        };
        for near in part.neighbours() {
            core.wait_for_room(near, |rooms| rooms.is_free(near))?;
        }
        core.ask(Ask::Collect(part));
        let outcome = match core.outcome(id)? {
            Ended::Collected(outcome) => outcome,
            Ended::Reply(outcome) => outcome.map(|_| Vec::new()),
        };
        outcome.map_err(|failure| core.failed(failure, "", None))
    }
}

/// Returns the number of a list, whatever its order.
fn list_of(name: &str, sorted: &[Rank]) -> u64 {
    number_of(name) ^ hash_of(sorted)
}

/// Returns the name of the communicator of a group's view. No program uses such a name, because of
/// its NUL.
pub(super) fn name_of_view(group: GroupId, number: u64) -> String {
    format!("\0group {group:x}, view {number}")
}

/// Returns the list number of that communicator, with which communicators of some of its members
/// end.
pub(super) fn family_of_view(group: GroupId, number: u64, members: &[Rank]) -> u64 {
    let mut sorted = members.to_vec();
    sorted.sort_unstable();
    list_of(&name_of_view(group, number), &sorted)
}

/// Returns a hash of a list of ranks, the same at all processes.
fn hash_of(ranks: &[Rank]) -> u64 {
    ranks.iter().fold(ranks.len() as u64, |hash, rank| {
        (hash ^ u64::from(*rank))
            .wrapping_mul(0x100_0000_01b3)
            .rotate_left(17)
    })
}

fn on_values<V: Serialize + DeserializeOwned>(
    combine: impl Fn(V, V) -> V + Send + 'static,
) -> impl Fn(Message, Message) -> Result<Message, DecodeError> + Send + 'static {
    move |a, b| Message::of(&combine(a.value()?, b.value()?))
}

/// Registers a program's closure for one operation.
///
/// The caller keeps it until the operation has ended. So the protocols, under whose lock no code of
/// the program may run, are never the last to drop it.
#[track_caller]
fn given<F>(combine: F) -> Arc<Registered<F>> {
    Arc::new(Registered {
        place: Location::caller(),
        call: Mutex::new(combine),
    })
}

fn as_upcall<F>(given: &Arc<Registered<F>>) -> Combine
where
    F: Fn(Message, Message) -> Result<Message, DecodeError> + Send + 'static,
{
    let given = given.clone();
    Box::new(move |a, b| {
        let place = given.place;
        let mut combined = None;
        upcall::run(place, || combined = Some((given.call.lock())(a, b)))
            .map_err(|panic| Refused::Panicked(format!("given at {place} panicked: {panic}")))?;
        Ok(combined.expect("it has run")?)
    })
}

fn one(values: Vec<Message>) -> Message {
    values.into_iter().next().unwrap_or_default()
}
