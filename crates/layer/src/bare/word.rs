//! Meaning of the control page's words for two bare members.

/// Messages that a member has sent in round trips.
pub fn trips(rank: usize) -> usize {
    rank
}

/// Returns the word of a member's port. Each test has its own, because the last one's stays.
pub fn port(rank: usize) -> usize {
    2 + rank
}

/// Pieces that were written into the ring.
pub const WRITTEN: usize = 4;
/// Pieces that were read from it.
pub const READ: usize = 5;

/// Returns the word that says whether a member sleeps on a counter.
pub fn sleeper(counter: usize) -> usize {
    8 + counter
}
