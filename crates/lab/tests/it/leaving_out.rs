//! Items that are not measured: rows that are not intended for a subject, and those beyond the time
//! of a full run.

use crate::common::{Place, SUITE, Seen, outcome, quick};
use antiphon_lab::Outcome;
use antiphon_lab::run::Options;
use antiphon_lab::suite::Suite;

const EACH: &str = r#"each = { what = ["same", "dearer", "handoff"] }"#;

fn suite_with(added: &str) -> String {
    assert!(SUITE.contains(EACH));
    SUITE.replace(EACH, &format!("{EACH}\n{added}"))
}

/// Returns the options of one start of a full run.
fn full(time_budget_s: f64) -> Options {
    Options {
        quick: false,
        starts: Some(1),
        time_budget_s: Some(time_budget_s),
        ..quick(&[])
    }
}

#[test]
fn what_a_row_excepts_is_not_asked_for_and_says_why() {
    let place = Place::with(&["plain"]);
    let text = suite_with(
        r#"except = [{ subjects = ["plain/*"], each = { what = ["dearer"] }, because = "it is too dear" }, { subjects = ["other/v"], because = "it is another" }]"#,
    );
    let options = Options {
        only: vec!["self.same".into(), "self.dearer".into()],
        ..quick(&[])
    };
    let record = place.measure_suite(&mut Seen::default(), &text, &options);
    let Outcome::Absent { reason, listed, .. } = outcome(&record, "plain/v", "self.dearer") else {
        panic!("{:?}", record.results)
    };
    assert_eq!((reason.as_str(), *listed), ("it is too dear", true));
    let same = outcome(&record, "plain/v", "self.same");
    assert!(matches!(same, Outcome::Frame(_)), "{same:?}");
}

#[test]
fn faults_of_exceptions_name_their_mend() {
    for (added, fault) in [
        (
            r#"except = [{ subjects = ["a/b"] }]"#,
            "the key `because` is missing",
        ),
        (
            r#"except = [{ because = "x" }]"#,
            "it excepts the whole row; name `subjects`",
        ),
        (
            r#"except = [{ each = { waht = ["same"] }, because = "x" }]"#,
            "`waht` is no placeholder of this row; did you mean `what`?",
        ),
        (
            r#"except = [{ each = { what = ["sam"] }, because = "x" }]"#,
            "`sam` is no value of `what` in `each`; did you mean `same`?",
        ),
    ] {
        let said = Suite::parse("s.toml", &suite_with(added)).unwrap_err();
        assert!(said.to_string().contains(fault), "{said}");
    }
}

#[test]
fn what_the_time_of_a_full_run_does_not_reach_for_is_left_to_be_resumed() {
    let place = Place::with(&["plain"]);
    let mut seen = Seen::default();
    let record = place.measure(&mut seen, &full(1e-6));
    assert_eq!((record.ended, seen.interrupted), (None, Some(false)));
    // All but the three frames.
    assert_eq!(record.results.len(), 5);
    let reported = |text: &String| text.contains("before 3 of 8 figures were measured");
    assert!(seen.warnings.iter().any(reported), "{:?}", seen.warnings);
}

#[test]
fn where_time_may_be_short_what_a_quick_run_has_comes_first() {
    let place = Place::with(&["plain"]);
    let text = suite_with(r#"quick = { what = ["handoff"] }"#).replace("= 0.3", "= 0.02");
    let options = Options {
        only: vec!["self.*".into()],
        ..full(1000.0)
    };
    let mut seen = Seen::default();
    let record = place.measure_suite(&mut seen, &text, &options);
    assert_eq!(seen.finished, ["self.handoff", "self.same", "self.dearer"]);
    assert!(record.ended.is_some());
}
