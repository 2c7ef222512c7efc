//! Headlines: the sentences that a report opens with, and the rows that they stand on.

use super::{Placed, fill};

/// A sentence whose numbers come from the figures of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Headline {
    /// Template of the sentence. Its placeholders are those of its basis.
    pub text: String,
    /// The rows or claims that give its numbers.
    pub basis: Basis,
}

/// The rows or claims that a headline stands on.
#[derive(Clone, Debug, PartialEq)]
pub enum Basis {
    /// One figure as a multiple of another: `{ratio}`, `{of}` and `{against}`.
    Ratio {
        /// Quantity of both.
        quantity: HeadlineQuantity,
        /// The figure.
        of: HeadlineRow,
        /// The figure that it is divided by.
        against: HeadlineRow,
        /// Template of the sentence for a ratio below 1; `{ratio}` is then its inverse.
        less: Option<String>,
    },
    /// Figures of tests that differ by a number: `{slope}`, `{growth}`, `{first}`, `{last}`,
    /// `{from}` and `{to}`.
    Curve {
        /// Quantity of all.
        quantity: HeadlineQuantity,
        /// The rows, with `{n}` for the number in their test, argument or both.
        of: HeadlineRow,
        /// The numbers, ascending.
        numbers: Vec<u64>,
    },
    /// Claims of a source: `{hold}`, `{fail}`, `{open}` and `{all}`.
    Claims {
        /// Kind of their sets.
        of: ClaimSets,
        /// Ids of the sets; empty: all of this kind.
        ids: Vec<String>,
    },
}

/// Rows that give one figure of a headline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadlineRow {
    /// Name in a sentence, such as `a rendezvous`.
    pub label: String,
    /// The test, or its template.
    pub test: String,
    /// Template of the test's argument; none if it takes none.
    pub arg: Option<String>,
    /// The subject, as `name/variant`.
    pub subject: String,
    /// Policy and placement.
    pub run: Placed,
}

impl HeadlineRow {
    /// Returns the test's name and argument for a number of a curve.
    pub fn at(&self, number: u64) -> (String, Option<u64>) {
        let values = [("n".to_owned(), number.to_string())];
        let arg = self.arg.as_ref();
        let arg = arg.and_then(|template| fill(template, &values).parse().ok());
        (fill(&self.test, &values), arg)
    }

    /// Returns the test's name and argument.
    pub fn alone(&self) -> (String, Option<u64>) {
        let arg = self.arg.as_ref().and_then(|arg| arg.parse().ok());
        (self.test.clone(), arg)
    }
}

/// Kinds of sets of claims, by their keys in suite files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimSets {
    /// Claims of tables of execution models.
    Models,
    /// Claims about variants of programs.
    Savings,
    /// Claims about servers under load.
    Servers,
    /// Claims about subjects.
    Findings,
}

impl ClaimSets {
    /// All kinds.
    pub(super) const ALL: [ClaimSets; 4] = [
        ClaimSets::Models,
        ClaimSets::Savings,
        ClaimSets::Servers,
        ClaimSets::Findings,
    ];

    /// Returns its word in suite files.
    pub fn word(self) -> &'static str {
        match self {
            ClaimSets::Models => "models",
            ClaimSets::Savings => "savings",
            ClaimSets::Servers => "servers",
            ClaimSets::Findings => "findings",
        }
    }
}

/// Quantity of a headline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadlineQuantity {
    /// Time of an operation, or of a whole run of a program.
    Time,
    /// Time of a program divided by the operations that it counted.
    TimePerOperation,
    /// Processor time of a subject an operation, or of a server a request.
    Cpu,
    /// Processor time of a subject and its database together an operation.
    BothCpu,
    /// Requests a second.
    Requests,
    /// The latency that 99 per cent of the requests are not above.
    P99,
    /// Proportional memory after the test or the load.
    Memory,
}

impl HeadlineQuantity {
    /// All quantities.
    pub(super) const ALL: [HeadlineQuantity; 7] = [
        HeadlineQuantity::Time,
        HeadlineQuantity::TimePerOperation,
        HeadlineQuantity::Cpu,
        HeadlineQuantity::BothCpu,
        HeadlineQuantity::Requests,
        HeadlineQuantity::P99,
        HeadlineQuantity::Memory,
    ];

    /// Returns its word in suite files.
    pub fn word(self) -> &'static str {
        match self {
            HeadlineQuantity::Time => "time",
            HeadlineQuantity::TimePerOperation => "time_per_operation",
            HeadlineQuantity::Cpu => "cpu",
            HeadlineQuantity::BothCpu => "both_cpu",
            HeadlineQuantity::Requests => "requests",
            HeadlineQuantity::P99 => "p99",
            HeadlineQuantity::Memory => "memory",
        }
    }

    /// Returns the kinds of rows that give it, by their words in suite files.
    pub(super) fn kinds(self) -> &'static [&'static str] {
        match self {
            HeadlineQuantity::Time => &["frame", "program"],
            HeadlineQuantity::TimePerOperation => &["program"],
            HeadlineQuantity::Cpu | HeadlineQuantity::Memory => &["frame", "load"],
            HeadlineQuantity::BothCpu => &["frame"],
            HeadlineQuantity::Requests | HeadlineQuantity::P99 => &["load"],
        }
    }
}
