use std::cell::{Cell, RefCell};
use std::os::fd::AsFd;

use super::super::bootstrap::Bootstrap;
use super::super::memory::{Map, RING, ring_at};
use super::super::ring::Receiver;
use super::super::single_copy::PeerMemory;
use super::*;
use crate::platform::Secret;
use crate::platform::pool::Pool;

/// Length of a frame whose path depends on the stream's speed, but which does not measure it.
const UNMEASURED: usize = 24 << 10;
/// Length of a frame whose progress is measured while it is sent.
const MEASURED: usize = 4 * ONE_SIDED;

const _: () = assert!(LENT_MIN <= UNMEASURED && UNMEASURED <= ONE_SIDED);

static MARK: u64 = 0x1234_5678;

/// Both ends of a connection to a peer. No test waits: the receiver takes frames only when a test
/// calls it.
struct Ends {
    way: Outgoing,
    receiver: RefCell<Receiver>,
}

impl Ends {
    /// Makes both ends; `None` if the system forbids lending.
    fn new() -> Option<Self> {
        let peer_memory = PeerMemory::probe(std::process::id(), &raw const MARK as u64, MARK);
        if peer_memory.is_none() {
            eprintln!("skipped: the system forbids process_vm_readv");
        }
        let bootstrap = Bootstrap::new(2, Secret([1; 16])).expect("a file");
        let file = std::fs::File::options()
            .read(true)
            .write(true)
            .open(bootstrap.launch_info(0).bootstrap)
            .expect("it is there while it is held");
        let map = || Map::new(file.as_fd(), ring_at(0, 1), RING).expect("mapped");
        let receiver = Receiver::new(map(), Some(peer_memory?), Pool::default());
        let way = Outgoing::default();
        way.way.lock().sender = Open::Yes(Box::new(Sender::new(map())));
        Some(Self {
            way,
            receiver: RefCell::new(receiver),
        })
    }

    fn send(&self, length: usize, may_spin: impl Fn() -> bool, ring: impl Fn()) {
        let frame = Message::from(vec![7; length]);
        let is_open = || unreachable!("it is open");
        let sent = self.way.send(frame, is_open, may_spin, ring);
        sent.expect("sound");
    }

    /// Takes the bytes that are there. Returns whether that completes a frame.
    fn take(&self) -> bool {
        let mut receiver = self.receiver.borrow_mut();
        let taken = receiver.take().expect("sound");
        receiver.tell();
        taken.is_some_and(|frame| frame == Message::from(vec![7; frame.len()]))
    }

    /// Returns the bytes of frames that pass through the stream during `come`.
    fn streamed(&self, come: impl FnOnce()) -> usize {
        let position = || self.receiver.borrow().position() as usize;
        let before = position();
        come();
        position() - before
    }

    /// Sends a frame that its receiver does not take while it is being sent.
    fn untaken(&self) {
        let streamed = self.streamed(|| {
            self.send(MEASURED, || true, || ());
            assert!(self.take());
        });
        assert_eq!(streamed, ONE_SIDED, "the rest is lent");
    }

    /// Sends a frame that its receiver takes while it is being sent.
    fn taken(&self) {
        let is_whole = Cell::new(false);
        let streamed = self.streamed(|| {
            let take = || is_whole.set(is_whole.get() || self.take());
            self.send(MEASURED, || true, take);
        });
        assert!(is_whole.get());
        assert_eq!(streamed, MEASURED);
    }

    /// Returns whether the next long frame goes through the stream; otherwise it is lent whole.
    fn streams(&self) -> bool {
        let streamed = self.streamed(|| {
            self.send(UNMEASURED, || true, || ());
            assert!(self.take());
        });
        assert!([0, UNMEASURED].contains(&streamed), "{streamed}");
        streamed > 0
    }
}

#[test]
fn long_frames_go_through_a_stream_of_which_nothing_slow_is_known() {
    let Some(ends) = Ends::new() else { return };
    for _ in 0..1000 {
        assert!(ends.streams());
    }
}

#[test]
fn long_frames_are_lent_whole_after_two_that_nobody_took_and_now_and_then_one_is_not() {
    let Some(ends) = Ends::new() else { return };
    ends.untaken();
    assert!(ends.streams(), "one alone says nothing");
    ends.untaken();
    for _ in 0..3 {
        let lent = (0..1000).take_while(|_| !ends.streams()).count();
        assert!((1..1000).contains(&lent), "{lent}");
        // The last frame measured nothing. This one shows that the stream still is slow.
        ends.untaken();
    }
}

/// Checks a measured frame. The speed here is unknown, but it is fast or slow.
#[test]
fn a_frame_that_was_taken_while_it_was_put_in_is_measured() {
    let Some(ends) = Ends::new() else { return };
    ends.untaken();
    ends.taken();
    let was_fast = ends.streams();
    if was_fast {
        ends.untaken();
        assert!(ends.streams(), "it is the first slow one since");
    }
}

#[test]
fn what_says_nothing_of_the_pace_is_not_measured() {
    let Some(ends) = Ends::new() else { return };
    // The stream holds either frame, but not both, so the second one has to wait.
    for _ in 0..2 {
        (0..2).for_each(|_| ends.send(UNMEASURED, || true, || ()));
        assert!(ends.take() && ends.take());
    }
    assert!(ends.streams());
    // On one processor nothing is measured. A long frame is lent from its first byte.
    for _ in 0..2 {
        let streamed = ends.streamed(|| {
            ends.send(LENT_WHOLE_MIN, || false, || ());
            assert!(ends.take());
        });
        assert_eq!(streamed, 0);
    }
    assert!(ends.streams());
}

#[test]
fn whether_it_may_spin_is_asked_once_for_a_long_frame_and_not_for_a_short_one() {
    let Some(ends) = Ends::new() else { return };
    let asked = Cell::new(0);
    let may_spin = || {
        asked.set(asked.get() + 1);
        true
    };
    ends.send(MEASURED, may_spin, || ());
    assert_eq!(asked.get(), 1);
    assert!(ends.take());
    ends.send(10, may_spin, || ());
    assert_eq!(asked.get(), 1);
}
