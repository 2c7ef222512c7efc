//! Operations that all members call.

use antiphon_panda::{Circle, Port};
use bytes::Bytes;

use super::{payload, weight};
use crate::failure::Failed;
use crate::stage::Stage;
use crate::tests::Part;

struct Collective {
    circle: Circle,
    size: u64,
    payload: Bytes,
    call: fn(&Circle, u32, &Bytes) -> Result<(), antiphon_panda::Error>,
}

impl Part for Collective {
    fn run(&mut self, iterations: u64) -> Result<u64, Failed> {
        for turn in 0..iterations {
            // The root goes round: with one root its messages would follow each other unhindered, and a rate be measured instead of a time.
            let root = (turn % self.size) as u32;
            (self.call)(&self.circle, root, &self.payload)?;
        }
        Ok(iterations * weight(self.payload.len()))
    }
}

fn collective(
    stage: &mut Stage,
    bytes: usize,
    call: fn(&Circle, u32, &Bytes) -> Result<(), antiphon_panda::Error>,
) -> Result<Box<dyn Part>, Failed> {
    Ok(Box::new(Collective {
        circle: stage.everyone()?,
        size: stage.size as u64,
        payload: payload(bytes),
        call,
    }))
}

/// Until all are there.
pub fn barrier(stage: &mut Stage, _bytes: usize) -> Result<Box<dyn Part>, Failed> {
    collective(stage, 0, |circle, _, _| circle.barrier())
}

/// One member's bytes to all; each in turn.
pub fn broadcast(stage: &mut Stage, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    collective(stage, bytes, |circle, root, payload| {
        circle.broadcast(root, payload).map(drop)
    })
}

/// Everybody's bytes, added up place by place at one member; each in turn.
pub fn reduce(stage: &mut Stage, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    collective(stage, bytes, |circle, root, payload| {
        circle.reduce(root, payload, add).map(drop)
    })
}

fn add(one: Bytes, other: Bytes) -> Bytes {
    let sums = one.iter().zip(&other).map(|(a, b)| a.wrapping_add(*b));
    sums.collect()
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
