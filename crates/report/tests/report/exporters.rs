//! The other formats: what is in them, and that a subject's words do no harm in any.

use crate::sample::{
    self, compared::comparison, empty_run, estimate, finding, identity, parts, result, run,
};
use antiphon_lab::{CoreToCore, LiveRow, Outcome, ResultRecord, RunRecord};
use antiphon_measure::{ComparisonSettings, FindingKind, PairEstimate, Stopped};
use antiphon_report::comparison::{Comparison, Side, Verdict};
use antiphon_report::document::{Block, Cell};
use antiphon_report::export::live::{LiveTable, one_line};
use antiphon_report::export::text::{TextOptions, render, render_tables, summary};
use antiphon_report::export::{csv, html, json, markdown, xlsx};
use antiphon_report::{compose, compose_comparison};
use std::collections::HashMap;

const PLAIN: TextOptions = TextOptions {
    width: 120,
    colour: false,
};

fn frame(test: &str, subject: &str, cost: f64) -> ResultRecord {
    result(
        identity(test, subject, "other", "same"),
        Outcome::Frame(Box::new(estimate(cost, 0.05))),
    )
}

fn absent(test: &str, reason: &str) -> ResultRecord {
    let outcome = Outcome::Absent {
        reason: reason.into(),
        mend: "apt install gnat".into(),
        last_words: "bash: gnatmake: command not found\n".into(),
        listed: false,
    };
    result(identity(test, "ada/O2", "other", "same"), outcome)
}

fn with(results: Vec<ResultRecord>) -> RunRecord {
    RunRecord {
        results,
        ..empty_run()
    }
}

/// CSV lines as maps from heading to field.
fn csv_rows(text: &str) -> Vec<HashMap<String, String>> {
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    reader
        .deserialize()
        .collect::<Result<_, _>>()
        .expect("sound CSV")
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
    let told = "132\u{202f}µs (98 to 5900)";
    let line = one_line("inter", &uneven);
    assert!(line.contains("132 µs (98 to 5900)"), "{line}");
    let run = with(vec![uneven]);
    let document = compose(&run);
    for text in [render(&document, PLAIN), markdown::render(&document)] {
        assert!(text.contains(told) && !text.contains("132 ±"), "{text}");
    }
    let page = html::render(&document);
    let shown = r#"<span class="value">132</span> <span class="unit">µs</span> <span class="limits">(98 to 5900)</span>"#;
    assert!(page.contains(shown), "{page}");
    // The evidence tells the limits once.
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
        !costs.is_empty() && costs.iter().all(|of| of.text == told),
        "{costs:?}"
    );
    // What programs read has each number in a place of its own, as ever.
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

/// A run of one test, four starts of which cost about this factor of what is usual.
fn one_test(factor: f64) -> RunRecord {
    let mut record = frame("call.inter.none", "ada/O2", 20.0 * factor);
    let Outcome::Frame(e) = &record.outcome else {
        panic!("a frame")
    };
    let start = |n: i32| {
        let mut e = (**e).clone();
        e.log_ratio_to_reference = Some(sample::interval(factor.ln() + f64::from(n) * 1e-3, 1e-4));
        e.cost_ns = sample::interval(20.0 * factor * (1.0 + f64::from(n) * 1e-3), 0.01);
        e
    };
    record.starts = (0..4).map(start).collect();
    with(vec![record])
}

/// Two runs of one test, the second dearer by this factor.
fn compared(factor: f64) -> Comparison {
    let (mut a, b) = (one_test(1.0), one_test(factor));
    a.results.push(frame("call.intra.none", "ada/O2", 2.0));
    let settings = ComparisonSettings::default();
    let rows = antiphon_lab::compare_runs(&a, &b, &[], &settings);
    Comparison::of_runs(&a, &b, &rows, &settings)
}

#[test]
fn two_runs_are_compared_by_the_laboratory_and_labelled_by_their_suite() {
    let dearer = compared(1.5);
    assert_eq!(dearer.rows[0].verdict, Verdict::Dearer);
    assert_eq!(dearer.rows[0].group, "Subprogram calls");
    assert_eq!(
        dearer.rows[0].label,
        "inter, no parameters · ada/O2 · other, same"
    );
    assert_eq!(compared(1.0).rows[0].verdict, Verdict::Same);
    assert_eq!(dearer.rows[1].verdict, Verdict::Missing);
    assert!(dearer.rows[1].note.contains("the second run has no figure"));
}

/// A run whose suite cannot be read.
fn without_suite() -> RunRecord {
    RunRecord {
        suite_toml: "this is not a suite".into(),
        ..with(vec![frame("call.inter.none", "ada/O2", 1.75)])
    }
}

/// What says so of its first line.
const UNREAD: &str = "the suite kept with the run:1";

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
fn a_comparison_says_in_every_format_that_the_first_suite_cannot_be_read() {
    let (sound, unread) = (run(false), without_suite());
    let settings = ComparisonSettings::default();
    let of = |a, b| {
        let rows = antiphon_lab::compare_runs(a, b, &[], &settings);
        Comparison::of_runs(a, b, &rows, &settings)
    };
    let formats = |of: &Comparison| {
        [
            render(&compose_comparison(of), PLAIN),
            json::comparison(of).expect("JSON"),
            csv::comparison(of).expect("CSV"),
        ]
    };
    for text in formats(&of(&unread, &sound)) {
        assert!(text.contains(UNREAD), "{text}");
    }
    // Nothing is taken from the second.
    for text in formats(&of(&sound, &unread)) {
        assert!(!text.contains(UNREAD), "{text}");
    }
}

#[test]
fn an_agreement_says_that_the_first_suite_cannot_be_read() {
    let told = |first: &RunRecord| {
        let document = antiphon_report::compose_agreement(&[], 0.1, first, 2);
        render(&document, PLAIN).contains(UNREAD)
    };
    assert_eq!((told(&without_suite()), told(&run(false))), (true, false));
}

/// Two runs of one test, the second dearer by half, each on processors that were apart as given.
fn compared_across(before_ns: &[f64], after_ns: &[f64]) -> Comparison {
    let across = |core_to_core_ns: &[f64], factor: f64| {
        let mut run = one_test(factor);
        run.results[0].core_to_core_ns = read(core_to_core_ns);
        run
    };
    let (a, b) = (across(before_ns, 1.0), across(after_ns, 1.5));
    let settings = ComparisonSettings::default();
    let rows = antiphon_lab::compare_runs(&a, &b, &[], &settings);
    Comparison::of_runs(&a, &b, &rows, &settings)
}

fn read(core_to_core_ns: &[f64]) -> Vec<CoreToCore> {
    let of_start = |(start, ns): (usize, &f64)| CoreToCore {
        start: start as u32,
        before: Some(*ns),
        after: None,
    };
    core_to_core_ns.iter().enumerate().map(of_start).collect()
}

#[test]
fn what_differs_between_processors_at_another_distance_is_no_regression() {
    let moved = compared_across(&[120.0, 121.0], &[330.0, 330.0]);
    assert_eq!(moved.rows[0].verdict, Verdict::Incomparable);
    assert!(
        moved.rows[0]
            .note
            .starts_with("the processors were 330 ns apart, 120 before"),
        "{}",
        moved.rows[0].note
    );
    let document = compose_comparison(&moved);
    let told: Vec<&str> = document.summary.iter().map(|n| n.about.as_str()).collect();
    assert_eq!(told, ["", "Processors moved"]);
    assert!(document.summary[0].text.contains("0 dearer"));
    assert!(document.summary[0].text.contains("1 not comparable"));
    let page = render(&document, PLAIN);
    assert!(page.contains("not comparable"), "{page}");
    let rows = csv_rows(&csv::comparison(&moved).expect("CSV"));
    assert_eq!(rows[0]["verdict"], "incomparable");
}

#[test]
fn processors_at_one_distance_change_no_verdict() {
    for (before, after) in [(&[120.0][..], &[130.0][..]), (&[], &[330.0]), (&[], &[])] {
        let compared = compared_across(before, after);
        assert_eq!(compared.rows[0].verdict, Verdict::Dearer);
        assert_eq!(compared.rows[0].note, "");
    }
    // Most starts of both runs were alike: the verdict stands, and that the first was not all of one kind stands beside it.
    let mixed = compared_across(&[120.0, 330.0, 330.0], &[330.0]);
    assert_eq!(mixed.rows[0].verdict, Verdict::Dearer);
    assert!(
        mixed.rows[0].note.contains("120 ns apart at one time"),
        "{}",
        mixed.rows[0].note
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
fn a_side_tells_for_which_subjects_slices_were_long_and_whether_processors_slept() {
    let before = run(false);
    let mut after = before.clone();
    let own = |of: &&mut ResultRecord| of.identity.subject == "ada/O2";
    let result = after.results.iter_mut().find(own).expect("it was measured");
    result.costs = Some(antiphon_lab::Costs {
        slice_ms: Some(64),
        awake: true,
        ..Default::default()
    });
    let compared = Comparison::of_runs(&before, &after, &[], &ComparisonSettings::default());
    let shown = render(&compose_comparison(&compared), PLAIN);
    for told in [
        "ada/O2: processor time by slices of 64 ms, as its file says",
        "processor time with processors kept awake while turns waited",
    ] {
        let tells = |side: &Side| side.lines.iter().any(|line| line == told);
        assert_eq!(
            (tells(&compared.before), tells(&compared.after)),
            (false, true)
        );
        assert!(shown.contains(told), "{shown}");
    }
}

#[test]
fn interleaved_builds_are_judged_by_their_own_interval() {
    let pair = |log: f64| PairEstimate {
        log_ratio: sample::interval(log, 0.002),
        ratio: sample::interval(log.exp(), 0.002),
        cost_difference_ns: None,
        test_ns: (20.0, 20.0 * log.exp()),
        control_ns: None,
        iterations: (1000, 1000),
        blocks: 400,
        stopped: Stopped::IntervalReached,
        findings: Vec::new(),
    };
    let row = |outcome| LiveRow {
        test: "self.dearer".into(),
        arg: None,
        outcome,
    };
    let hung = antiphon_lab::Absence {
        reason: "it hung".into(),
        mend: String::new(),
        last_words: String::new(),
        listed: false,
    };
    let rows = [
        row(Ok(pair(0.049))),
        row(Ok(pair(0.0))),
        row(Ok(pair(0.0105))),
        row(Err(hung)),
    ];
    let side = |name: &str| Side {
        name: name.into(),
        lines: Vec::new(),
    };
    let found = Comparison::of_live(side("old"), side("new"), &rows, 0.01, 0.95);
    let verdicts: Vec<Verdict> = found.rows.iter().map(|row| row.verdict).collect();
    assert_eq!(
        verdicts,
        [
            Verdict::Dearer,
            Verdict::Same,
            Verdict::Undecided,
            Verdict::Missing
        ]
    );
    assert_eq!(found.rows[3].note, "it hung");
}

#[test]
fn a_comparison_shows_verdicts_ratios_and_the_worst() {
    let comparison = comparison();
    let document = compose_comparison(&comparison);
    assert_eq!(document.title, "run 8 against run 7");
    let counts = "5 rows compared: 1 dearer, 1 cheaper, 1 the same, 1 undecided, 1 without a figure on one side.";
    assert_eq!(document.summary[0].text, counts);
    assert_eq!(
        document.summary[1].text.replace('\u{202f}', " "),
        "simple (+19.0 %)"
    );
    let page = html::render(&document);
    assert!(page.contains("1.19") && page.contains("no figure: the subject hung"));
    let rows = csv_rows(&csv::comparison(&comparison).expect("CSV"));
    assert_eq!(
        (rows[3]["verdict"].as_str(), rows[4]["after_ns"].as_str()),
        ("dearer", "")
    );
    let json = json::comparison(&comparison).expect("JSON");
    assert!(json.contains("\"schema\": \"antiphon.comparison\""));
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
