//! Context switches: the servers' waits and wake-ups a request, in a table and between runs.

use super::{run, tables, waits};
use antiphon_lab::{RunRecord, WaitsDiffer, agreements};
use antiphon_report::compose;
use antiphon_report::document::{Cell, Table, Unit};

#[test]
fn how_often_servers_are_woken_has_a_table() {
    let titled = |run: &RunRecord| -> Option<Table> {
        let mut all = tables(&compose(run), "group-over").into_iter();
        all.find(|table| table.title.contains("context switches"))
    };
    assert_eq!(titled(&run()), None);
    let table = titled(&waits([990, 1000, 20])).expect("it was counted");
    let Cell::Figure(waits) = &table.rows[0].cells[1] else {
        panic!("no figure in {:?}", table.rows[0]);
    };
    assert_eq!((waits.value, waits.unit), (0.99, Unit::Count));
    assert!(table.caption.contains("thousandth"), "{}", table.caption);
    // The uncounted switches of the other server are no zero.
    assert!(matches!(table.rows[1].cells[1], Cell::Empty));
}

#[test]
fn a_server_that_waited_more_often_in_one_run_is_named() {
    // It is the one that others are compared with.
    let with = |voluntary| waits([voluntary; 3]);
    let waited = |first: &RunRecord, second: &RunRecord| -> Vec<WaitsDiffer> {
        let all = agreements(first, second).into_iter();
        all.filter_map(|of| of.waited).collect()
    };
    let differ = WaitsDiffer {
        subject: "ada/tasks".into(),
        a_request: (0.02, 0.98),
    };
    assert_eq!(waited(&with(20), &with(980)), [differ]);
    assert_eq!(waited(&with(500), &with(600)), []);
    // An older run did not count them.
    assert_eq!(waited(&run(), &with(980)), []);
}
