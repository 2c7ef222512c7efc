//! Comparison of two runs: tests, programs and servers that both have, judged together by
//! [`antiphon_measure::compare`].

use crate::patterns::Patterns;
use crate::record::{Apart, Identity, LoadOutcome, LoadRound, Outcome, ResultRecord, RunRecord};
use antiphon_measure::{
    Comparison, ComparisonSettings, Estimate, RunFigure, compare, compare_figures, judge,
    median_interval,
};
use std::collections::BTreeMap;

/// A test of both runs, or of one.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonRow {
    /// Identity in the first run; `None` if only the second has it.
    pub a: Option<Identity>,
    /// Identity in the second run; `None` if only the first has it.
    pub b: Option<Identity>,
    /// The comparison; `None` if a side has no figure.
    pub comparison: Option<Comparison>,
    /// Reason for a missing comparison; empty if there is one.
    pub why_not: String,
    /// Core distances in the first run and in the second, if they differ enough to explain a
    /// difference.
    ///
    /// The comparison is then no verdict on the program, and it is not judged together with the
    /// others.
    pub moved: Option<(Apart, Apart)>,
}

/// Key of a test, equal in both runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    test: String,
    arg: Option<u64>,
    policy: String,
    placement: String,
    /// The subject in A.
    subject: String,
}

fn name(identity: &Identity, subject: &str) -> Name {
    Name {
        test: identity.test.clone(),
        arg: identity.arg,
        policy: identity.policy.clone(),
        placement: identity.placement.clone(),
        subject: subject.to_owned(),
    }
}

/// Compares the frames, programs and servers of two runs whose tests fit `only`.
///
/// Programs are compared by the time of whole runs, servers by processor time a request. `renamed`
/// pairs subjects with different names, as (A, B); all others are compared by their own names. The
/// order is that of A, then of rows that only B has.
pub fn compare_runs(
    a: &RunRecord,
    b: &RunRecord,
    renamed: &[(String, String)],
    only: &Patterns,
    settings: &ComparisonSettings,
) -> Vec<ComparisonRow> {
    let is_meant = |result: &&ResultRecord| only.fit(&result.identity.test);
    let mut of_b: BTreeMap<Name, &ResultRecord> = BTreeMap::new();
    for result in b.results.iter().filter(is_meant) {
        let subject = &result.identity.subject;
        for in_a in names_in_a(subject, renamed) {
            of_b.insert(name(&result.identity, in_a), result);
        }
    }
    let mut rows = Vec::new();
    for left in a.results.iter().filter(is_meant) {
        let right = of_b.remove(&name(&left.identity, &left.identity.subject));
        rows.extend(row(Some(left), right, settings));
    }
    for right in of_b.into_values() {
        rows.extend(row(None, Some(right), settings));
    }
    judge_together(&mut rows, settings);
    rows
}

/// Returns the subjects of A that a subject of B is compared with.
fn names_in_a<'n>(subject: &'n str, renamed: &'n [(String, String)]) -> Vec<&'n str> {
    let given: Vec<_> = renamed
        .iter()
        .filter(|(_, in_b)| in_b == subject)
        .map(|(in_a, _)| in_a.as_str())
        .collect();
    match given.is_empty() {
        true => vec![subject],
        false => given,
    }
}

/// Returns the row of one test; `None` if neither side has a figure to compare.
fn row(
    a: Option<&ResultRecord>,
    b: Option<&ResultRecord>,
    settings: &ComparisonSettings,
) -> Option<ComparisonRow> {
    let (left, right) = (a.and_then(Starts::of), b.and_then(Starts::of));
    if left.is_none() && right.is_none() {
        return None;
    }
    let (comparison, why_not) = match (&left, &right) {
        (None, _) => (None, format!("the first run has no figure{}", reason(a))),
        (_, None) => (None, format!("the second run has no figure{}", reason(b))),
        (Some(left), Some(right)) => match left.compared(right, settings) {
            Some(comparison) => (Some(comparison), String::new()),
            None => (None, "a side has no time above zero".to_owned()),
        },
    };
    Some(ComparisonRow {
        a: a.map(|result| result.identity.clone()),
        b: b.map(|result| result.identity.clone()),
        comparison,
        why_not,
        moved: a.zip(b).and_then(|(a, b)| a.moved_until(b)),
    })
}

/// Figures of a result, one for each process start.
enum Starts<'r> {
    /// Estimates of a frame.
    Frame(&'r [Estimate]),
    /// Times of a program's runs, or a server's processor times a request, ns.
    Run(Vec<f64>),
}

impl<'r> Starts<'r> {
    /// Returns the figures of a result; `None` if it is not compared or has no figure.
    fn of(result: &'r ResultRecord) -> Option<Starts<'r>> {
        match &result.outcome {
            Outcome::Frame(estimate) if result.starts.is_empty() => {
                Some(Starts::Frame(std::slice::from_ref(estimate.as_ref())))
            }
            Outcome::Frame(_) => Some(Starts::Frame(&result.starts)),
            Outcome::Program { runs, .. } => {
                let time = |run| RunFigure::Time.of(run);
                Some(Starts::Run(runs.iter().filter_map(time).collect()))
            }
            Outcome::Load(load) => Some(Starts::Run(cpu_by_epoch(load))),
            _ => None,
        }
    }

    fn compared(&self, to: &Starts<'_>, settings: &ComparisonSettings) -> Option<Comparison> {
        match (self, to) {
            (Starts::Frame(a), Starts::Frame(b)) => compare(a, b, settings),
            (Starts::Run(a), Starts::Run(b)) => compare_figures(a, b, settings),
            _ => None,
        }
    }
}

/// Returns a server's processor time a request for each epoch, ns: the median of its rounds. Each
/// epoch starts the server anew.
fn cpu_by_epoch(load: &LoadOutcome) -> Vec<f64> {
    let epochs = load.rounds.chunk_by(|a, b| a.epoch == b.epoch);
    epochs
        .filter_map(|rounds| {
            let each: Vec<f64> = rounds.iter().map(LoadRound::cpu_ns).collect();
            median_interval(&each).map(|found| found.value)
        })
        .collect()
}

fn reason(result: Option<&ResultRecord>) -> String {
    match result.map(|result| &result.outcome) {
        Some(Outcome::Absent { reason, .. }) => format!(": {reason}"),
        _ => String::new(),
    }
}

/// Sets the verdicts anew, corrected for all comparisons that a decision rests on.
fn judge_together(rows: &mut [ComparisonRow], settings: &ComparisonSettings) {
    let decisive = rows.iter_mut().filter(|row| row.moved.is_none());
    judge(decisive.filter_map(|row| row.comparison.as_mut()), settings);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Absence, CoreToCore};

    fn result(core_to_core_ns: &[f64]) -> ResultRecord {
        let identity = Identity {
            test: "rendezvous.simple".into(),
            arg: None,
            subject: "ada/O2".into(),
            policy: "other".into(),
            placement: "across".into(),
        };
        let around = |(start, ns): (usize, &f64)| CoreToCore {
            start: start as u32,
            before: Some(*ns),
            after: Some(*ns),
        };
        ResultRecord {
            core_to_core_ns: core_to_core_ns.iter().enumerate().map(around).collect(),
            ..ResultRecord::new(identity, Absence::not_meant("a test").into())
        }
    }

    fn distances(a: &[f64], b: &[f64]) -> Option<(f64, f64)> {
        let (before, after) = result(a).moved_until(&result(b))?;
        Some((before.median_ns, after.median_ns))
    }

    #[test]
    fn processors_moved_where_the_medians_say_so_and_both_runs_read_them() {
        assert_eq!(distances(&[120.0], &[330.0]), Some((120.0, 330.0)));
        assert_eq!(distances(&[330.0], &[120.0]), Some((330.0, 120.0)));
        assert_eq!(distances(&[120.0], &[130.0]), None);
        assert_eq!(distances(&[120.0, 120.0, 330.0], &[120.0]), None);
        assert_eq!(distances(&[], &[330.0]), None);
    }
}
