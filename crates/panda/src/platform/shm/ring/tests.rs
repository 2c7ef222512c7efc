use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use bytes::Bytes;
use proptest::prelude::*;

use super::super::bootstrap::Bootstrap;
use super::super::memory::{CellHead, Counters, Map, RING, ring_at};
use super::super::single_copy::PeerMemory;
use super::single_copy::Descriptor;
use super::*;
use crate::message::{Header, Message};
use crate::platform::Secret;
use crate::platform::pool::Pool;

fn map() -> (Map, Map) {
    let info = Bootstrap::new(2, Secret([1; 16])).expect("a file");
    let file = std::fs::File::options()
        .read(true)
        .write(true)
        .open(info.launch_info(0).bootstrap)
        .expect("it is there while it is held");
    let map = || Map::new(file.as_fd(), ring_at(0, 1), RING).expect("mapped");
    (map(), map())
}

fn ring() -> (Sender, Receiver) {
    let (a, b) = map();
    (Sender::new(a), Receiver::new(b, None, Pool::default()))
}

static MARK: u64 = 0x1234_5678;

/// Returns the access to this process's own memory, if the system permits it.
fn peer_memory() -> Option<PeerMemory> {
    let peer_memory = PeerMemory::probe(std::process::id(), &raw const MARK as u64, MARK);
    if peer_memory.is_none() {
        eprintln!("nothing is lent: the system forbids process_vm_readv");
    }
    peer_memory
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
        haste in 1..4_usize,
        lends in any::<bool>(),
    ) {
        let (a, b) = map();
        let (mut sender, mut receiver) = (Sender::new(a), Receiver::new(b, lends.then(peer_memory).flatten(), Pool::default()));
        let mut taken = Vec::new();
        for (i, &length) in lengths.iter().enumerate() {
            sender.lend_whole_from(if i % 3 == 0 { LENT_WHOLE_MIN } else { usize::MAX });
            sender.send(frame(length, i as u8)).unwrap();
            if i % eagerness == 0 {
                taken.extend(receiver.take().unwrap());
                receiver.tell();
            }
            if i % haste == 0 {
                sender.lend_rest().unwrap();
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
                head.length.store([12, IN_STREAM, LENT, REST_LENT][cell as usize / 2 % 4], Relaxed);
            }
        }
        a.view::<Counters>(0).sent.stream.store(sent, Relaxed);
        let mut receiver = Receiver::new(b, peer_memory(), Pool::default());
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
        counters.taken.lent.store(stream, Relaxed);
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
    receiver.tell();
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
    let Some(peer_memory) = peer_memory() else {
        return;
    };
    let (mut sender, mut receiver) = (
        Sender::new(a),
        Receiver::new(b, Some(peer_memory), Pool::default()),
    );
    let is_gone = Arc::new(AtomicBool::new(false));
    let owner = Owner(is_gone.clone(), vec![5; 100_000]);
    let mut frame = Message::from(Bytes::from_owner(owner));
    frame.push(b"headers");
    sender.send(frame).unwrap();
    assert!(sender.has_queue() && sender.lent_bytes() == 0);
    assert!(receiver.take().unwrap().is_none(), "a part of it");
    sender.advance().unwrap();
    assert!(
        sender.lend_rest().unwrap(),
        "the receiver does not go on taking"
    );
    assert!(!sender.is_idle() && !sender.has_queue() && sender.lent_bytes() == 100_007);
    assert!(!is_gone.load(Relaxed) && !sender.lend_rest().unwrap());
    let mut taken = receiver.take().unwrap().expect("it is there");
    assert_eq!(taken.pop(), Ok(*b"headers"));
    assert!(taken == Message::from(vec![5; 100_000]));
    assert!(receiver.owes_bell(), "the sender holds on to it");
    sender.go_on().unwrap();
    assert!(sender.is_idle() && is_gone.load(Relaxed));
    assert!(!receiver.owes_bell());
}

#[test]
fn a_long_frame_is_lent_whole_where_nobody_takes_it_meanwhile() {
    let (a, b) = map();
    let Some(peer_memory) = peer_memory() else {
        return;
    };
    let (mut sender, mut receiver) = (
        Sender::new(a),
        Receiver::new(b, Some(peer_memory), Pool::default()),
    );
    // In both cases the stream holds a part.
    let from = 4 * STREAM as usize;
    sender.lend_whole_from(from);
    for (length, is_lent) in [(from, true), (from - 1, false)] {
        sender.send(frame(length, 3)).unwrap();
        assert_eq!(sender.lent_bytes(), if is_lent { length } else { 0 });
        assert_eq!(sender.has_queue(), !is_lent);
        sender.lend_rest().unwrap();
        let taken = receiver.take().unwrap().expect("it is there");
        assert!(taken.to_bytes() == frame(length, 3).to_bytes());
        sender.go_on().unwrap();
    }
    assert!(sender.is_idle());
}

#[test]
fn a_frame_that_finds_no_room_is_lent_whole() {
    let (a, b) = map();
    let Some(peer_memory) = peer_memory() else {
        return;
    };
    let (mut sender, mut receiver) = (
        Sender::new(a),
        Receiver::new(b, Some(peer_memory), Pool::default()),
    );
    for mark in 0..3 {
        sender.send(frame(50_000, mark)).unwrap();
        sender.lend_rest().unwrap();
    }
    assert!(!sender.has_queue() && sender.lent_bytes() == 150_000);
    for mark in 0..3 {
        let taken = receiver.take().unwrap().expect("it is there");
        assert!(taken.to_bytes() == frame(50_000, mark).to_bytes(), "{mark}");
    }
    sender.go_on().unwrap();
    assert!(sender.is_idle());
}

#[test]
fn rests_are_lent_while_the_receiver_takes() {
    const FRAMES: usize = 2000;
    let length = |number: usize| number * 7919 % 120_000;
    let (a, b) = map();
    let Some(peer_memory) = peer_memory() else {
        return;
    };
    let mut receiver = Receiver::new(b, Some(peer_memory), Pool::default());
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut sender = Sender::new(a);
            for number in 0..FRAMES {
                sender.send(frame(length(number), number as u8)).unwrap();
                // The content of the stream differs with the receiver's progress.
                for _ in 0..number % 50 {
                    sender.advance().unwrap();
                }
                sender.lend_rest().unwrap();
                while sender.waiting_bytes() > 300_000 {
                    sender.advance().unwrap();
                }
            }
            while !sender.is_idle() {
                sender.advance().unwrap();
            }
        });
        for number in 0..FRAMES {
            let taken = loop {
                let taken = receiver.take().unwrap();
                receiver.tell();
                if let Some(taken) = taken {
                    break taken;
                }
            };
            let expected = frame(length(number), number as u8);
            assert!(taken.to_bytes() == expected.to_bytes(), "frame {number}");
        }
    });
}

#[test]
fn a_rest_that_is_not_what_is_missing_is_corrupt() {
    for (is_rest, lent) in [(true, 9_999), (true, 10_001), (false, 10_000)] {
        let (a, b) = map();
        let Some(peer_memory) = peer_memory() else {
            return;
        };
        let mut receiver = Receiver::new(b, Some(peer_memory), Pool::default());
        a.write(cell_at(0) + CELL_HEAD, &20_000_u64.to_ne_bytes());
        publish(&a, 0, IN_STREAM);
        a.view::<Counters>(0).sent.stream.store(10_000, Relaxed);
        assert!(receiver.take().unwrap().is_none());
        let bytes = Message::from(vec![1; lent]);
        let descriptor = Descriptor::of(&bytes, 0).expect("one piece");
        descriptor.write(&a, cell_at(1));
        publish(&a, 1, if is_rest { REST_LENT } else { LENT });
        assert!(receiver.has_any());
        assert!(receiver.take().is_err(), "{is_rest}, {lent}");
    }
}

fn publish(map: &Map, cell: u64, what: u32) {
    let head: &CellHead = map.view(cell_at(cell));
    head.length.store(what, Relaxed);
    head.lap.store(lap(cell), Relaxed);
}
