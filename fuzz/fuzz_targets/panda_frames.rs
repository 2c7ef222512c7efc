//! Frames from peers that lie, to a process over each kind of link and order.
//!
//! An input is a row of frames. Each is one that a peer would send, with bytes changed or its end
//! cut off, or bytes of the input as they are.
#![no_main]

use antiphon_panda_core::protocol::group::{Bus, Myself, Order, Sequencer};
use antiphon_panda_core::protocol::link::{Fragment, Links, Retransmit, Through};
use antiphon_panda_core::protocol::{Action, Stack};
use antiphon_panda_core::{Message, Rank};
use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use std::time::Duration;

/// A time at which nothing has run out.
const NOW: Duration = Duration::from_secs(1);

/// The frame of a peer.
#[derive(Arbitrary, Debug)]
enum Frame {
    /// Bytes as they are.
    Raw(Vec<u8>),
    /// A frame of an honest peer, by its place among them.
    Damaged {
        genuine: u8,
        changes: Vec<(u16, u8)>,
        length: Option<u16>,
    },
}

/// What happens to a process.
#[derive(Arbitrary, Debug)]
enum Step {
    Comes(bool, Frame),
    ComesToAll(bool, Frame),
    Waits(u16),
}

fn stack<L: Links, O: Order>(rank: Rank, largest: usize) -> Stack<L, O> {
    let myself = Myself {
        rank,
        size: 3,
        is_founder: true,
        birth: 1 + u64::from(rank),
        silence: NOW,
    };
    Stack::new(myself, largest)
}

/// Frames that an honest peer sends.
fn genuine<L: Links, O: Order>(largest: usize) -> Vec<Vec<u8>> {
    let mut peer = stack::<L, O>(1, largest);
    peer.group(NOW, 7, |group, now, out| group.join(now, out));
    peer.send(NOW, 0, 1, 2, Message::from(vec![1; 100]));
    peer.call(NOW, 0, 3, Message::from(vec![2; 3000]), None);
    peer.flush(NOW);
    let sent = peer.actions().drain(..).flat_map(|action| match action {
        Action::Send(0, frame) | Action::Broadcast(frame) | Action::Multicast(frame) => {
            vec![frame]
        }
        Action::SendRun(0, frames) => frames,
        _ => Vec::new(),
    });
    sent.map(|frame| frame.to_bytes().to_vec()).collect()
}

fn bytes(frame: &Frame, genuine: &[Vec<u8>]) -> Vec<u8> {
    match frame {
        Frame::Raw(bytes) => bytes.clone(),
        Frame::Damaged {
            genuine: place,
            changes,
            length,
        } => {
            let mut bytes = genuine[usize::from(*place) % genuine.len()].clone();
            for (at, byte) in changes {
                let at = usize::from(*at) % bytes.len();
                bytes[at] = *byte;
            }
            if let Some(length) = length {
                bytes.truncate(usize::from(*length));
            }
            bytes
        }
    }
}

fn survives<L: Links, O: Order>(largest: usize, steps: &[Step]) {
    let genuine = genuine::<L, O>(largest);
    let mut stack = stack::<L, O>(0, largest);
    stack.group(NOW, 7, |group, now, out| group.join(now, out));
    let mut now = NOW;
    for step in steps {
        // An error is as good as any answer.
        match step {
            Step::Comes(other, frame) => {
                let frame = Message::from(bytes(frame, &genuine));
                let _ = stack.frame(now, 1 + Rank::from(*other), frame);
            }
            Step::ComesToAll(other, frame) => {
                let frame = Message::from(bytes(frame, &genuine));
                let _ = stack.multicast(now, 1 + Rank::from(*other), frame);
            }
            Step::Waits(ms) => now += Duration::from_millis(u64::from(*ms)),
        }
        stack.tick(now);
        stack.flush(now);
        stack.actions().clear();
    }
}

fuzz_target!(|input: &[u8]| {
    let mut input = Unstructured::new(input);
    let (Ok(kind), Ok(steps)) = (u8::arbitrary(&mut input), Vec::arbitrary(&mut input)) else {
        return;
    };
    match kind % 4 {
        0 => survives::<Through, Sequencer>(usize::MAX, &steps),
        1 => survives::<Retransmit, Sequencer>(1400, &steps),
        2 => survives::<Fragment, Sequencer>(1400, &steps),
        _ => survives::<Through, Bus>(usize::MAX, &steps),
    }
});
