//! A program's counts of its work: activities, and messages to and from each peer.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::Rank;
use crate::message::Message;

/// One activation, in the upper half of the activity word. The lower half counts running
/// activities.
const ACTIVATION: u64 = 1 << 32;
/// Number of edges of the first segment; each further segment has twice as many.
const FIRST: u64 = 32;
/// Number of segments, which hold an edge for each rank.
const SEGMENTS: usize = 28;

/// The counters of one process.
///
/// The program writes them from any thread, without a lock. The detection reads them where the
/// process is passive:
///
/// ```text
///  program    active() ─── sent(), received() ─── passive()            activity word
///                                                                      63     32 31      0
///  detection             activity │ edges │ activity again             activations│ going on
/// ```
///
/// A reader that finds the same word without activities before and after the edges has read edges
/// that no activity changed meanwhile (a sequence lock whose writers do not exclude each other).
#[derive(Debug)]
pub struct Counters {
    activity: AtomicU64,
    /// Whether the detection wants to hear when the process becomes passive.
    ///
    /// [`want`](Self::want) sets it and then reads the activity word; [`passive`](Self::passive)
    /// changes the word and then reads this. Both are sequentially consistent, so at least one of
    /// the two sees the other.
    is_wanted: AtomicBool,
    edges: [OnceLock<Box<[Edge]>>; SEGMENTS],
    report: Mutex<Message>,
}

/// Messages to and from one peer.
#[derive(Debug, Default)]
struct Edge {
    sent: AtomicU64,
    received: AtomicU64,
}

/// A passive process's counts.
#[derive(Debug, Clone, Default)]
pub struct Sample {
    /// Number of times that the process had become active.
    pub activations: u32,
    /// Messages that it has sent.
    pub sent: u64,
    /// Messages that it has received.
    pub received: u64,
    /// Its report.
    pub report: Message,
}

/// A peer that takes part no more, and the count of its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Excluded {
    /// The peer.
    pub rank: Rank,
    /// Number of messages that it said it had sent here when it left; `None` if they are written
    /// off.
    pub reported: Option<u64>,
}

impl Default for Counters {
    fn default() -> Self {
        Self::new()
    }
}

impl Counters {
    /// Makes the counters of a process with one activity, the caller's.
    #[must_use]
    pub fn new() -> Self {
        Self {
            activity: AtomicU64::new(ACTIVATION + 1),
            is_wanted: AtomicBool::new(false),
            edges: [const { OnceLock::new() }; SEGMENTS],
            report: Mutex::default(),
        }
    }

    /// Counts a message to a peer.
    #[inline]
    pub fn sent(&self, to: Rank) {
        // Release: a reader that sees the count also sees its activity.
        self.edge(to).sent.fetch_add(1, Ordering::Release);
    }

    /// Counts a message from a peer.
    #[inline]
    pub fn received(&self, from: Rank) {
        self.edge(from).received.fetch_add(1, Ordering::Release);
    }

    /// Begins an activity.
    #[inline]
    pub fn active(&self) {
        self.activity.fetch_add(ACTIVATION + 1, Ordering::SeqCst);
    }

    /// Ends an activity. Returns whether the detection wants to hear of it; `None` if no activity
    /// runs.
    #[inline]
    pub fn passive(&self) -> Option<bool> {
        let before = self.activity.fetch_sub(1, Ordering::SeqCst);
        match going_on(before) {
            0 => {
                self.activity.fetch_add(1, Ordering::SeqCst);
                None
            }
            1 => Some(self.is_wanted.load(Ordering::SeqCst) && self.take_want()),
            _ => Some(false),
        }
    }

    #[cold]
    fn take_want(&self) -> bool {
        self.is_wanted.swap(false, Ordering::SeqCst)
    }

    /// Sets the process's report.
    pub fn set_report(&self, report: Message) {
        let before = std::mem::replace(&mut *self.report(), report);
        drop(before);
    }

    fn report(&self) -> std::sync::MutexGuard<'_, Message> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how many messages were sent to a peer.
    #[must_use]
    pub fn sent_to(&self, to: Rank) -> u64 {
        self.known_edge(to)
            .map_or(0, |edge| edge.sent.load(Ordering::Acquire))
    }

    /// Returns the counts if the process is passive, without the edges of excluded peers.
    #[must_use]
    pub fn sample(&self, excluded: &[Excluded]) -> Option<Sample> {
        loop {
            let before = self.activity.load(Ordering::Acquire);
            if going_on(before) != 0 {
                return None;
            }
            let sample = self.read(activations(before), excluded);
            fence(Ordering::Acquire);
            if self.activity.load(Ordering::Relaxed) == before {
                return Some(sample);
            }
        }
    }

    /// Does the same as [`sample`](Self::sample); if the process is active, makes
    /// [`passive`](Self::passive) report its end.
    #[must_use]
    pub fn sample_or_want(&self, excluded: &[Excluded]) -> Option<Sample> {
        loop {
            if let Some(sample) = self.sample(excluded) {
                return Some(sample);
            }
            self.is_wanted.store(true, Ordering::SeqCst);
            if going_on(self.activity.load(Ordering::SeqCst)) != 0 {
                return None;
            }
        }
    }

    /// Returns whether the process is passive and was active since a sample. Otherwise makes
    /// [`passive`](Self::passive) report when that holds.
    #[must_use]
    pub fn has_changed_or_want(&self, since: u32) -> bool {
        self.is_wanted.store(true, Ordering::SeqCst);
        let activity = self.activity.load(Ordering::SeqCst);
        going_on(activity) == 0 && activations(activity) != since
    }

    /// Returns whether the process has not become active since a sample.
    #[must_use]
    pub fn is_as_in(&self, since: u32) -> bool {
        activations(self.activity.load(Ordering::SeqCst)) == since
    }

    /// Reads the counters of even an active process, for an injected fault.
    #[cfg(feature = "mutants")]
    pub(super) fn read_anyhow(&self, excluded: &[Excluded]) -> Sample {
        self.read(activations(self.activity.load(Ordering::Acquire)), excluded)
    }

    fn read(&self, activations: u32, excluded: &[Excluded]) -> Sample {
        let mut sample = Sample {
            activations,
            report: self.report().clone(),
            ..Sample::default()
        };
        let segments = self.edges.iter().filter_map(OnceLock::get);
        for edge in segments.flat_map(|segment| segment.iter()) {
            sample.sent = (sample.sent).wrapping_add(edge.sent.load(Ordering::Relaxed));
            sample.received = (sample.received).wrapping_add(edge.received.load(Ordering::Relaxed));
        }
        for of in excluded {
            let edge = self.known_edge(of.rank);
            let (sent, received) = edge.map_or((0, 0), |edge| {
                let (sent, received) = (&edge.sent, &edge.received);
                (
                    sent.load(Ordering::Relaxed),
                    received.load(Ordering::Relaxed),
                )
            });
            sample.sent = sample.sent.wrapping_sub(sent);
            match of.reported {
                Some(reported) => sample.sent = sample.sent.wrapping_add(reported),
                None => sample.received = sample.received.wrapping_sub(received),
            }
        }
        sample
    }

    #[inline]
    fn edge(&self, rank: Rank) -> &Edge {
        let (segment, at) = place(rank);
        let edges = self.edges[segment].get_or_init(|| {
            let count = FIRST << segment;
            (0..count).map(|_| Edge::default()).collect()
        });
        &edges[at]
    }

    fn known_edge(&self, rank: Rank) -> Option<&Edge> {
        let (segment, at) = place(rank);
        self.edges[segment].get().map(|edges| &edges[at])
    }
}

fn going_on(activity: u64) -> u32 {
    activity as u32
}

fn activations(activity: u64) -> u32 {
    (activity >> 32) as u32
}

/// Returns the segment of a rank's edge, and its place there.
#[inline]
fn place(rank: Rank) -> (usize, usize) {
    let shifted = u64::from(rank) + FIRST;
    let segment = shifted.ilog2() - FIRST.ilog2();
    (segment as usize, (shifted - (FIRST << segment)) as usize)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use super::*;

    #[test]
    fn each_rank_has_an_edge_of_its_own() {
        for (rank, place_of) in [(0, (0, 0)), (31, (0, 31)), (32, (1, 0)), (95, (1, 63))] {
            assert_eq!(place(rank), place_of);
        }
        let (segment, at) = place(Rank::MAX);
        assert!(segment < SEGMENTS && (at as u64) < FIRST << segment);
        let counters = Counters::new();
        for rank in [0, 31, 32, 5000] {
            counters.sent(rank);
            assert_eq!(counters.sent_to(rank), 1);
        }
        counters.received(7);
        assert_eq!(counters.passive(), Some(false));
        let sample = counters.sample(&[]).expect("it is passive");
        assert_eq!((sample.sent, sample.received), (4, 1));
    }

    #[test]
    fn a_peer_that_left_counts_by_what_it_told_and_one_that_was_lost_does_not() {
        let counters = Counters::new();
        for _ in 0..3 {
            counters.sent(1);
            counters.received(1);
            counters.received(2);
        }
        counters.sent(3);
        counters.passive();
        let of = |rank, reported| Excluded { rank, reported };
        let excluded = [of(1, Some(5)), of(2, None), of(40, None)];
        let sample = counters.sample(&excluded).expect("it is passive");
        assert_eq!((sample.sent, sample.received), (6, 3));
    }

    #[test]
    fn the_end_of_the_last_activity_is_told_once_if_it_is_wanted() {
        let counters = Counters::new();
        assert!(counters.sample_or_want(&[]).is_none(), "it is active");
        counters.active();
        assert_eq!(counters.passive(), Some(false), "another activity goes on");
        assert_eq!(counters.passive(), Some(true));
        let sample = counters.sample_or_want(&[]).expect("it is passive");
        assert!(!counters.has_changed_or_want(sample.activations));
        counters.active();
        assert_eq!(counters.passive(), Some(true));
        assert!(counters.has_changed_or_want(sample.activations));
        assert_eq!(counters.passive(), None, "nothing goes on");
        assert!(counters.sample(&[]).is_some(), "and nothing does now");
    }

    /// Each activity counts as many sent as received messages, so no sample may show a difference.
    #[test]
    fn a_sample_shows_no_part_of_an_activity() {
        let counters = Counters::new();
        let is_over = AtomicBool::new(false);
        counters.passive();
        let samples = thread::scope(|scope| {
            for own in [1, 700] {
                let (counters, is_over) = (&counters, &is_over);
                scope.spawn(move || {
                    while !is_over.load(Ordering::Relaxed) {
                        counters.active();
                        counters.sent(own);
                        counters.received(own + 1);
                        counters.passive();
                        thread::yield_now();
                    }
                });
            }
            let mut samples = 0;
            while samples < 2000 {
                if let Some(sample) = counters.sample(&[]) {
                    assert_eq!(sample.sent, sample.received);
                    samples += 1;
                }
            }
            is_over.store(true, Ordering::Relaxed);
            samples
        });
        assert_eq!(samples, 2000);
    }
}
