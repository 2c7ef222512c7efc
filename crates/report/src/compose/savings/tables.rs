//! The tables: a program's variants side by side, their changes below, and the published figures
//! above.

use super::{Comparison, share, shown, switches, whole_run};
use crate::compose::figure::figure;
use crate::compose::view::RunColumn;
use crate::document::{Cell, Column, Figure, Row, RowKind, Standing, Table, Unit};
use crate::number;
use antiphon_lab::Outcome;
use antiphon_lab::suite::{Program, PublishedVariant, Quantity};
use antiphon_measure::{Estimate, Interval};

pub(super) fn table(comparison: &Comparison, of: Quantity) -> Table {
    let savings = comparison.savings;
    let headings = variants(comparison).map(|title| Column::titled(shown(title)));
    let programs = savings.programs.iter();
    let rows = programs.flat_map(|program| program_rows(comparison, program, of));
    Table {
        title: format!("{}: {}", savings.title, title(of)),
        caption: caption(comparison, of),
        corner: "Program".into(),
        columns: headings.collect(),
        rows: rows.collect(),
        folded: false,
    }
}

/// Returns a program's published rows, and below them the measured ones; nothing without the
/// latter.
fn program_rows(comparison: &Comparison, program: &Program, of: Quantity) -> Vec<Row> {
    let columns = comparison.columns(of).into_iter();
    let today = columns.flat_map(|column| measured(comparison, program, column, of));
    let today: Vec<Row> = today.collect();
    if today.is_empty() || of == Quantity::Time {
        // Published figures are of whole runs.
        return today;
    }
    let mut rows = published(comparison, program, of);
    rows.extend(today);
    rows
}

fn title(of: Quantity) -> &'static str {
    match of {
        Quantity::Run => "processor time of a run",
        Quantity::Time => "time of synchronization alone",
        Quantity::Switches => "context switches in a run",
    }
}

fn caption(comparison: &Comparison, of: Quantity) -> String {
    let savings = comparison.savings;
    let mut sentences = match of {
        Quantity::Run => without_giving_way(comparison),
        Quantity::Time => vec!["The run less one that does the same work without.".into()],
        Quantity::Switches => vec!["Those of synchronization.".into()],
    };
    sentences.push(format!("Changes are against {}.", shown(&savings.base)));
    if let (Quantity::Switches, Some(counted)) = (of, &savings.counted) {
        let counting = format!("In {counted} the program counted, elsewhere the kernel did.");
        sentences.push(counting);
    }
    if of != Quantity::Time && !savings.source.is_empty() {
        sentences.push(format!("Published: {}.", savings.source));
    }
    sentences.join(" ")
}

/// Returns the programs whose runs are shown without the time of the control.
fn without_giving_way(comparison: &Comparison) -> Vec<String> {
    let programs = comparison.savings.programs.iter();
    let idle = programs.filter(|program| program.idle_control);
    let idle: Vec<&str> = idle.map(|program| program.label.as_str()).collect();
    match idle.is_empty() {
        true => Vec::new(),
        false => vec![format!(
            "{}: without the time for giving way to others.",
            idle.join(", ")
        )],
    }
}

fn variants<'c>(comparison: &'c Comparison) -> impl Iterator<Item = &'c str> {
    let base = std::iter::once(comparison.savings.base.as_str());
    base.chain(comparison.savings.variants.iter().map(String::as_str))
}

/// Returns the measurements of a column, and their share of the base; nothing if the base has no
/// figure.
fn measured(
    comparison: &Comparison,
    program: &Program,
    column: &RunColumn,
    of: Quantity,
) -> Vec<Row> {
    let amount = |variant: &str| comparison.amount(of, program, &program.test(variant), column);
    let Some(base) = amount(&comparison.savings.base) else {
        return Vec::new();
    };
    let figures =
        variants(comparison).map(|variant| cell(comparison, program, variant, column, of));
    let changes = variants(comparison).map(|variant| match variant {
        _ if variant == comparison.savings.base => Cell::Empty,
        _ => change_cell(
            amount(variant)
                .and_then(|now| share(now, base))
                .map(|s| s.value),
        ),
    });
    vec![
        Row {
            label: program.label.clone(),
            place: column.name(),
            kind: RowKind::Measured,
            subject: comparison.view.colour(&column.subject),
            cells: figures.collect(),
        },
        change_row("change", changes.collect()),
    ]
}

fn change_row(label: &str, cells: Vec<Cell>) -> Row {
    Row {
        label: label.into(),
        place: String::new(),
        kind: RowKind::Derived,
        subject: None,
        cells,
    }
}

fn change_cell(share: Option<f64>) -> Cell {
    share.map_or(Cell::Empty, |share| Cell::Number {
        value: share - 1.0,
        unit: Unit::Share,
    })
}

fn cell(
    comparison: &Comparison,
    program: &Program,
    variant: &str,
    column: &RunColumn,
    of: Quantity,
) -> Cell {
    let Some(result) = comparison.view.find(&program.test(variant), column) else {
        return Cell::Empty;
    };
    let estimate = match &result.outcome {
        Outcome::Frame(estimate) => estimate,
        Outcome::Absent { reason, listed, .. } => return Cell::absent(reason, *listed),
        _ => return Cell::Empty,
    };
    let usual = figure(result, estimate);
    let shown = match of {
        Quantity::Switches => return Cell::count(switches(estimate).value),
        Quantity::Time => usual,
        Quantity::Run => of_run(program, estimate, usual),
    };
    // Switches have a table of their own, and all that was counted stands in the program's group.
    Cell::Figure(Box::new(Figure {
        switches: None,
        instructions: None,
        ..shown
    }))
}

/// Returns the figure of the whole run. It exists even if synchronization is indistinguishable from
/// none.
fn of_run(program: &Program, estimate: &Estimate, usual: Figure) -> Figure {
    let Interval { value, low, high } = whole_run(program, estimate);
    let standing = match usual.standing {
        Standing::LikeControl if !program.idle_control => Standing::Resolved,
        standing => standing,
    };
    Figure {
        value,
        low,
        high,
        standing,
        ..usual
    }
}

/// Returns the published figures and their changes.
fn published(comparison: &Comparison, program: &Program, of: Quantity) -> Vec<Row> {
    let figure = |variant: &str| {
        let mut published = program.published.iter();
        let found = published.find(|p| p.variant == variant)?;
        Some(published_amount(found, of))
    };
    let Some(base) = figure(&comparison.savings.base) else {
        return Vec::new();
    };
    let figures =
        variants(comparison).map(|variant| figure(variant).map_or(Cell::Empty, |v| printed(v, of)));
    let changes = variants(comparison).map(|variant| match variant {
        _ if variant == comparison.savings.base => Cell::Empty,
        _ => change_cell(figure(variant).map(|now| now / base)),
    });
    vec![
        Row {
            label: format!("{}, published", program.label),
            place: String::new(),
            kind: RowKind::Published,
            subject: None,
            cells: figures.collect(),
        },
        Row {
            kind: RowKind::Published,
            ..change_row("change, published", changes.collect())
        },
    ]
}

fn published_amount(figures: &PublishedVariant, of: Quantity) -> f64 {
    match of {
        Quantity::Time | Quantity::Run => figures.seconds,
        Quantity::Switches => figures.switches,
    }
}

fn printed(value: f64, of: Quantity) -> Cell {
    let (text, factor, unit) = match of {
        Quantity::Time | Quantity::Run => {
            let text = number::quantity(Unit::Nanoseconds, value * 1e9);
            (text, 1e9, Unit::Nanoseconds)
        }
        Quantity::Switches => (number::printed(value), 1.0, Unit::Count),
    };
    Cell::Printed {
        text,
        low: value * factor,
        high: value * factor,
        unit,
    }
}
