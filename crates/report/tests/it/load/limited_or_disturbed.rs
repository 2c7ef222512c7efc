//! Rounds that the generator may have limited or that others disturbed: figures are marked, and
//! verdicts say so or are undecided.

use super::{changed, tables, verdicts};
use antiphon_lab::{ClosedLoop, LoadRound, RunRecord};
use antiphon_report::compose;
use antiphon_report::document::Cell;

/// Tests a limited closed loop: a part of the generator's rate is no part of the server's capacity.
#[test]
fn a_closed_loop_that_the_generator_limited_marks_its_parts() {
    let mut round = LoadRound {
        generator_share: 0.5,
        ..LoadRound::default()
    };
    assert!(!round.generator_was_busy());
    round.closed = Some(ClosedLoop {
        per_second: 1.0,
        generator_share: 0.95,
        generator_limited: false,
    });
    assert!(round.generator_was_busy());
    // Others had its processor.
    round.closed = None;
    assert!(!round.generator_was_busy());
    round.generator_limited = true;
    assert!(round.generator_was_busy());
}

#[test]
fn what_the_generator_may_have_limited_is_undecided() {
    let busy = |round: &mut LoadRound| round.generator_share = 0.99;
    let quiet = verdicts(&changed(&[], 0, busy));
    assert_eq!(quiet["Twice the requests"], "yes");
    assert_eq!(quiet["Half the latency"], "no: in 0 of 2");
    // Without the limit the server would answer more, and sooner. It might then exceed twice the
    // other's rate, and need less than half its time. If the limit is the other's, the reverse
    // holds.
    let (undecided, partly) = (
        "undecided: the generator’s limit",
        "no: in 0 of 2, 1 undecided (1 by the generator’s limit)",
    );
    let cases: [(&[usize], usize, [&str; 2]); 4] = [
        (&[2], 2, ["yes", partly]),
        (&[3], 2, [undecided, "no: in 0 of 2"]),
        (&[3], 3, [undecided, "no: in 0 of 2"]),
        (&[2, 3], 2, [undecided, partly]),
    ];
    for (results, rounds, [requests, latency]) in cases {
        let limited = verdicts(&changed(results, rounds, busy));
        assert_eq!(limited["Twice the requests"], requests, "{results:?}");
        assert_eq!(limited["Half the latency"], latency, "{results:?}");
        // Processor time and memory are the server’s own.
        for (claimed, verdict) in &quiet {
            if claimed.ends_with("cost") || claimed.starts_with("Memory") {
                assert_eq!(&limited[claimed], verdict);
            }
        }
    }
    // In fewer than half of the rounds it does not count.
    assert_eq!(verdicts(&changed(&[3], 1, busy)), quiet);
}

#[test]
fn what_others_disturbed_is_named_beside_the_verdict() {
    let disturb = |round: &mut LoadRound| round.foreign_share = 0.3;
    for result in [2, 3] {
        let disturbed = verdicts(&changed(&[result], 2, disturb));
        assert_eq!(disturbed["Memory by ten"], "yes (disturbed)");
        assert_eq!(disturbed["Twice the requests"], "yes (disturbed)");
        assert_eq!(
            disturbed["Half the latency"],
            "no: in 0 of 2 (disturbed in 1 of 2)"
        );
    }
    let once = verdicts(&changed(&[2], 1, disturb));
    assert_eq!(once["Memory by ten"], "yes");
}

#[test]
fn figures_have_the_marks_of_their_rounds() {
    let marks = |run: &RunRecord| -> Vec<String> {
        let table = tables(&compose(run), "group-over").remove(0);
        let Cell::Figure(cost) = &table.rows[0].cells[1] else {
            panic!("no figure in {:?}", table.rows[0]);
        };
        cost.marks.iter().map(|mark| mark.word.clone()).collect()
    };
    let busy = |round: &mut LoadRound| round.generator_share = 0.99;
    let disturb = |round: &mut LoadRound| round.foreign_share = 0.3;
    assert_eq!(marks(&changed(&[2], 2, busy)), ["generator’s limit"]);
    assert_eq!(marks(&changed(&[2], 2, disturb)), ["disturbed"]);
    assert!(marks(&changed(&[2], 1, busy)).is_empty());
}
