//! Other generators, to check their agreement with ours: wrk, ApacheBench and siege, if they are
//! installed.

use super::processors::Places;
use crate::record::{Absence, Generator, LoadRound};
use crate::subject::find_command;
use antiphon_load::Load;
use antiphon_runner::{End, Error, Program, Stream, Usage};
use antiphon_service::Place;
use std::time::Duration;

/// Duration of their loads, because they take whole seconds only.
const SECONDS: u64 = 1;

/// Time after which one counts as hanging.
const LIMIT: Duration = Duration::from_secs(20);

/// Puts a load on a server by another generator.
pub(super) fn measure(by: Generator, load: &Load, places: &Places) -> Result<LoadRound, Absence> {
    if find_command(by.word()).is_none() {
        let help = format!("`apt install {}` as root", by.package());
        return Err(Absence::new(
            format!("{} is not installed", by.word()),
            help,
        ));
    }
    let mut program = Program::new(by.word())
        .args(arguments(by, load))
        .time_limit(LIMIT);
    // siege writes a configuration to the user's folder.
    let home = Place::of_user()
        .and_then(|place| place.folder(by.word()))
        .map_err(|why| Absence::new(format!("no temporary folder: {why}"), "make room"))?;
    program = program.env("HOME", home.path());
    if let Some(processor) = places.generator {
        program = program.affinity([processor]);
    }
    let (text, usage) = run(by.word(), program).map_err(Absence::of_message)?;
    round_of(by, &text, usage)
}

/// Parses a generator's output into a round.
fn round_of(by: Generator, text: &str, usage: Usage) -> Result<LoadRound, Absence> {
    let without = |reason: String| {
        let words: String = text.chars().take(1000).collect();
        Absence::new(reason, "run it by hand to see why").with_last_words(words)
    };
    let reported = reported(by, text)
        .ok_or_else(|| without(format!("{} did not tell what it measured", by.word())))?;
    // A request that fails is a failure, never a time.
    if let Some(failures) = failures(by, text) {
        return Err(without(format!(
            "{} counted failures: {failures}",
            by.word()
        )));
    }
    let used = usage.user + usage.system;
    Ok(LoadRound {
        answered: reported.answered,
        per_second: reported.per_second,
        generator_cpu_ns: used.as_nanos() as u64,
        generator_share: used.as_secs_f64() / usage.wall.as_secs_f64().max(1e-9),
        p50_ns: reported.p50_ns,
        p99_ns: reported.p99_ns,
        ..LoadRound::default()
    })
}

/// Runs a generator as urgently as ours; returns its output and its resource use.
fn run(name: &str, program: Program) -> Result<(String, Usage), Error> {
    let running = program.comes_first().forward(false)?;
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let (end, usage) = running.to_end(|stream, bytes| {
        let wrote = match stream {
            Stream::Output => &mut output,
            Stream::Error => &mut errors,
        };
        wrote.extend_from_slice(bytes);
    })?;
    let errors = String::from_utf8_lossy(&errors).into_owned();
    match end {
        End::Exited(0) => {
            let output = String::from_utf8_lossy(&output);
            Ok((format!("{output}\n{errors}"), usage))
        }
        end => Err(end.into_error(name.to_owned(), errors)),
    }
}

fn arguments(by: Generator, load: &Load) -> Vec<String> {
    let url = load.target.url();
    let connections = load.connections;
    let words = match by {
        Generator::Wrk if load.keep_alive => format!("-t1 -c{connections} -d{SECONDS} --latency"),
        Generator::Wrk => format!("-t1 -c{connections} -d{SECONDS} --latency -H Connection:close"),
        Generator::Ab if load.keep_alive => format!("-q -k -c{connections} -t{SECONDS} -n10000000"),
        Generator::Ab => format!("-q -c{connections} -t{SECONDS} -n10000000"),
        Generator::Siege | Generator::Antiphon => format!("-q -b -c{connections} -t{SECONDS}S"),
    };
    words.split(' ').map(str::to_owned).chain([url]).collect()
}

/// Figures that a generator reported.
#[derive(Debug, PartialEq)]
struct Reported {
    answered: u64,
    per_second: f64,
    /// `None` if it does not tell, or only in whole ms, which are too coarse here.
    p50_ns: Option<u64>,
    p99_ns: Option<u64>,
}

/// Returns the rest of the first line with this label.
fn rest<'t>(text: &'t str, label: &str) -> Option<&'t str> {
    text.lines().find_map(|line| {
        let line = line.trim_start_matches(['{', ' ', '\t']);
        line.strip_prefix(label)
    })
}

fn word_after<'t>(text: &'t str, label: &str) -> Option<&'t str> {
    let word = rest(text, label)?.split_whitespace().next()?;
    Some(word.trim_end_matches(','))
}

/// Returns the lines in which a generator counts failures. Some are absent without failures.
fn counts_of_failures(by: Generator) -> &'static [&'static str] {
    match by {
        Generator::Wrk => &["Non-2xx or 3xx responses:", "Socket errors:"],
        Generator::Ab => &["Failed requests:", "Write errors:", "Non-2xx responses:"],
        // Older ones, and newer ones, which write JSON.
        Generator::Siege => &["Failed transactions:", "\"failed_transactions\":"],
        Generator::Antiphon => &[],
    }
}

/// Returns a generator's count of failures, in its own words; `None` without any.
fn failures(by: Generator, text: &str) -> Option<String> {
    let is_any = |counts: &str| {
        let words = counts.split(|of: char| of.is_whitespace() || of == ',');
        words
            .filter_map(|word| word.parse::<u64>().ok())
            .any(|count| count > 0)
    };
    let labels = counts_of_failures(by).iter();
    let lines = labels.filter_map(|label| Some((label, rest(text, label)?)));
    let reported: Vec<String> = lines
        .filter(|(_, counts)| is_any(counts))
        .map(|(label, counts)| {
            let counts = counts.trim().trim_end_matches(',');
            format!("{} {counts}", label.replace('"', ""))
        })
        .collect();
    (!reported.is_empty()).then(|| reported.join("; "))
}

fn reported(by: Generator, text: &str) -> Option<Reported> {
    let after = |label: &str| word_after(text, label);
    let number = |label: &str| after(label)?.parse::<f64>().ok();
    match by {
        Generator::Wrk => Some(Reported {
            answered: text
                .lines()
                .find(|line| line.contains(" requests in "))?
                .split_whitespace()
                .next()?
                .parse()
                .ok()?,
            per_second: number("Requests/sec:")?,
            p50_ns: after("50%").and_then(time_ns),
            p99_ns: after("99%").and_then(time_ns),
        }),
        Generator::Ab => Some(Reported {
            answered: number("Complete requests:")? as u64,
            per_second: number("Requests per second:")?,
            p50_ns: None,
            p99_ns: None,
        }),
        Generator::Siege | Generator::Antiphon => {
            // Older ones write `Transactions:`, newer ones a JSON object with `"transactions":`.
            let either = |label: &str, key: &str| number(label).or_else(|| number(key));
            Some(Reported {
                answered: either("Transactions:", "\"transactions\":")? as u64,
                per_second: either("Transaction rate:", "\"transaction_rate\":")?,
                p50_ns: None,
                p99_ns: None,
            })
        }
    }
}

/// Parses a time of wrk's, such as `512.00us`.
fn time_ns(word: &str) -> Option<u64> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match &word[digits.len()..] {
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    Some((digits.parse::<f64>().ok()? * scale) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::first::MOST_URGENT;
    use rustix::process::{getpriority_process, setpriority_process};
    use rustix::thread::gettid;

    #[test]
    fn others_are_as_urgent_as_our_own_generator() {
        // Our own generator's threads ask for the same.
        let urgent = std::thread::spawn(|| {
            let _ = setpriority_process(Some(gettid()), MOST_URGENT);
            getpriority_process(Some(gettid())).unwrap_or(0)
        });
        let (text, _) = run("nice", Program::new("nice")).expect("it tells its own");
        assert_eq!(text.trim(), urgent.join().unwrap().to_string());
    }

    #[test]
    fn what_failed_by_others_counts_is_no_rate() {
        let failed = |by, text: &str| failures(by, text).unwrap_or_default();
        let wrk = "  181860 requests in 1.00s, 19.25MB read\n  Socket errors: connect 0, read 0, write 0, timeout 12\n  \
                   Non-2xx or 3xx responses: 180\nRequests/sec: 181720.33\n";
        assert_eq!(
            failed(Generator::Wrk, wrk),
            "Non-2xx or 3xx responses: 180; Socket errors: connect 0, read 0, write 0, timeout 12"
        );
        let ab = "Complete requests:      50000\nFailed requests:        3\n   (Connect: 0, Receive: 0, Length: 3, Exceptions: 0)\n\
                  Non-2xx responses:      7\nKeep-Alive requests:    50000\n";
        assert_eq!(
            failed(Generator::Ab, ab),
            "Failed requests: 3; Non-2xx responses: 7"
        );
        let siege =
            "{\t\"transactions\":\t\t\t       15400,\n\t\"failed_transactions\":\t\t\t   5,\n}";
        assert_eq!(failed(Generator::Siege, siege), "failed_transactions: 5");
        let old = "Successful transactions:       15400\nFailed transactions:\t           5\n";
        assert_eq!(failed(Generator::Siege, old), "Failed transactions: 5");
        let none = "Socket errors: connect 0, read 0, write 0, timeout 0\nFailed requests:        0\nWrite errors:           0\n\
                    Failed transactions:\t           0\n\t\"failed_transactions\":\t\t\t   0,\n";
        for by in Generator::ALL {
            assert_eq!(failures(by, none), None);
            assert_eq!(failures(by, "nothing"), None);
        }
    }

    #[test]
    fn a_rival_whose_requests_failed_has_no_figure() {
        let of_wrk = |text: &str| round_of(Generator::Wrk, text, Usage::default());
        let wrk = "  100 requests in 1.00s, 1MB read\nRequests/sec: 100.00\n";
        assert_eq!(of_wrk(wrk).unwrap().answered, 100);
        let failed = format!("{wrk}  Non-2xx or 3xx responses: 40\n");
        let absence = of_wrk(&failed).unwrap_err();
        assert!(
            absence
                .reason
                .contains("wrk counted failures: Non-2xx or 3xx responses: 40"),
            "{absence:?}"
        );
        let absence = of_wrk("nothing").unwrap_err();
        assert!(absence.reason.contains("did not tell"), "{absence:?}");
    }

    #[test]
    fn what_others_tell_is_read() {
        let wrk = "  Latency Distribution\n     50%  512.00us\n     75%  600.00us\n     90%  1.00ms\n     99%    1.25ms\n  \
                   181860 requests in 1.00s, 19.25MB read\nRequests/sec: 181720.33\n";
        let expected = Reported {
            answered: 181_860,
            per_second: 181_720.33,
            p50_ns: Some(512_000),
            p99_ns: Some(1_250_000),
        };
        assert_eq!(reported(Generator::Wrk, wrk), Some(expected));
        let ab = "Complete requests:      50000\nFailed requests:        0\nRequests per second:    118568.83 [#/sec] (mean)\n";
        let ab = reported(Generator::Ab, ab).unwrap();
        assert_eq!((ab.answered, ab.p50_ns), (50_000, None));
        let siege =
            "{\t\"transactions\":\t\t\t       15400,\n\t\"transaction_rate\":\t\t    15623.11,\n}";
        assert_eq!(
            reported(Generator::Siege, siege).unwrap().per_second,
            15_623.11
        );
        let old = "Transactions:\t\t       15400 hits\nTransaction rate:\t    15623.11 trans/sec\n";
        assert_eq!(reported(Generator::Siege, old).unwrap().answered, 15_400);
        for by in Generator::ALL {
            assert_eq!(reported(by, "nothing"), None);
        }
    }
}
