//! The kit's own tests, by which the method is tried: two copies of one loop, a loop that is 5 % dearer, and a loop that blocks
//! against itself.

use crate::frame::chain_step;
use crate::test::{Failure, Frames, Test};
use crate::threads::{start_partner, takes_part};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Two functions of this with different `COPY` are the same code at two addresses.
#[inline(never)]
fn chain<const STEPS: usize, const COPY: u8>(iterations: u64) -> u64 {
    // SAFETY: a comment. It differs, so that the compiler does not make equal functions one.
    unsafe {
        std::arch::asm!("/* copy {0} */", const COPY, options(nomem, nostack, preserves_flags))
    };
    let mut x = 1;
    for _ in 0..iterations {
        for _ in 0..STEPS {
            x = chain_step(x);
        }
    }
    x
}

pub(crate) fn tests() -> Vec<Test> {
    vec![
        Test::functions("self.same", chain::<20, 0>, chain::<20, 1>).work("self.same"),
        Test::functions("self.dearer", chain::<20, 0>, chain::<21, 0>).work("self.dearer"),
        Test::frame("self.handoff", |_| Handoff::new())
            .threads(2)
            .switches(2),
    ]
}

/// Control given to a partner thread and back: the simplest operation that blocks.
struct Handoff {
    shared: Arc<Shared>,
    partner: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    turn: Mutex<Turn>,
    changed: [Condvar; 2],
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Whose {
    #[default]
    Main,
    Partner,
    Ended,
}

#[derive(Default)]
struct Turn {
    whose: Whose,
    exchanged: u64,
}

impl Shared {
    fn give(&self, to: Whose, exchanged: impl FnOnce(u64) -> u64) {
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        turn.whose = to;
        turn.exchanged = exchanged(turn.exchanged);
        drop(turn);
        self.changed[usize::from(to != Whose::Main)].notify_one();
    }

    /// Whether it was given to whoever waits, and not ended.
    fn wait(&self, main: bool) -> Option<u64> {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let given = |turn: &mut Turn| (turn.whose == Whose::Main) != main;
        let turn = self.changed[usize::from(!main)]
            .wait_while(turn, given)
            .unwrap_or_else(PoisonError::into_inner);
        (turn.whose != Whose::Ended).then_some(turn.exchanged)
    }
}

impl Handoff {
    fn new() -> Result<Self, Failure> {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let partner = start_partner(move || {
            while theirs.wait(false).is_some() {
                takes_part("partner");
                theirs.give(Whose::Main, |exchanged| exchanged + 1);
            }
        })?;
        Ok(Handoff {
            shared,
            partner: Some(partner),
        })
    }

    fn handoffs(&self, iterations: u64) -> u64 {
        let mut sum = 0u64;
        for index in 0..iterations {
            let begin = index == 0;
            self.shared.give(
                Whose::Partner,
                |exchanged| if begin { 0 } else { exchanged },
            );
            sum = sum.wrapping_add(self.shared.wait(true).unwrap_or(0));
        }
        sum
    }
}

impl Frames for Handoff {
    fn control(&mut self, iterations: u64) -> Result<u64, Failure> {
        Ok(self.handoffs(iterations))
    }

    fn test(&mut self, iterations: u64) -> Result<u64, Failure> {
        Ok(self.handoffs(iterations))
    }
}

impl Drop for Handoff {
    fn drop(&mut self) {
        self.shared.give(Whose::Ended, |exchanged| exchanged);
        if let Some(partner) = self.partner.take() {
            let _ = partner.join();
        }
    }
}
