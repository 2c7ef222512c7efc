//! Memory as bars: the memory of processes at the end, and their largest.

use crate::document::{Axis, AxisUnit, Drawn, Plot, Point, Series, Unit};
use crate::number;

/// Bars, one below the other; points name theirs by `y`.
pub struct MemoryBars {
    /// The plot's title.
    pub title: String,
    /// Singular of the bars' subjects, for the description.
    pub of: &'static str,
    /// Further text of the description.
    pub more: &'static str,
    /// Names of the bars.
    pub names: Vec<String>,
    /// Moment at which `held` was read.
    pub when: &'static str,
    /// Memory held then, in bytes.
    pub held: Vec<Point>,
    /// The largest resident memory till then.
    pub largest: Vec<Point>,
}

impl MemoryBars {
    /// Returns the plot; `None` without bars.
    pub fn plot(self) -> Option<Plot> {
        let bytes = || self.held.iter().map(|point| point.x);
        let (least, most) = (bytes().reduce(f64::min)?, bytes().reduce(f64::max)?);
        let reported = |value| number::quantity(Unit::Bytes, value);
        let description = format!(
            "Memory of {}, from {} to {}.{}",
            number::counted(self.names.len(), self.of),
            reported(least),
            reported(most),
            self.more
        );
        let series = |shape, name: &str, drawn, points| Series {
            name: name.into(),
            subject: Some(shape),
            shape,
            drawn,
            points,
        };
        let axis = |title: &str, unit| Axis {
            title: title.into(),
            unit,
            log: false,
        };
        Some(Plot {
            title: self.title,
            description,
            caption: String::new(),
            categories: self.names,
            x: axis("Memory", AxisUnit::Bytes),
            y: axis("", AxisUnit::Count),
            series: vec![
                series(0, self.when, Drawn::Sticks, self.held),
                series(1, "largest resident", Drawn::Points, self.largest),
            ],
            guides: Vec::new(),
        })
    }
}
