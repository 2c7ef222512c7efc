//! Time saved against switches saved: the variants are the series.

use super::{Change, Comparison, shown};
use crate::document::{Axis, AxisUnit, Drawn, Guide, Plot, Point, Series, Unit};
use crate::number;

pub(super) fn plot(comparison: &Comparison, changes: &[Change]) -> Plot {
    let variants = comparison.savings.variants.iter().enumerate();
    let series = variants.map(|(shape, variant)| Series {
        name: shown(variant),
        subject: Some(shape), // a colour and a shape each: their points often coincide
        shape,
        drawn: Drawn::Points,
        points: changes
            .iter()
            .filter(|change| change.variant == variant)
            .map(point)
            .collect(),
    });
    let series: Vec<Series> = series.filter(|s| !s.points.is_empty()).collect();
    Plot {
        title: "Time saved against context switches saved".into(),
        description: description(changes, series.len()),
        caption: format!(
            "Shares of what synchronization takes with {}.",
            shown(&comparison.savings.base)
        ),
        categories: Vec::new(),
        x: axis("Switches saved"),
        y: axis("Time saved"),
        series,
        guides: vec![
            Guide::Diagonal {
                text: "time as switches".into(),
            },
            Guide::Vertical {
                at: 0.5,
                text: "half the switches".into(),
            },
        ],
    }
}

/// Returns the content of the plot, in figures.
fn description(changes: &[Change], series: usize) -> String {
    let half = changes.iter().filter(|change| change.switches >= 0.5);
    let least = half.clone().map(|change| change.time).reduce(f64::min);
    let count = half.count();
    let saved = match least {
        Some(least) => format!(
            " {} half of the switches or more, and {} of the time at least.",
            if count == 1 {
                "One saves".into()
            } else {
                format!("{} save", number::count(count as u64))
            },
            number::quantity(Unit::Share, least)
        ),
        None => " None saves half of the switches.".into(),
    };
    format!(
        "{} of {}.{saved} On the diagonal time is saved as switches are; below zero something costs more.",
        number::counted(changes.len(), "change"),
        number::counted(series, "variant"),
    )
}

fn axis(title: &str) -> Axis {
    Axis {
        title: title.into(),
        unit: AxisUnit::Share,
        log: false,
    }
}

fn point(change: &Change) -> Point {
    let share = |v| number::quantity(Unit::Share, v);
    Point {
        x: change.switches,
        y: change.time,
        interval: None,
        text: format!(
            "{}, {} · {}: {} of the switches and {} of the time saved",
            change.program.label,
            shown(change.variant),
            change.column.name(),
            share(change.switches),
            share(change.time)
        ),
    }
}
