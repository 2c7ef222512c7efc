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

/// Some processes of a session, in a fixed order. All of them must call the same operations in the same order, each from one thread at a time; where they do not, the
/// operation fails with [`Error::Mismatch`] at those that can know.
///
/// Values of a root that only gives, and of leaves that only give to it, may be under way for up to 256 operations; then they wait until all have begun as many.
#[derive(Clone)]
pub struct Communicator {
    core: Arc<Core>,
    ranks: Arc<[Rank]>,
    list: u64,
    family: u64,
    order: u64,
    at: usize,
    /// Where values turn that go up and come down: the same at processes that have the list in different orders, so that one hears of the other.
    turn: Rank,
}

impl Session {
    /// The processes that the session began with.
    ///
    /// # Errors
    /// This process is not one of them.
    pub fn everyone(&self) -> Result<Communicator, Error> {
        let ranks: Vec<Rank> = (0..self.size()).collect();
        self.communicator(&ranks)
    }

    /// Some processes, each once; the same list, in the same order, at all of them. All communicators of the same processes are one: two threads that use one each at the
    /// same time [name](Self::communicator_named) them.
    ///
    /// # Errors
    /// This process is not one of them, one does not exist, or one is there twice.
    pub fn communicator(&self, ranks: &[Rank]) -> Result<Communicator, Error> {
        self.communicator_named("", ranks)
    }

    /// The same, apart from communicators of other names, which the same processes may use at the same time.
    ///
    /// # Errors
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

    /// The same of some members of a view: it ends with the communicator of all of them.
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

    /// Who takes part, in order.
    #[must_use]
    pub fn ranks(&self) -> &[Rank] {
        &self.ranks
    }

    /// Waits until all are here.
    ///
    /// # Errors
    /// As for all operations: a process is lost, by name; or this is an upcall.
    #[track_caller]
    pub fn barrier(&self) -> Result<(), Error> {
        self.run(self.turn, Operation::Barrier, Message::new())
            .map(drop)
    }

    /// The root's value, at all; others need none.
    ///
    /// # Errors
    /// See [`barrier`](Self::barrier). The root gave none, or one of another type: an error at all.
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

    /// The root's bytes, at all; they are not copied on their way. Nothing is an empty message.
    ///
    /// # Errors
    /// See [`barrier`](Self::barrier).
    #[track_caller]
    pub fn broadcast_bytes(&self, root: Rank, value: Option<Message>) -> Result<Message, Error> {
        let own = value.filter(|_| root == self.core.rank).unwrap_or_default();
        Ok(one(self.run(root, Operation::Broadcast, own)?))
    }

    /// Everybody's values, at the root and in the order of the list; none elsewhere.
    ///
    /// # Errors
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

    /// The same of bytes.
    ///
    /// # Errors
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

    /// To each its own of the root's values, which are as many as there are processes. Only the root's `values` count.
    ///
    /// # Errors
    /// See [`barrier`](Self::barrier).
    ///
    /// # Panics
    /// The root has not as many values as there are processes.
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

    /// The same of bytes.
    ///
    /// # Errors
    /// See [`barrier`](Self::barrier).
    ///
    /// # Panics
    /// The root has not as many values as there are processes.
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

    /// Everybody's values combined, at the root; none elsewhere. `combine` must be associative and commutative. It is run as an upcall is: on the thread that drives the
    /// session, and it must not wait.
    ///
    /// # Errors
    /// See [`barrier`](Self::barrier). [`Error::Panicked`]: `combine` panicked, here or at another of them.
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

    /// The same of bytes.
    ///
    /// # Errors
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

    /// Everybody's values combined, at all. `combine` is as for [`reduce`](Self::reduce).
    ///
    /// # Errors
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

    /// The same of bytes.
    ///
    /// # Errors
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

    /// Where values turn that go up and come down, whatever the order of the list.
    pub(super) fn turn(&self) -> Rank {
        self.turn
    }

    /// One's own place, counted from that of a rank, and how many there are.
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
            // Some rounds have all of it, where others have a part.
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

/// The name of a list, whichever order it is in.
fn list_of(name: &str, sorted: &[Rank]) -> u64 {
    number_of(name) ^ hash_of(sorted)
}

/// What the communicator of a group's view is named; no program thinks of that.
pub(super) fn name_of_view(group: GroupId, number: u64) -> String {
    format!("\0group {group:x}, view {number}")
}

/// The list of that communicator, with which the communicators of some of its members end.
pub(super) fn family_of_view(group: GroupId, number: u64, members: &[Rank]) -> u64 {
    let mut sorted = members.to_vec();
    sorted.sort_unstable();
    list_of(&name_of_view(group, number), &sorted)
}

/// A name of a list of ranks, the same everywhere.
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

/// Who gives it keeps it until the operation has ended: the protocols, under whose lock none of the program's may run, are never the last to drop it.
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
