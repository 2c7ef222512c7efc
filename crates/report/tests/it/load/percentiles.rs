//! Percentiles of latencies, from the histograms of all rounds: pauses show, few requests have
//! none, older runs are marked.

use super::{of, paused, plots, run, tables, verdicts};
use antiphon_lab::RunRecord;
use antiphon_report::compose;
use antiphon_report::document::{Cell, Figure};
use antiphon_report::export::csv;

/// Returns a figure of the full table of the load with 64 connections, by row and column.
fn figure(run: &RunRecord, row: &str, column: &str) -> Option<Figure> {
    let table = tables(&compose(run), "group-over").pop().unwrap();
    let row = table.rows.iter().find(|of| of.label == row).unwrap();
    let mut cells = table.columns.iter().zip(&row.cells);
    match cells.find(|(of, _)| of.title == column).unwrap().1 {
        Cell::Figure(figure) => Some((**figure).clone()),
        _ => None,
    }
}

#[test]
fn a_pause_in_few_rounds_shows_in_the_percentiles() {
    let mut run = run();
    paused(&mut run);
    let of = |column| figure(&run, "java/grizzly", column).unwrap();
    // 40 of 2000 waited: 20 longer than 55 ms, two of them 100 ms.
    let p99 = of("p99");
    assert!((p99.value / 55e6 - 1.0).abs() < 0.1, "{p99:?}");
    assert!(p99.low < 1e6 && p99.high > 90e6, "{p99:?}");
    let limits = p99.detail.iter().find(|fact| fact.label == "Limits");
    assert_eq!(limits.unwrap().text, "0.300 – 100\u{202f}ms");
    assert!(of("p99.9").value > 94e6);
    let longest = of("Longest");
    assert!((longest.value / 100e6 - 1.0).abs() < 0.01 && longest.low == longest.high);
    assert!(of("p50").value < 0.31e6);
    // The pause shows in the plot and in the claim, too.
    let curve = plots(&compose(&run), "group-over").pop().unwrap();
    let grizzly = curve.series.iter().find(|of| of.name == "java/grizzly");
    assert!(
        grizzly.unwrap().points.last().unwrap().y > 50e6,
        "{curve:?}"
    );
    let (mut ours, mut theirs) = (run.clone(), run);
    paused_too(&mut ours);
    let verdict = |run: &RunRecord| verdicts(run)["Half the latency"].clone();
    assert_eq!(verdict(&ours), "no: in 0 of 2, 1 undecided");
    // Without a pause on the other side, whose median it has.
    for round in &mut self::of(&mut theirs, 3).rounds {
        round.latencies = None;
    }
    assert_eq!(verdict(&theirs), "no: in 0 of 2");
}

/// Gives the other server the same pauses.
fn paused_too(run: &mut RunRecord) {
    of(run, 2).rounds = of(run, 3).rounds.clone();
}

#[test]
fn a_percentile_of_too_few_requests_is_left_out() {
    let mut run = run();
    paused(&mut run);
    of(&mut run, 3).rounds.truncate(4);
    assert!(figure(&run, "java/grizzly", "p99").is_some());
    assert_eq!(figure(&run, "java/grizzly", "p99.9"), None);
    let text = csv::runs(&[run]).unwrap();
    assert!(!text.lines().any(|line| line.contains("java/grizzly")
        && line.contains("keep.64")
        && line.contains("load_p999")));
}

#[test]
fn what_was_measured_without_a_histogram_is_marked() {
    let mut run = run();
    paused(&mut run);
    let is_marked = |server, column| {
        let figure = figure(&run, server, column).unwrap();
        figure.marks.iter().any(|mark| mark.word == "by rounds")
    };
    assert!(is_marked("ada/tasks", "p99") && !is_marked("java/grizzly", "p99"));
    assert!(!is_marked("ada/tasks", "Longest"));
    let captions = |run: &RunRecord| tables(&compose(run), "group-over").pop().unwrap().caption;
    let caption = captions(&run);
    assert!(
        caption.contains("“by rounds”")
            && caption.contains("longest latency is that of all rounds"),
        "{caption}"
    );
    run.results.truncate(4);
    run.results.drain(..3);
    assert!(!captions(&run).contains("by rounds"));
}
