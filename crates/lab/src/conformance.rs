//! Whether a subject keeps docs/subject-protocol.md: every rule that can be seen from outside, each checked on its own.

mod answers;
mod ending;
mod frames;
mod gaps;
mod probe;
mod refusals;
mod reports;

use crate::session::Launch;
use probe::Probe;

/// One rule, and whether the subject keeps it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Check {
    /// The rule's name, stable, such as `batch.order`.
    pub name: &'static str,
    /// Whether the subject keeps it.
    pub passed: bool,
    /// What was seen.
    pub evidence: String,
    /// What to do if it does not.
    pub mend: &'static str,
}

/// A rule: how to see whether a subject keeps it. Gives what was seen, `Err` if that breaks the rule.
struct Rule {
    name: &'static str,
    mend: &'static str,
    check: fn(&mut Probe<'_>) -> Result<String, String>,
}

const RULES: &[Rule] = &[
    Rule {
        name: "hello",
        mend: "answer `hello 1` with `@@ hello protocol=1 language=… kit=… clock=…` and `@@ ok`, and flush standard output",
        check: answers::hello,
    },
    Rule {
        name: "hello.version",
        mend: "answer a version that you do not speak with `@@ error version speaks 1`, and go on",
        check: refusals::version,
    },
    Rule {
        name: "list",
        mend: "answer `list` with one `@@ test` or `@@ clock` line each, names unique, spaces in values written `%20`",
        check: answers::list,
    },
    Rule {
        name: "list.self",
        mend: "every kit has the frames self.same, self.dearer and self.handoff",
        check: answers::own_tests,
    },
    Rule {
        name: "list.clock",
        mend: "list the clock that `hello` names too, with unit=ns, so that its readings can be asked for",
        check: answers::own_clock,
    },
    Rule {
        name: "list.most",
        mend: "answer more iterations than a test's `most` with `@@ error bad-argument …`",
        check: refusals::beyond_most,
    },
    Rule {
        name: "error.unknown-request",
        mend: "answer a verb that you do not know with `@@ error unknown-request …`, and go on",
        check: refusals::unknown_request,
    },
    Rule {
        name: "error.unknown-test",
        mend: "answer a test that you do not have with `@@ error unknown-test …`, and go on",
        check: refusals::unknown_test,
    },
    Rule {
        name: "error.unknown-clock",
        mend: "answer a clock that you do not have with `@@ error unknown-clock …`, and go on",
        check: refusals::unknown_clock,
    },
    Rule {
        name: "error.bad-argument",
        mend: "answer what is missing, given twice, no number or out of range with `@@ error bad-argument …`, and go on",
        check: refusals::bad_argument,
    },
    Rule {
        name: "fields",
        mend: "take `key=value` fields in any order, and ignore those that you do not know",
        check: frames::fields,
    },
    Rule {
        name: "batch.order",
        mend: "a block is reference control test test control reference (without reference if R is 0), B blocks numbered from 0",
        check: frames::order,
    },
    Rule {
        name: "batch.reference",
        mend: "each iteration of the reference is 16 steps x ← x · 6364136223846793005 + 1442695040888963407 mod 2⁶⁴ from x = 1; the last x is the checksum",
        check: frames::reference,
    },
    Rule {
        name: "batch.checksum",
        mend: "a frame's checksum depends on its iterations and argument only",
        check: frames::checksum,
    },
    Rule {
        name: "batch.growth",
        mend: "the frame's work was removed or does not depend on N: compile its parts apart and use the checksum",
        check: frames::growth,
    },
    Rule {
        name: "batch.threads",
        mend: "each thread reports in the warm-up and after the last block; equal reports are added up in `count`",
        check: reports::batches,
    },
    Rule {
        name: "batch.silence",
        mend: "print nothing between the request and the end of the last timed region: keep results in memory until then",
        check: frames::silence,
    },
    Rule {
        name: "slice",
        mend: "answer `slice` with one `@@ slice` line of block 0, for each role",
        check: frames::slices,
    },
    Rule {
        name: "placement.same",
        mend: "after `placement same P` every thread sets its own affinity to P before it begins",
        check: reports::placement_same,
    },
    Rule {
        name: "placement.across",
        mend: "after `placement across P Q` the main thread keeps to P and every partner to Q",
        check: reports::placement_across,
    },
    Rule {
        name: "clock",
        mend: "answer `clock NAME COUNT` with COUNT readings: on each line an absolute one, then differences",
        check: answers::clock,
    },
    Rule {
        name: "clock.threads",
        mend: "answer `clock` and `gaps` with a `@@ thread` line of the main thread too: it reports before the loop and after it",
        check: reports::clocks,
    },
    Rule {
        name: "clock.monotonic",
        mend: "time slices with a clock that is never set, such as CLOCK_MONOTONIC",
        check: answers::monotonic,
    },
    Rule {
        name: "gaps",
        mend: "answer `gaps` with the first differences above `over` in order of time, at most 200000 of them, and one `@@ loop` line that counts and sums all",
        check: gaps::kept,
    },
    Rule {
        name: "gaps.time",
        mend: "read the clock in a loop until `time` ns of your own clock are over, with nothing in the loop that takes longer than a reading",
        check: gaps::time,
    },
    Rule {
        name: "latency",
        mend: "answer `latency` with COUNT lines `@@ sample INTENDED ACTUAL END`, intended starts T ns apart",
        check: answers::latency,
    },
    Rule {
        name: "latency.threads",
        mend: "each thread reports in an untimed operation before those that are timed and in one after them",
        check: reports::latencies,
    },
    Rule {
        name: "series",
        mend: "answer `series` with a reading before the loop, one after each operation, and one `@@ outcome` line",
        check: answers::series,
    },
    Rule {
        name: "series.threads",
        mend: "the main thread reports before the loop, and again when all storage has been given back",
        check: reports::series,
    },
    Rule {
        name: "usage",
        mend: "answer `usage` with one `@@ usage` line of getrusage's figures",
        check: answers::usage,
    },
    Rule {
        name: "tests",
        mend: "every listed test without `absent` must run; mark those that cannot run here with `absent=` and why",
        check: answers::every_test,
    },
    Rule {
        name: "own-output",
        mend: "end lines of your own before you answer, so that `@@ ` begins its line",
        check: ending::own_output,
    },
    Rule {
        name: "quit",
        mend: "answer `quit` with `@@ ok` and end with exit code 0 within ten seconds",
        check: ending::quit,
    },
    Rule {
        name: "end-of-input",
        mend: "end with exit code 0 within ten seconds when standard input ends",
        check: ending::end_of_input,
    },
];

/// Checks every rule, in the order of the protocol's page. A rule that the subject has nothing for passes and says so; one that
/// kills the subject does not keep the others from being checked. If it does not even start, that is the one check given.
pub fn check(launch: &Launch) -> Vec<Check> {
    let mut probe = Probe::new(launch);
    if let Err(evidence) = probe.restart() {
        return vec![Check {
            name: "start",
            passed: false,
            evidence,
            mend: "build the subject, and see that `run` in its subject.toml starts it",
        }];
    }
    RULES
        .iter()
        .map(|rule| {
            let seen = (rule.check)(&mut probe);
            Check {
                name: rule.name,
                passed: seen.is_ok(),
                evidence: seen.unwrap_or_else(|broken| broken),
                mend: rule.mend,
            }
        })
        .collect()
}
