//! `antiphon load`: a server under load.

use crate::exit::Exit;
use crate::output::{print, print_line};
use antiphon_load::{
    Expected, Latency, Load as Settings, Measured, Reach, Schedule, Stopped, Target,
};
use antiphon_measure::supports;
use antiphon_report::number;
use anyhow::{Context, Result, bail};
use clap::Args;
use std::time::Duration;

/// `antiphon load`
#[derive(Debug, Args)]
#[command(after_help = "\
Without --rate each connection sends when it has its answer (closed loop), and a server that stalls is asked less. With --rate requests are due at equal
distances, and a latency counts from the time at which its request was due; `--rate 80%` first asks for as many as the closed loop gives, for as long, and
then for 80 % of them. Every answer is held against the first one. Load goes to this machine only,
unless --i-own-this-host is given. The exit code is 1 if any request failed or had no answer.

Examples:
  antiphon load http://127.0.0.1:8080/api -c 64
  antiphon load http://127.0.0.1:8080/api --rate 5000 --seconds 10
  antiphon load http://127.0.0.1:8080/api --rate 80% -c 64
  antiphon load http://localhost:8080/ --no-keep-alive --json")]
pub struct Load {
    /// What to ask for: http://HOST[:PORT][/PATH]
    #[arg(value_name = "URL")]
    pub url: String,

    /// Connections used at a time
    #[arg(short = 'c', long, value_name = "N", default_value_t = 10)]
    pub connections: usize,

    /// How long requests are sent, at most an hour
    #[arg(short = 's', long, value_name = "SECONDS", default_value_t = 2.0, allow_negative_numbers = true, value_parser = crate::cli::of_load)]
    pub seconds: f64,

    /// Send no more requests than these; with a percentage as --rate half of them in each of both
    #[arg(long, value_name = "N", default_value_t = 1_000_000_000)]
    pub requests: u64,

    /// Open schedule: so many requests are due each second, or such a part of those of the closed loop (80%)
    #[arg(long, value_name = "PER_SECOND|PERCENT%", allow_negative_numbers = true, value_parser = crate::cli::rate)]
    pub rate: Option<Rate>,

    /// Open a connection for each request
    #[arg(long)]
    pub no_keep_alive: bool,

    /// The status that answers must have
    #[arg(long, value_name = "CODE", default_value_t = 200)]
    pub status: u16,

    /// Let bodies differ: check the status alone
    #[arg(long)]
    pub any_body: bool,

    /// How long an answer may take
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, allow_negative_numbers = true, value_parser = crate::cli::time_limit)]
    pub time_limit: f64,

    /// Threads that share the connections
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub threads: usize,

    /// Run on this processor
    #[arg(long, value_name = "NUMBER")]
    pub processor: Option<usize>,

    /// Poll for answers without sleeping: takes a processor for each thread, and a server on this machine need not wake them
    #[arg(long)]
    pub busy_poll: bool,

    /// The host is mine to load: permits other machines than this one
    #[arg(long)]
    pub i_own_this_host: bool,

    /// Print JSON, with the raw histogram and every connection
    #[arg(long)]
    pub json: bool,
}

/// The rate of an open schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// Requests a second.
    PerSecond(f64),
    /// A percentage of what the server answers in closed loop, measured just before.
    PercentOfClosed(f64),
}

/// Sends the load and tells what was measured.
pub fn run(options: &Load) -> Result<Exit> {
    let reach = match options.i_own_this_host {
        true => Reach::Anywhere,
        false => Reach::Loopback,
    };
    let mut load = settings(options, Target::parse(&options.url, reach)?);
    // Settings that are wrong are no matter of the server's.
    load.check()?;
    load.expected = first_answer(options, &load)?;
    let closed = match options.rate {
        Some(Rate::PercentOfClosed(percent)) => {
            // What may be sent is for both.
            load.requests_max = options.requests.div_ceil(2);
            let closed = antiphon_load::run(&load)?;
            load.schedule = part_of(&closed, percent)?;
            load.requests_max = (options.requests / 2).max(1);
            Some(closed)
        }
        _ => None,
    };
    let measured = antiphon_load::run(&load)?;
    match options.json {
        true => print_line(json(&measured, closed.as_ref())?)?,
        false => print(&told(&measured, closed.as_ref(), options.rate.is_some()))?,
    }
    let lost = measured.failed() + measured.unanswered + measured.never_sent;
    Ok(Exit::of(lost == 0))
}

/// The schedule that asks for such a part of what a closed loop gave.
fn part_of(closed: &Measured, percent: f64) -> Result<Schedule> {
    if let Some(first) = &closed.first_failure {
        bail!(
            "{} of {} requests in closed loop failed, of which the rate is to be a part; the first: {first}; give the rate as a number",
            number::count(closed.failed()),
            number::count(closed.answered + closed.failed())
        );
    }
    closed.part(percent).context(
        "no request in closed loop was answered in time, of which the rate is to be a part; give more --seconds, or the rate as a number",
    )
}

/// Everything, and beside it the rate of the closed loop of which the schedule was a part.
fn json(measured: &Measured, closed: Option<&Measured>) -> Result<String> {
    let mut all = serde_json::to_value(measured)?;
    if let Some(closed) = closed {
        all["closed_per_second"] = closed.per_second().into();
    }
    Ok(serde_json::to_string_pretty(&all)?)
}

/// What the options ask for. The body is not known before the first answer.
fn settings(options: &Load, target: Target) -> Settings {
    let expected = Expected {
        status: options.status,
        body: Vec::new(),
    };
    let time_limit = Duration::from_secs_f64(options.time_limit);
    Settings {
        check_body: !options.any_body,
        connections: options.connections,
        keep_alive: !options.no_keep_alive,
        schedule: match options.rate {
            Some(Rate::PerSecond(per_second)) => Schedule::Open { per_second },
            // What it is a part of is measured first.
            Some(Rate::PercentOfClosed(_)) | None => Schedule::Closed,
        },
        duration: Duration::from_secs_f64(options.seconds),
        requests_max: options.requests,
        time_limit,
        drain: time_limit,
        threads: options.threads,
        processor: options.processor,
        busy_poll: options.busy_poll,
        ..Settings::new(target, expected)
    }
}

/// What all answers are held against.
fn first_answer(options: &Load, load: &Settings) -> Result<Expected> {
    let first = antiphon_load::first_exchange(&load.target, load.time_limit)?;
    if first.status != options.status {
        bail!(
            "{url} answers with status {got}, and not {asked}; mend the path, or give --status {got}",
            url = load.target.url(),
            got = first.status,
            asked = options.status
        );
    }
    Ok(first)
}

/// What was measured, in lines.
fn told(measured: &Measured, closed: Option<&Measured>, on_schedule: bool) -> String {
    let latency = &measured.latency;
    let in_closed_loop = closed.map(|closed| {
        let rate = number::count(closed.per_second() as u64);
        (
            "closed loop",
            format!("{rate} requests/s; generator {}", generator(closed)),
        )
    });
    let mut lines: Vec<(&str, String)> = in_closed_loop.into_iter().collect();
    lines.extend([
        (
            "answered",
            format!(
                "{} ({} requests/s)",
                number::count(measured.answered),
                number::count(measured.per_second() as u64)
            ),
        ),
        (
            "latency",
            format!(
                "{}, longest {}",
                percentiles(latency),
                us(latency.longest())
            ),
        ),
    ]);
    // In a closed loop nothing is due.
    if on_schedule {
        lines.push(("sent late by", percentiles(&measured.lag)));
    }
    lines.extend([
        ("fairness", fairness(measured)),
        ("generator", generator(measured)),
    ]);
    for (kind, count) in &measured.failures {
        lines.push(("failed", format!("{} ({kind})", number::count(*count))));
    }
    let further = [
        ("first failure", measured.first_failure.clone()),
        ("unanswered", some(measured.unanswered)),
        ("never sent", some(measured.never_sent)),
        ("opened again", some(measured.reconnects)),
        (
            "ended early",
            (measured.stopped == Stopped::Failures).then(|| "too many requests failed".to_owned()),
        ),
    ];
    lines.extend(
        further
            .into_iter()
            .filter_map(|(label, text)| Some((label, text?))),
    );
    let line = |(label, text): &(&str, String)| format!("{label:>14}  {text}\n");
    lines.iter().map(line).collect()
}

/// The percentiles that there are enough requests for.
fn percentiles(of: &Latency) -> String {
    let told = [50.0, 99.0, 99.9].into_iter();
    let told = told.filter(|percentile| supports(*percentile, of.count()));
    let told: Vec<String> = told
        .map(|percentile| format!("p{percentile} {}", us(of.at(percentile / 100.0))))
        .collect();
    match told.is_empty() {
        true => "of none".into(),
        false => told.join(", "),
    }
}

fn us(ns: u64) -> String {
    format!("{} µs", number::significant(ns as f64 / 1e3, 4))
}

fn some(count: u64) -> Option<String> {
    (count > 0).then(|| number::count(count))
}

fn fairness(measured: &Measured) -> String {
    let counts = || measured.connections.iter().map(|of| of.answered);
    let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    let index = number::fixed(measured.fairness(), 3);
    let mut text = format!(
        "{index} by Jain's index; {} to {} answers a connection",
        number::count(least),
        number::count(most)
    );
    let starved = measured.starved();
    if !starved.is_empty() {
        const NAMED: usize = 8;
        let names: Vec<String> = starved
            .iter()
            .take(NAMED)
            .map(|number| (number + 1).to_string())
            .collect();
        let more = if starved.len() > NAMED { ", …" } else { "" };
        text.push_str(&format!(
            "; starved: {} of {} ({}{more})",
            starved.len(),
            measured.connections.len(),
            names.join(", ")
        ));
    }
    text
}

fn generator(measured: &Measured) -> String {
    /// Above this the generator may be what limits the rate.
    const BUSY: f64 = 0.9;
    let share = measured.own_share();
    let polled = match measured.empty_polls_share() {
        0.0 => String::new(),
        polled => format!(", and polled in vain for {:.0} %", polled * 100.0),
    };
    let used = format!("used {:.0} % of its time{polled}", share * 100.0);
    match share > BUSY {
        true => format!("{used}: it may be what limits the rate (--threads)"),
        false => used,
    }
}
