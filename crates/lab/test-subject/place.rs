//! Placement and resource use of threads, as the system tells a thread itself.

use rustix::thread::{CpuSet, sched_setaffinity};
use std::fs::read_to_string;

#[derive(Clone, Copy)]
pub enum Place {
    Free,
    Same(usize),
    Across(usize, usize),
}

impl Place {
    /// Puts the calling thread where a thread of this role belongs.
    pub fn put(self, role: &str) {
        let processor = match (self, role) {
            (Self::Free, _) => return,
            (Self::Same(processor), _) | (Self::Across(processor, _), "main") => processor,
            (Self::Across(_, processor), _) => processor,
        };
        let mut set = CpuSet::new();
        set.set(processor);
        if let Err(error) = sched_setaffinity(None, &set) {
            eprintln!("processor {processor}: {error}");
        }
    }
}

/// Returns the processor of the calling thread. It avoids `sched_getcpu`, whose vDSO call fails
/// under valgrind.
pub fn processor() -> u32 {
    let stat = read_to_string("/proc/thread-self/stat").unwrap_or_default();
    let words = stat.rsplit(") ").next().unwrap_or_default();
    let word = words.split(' ').nth(36);
    word.and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// Returns the calling thread's report.
pub fn report(role: &str, count: u64) -> String {
    let stat = read_to_string("/proc/thread-self/stat").unwrap_or_default();
    let words: Vec<&str> = stat
        .rsplit(") ")
        .next()
        .unwrap_or_default()
        .split(' ')
        .collect();
    let word = |index: usize| words.get(index).copied().unwrap_or("0");
    // Counted from the third word of the line, which follows the name.
    let (priority, policy) = (word(37), word(38));
    let policy = match policy {
        "0" => "other",
        "1" => "fifo",
        "2" => "rr",
        number => number,
    };
    let allowed = status("/proc/thread-self/status", "Cpus_allowed_list:");
    format!(
        "@@ thread role={role} policy={policy} priority={priority} processor={} allowed={allowed} count={count}",
        processor()
    )
}

pub struct Resources {
    pub voluntary: u64,
    pub involuntary: u64,
    pub minor: u64,
    pub major: u64,
    pub wait_ns: Option<u64>,
}

impl Resources {
    pub fn read() -> Self {
        let stat = read_to_string("/proc/self/stat").unwrap_or_default();
        let fault = |index: usize| {
            let word = stat
                .rsplit(") ")
                .next()
                .unwrap_or_default()
                .split(' ')
                .nth(index);
            word.and_then(|word| word.parse().ok()).unwrap_or(0)
        };
        let tasks = std::fs::read_dir("/proc/self/task")
            .into_iter()
            .flatten()
            .flatten();
        let (mut voluntary, mut involuntary) = (0, 0);
        for task in tasks {
            let path = task.path().join("status");
            let path = path.to_string_lossy();
            voluntary += status_number(&path, "voluntary_ctxt_switches:");
            involuntary += status_number(&path, "nonvoluntary_ctxt_switches:");
        }
        let schedstat = read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        Self {
            voluntary,
            involuntary,
            minor: fault(7),
            major: fault(9),
            wait_ns: schedstat
                .split(' ')
                .nth(1)
                .and_then(|word| word.parse().ok()),
        }
    }

    pub fn since(&self, before: &Self) -> Self {
        Self {
            voluntary: self.voluntary.saturating_sub(before.voluntary),
            involuntary: self.involuntary.saturating_sub(before.involuntary),
            minor: self.minor.saturating_sub(before.minor),
            major: self.major.saturating_sub(before.major),
            wait_ns: self
                .wait_ns
                .zip(before.wait_ns)
                .map(|(after, before)| after.saturating_sub(before)),
        }
    }
}

fn status(path: &str, key: &str) -> String {
    let text = read_to_string(path).unwrap_or_default();
    let value = text.lines().find_map(|line| line.strip_prefix(key));
    value.unwrap_or_default().trim().to_owned()
}

pub fn status_number(path: &str, key: &str) -> u64 {
    let value = status(path, key);
    let number = value.split(' ').next().unwrap_or_default();
    number.parse().unwrap_or(0)
}
