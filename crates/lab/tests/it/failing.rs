//! Subjects that fail in a run: each is reported by name, and costs only its own items.

use crate::common::{Place, Seen, outcome, quick};
use antiphon_lab::Outcome;
use antiphon_lab::run::Options;
use antiphon_measure::FindingKind;

#[test]
fn a_subject_that_fails_is_told_by_name_and_the_others_go_on() {
    for (fault, expected, words) in [
        ("crashes", "crashed at `batch", Some("")),
        ("exits-early", "ended before it answered `batch", None),
        ("rubbish", "answered `batch", None),
        ("missing-slice", "slices, where", None),
    ] {
        let place = Place::with(&["plain", fault]);
        let id = format!("{fault}/v");
        let options = Options {
            only: vec!["self.same".into(), "probe.series".into()],
            ..quick(&["plain", fault])
        };
        let record = place.measure(&mut Seen::default(), &options);
        let Outcome::Absent {
            reason,
            help,
            last_words,
            ..
        } = outcome(&record, &id, "self.same")
        else {
            panic!("{fault}: {:?}", outcome(&record, &id, "self.same"))
        };
        assert!(
            reason.contains(expected) && reason.contains(&id),
            "{fault}: {reason}"
        );
        assert!(!help.is_empty(), "{fault}");
        assert!(words.is_none() || !last_words.is_empty(), "{fault}");
        assert!(matches!(
            outcome(&record, "plain/v", "self.same"),
            Outcome::Frame(_)
        ));
        assert!(
            matches!(outcome(&record, &id, "probe.series"), Outcome::Storage(_)),
            "{fault}"
        );
        assert!(record.ended.is_some());
    }
}

#[test]
fn after_three_failures_in_a_row_a_process_is_given_up() {
    let place = Place::with(&["crashes"]);
    let record = place.measure(&mut Seen::default(), &quick(&["crashes"]));
    // The three frames come before the latency series in the plan.
    let Outcome::Absent { reason, listed, .. } = outcome(&record, "crashes/v", "probe.latency")
    else {
        panic!()
    };
    assert!(!listed, "a failure is none");
    assert!(
        reason.contains("given up after 3 failures in a row"),
        "{reason}"
    );
    assert!(reason.contains("crashes/v under other.same"), "{reason}");
}

#[test]
fn a_subject_that_hangs_costs_its_items_the_limit_and_no_more() {
    let place = Place::with(&["plain", "hangs"]);
    let options = Options {
        // It is the limit of the sound subject's start as well.
        hang_limit_s: 5.0,
        only: vec!["self.same".into()],
        ..quick(&["hangs", "plain"])
    };
    let record = place.measure(&mut Seen::default(), &options);
    let Outcome::Absent { reason, .. } = outcome(&record, "hangs/v", "self.same") else {
        panic!()
    };
    assert!(reason.contains("did not answer `batch"), "{reason}");
    assert!(matches!(
        outcome(&record, "plain/v", "self.same"),
        Outcome::Frame(_)
    ));
}

#[test]
fn a_subject_that_cannot_start_or_lacks_its_compiler_is_absent_everywhere() {
    let place = Place::with(&["plain", "fails-at-once", "needy"]);
    let mut seen = Seen::default();
    let record = place.measure(&mut seen, &quick(&["plain", "fails-at-once", "needy"]));
    assert_eq!(seen.absent_subjects, ["fails-at-once/v", "needy/v"]);
    let Outcome::Absent { reason, help, .. } = outcome(&record, "needy/v", "self.same") else {
        panic!()
    };
    assert!(reason.contains("no-such-compiler"), "{reason}");
    assert_eq!(help, "`apt install gnat` as root");
    let Outcome::Absent { reason, .. } = outcome(&record, "fails-at-once/v", "self.same") else {
        panic!()
    };
    assert!(reason.contains("exit code 3"), "{reason}");
    assert!(matches!(
        outcome(&record, "plain/v", "self.same"),
        Outcome::Frame(_)
    ));
    assert_eq!(record.subjects.len(), 1);
}

#[test]
fn unequal_work_is_found_across_tests() {
    let place = Place::with(&["plain", "unsteady-checksum"]);
    let options = Options {
        only: vec!["self.same".into()],
        ..quick(&["plain", "unsteady-checksum"])
    };
    let record = place.measure(&mut Seen::default(), &options);
    let Outcome::Frame(estimate) = outcome(&record, "plain/v", "self.same") else {
        panic!()
    };
    let finding = estimate
        .findings
        .iter()
        .find(|finding| finding.kind == FindingKind::UnequalWork);
    assert!(
        finding.is_some_and(|finding| finding.text.contains("unsteady-checksum/v")),
        "{:?}",
        estimate.findings
    );
}

#[test]
fn a_frame_that_gives_no_figure_says_why_and_what_mends_it() {
    let place = Place::with(&["never-grows"]);
    let options = Options {
        only: vec!["self.same".into()],
        ..quick(&["never-grows"])
    };
    let record = place.measure(&mut Seen::default(), &options);
    let Outcome::Absent { reason, help, .. } = outcome(&record, "never-grows/v", "self.same")
    else {
        panic!()
    };
    // Slices of equal length either visibly do not grow, or are never long enough within so small a
    // budget.
    let expected = ["does not grow", "no block was measured"];
    assert!(
        expected.iter().any(|text| reason.contains(text)),
        "{reason}"
    );
    assert!(!help.is_empty());
}
