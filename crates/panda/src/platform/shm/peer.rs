//! The way to one peer.

use std::time::Instant;

use parking_lot::Mutex;

use super::pace::{ONE_SIDED, Pace};
use super::ring::{Corrupt, LENT_MIN, LENT_WHOLE_MIN, LentFrames, Sender};
use crate::message::{Header, Message};
use crate::platform::Flow;

/// Bytes that may wait for a peer before it is called congested, and to which they must fall before it no longer is.
const HIGH: usize = 4 << 20;
const LOW: usize = HIGH / 2;
/// Looks for room without finding any before a sender gives up waiting for it: longer than a receiver takes to wake.
const LOOKS: u32 = 2000;
/// The same before it lends the rest of a frame: about what a receiver that looks takes for a step, so that who is busy with something else is not waited for.
const LOOKS_LENDING: u32 = 200;
/// Times that a sender finds room before it gives up all the same, so that no call lasts long.
const TURNS: u32 = 256;

/// What a peer is sent.
pub struct Outgoing {
    way: Mutex<Way>,
}

struct Way {
    /// `None` once the peer is gone.
    sender: Option<Sender>,
    /// What a peer that is gone was lent: it may not know that it is, and still read.
    lent: Option<LentFrames>,
    pace: Pace,
    has_backlog: bool,
    is_congested: bool,
}

/// How a call left a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    pub flow: Flow,
    /// It was congested and has room now.
    pub has_room: bool,
    /// 1 if something waits now and did not before, −1 the other way round.
    pub backlogs: isize,
}

impl Outgoing {
    pub fn new(sender: Sender) -> Self {
        Self {
            way: Mutex::new(Way {
                sender: Some(sender),
                lent: None,
                pace: Pace::default(),
                has_backlog: false,
                is_congested: false,
            }),
        }
    }

    /// Sends a frame. Waits for room shortly if `may_spin`; `ring` wakes the peer if it sleeps.
    pub fn send(
        &self,
        frame: Message,
        may_spin: impl Fn() -> bool,
        ring: impl Fn(),
    ) -> Result<Left, Corrupt> {
        let mut way = self.way.lock();
        let Way { sender, pace, .. } = &mut *way;
        let Some(sender) = sender else {
            return Ok(way.left());
        };
        let length = frame.len();
        // Asked once for a frame, since all peers are looked at for it, and of a short one only if it has to wait.
        let may_spin_for_long = (length >= LENT_MIN).then(&may_spin);
        let is_measured =
            may_spin_for_long.is_some_and(|has_two| sender.choose(pace, length, has_two));
        let began = is_measured.then(Instant::now);
        sender.send(frame)?;
        let waited = sender.has_queue();
        if waited && may_spin_for_long.unwrap_or_else(may_spin) {
            ring();
            sender.spin_through(&ring)?;
        }
        if let Some(began) = began {
            let waits = sender.has_queue();
            pace.saw(length, waited, waits, began.elapsed());
        }
        if waited {
            sender.settle(&ring)?;
        }
        // A peer that shares our processor is woken when all of it is there, or it would run out of it at once.
        ring();
        Ok(way.left())
    }

    /// Sends a frame of two parts, if it fits into a cell that is free, and nothing waits before it. `None` if not.
    pub fn send_parts(
        &self,
        header: &Header,
        rest: &Message,
        ring: impl Fn(),
    ) -> Result<Option<Flow>, Corrupt> {
        let mut way = self.way.lock();
        let Some(sender) = &mut way.sender else {
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

    /// Sends what waits, as far as there is room.
    pub fn go_on(&self, ring: impl Fn()) -> Result<Left, Corrupt> {
        let mut way = self.way.lock();
        if let Some(sender) = way.sender.as_mut().filter(|sender| !sender.is_idle()) {
            sender.settle(&ring)?;
        }
        Ok(way.left())
    }

    /// Bytes that the peer has been lent.
    pub fn lent_bytes(&self) -> usize {
        self.of_sender(Sender::lent_bytes)
    }

    /// Bytes that wait for the peer, and those that it has been lent.
    pub fn waiting_bytes(&self) -> usize {
        self.of_sender(Sender::waiting_bytes)
    }

    /// The memory that these take.
    pub fn untaken(&self) -> usize {
        self.of_sender(Sender::untaken)
    }

    /// Nothing of a peer that is gone.
    fn of_sender(&self, bytes: fn(&Sender) -> usize) -> usize {
        self.way.lock().sender.as_ref().map_or(0, bytes)
    }

    /// The peer is gone: what waits for it is let go of, and what was lent is when the session ends.
    pub fn close(&self) -> Left {
        let mut way = self.way.lock();
        way.lent = way.sender.take().map(Sender::into_lent);
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
    /// Chooses how a long frame goes, which two processors may work at or not; whether what that takes tells of the stream's pace.
    fn choose(&mut self, pace: &mut Pace, length: usize, has_two: bool) -> bool {
        let streams = has_two && pace.streams();
        self.lend_whole_from(match has_two {
            _ if streams => usize::MAX,
            true => LENT_MIN,
            // One copy, if there is no second processor to do two at the same time.
            false => LENT_WHOLE_MIN,
        });
        streams && length > ONE_SIDED && !self.has_queue()
    }

    /// Goes on while the receiver makes room: two copies at the same time, by two processors, are faster than the one of what is lent.
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

    /// Goes on until there is no room, lends the rest if it may, and asks for the bell if something is left then.
    fn settle(&mut self, ring: &impl Fn()) -> Result<(), Corrupt> {
        loop {
            while self.advance()? || self.lend_rest()? {
                ring();
            }
            // The receiver need not ring for a little that is lent: it is let go of at the next occasion.
            let is_little = !self.has_queue() && self.waiting_bytes() <= LOW;
            if is_little || !self.wait_for_room()? {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests;
