//! Processors moved between rounds: one remark with their distances.

use super::{moved, notes, run, tables};
use antiphon_lab::RunRecord;
use antiphon_report::compose;
use antiphon_report::document::Cell;

#[test]
fn processors_that_were_moved_are_told_of_once() {
    let reported = |run: &RunRecord| -> Vec<String> {
        let notes = notes(&compose(run), "group-over").into_iter();
        let texts = notes.map(|note| note.text.replace('\u{202f}', " "));
        texts.filter(|text| text.contains("a cache line")).collect()
    };
    let [text] = &reported(&moved())[..] else {
        panic!("{:?}", reported(&moved()))
    };
    let seen = "took 118 – 330 ns there and back, 122 ns in the median";
    assert!(text.contains(seen), "{text}");
    assert_eq!(reported(&run()), [""; 0]);
    let table = tables(&compose(&moved()), "group-over").remove(0);
    let Cell::Figure(cost) = &table.rows[0].cells[1] else {
        panic!("no figure in {:?}", table.rows[0]);
    };
    let seen = cost
        .detail
        .iter()
        .find(|fact| fact.label == "Core-to-core latency");
    assert!(
        seen.is_some_and(|seen| seen.text.contains("330")),
        "{cost:?}"
    );
}
