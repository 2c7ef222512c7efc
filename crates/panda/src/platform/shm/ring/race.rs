//! Two threads at the two ends of a ring within one process, so that Miri can follow. `make
//! sanitize` runs this under Miri, which finds unordered accesses and draws the results that weak
//! orders allow.

use std::mem::ManuallyDrop;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::super::memory::{Map, RING};
use super::*;
use crate::message::Message;
use crate::platform::pool::Pool;

/// Number of frames: more than a lap of the cells, some in the cell and some beside it. Miri takes
/// its time.
const FRAMES: usize = if cfg!(miri) { 72 } else { 1000 };
const LENGTHS: [usize; 6] = [1, 64, 65, INLINE, INLINE + 1, 300];
/// Bound on steps that never take so long.
const LIMIT: Duration = Duration::from_secs(60);
/// Looks before a thread waits to be rung.
const LOOKS: usize = 20;

fn frame(number: usize) -> Message {
    let length = LENGTHS[number % LENGTHS.len()];
    Message::from(vec![number as u8; length])
}

/// Puts all frames in, and sleeps while there is no room until the receiver rings.
fn send(mut sender: Sender, rung: &mpsc::Receiver<()>, notice: &mpsc::Sender<()>) -> Sender {
    for number in 0..FRAMES {
        sender.send(frame(number)).expect("no corruption");
        while !sender.is_idle() {
            let _ = notice.send(());
            if !sender.wait_for_room().expect("no corruption") {
                rung.recv_timeout(LIMIT).expect("the receiver rings");
            }
            sender.go_on().expect("no corruption");
        }
        let _ = notice.send(());
    }
    sender
}

/// Takes all frames out, and rings if the sender waits.
fn receive(
    mut receiver: Receiver,
    bell: &mpsc::Sender<()>,
    noticed: &mpsc::Receiver<()>,
) -> Receiver {
    let (mut number, mut looks) = (0, 0);
    while number < FRAMES {
        let taken = receiver.take().expect("no corruption");
        if receiver.tell() {
            let _ = bell.send(());
        }
        match taken {
            Some(taken) => {
                assert!(
                    taken.to_bytes() == frame(number).to_bytes(),
                    "frame {number}"
                );
                (number, looks) = (number + 1, 0);
            }
            None if looks < LOOKS => {
                looks += 1;
                thread::yield_now();
            }
            None => noticed.recv_timeout(LIMIT).expect("the sender goes on"),
        }
    }
    receiver
}

#[test]
fn every_byte_is_ordered_and_no_wake_is_lost() {
    let [a, b] = Map::within(RING).map(ManuallyDrop::into_inner);
    let sender = Sender::new(a);
    let receiver = Receiver::new(b, None, Pool::default());
    let (bell, rung) = mpsc::channel();
    let (notice, noticed) = mpsc::channel();
    let sending = thread::spawn(move || ManuallyDrop::new(send(sender, &rung, &notice)));
    // Neither end is dropped: their memory is not mapped.
    let _receiver = ManuallyDrop::new(receive(receiver, &bell, &noticed));
    let _sender = sending.join().expect("no panic");
}
