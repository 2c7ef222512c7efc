//! The sending side of the connection to one peer.

use std::io;
use std::time::Instant;

use parking_lot::Mutex;

use super::copy_mode::{CopyMode, ONE_SIDED};
use super::ring::{Corrupt, LENT_MIN, LENT_WHOLE_MIN, LentFrames, Sender};
use crate::message::{Header, Message};
use crate::platform::Flow;

/// Bytes queued for a peer above which it counts as congested, and those at which it no longer
/// does.
const HIGH: usize = 4 << 20;
const LOW: usize = HIGH / 2;
/// Looks without success after which a sender stops waiting for room. They take longer than a
/// receiver takes to wake.
const LOOKS: u32 = 2000;
/// The same, before the sender lends the rest of a frame. A polling receiver takes about this long
/// for a step, so a busy receiver is not waited for.
const LOOKS_LENDING: u32 = 200;
/// The number of times that a sender finds room before it stops waiting in any case. It bounds the
/// length of a call.
const TURNS: u32 = 256;

/// The frames for one peer.
#[derive(Default)]
pub struct Outgoing {
    way: Mutex<Way>,
}

#[derive(Default)]
struct Way {
    sender: Open,
    /// The memory lent to a peer that is gone. That peer may not know of its loss yet, and may
    /// still read it.
    lent: Option<LentFrames>,
    copy_mode: CopyMode,
    has_backlog: bool,
    is_congested: bool,
}

/// The ring to a peer.
#[derive(Default)]
enum Open {
    /// Nothing was ever sent.
    #[default]
    Not,
    Yes(Box<Sender>),
    /// The peer is gone.
    Gone,
}

impl Open {
    fn as_ref(&self) -> Option<&Sender> {
        match self {
            Self::Yes(sender) => Some(sender),
            Self::Not | Self::Gone => None,
        }
    }

    fn as_mut(&mut self) -> Option<&mut Sender> {
        match self {
            Self::Yes(sender) => Some(sender),
            Self::Not | Self::Gone => None,
        }
    }

    /// Opens the ring when the first frame is sent.
    #[inline]
    fn for_sending(
        &mut self,
        open: impl FnOnce() -> io::Result<Sender>,
    ) -> Result<Option<&mut Sender>, Corrupt> {
        if let Self::Not = self {
            let failed = |error| Corrupt(format!("no memory can be shared with it: {error}"));
            *self = Self::Yes(Box::new(open().map_err(failed)?));
        }
        Ok(self.as_mut())
    }
}

/// The state of a connection after a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    pub flow: Flow,
    /// It was congested and has room now.
    pub has_room: bool,
    /// 1 if the peer's queue became non-empty during the call, −1 if it became empty, else 0.
    pub backlogs: isize,
}

impl Outgoing {
    /// Sends a frame, and `open`s the ring if it is the first one. Spins shortly for room if
    /// `may_spin` allows it. `ring` wakes the peer if it sleeps.
    pub fn send(
        &self,
        frame: Message,
        open: impl FnOnce() -> io::Result<Sender>,
        may_spin: impl Fn() -> bool,
        ring: impl Fn(),
    ) -> Result<Left, Corrupt> {
        let mut way = self.way.lock();
        let Way {
            sender, copy_mode, ..
        } = &mut *way;
        let Some(sender) = sender.for_sending(open)? else {
            return Ok(way.left());
        };
        let length = frame.len();
        // The answer is asked for once a frame, because it takes a look at all peers. For a short
        // frame it is asked for only if the frame has to wait.
        let may_spin_for_long = (length >= LENT_MIN).then(&may_spin);
        let is_measured =
            may_spin_for_long.is_some_and(|has_two| sender.choose(copy_mode, length, has_two));
        let began = is_measured.then(Instant::now);
        // The sender does not spin again for a peer that took nothing while the last frame was
        // sent. Otherwise it would spin in vain for each of many short frames.
        let is_behind = length < LENT_MIN && sender.has_queue();
        sender.send(frame)?;
        let waited = sender.has_queue();
        if waited && !is_behind && may_spin_for_long.unwrap_or_else(may_spin) {
            ring();
            sender.spin_through(&ring)?;
        }
        if let Some(began) = began {
            let waits = sender.has_queue();
            copy_mode.saw(length, waited, waits, began.elapsed());
        }
        if waited {
            sender.settle(&ring)?;
        }
        // A peer that shares our processor is woken once the whole frame is there. Otherwise it
        // would soon find no more bytes.
        ring();
        Ok(way.left())
    }

    /// Sends a frame of two parts, if a cell is free for it and nothing is queued before it.
    /// Returns `None` otherwise.
    pub fn send_parts(
        &self,
        header: &Header,
        rest: &Message,
        open: impl FnOnce() -> io::Result<Sender>,
        ring: impl Fn(),
    ) -> Result<Option<Flow>, Corrupt> {
        let mut way = self.way.lock();
        let Some(sender) = way.sender.for_sending(open)? else {
            return Ok(None);
        };
        if !sender.send_parts(header, rest)? {
            return Ok(None);
        }
        let flow = way.flow();
        drop(way);
        ring();
        Ok(Some(flow))
    }

    /// Sends queued frames, as far as there is room.
    pub fn go_on(&self, ring: impl Fn()) -> Result<Left, Corrupt> {
        let mut way = self.way.lock();
        if let Some(sender) = way.sender.as_mut().filter(|sender| !sender.is_idle()) {
            sender.settle(&ring)?;
        }
        Ok(way.left())
    }

    /// Returns the number of bytes lent to the peer.
    pub fn lent_bytes(&self) -> usize {
        self.of_sender(Sender::lent_bytes)
    }

    /// Returns the bytes that are queued for the peer or lent to it.
    pub fn waiting_bytes(&self) -> usize {
        self.of_sender(Sender::waiting_bytes)
    }

    /// Returns the memory that queued and lent frames take.
    pub fn untaken(&self) -> usize {
        self.of_sender(Sender::untaken)
    }

    /// Returns 0 for a peer that is gone.
    fn of_sender(&self, bytes: fn(&Sender) -> usize) -> usize {
        self.way.lock().sender.as_ref().map_or(0, bytes)
    }

    /// Closes the ring, because the peer is gone. Queued frames are freed now, lent ones when the
    /// session ends.
    pub fn close(&self) -> Left {
        let mut way = self.way.lock();
        if let Open::Yes(sender) = std::mem::replace(&mut way.sender, Open::Gone) {
            way.lent = Some(sender.into_lent());
        }
        way.left()
    }
}

impl Way {
    fn flow(&self) -> Flow {
        match self.is_congested {
            true => Flow::Congested,
            false => Flow::Free,
        }
    }

    fn left(&mut self) -> Left {
        let waiting = self.sender.as_ref().map_or(0, Sender::waiting_bytes);
        let has_backlog = self.sender.as_ref().is_some_and(|s| !s.is_idle());
        let backlogs = isize::from(has_backlog) - isize::from(self.has_backlog);
        self.has_backlog = has_backlog;
        let was_congested = self.is_congested;
        self.is_congested = waiting > if was_congested { LOW } else { HIGH };
        Left {
            flow: self.flow(),
            has_room: was_congested && !self.is_congested,
            backlogs,
        }
    }
}

impl Sender {
    /// Chooses how a long frame is copied; `has_two` says whether two processors may work at it.
    /// Returns whether the time that this takes tells the stream's speed.
    fn choose(&mut self, copy_mode: &mut CopyMode, length: usize, has_two: bool) -> bool {
        let streams = has_two && copy_mode.streams();
        self.lend_whole_from(match has_two {
            _ if streams => usize::MAX,
            true => LENT_MIN,
            // Without a second processor that copies at the same time, a single copy is faster.
            false => LENT_WHOLE_MIN,
        });
        streams && length > ONE_SIDED && !self.has_queue()
    }

    /// Continues while the receiver makes room. Two copies by two processors at the same time are
    /// faster than the single copy of lent memory.
    fn spin_through(&mut self, ring: &impl Fn()) -> Result<(), Corrupt> {
        let (mut looks, mut turns) = (0, 0);
        let enough = |way: &Self| match way.may_lend_rest() {
            true => LOOKS_LENDING,
            false => LOOKS,
        };
        while self.has_queue() && looks < enough(self) && turns < TURNS {
            if self.advance()? {
                ring();
                looks = 0;
                turns += 1;
            } else {
                looks += 1;
                std::hint::spin_loop();
            }
        }
        Ok(())
    }

    /// Sends until there is no room, then lends the rest if it may. If frames still remain, asks
    /// the peer to ring when there is room.
    fn settle(&mut self, ring: &impl Fn()) -> Result<(), Corrupt> {
        loop {
            while self.advance()? || self.lend_rest()? {
                ring();
            }
            // For a little lent memory the receiver need not ring: it is freed at the next
            // occasion.
            let is_little = !self.has_queue() && self.waiting_bytes() <= LOW;
            if is_little || !self.wait_for_room()? {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests;
