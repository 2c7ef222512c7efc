//! Comparison of execution models: whole programs in the style of one model beside those of
//! another, as in published tables.

use super::fill;
use antiphon_measure::RunFigure;

/// A table of whole programs.
#[derive(Clone, Debug, PartialEq)]
pub struct Models {
    /// Short name, unique.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Summary in a sentence or two.
    pub text: String,
    /// Source of the published figures; empty if there are none.
    pub source: String,
    /// Key of its rows, such as `work`; empty for a table of one row.
    pub by: String,
    /// The rows: the values of `{row}` in the columns' tests.
    pub rows: Vec<String>,
    /// Figure of its cells; `{row}` in the names of counters stands for the row.
    pub figure: RunFigure,
    /// Its columns.
    pub columns: Vec<ModelColumn>,
    /// Conclusions from it.
    pub claims: Vec<ModelClaim>,
}

/// Model that a program is written for and runs under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// General concurrent programming: the other columns are compared with the fastest of these.
    Concurrent,
    /// Cooperative multithreading, on one processor.
    Cooperative,
    /// Parallel cooperative multithreading.
    ParallelCooperative,
}

/// A column: a program in one style, of one subject, under one policy and placement.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelColumn {
    /// Heading, unique in its table.
    pub title: String,
    /// The model, where the column takes part in the comparison.
    pub model: Option<Model>,
    /// Template of the test's name.
    pub test: String,
    /// The subject, as `name/variant`.
    pub subject: String,
    /// Policy and placement.
    pub run: super::Placed,
    /// Published times, s (µs if they are per operation), or shares, one a row or nothing; empty
    /// if there are none.
    pub published: Vec<Option<f64>>,
}

/// A conclusion: that the figures of some columns, as a share of another's, lie within limits.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelClaim {
    /// The conclusion in words.
    pub text: String,
    /// Titles of its columns.
    pub of: Vec<String>,
    /// Column to compare with. `None` means the fastest of general concurrent programming, or
    /// nothing if figures are shares already.
    pub against: Option<String>,
    /// Rows of the claim.
    pub rows: Vec<String>,
    /// The smallest share at which it holds; −∞ if there is none.
    pub at_least: f64,
    /// The largest; ∞ if there is none.
    pub at_most: f64,
}

impl Model {
    /// Returns the study's word for it.
    pub fn word(self) -> &'static str {
        match self {
            Model::Concurrent => "CP",
            Model::Cooperative => "CM",
            Model::ParallelCooperative => "PCM",
        }
    }
}

impl ModelColumn {
    /// Returns the name of its test in a row.
    pub fn test(&self, row: &str) -> String {
        fill(&self.test, &[("row".to_owned(), row.to_owned())])
    }
}

impl Models {
    /// Returns the figure of a row.
    pub fn figure(&self, row: &str) -> RunFigure {
        let named = |template: &str| fill(template, &[("row".to_owned(), row.to_owned())]);
        match &self.figure {
            RunFigure::Share { of, whole } => RunFigure::Share {
                of: named(of),
                whole: named(whole),
            },
            times => times.clone(),
        }
    }

    /// Checks whether its figures are shares of counters, and not times.
    pub fn of_shares(&self) -> bool {
        matches!(self.figure, RunFigure::Share { .. })
    }

    /// Returns the columns of general concurrent programming, with their places.
    pub fn concurrent(&self) -> impl Iterator<Item = (usize, &ModelColumn)> {
        let columns = self.columns.iter().enumerate();
        columns.filter(|(_, column)| column.model == Some(Model::Concurrent))
    }
}
