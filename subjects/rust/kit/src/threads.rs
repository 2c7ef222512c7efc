//! Where threads run, and what they say of it.

use crate::system;
use crate::test::Failure;
use std::fmt;
use std::io;
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{Builder, JoinHandle};

// --- Placement -------------------------------------------------------------------------------------------------------------

/// Where threads run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Wherever the system puts them.
    Free,
    /// Every thread on one processor.
    Same {
        /// Which.
        processor: u32,
    },
    /// The main thread on one, every partner on another.
    Across {
        /// The main thread's.
        main: u32,
        /// The partners'.
        partner: u32,
    },
}

impl Placement {
    /// The processor of partner threads, if they have one to keep to.
    pub fn partner_processor(self) -> Option<u32> {
        match self {
            Placement::Free => None,
            Placement::Same { processor } => Some(processor),
            Placement::Across { partner, .. } => Some(partner),
        }
    }

    fn main_processor(self) -> Option<u32> {
        match self {
            Placement::Free => None,
            Placement::Same { processor } => Some(processor),
            Placement::Across { main, .. } => Some(main),
        }
    }
}

const NOWHERE: u32 = u32::MAX;
static PARTNER_PROCESSOR: AtomicU32 = AtomicU32::new(NOWHERE);

/// Puts the calling thread and all others of the process where the placement wants them.
pub(crate) fn place(placement: Placement) -> io::Result<()> {
    if let Some(partner) = placement.partner_processor() {
        pin_process(std::process::id(), partner)?;
        PARTNER_PROCESSOR.store(partner, Ordering::Relaxed);
    }
    match placement.main_processor() {
        Some(main) => system::pin(0, main),
        None => Ok(()),
    }
}

/// Lets every thread that a process has now run on one processor alone; threads that they start later inherit it.
pub fn pin_process(process: u32, processor: u32) -> io::Result<()> {
    // Threads that start meanwhile inherit their starter's place, which a second pass has set.
    for _ in 0..2 {
        for entry in std::fs::read_dir(format!("/proc/{process}/task"))? {
            let name = entry?.file_name();
            let Some(thread) = name.to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            match system::pin(thread, processor) {
                Err(error) if error.raw_os_error() != Some(libc::ESRCH) => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Starts a partner thread where the placement wants it.
pub fn start_partner<T: Send + 'static>(
    body: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, Failure> {
    let started = Builder::new().spawn(move || {
        match PARTNER_PROCESSOR.load(Ordering::Relaxed) {
            NOWHERE => {}
            // It was allowed when the placement was given; if it no longer is, the thread's report says so.
            processor => drop(system::pin(0, processor)),
        }
        body()
    });
    started.map_err(|error| Failure(format!("a partner thread could not be started: {error}")))
}

// --- Reports ---------------------------------------------------------------------------------------------------------------

/// What a thread says of itself. Its text is that of the protocol's `@@ thread` line without `count`, so that a partner process can hand it
/// on by any channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadReport {
    /// `main` for the measuring thread, any other word for its partners.
    pub role: String,
    /// `other`, `fifo`, `rr` or the system's number.
    pub policy: String,
    /// Real-time priority, 0 under `other`.
    pub priority: i32,
    /// The processor that it was on.
    pub processor: u32,
    /// Those that it may run on, a list such as `0-1,4`.
    pub allowed: String,
}

impl ThreadReport {
    /// The calling thread's.
    ///
    /// # Panics
    /// If the role is empty or holds a space, `%`, `=` or a control character.
    pub fn of_this_thread(role: &str) -> Self {
        let plain = |c: char| c > ' ' && c != '%' && c != '=';
        assert!(
            !role.is_empty() && role.chars().all(plain),
            "`{role}` is no role: write one plain word"
        );
        let (policy, priority) = system::scheduling();
        ThreadReport {
            role: role.to_owned(),
            policy: match policy {
                libc::SCHED_OTHER => "other".to_owned(),
                libc::SCHED_FIFO => "fifo".to_owned(),
                libc::SCHED_RR => "rr".to_owned(),
                number => number.to_string(),
            },
            priority,
            processor: system::processor().unwrap_or(0),
            allowed: ranges(&system::allowed(0)),
        }
    }
}

/// `0 1 2 5` as `0-2,5`.
fn ranges(processors: &[u32]) -> String {
    let runs = processors.chunk_by(|a, b| a + 1 == *b);
    let words: Vec<String> = runs
        .map(|run| match run {
            [one] => one.to_string(),
            _ => format!("{}-{}", run[0], run[run.len() - 1]),
        })
        .collect();
    words.join(",")
}

impl fmt::Display for ThreadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ThreadReport {
            role,
            policy,
            priority,
            processor,
            allowed,
        } = self;
        write!(
            f,
            "role={role} policy={policy} priority={priority} processor={processor} allowed={allowed}"
        )
    }
}

impl FromStr for ThreadReport {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Self, Failure> {
        let field = |key: &str| {
            let mut values = text.split(' ').filter_map(|word| word.strip_prefix(key));
            values
                .find_map(|rest| rest.strip_prefix('='))
                .ok_or_else(|| {
                    Failure(format!(
                        "`{text}` is no report of a thread: {key}= is missing"
                    ))
                })
        };
        let bad = |key: &str| {
            Failure(format!(
                "`{text}` is no report of a thread: {key}= is no number"
            ))
        };
        Ok(ThreadReport {
            role: field("role")?.to_owned(),
            policy: field("policy")?.to_owned(),
            priority: field("priority")?.parse().map_err(|_| bad("priority"))?,
            processor: field("processor")?.parse().map_err(|_| bad("processor"))?,
            allowed: field("allowed")?.to_owned(),
        })
    }
}

static REPORTING: AtomicBool = AtomicBool::new(false);
static REPORTS: Mutex<Vec<(ThreadReport, u64)>> = Mutex::new(Vec::new());

/// True in untimed iterations only.
#[inline]
pub fn reporting() -> bool {
    REPORTING.load(Ordering::Relaxed)
}

/// What each thread that a test starts calls first, and a long-lived partner at each operation: it reports in untimed iterations, and
/// costs one test of a variable in timed ones.
#[inline]
pub fn takes_part(role: &str) {
    if reporting() {
        report_thread(ThreadReport::of_this_thread(role));
    }
}

/// Hands in a report.
pub fn report_thread(report: ThreadReport) {
    let mut reports = kept();
    match reports.iter_mut().find(|(known, _)| *known == report) {
        Some((_, count)) => *count += 1,
        None => reports.push((report, 1)),
    }
}

/// A thread that panicked while it reported has left whole reports.
fn kept() -> std::sync::MutexGuard<'static, Vec<(ThreadReport, u64)>> {
    REPORTS
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// What follows is untimed; the calling thread reports as the main one.
pub(crate) fn start_reporting() {
    REPORTING.store(true, Ordering::SeqCst);
    report_thread(ThreadReport::of_this_thread("main"));
}

pub(crate) fn stop_reporting() {
    REPORTING.store(false, Ordering::SeqCst);
}

/// All reports since the last time, and forgets them.
pub(crate) fn take_reports() -> Vec<(ThreadReport, u64)> {
    std::mem::take(&mut *kept())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_as_it_was_written() {
        let report = ThreadReport::of_this_thread("partner");
        assert_eq!(report.to_string().parse(), Ok(report));
        let cut = "role=partner policy=other priority=0 processor=1".parse::<ThreadReport>();
        assert!(cut.unwrap_err().0.contains("allowed= is missing"));
    }

    #[test]
    fn processors_are_listed_as_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
        assert_eq!(ranges(&[]), "");
    }
}
