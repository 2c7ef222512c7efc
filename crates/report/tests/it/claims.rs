//! Findings from elsewhere: figures that do not tell neither confirm nor deny them.

use crate::sample::{
    claim, drawn, empty_run, estimate, identity, result, round, section, tables, verdict,
};
use antiphon_lab::{
    CostRound, Costs, Foreign, Held, HeldAfter, Outcome, ResultRecord, RunRecord, ServerHeld,
};
use antiphon_measure::Estimate;
use antiphon_report::compose;
use antiphon_report::document::{Block, Cell};

const SUITE: &str = include_str!("../../../../suites/sql.toml");
const ROWS: [u32; 4] = [1, 10, 100, 1000];
const ADA: &str = "sql-ada/sqlite";
const JAVA: &str = "sql-java/sqlite";

/// Returns Ada's and Java's costs, with relative deviations from a line and a relative error.
fn run(off: [(&str, f64); 2], known_to: f64) -> RunRecord {
    let mut run = empty_run();
    run.suite_toml = SUITE.to_owned();
    for (subject, off) in off {
        for (at, rows) in ROWS.iter().enumerate() {
            let sign = if at % 2 == 0 { 1.0 } else { -1.0 };
            let cost = (2300.0 + 85.0 * f64::from(*rows)) * (1.0 + sign * off);
            let cost = estimate(cost, cost * known_to);
            run.results
                .push(frame(&format!("rows.{rows}"), subject, cost));
        }
    }
    run
}

fn frame(test: &str, subject: &str, cost: Estimate) -> ResultRecord {
    let identity = identity(test, subject, "other", "same");
    result(identity, Outcome::Frame(Box::new(cost)))
}

#[test]
fn what_is_more_predictable_is_undecided_where_the_costs_do_not_tell() {
    let claimed = "Ada is more predictable than Java";
    let off = [(ADA, 0.01), (JAVA, 0.04)];
    assert_eq!(verdict(&claim(&run(off, 0.001), claimed)), "yes");
    assert_eq!(verdict(&claim(&run(off, 0.05), claimed)), "undecided");
    let off = [(ADA, 0.04), (JAVA, 0.01)];
    assert_eq!(verdict(&claim(&run(off, 0.001), claimed)), "no");
    assert_eq!(verdict(&claim(&run(off, 0.05), claimed)), "undecided");
}

#[test]
fn what_others_disturbed_is_named_beside_the_verdict() {
    let claimed = "Ada is more predictable than Java";
    let mut run = run([(ADA, 0.01), (JAVA, 0.04)], 0.001);
    let much = Foreign {
        share: 0.5,
        foreign_ns: 1e9,
        stopped_ns: 0.0,
        attempts: 1,
    };
    // One of the results that the deviation is of, in one of two starts: not in most.
    let java = run
        .results
        .iter_mut()
        .rfind(|of| of.identity.subject == JAVA);
    java.expect("one of Java").foreign = vec![much, Foreign::default()];
    assert_eq!(verdict(&claim(&run, claimed)), "yes");
    let java = run
        .results
        .iter_mut()
        .rfind(|of| of.identity.subject == JAVA);
    java.expect("one of Java").foreign = vec![much, much];
    assert_eq!(verdict(&claim(&run, claimed)), "yes (disturbed)");
}

#[test]
fn the_largest_memory_of_a_server_of_several_processes_is_not_drawn() {
    let drawn = |processes: u64| {
        let mut run = run([(ADA, 0.0), (JAVA, 0.0)], 0.001);
        for result in &mut run.results {
            let server = Held {
                processes,
                ..held(30)
            };
            result.costs = Some(after(held(4), Some(server)));
        }
        let document = compose(&run);
        let plots = drawn(section(&document, "spent-memory")).into_iter();
        let series = plots.flat_map(|plot| &plot.series);
        series.map(|series| series.points.len()).collect::<Vec<_>>()
    };
    // There are two subjects and the server: their held memory, and their largest.
    assert_eq!(drawn(1), [3, 3]);
    assert_eq!(drawn(7), [3, 2]);
}

#[test]
fn processor_time_is_marked_by_what_disturbed_its_own_turns() {
    let claimed = "Ada takes the least processor time: less than Java (SQLite)";
    let much = Foreign {
        share: 0.5,
        foreign_ns: 1e9,
        stopped_ns: 0.0,
        attempts: 1,
    };
    let of = |frame: Foreign, turns: Foreign, slowed: f64| {
        let mut run = run([(ADA, 0.0), (JAVA, 0.0)], 0.001);
        for result in &mut run.results {
            let is_ada = result.identity.subject == ADA;
            let rounds = (0..20).map(|number| CostRound {
                round: number,
                ..round(if is_ada { 1e3 } else { 9e3 }, slowed)
            });
            result.foreign = vec![frame];
            result.costs = Some(Costs {
                rounds: rounds.collect(),
                foreign: vec![turns],
                ..Costs::default()
            });
        }
        run
    };
    let calm = Foreign::default();
    let verdict_of = |run: &RunRecord| verdict(&claim(run, claimed)).to_owned();
    let words = ["disturbed", "slowed"];
    let weakened = |run: RunRecord| words.map(|word| verdict_of(&run).contains(word));
    assert_eq!(weakened(of(much, calm, 0.0)), [false, false], "its time is");
    assert_eq!(weakened(of(calm, much, 0.0)), [true, false]);
    assert_eq!(weakened(of(calm, calm, 0.2)), [false, true]);
    let marks = |run: &RunRecord| -> Vec<Vec<String>> {
        let document = compose(run);
        let groups = document.sections.iter();
        let tables = groups.flat_map(|section| tables(section));
        let of_subject =
            tables.filter(|table| table.title.ends_with("of the subject per operation"));
        let cells = of_subject
            .flat_map(|table| &table.rows)
            .flat_map(|row| &row.cells);
        let figures = cells.filter_map(|cell| match cell {
            Cell::Figure(figure) => Some(&figure.marks),
            _ => None,
        });
        figures
            .map(|marks| marks.iter().map(|mark| mark.word.clone()).collect())
            .collect()
    };
    let all = |run: &RunRecord, words: &[&str]| {
        let marks = marks(run);
        assert!(!marks.is_empty());
        assert!(marks.iter().all(|of| of == words), "{marks:?}");
    };
    all(&of(much, calm, 0.0), &[]);
    all(&of(calm, much, 0.2), &["disturbed", "slowed"]);
    // A run that did not watch its turns says nothing of them.
    let mut old = of(much, calm, 0.0);
    for result in &mut old.results {
        result.costs.as_mut().unwrap().foreign.clear();
    }
    all(&old, &[]);
}

#[test]
fn a_time_of_one_block_decides_nothing() {
    let claimed = "With SQLite and more than 500 rows Ada is faster than Java";
    let of = |blocks: usize| {
        let mut run = run([(ADA, 0.0), (JAVA, 0.0)], 0.001);
        run.results.retain(|of| of.identity.subject == ADA);
        let mut java = estimate(200_000.0, 5.0);
        java.blocks = blocks;
        java.open_if_one_block();
        run.results.push(frame("rows.1000", JAVA, java));
        run
    };
    assert_eq!(verdict(&claim(&of(2), claimed)), "yes");
    let row = claim(&of(1), claimed);
    assert_eq!(verdict(&row), "undecided");
    let Cell::Text { text } = &row.cells[1] else {
        panic!("{row:?}");
    };
    assert!(text.contains("to ∞"), "{text}");
}

/// Returns the memory of processes after a test.
fn held(mib: u64) -> Held {
    Held {
        pss_bytes: mib << 20,
        ..Held::default()
    }
}

fn after(subject: Held, server: Option<Held>) -> Costs {
    let server = server.map(|held| ServerHeld {
        name: "a server".into(),
        held,
    });
    Costs {
        held: vec![HeldAfter {
            start: 0,
            subject,
            server,
        }],
        ..Costs::default()
    }
}

#[test]
fn memory_of_one_start_is_not_exact() {
    let claimed = "Java needs ten times more memory than Ada";
    let of = |java: u64| {
        let mut run = run([(ADA, 0.0), (JAVA, 0.0)], 0.001);
        for result in &mut run.results {
            let is_ada = result.identity.subject == ADA;
            let own = if is_ada { 4 } else { java };
            result.costs = Some(after(held(own), None));
        }
        run
    };
    assert_eq!(verdict(&claim(&of(42), claimed)), "undecided");
    assert_eq!(verdict(&claim(&of(90), claimed)), "yes");
}

#[test]
fn a_server_s_memory_is_not_its_subject_s() {
    let claimed = "MariaDB's server holds more memory";
    let of = |maria: u64| {
        let sides = [("sql-ada/mariadb", maria), ("sql-ada/postgresql", 30)];
        let mut run = run(sides.map(|(subject, _)| (subject, 0.0)), 0.001);
        for result in &mut run.results {
            let own = sides.iter().find(|(of, _)| *of == result.identity.subject);
            let server = held(own.expect("a side").1);
            result.costs = Some(after(held(9), Some(server)));
        }
        run
    };
    assert_eq!(verdict(&claim(&of(120), claimed)), "yes");
    assert_eq!(verdict(&claim(&of(10), claimed)), "no");
}

/// Returns the remarks on Ada's memory in one test, with these sizes after each round of two
/// starts, in MiB.
fn grown(starts: [&[u64]; 2]) -> Vec<String> {
    grown_but(starts, 0, 1)
}

/// Returns the same remarks, with growth of earlier reservations after each round, and with
/// repeated turns.
fn grown_but(starts: [&[u64]; 2], walked_mib: u64, taken: u32) -> Vec<String> {
    let mut run = run([(ADA, 0.0), (JAVA, 0.0)], 0.001);
    let mut costs = after(held(9), None);
    for (start, readings) in (0..).zip(starts) {
        let round = |(round, mib): (u32, &u64)| CostRound {
            start,
            round,
            iterations: 1 << 20,
            subject_ns: 1.0,
            server_ns: None,
            wall_ns: 1.0,
            time_ns: None,
            step_ns: 0.0,
            slowed: 0.0,
            held_bytes: mib << 20,
            walked_bytes: (u64::from(round) * walked_mib) << 20,
            taken,
        };
        costs.rounds.extend((0..).zip(readings).map(round));
    }
    run.results[0].costs = Some(costs);
    let document = compose(&run);
    let blocks = section(&document, "spent-memory").blocks.iter();
    let notes = blocks.filter_map(|block| match block {
        Block::Notes { notes } => Some(notes),
        _ => None,
    });
    notes.flatten().map(|note| note.text.clone()).collect()
}

#[test]
fn a_subject_that_holds_more_after_each_round_is_named() {
    let leaks = [10, 15, 20, 25, 30, 35];
    let [reported] = &grown([&leaks, &leaks])[..] else {
        panic!("{:?}", grown([&leaks, &leaks]));
    };
    // 25 MiB in five rounds of two and a half slices of a mebi of iterations.
    assert!(
        reported.contains("2.00\u{202f}B an operation"),
        "{reported}"
    );
    assert!(reported.contains("antiphon profile sql-ada/sqlite rows.1"));
    // One start did not; it was swept; it settled; it hardly grew; too few rounds; it was not read.
    let settles = [10, 20, 25, 27, 28, 29];
    for (first, second) in [
        (leaks, [10, 15, 20, 25, 30, 30]),
        ([10, 15, 20, 12, 17, 22], leaks),
        (settles, settles),
        ([1000, 1001, 1002, 1003, 1004, 1005], leaks),
        ([0; 6], [0; 6]),
    ] {
        let reported = grown([&first, &second]);
        assert!(reported.is_empty(), "{first:?}: {reported:?}");
    }
    assert!(grown([&leaks[..5], &leaks[..5]]).is_empty());
    // It filled its earlier reservation, or leaked beside that.
    assert!(grown_but([&leaks, &leaks], 5, 1).is_empty());
    assert!(grown_but([&leaks, &leaks], 2, 1)[0].contains("1.20\u{202f}B an operation"));
    // A short start says nothing against the other one.
    assert_eq!(grown([&leaks, &leaks[..2]]).len(), 1);
}

#[test]
fn what_was_reckoned_is_not_told_as_read() {
    let leaks = [10, 15, 20, 25, 30, 35];
    let again = "as if each turn had been taken once";
    let walked = "without memory that was reserved before";
    for (walked_mib, taken, second, says) in [
        (0, 1, "15.0", [false, false]),
        (0, 2, "12.5", [true, false]),
        (2, 1, "13.0", [false, true]),
        (2, 2, "11.5", [true, true]),
    ] {
        let reported = &grown_but([&leaks, &leaks], walked_mib, taken)[0];
        let readings = format!("10.0\u{202f}MiB, {second}\u{202f}MiB");
        assert!(reported.contains(&readings), "{reported}");
        assert_eq!(
            [again, walked].map(|part| reported.contains(part)),
            says,
            "{reported}"
        );
    }
}
