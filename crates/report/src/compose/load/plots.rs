//! Plots of loads: over concurrency and over parts of a server's capacity, and memory as a row a
//! server.

use super::{Waits, conditions, leak, wait};
use crate::compose::bars::MemoryBars;
use crate::compose::view::{RunColumn, View};
use crate::document::{Axis, AxisUnit, Block, Drawn, Plot, Point, Section, Series, Unit};
use crate::number;
use antiphon_lab::{Generator, Latencies, LoadOutcome, LoadRound, LoadTask, ResultRecord};
use antiphon_measure::Interval;

/// Plotted quantity.
struct Curve {
    title: &'static str,
    unit: AxisUnit,
    of: fn(&LoadOutcome, &Latencies) -> Option<Interval>,
}

const COST: Curve = Curve {
    title: "Processor time of the server a request",
    unit: AxisUnit::Nanoseconds,
    of: |load, _| load.median(LoadRound::cpu_ns),
};

const RATE: Curve = Curve {
    title: "Requests a second",
    unit: AxisUnit::Count,
    of: |load, _| load.median(|round| round.per_second),
};

const P99: Curve = Curve {
    title: "Latency at 99 %",
    unit: AxisUnit::Nanoseconds,
    of: |_, latencies| latencies.p99,
};

/// Axis: the property in which loads of a group differ.
struct Over {
    /// Name of the property in a title.
    what: &'static str,
    /// Name of the number in a description.
    number: &'static str,
    axis: Axis,
    curves: &'static [Curve],
    /// Returns its value; `None` for a load of another kind.
    of: fn(&LoadTask) -> Option<f64>,
}

fn overs() -> [Over; 2] {
    let axis = |title: &str, log| Axis {
        title: title.into(),
        unit: AxisUnit::Count,
        log,
    };
    [
        Over {
            what: "concurrency",
            number: "the number of connections",
            axis: axis("Connections", true),
            curves: &[COST, RATE, P99],
            of: |task| (!task.is_open()).then_some(task.connections as f64),
        },
        Over {
            what: "load",
            number: "the requests due, in per cent of what each answered in closed loop",
            axis: axis("Requests due, % of those of the closed loop", false),
            curves: &[COST, P99],
            of: |task| task.percent_of_closed,
        },
    ]
}

/// Returns the plots of a group's loads: one for each figure, over the property in which loads of
/// one kind differ.
pub(super) fn of_group(
    view: &View,
    conditions: &str,
    results: &[&ResultRecord],
    waits: &Waits,
) -> Vec<Plot> {
    let plots = |over: Over| {
        let curves = over.curves.iter();
        let plots =
            curves.filter_map(|curve| plot(view, conditions, results, waits, (&over, curve)));
        plots.collect::<Vec<_>>()
    };
    overs().into_iter().flat_map(plots).collect()
}

fn plot(
    view: &View,
    conditions: &str,
    results: &[&ResultRecord],
    waits: &Waits,
    (over, curve): (&Over, &Curve),
) -> Option<Plot> {
    let (mut series, mut asleep): (Vec<(bool, Series)>, _) = (Vec::new(), "");
    for result in results {
        let (Some(load), Some(latencies)) = (result.load(), wait(waits, result)) else {
            continue;
        };
        let task = &load.task;
        let Some(x) = (over.of)(task).filter(|_| task.by == Generator::Antiphon) else {
            continue;
        };
        if task.sleeps {
            asleep = ", the generator sleeps";
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
            .extend(point(x, (curve.of)(load, latencies)));
    }
    series.retain(|(_, one)| one.points.len() > 1);
    let kept = match series.iter().any(|(keep_alive, _)| *keep_alive) {
        true => "",
        false => ", no keep-alive",
    };
    let series: Vec<Series> = series.into_iter().map(|(_, one)| one).collect();
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
        title: format!(
            "{} over {}{kept}{asleep} ({conditions})",
            curve.title, over.what
        ),
        description: format!(
            "{} over {}, from {} to {}. The tables above hold the same figures.",
            number::counted(series.len(), "server"),
            over.number,
            number::quantity(unit, low),
            number::quantity(unit, high)
        ),
        caption: String::new(),
        categories: Vec::new(),
        x: over.axis.clone(),
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

fn point(x: f64, of: Option<Interval>) -> Option<Point> {
    let of = of?;
    Some(Point {
        interval: Some((of.low, of.high)),
        ..Point::at(x, of.value)
    })
}

/// Returns the memory of every server after its last load of the plan.
pub(super) fn memory(view: &View, results: &[&ResultRecord]) -> Option<Section> {
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
    let notes = leak::notes(view, results);
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
        let Some(load) = result
            .load()
            .filter(|_| RunColumn::of(&result.identity).conditions() == conditions)
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
