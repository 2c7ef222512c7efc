//! The table: times in the columns of the published one, each cooperative column with its ratio,
//! published rows beneath today's.

use super::{Compared, place, runs};
use crate::compose::processor_time;
use crate::compose::programs::figure;
use crate::document::{Cell, Column, Row, RowKind, Table, Unit};
use crate::number;
use antiphon_lab::Outcome;
use antiphon_lab::suite::{Model, ModelColumn};
use antiphon_measure::RunFigure;

pub(super) fn table(compared: &Compared) -> Table {
    let models = compared.models;
    let mut rows = Vec::new();
    for row in compared.rows() {
        rows.push(todays(compared, row));
        rows.extend(published(compared, row));
    }
    Table {
        title: models.title.clone(),
        caption: caption(compared),
        corner: match models.by.as_str() {
            "" => "Run".into(),
            by => by.into(),
        },
        columns: columns(compared),
        rows,
        folded: false,
    }
}

fn caption(compared: &Compared) -> String {
    let models = compared.models;
    let mut parts = Vec::new();
    match &models.figure {
        RunFigure::Time => {}
        RunFigure::TimePerOperation => parts.push("Time per operation.".to_owned()),
        RunFigure::CpuPerOperation => parts.push(
            "Processor time of all tasks per operation, by the program's own account.".to_owned(),
        ),
        RunFigure::Share { .. } => parts.push("Shares of what the programs counted.".to_owned()),
    }
    if super::with_ratio(models).next().is_some() {
        parts.push(
            "A ratio compares with the fastest column of CP: the median of the ratios of runs that took turns, with its interval."
                .to_owned(),
        );
    }
    let left_out = models.rows.len() - compared.rows().len();
    if left_out > 0 {
        parts.push(format!(
            "{} not measured in this run.",
            match left_out {
                1 => "One row was".to_owned(),
                many => format!("{many} rows were"),
            }
        ));
    }
    if !models.source.is_empty() {
        parts.push(format!("Published figures: {}.", models.source));
    }
    parts.join(" ")
}

/// Returns the heading of a column's ratio, if it has one.
fn ratio_of(column: &ModelColumn) -> Option<String> {
    let model = column.model.filter(|model| *model != Model::Concurrent)?;
    Some(format!("{}/CP", model.word()))
}

fn columns(compared: &Compared) -> Vec<Column> {
    let mut columns = Vec::new();
    for column in &compared.models.columns {
        columns.push(Column {
            title: column.title.clone(),
            subtitle: place(column).name(),
            subject: compared.view.colour(&column.subject),
        });
        columns.extend(ratio_of(column).map(|title| Column {
            title,
            subtitle: column.title.clone(),
            subject: None,
        }));
    }
    columns
}

/// Returns the cells of a row: each column's, followed by its ratio's if it has one.
fn cells(
    compared: &Compared,
    time: impl Fn(&ModelColumn) -> Cell,
    ratio: impl Fn(&ModelColumn) -> Cell,
) -> Vec<Cell> {
    let columns = compared.models.columns.iter();
    columns
        .flat_map(|column| {
            let ratio = ratio_of(column).map(|_| ratio(column));
            std::iter::once(time(column)).chain(ratio)
        })
        .collect()
}

/// Returns the label of a row; a table of one row has no names of rows.
fn label(row: &str) -> String {
    match row {
        "" => "today".into(),
        row => row.to_owned(),
    }
}

fn todays(compared: &Compared, row: &str) -> Row {
    let ratio = |column: &ModelColumn| {
        let share = compared.share(column, None, row);
        share.map_or(Cell::Empty, |share| {
            let mut figure = figure(share, Unit::Share, compared.runs(column, row));
            figure
                .marks
                .extend(compared.mark_of_share(column, None, row));
            Cell::Figure(Box::new(figure))
        })
    };
    Row {
        label: label(row),
        place: String::new(),
        kind: RowKind::Measured,
        subject: None,
        cells: cells(compared, |column| time(compared, column, row), ratio),
    }
}

/// Returns the time of a run or of one of its operations, or a share of its counters.
fn time(compared: &Compared, column: &ModelColumn, row: &str) -> Cell {
    let Some(result) = compared.result(column, row) else {
        return Cell::Empty;
    };
    if let Outcome::Absent { reason, listed, .. } = &result.outcome {
        return Cell::absent(reason, *listed);
    }
    let runs = runs(result);
    match compared.figure(column, row) {
        Some(found) => {
            let mut figure = figure(found, unit(compared), runs);
            figure.detail.extend(processor_time::facts(result));
            figure.marks.extend(processor_time::mark(result));
            Cell::Figure(Box::new(figure))
        }
        None if runs.is_empty() => Cell::Empty,
        None => Cell::Missing {
            reason: match compared.models.figure(row) {
                RunFigure::Share { of, whole } => {
                    format!("the program did not print `{of}` and how many `{whole}` there were")
                }
                RunFigure::CpuPerOperation => {
                    "the program did not print `cpu_ns` and how many `operations` it did".into()
                }
                _ => "the program did not print how many `operations` it did".into(),
            },
        },
    }
}

/// Returns the unit of a table's figures.
pub(super) fn unit(compared: &Compared) -> Unit {
    match compared.models.of_shares() {
        true => Unit::Share,
        false => Unit::Nanoseconds,
    }
}

/// Returns the published figures of a row; nothing without any.
fn published(compared: &Compared, row: &str) -> Option<Row> {
    let models = compared.models;
    let is_published = |column| compared.published(column, row).is_some();
    if !models.columns.iter().any(is_published) {
        return None;
    }
    let scale = match models.figure {
        RunFigure::Time => 1e9,
        RunFigure::TimePerOperation | RunFigure::CpuPerOperation => 1e3,
        RunFigure::Share { .. } => 1.0,
    };
    let printed = |value: f64, unit| Cell::Printed {
        text: number::quantity(unit, value),
        low: value,
        high: value,
        unit,
    };
    let time = |column: &ModelColumn| {
        let figure = compared.published(column, row);
        figure.map_or(Cell::Empty, |figure| {
            printed(figure * scale, unit(compared))
        })
    };
    let ratio = |column: &ModelColumn| {
        let share = compared.published_share(column, None, row);
        share.map_or(Cell::Empty, |share| printed(share, Unit::Share))
    };
    Some(Row {
        label: "published".into(),
        place: String::new(),
        kind: RowKind::Published,
        subject: None,
        cells: cells(compared, time, ratio),
    })
}
