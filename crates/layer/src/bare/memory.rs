//! A place for one message each way in memory that both see. Whoever waits looks at a counter, again and again where the partner has a processor of its own, else
//! asleep on a futex.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Instant;

use super::PATIENCE;
use crate::board::{Board, LONGEST, sleep_while, wake_all};
use crate::failure::Failed;
use crate::stage::Stage;
use crate::tests::Part;

/// Looks between two at the clock.
const LOOKS: u64 = 1 << 24;

struct Roundtrip {
    board: Arc<Board>,
    rank: usize,
    spins: bool,
    payload: Vec<u8>,
    space: Vec<u8>,
    /// Messages so far, each way.
    turn: u32,
}

impl Roundtrip {
    fn give(&self) {
        // SAFETY: the space of this member is as long as any payload, and the partner looks at it only after the counter below says so.
        unsafe {
            self.board
                .space(self.rank)
                .copy_from_nonoverlapping(self.payload.as_ptr(), self.payload.len());
        }
        let word = self.board.word(self.rank);
        word.store(self.turn, SeqCst);
        if !self.spins {
            wake_all(word);
        }
    }

    fn take(&mut self) -> Result<(), Failed> {
        let other = 1 - self.rank;
        let word = self.board.word(other);
        let mut looks = 0_u64;
        let mut until = None;
        while word.load(SeqCst) != self.turn {
            looks += 1;
            if self.spins {
                std::hint::spin_loop();
            } else {
                sleep_while(word, self.turn.wrapping_sub(1), PATIENCE);
            }
            let is_time = !self.spins || looks.is_multiple_of(LOOKS);
            if is_time && Instant::now() > *until.get_or_insert(Instant::now() + PATIENCE) {
                return Err(Failed("the partner did not answer".into()));
            }
        }
        // SAFETY: as in `give`; the partner writes again only after it has got an answer to this.
        unsafe {
            self.board
                .space(other)
                .copy_to_nonoverlapping(self.space.as_mut_ptr(), self.space.len());
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

/// There and back.
pub fn memory_roundtrip(stage: &mut Stage, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    if bytes > LONGEST {
        return Err(Failed(format!("the memory has room for {LONGEST} bytes")));
    }
    // Both words hold how many trips there have been in this company.
    let turn = stage.board.word(stage.rank).load(SeqCst);
    Ok(Box::new(Roundtrip {
        board: stage.board.clone(),
        rank: stage.rank,
        spins: stage.is_apart,
        payload: vec![7; bytes],
        space: vec![0; bytes],
        turn,
    }))
}
