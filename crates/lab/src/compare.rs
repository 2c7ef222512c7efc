//! Two runs side by side: the same tests, judged together through [`antiphon_measure::compare`].

use crate::record::{Apart, Identity, Outcome, ResultRecord, RunRecord};
use antiphon_measure::{Comparison, ComparisonSettings, Estimate, judge};
use std::collections::BTreeMap;

/// One test of both runs, or of one.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonRow {
    /// What it is in the first run; `None` if only the second has it.
    pub a: Option<Identity>,
    /// What it is in the second run; `None` if only the first has it.
    pub b: Option<Identity>,
    /// The comparison; `None` if a side has no figure.
    pub comparison: Option<Comparison>,
    /// Why there is no comparison; empty if there is one.
    pub why_not: String,
    /// How far apart the processors were in the first run and in the second, where that differs so much that it may be what a difference comes from. What the
    /// comparison shows is then no verdict on the program, and it is not among those that are judged together.
    pub moved: Option<(Apart, Apart)>,
}

/// What a test is called in both runs.
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

/// Compares all frames of two runs. `renamed` says which subject of B stands for which of A, as (A, B), where they have different names;
/// all others are compared by their own names. The order is that of A, then of what only B has.
pub fn compare_runs(
    a: &RunRecord,
    b: &RunRecord,
    renamed: &[(String, String)],
    settings: &ComparisonSettings,
) -> Vec<ComparisonRow> {
    let mut of_b: BTreeMap<Name, &ResultRecord> = BTreeMap::new();
    for result in b.results.iter().filter(|result| is_frame_or_absent(result)) {
        let subject = &result.identity.subject;
        for in_a in names_in_a(subject, renamed) {
            of_b.insert(name(&result.identity, in_a), result);
        }
    }
    let mut rows = Vec::new();
    for left in a.results.iter().filter(|result| is_frame_or_absent(result)) {
        let right = of_b.remove(&name(&left.identity, &left.identity.subject));
        rows.extend(row(Some(left), right, settings));
    }
    for right in of_b.into_values() {
        rows.extend(row(None, Some(right), settings));
    }
    judge_together(&mut rows, settings);
    rows
}

/// The subjects of A that a subject of B is compared with.
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

fn is_frame_or_absent(result: &ResultRecord) -> bool {
    matches!(result.outcome, Outcome::Frame(_) | Outcome::Absent { .. })
}

/// The row of one test; `None` if neither side has a figure.
fn row(
    a: Option<&ResultRecord>,
    b: Option<&ResultRecord>,
    settings: &ComparisonSettings,
) -> Option<ComparisonRow> {
    let (left, right) = (
        a.map(starts).unwrap_or_default(),
        b.map(starts).unwrap_or_default(),
    );
    if left.is_empty() && right.is_empty() {
        return None;
    }
    let fifo = |result: Option<&ResultRecord>| result.is_some_and(|r| r.identity.policy == "fifo");
    let comparison = antiphon_measure::compare(left, right, fifo(a) && fifo(b), settings);
    let why_not = match (&comparison, left.is_empty(), right.is_empty()) {
        (Some(_), ..) => String::new(),
        (None, true, _) => format!("the first run has no figure{}", reason(a)),
        (None, _, true) => format!("the second run has no figure{}", reason(b)),
        (None, false, false)
            if left
                .iter()
                .chain(right)
                .any(|e| e.cost_ns.limits().is_none()) =>
        {
            "a side is one block of one start, which tells no limits; give it more time".to_owned()
        }
        (None, false, false) => "a side has no time above zero".to_owned(),
    };
    Some(ComparisonRow {
        a: a.map(|result| result.identity.clone()),
        b: b.map(|result| result.identity.clone()),
        comparison,
        why_not,
        moved: a.zip(b).and_then(|(a, b)| a.moved_until(b)),
    })
}

/// The estimates of a frame's process starts.
fn starts(result: &ResultRecord) -> &[Estimate] {
    match &result.outcome {
        Outcome::Frame(estimate) if result.starts.is_empty() => {
            std::slice::from_ref(estimate.as_ref())
        }
        Outcome::Frame(_) => &result.starts,
        _ => &[],
    }
}

fn reason(result: Option<&ResultRecord>) -> String {
    match result.map(|result| &result.outcome) {
        Some(Outcome::Absent { reason, .. }) => format!(": {reason}"),
        _ => String::new(),
    }
}

/// Sets the verdicts anew, corrected for all comparisons that a decision rests on.
fn judge_together(rows: &mut [ComparisonRow], settings: &ComparisonSettings) {
    let with = rows.iter_mut().filter(|row| row.moved.is_none());
    let mut with: Vec<_> = with.filter_map(|row| row.comparison.as_mut()).collect();
    let mut judged: Vec<_> = with
        .iter()
        .map(|comparison| (*comparison).clone())
        .collect();
    judge(&mut judged, settings);
    for (comparison, judged) in with.iter_mut().zip(judged) {
        **comparison = judged;
    }
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
