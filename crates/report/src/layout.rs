//! Arrangement of results by a suite: groups, row labels, trends and published tables.
//!
//! A run carries the original text of its suite. An old run therefore keeps its arrangement after
//! the suite has changed.

use antiphon_lab::suite::{
    self, Argument, Compare, Curve, Headline, Instance, Models, Profile, Published, RowKind,
    Savings, Servers, Suite,
};
use antiphon_lab::{Faults, RunRecord};

/// Arrangement of one suite's results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// The suite's title.
    pub title: String,
    /// Description of the suite.
    pub text: String,
    /// Base of the costs.
    pub compare: Compare,
    /// Groups in order.
    pub groups: Vec<Group>,
    /// Published tables in order.
    pub published: Vec<Published>,
    /// Comparisons of variants in order.
    pub savings: Vec<Savings>,
    /// Tables of execution models in order.
    pub models: Vec<Models>,
    /// Profiles of programs in order.
    pub profiles: Vec<Profile>,
    /// Costs against a number, in order.
    pub curves: Vec<Curve>,
    /// Claims about servers, in order.
    pub servers: Vec<Servers>,
    /// Claims about subjects, in order.
    pub findings: Vec<Servers>,
    /// Sentences that the report opens with.
    pub headlines: Vec<Headline>,
}

/// A group of rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Identifier.
    pub id: String,
    /// Title.
    pub title: String,
    /// Description of the group.
    pub text: String,
    /// Tests with their labels, in order.
    pub rows: Vec<LabelledTest>,
    /// Whether the group shows every clock.
    pub clocks: bool,
    /// Tests whose cost is read against a number in their names.
    pub trends: Vec<Trend>,
    /// Tests whose costs should be a straight line over a number in their names.
    pub lines: Vec<Sweep>,
}

/// A test and its label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledTest {
    /// Name in the protocol.
    pub test: String,
    /// Its argument, if the label has it.
    pub arg: Option<u64>,
    /// Label.
    pub label: String,
}

/// Tests that differ by one number, and the question about them.
#[derive(Clone, Debug, PartialEq)]
pub struct Trend {
    /// Question about it.
    pub asks: Asks,
    /// Label with `n` for the number.
    pub label: String,
    /// (number, test), in order of the suite.
    pub points: Vec<(f64, String)>,
}

/// Tests that differ by one number.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// Label with `n` for the number.
    pub label: String,
    /// (number, test), in order of the suite.
    pub points: Vec<(f64, String)>,
}

/// Question about a trend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// Passing of a parameter, by copy or by reference.
    Passing,
    /// Sizes at which an allocator changes level.
    Steps,
}

impl Layout {
    /// Reads the arrangement from a suite's text, as a run keeps it.
    ///
    /// # Errors
    /// The text is not a suite.
    pub fn from_suite_text(text: &str) -> Result<Self, Faults> {
        Ok(Self::of(&Suite::parse(
            "the suite kept with the run",
            text,
        )?))
    }

    /// Returns the arrangement of a run's suite, or none with the reason, which the caller shows.
    pub(crate) fn of_run(run: &RunRecord) -> (Self, Option<String>) {
        match Self::from_suite_text(&run.suite_toml) {
            Ok(layout) => (layout, None),
            Err(faults) => (Self::default(), Some(faults.to_string())),
        }
    }

    /// Returns the arrangement of a suite.
    pub fn of(suite: &Suite) -> Self {
        Layout {
            title: suite.title.clone(),
            text: one_line(&suite.text),
            compare: suite.compare,
            groups: suite.groups.iter().map(group).collect(),
            published: suite.published.clone(),
            savings: suite.savings.clone(),
            models: suite.models.clone(),
            profiles: suite.profiles.clone(),
            curves: suite.curves.clone(),
            servers: suite.servers.clone(),
            findings: suite.findings.clone(),
            headlines: suite.headlines.clone(),
        }
    }
}

fn group(from: &suite::Group) -> Group {
    let mut group = Group {
        id: from.id.clone(),
        title: from.title.clone(),
        text: one_line(&from.text),
        ..Group::default()
    };
    for row in &from.rows {
        group.clocks |= matches!(row.kind, RowKind::Clock { .. });
        let instances = row.instances(false);
        group
            .rows
            .extend(instances.iter().map(|instance| LabelledTest {
                test: instance.test.clone(),
                arg: match row.arg {
                    Some(Argument::Of(_)) => row.arg_of(instance),
                    _ => None,
                },
                label: label(&row.label, &instance.values),
            }));
        for (asks, by) in [(Asks::Passing, &row.passing), (Asks::Steps, &row.steps)] {
            if let Some(by) = by {
                let sweeps = sweeps(row, &instances, by).into_iter();
                group.trends.extend(sweeps.map(|sweep| Trend {
                    asks,
                    label: sweep.label,
                    points: sweep.points,
                }));
            }
        }
        if let Some(by) = &row.line {
            for sweep in sweeps(row, &instances, by) {
                join(&mut group.lines, sweep);
            }
        }
    }
    group
}

/// Adds a sweep to that of the same label: rows that differ in their placements share a line.
fn join(lines: &mut Vec<Sweep>, sweep: Sweep) {
    match lines.iter_mut().find(|line| line.label == sweep.label) {
        Some(line) => line.points.extend(sweep.points),
        None => lines.push(sweep),
    }
}

/// Groups the row's tests that differ in the placeholder `by` alone.
fn sweeps(row: &suite::Row, instances: &[Instance], by: &str) -> Vec<Sweep> {
    let mut sweeps: Vec<Sweep> = Vec::new();
    for instance in instances {
        let Some(number) = instance.value(by).and_then(|word| word.parse().ok()) else {
            continue;
        };
        let general: Vec<(String, String)> = instance
            .values
            .iter()
            .map(|(name, value)| {
                (
                    name.clone(),
                    if name == by {
                        "n".into()
                    } else {
                        value.clone()
                    },
                )
            })
            .collect();
        let label = label(&row.label, &general);
        let point = (number, instance.test.clone());
        match sweeps.iter_mut().find(|sweep| sweep.label == label) {
            Some(sweep) => sweep.points.push(point),
            None => sweeps.push(Sweep {
                label,
                points: vec![point],
            }),
        }
    }
    sweeps
}

/// Returns the label with its values. Their words are joined by underscores or dots in names of
/// tests, and by spaces here.
fn label(template: &str, values: &[(String, String)]) -> String {
    let spaced: Vec<(String, String)> = values
        .iter()
        .map(|(name, value)| (name.clone(), value.replace(['_', '.'], " ")))
        .collect();
    suite::fill(template, &spaced)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
