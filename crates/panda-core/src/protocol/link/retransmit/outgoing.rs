//! The sending half of a link.

use std::collections::VecDeque;

use smallvec::SmallVec;

use super::header::Header;
use super::pace::{self, Pace};
use super::piece::Piece;
use super::{BYTES, FIRST, FIRST_BYTES};
use crate::message::Message;
use crate::protocol::Time;

/// Number of unanswered time-outs after which a peer no longer holds up others.
const SILENT: u32 = 2;
/// Number of losses in a row of shared pieces after which the peer counts as deaf.
const DEAF: u32 = 4;

#[derive(Debug)]
pub struct Outgoing {
    /// Pieces sent and not acknowledged, from number `first` on; holes are acknowledged ones.
    pub sent: VecDeque<Option<Sent>>,
    pub first: u64,
    /// Number of them that count as lost.
    lost: usize,
    /// Bytes of the unacknowledged ones.
    under_way: usize,
    waiting: VecDeque<Waiting>,
    /// Ascending numbers of the shared pieces in `waiting`.
    multicast: VecDeque<u64>,
    /// Time until which this link goes on alone, because it fell behind the others. It ends earlier
    /// if nothing waits.
    apart_until: Option<Time>,
    /// Number of losses of shared pieces since one of them arrived.
    missed: u32,
    /// Memory of waiting and sent pieces, in bytes.
    pub bytes: usize,
    pub pace: Pace,
    pub resend_at: Option<Time>,
}

/// Pieces to send, with their numbers: mostly one.
pub type Due = SmallVec<[(u64, Piece); 1]>;

/// A piece that was not sent yet.
#[derive(Debug)]
pub struct Waiting {
    pub piece: Piece,
    /// Its number among shared pieces, if it is one.
    pub multicast: Option<u64>,
}

/// Returns the memory of a piece until it is acknowledged, in bytes: a short one takes some, too.
fn room_of(piece: &Piece) -> usize {
    size_of::<Sent>() + piece.body.len()
}

#[derive(Debug)]
pub struct Sent {
    pub piece: Piece,
    pub at: Time,
    /// Whether it counts as lost and was not sent again yet.
    pub is_lost: bool,
    /// Whether it was sent again, or is to be.
    pub is_again: bool,
    /// Whether it first went as a shared piece.
    pub is_multicast: bool,
}

impl Outgoing {
    /// Makes the half of a link whose frames have at most `largest` bytes.
    pub fn new(largest: usize) -> Self {
        let first = (FIRST_BYTES / largest).clamp(pace::LEAST, FIRST);
        Self {
            sent: VecDeque::new(),
            first: 0,
            lost: 0,
            under_way: 0,
            waiting: VecDeque::new(),
            multicast: VecDeque::new(),
            apart_until: None,
            missed: 0,
            bytes: 0,
            pace: Pace::new(first),
            resend_at: None,
        }
    }

    pub fn add(&mut self, waiting: Waiting) {
        self.bytes += room_of(&waiting.piece);
        self.multicast.extend(waiting.multicast);
        self.waiting.push_back(waiting);
    }

    /// Puts a message into the last waiting piece, if that goes the same way and has room.
    pub fn join(&mut self, message: &Message, multicast: Option<u64>, room: usize) -> bool {
        let last = self.waiting.back_mut();
        let Some(last) = last.filter(|last| {
            let goes_so = last.multicast == multicast;
            goes_so && last.piece.fits(message, room)
        }) else {
            return false;
        };
        self.bytes -= room_of(&last.piece);
        last.piece.add(message.clone());
        self.bytes += room_of(&last.piece);
        true
    }

    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Returns whether anything is to be sent, if the window allows.
    pub fn has_due(&self) -> bool {
        self.lost > 0 || !self.waiting.is_empty()
    }

    /// Collects pieces to send with their numbers: lost ones and then new ones, as far as the
    /// window allows.
    pub fn due(&mut self, now: Time, out: &mut Due) {
        let window = self.pace.window();
        let first = self.first;
        for (number, sent) in (first..first + window as u64).zip(&mut self.sent) {
            if self.lost == 0 {
                break;
            }
            if let Some(sent) = sent.as_mut().filter(|sent| sent.is_lost) {
                (sent.is_lost, sent.at) = (false, now);
                self.lost -= 1;
                out.push((number, sent.piece.clone()));
            }
        }
        while self.has_room()
            && let Some(next) = self.next(false)
        {
            let piece = next.piece.clone();
            out.push((self.sends(now, next.piece, false), piece));
        }
        if self.under_way >= BYTES && self.is_waiting() {
            self.pace.bounded(self.sent.len());
        }
        self.await_answer(now);
    }

    /// Returns whether a piece that comes now need not wait.
    pub fn is_open(&self) -> bool {
        !self.has_due() && self.has_room()
    }

    /// Sends such a piece, and returns its number.
    pub fn send_at_once(&mut self, now: Time, piece: Piece) -> u64 {
        self.bytes += room_of(&piece);
        self.sends(now, piece, false)
    }

    /// Returns whether the window lets another piece go.
    fn has_room(&self) -> bool {
        self.sent.len() < self.pace.window() && self.under_way < BYTES
    }

    /// Sets the time-out while something is under way.
    pub fn await_answer(&mut self, now: Time) {
        if self.sent.is_empty() {
            self.resend_at = None;
        } else if self.resend_at.is_none() {
            self.resend_at = Some(now + self.pace.time_out());
        }
    }

    /// Returns whether the next waiting piece goes alone.
    pub fn has_more(&self) -> bool {
        let next = self.waiting.front();
        next.is_some_and(|next| next.multicast.is_none())
    }

    /// Takes the next waiting piece, if it is shared or not as asked.
    fn next(&mut self, is_multicast: bool) -> Option<Waiting> {
        let next = self.waiting.front()?;
        match next.multicast.is_some() == is_multicast {
            true => self.waiting.pop_front(),
            false => None,
        }
    }

    /// Notes that a piece goes and awaits an acknowledgement; returns its number.
    fn sends(&mut self, now: Time, piece: Piece, is_multicast: bool) -> u64 {
        let number = self.first + self.sent.len() as u64;
        self.under_way += piece.body.len();
        self.sent.push_back(Some(Sent {
            piece,
            at: now,
            is_lost: false,
            is_again: false,
            is_multicast,
        }));
        number
    }

    /// Returns whether the last waiting piece is that shared one.
    pub fn ends_with(&self, number: u64) -> bool {
        let last = self.waiting.back().and_then(|last| last.multicast);
        last == Some(number)
    }

    /// Returns whether that shared piece still waits.
    pub fn awaits(&self, number: u64) -> bool {
        self.multicast.binary_search(&number).is_ok()
    }

    /// Returns whether it is the first of the shared ones.
    pub fn awaits_first(&self, number: u64) -> bool {
        self.multicast.front() == Some(&number)
    }

    /// Returns whether that piece can go now: nothing stands before it, and the window has room.
    pub fn is_ready(&self, number: u64) -> bool {
        let next = self.waiting.front().and_then(|next| next.multicast);
        next == Some(number) && self.lost == 0 && self.has_room()
    }

    /// Takes the piece that is [ready](Self::is_ready), and returns its number in this link.
    pub fn take_multicast(&mut self, now: Time) -> Option<u64> {
        let next = self.next(true)?;
        self.multicast.pop_front();
        let number = self.sends(now, next.piece, true);
        self.resend_at
            .get_or_insert_with(|| now + self.pace.time_out());
        Some(number)
    }

    /// Makes shared pieces go alone, and those that come up to a time. It ends earlier if nothing
    /// waits.
    pub fn go_apart(&mut self, until: Time) {
        self.apart_until = Some(until);
        self.multicast.clear();
        for waiting in &mut self.waiting {
            waiting.multicast = None;
        }
    }

    /// Returns whether this link keeps up with others.
    pub fn keeps_up(&mut self, now: Time) -> bool {
        let is_waiting = self.is_waiting();
        self.apart_until
            .take_if(|until| *until <= now || !is_waiting);
        self.apart_until.is_none() && self.pace.doublings < SILENT
    }

    /// Returns whether shared pieces do not seem to arrive; the next answer counts afresh.
    pub fn is_deaf(&mut self) -> bool {
        let is_deaf = self.missed >= DEAF;
        if is_deaf {
            self.missed = 0;
        }
        is_deaf
    }

    /// Takes the last piece for arrived.
    pub fn trust_last(&mut self) {
        if let Some(sent) = self.sent.back_mut().and_then(Option::take) {
            self.under_way -= sent.piece.body.len();
            self.bytes -= room_of(&sent.piece);
        }
    }

    pub fn acknowledged(&mut self, now: Time, header: &Header) {
        if header.next < self.first || header.next > self.first + self.sent.len() as u64 {
            return;
        }
        let mut progress = 0;
        for _ in self.first..header.next {
            let sent = self.sent.pop_front().flatten();
            progress += u32::from(self.done(now, sent));
            self.first += 1;
        }
        let (mut highest, mut above) = (None, header.above);
        while above != 0 {
            let place = 1 + above.trailing_zeros() as usize;
            above &= above - 1;
            if let Some(slot) = self.sent.get_mut(place) {
                let sent = slot.take();
                progress += u32::from(self.done(now, sent));
                highest = Some(place);
            }
        }
        if let Some(highest) = highest {
            self.overtaken(highest);
        }
        if progress > 0 {
            self.pace.grow(progress);
            self.resend_at = (!self.sent.is_empty()).then(|| now + self.pace.time_out());
        }
    }

    /// Notes that a piece has arrived; returns whether that is new, which it is not for a hole.
    fn done(&mut self, now: Time, sent: Option<Sent>) -> bool {
        let Some(sent) = sent else { return false };
        self.bytes -= room_of(&sent.piece);
        self.under_way -= sent.piece.body.len();
        self.lost -= usize::from(sent.is_lost);
        if !sent.is_again {
            self.missed *= u32::from(!sent.is_multicast);
            self.pace.measured(now.saturating_sub(sent.at));
        }
        true
    }

    /// Marks pieces as lost that three later ones have overtaken, once each. After that only the
    /// time-out counts.
    fn overtaken(&mut self, highest: usize) {
        let (mut is_lost, mut is_missed) = (false, false);
        for sent in self
            .sent
            .iter_mut()
            .take(highest.saturating_sub(2))
            .flatten()
        {
            if !sent.is_again {
                (sent.is_again, sent.is_lost) = (true, true);
                self.lost += 1;
                is_lost = true;
                is_missed |= sent.is_multicast;
            }
        }
        self.missed += u32::from(is_missed);
        if is_lost {
            self.shrink(false);
        }
    }

    /// Shrinks the window after losses: all that is under way counts as lost if nothing is heard at
    /// all.
    fn shrink(&mut self, is_silent: bool) {
        let numbers = self.first..self.first + self.sent.len() as u64;
        self.pace.shrink(numbers, is_silent);
    }

    pub fn timed_out(&mut self, now: Time) {
        let mut is_missed = false;
        for sent in self.sent.iter_mut().flatten() {
            self.lost += usize::from(!sent.is_lost);
            is_missed |= sent.is_multicast && !sent.is_again;
            (sent.is_again, sent.is_lost) = (true, true);
        }
        self.missed += u32::from(is_missed);
        self.shrink(true);
        self.pace.doublings += 1;
        self.resend_at = Some(now + self.pace.time_out());
    }
}
