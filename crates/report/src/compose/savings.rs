//! Variants of programs: what each saves of the time and of the context switches of the one they come from.

use super::figure::figure;
use super::slug;
use super::view::{RunColumn, View};
use crate::document::{
    Axis, AxisUnit, Block, Cell, Column, Drawn, Guide, Note, Plot, Point, Row, RowKind, Section,
    Series, Table, Unit, Weight,
};
use crate::number;
use antiphon_lab::Outcome;
use antiphon_lab::suite::{Program, PublishedVariant, Savings};
use antiphon_measure::Estimate;

/// A section for each comparison of which something was measured.
pub fn sections(view: &View) -> Vec<Section> {
    let all = view.layout.savings.iter();
    all.filter_map(|savings| section(view, savings)).collect()
}

fn section(view: &View, savings: &Savings) -> Option<Section> {
    let changes = changes(view, savings);
    if changes.is_empty() {
        return None;
    }
    let mut blocks = Vec::new();
    if !savings.text.is_empty() {
        let text = savings.text.split_whitespace().collect::<Vec<_>>();
        blocks.push(Block::Prose {
            text: text.join(" "),
        });
    }
    blocks.push(Block::Table(table(view, savings, Aspect::Time)));
    blocks.push(Block::Table(table(view, savings, Aspect::Switches)));
    let notes = claims(savings, &changes);
    if !notes.is_empty() {
        blocks.push(Block::Notes { notes });
    }
    blocks.push(Block::Plot(plot(view, savings, &changes)));
    Some(Section {
        id: format!("savings-{}", slug(&savings.id)),
        title: savings.title.clone(),
        blocks,
    })
}

/// What a table shows.
#[derive(Clone, Copy, PartialEq)]
enum Aspect {
    Time,
    Switches,
}

impl Aspect {
    fn of(self, estimate: &Estimate) -> f64 {
        match self {
            Aspect::Time => estimate.cost_ns.value,
            Aspect::Switches => switches(estimate),
        }
    }

    fn published(self, figures: &PublishedVariant) -> f64 {
        match self {
            Aspect::Time => figures.seconds,
            Aspect::Switches => figures.switches,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Aspect::Time => "time and change",
            Aspect::Switches => "context switches and change",
        }
    }
}

/// Voluntary and involuntary: run-time systems also hand over by yielding.
fn switches(estimate: &Estimate) -> f64 {
    let all = estimate.resources.voluntary + estimate.resources.involuntary;
    if all.abs() < 1e-9 { 0.0 } else { all }
}

/// The share by which `now` differs from `before`; `None` where there was nothing to save.
fn change(before: f64, now: f64) -> Option<f64> {
    (before > 0.0).then(|| now / before - 1.0)
}

/// The columns of the run in which some program's base was measured.
fn columns(view: &View, savings: &Savings) -> Vec<RunColumn> {
    let bases: Vec<String> = savings
        .programs
        .iter()
        .map(|program| program.test(&savings.base))
        .collect();
    let of_base = view
        .run
        .results
        .iter()
        .filter(|result| bases.contains(&result.identity.test));
    view.columns(of_base)
}

fn table(view: &View, savings: &Savings, aspect: Aspect) -> Table {
    let mut headings = vec![heading(&savings.base)];
    for variant in &savings.variants {
        headings.extend([heading(variant), heading("change")]);
    }
    let columns = columns(view, savings);
    let rows = savings.programs.iter().flat_map(|program| {
        let today = columns
            .iter()
            .filter_map(|column| measured_row(view, savings, program, column, aspect));
        published_row(savings, program, aspect)
            .into_iter()
            .chain(today.collect::<Vec<_>>())
    });
    Table {
        title: format!("{}: {}", savings.title, aspect.title()),
        caption: format!(
            "Published figures: {}. Changes are against `{}`.",
            savings.source, savings.base
        ),
        corner: "Program".into(),
        columns: headings,
        rows: rows.collect(),
        folded: false,
    }
}

fn heading(title: &str) -> Column {
    Column {
        title: title.into(),
        ..Column::default()
    }
}

fn published_row(savings: &Savings, program: &Program, aspect: Aspect) -> Option<Row> {
    let figure = |variant: &str| {
        let found = program.published.iter().find(|p| p.variant == variant)?;
        Some(aspect.published(found))
    };
    let base = figure(&savings.base)?;
    let mut cells = vec![printed(base, aspect)];
    for variant in &savings.variants {
        let now = figure(variant);
        cells.push(now.map_or(Cell::Empty, |now| printed(now, aspect)));
        cells.push(change_cell(now.and_then(|now| change(base, now))));
    }
    Some(Row {
        label: format!("{}, published", program.label),
        place: "whole run".into(),
        kind: RowKind::Published,
        subject: None,
        cells,
    })
}

fn printed(value: f64, aspect: Aspect) -> Cell {
    let (text, factor, unit) = match aspect {
        Aspect::Time => (format!("{value}\u{202f}s"), 1e9, Unit::Nanoseconds),
        Aspect::Switches => (number::printed(value), 1.0, Unit::Count),
    };
    Cell::Printed {
        text,
        low: value * factor,
        high: value * factor,
        unit,
    }
}

fn change_cell(change: Option<f64>) -> Cell {
    change.map_or(Cell::Empty, |value| Cell::Number {
        value,
        unit: Unit::Share,
    })
}

fn measured_row(
    view: &View,
    savings: &Savings,
    program: &Program,
    column: &RunColumn,
    aspect: Aspect,
) -> Option<Row> {
    let base = aspect.of(view.estimate(&program.test(&savings.base), column)?);
    let mut cells = vec![cell(view, &program.test(&savings.base), column, aspect)];
    for variant in &savings.variants {
        let test = program.test(variant);
        let now = view.estimate(&test, column).map(|e| aspect.of(e));
        cells.push(cell(view, &test, column, aspect));
        cells.push(change_cell(now.and_then(|now| change(base, now))));
    }
    Some(Row {
        label: program.label.clone(),
        place: column.name(),
        kind: RowKind::Measured,
        subject: view.colour(&column.subject),
        cells,
    })
}

fn cell(view: &View, test: &str, column: &RunColumn, aspect: Aspect) -> Cell {
    let Some(result) = view.find(test, column) else {
        return Cell::Empty;
    };
    match (&result.outcome, aspect) {
        (Outcome::Frame(estimate), Aspect::Time) => {
            Cell::Figure(Box::new(figure(result, estimate)))
        }
        (Outcome::Frame(estimate), Aspect::Switches) => Cell::count(switches(estimate)),
        (Outcome::Absent { reason, .. }, _) => Cell::Missing {
            reason: reason.clone(),
        },
        _ => Cell::Empty,
    }
}

/// What one variant of one program saves in one column.
struct Change<'a> {
    program: &'a Program,
    variant: &'a str,
    column: RunColumn,
    time: f64,
    switches: f64,
}

/// The changes where both are known: nothing can be saved of no switches.
fn changes<'a>(view: &View, savings: &'a Savings) -> Vec<Change<'a>> {
    let mut all = Vec::new();
    for column in columns(view, savings) {
        for program in &savings.programs {
            let Some(base) = view.estimate(&program.test(&savings.base), &column) else {
                continue;
            };
            for variant in &savings.variants {
                let now = view.estimate(&program.test(variant), &column);
                let change_of = |aspect: Aspect| change(aspect.of(base), aspect.of(now?));
                let (Some(time), Some(switches)) =
                    (change_of(Aspect::Time), change_of(Aspect::Switches))
                else {
                    continue;
                };
                all.push(Change {
                    program,
                    variant,
                    column: column.clone(),
                    time,
                    switches,
                });
            }
        }
    }
    all
}

/// Whether the claims hold, where all threads share one processor: elsewhere the number of switches is the scheduler's affair.
fn claims(savings: &Savings, changes: &[Change]) -> Vec<Note> {
    let claimed = |change: &&Change| {
        change.column.placement == "same" && savings.claimed.iter().any(|v| v == change.variant)
    };
    let (held, missed): (Vec<&Change>, Vec<&Change>) = changes
        .iter()
        .filter(claimed)
        .partition(|change| 1.0 + change.switches <= change.program.switches_at_most);
    let mut notes: Vec<Note> = missed.iter().map(|change| missed_note(change)).collect();
    if !held.is_empty() {
        let worst = held.iter().map(|c| 1.0 + c.switches).fold(0.0, f64::max);
        let text = format!(
            "held by {} on one processor; the most that was left is {} of the switches",
            number::counted(held.len(), "variant"),
            number::quantity(Unit::Share, worst),
        );
        notes.push(Note::new(Weight::Info, "Claimed savings of switches", text));
    }
    notes
}

fn missed_note(change: &Change) -> Note {
    let text = format!(
        "{} of the switches are left, and {} were claimed at most",
        number::quantity(Unit::Share, 1.0 + change.switches),
        number::quantity(Unit::Share, change.program.switches_at_most),
    );
    let about = format!(
        "{}, {} · {}",
        change.program.label,
        change.variant,
        change.column.name()
    );
    Note::new(Weight::Warning, about, text)
}

/// Time saved against switches saved: the variants are the series.
fn plot(view: &View, savings: &Savings, changes: &[Change]) -> Plot {
    let series = savings.variants.iter().enumerate().map(|(shape, variant)| {
        let own = changes.iter().filter(|change| change.variant == variant);
        Series {
            name: variant.clone(),
            subject: own
                .clone()
                .next()
                .and_then(|change| view.colour(&change.column.subject)),
            shape,
            drawn: Drawn::Points,
            points: own.map(point).collect(),
        }
    });
    let series: Vec<Series> = series.filter(|s| !s.points.is_empty()).collect();
    Plot {
        title: "Time saved against context switches saved".into(),
        description: format!(
            "{} of {}. On the diagonal time is saved as switches are; below zero something costs more. The tables above hold the same figures.",
            number::counted(changes.len(), "change"),
            number::counted(series.len(), "variant"),
        ),
        caption: format!("Shares of what `{}` takes.", savings.base),
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

fn axis(title: &str) -> Axis {
    Axis {
        title: title.into(),
        unit: AxisUnit::Ratio,
        log: false,
    }
}

fn point(change: &Change) -> Point {
    let (x, y) = (-change.switches, -change.time);
    let share = |v| number::quantity(Unit::Share, v);
    Point {
        x,
        y,
        interval: None,
        text: format!(
            "{}, {} · {}: {} of the switches and {} of the time saved",
            change.program.label,
            change.variant,
            change.column.name(),
            share(x),
            share(y)
        ),
    }
}
