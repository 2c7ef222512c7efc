//! How long a process that leaves waits for its peers to take what they were sent.

use std::time::{Duration, Instant};

/// The patience of who leaves without having a session's.
pub const PATIENCE: Duration = Duration::from_secs(3);

/// Waits as long as something is taken, and for some time after nothing is any more.
#[derive(Debug)]
pub struct Farewell {
    patience: Duration,
    left: usize,
    since: Instant,
}

impl Farewell {
    /// Of a process that waits so long for peers that take nothing.
    pub fn new(patience: Duration) -> Self {
        Self {
            patience,
            left: usize::MAX,
            since: Instant::now(),
        }
    }

    /// Whether to go on waiting, with so much left that peers have not taken.
    pub fn waits(&mut self, left: usize) -> bool {
        if left != self.left {
            (self.left, self.since) = (left, Instant::now());
        }
        left > 0 && self.since.elapsed() < self.patience
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_lasts_while_something_is_taken() {
        let mut farewell = Farewell::new(Duration::ZERO);
        assert!(!farewell.waits(0), "nothing is left");
        assert!(!farewell.waits(7), "no patience");
        let mut farewell = Farewell::new(Duration::MAX);
        assert!([7, 7, 5].into_iter().all(|left| farewell.waits(left)));
        let began = farewell.since;
        assert!(farewell.waits(5) && farewell.since == began);
        assert!(farewell.waits(4) && farewell.since > began);
        assert!(!farewell.waits(0));
    }
}
