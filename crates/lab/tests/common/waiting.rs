//! Waits for actions of processes.

use std::time::{Duration, Instant};

/// Far more than anything takes that is waited for; a test waits this long only to fail.
const LIMIT: Duration = Duration::from_secs(60);

/// Waits for a condition, which `what` describes in words.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let limit = Instant::now() + LIMIT;
    while !is_so() {
        assert!(Instant::now() < limit, "it never came so far that {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
