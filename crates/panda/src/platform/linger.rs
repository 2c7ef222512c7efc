//! How long a process that leaves waits for its peers to take what they were sent.

use std::time::{Duration, Instant};

/// The patience of who leaves without having a session's.
pub const PATIENCE: Duration = Duration::from_secs(3);

/// Waits as long as something is taken, and for some time after nothing is any more.
#[derive(Debug)]
pub struct Linger {
    patience: Duration,
    left: usize,
    since: Instant,
}

/// A session that ends waits for peers that take nothing of what they were sent at least so long …
const LEAST: Duration = Duration::from_secs(1);
/// … and at most so long. Between these, as long as they may be silent.
const MOST: Duration = Duration::from_secs(10);

impl Linger {
    /// The patience of a session whose peers may be silent for so long.
    pub fn patience_of(silence: Duration) -> Duration {
        silence.clamp(LEAST, MOST)
    }

    /// Of a process that waits so long, from now on, for peers that take nothing.
    pub fn new(patience: Duration, now: Instant) -> Self {
        Self {
            patience,
            left: usize::MAX,
            since: now,
        }
    }

    /// Whether to go on waiting, with so much left now that peers have not taken.
    pub fn waits(&mut self, left: usize, now: Instant) -> bool {
        if left != self.left {
            (self.left, self.since) = (left, now);
        }
        left > 0 && now.saturating_duration_since(self.since) < self.patience
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_lasts_while_something_is_taken() {
        let now = Instant::now();
        let soon = now + Duration::from_secs(1);
        let mut linger = Linger::new(Duration::ZERO, now);
        assert!(!linger.waits(0, now), "nothing is left");
        assert!(!linger.waits(7, now), "no patience");
        let mut linger = Linger::new(Duration::from_secs(1), now);
        assert!(linger.waits(7, now) && linger.waits(5, soon));
        assert!(linger.waits(5, soon) && linger.waits(5, soon + Duration::from_millis(999)));
        assert!(!linger.waits(5, soon + Duration::from_secs(1)));
        assert!(linger.waits(4, soon + Duration::from_secs(1)));
        assert!(!linger.waits(0, soon));
    }
}
