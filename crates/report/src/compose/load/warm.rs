//! Warm-up of servers: its curve, which is in no figure, and the result of the rule.

use crate::compose::view::{RunColumn, View};
use crate::document::{
    Axis, AxisUnit, Block, Drawn, Note, Plot, Point, Section, Series, Unit, Weight,
};
use crate::number;
use antiphon_lab::{ResultRecord, WarmUp};

const RULE: &str = "After each start a server answers 16 connections in slices until it is warm: until the median cost of a request in the last third of the slices \
                    is at most 3 % below that in the third before. None of this time is in any figure.";

/// Returns the section; `None` if no server was warmed.
pub(super) fn section(view: &View, results: &[&ResultRecord]) -> Option<Section> {
    let warmed: Vec<(&ResultRecord, &[WarmUp])> = results
        .iter()
        .filter_map(|result| Some((*result, result.load()?.warm_ups.as_slice())))
        .filter(|(_, warm_ups)| !warm_ups.is_empty())
        .collect();
    let plot = plot(view, &warmed, "request", "server")?;
    let notes: Vec<Note> = warmed
        .iter()
        .filter_map(|(result, warm_ups)| never_warm(result, warm_ups))
        .collect();
    let mut blocks = vec![Block::Prose { text: RULE.into() }, Block::Plot(plot)];
    if !notes.is_empty() {
        blocks.push(Block::Notes { notes });
    }
    Some(Section {
        id: "load-warm-up".into(),
        title: "Warming up".into(),
        blocks,
    })
}

/// Plots the first warm-up of each server, or subject, in each placement: the cost of a request, or
/// operation.
pub fn plot(
    view: &View,
    warmed: &[(&ResultRecord, &[WarmUp])],
    operation: &str,
    who: &str,
) -> Option<Plot> {
    let mut columns: Vec<RunColumn> = Vec::new();
    let series: Vec<Series> = warmed
        .iter()
        .map(|(result, warm_ups)| {
            let column = RunColumn::of(&result.identity);
            columns.push(column.clone());
            let points = warm_ups[0]
                .slices
                .iter()
                .map(|slice| Point::at(slice.at_ns as f64, slice.cpu_ns));
            Series {
                name: column.name(),
                subject: view.colour(&column.subject),
                shape: view.shape(&columns, columns.len() - 1),
                drawn: Drawn::Line,
                points: points.collect(),
            }
        })
        .collect();
    let costs = || {
        series
            .iter()
            .flat_map(|one| one.points.iter().map(|point| point.y))
    };
    let (low, high) = (costs().reduce(f64::min)?, costs().reduce(f64::max)?);
    let ns = |value| number::quantity(Unit::Nanoseconds, value);
    Some(Plot {
        title: format!("Cost of {} {operation} after a start", article(operation)),
        description: format!(
            "{} over the time since the first {operation}, from {} to {}.",
            number::counted(series.len(), who),
            ns(low),
            ns(high)
        ),
        caption: "The first start of each.".into(),
        categories: Vec::new(),
        x: Axis {
            title: format!("Time since the first {operation}"),
            unit: AxisUnit::Nanoseconds,
            log: false,
        },
        y: Axis {
            title: format!(
                "Processor time of the {who}, {} {operation}",
                article(operation)
            ),
            unit: AxisUnit::Nanoseconds,
            log: true,
        },
        series,
        guides: Vec::new(),
    })
}

fn article(operation: &str) -> &'static str {
    match operation.starts_with('o') {
        true => "an",
        false => "a",
    }
}

/// Notes the starts after which the rule did not hold.
fn never_warm(result: &ResultRecord, warm_ups: &[WarmUp]) -> Option<Note> {
    let cold = warm_ups.iter().filter(|warm_up| !warm_up.is_warm).count();
    let about = RunColumn::of(&result.identity).name();
    (cold > 0).then(|| {
        let text = format!("after {cold} of {} starts the rule did not hold yet when the time for warming was over: its figures may be too high, and are marked", warm_ups.len());
        Note::new(Weight::Warning, about, text)
    })
}
