//! Two ends of a link that both live again while frames of their earlier lives are under way: they
//! meet, whatever crosses.

use std::time::Duration;

use antiphon_panda_core::Message;
use antiphon_panda_core::protocol::Time;
use antiphon_panda_core::protocol::link::{Arrival, Links, Retransmit};

const FRAME: usize = 1437;

/// One end, what is under way to it, and what became of it.
struct End {
    link: Retransmit,
    under_way: Vec<Message>,
    messages: Vec<Message>,
    beginnings: u32,
}

impl End {
    fn born(birth: u64) -> Self {
        Self {
            link: Retransmit::new(FRAME, birth),
            under_way: Vec::new(),
            messages: Vec::new(),
            beginnings: 0,
        }
    }
}

/// Each end takes what is under way to it; all of that crosses. Whoever begins anew says something,
/// as protocols do.
fn cross(now: Time, ends: &mut [End; 2]) {
    let mut sent = [Vec::new(), Vec::new()];
    for (end, sent) in ends.iter_mut().zip(&mut sent) {
        for frame in std::mem::take(&mut end.under_way) {
            let taken = end.link.receive(now, frame, sent, &mut end.messages);
            if taken.expect("a frame of the other end's") == Arrival::Anew {
                end.beginnings += 1;
                end.link.send(now, Message::from(vec![7]), sent);
            }
        }
        end.link.flush(now, sent);
        if end.link.deadline().is_some_and(|at| at <= now) {
            end.link.tick(now, sent);
        }
    }
    let [first, second] = sent;
    ends[1].under_way.extend(first);
    ends[0].under_way.extend(second);
}

#[test]
fn two_that_begin_anew_at_once_do_not_take_each_other_for_lost_without_end() {
    let mut now = Time::ZERO;
    let mut earlier = [End::born(1), End::born(2)];
    let hello = Message::from(vec![1]);
    let mut frames = Vec::new();
    earlier[0].link.send(now, hello, &mut frames);
    earlier[1].under_way = frames;
    while earlier[1].messages.is_empty() {
        now += Duration::from_millis(1);
        cross(now, &mut earlier);
    }
    let mut late = [Vec::new(), Vec::new()];
    for (end, late) in earlier.iter_mut().zip(&mut late) {
        end.link.send(now, Message::from(vec![2]), late);
    }
    let mut ends = [End::born(3), End::born(4)];
    let [first, second] = late;
    assert!(!first.is_empty() && !second.is_empty());
    (ends[1].under_way, ends[0].under_way) = (first, second);
    for _ in 0..20 {
        now += Duration::from_millis(1);
        cross(now, &mut ends);
    }
    for end in &ends {
        assert!(end.beginnings <= 2, "began anew {} times", end.beginnings);
        assert!(end.messages.iter().all(|it| it.to_bytes()[..] == [7]));
    }
    // And they hear each other.
    let [first, second] = &mut ends;
    second.messages.clear();
    first
        .link
        .send(now, Message::from(vec![9]), &mut second.under_way);
    for _ in 0..20 {
        now += Duration::from_millis(1);
        cross(now, &mut ends);
    }
    assert_eq!(ends[1].messages.len(), 1);
}
