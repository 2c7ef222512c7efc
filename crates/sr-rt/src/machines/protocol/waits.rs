//! Waits for other machines, each by its number.
//!
//! A wait is for the machine that has the invocation or the question. A forward passes an invocation
//! on. Then two machines tell the waiting one: the forwarding one that it has sent the invocation,
//! and the next one that it has got it. In between, the loss of either ends the wait. Their letters
//! may come in any order, so each says how often the invocation was passed on (`hops`):
//!
//! ```text
//!   home ── call, 0 hops ──▶ B ── call, 1 hop ──▶ C
//!     ▲      Moved 1: B → C  │                    │
//!     ├──────────────────────┘                    │
//!     └──────────── Moved 1: at C ────────────────┘
//! ```

use std::collections::BTreeMap;

/// The waits of a machine. The waiter `W` says what is to be done at the end of a wait.
#[derive(Debug)]
pub struct Waits<W> {
    all: BTreeMap<u64, Wait<W>>,
    next: u64,
}

#[derive(Debug)]
struct Wait<W> {
    waiter: W,
    on: On,
}

/// The place of an invocation, as far as its caller's machine knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct On {
    machine: u32,
    /// The machine that has sent it there, while that is not known to have come.
    sender: Option<u32>,
    hops: u32,
}

impl<W> Default for Waits<W> {
    fn default() -> Self {
        Self {
            all: BTreeMap::new(),
            next: 1,
        }
    }
}

impl<W> Waits<W> {
    /// Returns a new number; never 0.
    pub fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// Begins a wait for a machine, and returns its number.
    pub fn begin(&mut self, machine: u32, waiter: W) -> u64 {
        let number = self.number();
        let on = On {
            machine,
            sender: None,
            hops: 0,
        };
        self.all.insert(number, Wait { waiter, on });
        number
    }

    /// Returns the waiter of a wait that goes on.
    pub fn get(&self, number: u64) -> Option<&W> {
        self.all.get(&number).map(|wait| &wait.waiter)
    }

    /// Ends a wait. Returns `None` if it has ended before.
    pub fn end(&mut self, number: u64) -> Option<W> {
        self.all.remove(&number).map(|wait| wait.waiter)
    }

    /// Notes that a sender has passed an invocation on to a machine, or without a sender that the
    /// invocation has come there. Older news changes nothing.
    pub fn moved(&mut self, number: u64, machine: u32, sender: Option<u32>, hops: u32) {
        let Some(wait) = self.all.get_mut(&number) else {
            return;
        };
        let is_news = match sender {
            Some(_) => hops > wait.on.hops,
            None => hops >= wait.on.hops,
        };
        if is_news {
            wait.on = On {
                machine,
                sender,
                hops,
            };
        }
    }

    /// Ends all waits for a machine that is gone.
    pub fn fail(&mut self, machine: u32) -> Vec<W> {
        let is_for = |on: &On| on.machine == machine || on.sender == Some(machine);
        let numbers = self.all.iter().filter(|(_, wait)| is_for(&wait.on));
        let numbers: Vec<u64> = numbers.map(|(number, _)| *number).collect();
        numbers
            .into_iter()
            .filter_map(|number| self.end(number))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the wait for machine 1 whose invocation has moved as these letters say, as the
    /// machines whose loss ends it.
    fn ended_by(moves: &[(u32, Option<u32>, u32)]) -> Vec<u32> {
        let ends = |machine: &u32| {
            let mut waits = Waits::default();
            let number = waits.begin(1, ());
            for &(to, sender, hops) in moves {
                waits.moved(number, to, sender, hops);
            }
            !waits.fail(*machine).is_empty()
        };
        (1..6).filter(ends).collect()
    }

    #[test]
    fn a_wait_is_for_the_machine_that_has_the_invocation() {
        assert_eq!(ended_by(&[]), [1]);
        assert_eq!(ended_by(&[(2, Some(1), 1)]), [1, 2]);
        assert_eq!(ended_by(&[(2, Some(1), 1), (2, None, 1)]), [2]);
    }

    #[test]
    fn letters_about_moves_may_come_in_any_order() {
        let moves = [(2, Some(1), 1), (2, None, 1), (3, Some(2), 2), (3, None, 2)];
        // Those of one machine keep their order.
        let orders = [
            [0, 1, 2, 3],
            [1, 0, 2, 3],
            [1, 2, 0, 3],
            [1, 2, 3, 0],
            [0, 3, 1, 2],
            [3, 1, 2, 0],
            [3, 0, 1, 2],
        ];
        for order in orders {
            let moves = order.map(|place| moves[place]);
            assert_eq!(ended_by(&moves), [3], "{order:?}");
        }
    }

    #[test]
    fn a_wait_ends_once() {
        let mut waits = Waits::default();
        let number = waits.begin(1, "first");
        assert_eq!(waits.end(number), Some("first"));
        assert_eq!(waits.end(number), None);
        assert_eq!(waits.fail(1), Vec::<&str>::new());
    }
}
