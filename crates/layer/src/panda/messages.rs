//! Messages between two: the leader, rank 0, and rank 1.

use antiphon_panda::{Message, Port};
use bytes::Bytes;

use super::served::{Served, Serving};
use super::{payload, weight};
use crate::failure::Failed;
use crate::member_state::MemberState;
use crate::tests::Part;

/// A port that both receive from explicitly.
struct Pair {
    port: Port,
    is_leader: bool,
    payload: Bytes,
}

impl Pair {
    fn new(member_state: &mut MemberState, name: &str, bytes: usize) -> Result<Self, Failed> {
        Ok(Self {
            port: member_state.session()?.port(name),
            is_leader: member_state.rank == 0,
            payload: payload(bytes),
        })
    }

    fn other(&self) -> u32 {
        u32::from(self.is_leader)
    }

    fn give(&self) -> Result<(), Failed> {
        Ok(self.port.send(self.other(), 0, self.payload.clone())?)
    }

    fn take(&self) -> Result<u64, Failed> {
        let arrived = self.port.receive(Some(self.other()), None)?;
        Ok(weight(arrived.payload.len()))
    }
}

struct Roundtrip(Pair);

impl Part for Roundtrip {
    fn run(&mut self, iterations: u64) -> Result<u64, Failed> {
        let (pair, mut sum) = (&self.0, 0);
        for _ in 0..iterations {
            if pair.is_leader {
                pair.give()?;
                sum += pair.take()?;
            } else {
                sum += pair.take()?;
                pair.give()?;
            }
        }
        Ok(sum)
    }
}

/// Prepares a round trip with explicit receives on both sides.
pub fn roundtrip(member_state: &mut MemberState, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    Ok(Box::new(Roundtrip(Pair::new(
        member_state,
        "roundtrip",
        bytes,
    )?)))
}

/// Prepares a round trip whose answer comes from the partner's upcall.
pub fn roundtrip_upcall(
    member_state: &mut MemberState,
    bytes: usize,
) -> Result<Box<dyn Part>, Failed> {
    let pair = Pair::new(member_state, "there", bytes)?;
    if pair.is_leader {
        return Ok(Box::new(Roundtrip(pair)));
    }
    let (port, payload) = (pair.port.clone(), pair.payload.clone());
    let served = Served::new(member_state);
    let own = served.clone();
    pair.port.on_message(move |arrived| {
        own.one();
        // A leader that is lost hears nothing; the process group then ends.
        let _ = port.send(arrived.from, 0, payload.clone());
    })?;
    Ok(Box::new(Serving::new(served, pair)))
}

struct Synchronous(Pair);

impl Part for Synchronous {
    fn run(&mut self, iterations: u64) -> Result<u64, Failed> {
        let pair = &self.0;
        for _ in 0..iterations {
            pair.port
                .send_synchronously(pair.other(), 0, pair.payload.clone())?;
        }
        Ok(iterations * weight(pair.payload.len()))
    }
}

/// Prepares a synchronous send to an upcall that does nothing.
pub fn synchronous(member_state: &mut MemberState, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    let pair = Pair::new(member_state, "synchronous", bytes)?;
    if pair.is_leader {
        return Ok(Box::new(Synchronous(pair)));
    }
    let served = Served::new(member_state);
    let own = served.clone();
    pair.port.on_message(move |_| own.one())?;
    Ok(Box::new(Serving::new(served, pair)))
}

struct Stream {
    pair: Pair,
    confirmed: Port,
}

impl Part for Stream {
    fn run(&mut self, iterations: u64) -> Result<u64, Failed> {
        let (pair, mut sum) = (&self.pair, 0);
        for _ in 0..iterations {
            if pair.is_leader {
                pair.give()?;
                sum += weight(pair.payload.len());
            } else {
                sum += pair.take()?;
            }
        }
        Ok(sum)
    }

    fn confirms(&self) -> bool {
        true
    }

    fn confirm(&mut self) -> Result<(), Failed> {
        match self.pair.is_leader {
            true => self.confirmed.receive(Some(1), None).map(drop)?,
            false => self.confirmed.send(0, 0, Message::new())?,
        }
        Ok(())
    }
}

/// Messages one way; the receiver confirms the last.
pub fn stream(member_state: &mut MemberState, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    let confirmed = member_state.session()?.port("confirmed");
    let pair = Pair::new(member_state, "stream", bytes)?;
    Ok(Box::new(Stream { pair, confirmed }))
}
