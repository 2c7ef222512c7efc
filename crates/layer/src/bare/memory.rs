//! Shared memory between two members: a place for one message each way, and a ring of places one
//! way.
//!
//! A waiting member polls a counter if the partner has its own processor. Otherwise it sleeps on a
//! futex.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Instant;

use super::{PATIENCE, word};
use crate::control_page::{ControlPage, LONGEST, sleep_while, wake_all};
use crate::failure::Failed;
use crate::member_state::MemberState;
use crate::tests::Part;

/// Looks between two at the clock.
const LOOKS: u64 = 1 << 24;
/// A message goes through the ring in pieces of this many bytes at most …
const PIECE: usize = 64 << 10;
/// … of which the ring holds as many as fit into this, but no more than this number.
const RING: usize = 1 << 20;
const PLACES: usize = 512;
/// Pieces begin at multiples of this.
const LINE: usize = 64;

/// Counters that both see; one of both counts each up, and the other waits for it.
struct Counters {
    control_page: Arc<ControlPage>,
    spins: bool,
}

impl Counters {
    fn new(member_state: &MemberState) -> Self {
        Self {
            control_page: member_state.control_page.clone(),
            spins: member_state.is_apart,
        }
    }

    fn set(&self, counter: usize, value: u32) {
        let there = self.control_page.word(counter);
        there.store(value, SeqCst);
        if !self.spins && self.control_page.word(word::sleeper(counter)).load(SeqCst) != 0 {
            wake_all(there);
        }
    }

    /// Waits until it has another value; that.
    fn other_than(&self, counter: usize, value: u32) -> Result<u32, Failed> {
        let there = self.control_page.word(counter);
        let sleeper = self.control_page.word(word::sleeper(counter));
        let mut looks = 0_u64;
        let mut until = None;
        loop {
            let seen = there.load(SeqCst);
            if seen != value {
                return Ok(seen);
            }
            looks += 1;
            if self.spins {
                std::hint::spin_loop();
            } else {
                // A partner that sees this flag wakes us after it sets the counter. If it misses
                // the flag, the futex sees the counter.
                sleeper.store(1, SeqCst);
                sleep_while(there, value, PATIENCE);
                sleeper.store(0, SeqCst);
            }
            let is_time = !self.spins || looks.is_multiple_of(LOOKS);
            if is_time && Instant::now() > *until.get_or_insert(Instant::now() + PATIENCE) {
                return Err(Failed("the partner did not answer".into()));
            }
        }
    }
}

struct Roundtrip {
    counters: Counters,
    rank: usize,
    payload: Vec<u8>,
    space: Vec<u8>,
    /// Messages so far, each way.
    turn: u32,
}

impl Roundtrip {
    fn give(&self) {
        // SAFETY: the space of this member is as long as any payload, and the partner looks at it
        // only after the counter below says so.
        unsafe {
            let space = self.counters.control_page.space(self.rank);
            space.copy_from_nonoverlapping(self.payload.as_ptr(), self.payload.len());
        }
        self.counters.set(word::trips(self.rank), self.turn);
    }

    fn take(&mut self) -> Result<(), Failed> {
        let other = 1 - self.rank;
        let before = self.turn.wrapping_sub(1);
        self.counters.other_than(word::trips(other), before)?;
        // SAFETY: as in `give`; the partner writes again only after it has got an answer to this.
        unsafe {
            let space = self.counters.control_page.space(other);
            space.copy_to_nonoverlapping(self.space.as_mut_ptr(), self.space.len());
        }
        Ok(())
    }
}

impl Part for Roundtrip {
    fn run(&mut self, iterations: u64) -> Result<u64, Failed> {
        for _ in 0..iterations {
            self.turn = self.turn.wrapping_add(1);
            if self.rank == 0 {
                self.give();
                self.take()?;
            } else {
                self.take()?;
                self.give();
            }
        }
        Ok(iterations * (self.space.len() as u64 + 1))
    }
}

fn fits(bytes: usize) -> Result<(), Failed> {
    match bytes <= LONGEST {
        true => Ok(()),
        false => Err(Failed(format!("the memory has room for {LONGEST} bytes"))),
    }
}

/// Prepares a round trip.
pub fn memory_roundtrip(
    member_state: &mut MemberState,
    bytes: usize,
) -> Result<Box<dyn Part>, Failed> {
    fits(bytes)?;
    // Both words hold how many trips there have been in this process group.
    let turn = member_state
        .control_page
        .word(word::trips(member_state.rank))
        .load(SeqCst);
    Ok(Box::new(Roundtrip {
        counters: Counters::new(member_state),
        rank: member_state.rank,
        payload: vec![7; bytes],
        space: vec![0; bytes],
        turn,
    }))
}

/// One end of the ring.
struct Stream {
    counters: Counters,
    is_leader: bool,
    /// Bytes of a place, and how many there are.
    place: usize,
    places: u32,
    /// Message to send, or space to receive it.
    message: Vec<u8>,
    /// Pieces that this end has written or read so far, and its last knowledge of the other end.
    own: u32,
    other: u32,
}

impl Stream {
    fn here(&self) -> *mut u8 {
        const { assert!(RING <= LONGEST) };
        let place = (self.own % self.places) as usize;
        // SAFETY: in the ring, and so in bounds of the leader's space by the assertion.
        unsafe { self.counters.control_page.space(0).add(place * self.place) }
    }

    fn write(&mut self, from: usize, length: usize) -> Result<(), Failed> {
        while self.own.wrapping_sub(self.other) >= self.places {
            self.other = self.counters.other_than(word::READ, self.other)?;
        }
        let piece = &self.message[from..from + length];
        // SAFETY: a place holds a piece, and the reader has read what was there.
        unsafe {
            self.here().copy_from_nonoverlapping(piece.as_ptr(), length);
        }
        self.own = self.own.wrapping_add(1);
        self.counters.set(word::WRITTEN, self.own);
        Ok(())
    }

    fn read(&mut self, from: usize, length: usize) -> Result<(), Failed> {
        if self.own == self.other {
            self.other = self.counters.other_than(word::WRITTEN, self.other)?;
        }
        let here = self.here();
        let piece = &mut self.message[from..from + length];
        // SAFETY: a place holds a piece, and the writer has written it.
        unsafe { here.copy_to_nonoverlapping(piece.as_mut_ptr(), length) };
        self.own = self.own.wrapping_add(1);
        self.counters.set(word::READ, self.own);
        Ok(())
    }
}

impl Part for Stream {
    fn run(&mut self, iterations: u64) -> Result<u64, Failed> {
        let bytes = self.message.len();
        for _ in 0..iterations {
            // One of no bytes is a piece, too.
            for from in (0..bytes.max(1)).step_by(PIECE) {
                let length = PIECE.min(bytes - from);
                match self.is_leader {
                    true => self.write(from, length)?,
                    false => self.read(from, length)?,
                }
            }
        }
        Ok(iterations * (bytes as u64 + 1))
    }

    fn confirms(&self) -> bool {
        true
    }

    fn confirm(&mut self) -> Result<(), Failed> {
        while self.is_leader && self.other != self.own {
            self.other = self.counters.other_than(word::READ, self.other)?;
        }
        Ok(())
    }
}

/// Prepares a stream one way; the leader sees the last message read.
pub fn memory_stream(
    member_state: &mut MemberState,
    bytes: usize,
) -> Result<Box<dyn Part>, Failed> {
    fits(bytes)?;
    // Both words hold how many pieces there have been in this process group.
    let before = member_state.control_page.word(word::READ).load(SeqCst);
    let place = bytes.clamp(1, PIECE).next_multiple_of(LINE);
    Ok(Box::new(Stream {
        counters: Counters::new(member_state),
        is_leader: member_state.rank == 0,
        place,
        // A power of two, as the counters wrap.
        places: 1 << (RING / place).min(PLACES).ilog2(),
        message: vec![7; bytes],
        own: before,
        other: before,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(control_page: &Arc<ControlPage>, rank: usize, bytes: usize, spins: bool) -> Stream {
        let place = bytes.clamp(1, PIECE).next_multiple_of(LINE);
        Stream {
            counters: Counters {
                control_page: control_page.clone(),
                spins,
            },
            is_leader: rank == 0,
            place,
            places: 4,
            message: vec![0; bytes],
            own: u32::MAX - 5,
            other: u32::MAX - 5,
        }
    }

    #[test]
    fn what_goes_through_the_ring_comes_out_in_order_whoever_is_slow() {
        for (bytes, spins) in [
            (0, false),
            (100, false),
            (100, true),
            (3 * PIECE + 1, false),
        ] {
            let control_page = Arc::new(ControlPage::new().expect("a page"));
            for counter in [word::READ, word::WRITTEN] {
                control_page.word(counter).store(u32::MAX - 5, SeqCst);
            }
            let (mut writer, mut reader) = (
                end(&control_page, 0, bytes, spins),
                end(&control_page, 1, bytes, spins),
            );
            let reported = std::thread::spawn(move || {
                for number in 0..50 {
                    writer.message.fill(number);
                    writer.run(1).expect("read in time");
                }
                writer.confirm().expect("read in time");
            });
            for number in 0..50 {
                reader.run(1).expect("written in time");
                assert_eq!(reader.message, vec![number; bytes]);
            }
            reported.join().expect("no panic");
        }
    }
}
