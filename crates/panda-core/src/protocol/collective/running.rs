//! A running operation, of either kind.

use super::exchange::Exchange;
use super::tree::Tree;
use super::{Collectives, Key, Shape};
use crate::Rank;
use crate::protocol::Time;
use crate::protocol::requests::{Failure, RequestId};

pub(super) enum Running<'a> {
    Tree(&'a Tree),
    Exchange(&'a Exchange),
}

impl Running<'_> {
    pub fn begun(&self) -> Time {
        match self {
            Self::Tree(tree) => tree.begun,
            Self::Exchange(exchange) => exchange.begun,
        }
    }

    pub fn shape(&self) -> Shape {
        match self {
            Self::Tree(tree) => tree.shape,
            Self::Exchange(exchange) => exchange.shape,
        }
    }

    fn myself(&self) -> Rank {
        match self {
            Self::Tree(tree) => tree.myself(),
            Self::Exchange(exchange) => exchange.myself,
        }
    }

    pub fn has(&self, rank: Rank) -> bool {
        match self {
            Self::Tree(tree) => tree.ranks.contains(&rank),
            Self::Exchange(exchange) => exchange.ranks.contains(&rank),
        }
    }

    pub fn neighbours(&self) -> Vec<Rank> {
        match self {
            Self::Tree(tree) => tree.neighbours(),
            Self::Exchange(exchange) => exchange.neighbours(),
        }
    }

    /// Returns whether a message of this peer is still to come.
    pub fn waits_for(&self, peer: Rank) -> bool {
        match self {
            Self::Tree(tree) => tree.waits_for(peer),
            Self::Exchange(exchange) => exchange.waits_for(peer),
        }
    }

    /// Returns whether it ends when this peer is lost.
    pub fn ends_without(&self, peer: Rank, is_certain: bool) -> bool {
        match self {
            Self::Tree(tree) => tree.parent == Some(peer) || tree.children.contains(&peer),
            // Members end an exchange at different times, and a member that has ended it may leave.
            // But a living peer may have lost its contact and miss messages, and no other member
            // would tell it.
            Self::Exchange(exchange) if is_certain => exchange.waits_for(peer),
            Self::Exchange(exchange) => exchange.neighbours().contains(&peer),
        }
    }

    /// Returns the failure that a peer reports. If the peer has lost this process, this process has
    /// lost the peer.
    pub fn as_told(&self, by: Rank, failure: Failure) -> Failure {
        match failure {
            Failure::Lost { rank, .. } if rank == self.myself() => Failure::Lost {
                rank: by,
                why: "took this process for lost".into(),
            },
            failure => failure,
        }
    }
}

impl Collectives {
    /// Returns all running operations.
    pub(super) fn running(&self) -> impl Iterator<Item = (Key, Running<'_>)> {
        let trees = self
            .active
            .iter()
            .map(|(key, it)| (*key, Running::Tree(it)));
        let exchanges = self.exchanges.iter();
        trees.chain(exchanges.map(|(key, it)| (*key, Running::Exchange(it))))
    }

    /// Returns a running operation.
    pub(super) fn running_at(&self, key: Key) -> Option<Running<'_>> {
        let tree = self.active.get(&key).map(Running::Tree);
        tree.or_else(|| self.exchanges.get(&key).map(Running::Exchange))
    }

    /// Removes an operation, and returns the number by which its end is reported, and its peers.
    pub(super) fn remove(&mut self, key: Key) -> Option<(RequestId, Vec<Rank>)> {
        if let Some(tree) = self.active.remove(&key) {
            return Some((tree.id, tree.neighbours()));
        }
        let exchange = self.exchanges.remove(&key)?;
        Some((exchange.id, exchange.neighbours()))
    }
}
