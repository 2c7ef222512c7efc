//! What a suite says of how its results are shown: groups, row labels, trends and published tables.
//!
//! A run carries the suite's file as it was, so an old run is shown the way it was meant even after the suite has changed.

use serde::Deserialize;
use std::collections::BTreeMap;
use thiserror::Error;

/// How the results of one suite are arranged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// The suite's title.
    pub title: String,
    /// What it measures.
    pub text: String,
    /// Groups in order.
    pub groups: Vec<Group>,
    /// Published tables in order.
    pub published: Vec<Published>,
}

/// A group of rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Identifier.
    pub id: String,
    /// Title.
    pub title: String,
    /// What it measures.
    pub text: String,
    /// Tests with their labels, in order.
    pub rows: Vec<LabelledTest>,
    /// Whether the group shows every clock.
    pub clocks: bool,
    /// Tests whose cost is read against a number in their names.
    pub trends: Vec<Trend>,
}

/// A test and what to call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledTest {
    /// Name in the protocol.
    pub test: String,
    /// Label.
    pub label: String,
}

/// Tests that differ by one number.
#[derive(Clone, Debug, PartialEq)]
pub struct Trend {
    /// What is asked of it.
    pub asks: Asks,
    /// Label without the number.
    pub label: String,
    /// (number, test), in order of the suite.
    pub points: Vec<(f64, String)>,
}

/// What a trend is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// Whether a parameter is passed by copy or by reference.
    Passing,
    /// Where an allocator changes level.
    Steps,
}

/// A table from a publication, with the tests of today that belong in its columns.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Published {
    /// Identifier.
    pub id: String,
    /// Title.
    pub title: String,
    /// Where it was published.
    pub source: String,
    /// Columns.
    pub columns: Vec<PublishedColumn>,
    /// Rows.
    pub rows: Vec<PublishedRow>,
}

/// A column of a published table. At most one of the lists is not empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct PublishedColumn {
    /// Title.
    pub title: String,
    /// `ns`, `us`, `ms`, `s` or empty.
    #[serde(default)]
    pub unit: String,
    /// Tests whose range is today's figure.
    #[serde(default)]
    pub tests: Vec<String>,
    /// Tests whose slope is today's figure.
    #[serde(default)]
    pub slope: Vec<String>,
    /// Clocks whose resolution is today's figure.
    #[serde(default)]
    pub clock_resolution: Vec<String>,
    /// Delay curves whose method is today's figure.
    #[serde(default)]
    pub delay_method: Vec<String>,
    /// Delay curves whose resolution is today's figure.
    #[serde(default)]
    pub delay_resolution: Vec<String>,
}

/// A row of a published table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PublishedRow {
    /// Compiler and machine.
    pub label: String,
    /// One value a column.
    pub values: Vec<PublishedValue>,
}

/// A published value, in the column's unit.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum PublishedValue {
    /// A number.
    Number(f64),
    /// A range.
    Range([f64; 2]),
    /// Words.
    Text(String),
}

/// Why a suite's text could not be used.
#[derive(Debug, Error)]
pub enum LayoutError {
    /// It is not the TOML of a suite.
    #[error("the suite kept with the run cannot be read: {0}")]
    Toml(#[from] toml::de::Error),
}

#[derive(Deserialize)]
struct SuiteFile {
    #[serde(default)]
    title: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    group: Vec<GroupFile>,
    #[serde(default)]
    published: Vec<Published>,
}

#[derive(Deserialize)]
struct GroupFile {
    id: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    row: Vec<RowFile>,
}

#[derive(Deserialize)]
struct RowFile {
    test: String,
    label: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    each: BTreeMap<String, Vec<String>>,
    passing: Option<By>,
    steps: Option<By>,
}

#[derive(Deserialize)]
struct By {
    by: String,
}

impl Layout {
    /// Reads the arrangement out of a suite's text.
    ///
    /// # Errors
    /// The text is not a suite.
    pub fn from_suite(toml: &str) -> Result<Self, LayoutError> {
        let file: SuiteFile = toml::from_str(toml)?;
        Ok(Layout {
            title: file.title,
            text: one_line(&file.text),
            groups: file.group.iter().map(group).collect(),
            published: file.published,
        })
    }
}

fn group(file: &GroupFile) -> Group {
    let mut group = Group {
        id: file.id.clone(),
        title: file.title.clone(),
        text: one_line(&file.text),
        ..Group::default()
    };
    for row in &file.row {
        group.clocks |= row.kind == "clock";
        let bindings = expand(row);
        group
            .rows
            .extend(bindings.iter().map(|binding| LabelledTest {
                test: fill(&row.test, binding),
                label: fill(&row.label, binding).replace('_', " "),
            }));
        for (asks, by) in [(Asks::Passing, &row.passing), (Asks::Steps, &row.steps)] {
            if let Some(By { by }) = by {
                group.trends.extend(trends(row, &bindings, asks, by));
            }
        }
    }
    group
}

type Binding = BTreeMap<String, String>;

/// Every combination of the row's words, in the order in which they stand in the test's name.
fn expand(row: &RowFile) -> Vec<Binding> {
    let mut keys: Vec<&String> = row.each.keys().collect();
    keys.sort_by_key(|key| row.test.find(&format!("{{{key}}}")).unwrap_or(usize::MAX));
    let mut bindings = vec![Binding::new()];
    for key in keys {
        bindings = bindings
            .iter()
            .flat_map(|binding| {
                row.each[key].iter().map(move |word| {
                    let mut next = binding.clone();
                    next.insert(key.clone(), word.clone());
                    next
                })
            })
            .collect();
    }
    bindings
}

fn fill(pattern: &str, binding: &Binding) -> String {
    binding
        .iter()
        .fold(pattern.to_string(), |text, (key, word)| {
            text.replace(&format!("{{{key}}}"), word)
        })
}

fn trends(row: &RowFile, bindings: &[Binding], asks: Asks, by: &str) -> Vec<Trend> {
    let mut trends: Vec<Trend> = Vec::new();
    for binding in bindings {
        let Some(number) = binding.get(by).and_then(|word| word.parse().ok()) else {
            continue;
        };
        let mut general = binding.clone();
        general.insert(by.to_string(), "n".to_string());
        let label = fill(&row.label, &general).replace('_', " ");
        let point = (number, fill(&row.test, binding));
        match trends.iter_mut().find(|trend| trend.label == label) {
            Some(trend) => trend.points.push(point),
            None => trends.push(Trend {
                asks,
                label,
                points: vec![point],
            }),
        }
    }
    trends
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
