//! What a run found, in sentences that stand before everything else.

use super::{Mark, Unit};
use antiphon_measure::Interval;
use serde::Serialize;

/// The sentences of one suite.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Headlines {
    /// The suite's title.
    pub title: String,
    /// Id of the section that begins the suite's part; empty in a document of one run.
    pub section: String,
    /// The sentences, the largest finding first.
    pub sentences: Vec<Headline>,
}

/// A sentence with its number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Headline {
    /// The sentence.
    pub text: String,
    /// What it is about, in a few words.
    pub about: String,
    /// What the run tells.
    pub told: Told,
    /// Its number, with limits where they are known.
    pub number: Option<Measured>,
    /// Weaknesses of the figures behind it.
    pub marks: Vec<Mark>,
    /// A small picture; none where there is nothing to draw.
    pub picture: Option<Picture>,
    /// The table that it stands on.
    pub stands_on: Option<Place>,
}

impl Headline {
    /// Returns how large its difference is: as large for a half as for twice. `None` of anything
    /// but a ratio that was found.
    pub fn size(&self) -> Option<f64> {
        let ratio = self.number.filter(|number| number.unit == Unit::Ratio)?;
        (self.told == Told::Found).then(|| ratio.value.ln().abs())
    }
}

/// What a run tells in a headline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    /// A difference, or a growth, that the intervals support.
    Found,
    /// How many claims of a source hold.
    Claims,
    /// Nothing: the intervals leave it open, or figures are missing.
    Nothing,
}

/// A number with its limits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// The number.
    pub value: f64,
    /// Lower limit; −∞ (in JSON `null`) where none is known.
    pub low: f64,
    /// Upper limit; ∞ (in JSON `null`) where none is known.
    pub high: f64,
    /// Unit of the three.
    pub unit: Unit,
}

impl Measured {
    /// Creates a number from an interval in this unit.
    pub fn of(interval: Interval, unit: Unit) -> Self {
        Measured {
            value: interval.value,
            low: interval.low,
            high: interval.high,
            unit,
        }
    }

    /// Returns both limits; `None` if one is not known.
    pub fn limits(&self) -> Option<(f64, f64)> {
        (self.low.is_finite() && self.high.is_finite()).then_some((self.low, self.high))
    }
}

/// A small picture of figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "picture", rename_all = "snake_case")]
pub enum Picture {
    /// Bars with whiskers, one below the other.
    Bars {
        /// The bars.
        bars: Vec<Bar>,
    },
    /// A curve over a number.
    Curve {
        /// Points (number, figure), ascending.
        points: Vec<(f64, Measured)>,
    },
    /// Parts of a whole number.
    Parts {
        /// The parts with their names.
        parts: Vec<(String, usize)>,
    },
}

/// A bar.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bar {
    /// Its name.
    pub label: String,
    /// Its length.
    pub figure: Measured,
    /// Index into the document's subjects, for its colour.
    pub subject: Option<usize>,
}

/// A table of a document, by its section and one of its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Id of the section.
    pub section: String,
    /// Label of a row of the table; empty for the section's first table.
    pub row: String,
}
