//! Whole programs: every run one, with the counts of the system and of the program.

mod counted;

use super::view::{RunColumn, View};
use super::{Kind, of_kind, processor_time};
use crate::document::{Block, Cell, Column, Fact, Figure, Row, RowKind, Table, Unit};
use crate::layout::Group;
use crate::number;
use antiphon_lab::{Outcome, ResultRecord};
use antiphon_measure::{Interval, WholeRun, run_counter, run_time_ns};
use counted::Counted;
pub use counted::words;

const CAPTION: &str = "Medians of the runs, each column by itself: a share of two of them is not the median of the runs’ shares. The time is the program's own account, without its start; the kernel's switches are those of the \
                       whole process; the others are counted by the program, or by its run-time system in a run of its own, as counting takes time.";

/// Addition for a peak of memory that may not be the program's.
const BOUND: &str = " A peak of memory with ≤ only says that the program needed no more: Linux begins to count with what the laboratory holds when the program is started, and \
                     tells no smaller figure. Runs of older versions did not keep how much that was.";

/// Returns the folded table of a group's programs; nothing without any.
pub fn blocks(view: &View, group: &Group, results: &[&ResultRecord]) -> Vec<Block> {
    let results = of_kind(results, Kind::Program);
    if results.is_empty() {
        return Vec::new();
    }
    vec![Block::Table(table(view, &group.title, &results))]
}

/// Returns programs, one a row, with their times and counts.
pub fn table(view: &View, title: &str, results: &[&ResultRecord]) -> Table {
    let (counted, left_out) = counted::columns(results);
    let system = [
        "Time",
        "User",
        "System",
        "Peak memory",
        "Kernel switches, waiting",
        "Kernel switches, made to",
    ];
    let columns = system.into_iter().map(Column::titled);
    let columns = columns.chain(counted.iter().map(Counted::column));
    let rows = results.iter().map(|result| {
        let mut cells = system_cells(result);
        cells.extend(counted.iter().map(|counted| counted.cell(result)));
        Row {
            label: view.label(&result.identity),
            place: RunColumn::of(&result.identity).name(),
            kind: RowKind::Measured,
            subject: view.colour(&result.identity.subject),
            cells,
        }
    });
    Table {
        title: format!("{title}: runs and what was counted in them"),
        caption: caption(results, left_out),
        corner: "Program".into(),
        columns: columns.collect(),
        rows: rows.collect(),
        folded: true,
    }
}

/// Returns the caption: the meaning of the figures, the limits of memory, and the number of omitted
/// counters.
fn caption(results: &[&ResultRecord], left_out: usize) -> String {
    let mut caption = CAPTION.to_owned();
    if results
        .iter()
        .any(|result| peak_run(runs(result)).is_some_and(|peak| peak.peak_is_bound()))
    {
        caption.push_str(BOUND);
    }
    if left_out > 0 {
        caption.push_str(&format!(
            " The programs print {} more, which the CSV has (`run_counter`).",
            number::count(left_out as u64)
        ));
    }
    caption
}

/// Returns the run whose peak of memory is the median; `None` of none.
pub fn peak_run(runs: &[WholeRun]) -> Option<&WholeRun> {
    let mut ordered: Vec<&WholeRun> = runs.iter().collect();
    ordered.sort_by_key(|run| run.peak_rss_bytes);
    ordered.get(ordered.len() / 2).copied()
}

/// Returns the median peak of memory, as far as it is the program's.
fn peak_cell(runs: &[WholeRun]) -> Cell {
    let Some(run) = peak_run(runs) else {
        return Cell::Empty;
    };
    let (value, unit) = (run.peak_rss_bytes as f64, Unit::Bytes);
    match run.peak_is_bound() {
        true => Cell::AtMost { value, unit },
        false => Cell::Number { value, unit },
    }
}

/// Returns a counter by its path, or by the last word of its path. It is that of the counting run,
/// or else of the timed ones.
pub fn counter(result: &ResultRecord, name: &str) -> Option<f64> {
    let Outcome::Program { runs, counted, .. } = &result.outcome else {
        return None;
    };
    if let Some(count) = counted.get(name) {
        return Some(*count as f64);
    }
    let named = |path: &&String| path.rsplit('.').next() == Some(name);
    if let Some(path) = counted.keys().find(named) {
        return Some(counted[path] as f64);
    }
    let counters = &runs.first()?.counters;
    let path = match counters.get_key_value(name) {
        Some((path, _)) => path,
        None => counters.keys().find(named)?,
    };
    run_counter(runs, path)
}

/// Returns the runs of a result; none if it has none.
pub fn runs(result: &ResultRecord) -> &[WholeRun] {
    match &result.outcome {
        Outcome::Program { runs, .. } => runs,
        _ => &[],
    }
}

fn system_cells(result: &ResultRecord) -> Vec<Cell> {
    let (Outcome::Program { answer, runs, .. }, Some(time)) =
        (&result.outcome, run_time_ns(runs(result)))
    else {
        let missing = match &result.outcome {
            Outcome::Absent { reason, listed, .. } => Cell::absent(reason, *listed),
            _ => Cell::Empty,
        };
        return std::iter::once(missing)
            .chain(std::iter::repeat_n(Cell::Empty, 5))
            .collect();
    };
    let median = |of: fn(&WholeRun) -> u64| {
        let mut values: Vec<u64> = runs.iter().map(of).collect();
        values.sort_unstable();
        values.get(values.len() / 2).copied().unwrap_or_default() as f64
    };
    let mut figure = figure(time, Unit::Nanoseconds, runs);
    let first = answer.lines().next().unwrap_or_default();
    figure.detail.push(Fact::new("Answer", first));
    figure.detail.extend(processor_time::facts(result));
    figure.marks.extend(processor_time::mark(result));
    vec![
        Cell::Figure(Box::new(figure)),
        Cell::ns(median(|run| run.user_ns)),
        Cell::ns(median(|run| run.system_ns)),
        peak_cell(runs),
        Cell::count(median(|run| run.voluntary)),
        Cell::count(median(|run| run.involuntary)),
    ]
}

/// Returns a figure of whole runs.
pub fn figure(of: Interval, unit: Unit, runs: &[WholeRun]) -> Figure {
    let times: Vec<String> = runs
        .iter()
        .map(|run| number::quantity(Unit::Nanoseconds, run.elapsed_ns as f64))
        .collect();
    Figure {
        detail: vec![
            Fact::new("Runs", number::count(runs.len() as u64)),
            Fact::new("Times in order", times.join(", ")),
        ],
        ..Figure::resolved(of, unit)
    }
}
