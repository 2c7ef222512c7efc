use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use bytes::Bytes;
use proptest::prelude::*;

use super::super::meeting::Meeting;
use super::super::memory::{CellHead, Counters, Map, RING, ring_at};
use super::super::reach::Reach;
use super::*;
use crate::message::{Header, Message};
use crate::platform::Secret;
use crate::platform::pool::Pool;

fn map() -> (Map, Map) {
    let seat = Meeting::new(2, Secret([1; 16])).expect("a file");
    let file = std::fs::File::options()
        .read(true)
        .write(true)
        .open(seat.seat(0).meeting)
        .expect("it is there while it is held");
    let map = || Map::new(file.as_fd(), ring_at(0, 1), RING).expect("mapped");
    (map(), map())
}

fn ring() -> (Sender, Receiver) {
    let (a, b) = map();
    (Sender::new(a), Receiver::new(b, None, Pool::default()))
}

static MARK: u64 = 0x1234_5678;

/// The way to this process's own memory, where the system has one.
fn reach() -> Option<Reach> {
    let reach = Reach::probe(std::process::id(), &raw const MARK as u64, MARK);
    if reach.is_none() {
        eprintln!("nothing is lent: the system forbids process_vm_readv");
    }
    reach
}

fn frame(length: usize, mark: u8) -> Message {
    let bytes: Vec<u8> = (0..length)
        .map(|i| (i as u8).wrapping_mul(31) ^ mark)
        .collect();
    let mut message = Message::from(bytes[length / 3..].to_vec());
    message.push(&bytes[length / 5..length / 3]);
    message.push(&bytes[..length / 5]);
    message
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn frames_of_any_length_come_whole_and_in_order(
        lengths in proptest::collection::vec(prop_oneof![0..300_usize, 0..70_000_usize, Just(600_000)], 1..40),
        eagerness in 1..8_usize,
        lends in any::<bool>(),
    ) {
        let (a, b) = map();
        let (mut sender, mut receiver) = (Sender::new(a), Receiver::new(b, lends.then(reach).flatten(), Pool::default()));
        let mut taken = Vec::new();
        for (i, &length) in lengths.iter().enumerate() {
            sender.send(frame(length, i as u8)).unwrap();
            if i % eagerness == 0 {
                taken.extend(receiver.take().unwrap());
                receiver.tell();
            }
        }
        while taken.len() < lengths.len() {
            taken.extend(receiver.take().unwrap());
            receiver.tell();
            sender.go_on().unwrap();
        }
        sender.go_on().unwrap();
        prop_assert!(sender.is_idle() && sender.waiting_bytes() == 0);
        prop_assert!(receiver.take().unwrap().is_none());
        for (i, (taken, &length)) in taken.iter().zip(&lengths).enumerate() {
            prop_assert!(taken.to_bytes() == frame(length, i as u8).to_bytes(), "frame {} of {} bytes", i, length);
        }
    }

    #[test]
    fn whatever_stands_in_a_ring_is_a_frame_or_corrupt(noise in proptest::collection::vec(any::<u8>(), 4096), sent in any::<u64>()) {
        let (a, b) = map();
        for lap in 0..4 {
            a.write(CELLS_AT + lap * 4096, &noise);
        }
        for cell in 0..CELLS {
            let head: &CellHead = a.view(cell_at(cell));
            head.lap.store(lap(cell), Relaxed);
            if cell % 2 == 0 {
                head.length.store([12, IN_STREAM, LENT, 240][cell as usize / 2 % 4], Relaxed);
            }
        }
        a.view::<Counters>(0).sent.stream.store(sent, Relaxed);
        let mut receiver = Receiver::new(b, reach(), Pool::default());
        for _ in 0..=CELLS {
            if !matches!(receiver.take(), Ok(Some(_))) {
                break;
            }
        }
    }

    #[test]
    fn whatever_a_receiver_claims_is_room_or_corrupt(cells in any::<u64>(), stream in any::<u64>()) {
        let (a, b) = map();
        let mut sender = Sender::new(a);
        let counters: &Counters = b.view(0);
        counters.taken.cells.store(cells, Relaxed);
        counters.taken.stream.store(stream, Relaxed);
        counters.taken.loans.store(stream, Relaxed);
        counters.taken.reads.store(cells as u32, Relaxed);
        for length in [10, 400_000, 10] {
            if sender.send(frame(length, 0)).is_err() {
                break;
            }
        }
    }
}

#[test]
fn a_frame_of_two_parts_is_offered_whole_and_is_a_message_if_nobody_wants_it() {
    let (mut sender, mut receiver) = ring();
    let header = Header::new(u128::from_le_bytes(*b"sixteen bytes of"), 0, 13);
    let rest = |length: usize| Message::from(vec![b'.'; length]);
    assert!(sender.send_parts(&header, &rest(3)).unwrap());
    let taken = receiver
        .take_or(|frame| frame == b"sixteen bytes...")
        .unwrap();
    assert!(matches!(taken, Taken::Already));
    for length in [0, 43, 44, 200] {
        assert!(sender.send_parts(&header, &rest(length)).unwrap());
        let is_short = 13 + length <= 56;
        let mut is_offered = false;
        let taken = receiver.take_or(|_| {
            is_offered = true;
            false
        });
        let mut whole = rest(length);
        whole.push(b"sixteen bytes");
        assert!(matches!(taken, Ok(Taken::Frame(frame)) if frame == whole));
        assert_eq!(is_offered, is_short, "{length}");
    }
    assert!(
        !sender.send_parts(&header, &rest(300)).unwrap(),
        "too long for a cell"
    );
    for _ in 0..CELLS {
        assert!(sender.send_parts(&header, &rest(1)).unwrap());
    }
    assert!(
        !sender.send_parts(&header, &rest(1)).unwrap(),
        "there is no room"
    );
    assert!(sender.is_idle() && receiver.take().unwrap().is_some());
}

#[test]
fn a_sender_without_room_is_told_of_room() {
    let (mut sender, mut receiver) = ring();
    for i in 0..CELLS + 1 {
        sender.send(frame(8, i as u8)).unwrap();
    }
    assert!(!sender.is_idle() && !sender.wait_for_room().unwrap());
    assert!(receiver.take().unwrap().is_some());
    assert!(receiver.tell(), "the sender waits");
    assert!(!receiver.tell(), "it is told once");
    sender.go_on().unwrap();
    assert!(sender.is_idle());
}

#[test]
fn what_was_lent_is_kept_until_it_was_read_and_no_longer() {
    struct Owner(Arc<AtomicBool>, Vec<u8>);
    impl AsRef<[u8]> for Owner {
        fn as_ref(&self) -> &[u8] {
            &self.1
        }
    }
    impl Drop for Owner {
        fn drop(&mut self) {
            self.0.store(true, Relaxed);
        }
    }
    let (a, b) = map();
    let Some(reach) = reach() else { return };
    let (mut sender, mut receiver) = (
        Sender::new(a),
        Receiver::new(b, Some(reach), Pool::default()),
    );
    let is_gone = Arc::new(AtomicBool::new(false));
    let owner = Owner(is_gone.clone(), vec![5; 100_000]);
    let mut frame = Message::from(Bytes::from_owner(owner));
    frame.push(b"headers");
    sender.send(frame).unwrap();
    assert!(!sender.is_idle() && !sender.has_queue() && sender.lent_bytes() == 100_007);
    assert!(!is_gone.load(Relaxed));
    let mut taken = receiver.take().unwrap().expect("it is there");
    assert_eq!(taken.pop(), Ok(*b"headers"));
    assert!(taken == Message::from(vec![5; 100_000]));
    assert!(receiver.owes_bell(), "the sender holds on to it");
    sender.go_on().unwrap();
    assert!(sender.is_idle() && is_gone.load(Relaxed));
    assert!(!receiver.owes_bell());
}
