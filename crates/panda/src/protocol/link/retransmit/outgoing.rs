//! The sending half of a link.

use std::collections::VecDeque;

use super::header::Header;
use super::pace::Pace;
use crate::message::Message;
use crate::protocol::Time;

#[derive(Debug, Default)]
pub struct Outgoing {
    /// Sent and not acknowledged, from number `first` on; holes are acknowledged ones.
    pub sent: VecDeque<Option<Sent>>,
    pub first: u64,
    /// How many of them are taken for lost.
    lost: usize,
    pub waiting: VecDeque<(u8, Message)>,
    pub bytes: usize,
    pub pace: Pace,
    pub resend_at: Option<Time>,
}

#[derive(Debug)]
pub struct Sent {
    pub kind: u8,
    pub piece: Message,
    pub at: Time,
    /// Taken for lost and not sent again yet.
    pub is_lost: bool,
    /// Sent again, or to be.
    pub is_again: bool,
}

impl Outgoing {
    /// Pieces to send with their numbers and kinds: those that are lost and then those that are new, as far as the window allows.
    pub fn due(&mut self, now: Time, out: &mut Vec<(u64, u8, Message)>) {
        let window = self.pace.window();
        let first = self.first;
        for (number, sent) in (first..first + window as u64).zip(&mut self.sent) {
            if self.lost == 0 {
                break;
            }
            if let Some(sent) = sent.as_mut().filter(|sent| sent.is_lost) {
                (sent.is_lost, sent.at) = (false, now);
                self.lost -= 1;
                out.push((number, sent.kind, sent.piece.clone()));
            }
        }
        while self.sent.len() < window
            && let Some((kind, piece)) = self.waiting.pop_front()
        {
            out.push((first + self.sent.len() as u64, kind, piece.clone()));
            self.sent.push_back(Some(Sent {
                kind,
                piece,
                at: now,
                is_lost: false,
                is_again: false,
            }));
        }
        if self.sent.is_empty() {
            self.resend_at = None;
        } else if self.resend_at.is_none() {
            self.resend_at = Some(now + self.pace.time_out());
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
        let mut highest = None;
        for bit in (0..64).filter(|bit| header.above >> bit & 1 == 1) {
            let place = 1 + bit as usize;
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

    fn done(&mut self, now: Time, sent: Option<Sent>) -> bool {
        let Some(sent) = sent else { return false };
        self.bytes -= sent.piece.len();
        self.lost -= usize::from(sent.is_lost);
        if !sent.is_again {
            self.pace.measured(now.saturating_sub(sent.at));
        }
        true
    }

    /// Pieces that three later ones have overtaken are taken for lost, once; after that only the time-out speaks.
    fn overtaken(&mut self, highest: usize) {
        let mut is_lost = false;
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
            }
        }
        if is_lost {
            self.pace
                .shrink(self.first, self.first + self.sent.len() as u64, false);
        }
    }

    pub fn timed_out(&mut self, now: Time) {
        for sent in self.sent.iter_mut().flatten() {
            self.lost += usize::from(!sent.is_lost);
            (sent.is_again, sent.is_lost) = (true, true);
        }
        self.pace
            .shrink(self.first, self.first + self.sent.len() as u64, true);
        self.pace.doublings += 1;
        self.resend_at = Some(now + self.pace.time_out());
    }
}
