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
    /// Basis of the comparison, in a sentence: interleaved in one run, or through the reference of
    /// each run.
    pub basis: String,
    /// A change smaller than this counts as none, as a fraction (0.05 is 5 %).
    pub threshold: f64,
    /// Confidence of the verdicts, such as 0.95.
    pub confidence: f64,
    /// Reason why the suite with the groups and labels cannot be read; `None` if it can, or none is
    /// needed.
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
    /// Label of the operation, with subject, policy and placement if they vary.
    pub label: String,
    /// Cost on the first side, ns; `None` where it has no figure.
    pub before_ns: Option<Interval>,
    /// Cost on the second side, ns.
    pub after_ns: Option<Interval>,
    /// ln(after / before) with the interval of this row alone; `None` where it cannot be formed.
    pub log_ratio: Option<Interval>,
    /// Process starts behind the row, of the first side and of the second; `None` without a
    /// comparison.
    pub starts: Option<(usize, usize)>,
    /// Smallest change that counts in this row, as a fraction; `None` without a comparison. It is
    /// the threshold, or the possible effect of loop placement in memory if that is more.
    pub limit: Option<f64>,
    /// Conclusion.
    pub verdict: Verdict,
    /// The fraction within which the sides are the same; `None` with other verdicts.
    pub same_within: Option<f64>,
    /// Anything worth saying, such as why a figure is missing; may be empty.
    pub note: String,
}

/// Conclusion from a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Slower beyond the limit, significantly: a regression.
    Slower,
    /// Faster beyond the limit, significantly.
    Faster,
    /// The interval lies within the limit: the same.
    Same,
    /// The interval is too wide to say, or a side has too few starts.
    CannotTell,
    /// A difference that is not the program's: its processors had another distance on the second
    /// side.
    Incomparable,
    /// A side has no figure.
    Missing,
}

impl Verdict {
    /// Returns it in a word or two.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Slower => "slower",
            Verdict::Faster => "faster",
            Verdict::Same => "the same",
            Verdict::CannotTell => "cannot tell",
            Verdict::Incomparable => "not comparable",
            Verdict::Missing => "no figure",
        }
    }
}

impl From<antiphon_measure::Verdict> for Verdict {
    fn from(verdict: antiphon_measure::Verdict) -> Self {
        match verdict {
            antiphon_measure::Verdict::Slower => Verdict::Slower,
            antiphon_measure::Verdict::Faster => Verdict::Faster,
            antiphon_measure::Verdict::Same => Verdict::Same,
            antiphon_measure::Verdict::CannotTell => Verdict::CannotTell,
        }
    }
}

impl ComparisonRow {
    /// Creates a row without a comparison, with the reason.
    fn without(group: String, label: String, note: String) -> Self {
        ComparisonRow {
            group,
            label,
            before_ns: None,
            after_ns: None,
            log_ratio: None,
            starts: None,
            limit: None,
            verdict: Verdict::Missing,
            same_within: None,
            note,
        }
    }

    /// Adds the result of a comparison. `more` returns the options for a number of starts.
    fn judged(
        self,
        compared: &antiphon_measure::Comparison,
        more: impl Fn(usize) -> String,
    ) -> Self {
        let notes = compared.findings.iter().map(|f| f.text.clone());
        let notes = notes.chain(needed(compared, more));
        let row = ComparisonRow {
            log_ratio: Some(compared.log_ratio),
            starts: Some(compared.starts),
            limit: Some(compared.limit.exp_m1()),
            verdict: compared.verdict.into(),
            same_within: (compared.verdict == antiphon_measure::Verdict::Same)
                .then(|| compared.same_within()),
            ..self
        };
        row.noted(notes)
    }

    /// Appends further notes.
    fn noted(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        for note in notes {
            if !self.note.is_empty() {
                self.note.push_str("; ");
            }
            self.note.push_str(&note);
        }
        self
    }
}

/// Starts of each side beyond which it is not advised to add more.
const MOST_STARTS: usize = 200;

/// Returns the effort for a verdict; `None` if there is one.
fn needed(
    compared: &antiphon_measure::Comparison,
    more: impl Fn(usize) -> String,
) -> Option<String> {
    if compared.verdict != antiphon_measure::Verdict::CannotTell {
        return None;
    }
    let (a, b) = compared.starts;
    let needed = compared.needed();
    let Some(threshold) = needed.threshold else {
        return Some(format!(
            "{a} and {b} process starts tell nothing, since each is one draw of addresses and places in memory; `{}` would tell",
            more(needed.starts)
        ));
    };
    let percent = (1000.0 * threshold).ceil() / 10.0;
    Some(match needed.starts {
        starts if starts <= MOST_STARTS => {
            format!(
                "about {starts} starts would tell (`{}`), or `--threshold {percent}`",
                more(starts)
            )
        }
        _ => format!("starts differ too much to tell; `--threshold {percent}` would do"),
    })
}

impl Comparison {
    /// Counts the rows with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows
            .iter()
            .filter(|row| row.verdict == verdict)
            .count()
    }
}
