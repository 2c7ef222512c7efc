//! `antiphon load`: a server under load.

use crate::exit::Exit;
use crate::interruption::interruption;
use crate::output::{print, print_fields};
use antiphon_load::{
    Expected, Latency, Load as Settings, Measured, Reach, Request, Schedule, Stopped, Target,
};
use antiphon_measure::supports;
use antiphon_report::number;
use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// `antiphon load`
#[derive(Debug, Args)]
#[command(after_help = "\
Without --rate each connection sends when it has its answer (closed loop), and a server that stalls is asked less. With --rate requests are due at equal
distances, and a latency counts from the time at which its request was due; `--rate 80%` first asks for as many as the closed loop gives, for as long, and
then for 80 % of them. Every answer is held against the first one, which is asked for before anything is measured. Load goes to this machine only,
unless --i-own-this-host is given. The exit code is 1 if any request failed or had no answer. Ctrl-C prints what was measured and ends with 130. Where the
generator was the limit, and not the server, this is said with why.

Examples:
  antiphon load http://127.0.0.1:8080/api -c 64
  antiphon load http://127.0.0.1:8080/api --rate 5000 --seconds 10
  antiphon load http://127.0.0.1:8080/api --rate 80% -c 64
  antiphon load http://127.0.0.1:8080/items -X POST -H 'Content-Type: application/json' -d '{\"name\": 1}' --any-body
  antiphon load http://localhost:8080/ --no-keep-alive --json")]
pub struct Load {
    /// What to ask for: http://HOST[:PORT][/PATH]
    #[arg(value_name = "URL")]
    pub url: String,

    /// The method [default: GET, or POST with --data]
    #[arg(short = 'X', long, value_name = "METHOD")]
    pub method: Option<String>,

    /// A header line more; may be given several times
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    pub headers: Vec<String>,

    /// The body of each request; `@FILE` is that of a file
    #[arg(short = 'd', long, value_name = "DATA")]
    pub data: Option<String>,

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

    /// Print JSON, with the raw histogram and every connection; a line for each field
    #[arg(long)]
    pub json: bool,
}

/// The rate of an open schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// Requests a second.
    PerSecond(f64),
    /// A percentage of the server's rate in closed loop, measured just before.
    PercentOfClosed(f64),
}

/// Sends the load and prints the results.
pub fn run(options: &Load) -> Result<Exit> {
    let reach = match options.i_own_this_host {
        true => Reach::Anywhere,
        false => Reach::Loopback,
    };
    let target = Target::parse(&options.url, reach)?.asked(request(options)?);
    let mut load = settings(options, target);
    // Wrong settings are reported before the server is asked.
    load.check()?;
    load.target = load.target.reached(load.time_limit)?;
    load.expected = first_answer(options, &load)?;
    let stop = interruption()?;
    let closed = match options.rate {
        Some(Rate::PercentOfClosed(percent)) => {
            // The limit on requests covers both loads.
            load.requests_max = options.requests.div_ceil(2);
            let closed = antiphon_load::run_unless(&load, &stop)?;
            if stop.load(Ordering::Relaxed) {
                return show(options, &load, &closed, None, &stop);
            }
            load.schedule = part_of(&closed, percent)?;
            load.requests_max = (options.requests / 2).max(1);
            Some(closed)
        }
        _ => None,
    };
    let measured = antiphon_load::run_unless(&load, &stop)?;
    show(options, &load, &measured, closed.as_ref(), &stop)
}

/// Prints the results, and returns how it ended.
fn show(
    options: &Load,
    load: &Settings,
    measured: &Measured,
    closed: Option<&Measured>,
    stop: &AtomicBool,
) -> Result<Exit> {
    match options.json {
        true => print_fields("antiphon.load", 1, &json(options, load, measured, closed)?)?,
        false => print(&reported(load, measured, closed))?,
    }
    let lost = measured.failed() + measured.unanswered + measured.never_sent;
    Ok(match stop.load(Ordering::Relaxed) {
        true => Exit::Interrupted,
        false => Exit::of(lost == 0),
    })
}

/// Returns the request that is sent.
fn request(options: &Load) -> Result<Request> {
    let body = match options
        .data
        .as_deref()
        .map(|data| (data.strip_prefix('@'), data))
    {
        None => Vec::new(),
        Some((Some(file), _)) => {
            std::fs::read(file).with_context(|| format!("cannot read the body from {file}"))?
        }
        Some((None, data)) => data.as_bytes().to_vec(),
    };
    let method = match (&options.method, &options.data) {
        (Some(method), _) => method.as_str(),
        (None, Some(_)) => "POST",
        (None, None) => "GET",
    };
    Ok(Request::new(method, &options.headers, body)?)
}

/// Returns the schedule for a percentage of the rate of a closed loop.
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

/// Returns all measurements, the settings, and each verdict that the text has.
fn json(
    options: &Load,
    load: &Settings,
    measured: &Measured,
    closed: Option<&Measured>,
) -> Result<serde_json::Value> {
    let mut all = serde_json::to_value(measured)?;
    let rate = match options.rate {
        None => json!(null),
        Some(Rate::PerSecond(per_second)) => json!({ "per_second": per_second }),
        Some(Rate::PercentOfClosed(percent)) => json!({ "percent_of_closed": percent }),
    };
    let due_per_second = match load.schedule {
        Schedule::Open { per_second } => json!(per_second),
        Schedule::Closed => json!(null),
    };
    all["asked"] = json!({
        "url": options.url,
        "address": load.target.address().to_string(),
        "method": load.target.sends().method(),
        "headers": options.headers,
        "data": options.data,
        "seconds": options.seconds,
        "rate": rate,
        "due_per_second": due_per_second,
        "connections": options.connections,
        "requests": options.requests,
        "keep_alive": load.keep_alive,
        "status": options.status,
        "check_body": load.check_body,
        "time_limit": options.time_limit,
        "threads": options.threads,
        "processor": options.processor,
        "busy_poll": options.busy_poll,
    });
    let limits = measured.limits();
    let reported = limits.iter().map(ToString::to_string);
    all["verdicts"] = json!({
        "per_second": measured.per_second(),
        "failed": measured.failed(),
        "generator_was_the_limit": !limits.is_empty(),
        "limits": limits,
        "told_of_limits": reported.collect::<Vec<_>>(),
        "hides_waiting": load.schedule == Schedule::Closed,
        "fairness": measured.fairness(),
        // Connections are numbered from 1, as in the text.
        "starved": measured.starved().iter().map(|number| number + 1).collect::<Vec<_>>(),
        "percentiles_ns": of_percentiles(&measured.latency),
        "late_percentiles_ns": of_percentiles(&measured.lag),
    });
    if let Some(closed) = closed {
        all["closed_per_second"] = closed.per_second().into();
        let limits = closed.limits();
        all["verdicts"]["limits_of_closed"] = serde_json::to_value(limits)?;
    }
    Ok(all)
}

/// Returns the percentiles for which there are enough requests, by their names.
fn of_percentiles(of: &Latency) -> serde_json::Map<String, serde_json::Value> {
    let reported = PERCENTILES.into_iter();
    let reported = reported.filter(|percentile| supports(*percentile, of.count()));
    reported
        .map(|percentile| (format!("p{percentile}"), of.at(percentile / 100.0).into()))
        .collect()
}

/// Returns the settings from the options. The body is not known before the first answer.
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
            // The closed loop is measured first.
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

/// Returns the answer that all others are compared with.
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

/// Returns the results as lines.
fn reported(load: &Settings, measured: &Measured, closed: Option<&Measured>) -> String {
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
    // A closed loop has no due times.
    if load.schedule != Schedule::Closed {
        lines.push(("sent late by", percentiles(&measured.lag)));
    }
    lines.extend([
        ("fairness", fairness(measured)),
        ("generator", generator(measured)),
    ]);
    let limits = |of: &Measured, when| {
        let limits = of.limits().into_iter();
        limits.map(move |limit| ("", format!("{when}the generator was the limit: {limit}")))
    };
    lines.extend(
        closed
            .into_iter()
            .flat_map(|of| limits(of, "in the closed loop, ")),
    );
    lines.extend(limits(measured, ""));
    lines.extend(hidden(load, measured));
    for (kind, count) in &measured.failures {
        lines.push(("failed", format!("{} ({kind})", number::count(*count))));
    }
    let further = [
        ("first failure", measured.first_failure.clone()),
        ("unanswered", some(measured.unanswered)),
        ("never sent", some(measured.never_sent)),
        ("opened again", some(measured.reconnects)),
        (
            "mend",
            bodies_differ(measured).then(|| {
                "where answers rightly differ from each other, --any-body checks their status alone"
                    .to_owned()
            }),
        ),
        (
            "ended early",
            match measured.stopped {
                Stopped::Failures => Some("too many requests failed".to_owned()),
                Stopped::Interrupted => Some("interrupted".to_owned()),
                Stopped::Time | Stopped::Requests => None,
            },
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

/// Says what a closed loop does not show, and names a rate that would.
fn hidden(load: &Settings, measured: &Measured) -> Option<(&'static str, String)> {
    /// The part of its rate in closed loop that a server should sustain.
    const PART: f64 = 0.8;
    let rate = PART * measured.per_second();
    if load.schedule != Schedule::Closed || rate < 1.0 {
        return None;
    }
    let digits = 10f64.powf(rate.log10().floor() - 1.0).max(1.0);
    let rate = (rate / digits).floor() * digits;
    let text = format!(
        "a closed loop hides waiting, since a server that stalls is asked less; try --rate {rate:.0}"
    );
    Some(("", text))
}

/// Returns whether requests failed because their bodies differed from the first answer's.
fn bodies_differ(measured: &Measured) -> bool {
    let kinds = ["wrong body", "wrong length"];
    kinds
        .iter()
        .any(|kind| measured.failures.contains_key(*kind))
}

const PERCENTILES: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];

/// Returns the percentiles for which there are enough requests.
fn percentiles(of: &Latency) -> String {
    let reported = PERCENTILES.into_iter();
    let reported = reported.filter(|percentile| supports(*percentile, of.count()));
    let reported: Vec<String> = reported
        .map(|percentile| format!("p{percentile} {}", us(of.at(percentile / 100.0))))
        .collect();
    match reported.is_empty() {
        true => "of none".into(),
        false => reported.join(", "),
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
    let share = |share: f64| format!("{:.0} %", 100.0 * share);
    let mut text = format!("used {} of its time", share(measured.own_share()));
    if measured.empty_polls_share() > 0.0 {
        let polled = share(measured.empty_polls_share());
        text.push_str(&format!(", and polled in vain for {polled}"));
    }
    if measured.waited_share() >= 0.01 {
        let waited = share(measured.waited_share());
        text.push_str(&format!(", and waited for a processor for {waited}"));
    }
    text
}
