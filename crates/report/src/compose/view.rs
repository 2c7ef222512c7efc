//! The run arranged for composing: results by test, columns by subject and run, colours by subject.

use super::figure::standing;
use crate::document::Standing;
use crate::layout::{LabelledTest, Layout};
use antiphon_lab::{Bases, Identity, Outcome, ResultRecord, RunRecord};
use antiphon_measure::{Estimate, FindingKind, Interval};

/// A run with the arrangement of its suite.
pub struct View<'a> {
    /// The run.
    pub run: &'a RunRecord,
    /// How its suite arranges results.
    pub layout: &'a Layout,
    /// Subjects in order of colour.
    pub subjects: Vec<String>,
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
    /// The column that a result belongs in.
    pub fn of(identity: &Identity) -> Self {
        RunColumn {
            subject: identity.subject.clone(),
            policy: identity.policy.clone(),
            placement: identity.placement.clone(),
        }
    }

    /// Policy and placement in words.
    pub fn conditions(&self) -> String {
        format!("{}, {}", self.policy, self.placement)
    }

    /// Subject, policy and placement in words.
    pub fn name(&self) -> String {
        format!("{} · {}", self.subject, self.conditions())
    }
}

impl<'a> View<'a> {
    /// Arranges a run.
    pub fn new(run: &'a RunRecord, layout: &'a Layout) -> Self {
        let subjects = subjects_of(std::slice::from_ref(run));
        View {
            run,
            layout,
            subjects,
        }
    }

    /// What its results are compared with.
    pub fn bases(&self) -> Bases<'a> {
        Bases::by(self.run, self.layout.compare)
    }

    /// The colour of a subject.
    pub fn colour(&self, subject: &str) -> Option<usize> {
        self.subjects.iter().position(|known| known == subject)
    }

    /// The result of a test in a column, whatever its argument.
    pub fn find(&self, test: &str, column: &RunColumn) -> Option<&'a ResultRecord> {
        self.run
            .results
            .iter()
            .find(|r| r.identity.test == test && RunColumn::of(&r.identity) == *column)
    }

    /// The result of a test with an argument in a column, if it has a usable time that can be told from its control's.
    pub fn told(
        &self,
        test: &str,
        arg: Option<u64>,
        column: &RunColumn,
    ) -> Option<&'a ResultRecord> {
        let fits = |r: &&ResultRecord| {
            r.identity.test == test
                && r.identity.arg == arg
                && RunColumn::of(&r.identity) == *column
        };
        let result = self.run.results.iter().find(fits)?;
        let estimate = usable(result)?;
        (standing(result, estimate) == Standing::Resolved).then_some(result)
    }

    /// The usable time of a test in a column.
    pub fn time(&self, test: &str, column: &RunColumn) -> Option<Interval> {
        let result = self.find(test, column)?;
        usable(result)?;
        result.time()
    }

    /// The usable estimate of a test in a column.
    pub fn estimate(&self, test: &str, column: &RunColumn) -> Option<&'a Estimate> {
        usable(self.find(test, column)?)
    }

    /// The columns that these results need: subjects in order of colour, runs in order of appearance.
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

    /// Among the columns of one subject, which this is: the shape of its points.
    pub fn shape(&self, columns: &[RunColumn], index: usize) -> usize {
        columns[..index]
            .iter()
            .filter(|other| other.subject == columns[index].subject)
            .count()
    }

    /// The label of a test with its argument.
    pub fn label(&self, identity: &Identity) -> String {
        let mut named = self.layout.groups.iter().flat_map(|g| &g.rows);
        let fits = |row: &&LabelledTest| {
            row.test == identity.test && (row.arg.is_none() || row.arg == identity.arg)
        };
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

    /// The group that a result is shown in; `None` for results that the suite does not name.
    pub fn group_of(&self, result: &ResultRecord) -> Option<usize> {
        let clock = matches!(result.outcome, Outcome::Clock { .. });
        let of_clocks = || self.layout.groups.iter().position(|group| group.clocks);
        let clocks = clock.then(of_clocks).flatten();
        let named = self.group_of_test(&result.identity.test);
        clocks.into_iter().chain(named).min()
    }

    /// The group that names a test.
    pub fn group_of_test(&self, test: &str) -> Option<usize> {
        let names = |group: &crate::layout::Group| group.rows.iter().any(|row| row.test == test);
        self.layout.groups.iter().position(names)
    }
}

/// The subjects of runs in order of colour.
pub fn subjects_of(runs: &[RunRecord]) -> Vec<String> {
    let mut subjects: Vec<String> = Vec::new();
    for run in runs {
        let started = run.subjects.iter().map(|subject| &subject.id);
        let measured = run.results.iter().map(|result| &result.identity.subject);
        for subject in started.chain(measured) {
            if !subjects.contains(subject) {
                subjects.push(subject.clone());
            }
        }
    }
    subjects
}

/// The estimate of a frame, if it is worth something.
fn usable(result: &ResultRecord) -> Option<&Estimate> {
    match &result.outcome {
        Outcome::Frame(estimate) if fatal(estimate).is_none() => Some(estimate),
        _ => None,
    }
}

/// The finding that makes a figure worthless, in a few words.
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
