//! Servers that were started twice: how much the two starts differ, and a second start that failed.

use super::{notes, of, run, tables};
use antiphon_lab::Absence;
use antiphon_report::compose;
use antiphon_report::document::{Cell, Weight};

#[test]
fn a_second_start_that_failed_is_told() {
    let mut run = run();
    of(&mut run, 0).again_failed = Some(Absence {
        reason: "the server ended under load".into(),
        help: "mend the server".into(),
        last_words: String::new(),
        listed: false,
    });
    let notes = notes(&compose(&run), "group-over");
    let reported = notes.iter().find(|note| note.text.contains("second start"));
    let reported = reported.expect("it is told");
    assert!(
        reported
            .text
            .contains("after 3 rounds: the server ended under load"),
        "{}",
        reported.text
    );
    assert_eq!(reported.weight, Weight::Warning);
}

#[test]
fn a_server_that_was_started_twice_shows_the_noise() {
    let document = compose(&run());
    let [cpu, rate] = &tables(&document, "load-noise")[..] else {
        panic!("two tables");
    };
    let [row] = &cpu.rows[..] else {
        panic!("one load was measured twice: {:?}", cpu.rows);
    };
    let [Cell::Figure(share)] = &row.cells[..] else {
        panic!("one server was started twice: {:?}", row.cells);
    };
    assert!((share.value - 1.02).abs() < 1e-9, "{}", share.value);
    assert!(cpu.caption.contains("2.00"), "{}", cpu.caption);
    assert!(rate.title.starts_with("Requests a second"));
    let full = tables(&document, "group-over");
    let full = full.iter().find(|table| table.folded).unwrap();
    assert!(full.caption.contains("ada/tasks 1.02"), "{}", full.caption);
}
