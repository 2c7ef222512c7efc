//! Operations that all members call.

use antiphon_panda::{Circle, Error, Port};
use bytes::Bytes;

use super::{payload, weight};
use crate::failure::Failed;
use crate::stage::Stage;
use crate::tests::Part;

type Call = fn(&Circle, &Bytes) -> Result<(), Error>;

struct Collective {
    circle: Circle,
    payload: Bytes,
    call: Call,
    confirms: bool,
}

impl Part for Collective {
    fn run(&mut self, iterations: u64) -> Result<u64, Failed> {
        for _ in 0..iterations {
            (self.call)(&self.circle, &self.payload)?;
        }
        Ok(iterations * weight(self.payload.len()))
    }

    fn confirms(&self) -> bool {
        self.confirms
    }

    fn confirm(&mut self) -> Result<(), Failed> {
        match self.confirms {
            true => Ok(self.circle.barrier()?),
            false => Ok(()),
        }
    }
}

fn collective(stage: &mut Stage, bytes: usize, call: Call) -> Result<Collective, Failed> {
    Ok(Collective {
        circle: stage.everyone()?,
        payload: payload(bytes),
        call,
        confirms: false,
    })
}

/// Until all are there.
pub fn barrier(stage: &mut Stage, _bytes: usize) -> Result<Box<dyn Part>, Failed> {
    let barrier = collective(stage, 0, |circle, _| circle.barrier())?;
    Ok(Box::new(barrier))
}

/// The leader's bytes to all; it goes on before they have come.
pub fn broadcast(stage: &mut Stage, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    let broadcast = collective(stage, bytes, |circle, payload| {
        circle
            .broadcast_bytes(0, Some(payload.clone().into()))
            .map(drop)
    })?;
    Ok(Box::new(Collective {
        confirms: true,
        ..broadcast
    }))
}

/// Sums, at the leader, of 64-bit integers that each has so many bytes of; the others go on before.
pub fn reduce(stage: &mut Stage, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    let reduce = collective(stage, bytes, |circle, payload| {
        circle.reduce(0, payload, add).map(drop)
    })?;
    Ok(Box::new(Collective {
        confirms: true,
        ..reduce
    }))
}

fn add(one: Bytes, other: Bytes) -> Bytes {
    let mut sums = Vec::with_capacity(one.len());
    for (a, b) in one.chunks(8).zip(other.chunks(8)) {
        let sum = number(a).wrapping_add(number(b)).to_le_bytes();
        sums.extend_from_slice(&sum[..a.len()]);
    }
    sums.into()
}

fn number(bytes: &[u8]) -> i64 {
    let mut whole = [0; 8];
    whole[..bytes.len()].copy_from_slice(bytes);
    i64::from_le_bytes(whole)
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

/// A message from everybody to everybody else.
pub fn all_to_all(stage: &mut Stage, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    Ok(Box::new(AllToAll {
        port: stage.session()?.port("all to all"),
        rank: stage.rank as u32,
        size: stage.size as u32,
        payload: payload(bytes),
    }))
}
