//! Operations that all members call.

use antiphon_panda::{Communicator, Error, Message, Port, Reduction};
use bytes::Bytes;

use super::{Passive, payload, weight};
use crate::failure::Failed;
use crate::member_state::MemberState;
use crate::tests::Part;

type Call = fn(&Communicator, &Bytes) -> Result<(), Error>;

struct Collective {
    communicator: Communicator,
    payload: Bytes,
    call: Call,
    confirms: bool,
}

impl Part for Collective {
    fn run(&mut self, iterations: u64) -> Result<u64, Failed> {
        for _ in 0..iterations {
            (self.call)(&self.communicator, &self.payload)?;
        }
        Ok(iterations * weight(self.payload.len()))
    }

    fn confirms(&self) -> bool {
        self.confirms
    }

    fn confirm(&mut self) -> Result<(), Failed> {
        match self.confirms {
            true => Ok(self.communicator.barrier()?),
            false => Ok(()),
        }
    }
}

fn collective(
    member_state: &mut MemberState,
    bytes: usize,
    call: Call,
) -> Result<Collective, Failed> {
    Ok(Collective {
        communicator: member_state.everyone()?,
        payload: payload(bytes),
        call,
        confirms: false,
    })
}

/// Prepares a barrier of all members.
pub fn barrier(member_state: &mut MemberState, _bytes: usize) -> Result<Box<dyn Part>, Failed> {
    let barrier = collective(member_state, 0, |communicator, _| communicator.barrier())?;
    Ok(Box::new(barrier))
}

/// Prepares a broadcast of the leader's bytes; the leader goes on before they have arrived.
pub fn broadcast(member_state: &mut MemberState, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    let broadcast = collective(member_state, bytes, |communicator, payload| {
        communicator
            .broadcast_bytes(0, Some(payload.clone().into()))
            .map(drop)
    })?;
    Ok(Box::new(Collective {
        confirms: true,
        ..broadcast
    }))
}

/// Prepares sums, at the leader, of `bytes` of 64-bit integers from each member, as in Open MPI's
/// subject. The others go on earlier.
pub fn reduce(member_state: &mut MemberState, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    summed(member_state, bytes, true, |communicator, numbers| {
        communicator.reduce_numbers(0, numbers, Reduction::Sum)
    })
}

/// Sums of 64-bit integers, at everybody.
pub fn all_reduce(member_state: &mut MemberState, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    summed(member_state, bytes, false, |communicator, numbers| {
        communicator.all_reduce_numbers(numbers, Reduction::Sum)
    })
}

type Sum = fn(&Communicator, &mut [i64]) -> Result<(), Error>;

fn summed(
    member_state: &mut MemberState,
    bytes: usize,
    confirms: bool,
    call: Sum,
) -> Result<Box<dyn Part>, Failed> {
    Ok(Box::new(Sums {
        communicator: member_state.everyone()?,
        numbers: vec![0; (bytes / size_of::<i64>()).max(1)],
        call,
        confirms,
    }))
}

/// Numbers that each operation adds up in place, because their values do not affect the cost.
struct Sums {
    communicator: Communicator,
    numbers: Vec<i64>,
    call: Sum,
    confirms: bool,
}

impl Part for Sums {
    fn run(&mut self, iterations: u64) -> Result<u64, Failed> {
        for _ in 0..iterations {
            (self.call)(&self.communicator, &mut self.numbers)?;
        }
        Ok(iterations * weight(size_of_val(self.numbers.as_slice())))
    }

    fn confirms(&self) -> bool {
        self.confirms
    }

    fn confirm(&mut self) -> Result<(), Failed> {
        match self.confirms {
            true => Ok(self.communicator.barrier()?),
            false => Ok(()),
        }
    }
}

/// Prepares a gather of `bytes` of each member at the leader; the others go on earlier.
pub fn gather(member_state: &mut MemberState, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    let gather = collective(member_state, bytes, |communicator, payload| {
        communicator.gather_bytes(0, payload.clone()).map(drop)
    })?;
    Ok(Box::new(Collective {
        confirms: true,
        ..gather
    }))
}

/// Prepares a scatter of the leader's bytes, `bytes` for each; the leader goes on before they have
/// arrived.
pub fn scatter(member_state: &mut MemberState, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    let parts = if member_state.rank == 0 {
        member_state.size
    } else {
        0
    };
    Ok(Box::new(Scatter {
        communicator: member_state.everyone()?,
        parts: vec![payload(bytes).into(); parts],
    }))
}

struct Scatter {
    communicator: Communicator,
    /// Parts for each member, at the leader.
    parts: Vec<Message>,
}

impl Part for Scatter {
    fn run(&mut self, iterations: u64) -> Result<u64, Failed> {
        let mut sum = 0;
        for _ in 0..iterations {
            let own = self.communicator.scatter_bytes(0, self.parts.clone())?;
            sum += weight(own.len());
        }
        Ok(sum)
    }

    fn confirms(&self) -> bool {
        true
    }

    fn confirm(&mut self) -> Result<(), Failed> {
        Ok(self.communicator.barrier()?)
    }
}

/// Prepares a barrier of every second member; the others have no part in it.
pub fn barrier_half(
    member_state: &mut MemberState,
    _bytes: usize,
) -> Result<Box<dyn Part>, Failed> {
    let half: Vec<u32> = (0..member_state.size as u32).step_by(2).collect();
    let session = member_state.session()?;
    if !half.contains(&(member_state.rank as u32)) {
        return Ok(Box::new(Passive(session)));
    }
    Ok(Box::new(Collective {
        communicator: session.communicator(&half)?,
        payload: Bytes::new(),
        call: |communicator, _| communicator.barrier(),
        confirms: false,
    }))
}

struct AllToAll {
    port: Port,
    rank: u32,
    size: u32,
    payload: Bytes,
}

impl Part for AllToAll {
    fn run(&mut self, iterations: u64) -> Result<u64, Failed> {
        let mut sum = 0;
        // Each begins with its neighbour, so that not all send to the same one at a time.
        let others = |step| (self.rank + step) % self.size;
        for _ in 0..iterations {
            for step in 1..self.size {
                self.port.send(others(step), 0, self.payload.clone())?;
            }
            for step in 1..self.size {
                let arrived = self.port.receive(Some(others(self.size - step)), None)?;
                sum += weight(arrived.payload.len());
            }
        }
        Ok(sum)
    }
}

/// Prepares a message from every member to every other.
pub fn all_to_all(member_state: &mut MemberState, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    Ok(Box::new(AllToAll {
        port: member_state.session()?.port("all to all"),
        rank: member_state.rank as u32,
        size: member_state.size as u32,
        payload: payload(bytes),
    }))
}
