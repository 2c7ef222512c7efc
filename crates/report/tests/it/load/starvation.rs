//! Starved connections and unseen freezes, with their cause: the server, or possibly the machine.

use super::{notes, of, run, tables};
use antiphon_lab::RunRecord;
use antiphon_report::compose;
use antiphon_report::document::{Cell, Note, Weight};

#[test]
fn starved_connections_and_an_unseen_freeze_are_told() {
    let notes = notes(&compose(&run()), "group-over");
    let starved = notes
        .iter()
        .find(|note| note.text.contains("starved"))
        .unwrap();
    assert!(
        starved
            .text
            .contains("in 2 of 3 rounds connections were starved, at worst 2 of 64 (1, 8)"),
        "{}",
        starved.text
    );
    assert_eq!(starved.weight, Weight::Warning);
    // One that fails counts, wherever among the others it is.
    let freeze = notes.iter().find(|note| note.weight == Weight::Error);
    let freeze = &freeze.expect("an error").text;
    assert!(
        freeze.contains("did not see a freeze: 2 of 3 were seen") && freeze.contains("5.00"),
        "{freeze}"
    );
}

/// Returns the note on a server that starves in one of its rounds, and whether its figures are
/// marked.
fn starving_once(change: impl Fn(&mut RunRecord)) -> (Note, bool) {
    let mut run = run();
    of(&mut run, 3).rounds[2].starved.clear();
    change(&mut run);
    let document = compose(&run);
    let notes = notes(&document, "group-over");
    let reported = notes
        .into_iter()
        .find(|note| note.about.contains("java/grizzly") && note.text.contains("starved"));
    let tables = tables(&document, "group-over");
    let row = tables[0]
        .rows
        .iter()
        .find(|row| row.label == "java/grizzly");
    let Some(Cell::Figure(cost)) = row.and_then(|row| row.cells.last()) else {
        panic!("no figure in {row:?}");
    };
    let marked = cost.marks.iter().any(|mark| mark.word == "starves");
    (reported.expect("it is told"), marked)
}

#[test]
fn a_server_that_starves_alone_is_not_excused() {
    let (note, marked) = starving_once(|_| ());
    assert!(note.text.contains("it is this server"), "{}", note.text);
    assert!(note.weight == Weight::Warning && marked);
}

#[test]
fn starving_beside_others_may_be_the_machine_s() {
    let (note, marked) = starving_once(|run| of(run, 0).rounds[1].starved = vec![0]);
    assert!(note.text.contains("the machine"), "{}", note.text);
    assert!(note.weight == Weight::Info && !marked);
    // A server that always starves excuses no other.
    let (note, _) = starving_once(|run| {
        for round in &mut of(run, 2).rounds {
            round.starved = vec![0];
        }
    });
    assert!(note.text.contains("it is this server"), "{}", note.text);
    let (note, marked) =
        starving_once(|run| run.results.retain(|of| of.identity.subject != "ada/tasks"));
    assert!(
        note.text.contains("No other server took turns"),
        "{}",
        note.text
    );
    assert!(note.weight == Weight::Info && !marked);
}

#[test]
fn rounds_of_the_second_start_count() {
    let (note, marked) = starving_once(|run| {
        of(run, 0).rounds[1].starved = vec![0];
        let again = of(run, 3).rounds.clone();
        of(run, 3).again = again;
        for round in &mut of(run, 3).again {
            round.starved = vec![4, 5, 6];
        }
    });
    assert!(
        note.text.contains("in 4 of 6 rounds of its two starts")
            && note.text.contains("at worst 3 of 64"),
        "{}",
        note.text
    );
    assert!(note.weight == Weight::Warning && marked);
}
