//! Plots: axes, series of points, and lines to read them against.

use serde::Serialize;

/// A plot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plot {
    /// Title.
    pub title: String,
    /// Description for a reader who cannot see it, with numbers.
    pub description: String,
    /// Small print below it; may be empty.
    pub caption: String,
    /// Names of the rows of a dot plot; empty for a plot over two numeric axes.
    pub categories: Vec<String>,
    /// Horizontal axis (the value axis of a dot plot).
    pub x: Axis,
    /// Vertical axis (unused by a dot plot).
    pub y: Axis,
    /// The data.
    pub series: Vec<Series>,
    /// Lines to read the data against.
    pub guides: Vec<Guide>,
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Axis {
    /// Title.
    pub title: String,
    /// Unit of the numbers.
    pub unit: AxisUnit,
    /// Whether it begins logarithmic; the reader may change it.
    pub log: bool,
}

impl Axis {
    /// Returns the place of a number on the axis. On a logarithmic axis a count of zero is at 1,
    /// because it has no other place.
    pub fn place(&self, value: f64) -> f64 {
        let is_counted = matches!(self.unit, AxisUnit::Bytes | AxisUnit::Count);
        match self.log && is_counted && value == 0.0 {
            true => 1.0,
            false => value,
        }
    }
}

/// Units of axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AxisUnit {
    /// ns.
    Nanoseconds,
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
    /// Bytes a second.
    BytesPerSecond,
    /// 1 / (1 − p): 10 is the 90th percentile, 100 the 99th.
    Nines,
}

/// Form of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Drawn {
    /// Points, with whiskers where they have intervals.
    Points,
    /// Points joined by a line.
    Line,
    /// A line that stays level up to the next point.
    Steps,
    /// Sticks from the axis.
    Sticks,
}

/// A series of points.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// Name, for the legend.
    pub name: String,
    /// Index into the document's subjects, for the colour.
    pub subject: Option<usize>,
    /// Distinguishes series of one subject: shape of the points and dashes of the line.
    pub shape: usize,
    /// Form of its points.
    pub drawn: Drawn,
    /// The points.
    pub points: Vec<Point>,
}

/// A point of a series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Horizontal position: the value in a dot plot.
    pub x: f64,
    /// Vertical position: the row's index in a dot plot.
    pub y: f64,
    /// Limits of the interval along the value axis (x in a dot plot, y otherwise).
    pub interval: Option<(f64, f64)>,
    /// Text of the point; if empty, its coordinates.
    pub text: String,
}

impl Point {
    /// Creates a bare point.
    pub fn at(x: f64, y: f64) -> Self {
        Point {
            x,
            y,
            interval: None,
            text: String::new(),
        }
    }
}

/// A line to read the data against.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "guide", rename_all = "snake_case")]
pub enum Guide {
    /// y = x.
    Diagonal {
        /// Meaning of the line.
        text: String,
    },
    /// A vertical line.
    Vertical {
        /// Place of the line.
        at: f64,
        /// Meaning of the line.
        text: String,
    },
    /// A horizontal line.
    Horizontal {
        /// Place of the line.
        at: f64,
        /// Meaning of the line.
        text: String,
    },
}
