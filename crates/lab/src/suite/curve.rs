//! Costs against a number, such as bytes or members, and their multiples of other costs.

use super::{Placed, fill};

/// Tests that differ by one number, in several subjects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    /// Short name, unique.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Summary in a sentence or two.
    pub text: String,
    /// Name of the number, such as `bytes`.
    pub by: String,
    /// Unit of the number.
    pub unit: CurveUnit,
    /// The numbers, as they stand for `{row}`.
    pub rows: Vec<String>,
    /// Template of the tests' argument; none if they take none.
    pub arg: Option<String>,
    /// Plural of the counted things that it shows; none for costs.
    pub counted: Option<String>,
    /// Thing that passes each second, for a curve of rates; none for costs.
    pub rate: Option<Rate>,
    /// Its columns.
    pub columns: Vec<CurveColumn>,
}

/// Unit of a curve's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CurveUnit {
    /// Bytes.
    Bytes,
    /// Anything else.
    Count,
}

/// Quantity of a curve of rates, in place of the cost of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// Bytes a second: an operation carries as many as the row says.
    Bytes,
    /// Operations a second.
    Operations,
}

/// A column: a subject under one policy and placement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurveColumn {
    /// Heading, unique in its curve.
    pub title: String,
    /// Template of the tests' names.
    pub test: String,
    /// The subject, as `name/variant`.
    pub subject: String,
    /// Policy and placement.
    pub run: Placed,
    /// The counter that it shows, in a curve of counts; empty otherwise.
    pub counter: String,
    /// Title of the column that is the base of its multiples.
    pub against: Option<String>,
}

impl Curve {
    /// Returns the argument of the test in a row.
    pub fn arg_in(&self, row: &str) -> Option<u64> {
        in_row(self.arg.as_ref()?, row).parse().ok()
    }

    /// Returns the column of a title.
    pub fn column(&self, title: &str) -> Option<&CurveColumn> {
        self.columns.iter().find(|column| column.title == title)
    }
}

impl CurveColumn {
    /// Returns the name of its test in a row.
    pub fn test_in(&self, row: &str) -> String {
        in_row(&self.test, row)
    }
}

fn in_row(template: &str, row: &str) -> String {
    fill(template, &[("row".to_owned(), row.to_owned())])
}
