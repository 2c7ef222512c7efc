//! The other formats: their content, and the harmlessness of a subject's words in each.

mod comparisons;
mod runs;

use crate::sample::{self, empty_run, estimate, identity, result};
use antiphon_lab::{CoreToCore, Outcome, ResultRecord, RunRecord};
use antiphon_report::export::text::TextOptions;
use std::collections::HashMap;

const PLAIN: TextOptions = TextOptions {
    width: 120,
    colour: false,
};

fn frame(test: &str, subject: &str, cost: f64) -> ResultRecord {
    result(
        identity(test, subject, "other", "same"),
        Outcome::Frame(Box::new(estimate(cost, 0.05))),
    )
}

fn with(results: Vec<ResultRecord>) -> RunRecord {
    RunRecord {
        results,
        ..empty_run()
    }
}

/// Returns CSV lines as maps from heading to field.
fn csv_rows(text: &str) -> Vec<HashMap<String, String>> {
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    reader
        .deserialize()
        .collect::<Result<_, _>>()
        .expect("sound CSV")
}

/// Returns a run of one test with four starts, whose costs are about this multiple of the usual
/// one.
fn one_test(factor: f64) -> RunRecord {
    let mut record = frame("call.inter.none", "ada/O2", 20.0 * factor);
    let Outcome::Frame(e) = &record.outcome else {
        panic!("a frame")
    };
    let start = |n: i32| {
        let mut e = (**e).clone();
        e.log_ratio_to_reference = Some(sample::interval(factor.ln() + f64::from(n) * 1e-3, 1e-4));
        e.cost_ns = sample::interval(20.0 * factor * (1.0 + f64::from(n) * 1e-3), 0.01);
        e
    };
    record.starts = (0..4).map(start).collect();
    with(vec![record])
}

/// Returns a run whose suite cannot be read.
fn without_suite() -> RunRecord {
    RunRecord {
        suite_toml: "this is not a suite".into(),
        ..with(vec![frame("call.inter.none", "ada/O2", 1.75)])
    }
}

/// Text of the fault in its first line.
const UNREAD: &str = "the suite kept with the run:1";

fn read(core_to_core_ns: &[f64]) -> Vec<CoreToCore> {
    let of_start = |(start, ns): (usize, &f64)| CoreToCore {
        start: start as u32,
        before: Some(*ns),
        after: None,
    };
    core_to_core_ns.iter().enumerate().map(of_start).collect()
}
