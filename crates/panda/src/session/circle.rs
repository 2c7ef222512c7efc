//! Collective operations over a list of processes.

use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::desk::Ended;
use super::engine::Ask;
use super::{Session, WeakSession, upcall};
use crate::error::Error;
use crate::message::Message;
use crate::platform::Rank;
use crate::protocol::collective::{Operation, Part};

/// Some processes of a session, in a fixed order. All of them must call the same operations in the same order, each from one thread at a time.
#[derive(Clone)]
pub struct Circle {
    session: WeakSession,
    rank: Rank,
    ranks: Arc<[Rank]>,
    list: u64,
    at: usize,
}

impl Session {
    /// The processes that the session began with.
    ///
    /// # Errors
    /// This process is not one of them.
    pub fn everyone(&self) -> Result<Circle, Error> {
        let ranks: Vec<Rank> = (0..self.size()).collect();
        self.circle(&ranks)
    }

    /// Some processes; the same list, in the same order, at all of them.
    ///
    /// # Errors
    /// This process is not one of them, or one does not exist.
    pub fn circle(&self, ranks: &[Rank]) -> Result<Circle, Error> {
        ranks.iter().try_for_each(|rank| self.check_rank(*rank))?;
        let at = ranks
            .iter()
            .position(|rank| *rank == self.rank())
            .ok_or(Error::NotInCircle(self.rank()))?;
        let list = ranks.iter().fold(ranks.len() as u64, |hash, rank| {
            (hash ^ u64::from(*rank))
                .wrapping_mul(0x100_0000_01b3)
                .rotate_left(17)
        });
        Ok(Circle {
            session: self.downgrade(),
            rank: self.rank(),
            ranks: ranks.into(),
            list,
            at,
        })
    }
}

impl Circle {
    /// Waits until all are here.
    ///
    /// # Errors
    /// As for all operations: a process is lost, by name; or this is an upcall.
    #[track_caller]
    pub fn barrier(&self) -> Result<(), Error> {
        self.run(self.ranks[0], Operation::Barrier, Bytes::new())
            .map(drop)
    }

    /// The root's value, at all. Only the root's `value` counts.
    ///
    /// # Errors
    /// See [`barrier`](Self::barrier).
    #[track_caller]
    pub fn broadcast<V: Serialize + DeserializeOwned>(
        &self,
        root: Rank,
        value: &V,
    ) -> Result<V, Error> {
        let own = if root == self.rank {
            encode(value)?
        } else {
            Bytes::new()
        };
        one(self.run(root, Operation::Broadcast, own)?)
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
        let values = self.run(root, Operation::Gather, encode(value)?)?;
        let is_root = root == self.rank;
        is_root
            .then(|| values.into_iter().map(decode).collect())
            .transpose()
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
        let is_root = root == self.rank;
        assert!(
            !is_root || values.len() == self.ranks.len(),
            "{} values for {} processes",
            values.len(),
            self.ranks.len()
        );
        let parts = if is_root {
            values.iter().map(encode).collect::<Result<_, _>>()?
        } else {
            Vec::new()
        };
        one(self.run(root, Operation::Scatter(parts), Bytes::new())?)
    }

    /// Everybody's values combined, at the root; none elsewhere. `combine` must be associative and commutative.
    ///
    /// # Errors
    /// See [`barrier`](Self::barrier).
    #[track_caller]
    pub fn reduce<V: Serialize + DeserializeOwned>(
        &self,
        root: Rank,
        value: &V,
        combine: impl Fn(V, V) -> V + Send + 'static,
    ) -> Result<Option<V>, Error> {
        let values = self.run(root, Operation::Reduce(on_bytes(combine)), encode(value)?)?;
        if root == self.rank {
            one(values).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Everybody's values combined, at all. `combine` must be associative and commutative.
    ///
    /// # Errors
    /// See [`barrier`](Self::barrier).
    #[track_caller]
    pub fn all_reduce<V: Serialize + DeserializeOwned>(
        &self,
        value: &V,
        combine: impl Fn(V, V) -> V + Send + 'static,
    ) -> Result<V, Error> {
        one(self.run(
            self.ranks[0],
            Operation::AllReduce(on_bytes(combine)),
            encode(value)?,
        )?)
    }

    #[track_caller]
    fn run(&self, root: Rank, operation: Operation, value: Bytes) -> Result<Vec<Bytes>, Error> {
        upcall::must_not_wait()?;
        let root = self
            .ranks
            .iter()
            .position(|rank| *rank == root)
            .ok_or(Error::NotInCircle(root))?;
        let session = self.session.upgrade()?;
        let (id, _) = session.ask(Ask::Number);
        let part = Part {
            id,
            list: self.list,
            ranks: self.ranks.clone(),
            at: self.at,
            root,
            operation,
            value,
        };
        session.ask(Ask::Collect(part));
        match session.outcome(id)? {
            Ended::Collected(outcome) => {
                outcome.map_err(|failure| session.failed(failure, "", None))
            }
            Ended::Reply(outcome) => outcome
                .map(|_| Vec::new())
                .map_err(|failure| session.failed(failure, "", None)),
        }
    }
}

/// A value that does not decode among values of one type is a fault of the program's own `Serialize`; the contribution that came first then stands.
fn on_bytes<V: Serialize + DeserializeOwned>(
    combine: impl Fn(V, V) -> V + Send + 'static,
) -> crate::protocol::collective::Combine {
    Box::new(move |a, b| match (decode(a.clone()), decode(b)) {
        (Ok(left), Ok(right)) => encode(&combine(left, right)).unwrap_or(a),
        _ => a,
    })
}

fn encode<V: Serialize>(value: &V) -> Result<Bytes, Error> {
    Ok(Message::of(value)?.to_bytes())
}

fn decode<V: DeserializeOwned>(bytes: Bytes) -> Result<V, Error> {
    Ok(Message::from(bytes).value()?)
}

fn one<V: DeserializeOwned>(values: Vec<Bytes>) -> Result<V, Error> {
    decode(values.into_iter().next().unwrap_or_default())
}
