//! Messages to a group, which all members see in one order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

use antiphon_panda::{Communicator, Group, GroupEvent, Session};
use bytes::Bytes;

use super::{Passive, payload};
use crate::failure::Failed;
use crate::member_state::MemberState;
use crate::tests::Part;

/// A member's place in the group, and how much it has delivered.
#[derive(Clone)]
pub struct Ordered {
    session: Session,
    group: Group,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    delivered: AtomicU64,
    /// Due number of messages, of all members together, at the end of the requested work.
    wanted: AtomicU64,
    is_expelled: AtomicBool,
}

impl Seen {
    fn event(&self, event: &GroupEvent) {
        match event {
            GroupEvent::Message { .. } => drop(self.delivered.fetch_add(1, SeqCst)),
            GroupEvent::Expelled { .. } => self.is_expelled.store(true, SeqCst),
            GroupEvent::View { .. } | GroupEvent::Left => {}
        }
    }

    fn is_done(&self) -> bool {
        self.delivered.load(SeqCst) >= self.wanted.load(SeqCst) || self.is_expelled.load(SeqCst)
    }
}

impl Ordered {
    /// Joins the ordered group.
    pub fn join(session: &Session) -> Result<Self, Failed> {
        let seen = Arc::<Seen>::default();
        let own = seen.clone();
        let group = session.join_group("ordered", move |event| own.event(&event))?;
        Ok(Self {
            session: session.clone(),
            group,
            seen,
        })
    }

    /// Announces this many more messages, of all members together.
    fn expect(&self, more: u64) {
        self.seen.wanted.fetch_add(more, SeqCst);
    }

    /// Waits until all that is to come has been delivered here.
    fn wait(&self) -> Result<(), Failed> {
        self.session.wait_until(|| self.seen.is_done(), None)?;
        match self.seen.is_expelled.load(SeqCst) {
            true => Err(Failed("expelled from the group".into())),
            false => Ok(()),
        }
    }
}

/// The leader sends one and waits for it; then the next.
struct Own {
    ordered: Ordered,
    is_leader: bool,
    payload: Bytes,
}

impl Part for Own {
    fn run(&mut self, iterations: u64) -> Result<u64, Failed> {
        if !self.is_leader {
            self.ordered.expect(iterations);
            return Ok(0);
        }
        for _ in 0..iterations {
            self.ordered.expect(1);
            self.ordered.group.send(self.payload.clone())?;
            self.ordered.wait()?;
        }
        Ok(iterations)
    }
}

/// Prepares a message that its sender also waits for.
pub fn group_own(member_state: &mut MemberState, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    Ok(Box::new(Own {
        ordered: member_state.ordered()?,
        is_leader: member_state.rank == 0,
        payload: payload(bytes),
    }))
}

/// The leader sends without waiting, and waits for the last.
struct Stream(Own);

impl Part for Stream {
    fn run(&mut self, iterations: u64) -> Result<u64, Failed> {
        let own = &mut self.0;
        own.ordered.expect(iterations);
        if own.is_leader {
            for _ in 0..iterations {
                own.ordered.group.send(own.payload.clone())?;
            }
            own.ordered.wait()?;
        }
        Ok(iterations)
    }
}

/// Prepares messages of one member, which it sends as fast as the group takes them.
pub fn group_stream(member_state: &mut MemberState, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    Ok(Box::new(Stream(Own {
        ordered: member_state.ordered()?,
        is_leader: member_state.rank == 0,
        payload: payload(bytes),
    })))
}

/// Two members send in turn, each after the other's message.
struct Turns {
    ordered: Ordered,
    /// 0 and 1 for the two, none for those that only receive.
    place: Option<u64>,
    payload: Bytes,
    /// Messages of all earlier slices.
    sent: u64,
}

impl Part for Turns {
    fn run(&mut self, iterations: u64) -> Result<u64, Failed> {
        let Some(place) = self.place else {
            self.ordered.expect(iterations);
            return Ok(0);
        };
        for _ in 0..iterations {
            self.ordered.expect(1);
            if self.sent % 2 == place {
                self.ordered.group.send(self.payload.clone())?;
            }
            self.ordered.wait()?;
            self.sent += 1;
        }
        Ok(iterations)
    }
}

/// Returns a member's place among the two that send in turn: the leader, and the last member.
pub fn place_in_turn(member_state: &MemberState) -> Option<u64> {
    let last = member_state.size - 1;
    match member_state.rank {
        0 => Some(0),
        rank if rank == last => Some(1),
        _ => None,
    }
}

/// Prepares messages that two members send in turn. All members receive them.
pub fn group_turn(member_state: &mut MemberState, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    Ok(Box::new(Turns {
        ordered: member_state.ordered()?,
        place: place_in_turn(member_state),
        payload: payload(bytes),
        sent: 0,
    }))
}

/// Everybody sends its share as fast as the group takes it.
struct All {
    ordered: Ordered,
    everyone: Communicator,
    rank: u64,
    size: u64,
    /// Messages of an operation.
    each: u64,
    payload: Bytes,
}

impl All {
    fn new(member_state: &mut MemberState, bytes: usize, each: u64) -> Result<Self, Failed> {
        Ok(Self {
            ordered: member_state.ordered()?,
            everyone: member_state.everyone()?,
            rank: member_state.rank as u64,
            size: member_state.size as u64,
            each,
            payload: payload(bytes),
        })
    }
}

impl Part for All {
    fn run(&mut self, iterations: u64) -> Result<u64, Failed> {
        let messages = iterations * self.each;
        self.ordered.expect(messages);
        let mut own = self.rank;
        while own < messages {
            self.ordered.group.send(self.payload.clone())?;
            own += self.size;
        }
        self.ordered.wait()?;
        Ok(messages)
    }

    fn confirms(&self) -> bool {
        true
    }

    fn confirm(&mut self) -> Result<(), Failed> {
        Ok(self.everyone.barrier()?)
    }
}

/// Prepares messages of all members, which all members deliver in the end. An operation is a single
/// message, so it takes many of them until all have sent one.
pub fn group_all(member_state: &mut MemberState, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    Ok(Box::new(All::new(member_state, bytes, 1)?))
}

/// Prepares the same messages, but an operation is one of each member. A slice of long messages has
/// a single operation.
pub fn group_round(member_state: &mut MemberState, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    let size = member_state.size as u64;
    Ok(Box::new(All::new(member_state, bytes, size)?))
}

/// A group in which the leader comes and goes.
const VISITED: &str = "visited";

/// The leader leaves and joins again.
struct Visits {
    session: Session,
    group: Option<Group>,
}

impl Part for Visits {
    fn run(&mut self, iterations: u64) -> Result<u64, Failed> {
        for _ in 0..iterations {
            self.leave()?;
            self.group = Some(self.session.join_group(VISITED, |_| {})?);
        }
        Ok(iterations)
    }
}

impl Visits {
    fn leave(&mut self) -> Result<(), Failed> {
        self.group.take().map_or(Ok(()), |group| Ok(group.leave()?))
    }
}

impl Drop for Visits {
    fn drop(&mut self) {
        // The next test begins with a new group, also after a failure here.
        let _ = self.leave();
    }
}

/// Prepares two changes of members: the leader leaves, and joins again. The others stay.
pub fn group_join(member_state: &mut MemberState, _bytes: usize) -> Result<Box<dyn Part>, Failed> {
    let (session, everyone) = (member_state.session()?, member_state.everyone()?);
    let is_leader = member_state.rank == 0;
    if is_leader {
        everyone.barrier()?;
    }
    let group = Some(session.join_group(VISITED, |_| {})?);
    if !is_leader {
        everyone.barrier()?;
    }
    let visits = Visits { session, group };
    Ok(match is_leader {
        true => Box::new(visits),
        false => Box::new(Passive(visits)),
    })
}
