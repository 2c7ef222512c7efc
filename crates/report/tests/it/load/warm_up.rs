//! Servers that stayed cold: named beside their curves, their figures marked, and claims about
//! their time undecided.

use super::{changed, notes, of, plots, run, tables, verdicts};
use crate::sample::section;
use antiphon_lab::RunRecord;
use antiphon_report::compose;
use antiphon_report::document::{Block, Cell, Figure, Unit};

#[test]
fn a_server_that_stayed_cold_is_named_beside_its_curve() {
    let document = compose(&cold(run()));
    assert_eq!(
        plots(&document, "load-warm-up")[0].series[0].points.len(),
        2
    );
    assert!(
        notes(&document, "load-warm-up")[0]
            .text
            .contains("after 1 of 1 starts")
    );
}

/// Returns the same run with Ada's server cold at the beginning of its first load, which has its
/// warm-up.
fn cold(mut run: RunRecord) -> RunRecord {
    of(&mut run, 0).warm_ups[0].is_warm = false;
    run
}

#[test]
fn every_figure_of_a_server_that_stayed_cold_is_marked() {
    // The tables are those over all loads, and the full one of the last load. All figures count but
    // the share of the first.
    let marked = |run: &RunRecord, server: &str| -> Vec<bool> {
        let tables = tables(&compose(run), "group-over");
        let rows = tables.iter().flat_map(|table| &table.rows);
        let cells = rows
            .filter(|row| row.label == server)
            .flat_map(|row| &row.cells);
        let figures = cells.filter_map(|cell| match cell {
            Cell::Figure(figure) if figure.unit != Unit::Ratio => Some(figure),
            _ => None,
        });
        let is_marked = |figure: &Figure| figure.marks.iter().any(|mark| mark.word == "not warm");
        figures.map(|figure| is_marked(figure)).collect()
    };
    let all = |marked: Vec<bool>, wanted: bool| {
        assert!(
            marked.len() > 10 && marked.iter().all(|of| *of == wanted),
            "{marked:?}"
        );
    };
    all(marked(&cold(run()), "ada/tasks"), true);
    all(marked(&cold(run()), "java/grizzly"), false);
    all(marked(&run(), "ada/tasks"), false);
    let explained = |run: &RunRecord| {
        let document = compose(run);
        let mut blocks = section(&document, "method").blocks.iter();
        blocks.any(|block| matches!(block, Block::Facts { facts } if facts.iter().any(|fact| fact.label == "Not warm")))
    };
    assert!(explained(&cold(run())) && !explained(&run()));
}

#[test]
fn a_server_that_stayed_cold_for_another_placement_is_marked_in_this_one() {
    let mut run = cold(run());
    run.results[2].identity.placement = "same".into();
    let document = compose(&run);
    let tables = tables(&document, "group-over");
    let of_same = tables
        .iter()
        .find(|table| table.title.contains("Over") && table.rows[0].place.contains("same"));
    let Cell::Figure(figure) = &of_same.expect("a table").rows[0].cells[0] else {
        panic!("no figure in {of_same:?}");
    };
    assert!(
        figure.marks.iter().any(|mark| mark.word == "not warm"),
        "{figure:?}"
    );
}

#[test]
fn claims_about_the_time_of_a_server_that_stayed_cold_are_undecided() {
    let warm = verdicts(&changed(&[], 0, |_| {}));
    let cold = verdicts(&cold(changed(&[], 0, |_| {})));
    assert_eq!(warm["Twice the requests"], "yes");
    assert_eq!(cold["Twice the requests"], "undecided: not warm");
    assert_eq!(
        cold["Half the latency"],
        "in 0 of 2, 2 undecided (2 not warm)"
    );
    assert_eq!(cold["Half the cost"], "in 0 of 2, 2 undecided (2 not warm)");
    // Held memory does not depend on compilers; the cold state is reported all the same.
    assert_eq!(warm["Memory by ten"], "yes");
    assert_eq!(cold["Memory by ten"], "yes (not warm)");
    assert_eq!(cold["Nor here"], warm["Nor here"]);
}
