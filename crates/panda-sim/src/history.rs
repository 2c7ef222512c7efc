//! What a program saw in a simulated run, to be checked afterwards.

use std::collections::BTreeMap;
use std::fmt;

use super::communicator::Communicator;
use antiphon_panda_core::Rank;
use antiphon_panda_core::message::DecodeError;
use antiphon_panda_core::protocol::Time;
use antiphon_panda_core::protocol::requests::RequestId;

/// Everything that all lives of all processes saw.
#[derive(Debug, Default)]
pub struct History {
    /// In order of their beginning.
    pub lives: Vec<Life>,
    /// In the order in which they were drawn.
    pub communicators: Vec<Communicator>,
    /// What no protocol could read: at which rank, and why.
    pub refused: Vec<(Rank, DecodeError)>,
}

/// A process from its start to its crash.
#[derive(Debug)]
pub struct Life {
    /// Its rank.
    pub rank: Rank,
    /// Its memberships of the group, one after another.
    pub memberships: Vec<Membership>,
    /// Calls that it made: to whom, when, and how they ended.
    pub calls: BTreeMap<RequestId, Call>,
    /// Calls that it executed: of which life, with which number, in order.
    pub executed: Vec<(usize, u32)>,
    /// Messages that it sent to ports; they are numbered from 1.
    pub posted: Vec<Posted>,
    /// Messages of ports that it was handed, in order.
    pub taken: Vec<Taken>,
    /// Whom it was told to be lost, and when.
    pub losses: Vec<(Time, Rank)>,
    /// Whether it crashed.
    pub is_over: bool,
}

/// A call.
#[derive(Debug)]
pub struct Call {
    /// To whom.
    pub to: Rank,
    /// The number that its argument held.
    pub number: u32,
    /// When.
    pub at: Time,
    /// When it ended, and whether well.
    pub ended: Option<(Time, bool)>,
}

/// A message that was sent to a port.
#[derive(Debug)]
pub struct Posted {
    /// To whom.
    pub to: Rank,
    /// To which of its lives, the sender being connected to that one, or none that there is.
    pub life: usize,
    /// Its tag.
    pub tag: u32,
    /// Its length, without its name.
    pub length: usize,
    /// When.
    pub at: Time,
    /// The request that waits for its receipt, if one does.
    pub receipt: Option<RequestId>,
    /// When that ended, and whether well.
    pub ended: Option<(Time, bool)>,
}

/// A message that came to a port.
#[derive(Debug)]
pub struct Taken {
    /// The life that sent it, and its number there.
    pub id: (usize, u32),
    /// The rank that it is said to come from.
    pub from: Rank,
    /// Its tag, as handed over.
    pub tag: u32,
    /// Its length, without its name.
    pub length: usize,
    /// When.
    pub at: Time,
}

/// One membership.
#[derive(Debug, Default)]
pub struct Membership {
    /// How many messages it sent; they are numbered from 1.
    pub sent: u32,
    /// What it saw.
    pub places: Vec<Place>,
    /// How it ended, if it has: whether as it asked.
    pub ended: Option<bool>,
    /// Whether it has asked to leave.
    pub is_leaving: bool,
}

/// One event of a membership.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A view began.
    View {
        /// Its number.
        number: u64,
        /// Its members.
        members: Vec<Rank>,
    },
    /// A message was delivered.
    Message {
        /// Its place.
        place: u64,
        /// The life, the membership and the number of its sender.
        id: (u32, u32, u32),
    },
}

impl Membership {
    /// The number of the view that it saw last.
    #[must_use]
    pub fn view(&self) -> Option<(u64, &[Rank])> {
        self.places.iter().rev().find_map(|place| match place {
            Place::View { number, members } => Some((*number, members.as_slice())),
            Place::Message { .. } => None,
        })
    }
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (which, life) in self.lives.iter().enumerate() {
            writeln!(
                f,
                "life {which}, rank {}{}:",
                life.rank,
                if life.is_over { ", crashed" } else { "" }
            )?;
            for member in &life.memberships {
                write!(f, "  sent {}", member.sent)?;
                let mut run = None;
                for place in &member.places {
                    match place {
                        Place::View { number, members } => {
                            write!(f, "{}, view {number} {members:?}", Span(run.take()))?;
                        }
                        Place::Message { place, .. } => {
                            run = Some((run.map_or(*place, |(first, _)| first), *place))
                        }
                    }
                }
                writeln!(
                    f,
                    "{}, {}",
                    Span(run),
                    match member.ended {
                        None => "still in",
                        Some(true) => "left",
                        Some(false) => "expelled",
                    }
                )?;
            }
        }
        for (which, communicator) in self.communicators.iter().enumerate() {
            writeln!(f, "communicator {which} of lives {:?}:", communicator.lives)?;
            for (rank, turns) in communicator.ranks.iter().zip(&communicator.turns) {
                writeln!(f, "  rank {rank}: {turns:?}")?;
            }
        }
        Ok(())
    }
}

struct Span(Option<(u64, u64)>);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .map_or(Ok(()), |(first, last)| write!(f, ", {first}..={last}"))
    }
}
