//! Plots of loads: over concurrency, and memory as a row a server.

use super::{Waits, conditions, leak, outcome, wait};
use crate::compose::bars::MemoryBars;
use crate::compose::view::{RunColumn, View};
use crate::document::{Axis, AxisUnit, Block, Drawn, Plot, Point, Section, Series, Unit};
use crate::number;
use antiphon_lab::{Generator, Latencies, LoadOutcome, LoadRound, ResultRecord};
use antiphon_measure::Interval;

/// What is plotted over the number of connections.
struct Curve {
    title: &'static str,
    unit: AxisUnit,
    of: fn(&LoadOutcome, &Latencies) -> Option<Interval>,
}

const CURVES: [Curve; 3] = [
    Curve {
        title: "Processor time of the server a request",
        unit: AxisUnit::Nanoseconds,
        of: |load, _| load.median(LoadRound::cpu_ns),
    },
    Curve {
        title: "Requests a second",
        unit: AxisUnit::Count,
        of: |load, _| load.median(|round| round.per_second),
    },
    Curve {
        title: "Latency at 99 %",
        unit: AxisUnit::Nanoseconds,
        of: |_, latencies| latencies.p99,
    },
];

/// A plot a figure, where servers have loads of the same kind that differ in their connections.
pub(super) fn over_connections(
    view: &View,
    conditions: &str,
    results: &[&ResultRecord],
    waits: &Waits,
) -> Vec<Plot> {
    CURVES
        .iter()
        .filter_map(|curve| plot(view, conditions, results, waits, curve))
        .collect()
}

fn plot(
    view: &View,
    conditions: &str,
    results: &[&ResultRecord],
    waits: &Waits,
    curve: &Curve,
) -> Option<Plot> {
    let mut series: Vec<(bool, Series)> = Vec::new();
    for result in results {
        let (Some(load), Some(latencies)) = (outcome(result), wait(waits, result)) else {
            continue;
        };
        let task = &load.task;
        if task.by != Generator::Antiphon || task.per_second.is_some() {
            continue;
        }
        let subject = &result.identity.subject;
        let known = series
            .iter()
            .position(|(keep_alive, one)| *keep_alive == task.keep_alive && one.name == *subject);
        let index = known.unwrap_or_else(|| {
            let of_subject = series
                .iter()
                .filter(|(_, one)| one.name == *subject)
                .count();
            series.push((task.keep_alive, new(view, subject, of_subject)));
            series.len() - 1
        });
        series[index]
            .1
            .points
            .extend(point(load, (curve.of)(load, latencies)));
    }
    let mut series: Vec<Series> = series.into_iter().map(|(_, one)| one).collect();
    series.retain(|one| one.points.len() > 1);
    let values = || {
        series
            .iter()
            .flat_map(|one| one.points.iter().map(|point| point.y))
    };
    let (low, high) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
    let unit = match curve.unit {
        AxisUnit::Nanoseconds => Unit::Nanoseconds,
        _ => Unit::Count,
    };
    Some(Plot {
        title: format!("{} over concurrency ({conditions})", curve.title),
        description: format!(
            "{} over the number of connections, from {} to {}. The tables above hold the same figures.",
            number::counted(series.len(), "server"),
            number::quantity(unit, low),
            number::quantity(unit, high)
        ),
        caption: String::new(),
        categories: Vec::new(),
        x: Axis {
            title: "Connections".into(),
            unit: AxisUnit::Count,
            log: true,
        },
        y: Axis {
            title: curve.title.into(),
            unit: curve.unit,
            log: true,
        },
        series,
        guides: Vec::new(),
    })
}

fn new(view: &View, subject: &str, shape: usize) -> Series {
    Series {
        name: subject.into(),
        subject: view.colour(subject),
        shape,
        drawn: Drawn::Line,
        points: Vec::new(),
    }
}

fn point(load: &LoadOutcome, of: Option<Interval>) -> Option<Point> {
    let of = of?;
    Some(Point {
        interval: Some((of.low, of.high)),
        ..Point::at(load.task.connections as f64, of.value)
    })
}

/// The memory of every server when its loads were over, which is after the last one of the plan.
pub(super) fn memory(results: &[&ResultRecord]) -> Option<Section> {
    let plots: Vec<Block> = conditions(results)
        .iter()
        .filter_map(|conditions| memory_plot(conditions, results))
        .map(Block::Plot)
        .collect();
    if plots.is_empty() {
        return None;
    }
    let mut blocks = vec![Block::Prose {
        text: "Proportional memory of each server's processes when all its loads were over, and its largest resident memory till then.".into(),
    }];
    blocks.extend(plots);
    let notes = leak::notes(results);
    if !notes.is_empty() {
        blocks.push(Block::Notes { notes });
    }
    Some(Section {
        id: "load-memory".into(),
        title: "Memory of the servers".into(),
        blocks,
    })
}

fn memory_plot(conditions: &str, results: &[&ResultRecord]) -> Option<Plot> {
    // A later load of a server takes the place of an earlier one.
    let mut last: Vec<(&str, &LoadOutcome)> = Vec::new();
    for result in results {
        let Some(load) =
            outcome(result).filter(|_| RunColumn::of(&result.identity).conditions() == conditions)
        else {
            continue;
        };
        let subject = result.identity.subject.as_str();
        match last.iter_mut().find(|(known, _)| *known == subject) {
            Some(place) => place.1 = load,
            None => last.push((subject, load)),
        }
    }
    let points = |of: fn(&LoadRound) -> f64| {
        let rows = last.iter().enumerate();
        rows.filter_map(|(row, (_, load))| {
            let of = load.median(of)?;
            Some(Point {
                interval: Some((of.low, of.high)),
                ..Point::at(of.value, row as f64)
            })
        })
        .collect()
    };
    MemoryBars {
        title: format!("Memory ({conditions})"),
        of: "server",
        more: "",
        names: last
            .iter()
            .map(|(subject, _)| subject.to_string())
            .collect(),
        when: "after the loads",
        held: points(|round| round.pss_bytes as f64),
        largest: points(|round| round.peak_bytes as f64),
    }
    .plot()
}
