//! What the process has used so far. Read outside of timed regions.

use crate::answer::Answer;
use crate::system;
use std::fs::File;
use std::os::unix::fs::FileExt;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Resources {
    pub(crate) voluntary: u64,
    pub(crate) involuntary: u64,
    pub(crate) minor: u64,
    pub(crate) major: u64,
    /// Ready but not running; `None` where the system does not tell.
    pub(crate) wait_ns: Option<u64>,
}

impl Resources {
    pub(crate) const TOUCHED: Resources = Resources {
        voluntary: u64::MAX,
        involuntary: u64::MAX,
        minor: u64::MAX,
        major: u64::MAX,
        wait_ns: Some(u64::MAX),
    };

    pub(crate) fn now(schedstat: &Schedstat) -> Self {
        let usage = system::usage();
        Resources {
            voluntary: usage.ru_nvcsw as u64,
            involuntary: usage.ru_nivcsw as u64,
            minor: usage.ru_minflt as u64,
            major: usage.ru_majflt as u64,
            wait_ns: schedstat.wait_ns(),
        }
    }
}

/// The system's account of the thread that opened it.
pub(crate) struct Schedstat(Option<File>);

impl Schedstat {
    /// Of the calling thread.
    pub(crate) fn open() -> Self {
        Schedstat(File::open("/proc/thread-self/schedstat").ok())
    }

    /// The second of three numbers: time on the processor, time ready but not running, slices. A kernel that keeps no such account has no
    /// file, or zeros in it. Nothing is allocated: this is called right before the clock is read.
    pub(crate) fn wait_ns(&self) -> Option<u64> {
        let mut text = [0; 96];
        let got = self.0.as_ref()?.read_at(&mut text, 0).ok()?;
        let mut words = std::str::from_utf8(&text[..got]).ok()?.split_whitespace();
        let on_processor_ns: u64 = words.next()?.parse().ok()?;
        let wait_ns = words.next()?.parse().ok()?;
        (on_processor_ns > 0).then_some(wait_ns)
    }
}

fn nanoseconds(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000
}

/// A number from a line `Key: 123` of /proc/self/status.
fn status_number(status: &str, key: &str) -> Option<u64> {
    let mut values = status.lines().filter_map(|line| line.strip_prefix(key));
    values.next()?.split_whitespace().next()?.parse().ok()
}

/// The peak is VmHWM: ru_maxrss would still hold the peak of the parent that this process was forked from.
pub(crate) fn answer_usage(answer: &mut Answer) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let usage = system::usage();
    let peak_kib = status_number(&status, "VmHWM:").unwrap_or(usage.ru_maxrss as u64);
    answer.line(format_args!(
        "usage user={} system={} peak_rss={} minor={} major={} voluntary={} involuntary={} threads={}",
        nanoseconds(usage.ru_utime),
        nanoseconds(usage.ru_stime),
        peak_kib * 1024,
        usage.ru_minflt,
        usage.ru_majflt,
        usage.ru_nvcsw,
        usage.ru_nivcsw,
        status_number(&status, "Threads:").unwrap_or(0),
    ));
}
