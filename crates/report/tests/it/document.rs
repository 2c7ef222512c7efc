//! Document of a run: its structure, its counts, and the reliability of its figures.

use crate::sample::{drawn, empty_run, estimate, finding, identity, result, run, section, tables};
use antiphon_lab::{Outcome, ResultRecord};
use antiphon_measure::{CountedBy, FindingKind, InstructionCount};
use antiphon_report::document::{Block, Cell, Plot, RowKind, Standing, Table, Unit, Weight};
use antiphon_report::export::html;
use antiphon_report::{compose, number};

fn row<'t>(table: &'t Table, label: &str) -> &'t antiphon_report::document::Row {
    table
        .rows
        .iter()
        .find(|row| row.label == label)
        .unwrap_or_else(|| panic!("no row {label}"))
}

#[test]
fn every_group_has_a_section_with_a_figure_and_every_row_is_shown() {
    let run = run(false);
    let document = compose(&run);
    for id in [
        "calls",
        "allocation",
        "exceptions",
        "tasks",
        "rendezvous",
        "protected",
        "clock",
        "time",
        "delay",
        "storage",
        "interrupts",
    ] {
        let section = section(&document, &format!("group-{id}"));
        assert!(!tables(section).is_empty(), "{id} has no table");
        assert!(!drawn(section).is_empty(), "{id} has no plot");
    }
    let groups = document
        .sections
        .iter()
        .filter(|s| s.id.starts_with("group-"));
    let figures = groups
        .flat_map(tables)
        .flat_map(|t| &t.rows)
        .flat_map(|r| &r.cells);
    let figures = figures
        .filter(|cell| matches!(cell, Cell::Figure(_)))
        .count();
    let frames = run
        .results
        .iter()
        .filter(|r| matches!(r.outcome, Outcome::Frame(_)))
        .count();
    assert_eq!(
        figures, frames,
        "each frame's figure stands in exactly one cell"
    );
}

#[test]
fn rows_follow_the_suite_and_columns_the_subjects() {
    let mut run = run(true);
    run.results.reverse();
    let document = compose(&run);
    let table = tables(section(&document, "group-calls"))[0];
    assert_eq!(table.rows[0].label, "inter, no parameters");
    assert_eq!(table.columns[0].title, "ada/O2");
    assert_eq!(table.columns[0].subtitle, "other, same");
    assert_eq!(table.columns[1].title, "c/O2");
}

#[test]
fn the_summary_tells_of_conditions_that_were_not_had() {
    let mut run = run(true);
    run.warnings = vec!["`c` could not be stopped".to_owned()];
    let document = compose(&run);
    let mut notes = document.summary.iter();
    let reported = notes
        .find(|note| note.about == "Conditions")
        .expect("it is told");
    assert_eq!(reported.text, run.warnings[0]);
    assert_eq!(reported.weight, Weight::Warning);
}

#[test]
fn the_summary_counts_what_has_no_figure_and_says_why() {
    let run = run(true);
    let absent = run
        .results
        .iter()
        .filter(|r| matches!(r.outcome, Outcome::Absent { .. }))
        .count();
    let fatal = |r: &&ResultRecord| match &r.outcome {
        Outcome::Frame(e) => e
            .findings
            .iter()
            .any(|f| matches!(f.kind, FindingKind::DeadCode | FindingKind::WrongPlacement)),
        _ => false,
    };
    let withheld = run.results.iter().filter(fatal).count();
    assert!(absent > 0 && withheld > 0);
    let document = compose(&run);
    let measured = run.results.len() - absent - withheld;
    let sentence = &document.summary[0].text;
    assert!(
        sentence.starts_with(&format!("{measured} figures measured")),
        "{sentence}"
    );
    assert!(
        sentence.contains(&format!("{} rows without a figure", absent + withheld)),
        "{sentence}"
    );
    assert!(document.summary[1].text.contains("the subject hung"));
}

#[test]
fn a_cost_like_the_control_shows_its_bound_and_instructions() {
    let document = compose(&run(true));
    let table = tables(section(&document, "group-calls"))[0];
    let Cell::Figure(figure) = &row(table, "inline, no parameters").cells[0] else {
        panic!("no figure")
    };
    assert_eq!(figure.standing, Standing::LikeControl);
    assert_eq!(figure.instructions, Some(0.0));
    let page = html::render(&document);
    assert!(page.contains("≈ control (&lt; 0.5\u{202f}ns)"));
    assert!(page.contains("+0 instr"));
}

#[test]
fn instructions_by_callgrind_stand_beside_every_cost_and_those_by_the_processor_in_its_evidence() {
    let of = |by: CountedBy| {
        let mut cost = estimate(200.0, 1.0);
        cost.resources.instructions = Some(InstructionCount {
            by,
            control: 4.0,
            test: 741.0,
            within: 0.2,
            cycles: None,
        });
        let mut run = run(true);
        let counted = |result: &&mut ResultRecord| matches!(&result.outcome, Outcome::Frame(of) if of.resources.instructions.is_some());
        let shown = run.results.iter_mut().find(counted).expect("one");
        shown.outcome = Outcome::Frame(Box::new(cost));
        let document = compose(&run);
        // The page packs its evidence.
        (html::render(&document), format!("{document:?}"))
    };
    let (page, document) = of(CountedBy::Callgrind);
    assert!(page.contains("+737 instr") && document.contains("without the kernel's work"));
    let (page, document) = of(CountedBy::Processor);
    assert!(document.contains("without the kernel's work"));
    assert!(!page.contains("+737 instr") && document.contains("737 instructions more"));
}

#[test]
fn every_line_of_a_plot_of_costs_has_a_point() {
    let document = compose(&run(true));
    let plots: Vec<&Plot> = document.sections.iter().flat_map(drawn).collect();
    let of_costs: Vec<&&Plot> = plots
        .iter()
        .filter(|plot| plot.title.ends_with("costs with their intervals"))
        .collect();
    assert!(of_costs.len() > 3);
    for plot in of_costs {
        for (line, label) in plot.categories.iter().enumerate() {
            let mut points = plot.series.iter().flat_map(|series| &series.points);
            assert!(points.any(|point| point.y == line as f64), "{label}");
        }
    }
}

#[test]
fn a_cost_within_the_placement_floor_is_no_cost() {
    let standing = |cost: f64, half: f64| {
        let outcome = Outcome::Frame(Box::new(estimate(cost, half)));
        let mut run = empty_run();
        run.results.push(result(
            identity("call.inter.none", "ada/O2", "other", "same"),
            outcome,
        ));
        let document = compose(&run);
        match &tables(section(&document, "group-calls"))[0].rows[0].cells[0] {
            Cell::Figure(figure) => figure.standing.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(standing(0.03, 0.001), Standing::LikeControl);
    assert_eq!(standing(-0.4, 0.05), Standing::LikeControl);
    assert_eq!(standing(0.9, 0.001), Standing::Resolved);
    assert_eq!(
        standing(-10.0, 0.01),
        Standing::Resolved,
        "a real fault of a control is not hidden"
    );
}

#[test]
fn an_error_withholds_its_figure_from_tables_plots_and_ranges() {
    let mut run = empty_run();
    let mut bad = estimate(5.0, 0.1);
    bad.findings
        .push(finding(FindingKind::DeadCode, "2 N took as long as N"));
    let add = |run: &mut antiphon_lab::RunRecord, test: &str, e| {
        run.results.push(result(
            identity(test, "ada/O2", "other", "same"),
            Outcome::Frame(Box::new(e)),
        ));
    };
    add(&mut run, "call.inter.none", bad);
    let document = compose(&run);
    let calls = section(&document, "group-calls");
    let Cell::Figure(figure) = &tables(calls)[0].rows[0].cells[0] else {
        panic!("no figure")
    };
    assert!(matches!(figure.standing, Standing::Withheld { .. }));
    assert!(drawn(calls).is_empty());
    let published = tables(section(&document, "published"))[0];
    let today = published
        .rows
        .iter()
        .find(|row| row.kind == RowKind::Measured)
        .expect("a row of today");
    assert!(matches!(today.cells[0], Cell::Missing { .. }));
}

#[test]
fn published_tables_hold_todays_range_slope_method_and_resolution() {
    let document = compose(&run(false));
    let published = tables(section(&document, "published"));
    let named = |title: &str| {
        *published
            .iter()
            .find(|t| t.title.starts_with(title))
            .expect(title)
    };
    let today = |table: &Table| {
        let today = table
            .rows
            .iter()
            .find(|row| row.label == "Today: ada/O2 · other, same")
            .cloned();
        today.unwrap_or_else(|| panic!("no row of today in {}", table.title))
    };
    assert!(matches!(
        today(named("Table III. Dynamically bounded arrays in a")).cells[0],
        Cell::Range { .. }
    ));
    let Cell::Figure(slope) = &today(named("Table II. Additional")).cells[0] else {
        panic!("no slope")
    };
    assert!((0.2..0.4).contains(&slope.value), "{}", slope.value);
    let timing = today(named("Table VI."));
    assert_eq!(
        timing.cells[1],
        Cell::Number {
            value: 1000.0,
            unit: Unit::Nanoseconds
        }
    );
    assert_eq!(timing.cells[2], Cell::text("pre-emptive"));
    let bound = Cell::text("≤ 180\u{202f}ns (finest step tried)");
    assert_eq!(timing.cells[3], bound);
}

#[test]
fn what_a_subject_does_not_have_is_no_failure() {
    let mut run = empty_run();
    for (test, listed) in [("call.inter.none", true), ("call.intra.none", false)] {
        run.results.push(result(
            identity(test, "c/O2", "other", "same"),
            Outcome::Absent {
                reason: "why".into(),
                help: String::new(),
                last_words: String::new(),
                listed,
            },
        ));
    }
    let document = compose(&run);
    let of = |weight| document.summary.iter().filter(move |n| n.weight == weight);
    let warnings: Vec<_> = of(Weight::Warning)
        .filter(|n| n.about == "Without a figure")
        .collect();
    assert_eq!(warnings.len(), 1);
    assert!(!warnings[0].text.contains("inter,"), "{}", warnings[0].text);
    assert!(of(Weight::Info).any(|n| n.text.starts_with("1 row does not exist")));
    let cells: Vec<&Cell> = document
        .sections
        .iter()
        .flat_map(tables)
        .flat_map(|table| table.rows.iter().flat_map(|row| &row.cells))
        .collect();
    let lacking = |cell: &&&Cell| matches!(cell, Cell::Lacking { .. });
    assert!(cells.iter().filter(lacking).count() >= 1);
}

#[test]
fn the_storage_loops_are_judged_together() {
    let document = compose(&run(false));
    let facts = document.sections.iter().flat_map(|s| &s.blocks);
    let together = facts.filter_map(|block| match block {
        Block::Facts { facts } => facts.iter().find(|f| f.label.starts_with("All loops · ")),
        _ => None,
    });
    assert!(together.count() > 0);
}

#[test]
fn published_figures_are_the_printed_ones_and_the_ratio_is_to_the_best() {
    let mut run = empty_run();
    let e = Box::new(estimate(2.0, 0.01));
    run.results.push(result(
        identity("call.inter.none", "ada/O2", "other", "same"),
        Outcome::Frame(e),
    ));
    let document = compose(&run);
    let table = tables(section(&document, "published"))[0];
    let text = "14\u{202f}µs".to_string();
    let printed = Cell::Printed {
        text,
        low: 14_000.0,
        high: 14_000.0,
        unit: Unit::Nanoseconds,
    };
    assert_eq!(row(table, "Alsys 1.0, Apollo DN660").cells[0], printed);
    let ratio = &row(table, "best published ÷ today").cells;
    assert_eq!(
        ratio[0],
        Cell::Number {
            value: 7000.0,
            unit: Unit::Ratio
        }
    );
    assert_eq!(ratio[1], Cell::Empty);
}

#[test]
fn composite_parameters_and_allocators_get_their_verdicts() {
    let document = compose(&run(false));
    let passing = tables(section(&document, "group-calls"))[1];
    let said = |label: &str| match &row(passing, label).cells[0] {
        Cell::Text { text } => text.clone(),
        other => panic!("{other:?}"),
    };
    assert!(said("inter, unconstrained of n bytes, in out").starts_with("by copy"));
    let steps = tables(section(&document, "group-allocation"))[1];
    let Cell::Text { text } = &row(steps, "new record of n bytes").cells[0] else {
        panic!("no verdict")
    };
    assert!(
        text.contains(&format!("at {}", number::exact(Unit::Bytes, 4096.0))),
        "{text}"
    );
}
