//! Tables of processor time an operation, by test and subject, and one of everything, folded.

use super::{of_both, of_server, of_subject};
use crate::compose::cold;
use crate::compose::costs::heading;
use crate::compose::view::{RunColumn, View};
use crate::document::{Block, Cell, Column, Fact, Figure, Row, RowKind, Table, Unit};
use crate::grouped::grouped;
use crate::layout::Group;
use crate::number;
use antiphon_lab::{CostRound, Costs, HeldAfter, ResultRecord};
use antiphon_measure::Interval;

type Of = fn(&CostRound) -> Option<f64>;

const CAPTION: &str = "Test less control, by the processes' own clocks: the whole tree of the subject, or of the database server. Medians of rounds in \
                       which the subjects took turns, with their intervals. Marked as disturbed: others used more than a tenth of the processors in use during its turns; as slowed: in \
                       no round were the processors as fast as they can be; as not warm: its subject was not when the time for warming was over.";

/// Caption of the full table.
const IN_FULL: &str = "Memory is proportional (shared pages in parts) and, like the threads, that of all processes after the test; the largest resident memory is since \
                       the process started. The server’s is for all its clients together. Ratios are to the first subject \
                       over the same database, where there is one (in some suites, to the first variant of the same subject), and are taken within rounds.";

pub(super) fn blocks(view: &View, group: &Group, results: &[&ResultRecord]) -> Vec<Block> {
    let columns = view.columns(results.iter().copied());
    let by_test = results.iter().map(|result| {
        let test = (result.identity.test.as_str(), result.identity.arg);
        (test, *result)
    });
    let tests: Vec<Vec<&ResultRecord>> = grouped(by_test).into_iter().map(|(_, of)| of).collect();
    let shown: [(&str, Of); 2] = [
        ("processor time of the subject per operation", of_subject),
        (
            "processor time of the database server per operation",
            of_server,
        ),
    ];
    let over = shown.into_iter().filter_map(|(title, of)| {
        let columns: Vec<&RunColumn> = columns
            .iter()
            .filter(|column| has(results, column, of))
            .collect();
        let rows = tests
            .iter()
            .filter_map(|of_test| row(view, of_test, &columns, of));
        let table = Table {
            title: format!("{}: {title}", group.title),
            caption: format!("{CAPTION}{}", cold::compilers(view)),
            corner: "Operation".into(),
            columns: columns.iter().map(|column| heading(view, column)).collect(),
            rows: rows.collect(),
            folded: false,
        };
        (!columns.is_empty()).then_some(Block::Table(table))
    });
    let mut blocks: Vec<Block> = over.collect();
    blocks.push(Block::Table(in_full(view, group, &tests)));
    blocks
}

fn costs(result: &ResultRecord) -> Option<&Costs> {
    result.costs.as_ref()
}

fn has(results: &[&ResultRecord], column: &RunColumn, of: Of) -> bool {
    let mut of_column = results
        .iter()
        .filter(|result| column.is_of(&result.identity));
    of_column.any(|result| costs(result).and_then(|costs| costs.median(of)).is_some())
}

fn row(view: &View, of_test: &[&ResultRecord], columns: &[&RunColumn], of: Of) -> Option<Row> {
    let find = |column: &&RunColumn| {
        let mut of_test = of_test.iter().copied();
        of_test.find(|result| column.is_of(&result.identity))
    };
    let found: Vec<_> = columns.iter().map(find).collect();
    let label = view.label(&found.iter().flatten().next()?.identity);
    let cell = |result: &Option<&ResultRecord>| {
        let figure = result.and_then(|result| figure(result, of));
        figure.map_or(Cell::Empty, |figure| Cell::Figure(Box::new(figure)))
    };
    Some(Row {
        label,
        place: String::new(),
        kind: RowKind::Measured,
        subject: None,
        cells: found.iter().map(cell).collect(),
    })
}

fn figure(result: &ResultRecord, of: Of) -> Option<Figure> {
    let costs = costs(result)?;
    let mut figure = Figure::resolved(costs.median(of)?, Unit::Nanoseconds);
    let rounds = costs.rounds.iter().filter_map(of);
    let rounds: Vec<String> = rounds
        .map(|value| number::quantity(Unit::Nanoseconds, value))
        .collect();
    let iterations = costs.rounds.iter().map(|round| round.iterations).max();
    figure.detail = vec![
        Fact::new("Rounds in order", rounds.join(", ")),
        Fact::new(
            "Iterations of a slice",
            number::count(iterations.unwrap_or_default()),
        ),
    ];
    figure.detail.extend(super::facts_of_turns(costs));
    figure.marks.extend(super::marks_of_turns(result));
    Some(figure)
}

/// Returns the full table, a row a test and subject.
fn in_full(view: &View, group: &Group, tests: &[Vec<&ResultRecord>]) -> Table {
    let columns = [
        "CPU of the subject",
        "of the server",
        "of both",
        "both, as a ratio to the first",
        "Memory after",
        "Largest resident",
        "Threads",
        "Server’s memory after",
        "Server’s threads",
    ];
    let bases = view.bases();
    let row = |result: &&ResultRecord| Row {
        label: view.label(&result.identity),
        place: RunColumn::of(&result.identity).name(),
        kind: RowKind::Measured,
        subject: view.colour(&result.identity.subject),
        cells: cells(result, bases.base(result)),
    };
    let rows = tests.iter().flatten().map(row).collect();
    Table {
        title: format!("{}: processor time, memory and threads", group.title),
        caption: format!("{IN_FULL}{}", cold::compilers(view)),
        corner: "Operation".into(),
        columns: columns.into_iter().map(Column::titled).collect(),
        rows,
        folded: true,
    }
}

fn cells(result: &ResultRecord, base: Option<&ResultRecord>) -> Vec<Cell> {
    let Some(costs) = costs(result) else {
        return Vec::new();
    };
    let cell = |interval: Option<Interval>, unit| match interval {
        Some(interval) => Cell::Figure(Box::new(Figure::resolved(interval, unit))),
        None => Cell::Empty,
    };
    let of = |of: Of| marked(result, cell(costs.median(of), Unit::Nanoseconds));
    let held = |of: fn(&HeldAfter) -> Option<u64>, unit| cell(costs.held(of), unit);
    let memory = |of: fn(&HeldAfter) -> Option<u64>| cell(costs.memory(of), Unit::Bytes);
    let threads = |of: fn(&HeldAfter) -> Option<u64>| cell(costs.threads(of), Unit::Count);
    vec![
        of(of_subject),
        of(of_server),
        of(of_both),
        marked(
            result,
            cell(
                base.and_then(|base| costs.ratio(base.costs.as_ref()?, of_both)),
                Unit::Ratio,
            ),
        ),
        memory(|held| Some(held.subject.pss_bytes)),
        held(|held| Some(held.subject.peak_bytes), Unit::Bytes),
        threads(|held| Some(held.subject.threads)),
        memory(|held| Some(held.server.as_ref()?.held.pss_bytes)),
        threads(|held| Some(held.server.as_ref()?.held.threads)),
    ]
}

/// Adds the marks of processor time to a cell.
fn marked(result: &ResultRecord, mut cell: Cell) -> Cell {
    if let Cell::Figure(figure) = &mut cell {
        figure.marks.extend(super::marks_of_turns(result));
    }
    cell
}
