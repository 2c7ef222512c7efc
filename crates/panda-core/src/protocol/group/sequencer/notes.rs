//! What members say to each other.

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

/// A next view, and where the last one ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    pub next: View,
    /// The last place of the view before.
    pub cut: u64,
    /// The number of each member's last message up to the cut.
    pub counts: Vec<(Rank, u64)>,
}

/// The same as a difference, for those who hold the view that it follows and its order up to the cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The last place of the view that ends.
    pub cut: u64,
    /// Those of it who are not in the next one as the members that they were.
    pub left: Vec<Rank>,
    /// Those who follow, behind all who stay.
    pub joined: Vec<Member>,
}

/// An entry of the order without its body.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Item {
    pub sender: Rank,
    /// The sender's own number for it, from 1.
    pub number: u64,
    /// Bytes of its body behind the note; none where the sender gave the body to everybody itself.
    pub length: Option<u64>,
}

/// Numbers that no group reaches: who names greater ones is at fault.
const NUMBER_MAX: u64 = 1 << 62;

impl Proposal {
    /// Whether it can be what follows a view.
    pub fn follows(&self, view: u64) -> bool {
        view < NUMBER_MAX && self.next.number == view + 1 && self.cut < NUMBER_MAX
    }
}

impl Step {
    /// The members of the next view.
    pub fn members(&self, of: &View) -> Vec<Member> {
        let left: HashSet<Rank> = self.left.iter().copied().collect();
        let stay = of.members.iter().filter(|old| !left.contains(&old.rank));
        stay.chain(&self.joined).copied().collect()
    }

    /// Whether it can follow a view.
    pub fn is_sound(&self, view: u64) -> bool {
        view < NUMBER_MAX && self.cut < NUMBER_MAX
    }
}

/// A note. `view` is the view that the sender is in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Note {
    /// To whoever may know the group: I want to be a member.
    Join { member: Member },
    /// To the first member: I want to leave.
    Leave { view: u64 },
    /// To the first member: order these, which follow one another.
    Request {
        view: u64,
        delivered: u64,
        first: u64,
        lengths: Vec<u64>,
    },
    /// To everybody: the body of a long message, which the first member will give a place.
    Body { view: u64, number: u64 },
    /// From the first member: these have the places from `first` on. What is at or below `stable` has been delivered everywhere. If it wants a report, some members
    /// say at once that this came.
    Ordered {
        view: u64,
        first: u64,
        stable: u64,
        wants_report: bool,
        items: Vec<Item>,
    },
    /// To the first member.
    Delivered { view: u64, delivered: u64 },
    /// From a coordinator: take no more orders in this view, and say what you have.
    Collect { view: u64, ballot: Ballot },
    /// The answer: up to which place there is nothing missing, and what was accepted.
    State {
        view: u64,
        ballot: Ballot,
        held: u64,
        stays: bool,
        accepted: Option<(Ballot, Step)>,
    },
    /// The answer where a greater ballot was promised.
    Refuse { view: u64, promised: Ballot },
    /// From a coordinator or a member that is behind: send me your entries after this place up to that one.
    Fetch { view: u64, after: u64, upto: u64 },
    /// Entries of the order, with their bodies.
    Entries {
        view: u64,
        first: u64,
        items: Vec<Item>,
    },
    /// From a coordinator: accept this.
    Propose {
        view: u64,
        ballot: Ballot,
        step: Step,
    },
    /// The answer.
    Accepted { view: u64, ballot: Ballot },
    /// To those who answered and stay: it is decided.
    Decide { view: u64, step: Step },
    /// To everybody else: it is decided. To who asks elsewhere or is behind, too: the group has come so far.
    Install { view: u64, proposal: Proposal },
    /// To a coordinator whose view is not known here: so I am called now. Its member of this rank may have been an earlier life, which answers no more.
    Life { member: Member },
    /// To who wants to be let in: I cannot help, since I follow so many groups already that I am not in, and this would be one more.
    Full { follows: u64 },
}

impl Note {
    /// The view that the note is about, if it is about one.
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
