//! Figures of subjects that were not warm are marked, and decide no claim about their time.

use crate::sample::{
    self, claim, empty_run, estimate, identity, result, round, section, tables, verdict,
};
use antiphon_lab::{
    CostRound, Costs, Held, HeldAfter, Outcome, ResultRecord, RunRecord, WarmSlice, WarmUp,
};
use antiphon_measure::Estimate;
use antiphon_report::compose;
use antiphon_report::document::{Block, Cell};

const SUITE: &str = include_str!("../../../../suites/sql.toml");
const ROWS: [u32; 4] = [1, 10, 100, 1000];
const ADA: &str = "sql-ada/sqlite";
const JAVA: &str = "sql-java/sqlite";

/// Returns Ada's and Java's costs, which are on the same line.
fn run() -> RunRecord {
    let mut run = empty_run();
    run.suite_toml = SUITE.to_owned();
    for subject in [ADA, JAVA] {
        run.results.extend(ROWS.map(|rows| {
            let cost = 2300.0 + 85.0 * f64::from(rows);
            frame(&format!("rows.{rows}"), subject, estimate(cost, cost / 1e3))
        }));
    }
    run
}

fn frame(test: &str, subject: &str, cost: Estimate) -> ResultRecord {
    let identity = identity(test, subject, "other", "same");
    result(identity, Outcome::Frame(Box::new(cost)))
}

fn held(mib: u64) -> HeldAfter {
    HeldAfter {
        start: 0,
        subject: Held {
            pss_bytes: mib << 20,
            ..Held::default()
        },
        server: None,
    }
}

/// Returns Ada beside Java, which was not warm in these tests.
fn cold(tests: &[&str]) -> RunRecord {
    let mut run = run();
    for result in &mut run.results {
        let is_java = result.identity.subject == JAVA;
        let each = if is_java { 9e3 } else { 1e3 };
        let rounds = (0..20).map(|number| CostRound {
            round: number,
            ..round(each, 0.0)
        });
        let holds = held(if is_java { 90 } else { 4 });
        result.costs = Some(Costs {
            rounds: rounds.collect(),
            held: vec![holds],
            ..Costs::default()
        });
        result.warm_ups = match is_java {
            true => vec![warm_up(!tests.contains(&&*result.identity.test))],
            false => Vec::new(),
        };
    }
    run
}

fn warm_up(is_warm: bool) -> WarmUp {
    WarmUp {
        round: 0,
        slices: vec![WarmSlice {
            at_ns: 100,
            cpu_ns: 9e3,
            per_second: 1.0,
            compiling: 0.0,
        }],
        is_warm,
    }
}

#[test]
fn a_claim_that_rests_on_a_subject_that_was_not_warm_is_undecided() {
    let of_cpu = "Ada takes the least processor time: less than Java (SQLite)";
    let verdict_of = |run: &RunRecord, text| verdict(&claim(run, text)).to_owned();
    let tests = ["rows.1", "rows.10", "rows.100", "rows.1000"];
    assert!(!verdict_of(&cold(&[]), of_cpu).contains("not warm"));
    let verdict = verdict_of(&cold(&tests), of_cpu);
    assert!(
        verdict.contains("undecided") && verdict.contains("not warm"),
        "{verdict}"
    );
    let of_time = "With SQLite and more than 500 rows Ada is faster than Java";
    assert_eq!(
        verdict_of(&cold(&["rows.1000"]), of_time),
        "undecided: not warm"
    );
    // A deviation is of all its tests.
    let of_line = "Ada is more predictable than Java: its curve";
    assert!(verdict_of(&cold(&["rows.10"]), of_line).contains("undecided: not warm"));
    let of_memory = "Java needs ten times more memory than Ada";
    assert_eq!(
        verdict_of(&cold(&["rows.1000"]), of_memory),
        "yes (not warm)"
    );
    assert_eq!(verdict_of(&cold(&[]), of_memory), "yes");
}

#[test]
fn what_was_not_warm_is_marked_in_its_column_and_told_once_with_its_tests() {
    let document = compose(&cold(&["rows.10", "rows.1000"]));
    let group = section(&document, "group-queries");
    let mut seen = Vec::new();
    for table in tables(group) {
        for row in &table.rows {
            for (column, cell) in table.columns.iter().zip(&row.cells) {
                let Cell::Figure(figure) = cell else { continue };
                let is_marked = figure.marks.iter().any(|mark| mark.word == "not warm");
                let is_of_java = column.title == JAVA || row.place.starts_with(JAVA);
                let is_cold = row.label.ends_with(" 10") || row.label.ends_with(" 1000");
                // Of the folded table it is the processor time.
                let is_time = !table.folded
                    || ["CPU", "of both", "both"]
                        .iter()
                        .any(|of| column.title.starts_with(of));
                assert_eq!(
                    is_marked,
                    is_of_java && is_cold && is_time,
                    "{} {}: {cell:?}",
                    table.title,
                    row.label
                );
                seen.push(is_marked);
            }
        }
    }
    assert!(seen.contains(&true) && seen.contains(&false));
    let notes: Vec<_> = section(&document, "spent-warm-up")
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Notes { notes } => Some(notes.clone()),
            _ => None,
        })
        .flatten()
        .collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert_eq!(notes[0].about, JAVA);
    assert!(notes[0].text.contains("in 2 of 4 tests"), "{notes:?}");
    assert!(
        notes[0]
            .text
            .contains("SELECT * FROM … LIMIT 10, SELECT * FROM … LIMIT 1000"),
        "{notes:?}"
    );
}

#[test]
fn a_cost_that_may_be_nothing_has_no_ratio_to_its_twin() {
    let of = |cost: f64| {
        let mut run = run();
        let twin = format!("{ADA} (again)");
        run.results
            .push(frame("rows.1000", &twin, estimate(cost, 5.0)));
        let document = compose(&run);
        let table = tables(section(&document, "spent-same"))[0].clone();
        table.rows[0].cells[0].clone()
    };
    assert!(matches!(of(90_000.0), Cell::Figure(_)));
    assert!(matches!(of(-90_000.0), Cell::Missing { reason } if reason.contains("no ratio")));
}

#[test]
fn what_compilers_use_is_told_beside_processor_time() {
    let mut run = cold(&[]);
    run.subjects = sample::many_subjects();
    run.subjects[0].language = "Java".into();
    let document = compose(&run);
    let of_processors = tables(section(&document, "group-queries"));
    let of_processors = of_processors
        .iter()
        .filter(|table| table.title.contains("processor time"));
    let captions: Vec<&str> = of_processors.map(|table| table.caption.as_str()).collect();
    assert_eq!(captions.len(), 2);
    for caption in captions {
        assert!(
            caption.contains("HotSpot’s") && caption.contains("V8’s"),
            "{caption}"
        );
    }
}
