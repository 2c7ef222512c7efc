//! Curves: cost against a number, and as multiples of its base.

use crate::sample::{self, empty_run, estimate, identity, result, section};
use antiphon_lab::{Outcome, RunRecord};
use antiphon_measure::WholeRun;
use antiphon_report::compose;
use antiphon_report::document::{AxisUnit, Block, Cell, Plot, Table, Unit};
use antiphon_report::export::html;

const SUITE: &str = concat!(
    r#"
name = "m"
title = "M"
subjects = ["bare/v", "panda/v"]
"#,
    include_str!("../../../lab/tests/common/small_sizes.toml"),
    r#"[[group]]
id = "trips"
title = "Trips"
runs = ["other.same"]
[[group.row]]
test = "trip"
label = "there and back, {bytes} bytes"
arg = "{bytes}"
each = { bytes = ["0", "64", "4096"] }
[[curve]]
id = "layer"
title = "The layer"
text = "What   it costs."
by = "bytes"
unit = "bytes"
rows = ["0", "64", "4096"]
test = "trip"
arg = "{row}"
column = [
    { title = "Bare", subject = "bare/v", run = "other.same" },
    { title = "Panda", subject = "panda/v", run = "fifo.same", against = "Bare" },
    { title = "Elsewhere", subject = "panda/v", run = "other.across", against = "Bare" },
]
[[group]]
id = "sim"
title = "Sim"
runs = ["other.same"]
[[group.row]]
kind = "program"
test = "sim.{members}"
label = "{members}"
program = "sim"
each = { members = ["4", "4096"] }
[[curve]]
id = "counts"
title = "Counts"
by = "members"
rows = ["4", "4096"]
counted = "messages"
test = "sim.{row}"
column = [
    { title = "Barrier", subject = "bare/v", run = "other.same", counter = "barrier" },
    { title = "Join", subject = "bare/v", run = "other.same", counter = "join", against = "Barrier" },
]
[[curve]]
id = "bandwidth"
title = "Bandwidth"
by = "bytes"
unit = "bytes"
rows = ["0", "64", "4096"]
rate = "bytes"
test = "trip"
arg = "{row}"
column = [{ title = "Bare", subject = "bare/v", run = "other.same" }]
[[curve]]
id = "often"
title = "How often"
by = "bytes"
rows = ["0", "64"]
rate = "operations"
test = "trip"
arg = "{row}"
column = [
    { title = "Bare", subject = "bare/v", run = "other.same" },
    { title = "Panda", subject = "panda/v", run = "other.same", against = "Bare" },
]
[[curve]]
id = "nothing"
title = "Of which nothing was measured"
by = "bytes"
rows = ["0", "64"]
test = "trip"
arg = "{row}"
column = [{ title = "Bare", subject = "bare/v", run = "other.across" }]
"#
);

fn run() -> RunRecord {
    let mut run = empty_run();
    run.suite = "m".into();
    run.suite_toml = SUITE.into();
    let at = |arg: u64, subject: &str, cost_ns: f64| {
        let mut identity = identity("trip", subject, "other", "same");
        identity.arg = Some(arg);
        result(
            identity,
            Outcome::Frame(Box::new(estimate(cost_ns, cost_ns / 10.0))),
        )
    };
    run.results = vec![
        at(0, "bare/v", 1000.0),
        at(0, "panda/v", 2000.0),
        at(64, "bare/v", 1000.0),
        at(64, "panda/v", 1500.0),
        at(4096, "bare/v", 4000.0),
    ];
    for (members, barrier, join) in [("4", 6, 24), ("4096", 8190, 8190)] {
        let counters = [("barrier".to_owned(), barrier), ("join".to_owned(), join)];
        let counted = Outcome::Program {
            answer: String::new(),
            runs: vec![WholeRun {
                elapsed_ns: 1,
                counters: counters.into(),
                ..WholeRun::default()
            }],
            counted: Default::default(),
        };
        let name = format!("sim.{members}");
        let identity = identity(&name, "bare/v", "other", "same");
        run.results.push(result(identity, counted));
    }
    run
}

fn blocks(id: &str) -> (Vec<Table>, Vec<Plot>) {
    let document = compose(&run());
    let (mut tables, mut plots) = (Vec::new(), Vec::new());
    for block in &section(&document, id).blocks {
        match block {
            Block::Table(table) => tables.push(table.clone()),
            Block::Plot(plot) => plots.push(plot.clone()),
            _ => {}
        }
    }
    (tables, plots)
}

#[test]
fn rates_are_what_goes_into_a_second() {
    let (tables, plots) = blocks("curve-bandwidth");
    let bandwidth: Vec<(f64, f64, f64)> = plots[0].series[0]
        .points
        .iter()
        .map(|point| (point.x, point.y, point.interval.unwrap().0))
        .collect();
    // 64 bytes in 1000 ± 100 ns; where there are none there is no bandwidth.
    assert_eq!(bandwidth.len(), 2);
    assert_eq!(bandwidth[0], (64.0, 64e6, 64e9 / 1100.0));
    let Cell::Figure(figure) = &tables[0].rows[0].cells[0] else {
        panic!("{:?}", tables[0].rows[0].cells[0]);
    };
    assert_eq!((figure.value, figure.unit), (64e6, Unit::BytesPerSecond));
    let (tables, plots) = blocks("curve-often");
    assert_eq!(plots[0].y.unit, AxisUnit::PerSecond);
    assert_eq!(plots[0].series[0].points[0].y, 1e6);
    // Twice the cost is half the rate.
    let Cell::Figure(figure) = &tables[1].rows[0].cells[0] else {
        panic!("{:?}", tables[1].rows[0].cells[0]);
    };
    assert_eq!(figure.value, 0.5);
}

#[test]
fn costs_are_told_in_multiples_with_the_limits_of_both() {
    let (tables, _) = blocks("curve-layer");
    let [table] = &tables[..] else {
        panic!("{} tables", tables.len());
    };
    // FIFO was not permitted, so its rows were measured under `other`; nothing was measured across.
    let columns: Vec<_> = table
        .columns
        .iter()
        .map(|c| (c.title.as_str(), c.subtitle.as_str()))
        .collect();
    assert_eq!(columns, [("Panda", "÷ Bare")]);
    let rows: Vec<_> = table.rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(rows.len(), 2, "{rows:?}");
    let Cell::Figure(figure) = &table.rows[0].cells[0] else {
        panic!("{:?}", table.rows[0].cells[0]);
    };
    assert!((figure.value - 2.0).abs() < 1e-9, "{figure:?}");
    assert!((figure.low - 1800.0 / 1100.0).abs() < 1e-9, "{figure:?}");
    assert!((figure.high - 2200.0 / 900.0).abs() < 1e-9, "{figure:?}");
}

#[test]
fn costs_and_multiples_are_plotted_over_the_number() {
    let (_, plots) = blocks("curve-layer");
    let [costs, multiples] = &plots[..] else {
        panic!("{} plots", plots.len());
    };
    let series: Vec<_> = costs
        .series
        .iter()
        .map(|s| (s.name.as_str(), s.points.len()))
        .collect();
    assert_eq!(series, [("Bare", 3), ("Panda", 2)]);
    let xs: Vec<f64> = costs.series[0].points.iter().map(|point| point.x).collect();
    assert_eq!(xs, [0.0, 64.0, 4096.0]);
    let placed = xs.iter().map(|x| costs.x.place(*x)).collect::<Vec<_>>();
    assert_eq!(placed, [1.0, 64.0, 4096.0], "an axis of ratios has no 0");
    let page = html::render(&compose(&run()));
    assert!(page.contains("[1.0,1000.0,"), "{page}");
    let ys: Vec<f64> = multiples.series[0]
        .points
        .iter()
        .map(|point| point.y)
        .collect();
    assert_eq!((multiples.series.len(), ys), (1, vec![2.0, 1.5]));
}

#[test]
fn what_was_not_measured_has_no_section_and_labels_tell_the_argument() {
    let document = compose(&run());
    let ids: Vec<_> = document
        .sections
        .iter()
        .map(|section| section.id.as_str())
        .collect();
    assert!(!ids.contains(&"curve-nothing"), "{ids:?}");
    let labels: Vec<String> = sample::tables(section(&document, "group-trips"))[0]
        .rows
        .iter()
        .map(|row| row.label.clone())
        .collect();
    let due = ["0", "64", "4096"].map(|bytes| format!("there and back, {bytes} bytes"));
    assert_eq!(labels, due);
}

#[test]
fn counts_of_programs_are_tabled_plotted_and_compared() {
    let (tables, plots) = blocks("curve-counts");
    let [counts, multiples] = &tables[..] else {
        panic!("{} tables", tables.len());
    };
    assert_eq!(
        counts.rows[1].cells,
        [Cell::count(8190.0), Cell::count(8190.0)]
    );
    let Cell::Figure(figure) = &multiples.rows[0].cells[0] else {
        panic!("{:?}", multiples.rows[0].cells);
    };
    assert!((figure.value - 4.0).abs() < 1e-9);
    assert_eq!(plots[0].series[0].points[1].x, 4096.0);
    assert_eq!(plots[0].y.title, "messages");
}
