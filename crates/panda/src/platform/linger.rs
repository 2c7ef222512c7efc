//! The linger: how long a leaving process waits for its peers to take what they were sent.

use std::time::{Duration, Instant};

/// Patience of a process that leaves without a session's patience.
pub const PATIENCE: Duration = Duration::from_secs(3);

/// A wait that goes on while peers take bytes, and for some time after they take none any more.
#[derive(Debug)]
pub struct Linger {
    patience: Duration,
    left: usize,
    since: Instant,
}

/// Least time for which an ending session waits for peers that take nothing.
const LEAST: Duration = Duration::from_secs(1);
/// Longest such time. In between, the time is that for which peers may be silent.
const MOST: Duration = Duration::from_secs(10);

impl Linger {
    /// Returns the patience of a session whose peers may be silent for so long.
    pub fn patience_of(silence: Duration) -> Duration {
        silence.clamp(LEAST, MOST)
    }

    /// Begins the wait of a process that waits so long, from now on, for peers that take nothing.
    pub fn new(patience: Duration, now: Instant) -> Self {
        Self {
            patience,
            left: usize::MAX,
            since: now,
        }
    }

    /// Returns whether to go on waiting, when peers have not taken `left` bytes by now.
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
