//! Answers as this subject writes them.

use crate::place::{Resources, processor, status_number};

pub fn hello() -> Vec<String> {
    vec!["@@ hello protocol=1 language=Rust kit=test clock=steady".into()]
}

pub fn list() -> Vec<String> {
    [
        "@@ clock name=steady unit=ns",
        "@@ test name=self.same kind=frame work=chain20",
        "@@ test name=self.dearer kind=frame",
        "@@ test name=self.handoff kind=frame switches=2 threads=2 most=100000",
        "@@ test name=probe.dear kind=frame",
        "@@ test name=probe.latency kind=latency threads=2",
        "@@ test name=probe.series kind=series arg=bytes",
        "@@ test name=probe.absent kind=frame absent=this%20subject%20only%20tests%20the%20laboratory",
    ]
    .map(String::from)
    .to_vec()
}

/// Lines of at most 1000 readings, each line absolute first.
pub fn readings(readings: &[u64]) -> Vec<String> {
    readings
        .chunks(1000)
        .map(|chunk| {
            let steps = chunk
                .windows(2)
                .map(|pair| format!(" {}", i128::from(pair[1]) - i128::from(pair[0])));
            format!("@@ readings {}{}", chunk[0], steps.collect::<String>())
        })
        .collect()
}

pub fn gaps(
    kept: &[(u64, u64)],
    readings: u64,
    elapsed: u64,
    wait_ns: Option<u64>,
    gaps: usize,
    lost: u64,
) -> Vec<String> {
    let wait = wait_ns.map_or("-".into(), |wait| wait.to_string());
    kept.iter()
        .map(|(start, duration)| format!("@@ gap {start} {duration}"))
        .chain([format!(
            "@@ loop readings={readings} elapsed={elapsed} wait={wait} gaps={gaps} lost={lost}"
        )])
        .collect()
}

pub fn slice(
    block: u64,
    role: &str,
    iterations: u64,
    start: u64,
    elapsed: u64,
    used: &Resources,
    checksum: u64,
) -> String {
    let Resources {
        voluntary,
        involuntary,
        minor,
        major,
        wait_ns,
    } = used;
    let wait = wait_ns.map_or("-".into(), |wait| wait.to_string());
    let processor = processor();
    format!(
        "@@ slice {block} {role} {iterations} {start} {elapsed} {voluntary} {involuntary} {minor} {major} {wait} {processor} {checksum}"
    )
}

pub fn usage() -> String {
    let used = Resources::read();
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = |index: usize| {
        let word = stat
            .rsplit(") ")
            .next()
            .unwrap_or_default()
            .split(' ')
            .nth(index);
        word.and_then(|word| word.parse::<u64>().ok()).unwrap_or(0) * 10_000_000
    };
    format!(
        "@@ usage user={} system={} peak_rss={} minor={} major={} voluntary={} involuntary={} threads={}",
        ticks(11),
        ticks(12),
        status_number("/proc/self/status", "VmHWM:") * 1024,
        used.minor,
        used.major,
        used.voluntary,
        used.involuntary,
        status_number("/proc/self/status", "Threads:").max(1)
    )
}
