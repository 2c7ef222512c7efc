//! Garbage and hostile frames: nothing panics. That what is kept is bounded by what was sent,
//! `lies.rs` asks.

use std::time::Duration;

use antiphon_panda_core::protocol::group::{Bus, GroupEvent, Myself, Order, Sequencer};
use antiphon_panda_core::protocol::link::{Fragment, Links, Retransmit, Through};
use antiphon_panda_core::protocol::{Action, Delivery, Stack};
use antiphon_panda_core::{Message, Rank};
use proptest::prelude::*;

const NOW: Duration = Duration::from_secs(1);

fn stack<L: Links, O: Order>(largest: usize) -> Stack<L, O> {
    Stack::new(
        Myself {
            rank: 0,
            size: 3,
            is_founder: true,
            birth: 1,
            silence: NOW,
        },
        largest,
    )
}

fn survives<L: Links, O: Order>(largest: usize, frames: &[Vec<u8>]) {
    let mut stack = stack::<L, O>(largest);
    stack.group(NOW, 7, |group, now, out| group.join(now, out));
    for (step, frame) in frames.iter().enumerate() {
        let now = NOW + Duration::from_millis(step as u64);
        // An error is as good as any answer.
        let _ = stack.frame(now, 1 + step as u32 % 2, Message::from(frame.clone()));
        let _ = stack.multicast(now, 1 + step as u32 % 2, Message::from(frame.clone()));
        stack.tick(now);
        stack.flush(now);
        stack.actions().clear();
    }
}

/// Frames that a peer would send, to be damaged.
fn genuine<L: Links, O: Order>(largest: usize) -> Vec<Vec<u8>> {
    let mut peer = Stack::<L, O>::new(
        Myself {
            rank: 1,
            size: 3,
            is_founder: true,
            birth: 2,
            silence: NOW,
        },
        largest,
    );
    peer.group(NOW, 7, |group, now, out| group.join(now, out));
    peer.send(NOW, 0, 1, 2, Message::from(vec![1; 100]));
    peer.call(NOW, 0, 3, Message::from(vec![2; 3000]), None);
    peer.flush(NOW);
    let sent = peer.actions().drain(..).flat_map(|action| match action {
        Action::Send(0, frame) | Action::Broadcast(frame) => vec![frame],
        Action::SendRun(0, frames) => frames,
        _ => Vec::new(),
    });
    sent.map(|frame| frame.to_bytes().to_vec()).collect()
}

fn damaged<L: Links, O: Order>(largest: usize) -> impl Strategy<Value = Vec<Vec<u8>>> {
    let frames = genuine::<L, O>(largest);
    let one = (
        prop::sample::select(frames),
        prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        any::<prop::sample::Index>(),
        any::<bool>(),
    );
    let one = one.prop_map(|(mut frame, changes, end, is_cut)| {
        for (at, byte) in changes {
            let at = at.index(frame.len());
            frame[at] = byte;
        }
        if is_cut {
            frame.truncate(end.index(frame.len() + 1));
        }
        frame
    });
    prop::collection::vec(one, 1..30)
}

proptest! {
    #[test]
    fn garbage_is_survived(frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..20)) {
        survives::<Through, Sequencer>(usize::MAX, &frames);
        survives::<Retransmit, Sequencer>(1400, &frames);
        survives::<Fragment, Sequencer>(1400, &frames);
        survives::<Through, Bus>(usize::MAX, &frames);
    }

    #[test]
    fn damaged_frames_are_survived(streams in damaged::<Through, Sequencer>(usize::MAX), datagrams in damaged::<Retransmit, Sequencer>(1400)) {
        survives::<Through, Sequencer>(usize::MAX, &streams);
        survives::<Retransmit, Sequencer>(1400, &datagrams);
    }

    #[test]
    fn messages_are_what_was_put_together(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..100), 0..6), headers in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..90), 0..6), at in any::<prop::sample::Index>()) {
        let mut message = Message::new();
        let mut model: Vec<u8> = Vec::new();
        for piece in &pieces {
            message.append_bytes(piece.clone().into());
            model.extend(piece);
        }
        for header in &headers {
            message.push(header);
            model.splice(0..0, header.iter().copied());
        }
        prop_assert_eq!(message.len(), model.len());
        let at = at.index(model.len() + 1);
        let first = message.clone().split_to(at).unwrap();
        let first = first.to_bytes();
        prop_assert_eq!(&first[..], &model[..at]);
        prop_assert!(message.clone().split_to(model.len() + 1).is_err());
        if let Ok(head) = message.pop::<5>() {
            prop_assert_eq!(&head[..], &model[..5]);
            model.drain(..5);
        }
        let rest = message.to_bytes();
        prop_assert_eq!(&rest[..], &model[..]);
        prop_assert_eq!(message.into_bytes(), rest);
    }
}

/// A peer that begins operations on ever more lists is found to lie, and what it sent stays
/// bounded; one that is far ahead on one list breaks that list alone.
#[test]
fn who_sends_more_steps_than_its_operations_need_is_lost() {
    const LISTS: u64 = 20_000;
    let mut stack = stack::<Through, Sequencer>(usize::MAX);
    let step = |list: u64, number: u64| {
        let mut frame = vec![6];
        frame.extend(list.to_le_bytes());
        frame.extend(number.to_le_bytes());
        // Down, of some shape, with no values.
        frame.extend([1; 9]);
        frame.extend([0; 4]);
        Message::from(frame)
    };
    let mut is_lost = |list, number| {
        stack
            .frame(NOW, 1, step(list, number))
            .expect("well formed");
        let mut actions = stack.actions().drain(..);
        actions.any(|action| matches!(action, Action::Lost(1, _)))
    };
    for number in 0..LISTS {
        assert!(!is_lost(1, 1000 + number));
    }
    let lost = (2..LISTS).find(|list| is_lost(*list, 1));
    assert!(lost.is_some());
}

/// A frame of a peer for a group: a note, as it goes over the wire.
fn for_group(group: u64, note: &[u8]) -> Message {
    let mut frame = vec![5];
    frame.extend(group.to_le_bytes());
    frame.extend((note.len() as u32).to_le_bytes());
    frame.extend(note);
    Message::from(frame)
}

/// More than are heard of.
const GROUPS: u64 = 500_000;

/// A peer that names groups without end is no longer heard. Groups that were known before, and
/// those that the program joins itself, go on.
#[test]
fn groups_that_peers_name_are_bounded() {
    let mut stack = stack::<Through, Sequencer>(usize::MAX);
    // Rank 1 wants to be let in.
    let join = |group| for_group(group, &[0, 1, 1]);
    let mut is_heard = |group| {
        let taken = stack.frame(NOW, 1, join(group));
        stack.flush(NOW);
        // A peer that is not heard is told so.
        let mut actions = stack.actions().drain(..);
        let is_reported = actions.any(|action| matches!(action, Action::Send(1, _)));
        assert!(is_reported, "group {group}");
        taken.is_ok()
    };
    let heard = (0..GROUPS).find(|group| !is_heard(*group));
    let heard = heard.expect("not all of them");
    assert!(heard > 10_000, "{heard}");
    assert!(!is_heard(GROUPS));
    stack.group(NOW, GROUPS, |group, now, out| group.join(now, out));
    assert!(!stack.actions().is_empty());
    stack.actions().clear();
    // It has become the program's, and leaves no room for another.
    stack.frame(NOW, 1, join(GROUPS)).expect("it is known now");
    assert!(stack.frame(NOW, 1, join(GROUPS + 1)).is_err());
}

/// Hands over what two stacks have for each other, until nothing is left, at a time; what the
/// second is told of a group.
fn exchange<L: Links, O: Order>(stacks: &mut [Stack<L, O>; 2], now: Duration) -> Vec<GroupEvent> {
    let mut events = Vec::new();
    loop {
        let mut under_way = Vec::new();
        for (from, stack) in stacks.iter_mut().enumerate() {
            stack.tick(now);
            stack.flush(now);
            for action in stack.actions().drain(..) {
                match action {
                    Action::Send(to, frame) if (to as usize) < 2 => {
                        under_way.push((from, to as usize, frame));
                    }
                    Action::Deliver(Delivery::Group(_, event, _)) if from == 1 => {
                        events.push(event)
                    }
                    _ => {}
                }
            }
        }
        if under_way.is_empty() {
            return events;
        }
        for (from, to, frame) in under_way {
            // One that follows too many groups says that it does not hear of this one.
            let _ = stacks[to].frame(now, from as Rank, frame);
        }
    }
}

/// A joiner learns that the asked processes follow too many groups, and how many.
#[test]
fn who_is_not_let_in_is_told_why() {
    const SILENCE: Duration = NOW;
    let myself = |rank| Myself {
        rank,
        size: 2,
        is_founder: true,
        birth: 1,
        silence: SILENCE,
    };
    let mut stacks = [0, 1].map(|rank| Stack::<Through, Sequencer>::new(myself(rank), usize::MAX));
    let named = (0..GROUPS).take_while(|group| {
        let taken = stacks[0].frame(NOW, 1, for_group(*group, &[0, 1, 1]));
        stacks[0].actions().clear();
        taken.is_ok()
    });
    let named = named.count();
    stacks[1].group(NOW, GROUPS, |group, now, out| group.join(now, out));
    // More than the six silences after which it gives up, and those in which each is asked.
    let reported = (1..100).find_map(|step| exchange(&mut stacks, NOW + SILENCE / 10 * step).pop());
    let Some(GroupEvent::Expelled { why }) = reported else {
        panic!("{reported:?}");
    };
    let expected = format!("rank 0 follows {named} groups already that it is not in, and no more");
    assert!(why.contains(&expected), "{why}");
}

#[test]
fn a_group_of_which_nothing_is_to_be_known_is_forgotten() {
    let mut stack = stack::<Through, Sequencer>(usize::MAX);
    // Rank 1, which nobody knows there, wants to leave.
    let taken = (0..GROUPS).map(|group| stack.frame(NOW, 1, for_group(group, &[1, 0])));
    assert!(taken.into_iter().all(|taken| taken.is_ok()));
}

#[test]
fn a_message_that_is_too_long_for_a_link_ends_what_waits_for_it() {
    let mut stack = stack::<Fragment, Sequencer>(1 << 20);
    let piece = bytes::Bytes::from(vec![7; 1 << 20]);
    let mut long = Message::new();
    (0..4 << 10).for_each(|_| long.append_bytes(piece.clone()));
    let id = stack.send_synchronously(NOW, 1, 2, 3, long, None);
    let ends = stack.actions().drain(..).find_map(|action| match action {
        Action::Complete(ended, outcome) if ended == id => outcome.err(),
        _ => None,
    });
    let why = format!("{:?}", ends.expect("it has ended"));
    assert!(why.contains("4294967317 bytes"), "{why}");
}
