//! Claims about servers: judged within rounds, against one another or alone, and not tried without
//! a server.

use super::{changed, of, run, tables, verdicts};
use antiphon_lab::Outcome;
use antiphon_report::compose;
use antiphon_report::document::Cell;

#[test]
fn claims_are_judged_within_rounds() {
    let table = &tables(&compose(&run()), "load-claims")[0];
    let text = |row: usize, column: usize| match &table.rows[row].cells[column] {
        Cell::Text { text } => text.clone(),
        other => panic!("no text in {other:?}"),
    };
    // Its server starves connections, which stands beside the verdict.
    assert_eq!(text(0, 0), "yes (starves)");
    assert!(text(0, 1).contains("published"), "{}", text(0, 1));
    // 5000 of 10 000 in one load is too much; 5000 of 12 000 in the other, too.
    let last = table.rows.len() - 1;
    assert!(
        text(last, 0).starts_with("no: in 0 of 2"),
        "{}",
        text(last, 0)
    );
}

#[test]
fn claims_of_figures_by_themselves_have_limits_in_their_own_units() {
    let run = run();
    let verdicts = verdicts(&run);
    // The memory of one start is known to a quarter, and another one may hold more than these nine.
    assert_eq!(verdicts["At most ten megabytes"], "undecided");
    let mut twice = run.clone();
    let aws = of(&mut twice, 2);
    aws.again = aws.rounds.clone();
    assert_eq!(self::verdicts(&twice)["At most ten megabytes"], "yes");
    assert_eq!(verdicts["Grizzly in as much"], "no (starves)");
    assert_eq!(verdicts["Nobody starves"], "yes, in all 2");
    assert_eq!(verdicts["Nor here"], "no (starves)");
    let table = tables(&compose(&run), "load-claims").remove(0);
    let row = table
        .rows
        .iter()
        .find(|row| row.label == "Nor here")
        .unwrap();
    assert_eq!(row.place, "starved of java/grizzly: at most 0");
    let row = table
        .rows
        .iter()
        .find(|row| row.label == "Grizzly in as much");
    let (Cell::Text { text }, place) = (&row.unwrap().cells[1], &row.unwrap().place) else {
        panic!("{row:?}");
    };
    assert!(
        text.starts_with("200\u{202f}MiB") && place.ends_with("at most 9.54\u{202f}MiB"),
        "{text}, {place}"
    );
    // The machine may have starved them instead, so the claims are undecided.
    let mut beside = changed(&[0], 3, |_| ());
    of(&mut beside, 3).rounds[1].starved = vec![0];
    of(&mut beside, 2).rounds[1].starved = vec![0];
    let verdicts = self::verdicts(&beside);
    assert_eq!(verdicts["Nor here"], "undecided");
    assert_eq!(verdicts["Nobody starves"], "in 1 of 2, 1 undecided");
}

#[test]
fn a_claim_about_a_server_that_is_missing_is_not_tried() {
    for missing in [2, 3] {
        let mut run = run();
        run.results[missing].outcome = Outcome::Absent {
            reason: "it is not here".into(),
            help: String::new(),
            last_words: String::new(),
            listed: false,
        };
        let verdicts = verdicts(&run);
        assert!(!verdicts.contains_key("Twice the requests"), "{verdicts:?}");
        assert_eq!(verdicts.contains_key("Nor here"), missing == 2);
    }
}
