//! Flows over one narrow link, in virtual time: they share it, use it, and do not fill it with what
//! is sent in vain. Those of links alone ([`links`]), and those of two who send long messages to a
//! group, through all that lies between ([`groups`]).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use antiphon_panda_core::protocol::Time;

mod groups;
mod links;

/// Bytes of the longest frame.
const FRAME: usize = 1437;
/// Bytes of a message.
const MESSAGE: usize = 64 << 10;
/// Frames that the link takes while it is watched.
const SPAN: u64 = 20_000;

/// A link that takes a frame at a time and has others wait, as far as there is room.
#[derive(Debug, Clone, Copy)]
struct Narrow {
    frame_us: u64,
    delay_us: u64,
    room: u64,
}

const LOCAL: Narrow = Narrow {
    frame_us: 12,
    delay_us: 50,
    room: 128,
};

const SLOW: Narrow = Narrow {
    frame_us: 1200,
    delay_us: 5000,
    room: 30,
};

const LITTLE_ROOM: Narrow = Narrow {
    frame_us: 120,
    delay_us: 1000,
    room: 16,
};

impl Narrow {
    fn delay(self) -> Duration {
        Duration::from_micros(self.delay_us)
    }

    /// How long it is watched.
    fn span(self) -> Duration {
        Duration::from_micros(SPAN * self.frame_us)
    }
}

/// The link as it is used.
struct Line {
    narrow: Narrow,
    free_at: Time,
}

impl Line {
    fn new(narrow: Narrow) -> Self {
        let free_at = Time::ZERO;
        Self { narrow, free_at }
    }

    /// Takes a frame; when it has left, or nothing if there is no room.
    fn take(&mut self, now: Time) -> Option<Time> {
        let each = Duration::from_micros(self.narrow.frame_us);
        let start = self.free_at.max(now);
        if start - now > each * self.narrow.room as u32 {
            return None;
        }
        self.free_at = start + each;
        Some(self.free_at)
    }
}

/// The events to come, in order of time.
struct Agenda<W> {
    queue: BinaryHeap<Reverse<(Time, u64)>>,
    what: Vec<Option<W>>,
}

impl<W> Agenda<W> {
    fn new() -> Self {
        Self {
            queue: BinaryHeap::new(),
            what: Vec::new(),
        }
    }

    fn at(&mut self, at: Time, what: W) {
        self.queue.push(Reverse((at, self.what.len() as u64)));
        self.what.push(Some(what));
    }

    /// The next, if it comes before a time.
    fn next(&mut self, until: Time) -> Option<(Time, W)> {
        let Reverse((at, number)) = self.queue.pop()?;
        let what = self.what[number as usize].take();
        what.filter(|_| at <= until).map(|what| (at, what))
    }
}

/// What became of one flow.
#[derive(Debug, Default)]
struct Flow {
    sent: u64,
    dropped: u64,
    delivered: u64,
}

/// How a link was shared.
#[derive(Debug)]
struct Share {
    /// The part of the link that was used, for what was delivered.
    used: f64,
    /// The smallest flow's part of the greatest one's.
    even: f64,
    /// The part of the frames that were dropped.
    dropped: f64,
}

impl Share {
    fn of(flows: &[Flow], narrow: Narrow) -> Self {
        let delivered = || flows.iter().map(|flow| flow.delivered as f64);
        let total = |of: fn(&Flow) -> u64| flows.iter().map(of).sum::<u64>() as f64;
        let share = Self {
            used: delivered().sum::<f64>() / (SPAN * FRAME as u64) as f64,
            even: delivered().fold(f64::MAX, f64::min) / delivered().fold(0.0, f64::max),
            dropped: total(|flow| flow.dropped) / total(|flow| flow.sent),
        };
        println!("{narrow:?}: {share:?}");
        share
    }

    /// Two flows share as they should, and use at least so much of the link.
    fn is_good(&self, used: f64) {
        assert!(self.used > used, "{self:?}: too little of the link is used");
        assert!(
            self.even > 0.6,
            "{self:?}: one flow has too little of the other"
        );
        assert!(
            self.dropped < 0.1,
            "{self:?}: too many frames are sent in vain"
        );
    }
}
