//! The notes between members.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::super::{Member, View};
use crate::Rank;

/// A coordinator's attempt to decide on the next view. Greater ones win.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Ballot {
    pub round: u64,
    pub rank: Rank,
}

/// A next view, and the end of the last one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    pub next: View,
    /// Number of its members, from the first on, that were in the view before.
    pub stayed: u64,
    /// The last place of the view before.
    pub cut: u64,
    /// Number of each member's last message up to the cut.
    pub counts: Vec<(Rank, u64)>,
}

/// A proposal as a difference, for members that hold the previous view and its order up to the cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Last place of the ending view.
    pub cut: u64,
    /// Its members that are not in the next one as the same members.
    pub left: Vec<Rank>,
    /// New members, behind all that stay.
    pub joined: Vec<Member>,
}

/// An entry of the order without its body.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Item {
    pub sender: Rank,
    /// The sender's own number for it, from 1.
    pub number: u64,
    /// Bytes of its body behind the note; `None` if the sender gave the body to all itself.
    pub length: Option<u64>,
}

/// Bound on numbers, which no group reaches: a peer that names greater ones is at fault.
const NUMBER_MAX: u64 = 1 << 62;

impl Proposal {
    /// Returns the members before one that learns of this view as its first.
    pub fn elders(&self, me: Member) -> Vec<Rank> {
        let stayed = usize::try_from(self.stayed).unwrap_or(usize::MAX);
        let own = self.next.members.iter().position(|member| *member == me);
        // The process may have been let in before, and not have heard of that.
        let count = own.map_or(stayed, |own| own.min(stayed));
        self.next.ranks().take(count).collect()
    }

    /// Returns whether it can follow a view.
    pub fn follows(&self, view: u64) -> bool {
        view < NUMBER_MAX && self.next.number == view + 1 && self.cut < NUMBER_MAX
    }
}

impl Step {
    /// Returns the members of the next view.
    pub fn members(&self, of: &View) -> Vec<Member> {
        let left: HashSet<Rank> = self.left.iter().copied().collect();
        let stay = of.members.iter().filter(|old| !left.contains(&old.rank));
        stay.chain(&self.joined).copied().collect()
    }

    /// Returns whether it can follow a view.
    pub fn is_sound(&self, view: u64) -> bool {
        view < NUMBER_MAX && self.cut < NUMBER_MAX
    }
}

/// A note. `view` is the sender's view.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Note {
    /// To a process that may know the group: the sender wants to be a member.
    Join { member: Member },
    /// To the first member: the sender wants to leave.
    Leave { view: u64 },
    /// To the first member: messages to order, which follow one another.
    Request {
        view: u64,
        delivered: u64,
        first: u64,
        lengths: Vec<u64>,
    },
    /// To all: the body of a long message, which the first member will give a place.
    Body { view: u64, number: u64 },
    /// From the first member: these entries have the places from `first` on. Entries up to `stable`
    /// have been delivered everywhere. If it wants a report, some members confirm this at once.
    Ordered {
        view: u64,
        first: u64,
        stable: u64,
        wants_report: bool,
        items: Vec<Item>,
    },
    /// To the first member: the sender's progress.
    Delivered { view: u64, delivered: u64 },
    /// From a coordinator: take no more orders in this view, and answer with your state.
    Collect { view: u64, ballot: Ballot },
    /// The answer: the place up to which nothing is missing, and the accepted step.
    State {
        view: u64,
        ballot: Ballot,
        held: u64,
        stays: bool,
        accepted: Option<(Ballot, Step)>,
    },
    /// The answer if a greater ballot was promised.
    Refuse { view: u64, promised: Ballot },
    /// From a coordinator or a late member: send your entries after this place up to that one.
    Fetch { view: u64, after: u64, upto: u64 },
    /// Entries of the order, with their bodies.
    Entries {
        view: u64,
        first: u64,
        items: Vec<Item>,
    },
    /// From a coordinator: accept this step.
    Propose {
        view: u64,
        ballot: Ballot,
        step: Step,
    },
    /// The answer: accepted.
    Accepted { view: u64, ballot: Ballot },
    /// To the members that answered and stay: the step is decided.
    Decide { view: u64, step: Step },
    /// To all others: the view is decided. Also to a process that asks elsewhere or is late: the
    /// group has come so far.
    Install { view: u64, proposal: Proposal },
    /// To a coordinator whose view is not known here: the sender's present identity. Its member of
    /// this rank may have been an earlier life, which answers no more.
    Life { member: Member },
    /// To a process that wants in: the sender cannot help. It follows many groups already without
    /// being in them, and this would be one more.
    Full { follows: u64 },
}

impl Note {
    /// Returns the view of the note, if it is about one.
    pub fn view(&self) -> Option<u64> {
        match self {
            Self::Join { .. } | Self::Install { .. } | Self::Life { .. } | Self::Full { .. } => {
                None
            }
            Self::Leave { view }
            | Self::Request { view, .. }
            | Self::Body { view, .. }
            | Self::Ordered { view, .. }
            | Self::Delivered { view, .. }
            | Self::Collect { view, .. }
            | Self::State { view, .. }
            | Self::Refuse { view, .. }
            | Self::Fetch { view, .. }
            | Self::Entries { view, .. }
            | Self::Propose { view, .. }
            | Self::Accepted { view, .. }
            | Self::Decide { view, .. } => Some(*view),
        }
    }
}
