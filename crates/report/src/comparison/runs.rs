//! From two stored runs, as the laboratory compares them.

use super::{Comparison, ComparisonRow, Side, Verdict};
use crate::compose::view::{RunColumn, View};
use crate::layout::Layout;
use antiphon_lab::{Apart, ComparisonRow as LabRow, Identity, Outcome, ResultRecord, RunRecord};
use antiphon_measure::{Basis, ComparisonSettings, Interval};

impl Comparison {
    /// The comparison of two runs whose `rows` the laboratory has judged by `settings`
    /// ([`antiphon_lab::compare_runs`]). Groups and labels are those of A's suite, if that can be read.
    pub fn of_runs(
        a: &RunRecord,
        b: &RunRecord,
        rows: &[LabRow],
        settings: &ComparisonSettings,
    ) -> Self {
        let (layout, suite_fault) = Layout::of_run(a);
        let view = View::new(a, &layout);
        Comparison {
            before: side(a),
            after: side(b),
            basis: "Costs are set against the reference operation of their own run, so that a change of the processor's speed \
                    between the runs cancels; what each row rests on stands in its note."
                .into(),
            threshold: settings.threshold,
            confidence: settings.confidence,
            suite_fault,
            rows: rows.iter().map(|found| row(&view, b, found)).collect(),
        }
    }
}

fn side(run: &RunRecord) -> Side {
    let machine = &run.machine;
    let mut lines = vec![
        format!("suite {}, {}", run.suite, run.started),
        format!(
            "{}: {}, kernel {}",
            machine.host, machine.processor, machine.kernel
        ),
    ];
    let compilers = run.subjects.iter();
    lines.extend(compilers.map(|s| format!("{}: {} ({})", s.id, s.compiler, s.flags)));
    let slices = run.subjects.iter().filter_map(|subject| {
        let slice_ms = run.slice_ms(&subject.id)?;
        Some(format!(
            "{}: processor time by slices of {slice_ms} ms, as its file says",
            subject.id
        ))
    });
    lines.extend(slices);
    if run.is_awake() {
        lines.push("processor time with processors kept awake while turns waited".to_owned());
    }
    Side {
        name: format!("run {}", run.id),
        lines,
    }
}

fn row(view: &View, b: &RunRecord, found: &LabRow) -> ComparisonRow {
    let identity = found.a.as_ref().or(found.b.as_ref());
    let compared = found.comparison.as_ref();
    ComparisonRow {
        group: identity.map_or(String::new(), |identity| group(view, identity)),
        label: identity.map_or(String::new(), |identity| label(view, identity, found)),
        before_ns: found
            .a
            .as_ref()
            .and_then(|identity| cost(view.run, identity)),
        after_ns: found.b.as_ref().and_then(|identity| cost(b, identity)),
        log_ratio: compared.map(|c| c.log_ratio),
        verdict: compared.map_or(Verdict::Missing, |compared| match found.moved {
            Some(_) => where_moved(compared),
            None => verdict(compared),
        }),
        note: compared.map_or_else(
            || found.why_not.clone(),
            |compared| {
                let both = [(view.run, &found.a), (b, &found.b)];
                let apart = apart(found.moved.as_ref(), both);
                note(compared, apart)
            },
        ),
    }
}

fn group(view: &View, identity: &Identity) -> String {
    let groups = &view.layout.groups;
    let found = groups
        .iter()
        .find(|group| group.rows.iter().any(|row| row.test == identity.test));
    found.map_or_else(|| "Other results".into(), |group| group.title.clone())
}

fn label(view: &View, identity: &Identity, found: &LabRow) -> String {
    let mut label = format!(
        "{} · {}",
        view.label(identity),
        RunColumn::of(identity).name()
    );
    if let (Some(a), Some(b)) = (&found.a, &found.b)
        && a.subject != b.subject
    {
        label.push_str(&format!(" against {}", b.subject));
    }
    label
}

fn result<'r>(run: &'r RunRecord, identity: &Identity) -> Option<&'r ResultRecord> {
    let mut results = run.results.iter();
    results.find(|result| result.identity == *identity)
}

fn cost(run: &RunRecord, identity: &Identity) -> Option<Interval> {
    match &result(run, identity)?.outcome {
        Outcome::Frame(estimate) => Some(estimate.cost_ns),
        _ => None,
    }
}

fn verdict(compared: &antiphon_measure::Comparison) -> Verdict {
    match compared.verdict {
        antiphon_measure::Verdict::Regression => Verdict::Dearer,
        antiphon_measure::Verdict::Improvement => Verdict::Cheaper,
        antiphon_measure::Verdict::Indistinguishable if compared.equivalent => Verdict::Same,
        antiphon_measure::Verdict::Indistinguishable => Verdict::Undecided,
    }
}

/// The verdict where the processors were at another distance: what differs beyond the threshold does so for that, or for the program, and nothing tells which. What is
/// the same, or undecided, is so even then.
fn where_moved(compared: &antiphon_measure::Comparison) -> Verdict {
    match verdict(compared) {
        Verdict::Dearer | Verdict::Cheaper => Verdict::Incomparable,
        same => same,
    }
}

/// What is said of how far apart the processors were: that they were at another distance in the second run, or that they moved during one.
fn apart(
    moved: Option<&(Apart, Apart)>,
    sides: [(&RunRecord, &Option<Identity>); 2],
) -> Vec<String> {
    let between = moved.map(|(before, after)| {
        format!(
            "the processors were {:.0} ns apart, {:.0} before",
            after.median_ns, before.median_ns
        )
    });
    let within = sides.into_iter().filter_map(|(run, identity)| {
        let apart = result(run, identity.as_ref()?)?.apart()?;
        apart.is_of_both_kinds().then(|| {
            format!(
                "in run {} the processors were {:.0} ns apart at one time and {:.0} at another",
                run.id, apart.least_ns, apart.most_ns
            )
        })
    });
    between.into_iter().chain(within).collect()
}

/// How far apart the processors were, what the row rests on where that is not the ordinary, and its findings.
fn note(compared: &antiphon_measure::Comparison, apart: Vec<String>) -> String {
    let basis = match compared.basis {
        Basis::CostToReference => None,
        Basis::Cost => Some("in ns, a side has no reference"),
        Basis::FrameToReference => Some("whole frames, a cost is like its control"),
        Basis::Frame => Some("whole frames in ns"),
    };
    let findings = compared
        .findings
        .iter()
        .map(|finding| finding.text.as_str());
    apart
        .iter()
        .map(String::as_str)
        .chain(basis)
        .chain(findings)
        .collect::<Vec<_>>()
        .join("; ")
}
