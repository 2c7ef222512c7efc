//! Reliability over a platform that loses, doubles and reorders frames.
//!
//! A message is cut into pieces that fit a frame; pieces are numbered from 0 in a *stream*, acknowledged (all below a number, and a map of 64 above it), and sent
//! again after a time-out that doubles or as soon as three later ones are known to have arrived. The window grows and shrinks as in TCP (RFC 5681), the time-out
//! follows the round trip (RFC 6298).
//!
//! Each end numbers its streams upwards. A frame names its sender's stream and its receiver's; who does not know the other's greets first, with none. Who takes the other for lost begins a new stream;
//! frames of or for earlier ones are dropped, so nothing of before is delivered after, and the other learns that the link began anew.
//!
//! ```text
//!   kind 1 | stream 8 | receiver's stream 8 | number 8 | next expected 8 | arrived above it 8 | piece
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::{Arrival, Links};
use crate::message::{DecodeError, Message};
use crate::protocol::Time;

/// Bytes that this protocol adds to a frame.
pub const HEADER: usize = 41;

/// Pieces that may be under way, and pieces that a receiver keeps out of order.
const WINDOW: u64 = 256;
const ROUND_TRIP_MIN: Duration = Duration::from_millis(4);
const ROUND_TRIP_FIRST: Duration = Duration::from_millis(40);
const ROUND_TRIP_MAX: Duration = Duration::from_millis(500);
const ACK_DELAY: Duration = Duration::from_millis(1);
/// Pieces that arrive before an acknowledgement is sent without delay.
const ACK_EVERY: u32 = 8;

const ACK: u8 = 0;
const LAST: u8 = 1;
const MORE: u8 = 2;
/// A stream of the receiver's, the number says which, is taken no more: this end has begun anew.
const OVER: u8 = 3;

/// Numbers, acknowledges and sends again.
#[derive(Debug)]
pub struct Retransmit {
    largest: usize,
    mine: u64,
    /// The peer's stream; 0 until it is known.
    theirs: u64,
    /// Streams of the peer below this one are over.
    theirs_min: u64,
    /// Whether the peer has answered to `mine`.
    has_met: bool,
    outgoing: Outgoing,
    incoming: Incoming,
}

#[derive(Debug, Default)]
struct Outgoing {
    /// Sent and not acknowledged, from number `first` on; holes are acknowledged ones.
    sent: VecDeque<Option<Sent>>,
    first: u64,
    waiting: VecDeque<(u8, Message)>,
    bytes: usize,
    pace: Pace,
    resend_at: Option<Time>,
}

#[derive(Debug)]
struct Sent {
    kind: u8,
    piece: Message,
    at: Time,
    is_again: bool,
}

/// How fast the network seems to be.
#[derive(Debug)]
struct Pace {
    window: f64,
    /// Above this the window grows slowly.
    threshold: f64,
    /// Smoothed round trip and its variation, in seconds.
    round_trip: Option<(f64, f64)>,
    doublings: u32,
    /// No second shrinking for losses below this number.
    shrunk_at: u64,
}

#[derive(Debug, Default)]
struct Incoming {
    next: u64,
    early: BTreeMap<u64, (u8, Message)>,
    joined: Message,
    unacknowledged: u32,
    ack_at: Option<Time>,
}

struct Header {
    kind: u8,
    stream: u64,
    receivers: u64,
    number: u64,
    next: u64,
    above: u64,
}

impl Header {
    fn pop(frame: &mut Message) -> Result<Self, DecodeError> {
        let bytes: [u8; HEADER] = frame.pop()?;
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        Ok(Self {
            kind: bytes[0],
            stream: word(1),
            receivers: word(9),
            number: word(17),
            next: word(25),
            above: word(33),
        })
    }

    fn push(&self, frame: &mut Message) {
        let mut bytes = [self.kind; HEADER];
        for (i, word) in [
            self.stream,
            self.receivers,
            self.number,
            self.next,
            self.above,
        ]
        .into_iter()
        .enumerate()
        {
            bytes[1 + 8 * i..9 + 8 * i].copy_from_slice(&word.to_le_bytes());
        }
        frame.push(&bytes);
    }
}

impl Links for Retransmit {
    const RETRANSMITS: bool = true;
    const FRAGMENTS: bool = true;

    fn new(largest: usize, birth: u64) -> Self {
        assert!(
            largest > HEADER,
            "a frame holds at least a header and a byte"
        );
        // Room for resets between two births, so that a restarted process begins above all of its predecessor's streams.
        let mine = (birth << 20) + 1;
        Self {
            largest,
            mine,
            theirs: 0,
            theirs_min: 1,
            has_met: false,
            outgoing: Outgoing::default(),
            incoming: Incoming::default(),
        }
    }

    fn send(&mut self, now: Time, mut message: Message, frames: &mut Vec<Message>) {
        self.outgoing.bytes += message.len();
        let room = self.largest - HEADER;
        while message.len() > room {
            let piece = message.split_to(room).expect("it is longer than this");
            self.outgoing.waiting.push_back((MORE, piece));
        }
        self.outgoing.waiting.push_back((LAST, message));
        self.fill(now, frames);
    }

    fn receive(
        &mut self,
        now: Time,
        mut frame: Message,
        frames: &mut Vec<Message>,
        messages: &mut Vec<Message>,
    ) -> Result<Arrival, DecodeError> {
        let header = Header::pop(&mut frame)?;
        if !matches!(header.kind, ACK | LAST | MORE | OVER) {
            return Err(DecodeError::Value {
                wanted: "link frame",
                reason: format!("its kind is {}", header.kind),
            });
        }
        if header.stream < self.theirs_min.max(self.theirs) {
            // The peer may not know that its stream is over.
            let mut over = Message::new();
            self.header(OVER, header.stream).push(&mut over);
            frames.push(over);
            return Ok(Arrival::Usual);
        }
        let mut arrival = self.hear_of_stream(&header);
        if header.kind == OVER && header.number == self.mine {
            self.begin_anew();
            arrival = Arrival::Anew;
        }
        if header.receivers != 0 && header.receivers != self.mine {
            // For a stream of ours that is over: tell the peer so.
            self.acknowledge(frames);
            return Ok(arrival);
        }
        self.has_met |= header.receivers == self.mine;
        if header.receivers == self.mine {
            self.outgoing.acknowledged(now, &header);
        }
        if header.receivers == 0 {
            // A greeting.
            self.acknowledge(frames);
        } else if matches!(header.kind, LAST | MORE) {
            self.incoming.take(now, &header, frame, messages);
        }
        self.fill(now, frames);
        if self.incoming.unacknowledged >= ACK_EVERY {
            self.acknowledge(frames);
        }
        Ok(arrival)
    }

    fn deadline(&self) -> Option<Time> {
        [self.outgoing.resend_at, self.incoming.ack_at]
            .into_iter()
            .flatten()
            .min()
    }

    fn tick(&mut self, now: Time, frames: &mut Vec<Message>) {
        if self.incoming.ack_at.is_some_and(|at| at <= now) {
            self.acknowledge(frames);
        }
        if self.theirs != 0 && self.outgoing.resend_at.is_some_and(|at| at <= now) {
            self.outgoing.timed_out(now);
        }
        self.fill(now, frames);
    }

    fn reset(&mut self) {
        self.begin_anew();
        self.theirs_min = self.theirs_min.max(self.theirs.saturating_add(1));
        self.theirs = 0;
    }

    fn backlog(&self) -> usize {
        self.outgoing.bytes
    }
}

impl Retransmit {
    /// A greater stream is a new beginning of the peer's. It is one of the link, too, unless this end has begun anew itself and the peer has only followed.
    fn hear_of_stream(&mut self, header: &Header) -> Arrival {
        let mut arrival = Arrival::Usual;
        if header.stream > self.theirs && self.theirs != 0 {
            if header.receivers == self.mine && !self.has_met {
                self.incoming = Incoming::default();
                if !self.outgoing.sent.is_empty() {
                    // It may have reached an earlier life of the peer.
                    self.outgoing = Outgoing::default();
                    arrival = Arrival::Anew;
                }
            } else {
                self.begin_anew();
                arrival = Arrival::Anew;
            }
        }
        self.theirs = header.stream;
        self.theirs_min = header.stream;
        arrival
    }

    fn begin_anew(&mut self) {
        self.mine += 1;
        self.has_met = false;
        self.outgoing = Outgoing::default();
        self.incoming = Incoming::default();
    }

    /// Greets a peer whose stream is not known yet: what is sent must be for one life of the peer, or two of them might take it.
    fn greet(&mut self, now: Time, frames: &mut Vec<Message>) {
        if self.outgoing.waiting.is_empty() || self.outgoing.resend_at.is_some_and(|at| at > now) {
            return;
        }
        self.acknowledge(frames);
        self.outgoing.resend_at = Some(now + self.outgoing.pace.time_out());
    }

    /// Sends again what is due and then what is new, as far as the window allows.
    fn fill(&mut self, now: Time, frames: &mut Vec<Message>) {
        if self.theirs == 0 {
            self.greet(now, frames);
            return;
        }
        let window = (self.outgoing.pace.window as u64).clamp(1, WINDOW);
        let mut out: Vec<(u64, u8, Message)> = Vec::new();
        for (i, sent) in self.outgoing.sent.iter_mut().enumerate() {
            if let Some(sent) = sent
                .as_mut()
                .filter(|sent| sent.is_again && sent.at == Time::MAX)
            {
                if i as u64 >= window {
                    break;
                }
                sent.at = now;
                out.push((
                    self.outgoing.first + i as u64,
                    sent.kind,
                    sent.piece.clone(),
                ));
            }
        }
        while (self.outgoing.sent.len() as u64) < window {
            let Some((kind, piece)) = self.outgoing.waiting.pop_front() else {
                break;
            };
            out.push((
                self.outgoing.first + self.outgoing.sent.len() as u64,
                kind,
                piece.clone(),
            ));
            self.outgoing.sent.push_back(Some(Sent {
                kind,
                piece,
                at: now,
                is_again: false,
            }));
        }
        for (number, kind, mut piece) in out {
            self.header(kind, number).push(&mut piece);
            frames.push(piece);
        }
        if self.outgoing.sent.is_empty() {
            self.outgoing.resend_at = None;
        } else if self.outgoing.resend_at.is_none() {
            self.outgoing.resend_at = Some(now + self.outgoing.pace.time_out());
        }
    }

    fn acknowledge(&mut self, frames: &mut Vec<Message>) {
        let mut frame = Message::new();
        self.header(ACK, 0).push(&mut frame);
        frames.push(frame);
    }

    /// Every header acknowledges.
    fn header(&mut self, kind: u8, number: u64) -> Header {
        self.incoming.unacknowledged = 0;
        self.incoming.ack_at = None;
        let next = self.incoming.next;
        let above = self
            .incoming
            .early
            .keys()
            .filter_map(|early| early.checked_sub(next + 1))
            .filter(|bit| *bit < 64)
            .fold(0, |map, bit| map | 1 << bit);
        Header {
            kind,
            stream: self.mine,
            receivers: self.theirs,
            number,
            next,
            above,
        }
    }
}

impl Outgoing {
    fn acknowledged(&mut self, now: Time, header: &Header) {
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
            self.overtaken(highest, now);
        }
        if progress > 0 {
            self.pace.grow(progress);
            self.resend_at = (!self.sent.is_empty()).then(|| now + self.pace.time_out());
        }
    }

    fn done(&mut self, now: Time, sent: Option<Sent>) -> bool {
        let Some(sent) = sent else { return false };
        self.bytes -= sent.piece.len();
        if !sent.is_again {
            self.pace.measured(now.saturating_sub(sent.at));
        }
        true
    }

    /// Pieces that three later ones have overtaken are taken for lost, once; after that only the time-out speaks.
    fn overtaken(&mut self, highest: usize, _now: Time) {
        let mut is_lost = false;
        for sent in self
            .sent
            .iter_mut()
            .take(highest.saturating_sub(2))
            .flatten()
        {
            if !sent.is_again {
                (sent.is_again, sent.at) = (true, Time::MAX);
                is_lost = true;
            }
        }
        if is_lost {
            self.pace
                .shrink(self.first, self.first + self.sent.len() as u64, false);
        }
    }

    fn timed_out(&mut self, now: Time) {
        for sent in self.sent.iter_mut().flatten() {
            (sent.is_again, sent.at) = (true, Time::MAX);
        }
        self.pace
            .shrink(self.first, self.first + self.sent.len() as u64, true);
        self.pace.doublings += 1;
        self.resend_at = Some(now + self.pace.time_out());
    }
}

impl Incoming {
    fn take(&mut self, now: Time, header: &Header, piece: Message, messages: &mut Vec<Message>) {
        self.unacknowledged += 1;
        self.ack_at = self.ack_at.or(Some(now + ACK_DELAY));
        if header.number < self.next || header.number >= self.next + WINDOW {
            return;
        }
        if header.number > self.next {
            // The sender should hear of a gap soon.
            self.unacknowledged += ACK_EVERY;
        }
        self.early
            .entry(header.number)
            .or_insert((header.kind, piece));
        while let Some((kind, piece)) = self.early.remove(&self.next) {
            self.next += 1;
            self.joined.append(piece);
            if kind == LAST {
                messages.push(std::mem::take(&mut self.joined));
            }
        }
    }
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            window: 16.0,
            threshold: WINDOW as f64,
            round_trip: None,
            doublings: 0,
            shrunk_at: 0,
        }
    }
}

impl Pace {
    fn time_out(&self) -> Duration {
        let base = match self.round_trip {
            None => ROUND_TRIP_FIRST,
            Some((mean, variation)) => Duration::from_secs_f64(mean + 4.0 * variation) + ACK_DELAY,
        };
        (base.max(ROUND_TRIP_MIN) * (1 << self.doublings.min(8))).min(ROUND_TRIP_MAX)
    }

    /// RFC 6298, section 2.
    fn measured(&mut self, round_trip: Duration) {
        let sample = round_trip.as_secs_f64();
        self.doublings = 0;
        self.round_trip = Some(match self.round_trip {
            None => (sample, sample / 2.0),
            Some((mean, variation)) => (
                mean + (sample - mean) / 8.0,
                variation + ((sample - mean).abs() - variation) / 4.0,
            ),
        });
    }

    fn grow(&mut self, pieces: u32) {
        for _ in 0..pieces {
            self.window += if self.window < self.threshold {
                1.0
            } else {
                1.0 / self.window
            };
        }
        self.window = self.window.min(WINDOW as f64);
    }

    /// Once for all losses of one window.
    fn shrink(&mut self, first: u64, end: u64, is_silent: bool) {
        if first < self.shrunk_at && !is_silent {
            return;
        }
        self.threshold = (self.window / 2.0).max(2.0);
        self.window = if is_silent { 1.0 } else { self.threshold };
        self.shrunk_at = end;
    }
}
