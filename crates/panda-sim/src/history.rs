//! The history of a simulated run, as programs saw it, for later checks.

use std::collections::BTreeMap;
use std::fmt;

use super::communicator::Communicator;
use antiphon_panda_core::Rank;
use antiphon_panda_core::message::DecodeError;
use antiphon_panda_core::protocol::Time;
use antiphon_panda_core::protocol::group::{Placed, Progress};
use antiphon_panda_core::protocol::requests::RequestId;

/// The events that all lives of all processes saw.
#[derive(Debug, Default)]
pub struct History {
    /// Lives in the order of their beginning.
    pub lives: Vec<Life>,
    /// Communicators in the order in which they were drawn.
    pub communicators: Vec<Communicator>,
    /// Messages that no protocol could read: the rank, and the reason.
    pub refused: Vec<(Rank, DecodeError)>,
    /// Whether the members of the group keep copies of a state, which joiners get.
    pub has_state: bool,
}

/// A process from its start to its crash.
#[derive(Debug)]
pub struct Life {
    /// Its rank.
    pub rank: Rank,
    /// Its memberships of the group, one after another.
    pub memberships: Vec<Membership>,
    /// Calls that it made, with their destinations, times and outcomes.
    pub calls: BTreeMap<RequestId, Call>,
    /// Calls that it executed: the caller's life and number of each, in order.
    pub executed: Vec<(usize, u32)>,
    /// Messages that it sent to ports; they are numbered from 1.
    pub posted: Vec<Posted>,
    /// Messages of ports that it was handed, in order.
    pub taken: Vec<Taken>,
    /// Times and ranks of losses that it was told.
    pub losses: Vec<(Time, Rank)>,
    /// Whether it crashed.
    pub is_over: bool,
}

/// A call.
#[derive(Debug)]
pub struct Call {
    /// Destination.
    pub to: Rank,
    /// The number that its argument held.
    pub number: u32,
    /// Time of the call.
    pub at: Time,
    /// Time of its end, and whether it ended well.
    pub ended: Option<(Time, bool)>,
}

/// A message that was sent to a port.
#[derive(Debug)]
pub struct Posted {
    /// Destination.
    pub to: Rank,
    /// Life of the destination: the one to which the sender is connected, or one that does not
    /// exist.
    pub life: usize,
    /// Its tag.
    pub tag: u32,
    /// Its length, without its name.
    pub length: usize,
    /// Time of the send.
    pub at: Time,
    /// The request that waits for its receipt, if one does.
    pub receipt: Option<RequestId>,
    /// Time of that end, and whether it ended well.
    pub ended: Option<(Time, bool)>,
}

/// A message that came to a port.
#[derive(Debug)]
pub struct Taken {
    /// The life that sent it, and its number there.
    pub id: (usize, u32),
    /// Its sender's rank, as handed over.
    pub from: Rank,
    /// Its tag, as handed over.
    pub tag: u32,
    /// Its length, without its name.
    pub length: usize,
    /// Time of the hand-over.
    pub at: Time,
}

/// One membership.
#[derive(Debug, Default)]
pub struct Membership {
    /// Messages that it sent, numbered from 1, with the places that it was told.
    pub sent: Vec<Placed>,
    /// Events that it saw.
    pub places: Vec<Place>,
    /// The program's copy: a digest of the messages that it was told of, in order.
    pub copy: u64,
    /// Its progress, for threads that wait for a place.
    pub progress: Progress,
    /// A place that such a thread found delivered, and the earlier place that the program was still
    /// to be told of.
    pub early: Option<(u64, u64)>,
    /// Whether it ended as it asked; `None` while it lasts.
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
        /// Its place.
        place: u64,
        /// Its members.
        members: Vec<Rank>,
        /// The copy at that time; `None` if it is of a later place.
        copy: Option<u64>,
    },
    /// A snapshot was installed.
    Snapshot {
        /// The place of the last event that it holds.
        place: u64,
    },
    /// A message was delivered.
    Message {
        /// Its place.
        place: u64,
        /// The life, the membership and the number of its sender.
        id: (u32, u32, u32),
    },
}

impl Place {
    /// Returns its place in the order.
    #[must_use]
    pub fn place(&self) -> u64 {
        match self {
            Self::View { place, .. } | Self::Snapshot { place } | Self::Message { place, .. } => {
                *place
            }
        }
    }
}

impl Membership {
    /// Returns the number and the members of the view that it saw last.
    #[must_use]
    pub fn view(&self) -> Option<(u64, &[Rank])> {
        self.places.iter().rev().find_map(|place| match place {
            Place::View {
                number, members, ..
            } => Some((*number, members.as_slice())),
            Place::Snapshot { .. } | Place::Message { .. } => None,
        })
    }

    /// Takes an event as the program's upcall does, while another thread looks at the progress.
    pub fn see(&mut self, event: Place) {
        let place = event.place();
        let (progress, places) = (&self.progress, &mut self.places);
        progress.hand_over(place, || {
            let found = progress.delivered();
            let is_installed = matches!(places[..], [Place::Snapshot { .. }]);
            if found >= place && !is_installed {
                self.early.get_or_insert((found, place));
            }
            places.push(event);
            true
        });
    }

    /// Takes a view.
    pub fn see_view(&mut self, number: u64, place: u64, members: Vec<Rank>) {
        let is_installed = matches!(self.places[..], [Place::Snapshot { .. }]);
        let copy = (!is_installed).then_some(self.copy);
        self.see(Place::View {
            number,
            place,
            members,
            copy,
        });
    }

    /// Takes a message, which changes the copy.
    pub fn see_message(&mut self, place: u64, id: (u32, u32, u32)) {
        for part in [id.0, id.1, id.2] {
            self.copy =
                (self.copy.rotate_left(5) ^ u64::from(part)).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
        self.see(Place::Message { place, id });
    }

    /// Installs another's copy.
    pub fn install(&mut self, place: u64, copy: u64) {
        self.copy = copy;
        self.places.push(Place::Snapshot { place });
        self.progress.reached(place);
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
                write!(f, "  sent {}", member.sent.len())?;
                let mut run = None;
                for place in &member.places {
                    match place {
                        Place::View {
                            number,
                            place,
                            members,
                            ..
                        } => {
                            let before = Span(run.take());
                            write!(f, "{before}, view {number} {members:?} at {place}")?;
                        }
                        Place::Snapshot { place } => write!(f, ", snapshot of {place}")?,
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
