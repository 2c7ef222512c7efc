//! The neutral document, input of every exporter. It knows nothing of HTML, sheets or terminals.

mod headline;
mod plot;

pub use headline::{Bar, Headline, Headlines, Measured, Picture, Place, Told};
pub use plot::{Axis, AxisUnit, Drawn, Guide, Plot, Point, Series};

use antiphon_measure::Interval;
use serde::Serialize;

/// A report.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Document {
    /// Title in a few words.
    pub title: String,
    /// Line below the title.
    pub subtitle: String,
    /// What was found: for each suite the sentences that the document opens with.
    pub headlines: Vec<Headlines>,
    /// The summary: one sentence each.
    pub summary: Vec<Note>,
    /// Conditions of the run: machine, compilers, date, load.
    pub facts: Vec<Fact>,
    /// Compared subjects: names of colours.
    pub subjects: Vec<String>,
    /// The body.
    pub sections: Vec<Section>,
    /// Ids of the sections that begin a part, if a document is of several runs. Later sections
    /// belong to that part.
    pub heads: Vec<String>,
}

impl Document {
    /// Returns the largest differences of all suites, the largest first, each with its suite.
    pub fn largest(&self, count: usize) -> Vec<(&Headlines, &Headline)> {
        let of_suites = self.headlines.iter();
        let all = of_suites.flat_map(|suite| suite.sentences.iter().map(move |one| (suite, one)));
        let mut sized: Vec<(f64, (&Headlines, &Headline))> = all
            .filter_map(|(suite, one)| Some((one.size()?, (suite, one))))
            .collect();
        sized.sort_by(|a, b| b.0.total_cmp(&a.0));
        sized.into_iter().take(count).map(|(_, one)| one).collect()
    }

    /// Returns the sections in parts, each with the section that begins it, if there is one.
    pub fn parts(&self) -> impl Iterator<Item = (Option<&Section>, &[Section])> {
        let begins = |section: &Section| self.heads.contains(&section.id);
        self.sections
            .chunk_by(move |_, next| !begins(next))
            .map(move |part| match part {
                [head, rest @ ..] if begins(head) => (Some(head), rest),
                part => (None, part),
            })
    }
}

/// A label and its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// Label.
    pub label: String,
    /// Text.
    pub text: String,
}

impl Fact {
    /// Creates a fact from its label and text.
    pub fn new(label: impl Into<String>, text: impl Into<String>) -> Self {
        Fact {
            label: label.into(),
            text: text.into(),
        }
    }
}

/// A part of the body with a separate title.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Section {
    /// Unique within the document; `[a-z0-9-]+`.
    pub id: String,
    /// Title.
    pub title: String,
    /// Content of the section.
    pub blocks: Vec<Block>,
}

/// One piece of a section.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "block", rename_all = "snake_case")]
pub enum Block {
    /// A paragraph.
    Prose {
        /// Plain text.
        text: String,
    },
    /// A table.
    Table(Table),
    /// A plot.
    Plot(Plot),
    /// Notes, one line each.
    Notes {
        /// The notes.
        notes: Vec<Note>,
    },
    /// Terms and their explanations.
    Facts {
        /// The facts.
        facts: Vec<Fact>,
    },
}

/// Importance of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// Worth knowing.
    Info,
    /// Weakens a figure.
    Warning,
    /// Makes a figure worthless, or is the reason why there is none.
    Error,
}

/// One sentence about a figure or the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// Importance of the note.
    pub weight: Weight,
    /// Topic; may be empty.
    pub about: String,
    /// The sentence.
    pub text: String,
    /// Advice to the reader; may be empty.
    #[serde(rename = "mend")]
    pub help: String,
    /// Verbatim output of the subject; may be empty.
    pub quote: String,
}

impl Note {
    /// Creates a note without advice or quotation.
    pub fn new(weight: Weight, about: impl Into<String>, text: impl Into<String>) -> Self {
        Note {
            weight,
            about: about.into(),
            text: text.into(),
            help: String::new(),
            quote: String::new(),
        }
    }
}

/// Unit of a number, in base units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Time in ns.
    Nanoseconds,
    /// Ticks of a counter of unknown rate.
    Ticks,
    /// Bytes.
    Bytes,
    /// A bare number.
    Count,
    /// A quotient.
    Ratio,
    /// A part of one; written in per cent.
    Share,
    /// Number a second.
    PerSecond,
    /// Bytes a second, written in powers of ten as bandwidths are.
    BytesPerSecond,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Table {
    /// Title.
    pub title: String,
    /// Small print below it; may be empty.
    pub caption: String,
    /// Text above the row labels.
    pub corner: String,
    /// Columns after the row label.
    pub columns: Vec<Column>,
    /// Rows.
    pub rows: Vec<Row>,
    /// Whether it is supporting detail that a page may fold away.
    pub folded: bool,
}

/// A column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Title.
    pub title: String,
    /// Second line of the title: unit, policy and placement; may be empty.
    pub subtitle: String,
    /// Index into the document's subjects, for its colour.
    pub subject: Option<usize>,
}

impl Column {
    /// Creates a column with only a title.
    pub fn titled(title: impl Into<String>) -> Column {
        Column {
            title: title.into(),
            ..Column::default()
        }
    }
}

/// A row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Label.
    pub label: String,
    /// Second line of the label: subject, policy and placement; may be empty.
    pub place: String,
    /// Kind of the row.
    pub kind: RowKind,
    /// Index into the document's subjects, for its colour.
    pub subject: Option<usize>,
    /// One cell a column.
    pub cells: Vec<Cell>,
}

/// Kind of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RowKind {
    /// Measured in this run.
    Measured,
    /// Row of published figures.
    Published,
    /// Computed from other rows.
    Derived,
}

/// A cell. Numbers are in base units; the exporter decides their form (see [`crate::number`]).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "cell", rename_all = "snake_case")]
pub enum Cell {
    /// Nothing belongs here.
    Empty,
    /// Words.
    Text {
        /// Plain text.
        text: String,
    },
    /// A number without interval.
    Number {
        /// The number.
        value: f64,
        /// Its unit.
        unit: Unit,
    },
    /// An upper bound of the figure; the distance below it is unknown.
    AtMost {
        /// The number.
        value: f64,
        /// Its unit.
        unit: Unit,
    },
    /// A figure with interval and evidence.
    Figure(Box<Figure>),
    /// Smallest and largest of several.
    Range {
        /// Smallest.
        low: f64,
        /// Largest.
        high: f64,
        /// Their unit.
        unit: Unit,
    },
    /// A figure as a publication prints it, or in other digits than such numbers are written in.
    Printed {
        /// Text as printed, with its unit.
        text: String,
        /// The figure, or the smallest of its range, in the base unit.
        low: f64,
        /// The figure, or the largest of its range.
        high: f64,
        /// Its unit.
        unit: Unit,
    },
    /// A figure should be here, and is not.
    Missing {
        /// Cause.
        reason: String,
    },
    /// The subject does not have the operation, because its language lacks the feature, for
    /// example. No figure is due.
    Lacking {
        /// Cause.
        reason: String,
    },
}

impl Cell {
    /// Creates a text cell.
    pub fn text(text: impl Into<String>) -> Self {
        Cell::Text { text: text.into() }
    }

    /// Creates a cell without a figure: the subject lists the operation as missing, or something
    /// failed.
    pub fn absent(reason: &str, listed: bool) -> Self {
        let reason = reason.into();
        match listed {
            true => Cell::Lacking { reason },
            false => Cell::Missing { reason },
        }
    }

    /// Creates a plain number in ns.
    pub fn ns(value: f64) -> Self {
        Cell::Number {
            value,
            unit: Unit::Nanoseconds,
        }
    }

    /// Creates a plain count.
    pub fn count(value: f64) -> Self {
        Cell::Number {
            value,
            unit: Unit::Count,
        }
    }
}

/// Reliability of a figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub enum Standing {
    /// The interval excludes zero.
    Resolved,
    /// The interval contains zero: not distinguishable from the control.
    LikeControl,
    /// An error was found; the number must not be used.
    Withheld {
        /// The error in a few words.
        reason: String,
    },
}

/// A figure with interval and evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Estimate.
    pub value: f64,
    /// Lower limit of its interval; −∞ where none is known.
    pub low: f64,
    /// Upper limit of its interval; ∞ where none is known.
    pub high: f64,
    /// Unit of the three.
    pub unit: Unit,
    /// Reliability of the figure.
    pub standing: Standing,
    /// Context switches per operation; `None` where they are not known.
    pub switches: Option<f64>,
    /// Instructions per operation beyond the control's, 0 if they are indistinguishable from none.
    /// `None` if they were not counted, or are no second measure.
    pub instructions: Option<f64>,
    /// Findings as short words.
    pub marks: Vec<Mark>,
    /// The evidence, for an expander.
    pub detail: Vec<Fact>,
}

impl Figure {
    /// Returns both limits; `None` if one is not known.
    pub fn limits(&self) -> Option<(f64, f64)> {
        (self.low.is_finite() && self.high.is_finite()).then_some((self.low, self.high))
    }

    /// Creates a figure distinguishable from zero, without evidence.
    pub fn resolved(of: Interval, unit: Unit) -> Self {
        Figure {
            value: of.value,
            low: of.low,
            high: of.high,
            unit,
            standing: Standing::Resolved,
            switches: None,
            instructions: None,
            marks: Vec::new(),
            detail: Vec::new(),
        }
    }
}

/// A finding in a word, for a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mark {
    /// Importance of the mark.
    pub weight: Weight,
    /// One or two words.
    pub word: String,
}
