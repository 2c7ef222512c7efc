//! Document of a comparison.

mod changes;

use super::{slug, unread};
use crate::comparison::{Comparison, ComparisonRow, Side, Verdict};
use crate::document::{
    Axis, AxisUnit, Block, Cell, Column, Document, Drawn, Fact, Figure, Guide, Mark, Note, Plot,
    Point, Row, RowKind, Section, Series, Standing, Table, Unit, Weight,
};
use crate::number;
use antiphon_measure::{Interval, PLACEMENT_FLOOR_NS};

/// Composes the document of a comparison.
pub fn compose_comparison(comparison: &Comparison) -> Document {
    let (before, after) = (&comparison.before, &comparison.after);
    let mut facts = Vec::new();
    for side in [before, after] {
        facts.extend(
            side.lines
                .iter()
                .map(|line| Fact::new(side.name.clone(), line.clone())),
        );
    }
    facts.push(Fact::new(
        "Threshold",
        format!(
            "changes within {} count as none, nor do those within ±{PLACEMENT_FLOOR_NS} ns, which the placement of loops in memory alone makes; \
             all verdicts of slower and faster together at {} confidence",
            number::quantity(Unit::Share, comparison.threshold),
            number::quantity(Unit::Share, comparison.confidence)
        ),
    ));
    Document {
        title: format!("{} against {}", after.name, before.name),
        subtitle: comparison.basis.clone(),
        headlines: vec![changes::headlines(comparison)],
        summary: summary(comparison),
        facts,
        subjects: vec![before.name.clone(), after.name.clone()],
        sections: sections(comparison),
        ..Document::default()
    }
}

fn summary(comparison: &Comparison) -> Vec<Note> {
    let count = |verdict| comparison.count(verdict);
    let (slower, faster) = (count(Verdict::Slower), count(Verdict::Faster));
    let mut text = format!(
        "{} compared: {slower} slower, {faster} faster, {} the same",
        number::counted(comparison.rows.len(), "row"),
        count(Verdict::Same),
    );
    let without_answer = [
        (Verdict::CannotTell, "of ", " it cannot be told"),
        (Verdict::Incomparable, "", " not comparable"),
        (Verdict::Missing, "", " without a figure on one side"),
    ];
    for (verdict, before, behind) in without_answer {
        let rows = count(verdict);
        if rows > 0 {
            text += &format!(", {before}{rows}{behind}");
        }
    }
    text.push('.');
    let mut notes = vec![Note::new(Weight::Info, "", text)];
    notes.extend(moved(count(Verdict::Incomparable)));
    let worst = comparison
        .rows
        .iter()
        .filter(|row| row.verdict == Verdict::Slower);
    let worst = worst.filter_map(|row| Some((row, row.log_ratio?.value)));
    if let Some((row, log)) = worst.max_by(|a, b| a.1.total_cmp(&b.1)) {
        let text = format!("{} ({})", row.label, change(log));
        notes.push(Note::new(Weight::Error, "Slowest", text));
    }
    notes.extend(comparison.suite_fault.clone().map(unread));
    notes
}

/// Notes that the machine may cause the differences of this many rows, with advice; `None` without
/// rows.
fn moved(rows: usize) -> Option<Note> {
    let text = format!(
        "{} differ, but the host of the virtual machine had moved its processors: what two of them do together costs another amount where they do not share a cache. \
         That is neither a regression nor an improvement. `antiphon compare --live` runs both sides at the same distance; or measure again until it is like that of the other run, or pin the processors on the host",
        number::counted(rows, "row")
    );
    (rows > 0).then(|| Note::new(Weight::Warning, "Processors moved", text))
}

fn sections(comparison: &Comparison) -> Vec<Section> {
    groups(comparison)
        .iter()
        .map(|title| {
            let rows: Vec<&ComparisonRow> = comparison
                .rows
                .iter()
                .filter(|row| row.group == *title)
                .collect();
            section(comparison, title, &rows)
        })
        .collect()
}

/// Returns the titles of the groups, each once.
fn groups(comparison: &Comparison) -> Vec<&str> {
    let mut titles: Vec<&str> = Vec::new();
    for row in &comparison.rows {
        if !titles.contains(&row.group.as_str()) {
            titles.push(&row.group);
        }
    }
    titles
}

/// Returns the id of a group's section. Titles may differ in signs alone, so it has a number too.
fn group_id(comparison: &Comparison, title: &str) -> String {
    let titles = groups(comparison);
    let index = titles.iter().position(|one| *one == title).unwrap_or(0);
    format!("group-{index}-{}", slug(title))
}

fn section(comparison: &Comparison, title: &str, rows: &[&ComparisonRow]) -> Section {
    let mut blocks = vec![Block::Table(table(comparison, title, rows))];
    blocks.extend(plot(comparison, title, rows).map(Block::Plot));
    Section {
        id: group_id(comparison, title),
        title: title.into(),
        blocks,
    }
}

fn table(comparison: &Comparison, title: &str, rows: &[&ComparisonRow]) -> Table {
    let side = |side: &Side, subject| Column {
        title: side.name.clone(),
        subtitle: String::new(),
        subject: Some(subject),
    };
    Table {
        title: format!("{title}: side by side"),
        corner: "Operation".into(),
        columns: vec![
            side(&comparison.before, 0),
            side(&comparison.after, 1),
            Column::titled("After ÷ before"),
            Column::titled("Change"),
            Column::titled("Verdict"),
        ],
        rows: rows.iter().map(|row| table_row(row)).collect(),
        ..Table::default()
    }
}

fn table_row(row: &ComparisonRow) -> Row {
    let word = verdict(row);
    let verdict = match row.note.is_empty() {
        true => Cell::text(word),
        false => Cell::text(format!("{word}: {}", row.note)),
    };
    let log = row.log_ratio;
    Row {
        label: row.label.clone(),
        place: String::new(),
        kind: RowKind::Measured,
        subject: None,
        cells: vec![
            cost(row.before_ns),
            cost(row.after_ns),
            log.map_or(Cell::Empty, |log| ratio(log, row.verdict)),
            log.map_or(Cell::Empty, |log| Cell::text(change(log.value))),
            verdict,
        ],
    }
}

fn cost(interval: Option<Interval>) -> Cell {
    match interval {
        Some(cost) => plain_figure(cost, Unit::Nanoseconds, Vec::new()),
        None => Cell::Missing {
            reason: "this side has no figure for the row".into(),
        },
    }
}

fn ratio(log: Interval, verdict: Verdict) -> Cell {
    let mark = |weight| {
        vec![Mark {
            weight,
            word: verdict.word().into(),
        }]
    };
    let marks = match verdict {
        Verdict::Slower => mark(Weight::Error),
        Verdict::Incomparable => mark(Weight::Warning),
        Verdict::CannotTell | Verdict::Faster | Verdict::Same | Verdict::Missing => Vec::new(),
    };
    plain_figure(factor(log), Unit::Ratio, marks)
}

fn plain_figure(interval: Interval, unit: Unit, marks: Vec<Mark>) -> Cell {
    let most = interval.low.abs().max(interval.high.abs());
    let like_control =
        unit == Unit::Nanoseconds && (interval.contains(0.0) || most <= PLACEMENT_FLOOR_NS);
    Cell::Figure(Box::new(Figure {
        value: interval.value,
        low: interval.low,
        high: interval.high,
        unit,
        standing: if like_control {
            Standing::LikeControl
        } else {
            Standing::Resolved
        },
        switches: None,
        instructions: None,
        marks,
        detail: vec![Fact::new(
            "Interval",
            number::limits(unit, interval.low, interval.high),
        )],
    }))
}

/// Returns the verdict in words, with the possible difference of the sides if they are the same.
fn verdict(row: &ComparisonRow) -> String {
    match row.same_within {
        Some(within) => format!("same within {}", number::quantity(Unit::Share, within)),
        None => row.verdict.word().to_owned(),
    }
}

/// Returns the ratio of a log ratio.
fn factor(log: Interval) -> Interval {
    Interval {
        value: log.value.exp(),
        low: log.low.exp(),
        high: log.high.exp(),
    }
}

/// Returns a log ratio as a change in per cent.
fn change(log: f64) -> String {
    let share = log.exp_m1();
    let sign = if share > 0.0 { "+" } else { "" };
    format!("{sign}{}", number::quantity(Unit::Share, share))
}

fn plot(comparison: &Comparison, title: &str, rows: &[&ComparisonRow]) -> Option<Plot> {
    let points: Vec<Point> = rows
        .iter()
        .enumerate()
        .filter_map(|(index, row)| Some((index, row, row.log_ratio?)))
        .map(|(index, row, log)| Point {
            x: log.value.exp(),
            y: index as f64,
            interval: log.limits().map(|(low, high)| (low.exp(), high.exp())),
            text: format!("{}, {}", change(log.value), verdict(row)),
        })
        .collect();
    let guide = |factor: f64, text: &str| Guide::Vertical {
        at: factor,
        text: text.into(),
    };
    (!points.is_empty()).then(|| Plot {
        title: format!(
            "{title}: {} ÷ {}",
            comparison.after.name, comparison.before.name
        ),
        description: format!(
            "Intervals of {}. The table above holds the same figures.",
            number::counted(points.len(), "ratio")
        ),
        caption: "Right of the threshold is slower. Whiskers are the intervals of each row alone."
            .into(),
        categories: rows.iter().map(|row| row.label.clone()).collect(),
        x: Axis {
            title: "After ÷ before".into(),
            unit: AxisUnit::Ratio,
            log: true,
        },
        y: Axis {
            title: String::new(),
            unit: AxisUnit::Count,
            log: false,
        },
        series: vec![Series {
            name: "ratio".into(),
            subject: Some(1),
            shape: 0,
            drawn: Drawn::Points,
            points,
        }],
        guides: vec![
            guide(1.0, "equal"),
            guide(1.0 + comparison.threshold, "threshold"),
            guide(1.0 / (1.0 + comparison.threshold), ""),
        ],
    })
}
