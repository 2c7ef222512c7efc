//! Other generators: their agreement with ours about the same load, and figures that they do not
//! tell.

use super::{of, run, tables};
use antiphon_lab::{ContextSwitches, Generator, LoadOutcome, Outcome, RunRecord};
use antiphon_report::compose;
use antiphon_report::document::Cell;
use antiphon_report::export::csv;

#[test]
fn what_a_generator_does_not_tell_has_no_figure() {
    let mut run = run();
    let load = of(&mut run, 2);
    load.task.by = Generator::Ab;
    for round in &mut load.rounds {
        (round.p50_ns, round.p99_ns, round.p999_ns) = (None, None, None);
        (round.longest_ns, round.fairness) = (None, None);
        // The laboratory counts these itself.
        round.switches = Some(ContextSwitches::default());
    }
    let tables = tables(&compose(&run), "group-over");
    let full = tables.last().unwrap();
    for (column, cell) in full.columns.iter().zip(&full.rows[0].cells) {
        let reported = ![
            "p50",
            "p99",
            "p99.9",
            "Longest",
            "Starved",
            "Sent late by, p99",
        ]
        .contains(&column.title.as_str());
        assert_eq!(
            matches!(cell, Cell::Figure(_)),
            reported,
            "{}: {cell:?}",
            column.title
        );
    }
    let text = csv::runs(&[run]).unwrap();
    let of_ab = text
        .lines()
        .filter(|line| line.contains("keep.64") && line.contains("ada/tasks"));
    assert!(of_ab.clone().count() > 0);
    assert_eq!(
        of_ab
            .filter(|line| line.contains("load_p50") || line.contains("load_fairness"))
            .count(),
        0
    );
}

/// Returns the verdicts on another generator at the same server, with these multiples of our rate
/// and of its processor time a request.
fn rival(per_second: f64, cpu: f64, busy: f64) -> Vec<(String, String)> {
    let mut run = run();
    let ours = run.results[2].clone();
    let mut by_wrk = ours.clone();
    by_wrk.identity.test = "keep.1".into();
    let Outcome::Load(load) = &mut by_wrk.outcome else {
        panic!("{by_wrk:?}");
    };
    load.task.by = Generator::Wrk;
    for round in &mut load.rounds {
        round.per_second *= per_second;
        round.server_cpu_ns = (round.server_cpu_ns as f64 * cpu) as u64;
        round.generator_share = busy;
    }
    run.results = vec![by_wrk, ours];
    let tables = tables(&compose(&run), "load-rivals");
    let rows = tables.iter().flat_map(|table| &table.rows);
    let reported = rows.map(|row| match &row.cells[0] {
        Cell::Text { text } => (row.label.clone(), text.clone()),
        other => panic!("{other:?}"),
    });
    reported.collect()
}

#[test]
fn another_generator_agrees_or_not_within_the_rounds_of_both() {
    let verdicts =
        |reported: Vec<(String, String)>| reported.into_iter().map(|(_, of)| of).collect();
    let of = |per_second, cpu, busy| -> Vec<String> { verdicts(rival(per_second, cpu, busy)) };
    assert_eq!(of(1.02, 0.99, 0.5), ["yes", "yes"]);
    assert_eq!(of(2.0, 0.99, 0.5), ["no", "yes"], "ours is what limits");
    assert_eq!(of(0.5, 1.5, 0.5), ["no", "no"]);
    assert_eq!(of(1.1, 1.0, 0.5), ["undecided", "yes"]);
    // A generator without spare time says nothing against ours, unless it sends more than ours all
    // the same.
    let limited = "undecided: the generator’s limit";
    assert_eq!(of(0.5, 1.5, 0.95), [limited, "no"]);
    assert_eq!(of(2.0, 1.0, 0.95), ["no", "yes"]);
    assert!(rival(1.0, 1.0, 0.5)[0].0.starts_with("wrk agrees"));
}

#[test]
fn another_generator_is_not_held_against_another_load() {
    let mut run = run();
    let Outcome::Load(load) = &mut run.results[0].outcome else {
        panic!("a load");
    };
    load.task.by = Generator::Siege;
    let has = |run: &RunRecord| {
        let document = compose(run);
        document.sections.iter().any(|of| of.id == "load-rivals")
    };
    assert!(!has(&run), "64 connections are not one");
    let mut same = run.results[2].clone();
    let Outcome::Load(load) = &mut same.outcome else {
        panic!("a load");
    };
    load.task.connections = 1;
    run.results.push(same.clone());
    assert!(has(&run));
    let mut has_instead = |change: &dyn Fn(&mut LoadOutcome)| {
        let mut other = same.clone();
        let Outcome::Load(load) = &mut other.outcome else {
            panic!("a load");
        };
        change(load);
        run.results.pop();
        run.results.push(other);
        has(&run)
    };
    let kept = has_instead(&|load| load.task.keep_alive = false);
    assert!(!kept, "kept connections are not those for one request");
    let asleep = has_instead(&|load| load.task.sleeps = true);
    assert!(asleep, "how a generator waits makes no other load");
}
