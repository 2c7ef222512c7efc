//! Comparison of two stored runs, by the laboratory's judgement.

use super::{Comparison, ComparisonRow, Side, Verdict};
use crate::compose::view::{RunColumn, View};
use crate::layout::Layout;
use antiphon_lab::{
    Apart, ComparisonRow as LabRow, Identity, LoadRound, Outcome, ResultRecord, RunRecord,
};
use antiphon_measure::{Basis, ComparisonSettings, Interval, run_time_ns};

impl Comparison {
    /// Creates the comparison of two runs from `rows` that the laboratory has judged by `settings`
    /// ([`antiphon_lab::compare_runs`]). Groups and labels are those of A's suite, if that can be
    /// read.
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
    let group = identity.map_or(String::new(), |identity| group(view, identity));
    let label = identity.map_or(String::new(), |identity| label(view, identity, found));
    let of = |run, identity: &Option<Identity>| cost(run, identity.as_ref()?);
    let row = ComparisonRow {
        before_ns: of(view.run, &found.a),
        after_ns: of(b, &found.b),
        ..ComparisonRow::without(group, label, String::new())
    };
    let Some(compared) = &found.comparison else {
        return row.noted([found.why_not.clone()]);
    };
    let both = [(view.run, &found.a), (b, &found.b)];
    let notes = apart(found.moved.as_ref(), both).into_iter();
    let notes = notes.chain(basis(compared.basis).map(str::to_owned));
    let judged = row
        .noted(notes)
        .judged(compared, |starts| format!("--repetitions {starts}"));
    ComparisonRow {
        verdict: match found.moved {
            Some(_) => where_moved(judged.verdict),
            None => judged.verdict,
        },
        ..judged
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

/// Returns the compared figure, ns: the cost of a frame, the time of a program, a server's
/// processor time a request.
fn cost(run: &RunRecord, identity: &Identity) -> Option<Interval> {
    match &result(run, identity)?.outcome {
        Outcome::Frame(estimate) => Some(estimate.cost_ns),
        Outcome::Program { runs, .. } => run_time_ns(runs),
        Outcome::Load(load) => load.median(LoadRound::cpu_ns),
        _ => None,
    }
}

/// Adjusts the verdict if the processors had another distance.
///
/// A difference beyond the limit may come from the distance or from the program, and nothing tells
/// which. Other verdicts stay.
fn where_moved(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Slower | Verdict::Faster => Verdict::Incomparable,
        same => same,
    }
}

/// Returns remarks on the processors' distance: it differs in the second run, or changed during
/// one.
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

/// Returns the basis of a row, if it is not the ordinary one.
fn basis(basis: Basis) -> Option<&'static str> {
    match basis {
        Basis::CostToReference | Basis::Interleaved => None,
        Basis::Cost => Some("in ns, a side has no reference"),
        Basis::FrameToReference => Some("whole frames, a cost is like its control"),
        Basis::Frame => Some("whole frames in ns"),
        Basis::Run => Some("time of whole runs, or processor time of a server's request"),
    }
}
