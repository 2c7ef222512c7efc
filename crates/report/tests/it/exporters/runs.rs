//! One run in every format: figures with their limits, missing figures, and words that steer no
//! reader.

use super::{PLAIN, UNREAD, csv_rows, frame, one_test, read, with, without_suite};
use crate::sample::{self, estimate, finding, identity, parts, result, run};
use antiphon_lab::{Outcome, ResultRecord, RunRecord};
use antiphon_measure::FindingKind;
use antiphon_report::compose;
use antiphon_report::document::{Block, Cell};
use antiphon_report::export::live::{LiveTable, one_line};
use antiphon_report::export::text::{TextOptions, render, render_tables, summary};
use antiphon_report::export::{csv, html, json, markdown, xlsx};
use std::collections::HashMap;

fn absent(test: &str, reason: &str) -> ResultRecord {
    let outcome = Outcome::Absent {
        reason: reason.into(),
        help: "apt install gnat".into(),
        last_words: "bash: gnatmake: command not found\n".into(),
        listed: false,
    };
    result(identity(test, "ada/O2", "other", "same"), outcome)
}

#[test]
fn csv_has_every_figure_with_its_limits() {
    let rows =
        csv_rows(&csv::run(&with(vec![frame("call.inter.none", "ada/O2", 1.75)])).expect("CSV"));
    assert_eq!(rows.len(), 1);
    let field = |name: &str| rows[0][name].as_str();
    assert_eq!(
        (field("group"), field("label")),
        ("calls", "inter, no parameters")
    );
    assert_eq!(
        (field("figure"), field("unit"), field("value")),
        ("cost", "ns", "1.75")
    );
    assert_eq!((field("low"), field("high")), ("1.7", "1.8"));
    assert_eq!(
        (field("stopped"), field("total_iterations")),
        ("interval_reached", "9888000")
    );
}

#[test]
fn csv_gives_every_kind_of_result_a_line() {
    let run = run(true);
    let rows = csv_rows(&csv::run(&run).expect("CSV"));
    let of = |figure: &str| rows.iter().filter(|row| row["figure"] == figure).count();
    let absent = run.results.iter().filter(|r| r.outcome.is_absent()).count();
    assert_eq!(of("absent"), absent);
    for figure in [
        "cost",
        "clock_resolution",
        "delay_actual",
        "latency_from_intended",
        "storage_typical",
        "interference_share",
    ] {
        assert!(of(figure) > 0, "no {figure}");
    }
    let delay = rows
        .iter()
        .find(|row| row["figure"] == "delay_actual")
        .expect("a point");
    assert_eq!(
        delay["arg"], "1000",
        "the request stands beside the actual delay"
    );
}

#[test]
fn csv_defuses_what_a_spreadsheet_would_compute() {
    let mut evil = frame("call.inter.none", "=cmd|'/c calc'!A1", 1.0);
    if let Outcome::Frame(estimate) = &mut evil.outcome {
        estimate
            .findings
            .push(finding(FindingKind::Note, "@SUM(1,2)\nand \"more\""));
    }
    let rows = csv_rows(&csv::run(&with(vec![evil])).expect("CSV"));
    assert_eq!(rows[0]["subject"], "'=cmd|'/c calc'!A1");
    assert_eq!(rows[0]["findings"], "'@SUM(1,2)\nand \"more\"");
}

#[test]
fn json_names_its_schema_and_gives_the_run_back() {
    let run = run(true);
    let text = json::run(&run).expect("JSON");
    let value: serde_json::Value = serde_json::from_str(&text).expect("sound JSON");
    assert_eq!(
        (&value["schema"], &value["version"]),
        (&"antiphon.run".into(), &1.into())
    );
    let back: RunRecord = serde_json::from_value(value["run"].clone()).expect("a run");
    assert_eq!(back.results.len(), run.results.len());
    assert_eq!(back.results[0].identity, run.results[0].identity);
}

#[test]
fn a_cost_of_one_block_has_no_limits_anywhere() {
    let mut of_one = estimate(11_716_213.0, 5.0);
    of_one.blocks = 1;
    of_one.open_if_one_block();
    let outcome = Outcome::Frame(Box::new(of_one));
    let run = with(vec![result(
        identity("call.inter.none", "ada/O2", "other", "same"),
        outcome,
    )]);
    let rows = csv_rows(&csv::run(&run).expect("CSV"));
    assert_eq!(rows[0]["value"], "11716213");
    for limit in ["low", "high", "sign_low", "sign_high"] {
        assert_eq!(rows[0][limit], "", "{limit}");
    }
    let text = json::run(&run).expect("JSON");
    let value: serde_json::Value = serde_json::from_str(&text).expect("sound JSON");
    assert!(value["run"]["results"][0]["outcome"]["cost_ns"]["low"].is_null());
    let back: RunRecord = serde_json::from_value(value["run"].clone()).expect("a run");
    assert_eq!(back.results, run.results);
    let document = compose(&run);
    let shown = render(&document, PLAIN);
    let figure = shown.lines().find(|line| line.contains("[one block]"));
    let figure = figure.unwrap_or_else(|| panic!("{shown}"));
    assert!(
        figure.contains("11.7\u{202f}ms") && !figure.contains('±'),
        "{figure}"
    );
    let page = html::render(&document);
    assert!(page.contains("one block") && !page.contains('∞'));
    let parts = parts(&xlsx::render(&document).expect("a workbook"));
    assert!(parts.values().all(|part| !part.contains("not finite")));
}

#[test]
fn an_interval_that_lies_unevenly_is_shown_by_its_limits_wherever_it_is_read_by_people() {
    let mut uneven = frame("call.inter.none", "ada/O2", 132e3);
    if let Outcome::Frame(estimate) = &mut uneven.outcome {
        (estimate.cost_ns.low, estimate.cost_ns.high) = (98e3, 5927e3);
    }
    let reported = "132\u{202f}µs (98 to 5900)";
    let line = one_line("inter", &uneven);
    assert!(line.contains("132 µs (98 to 5900)"), "{line}");
    let run = with(vec![uneven]);
    let document = compose(&run);
    for text in [render(&document, PLAIN), markdown::render(&document)] {
        assert!(text.contains(reported) && !text.contains("132 ±"), "{text}");
    }
    let page = html::render(&document);
    let shown = r#"<b>132</b> <i>µs</i> <small>(98 to 5900)</small>"#;
    assert!(page.contains(shown), "{page}");
    // The evidence has the limits once.
    let evidence = document.sections.iter().flat_map(|section| &section.blocks);
    let evidence = evidence.filter_map(|block| match block {
        Block::Table(table) => Some(&table.rows),
        _ => None,
    });
    let figures = evidence.flatten().flat_map(|row| &row.cells);
    let costs: Vec<_> = figures
        .filter_map(|cell| match cell {
            Cell::Figure(figure) => figure
                .detail
                .iter()
                .find(|of| of.label == "Cost, bootstrap"),
            _ => None,
        })
        .collect();
    assert!(
        !costs.is_empty() && costs.iter().all(|of| of.text == reported),
        "{costs:?}"
    );
    // Formats for programs have each number in a separate field.
    let rows = csv_rows(&csv::run(&run).expect("CSV"));
    let field = |name: &str| rows[0][name].as_str();
    assert_eq!(
        [field("value"), field("low"), field("high")],
        ["132000", "98000", "5927000"]
    );
    let parts = parts(&xlsx::render(&document).expect("a workbook"));
    for number in ["<v>132000</v>", "<v>98000</v>", "<v>5927000</v>"] {
        assert!(
            parts["xl/worksheets/sheet2.xml"].contains(number),
            "{number}"
        );
    }
}

#[test]
fn a_slope_is_a_number_in_as_many_digits_as_tell_it_from_one() {
    let document = compose(&run(true));
    assert!(markdown::render(&document).contains("| 1.0003 |"));
    let parts = parts(&xlsx::render(&document).expect("a workbook"));
    let is_number = |part: &String| part.contains("<v>1.0003</v>");
    assert!(parts.values().any(is_number));
    assert!(!parts["xl/sharedStrings.xml"].contains("<t>1.0003</t>"));
}

#[test]
fn json_survives_numbers_that_are_no_numbers() {
    let text = json::run(&with(vec![frame("call.inter.none", "ada/O2", f64::NAN)])).expect("JSON");
    let value: serde_json::Value = serde_json::from_str(&text).expect("sound JSON");
    assert!(value["run"]["results"][0]["outcome"]["cost_ns"]["value"].is_null());
}

#[test]
fn markdown_has_tables_and_no_markup_of_subjects() {
    let text = markdown::render(&compose(&with(vec![
        frame("call.inter.none", "a|b<script>", 1.75),
        absent("call.intra.none", "gnatmake *was* not found"),
    ])));
    assert!(text.contains("| inter, no parameters |"), "{text}");
    assert!(text.contains("1.750 ± 0.050"));
    assert!(text.contains("a\\|b&lt;script&gt;"));
    assert!(text.contains("gnatmake \\*was\\* not found"));
    let widths: Vec<usize> = text
        .lines()
        .filter(|line| line.starts_with('|'))
        .take(3)
        .map(|line| line.replace("\\|", "").matches('|').count())
        .collect();
    assert!(
        widths.windows(2).all(|pair| pair[0] == pair[1]),
        "{widths:?}"
    );
}

#[test]
fn text_stays_within_the_terminal_and_steers_nothing() {
    let run = with(vec![
        frame("call.inter.none", "ada/O2", 1.75),
        absent("call.intra.none", "it said \u{1b}[2J and beeped \u{7}"),
    ]);
    for text in [render(&compose(&run), PLAIN), render_tables(&run, PLAIN)] {
        assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'));
        assert!(text.contains("inter, no parameters"));
        assert!(text.contains("apt install gnat"));
        let table_lines = text.lines().filter(|line| line.starts_with('─'));
        assert!(
            table_lines
                .map(|line| line.chars().count())
                .all(|width| width <= 120)
        );
    }
}

#[test]
fn a_run_has_a_line() {
    let line = summary(&with(vec![
        frame("call.inter.none", "ada/O2", 1.75),
        absent("x", "gone"),
    ]));
    assert!(line.contains("run 7 · features"), "{line}");
    assert!(
        line.contains("1 figure measured, 1 row without a figure"),
        "{line}"
    );
    assert_eq!(line.lines().count(), 1);
}

#[test]
fn a_live_row_fits_its_terminal_whatever_it_says() {
    for width in [40, 80, 132] {
        let table = LiveTable::new(width);
        for result in &run(true).results {
            let row = table.row(&"a rather long label ".repeat(8), result);
            let widest = width.max(16 + 18 + 24 + 6); // the narrowest that columns get
            assert!(row.chars().count() <= widest, "{width}: {row}");
            assert_eq!(row.lines().count(), 1);
        }
    }
    let line = one_line(
        "inter, no parameters",
        &frame("call.inter.none", "ada/O2", 1.75),
    );
    assert_eq!(
        line,
        "inter, no parameters ada/O2 other.same 1.750 ± 0.050 ns"
    );
}

#[test]
fn csv_says_that_a_suite_cannot_be_read_and_has_the_figures() {
    let sound = with(vec![frame("call.inter.none", "ada/O2", 1.75)]);
    let rows = csv_rows(&csv::runs(&[sound, without_suite()]).expect("CSV"));
    let figures: Vec<&str> = rows.iter().map(|row| row["figure"].as_str()).collect();
    assert_eq!(figures, ["cost", "suite_unread", "cost"]);
    assert!(rows[1]["reason"].starts_with(UNREAD), "{rows:?}");
    assert_eq!(rows[1]["run"], rows[2]["run"]);
    assert_eq!(
        (rows[1]["value"].as_str(), rows[2]["group"].as_str()),
        ("", "")
    );
}

#[test]
fn how_far_apart_processors_were_is_told_of_the_run_and_of_the_figure() {
    let mut run = one_test(1.0);
    let without = markdown::render(&compose(&run));
    assert!(!without.contains("Core-to-core latency"));
    run.results[0].core_to_core_ns = read(&[120.0, 330.0]);
    let text = "the processors were near to each other in some starts, far in others";
    if let Outcome::Frame(estimate) = &mut run.results[0].outcome {
        let moved = finding(FindingKind::ProcessorsMoved, text);
        estimate.findings.push(moved);
    }
    let document = compose(&run);
    let fact = |name: &str| document.facts.iter().find(|fact| fact.label == name);
    let shown = &fact("Core-to-core latency").expect("it was read").text;
    assert!(
        shown.contains("120") && shown.contains("330") && shown.contains("moved"),
        "{shown}"
    );
    let page = markdown::render(&document);
    assert!(page.contains("near and far") && page.contains(text));
    assert!(page.contains("How long a cache line takes"));
    let rows = csv_rows(&csv::run(&run).expect("CSV"));
    let of = |row: &&HashMap<String, String>| row["figure"] == "core_to_core";
    let row = rows.iter().find(of).expect("a line of its own");
    assert_eq!((row["low"].as_str(), row["high"].as_str()), ("120", "330"));
}

#[test]
fn what_is_found_of_a_latency_series_is_told_beside_it() {
    let latency = sample::kinds::latency("interrupt.signal_wait", &mut sample::Noise(1));
    let mut of_latency = result(
        identity("interrupt.signal_wait", "c/O2", "other", "same"),
        Outcome::Latency(latency),
    );
    let text = "no partner thread reported: policy and placement are not verified";
    of_latency.findings.push(finding(FindingKind::Note, text));
    let run = with(vec![of_latency]);
    let rows = csv_rows(&csv::run(&run).expect("CSV"));
    assert!(rows.iter().all(|row| row["findings"] == text));
    assert!(markdown::render(&compose(&run)).contains(text));
}

#[test]
fn tables_keep_within_the_terminal_and_break_no_word() {
    let options = TextOptions {
        width: 100,
        colour: false,
    };
    let page = render(&compose(&run(true)), options);
    let mut rules = page.lines().filter(|line| line.starts_with("──"));
    assert!(rules.all(|line| line.chars().count() <= 100));
    assert!(
        page.lines()
            .any(|line| line.starts_with(" elaborate alone "))
    );
}

#[test]
fn words_that_a_suite_marks_as_code_are_code_on_the_page_in_its_introduction_too() {
    let mut document = compose(&with(Vec::new()));
    document.subtitle = "Under `same` & all".into();
    let page = html::render(&document);
    assert!(
        page.contains("Under <code>same</code> &amp; all"),
        "no code in the introduction"
    );
}
