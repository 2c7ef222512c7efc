//! Two sides compared: runs, compilers, machines or builds.

mod live;
mod runs;

use antiphon_measure::Interval;
use serde::Serialize;

/// A comparison of two sides, row by row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The side that ratios are relative to.
    pub before: Side,
    /// The other.
    pub after: Side,
    /// How the sides were brought together, in a sentence: interleaved in one run, or through the reference of each run.
    pub basis: String,
    /// A change smaller than this counts as none, as a fraction (0.05 is 5 %).
    pub threshold: f64,
    /// Confidence of the verdicts, such as 0.95.
    pub confidence: f64,
    /// Why the suite cannot be read that groups and labels are taken from; `None` if it can, or none is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite_fault: Option<String>,
    /// The rows, in order of the suite.
    pub rows: Vec<ComparisonRow>,
}

/// One side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Side {
    /// A short name, unique in the comparison.
    pub name: String,
    /// Machine, compiler and date, one line each.
    pub lines: Vec<String>,
}

/// One row of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparisonRow {
    /// Title of the group it belongs in.
    pub group: String,
    /// Label of the operation, with subject, policy and placement where they are not the same throughout.
    pub label: String,
    /// Cost on the first side, ns; `None` where it has no figure.
    pub before_ns: Option<Interval>,
    /// Cost on the second side, ns.
    pub after_ns: Option<Interval>,
    /// ln(after / before) with the interval of this row alone; `None` where it cannot be formed.
    pub log_ratio: Option<Interval>,
    /// What follows.
    pub verdict: Verdict,
    /// Anything worth saying, such as why a figure is missing; may be empty.
    pub note: String,
}

/// What follows from a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Dearer beyond the threshold, significantly: a regression.
    Dearer,
    /// Cheaper beyond the threshold, significantly.
    Cheaper,
    /// The interval lies within the threshold: the same.
    Same,
    /// The interval is too wide to say.
    Undecided,
    /// A difference that is none of the program's: its processors were at another distance from each other on the second side.
    Incomparable,
    /// A side has no figure.
    Missing,
}

impl Verdict {
    /// The verdict that an interval of ln(after / before) gives by itself, where it has not been judged with others.
    pub fn of_interval(log_ratio: &Interval, threshold: f64) -> Self {
        let limit = threshold.abs().ln_1p();
        if log_ratio.low > limit {
            Verdict::Dearer
        } else if log_ratio.high < -limit {
            Verdict::Cheaper
        } else if log_ratio.low > -limit && log_ratio.high < limit {
            Verdict::Same
        } else {
            Verdict::Undecided
        }
    }

    /// In a word or two.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Dearer => "dearer",
            Verdict::Cheaper => "cheaper",
            Verdict::Same => "the same",
            Verdict::Undecided => "undecided",
            Verdict::Incomparable => "not comparable",
            Verdict::Missing => "no figure",
        }
    }
}

impl Comparison {
    /// How many rows have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows
            .iter()
            .filter(|row| row.verdict == verdict)
            .count()
    }
}
