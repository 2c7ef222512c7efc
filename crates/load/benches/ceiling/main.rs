//! Ceiling of the generator beside wrk's, in one run: both drive the same server from the same
//! processor, in turns.
//!
//! `cargo bench -p antiphon-load`. The server is a small one of this benchmark, which answers each
//! readable connection at once in its single thread. It runs on the last processor, the generators
//! on the one before. The generator limits the rates here, so they show its processor time a
//! request. Ours must send at least nine tenths of wrk's rate; otherwise the benchmark ends with 1.

use antiphon_load::{Load, Reach, Target, first_exchange, run};
use std::process::{Command, ExitCode};
use std::time::Duration;

mod server;

const CONNECTIONS: usize = 64;
const ROUNDS: usize = 7;
const SECONDS: f64 = 1.0;

/// Least ratio of our rate to wrk's.
const RATE_LEAST: f64 = 0.9;

fn main() -> ExitCode {
    // The test runner of `cargo test --benches` wants no figures.
    if std::env::args().any(|word| word == "--test") {
        return ExitCode::SUCCESS;
    }
    let processors = allowed();
    let [.., generators, servers] = processors[..] else {
        println!(
            "skipped: two processors are needed, and {} may be used",
            processors.len()
        );
        return ExitCode::SUCCESS;
    };
    let port = server::start(servers);
    let url = format!("http://127.0.0.1:{port}/api");
    let target = Target::parse(&url, Reach::Loopback).expect("a URL of loopback");
    let expected = first_exchange(&target, Duration::from_secs(5)).expect("an answer");
    let load = Load {
        connections: CONNECTIONS,
        duration: Duration::from_secs_f64(SECONDS),
        processor: Some(generators),
        ..Load::new(target, expected)
    };
    println!(
        "round   antiphon req/s    own µs/req      wrk req/s   wrk µs/req   ratio of rates   ratio of own costs"
    );
    let mut rates = Vec::new();
    let mut costs = Vec::new();
    for round in 1..=ROUNDS {
        let ours = run(&load).expect("a run");
        assert_eq!(ours.failed(), 0, "{:?}", ours.first_failure);
        let own_us = ours.own_cpu_ns as f64 / 1e3 / ours.answered as f64;
        let Some((rate, wrk_us)) = wrk(&url, generators) else {
            println!(
                "{round:5} {:16.0} {own_us:13.2}   skipped: wrk is not there (apt install wrk)",
                ours.per_second()
            );
            continue;
        };
        rates.push(ours.per_second() / rate);
        costs.push(own_us / wrk_us);
        println!(
            "{round:5} {:16.0} {own_us:13.2} {rate:14.0} {wrk_us:12.2} {:16.2} {:20.2}",
            ours.per_second(),
            ours.per_second() / rate,
            own_us / wrk_us
        );
    }
    reported("own costs", costs);
    match reported("rates", rates) {
        Some(rate) if rate < RATE_LEAST => {
            eprintln!(
                "the generator sends {rate:.2} of what wrk sends, and is to send {RATE_LEAST} at least: see what a request costs it, above"
            );
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Prints and returns the median of these ratios; `None` without wrk.
fn reported(what: &str, mut ratios: Vec<f64>) -> Option<f64> {
    ratios.sort_by(f64::total_cmp);
    let median = *ratios.get(ratios.len() / 2)?;
    println!("median ratio of {what}, antiphon to wrk: {median:.2}");
    Some(median)
}

/// Requests a second by wrk, and its processor time a request, µs.
fn wrk(url: &str, processor: usize) -> Option<(f64, f64)> {
    let seconds = format!("{SECONDS}s");
    let before = children_ns();
    let output = Command::new("taskset")
        .args([
            "-c",
            &processor.to_string(),
            "wrk",
            "-t1",
            &format!("-c{CONNECTIONS}"),
            "-d",
            seconds.trim_end_matches(".0s"),
        ])
        .arg(url)
        .output()
        .ok()?;
    let used_ns = children_ns() - before;
    let text = String::from_utf8_lossy(&output.stdout);
    let number = |line: &str, at: usize| line.split_whitespace().nth(at)?.parse::<f64>().ok();
    let rate = text.lines().find(|line| line.starts_with("Requests/sec"))?;
    let count = text.lines().find(|line| line.contains(" requests in "))?;
    Some((number(rate, 1)?, used_ns / 1e3 / number(count, 0)?))
}

/// Returns the processor time of ended children, ns.
fn children_ns() -> f64 {
    // SAFETY: the structure is plain data that the call fills.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    let ns = |time: libc::timeval| time.tv_sec as f64 * 1e9 + time.tv_usec as f64 * 1e3;
    ns(usage.ru_utime) + ns(usage.ru_stime)
}

fn allowed() -> Vec<usize> {
    let set = rustix::thread::sched_getaffinity(None).expect("our own processors");
    (0..rustix::thread::CpuSet::MAX_CPU)
        .filter(|processor| set.is_set(*processor))
        .collect()
}
