//! The run arranged for composing: results by test, columns by subject and run, colours by subject.

use super::figure::standing;
use crate::document::Standing;
use crate::layout::{LabelledTest, Layout};
use antiphon_lab::{Bases, Identity, Outcome, ResultRecord, RunRecord};
use antiphon_measure::{Estimate, FindingKind, Interval};
use std::collections::{HashMap, HashSet};

/// A run with the arrangement of its suite.
pub struct View<'a> {
    /// The run.
    pub run: &'a RunRecord,
    /// Arrangement of its results by the suite.
    pub layout: &'a Layout,
    /// Subjects in order of colour.
    pub subjects: Vec<String>,
    /// The results of each test, in the order of the run.
    by_test: HashMap<&'a str, Vec<&'a ResultRecord>>,
    /// Each test's rows with the number of their group, in the order of the suite.
    rows: HashMap<&'a str, Vec<(usize, &'a LabelledTest)>>,
    bases: Bases<'a>,
}

/// A column of a table of results: a subject under one policy and placement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunColumn {
    /// The subject.
    pub subject: String,
    /// Scheduling policy.
    pub policy: String,
    /// Placement.
    pub placement: String,
}

impl RunColumn {
    /// Returns the column that a result belongs in.
    pub fn of(identity: &Identity) -> Self {
        RunColumn {
            subject: identity.subject.clone(),
            policy: identity.policy.clone(),
            placement: identity.placement.clone(),
        }
    }

    /// Checks whether a result belongs in it.
    pub fn is_of(&self, identity: &Identity) -> bool {
        (&self.subject, &self.policy, &self.placement)
            == (&identity.subject, &identity.policy, &identity.placement)
    }

    /// Returns policy and placement in words.
    pub fn conditions(&self) -> String {
        format!("{}, {}", self.policy, self.placement)
    }

    /// Returns subject, policy and placement in words.
    pub fn name(&self) -> String {
        format!("{} · {}", self.subject, self.conditions())
    }
}

impl<'a> View<'a> {
    /// Arranges a run.
    pub fn new(run: &'a RunRecord, layout: &'a Layout) -> Self {
        let subjects = subjects_of(std::slice::from_ref(run));
        View::with_subjects(run, layout, subjects)
    }

    /// Arranges a run with colours for these subjects.
    pub fn with_subjects(run: &'a RunRecord, layout: &'a Layout, subjects: Vec<String>) -> Self {
        let mut by_test: HashMap<&str, Vec<&ResultRecord>> = HashMap::new();
        for result in &run.results {
            let of_test = by_test.entry(&result.identity.test).or_default();
            of_test.push(result);
        }
        let mut rows: HashMap<&str, Vec<(usize, &LabelledTest)>> = HashMap::new();
        for (number, group) in layout.groups.iter().enumerate() {
            for row in &group.rows {
                rows.entry(&row.test).or_default().push((number, row));
            }
        }
        View {
            run,
            layout,
            subjects,
            by_test,
            rows,
            bases: Bases::by(run, layout.compare),
        }
    }

    /// Returns the bases that its results are compared with.
    pub fn bases(&self) -> &Bases<'a> {
        &self.bases
    }

    /// Returns the results of a test, in the order of the run.
    pub fn of_test(&self, test: &str) -> impl Iterator<Item = &'a ResultRecord> + use<'a, '_> {
        self.by_test.get(test).into_iter().flatten().copied()
    }

    /// Returns the colour of a subject.
    pub fn colour(&self, subject: &str) -> Option<usize> {
        self.subjects.iter().position(|known| known == subject)
    }

    /// Returns the result of a test in a column, with any argument.
    pub fn find(&self, test: &str, column: &RunColumn) -> Option<&'a ResultRecord> {
        self.of_test(test)
            .find(|result| column.is_of(&result.identity))
    }

    /// Returns the result of a test with an argument in a column, if it has a usable time
    /// distinguishable from its control's.
    pub fn reported(
        &self,
        test: &str,
        arg: Option<u64>,
        column: &RunColumn,
    ) -> Option<&'a ResultRecord> {
        let fits = |r: &&ResultRecord| r.identity.arg == arg && column.is_of(&r.identity);
        let result = self.of_test(test).find(fits)?;
        let estimate = usable(result)?;
        (standing(result, estimate) == Standing::Resolved).then_some(result)
    }

    /// Returns the usable time of a test in a column.
    pub fn time(&self, test: &str, column: &RunColumn) -> Option<Interval> {
        let result = self.find(test, column)?;
        usable(result)?;
        result.time()
    }

    /// Returns the usable estimate of a test in a column.
    pub fn estimate(&self, test: &str, column: &RunColumn) -> Option<&'a Estimate> {
        usable(self.find(test, column)?)
    }

    /// Returns the columns that these results need: subjects in order of colour, runs in order of
    /// appearance.
    pub fn columns<'r>(
        &self,
        results: impl IntoIterator<Item = &'r ResultRecord>,
    ) -> Vec<RunColumn> {
        let mut columns: Vec<RunColumn> = Vec::new();
        for result in results {
            let column = RunColumn::of(&result.identity);
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        columns.sort_by_key(|column| self.colour(&column.subject));
        columns
    }

    /// Returns the index of a column among those of its subject: the shape of its points.
    pub fn shape(&self, columns: &[RunColumn], index: usize) -> usize {
        columns[..index]
            .iter()
            .filter(|other| other.subject == columns[index].subject)
            .count()
    }

    /// Returns the label of a test with its argument.
    pub fn label(&self, identity: &Identity) -> String {
        let mut named = self.rows_of(&identity.test).iter().map(|(_, row)| *row);
        let fits = |row: &&LabelledTest| row.arg.is_none() || row.arg == identity.arg;
        let found = named.find(fits);
        let label = found.map_or(&identity.test, |row| &row.label);
        match identity
            .arg
            .filter(|_| found.is_none_or(|row| row.arg.is_none()))
        {
            Some(arg) => format!("{label} ({})", crate::number::count(arg)),
            None => label.clone(),
        }
    }

    /// Returns the group that a result is shown in; `None` for results that the suite does not
    /// name.
    pub fn group_of(&self, result: &ResultRecord) -> Option<usize> {
        let clock = matches!(result.outcome, Outcome::Clock { .. });
        let of_clocks = || self.layout.groups.iter().position(|group| group.clocks);
        let clocks = clock.then(of_clocks).flatten();
        let named = self.group_of_test(&result.identity.test);
        clocks.into_iter().chain(named).min()
    }

    /// Returns the group that names a test.
    pub fn group_of_test(&self, test: &str) -> Option<usize> {
        self.rows_of(test).first().map(|(group, _)| *group)
    }

    fn rows_of(&self, test: &str) -> &[(usize, &'a LabelledTest)] {
        self.rows.get(test).map_or(&[], Vec::as_slice)
    }
}

/// Returns the subjects of runs in order of colour.
pub fn subjects_of(runs: &[RunRecord]) -> Vec<String> {
    let mut known: HashSet<&str> = HashSet::new();
    let mut subjects: Vec<String> = Vec::new();
    for run in runs {
        let started = run.subjects.iter().map(|subject| &subject.id);
        let measured = run.results.iter().map(|result| &result.identity.subject);
        for subject in started.chain(measured) {
            if known.insert(subject) {
                subjects.push(subject.clone());
            }
        }
    }
    subjects
}

/// Returns the estimate of a frame, if it is usable.
fn usable(result: &ResultRecord) -> Option<&Estimate> {
    match &result.outcome {
        Outcome::Frame(estimate) if fatal(estimate).is_none() => Some(estimate),
        _ => None,
    }
}

/// Returns the finding that makes a figure worthless, in a few words.
pub fn fatal(estimate: &Estimate) -> Option<&'static str> {
    estimate
        .findings
        .iter()
        .find_map(|finding| match finding.kind {
            FindingKind::DeadCode => Some("work was removed"),
            FindingKind::UnequalWork => Some("unequal work"),
            FindingKind::WrongPlacement => Some("wrong policy or processor"),
            _ => None,
        })
}
