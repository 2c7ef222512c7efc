//! Conformance of a subject to docs/reference/subject-protocol.md: one check for each rule that is
//! visible from outside.

mod answers;
mod ending;
mod frames;
mod gaps;
mod probe;
mod refusals;
mod reports;

use crate::session::Launch;
use probe::Probe;
use std::sync::atomic::{AtomicBool, Ordering};

/// A rule with its verdict.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Check {
    /// The rule's name, stable, such as `batch.order`.
    pub name: &'static str,
    /// Whether the subject keeps the rule.
    pub passed: bool,
    /// Observation that supports the verdict.
    pub evidence: String,
    /// Advice if the subject breaks the rule.
    pub help: &'static str,
}

/// A rule and its check. The check returns its observation, as `Err` if that breaks the rule.
struct Rule {
    name: &'static str,
    help: &'static str,
    check: fn(&mut Probe<'_>) -> Result<String, String>,
}

const RULES: &[Rule] = &[
    Rule {
        name: "hello",
        help: "answer `hello 1` with `@@ hello protocol=1 language=… kit=… clock=…` and `@@ ok`, and flush standard output",
        check: answers::hello,
    },
    Rule {
        name: "hello.version",
        help: "answer a version that you do not speak with `@@ error version speaks 1`, and go on",
        check: refusals::version,
    },
    Rule {
        name: "list",
        help: "answer `list` with one `@@ test` or `@@ clock` line each, names unique, spaces in values written `%20`",
        check: answers::list,
    },
    Rule {
        name: "list.self",
        help: "every kit has the frames self.same, self.dearer and self.handoff",
        check: answers::own_tests,
    },
    Rule {
        name: "list.clock",
        help: "list the clock that `hello` names too, with unit=ns, so that its readings can be asked for",
        check: answers::own_clock,
    },
    Rule {
        name: "list.most",
        help: "answer more iterations than a test's `most` with `@@ error bad-argument …`",
        check: refusals::beyond_most,
    },
    Rule {
        name: "error.unknown-request",
        help: "answer a verb that you do not know with `@@ error unknown-request …`, and go on",
        check: refusals::unknown_request,
    },
    Rule {
        name: "error.unknown-test",
        help: "answer a test that you do not have with `@@ error unknown-test …`, and go on",
        check: refusals::unknown_test,
    },
    Rule {
        name: "error.unknown-clock",
        help: "answer a clock that you do not have with `@@ error unknown-clock …`, and go on",
        check: refusals::unknown_clock,
    },
    Rule {
        name: "error.bad-argument",
        help: "answer what is missing, given twice, no number or out of range with `@@ error bad-argument …`, and go on",
        check: refusals::bad_argument,
    },
    Rule {
        name: "fields",
        help: "take `key=value` fields in any order, and ignore those that you do not know",
        check: frames::fields,
    },
    Rule {
        name: "batch.order",
        help: "a block is reference control test test control reference (without reference if R is 0), B blocks numbered from 0",
        check: frames::order,
    },
    Rule {
        name: "batch.reference",
        help: "each iteration of the reference is 16 steps x ← x · 6364136223846793005 + 1442695040888963407 mod 2⁶⁴ from x = 1; the last x is the checksum",
        check: frames::reference,
    },
    Rule {
        name: "batch.checksum",
        help: "a frame's checksum depends on its iterations and argument only",
        check: frames::checksum,
    },
    Rule {
        name: "batch.growth",
        help: "the frame's work was removed or does not depend on N: compile its parts apart and use the checksum",
        check: frames::growth,
    },
    Rule {
        name: "batch.threads",
        help: "each thread reports in the warm-up and after the last block; equal reports are added up in `count`",
        check: reports::batches,
    },
    Rule {
        name: "batch.silence",
        help: "print nothing between the request and the end of the last timed region: keep results in memory until then",
        check: frames::silence,
    },
    Rule {
        name: "slice",
        help: "answer `slice` with one `@@ slice` line of block 0, for each role",
        check: frames::slices,
    },
    Rule {
        name: "placement.same",
        help: "after `placement same P` every thread sets its own affinity to P before it begins",
        check: reports::placement_same,
    },
    Rule {
        name: "placement.across",
        help: "after `placement across P Q` the main thread keeps to P and every partner to Q",
        check: reports::placement_across,
    },
    Rule {
        name: "clock",
        help: "answer `clock NAME COUNT` with COUNT readings: on each line an absolute one, then differences",
        check: answers::clock,
    },
    Rule {
        name: "clock.threads",
        help: "answer `clock` and `gaps` with a `@@ thread` line of the main thread too: it reports before the loop and after it",
        check: reports::clocks,
    },
    Rule {
        name: "clock.monotonic",
        help: "time slices with a clock that is never set, such as CLOCK_MONOTONIC",
        check: answers::monotonic,
    },
    Rule {
        name: "gaps",
        help: "answer `gaps` with the first differences above `over` in order of time, at most 200000 of them, and one `@@ loop` line that counts and sums all",
        check: gaps::kept,
    },
    Rule {
        name: "gaps.time",
        help: "read the clock in a loop until `time` ns of your own clock are over, with nothing in the loop that takes longer than a reading",
        check: gaps::time,
    },
    Rule {
        name: "latency",
        help: "answer `latency` with COUNT lines `@@ sample INTENDED ACTUAL END`, intended starts T ns apart",
        check: answers::latency,
    },
    Rule {
        name: "latency.threads",
        help: "each thread reports in an untimed operation before those that are timed and in one after them",
        check: reports::latencies,
    },
    Rule {
        name: "series",
        help: "answer `series` with a reading before the loop, one after each operation, and one `@@ outcome` line",
        check: answers::series,
    },
    Rule {
        name: "series.threads",
        help: "the main thread reports before the loop, and again when all storage has been given back",
        check: reports::series,
    },
    Rule {
        name: "usage",
        help: "answer `usage` with one `@@ usage` line of getrusage's figures",
        check: answers::usage,
    },
    Rule {
        name: "tests",
        help: "every listed test without `absent` must run; mark those that cannot run here with `absent=` and why",
        check: answers::every_test,
    },
    Rule {
        name: "own-output",
        help: "end lines of your own before you answer, so that `@@ ` begins its line",
        check: ending::own_output,
    },
    Rule {
        name: "quit",
        help: "answer `quit` with `@@ ok` and end with exit code 0 within ten seconds",
        check: ending::quit,
    },
    Rule {
        name: "end-of-input",
        help: "end with exit code 0 within ten seconds when standard input ends",
        check: ending::end_of_input,
    },
];

/// Checks every rule, in the order of the protocol's page.
///
/// A rule passes with a remark if the subject has nothing to check. A rule that kills the subject
/// does not stop the others. A subject that does not start gives one check, `start`.
pub fn check(launch: &Launch) -> Vec<Check> {
    check_unless(launch, &AtomicBool::new(false))
}

/// Checks every rule, but none after `stop` is set.
pub fn check_unless(launch: &Launch, stop: &AtomicBool) -> Vec<Check> {
    let mut probe = Probe::new(launch);
    if let Err(evidence) = probe.restart() {
        return vec![Check {
            name: "start",
            passed: false,
            evidence,
            help: "build the subject, and see that `run` in its subject.toml starts it",
        }];
    }
    RULES
        .iter()
        .take_while(|_| !stop.load(Ordering::Relaxed))
        .map(|rule| {
            let seen = (rule.check)(&mut probe);
            Check {
                name: rule.name,
                passed: seen.is_ok(),
                evidence: seen.unwrap_or_else(|broken| broken),
                help: rule.help,
            }
        })
        .collect()
}
