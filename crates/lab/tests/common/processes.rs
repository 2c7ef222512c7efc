//! Looking for processes, and waiting for what they do.

use std::time::{Duration, Instant};

/// Far more than anything takes that is waited for; a test waits this long only to fail.
const LIMIT: Duration = Duration::from_secs(60);

/// The processes that were started with this variable, as `NAME=VALUE`.
pub fn processes_with(variable: &str) -> Vec<String> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let with = all.filter(|entry| {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|known| known == variable.as_bytes())
    });
    with.map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

/// Waits until something is so, which `what` says in words.
pub fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let limit = Instant::now() + LIMIT;
    while !is_so() {
        assert!(Instant::now() < limit, "it never came so far that {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
