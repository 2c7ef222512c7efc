//! State transfer: a process that joins a group gets the copy that its members keep, at a place of
//! the order.

use std::sync::Arc;

use antiphon_panda::thread::{self, Mutex};
use antiphon_panda::{Error, GroupEvent, Message, Replica, Session};

use super::{Make, run};

/// A copy: all numbers that were sent, in order, and a count of the events that the member
/// received.
#[derive(Default)]
struct Numbers {
    numbers: Vec<u32>,
    /// The place of the last event that this copy holds.
    place: u64,
    /// The place of the installed snapshot, and how many numbers it held.
    installed: Option<(u64, usize)>,
    events: usize,
    snapshots: u32,
}

/// A member's copy. Snapshots carry some bytes besides it.
#[derive(Clone)]
struct Copy {
    own: Arc<Mutex<Numbers>>,
    ballast: usize,
}

impl Copy {
    fn with(ballast: usize) -> Self {
        let own = Arc::new(Mutex::new(Numbers::default()));
        Self { own, ballast }
    }

    fn has(&self, count: usize) -> bool {
        self.own.lock().numbers.len() == count
    }
}

impl Replica for Copy {
    fn deliver(&mut self, event: GroupEvent) {
        let mut own = self.own.lock();
        let Some(place) = event.place() else {
            return;
        };
        // The first view of a new member may be before the place of its snapshot.
        let is_within = own.events == 0 && own.installed.is_some_and(|(at, _)| place <= at);
        assert!(own.place == 0 || is_within || place == own.place + 1);
        assert!(own.events > 0 || matches!(event, GroupEvent::View { .. }));
        own.events += 1;
        own.place = own.place.max(place);
        if let GroupEvent::Message { payload, .. } = event {
            own.numbers.push(payload.value().unwrap());
        }
    }

    fn snapshot(&mut self, place: u64) -> Result<Message, Error> {
        let mut own = self.own.lock();
        assert_eq!(own.place, place);
        own.snapshots += 1;
        let mut state = Message::of(&own.numbers)?;
        state.push(&(state.len() as u64).to_le_bytes());
        state.append(vec![7; self.ballast].into());
        Ok(state)
    }

    fn install(&mut self, place: u64, mut state: Message) -> Result<(), Error> {
        let length = u64::from_le_bytes(state.pop()?);
        let numbers: Vec<u32> = state.split_to(length as usize)?.value()?;
        assert_eq!(state.len(), self.ballast);
        let mut own = self.own.lock();
        assert!(own.events == 0 && own.installed.is_none());
        own.place = place;
        own.installed = Some((place, numbers.len()));
        own.numbers = numbers;
        Ok(())
    }
}

/// Two members send without a pause while a third one joins. The copies become equal, and the
/// joiner receives no event that its snapshot held.
pub fn a_joiner_gets_the_copy_at_a_place(make: Make) {
    joins_with(make, 200_000);
}

/// The same test with a copy of 100 MB.
pub fn a_large_copy_goes_beside_the_order(make: Make) {
    joins_with(make, 100_000_000);
}

fn joins_with(make: Make, ballast: usize) {
    const LEAST: u32 = 300;
    let ends = run(make, 3, move |session: Session| {
        let copy = Copy::with(ballast);
        let all = session.everyone().unwrap();
        // The second member gets the copy of the first.
        let mut group = None;
        for rank in 0..2 {
            if rank == session.rank() {
                group = Some(
                    session
                        .join_group_with_state("copies", copy.clone())
                        .unwrap(),
                );
            }
            all.barrier().unwrap();
        }
        let done = session.port("joined");
        let mut sent = 0;
        match &group {
            None => {
                let joined = session.join_group_with_state("copies", copy.clone());
                let joined = joined.unwrap();
                let (at, count) = copy.own.lock().installed.expect("others were there");
                assert!(joined.delivered() >= at);
                (0..2).for_each(|to| done.send(to, 0, Message::new()).unwrap());
                group = Some(joined);
                // Messages sent before the snapshot are part of it.
                assert!(count <= copy.own.lock().numbers.len());
            }
            Some(group) => {
                let mut has_joined = false;
                while !has_joined || sent < LEAST {
                    has_joined |= done.poll(None, None).is_some();
                    let number = session.rank() * 1_000_000 + sent;
                    group
                        .send_synchronously(Message::of(&number).unwrap())
                        .unwrap();
                    sent += 1;
                }
            }
        }
        let group = group.expect("it is in");
        let total = all.all_reduce(&sent, |a, b| a + b).unwrap() as usize;
        session.wait_until(|| copy.has(total), None).unwrap();
        all.barrier().unwrap();
        group.leave().unwrap();
        all.barrier().unwrap();
        let own = copy.own.lock();
        (own.numbers.clone(), own.installed, own.snapshots)
    });
    let Some((first, ..)) = ends.first() else {
        return;
    };
    assert!(ends.iter().all(|(numbers, ..)| numbers == first));
    let snapshots: u32 = ends.iter().map(|(.., snapshots)| snapshots).sum();
    assert!(ends[0].1.is_none() && ends[1].1.is_some() && snapshots >= 2);
    let of_last = ends[2].1.map(|(_, count)| count);
    println!(
        "{ballast} bytes: of {} messages {of_last:?} were in the snapshot",
        first.len()
    );
}

/// A member without state provides no snapshot. The join ends with an error, and the group goes on.
pub fn a_joiner_without_a_giver_is_told_so(make: Make) {
    run(make, 2, |session| {
        let all = session.everyone().unwrap();
        let group = (session.rank() == 0).then(|| session.join_group("plain", drop).unwrap());
        all.barrier().unwrap();
        if session.rank() == 1 {
            let outcome = session.join_group_with_state("plain", Copy::with(0));
            let Err(Error::NoState { group, why }) = outcome.map(drop) else {
                panic!("nobody has a state");
            };
            assert_eq!(group, "plain");
            assert!(why.contains("rank 0 joined without a state"), "{why}");
            // The joiner is not a member, and may join as the others did.
            let group = session.join_group("plain", drop).unwrap();
            group.leave().unwrap();
        }
        all.barrier().unwrap();
        if let Some(group) = group {
            group.send_synchronously(Message::new()).unwrap();
            let until = thread::now() + super::LIMIT;
            let alone = || group.members() == [0];
            assert!(session.wait_until(alone, Some(until)).unwrap());
        }
        all.barrier().unwrap();
    });
}

/// A copy that fails to install ends the membership, with the error of the copy.
pub fn a_copy_that_cannot_be_installed_is_told_so(make: Make) {
    run(make, 2, |session| {
        let all = session.everyone().unwrap();
        let own = Copy::with(0);
        let group =
            (session.rank() == 0).then(|| session.join_group_with_state("strict", own).unwrap());
        all.barrier().unwrap();
        if session.rank() == 1 {
            let outcome = session.join_group_with_state("strict", Strict);
            let Err(Error::Expelled { why, .. }) = outcome.map(drop) else {
                panic!("it cannot be installed");
            };
            assert!(why.contains("could not install the group's state"), "{why}");
        }
        all.barrier().unwrap();
        drop(group);
    });
}

/// A copy that takes no snapshot of the others.
struct Strict;

impl Replica for Strict {
    fn deliver(&mut self, event: GroupEvent) {
        assert!(event.is_end(), "it was told of {event:?} without its copy");
    }

    fn snapshot(&mut self, _: u64) -> Result<Message, Error> {
        Ok(Message::new())
    }

    fn install(&mut self, _: u64, state: Message) -> Result<(), Error> {
        Ok(state.value::<[u64; 4]>().map(drop)?)
    }
}
