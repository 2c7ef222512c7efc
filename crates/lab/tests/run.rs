//! Whole runs: every kind of item, subjects that fail, and what the user is told.

mod common;

use antiphon_lab::run::{Options, RunError};
use antiphon_lab::store::Raw;
use antiphon_lab::suite::Suite;
use antiphon_lab::{Live, LiveOptions, Outcome, compare_runs};
use antiphon_measure::{
    ComparisonSettings, FindingKind, Interference, InterferenceCase, PairSettings, Verdict,
    gap_threshold_ns,
};
use common::{Place, SUITE, Seen, outcome, quick};

#[test]
fn every_kind_of_item_gets_its_result() {
    let place = Place::with(&["plain"]);
    let mut seen = Seen::default();
    let record = place.measure(&mut seen, &quick(&[]));
    assert!(record.ended.is_some());
    assert_eq!(seen.interrupted, Some(false));
    assert_eq!(record.subjects[0].compiler, "plain 1");
    let of = |test| outcome(&record, "plain/v", test);
    let Outcome::Frame(same) = of("self.same") else {
        panic!("{:?}", of("self.same"))
    };
    assert!(same.blocks > 0 && same.frames.test_ns > 0.0);
    let Outcome::Frame(dearer) = of("self.dearer") else {
        panic!("{:?}", of("self.dearer"))
    };
    assert!(dearer.frames.reference_ns.is_some());
    assert!(
        matches!(of("self.handoff"), Outcome::Frame(_)),
        "{:?}",
        of("self.handoff")
    );
    let Outcome::Latency(latency) = of("probe.latency") else {
        panic!()
    };
    assert_eq!(latency.from_actual.count, 50);
    let Outcome::Storage(storage) = of("probe.series") else {
        panic!("{:?}", of("probe.series"))
    };
    assert_eq!((storage.completed, storage.object_bytes), (1000, 64));
    assert_eq!(storage.exhausted.as_deref(), Some("no storage"));
    let Outcome::Clock { unit, estimate } = of("steady") else {
        panic!("{:?}", of("steady"))
    };
    assert_eq!((unit.as_str(), estimate.readings), ("ns", 2000));
    let Outcome::Interference(interference) = of("interference") else {
        panic!("{:?}", of("interference"))
    };
    assert!((0.0..=1.0).contains(&interference.beta));
    assert_eq!(interference.case, InterferenceCase::Gaps);
    let Outcome::Absent { reason, listed, .. } = of("probe.absent") else {
        panic!("{:?}", of("probe.absent"))
    };
    assert_eq!(reason, "this subject only tests the laboratory");
    assert!(listed, "the subject lists it as one that it does not have");
    assert!(
        seen.warnings
            .iter()
            .any(|text| text.contains("nobody.has.this")),
        "{:?}",
        seen.warnings
    );
}

#[test]
fn clocks_and_interference_come_before_frames() {
    let place = Place::with(&["plain"]);
    let mut seen = Seen::default();
    place.measure(&mut seen, &quick(&[]));
    assert_eq!(seen.finished[..2], ["steady", "interference"]);
}

#[test]
fn the_gaps_of_interference_are_stored_and_give_its_figures_again() {
    let place = Place::with(&["plain"]);
    let options = Options {
        only: vec!["interference".into()],
        ..quick(&[])
    };
    let record = place.measure(&mut Seen::default(), &options);
    let saved = place.store().resume(record.id).unwrap();
    let [
        (_, Raw::Readings { readings, .. }),
        (_, Raw::Gaps { over_ns, seen, .. }),
    ] = saved.raw[0].as_slice()
    else {
        panic!("{:?}", saved.raw[0])
    };
    assert_eq!(gap_threshold_ns(readings), Ok(Some(*over_ns)));
    let again = Interference::from_gaps(seen).unwrap();
    assert_eq!(record.results[0].outcome, Outcome::Interference(again));
}

#[test]
fn every_batch_is_stored_with_what_replays_it() {
    let place = Place::with(&["plain"]);
    let record = place.measure(
        &mut Seen::default(),
        &Options {
            only: vec!["self.same".into()],
            ..quick(&[])
        },
    );
    let saved = place.store().resume(record.id).unwrap();
    assert_eq!(saved.items.len(), 1);
    assert!(matches!(&saved.raw[0][0].1, Raw::Note { name, .. } if name == "frame"));
    let slices = saved.raw[0].iter().map(|(_, raw)| match raw {
        Raw::Batch { batch, .. } => batch.slices.len(),
        _ => 0,
    });
    let Outcome::Frame(estimate) = &record.results[0].outcome else {
        panic!()
    };
    assert!(slices.sum::<usize>() >= 4 * estimate.blocks);
}

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
            mend,
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
        assert!(!mend.is_empty(), "{fault}");
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
        hang_limit_s: 0.5,
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
    let Outcome::Absent { reason, mend, .. } = outcome(&record, "needy/v", "self.same") else {
        panic!()
    };
    assert!(reason.contains("no-such-compiler"), "{reason}");
    assert_eq!(mend, "`apt install gnat` as root");
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
fn a_subjects_own_output_is_passed_on() {
    let place = Place::with(&["talks"]);
    let mut seen = Seen::default();
    let options = Options {
        only: vec!["self.same".into()],
        ..quick(&["talks"])
    };
    place.measure(&mut seen, &options);
    assert!(!seen.own_output.is_empty());
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
    let Outcome::Absent { reason, mend, .. } = outcome(&record, "never-grows/v", "self.same")
    else {
        panic!()
    };
    // Slices of equal length are either seen not to grow, or never long enough within so small a budget.
    let expected = ["does not grow", "no block was measured"];
    assert!(
        expected.iter().any(|text| reason.contains(text)),
        "{reason}"
    );
    assert!(!mend.is_empty());
}

#[test]
fn a_full_run_starts_each_process_afresh_and_keeps_every_start() {
    let place = Place::with(&["plain"]);
    let options = Options {
        quick: false,
        only: vec!["frames".into()],
        ..quick(&[])
    };
    let record = place.measure(&mut Seen::default(), &options);
    let same = record
        .results
        .iter()
        .find(|result| result.identity.test == "self.same")
        .unwrap();
    assert_eq!(same.starts.len(), 2);
    let Outcome::Frame(sum) = &same.outcome else {
        panic!()
    };
    for start in &same.starts {
        assert!(sum.cost_ns.contains(start.cost_ns.value));
    }
}

#[test]
fn nothing_to_measure_and_bad_requests_are_told() {
    let place = Place::with(&["plain"]);
    let suite = Suite::parse("small.toml", SUITE).unwrap();
    let ask = |options: Options| {
        let asked = place.laboratory(&mut Seen::default(), |lab| {
            lab.measure(&suite, SUITE, &options)
        });
        asked.unwrap_err()
    };
    let nothing = ask(Options {
        only: vec!["no.such*".into()],
        ..quick(&[])
    });
    assert!(matches!(nothing, RunError::Nothing { .. }));
    assert!(
        nothing
            .to_string()
            .contains("its groups are frames, series"),
        "{nothing}"
    );
    let pattern = ask(Options {
        only: vec!["self.[".into()],
        ..quick(&[])
    });
    assert!(matches!(pattern, RunError::Pattern { .. }), "{pattern}");
    let subject = ask(quick(&["plane"]));
    assert!(
        subject.to_string().contains("did you mean `plain`?"),
        "{subject}"
    );
    assert!(place.store().runs().unwrap().is_empty());
}

#[test]
fn a_subject_against_itself_is_a_pair_without_a_difference_in_kind() {
    let place = Place::with(&["plain", "crashes"]);
    let options = LiveOptions {
        only: vec!["self.*".into()],
        settings: PairSettings {
            frame: antiphon_measure::FrameSettings {
                budget_ns: 20_000_000,
                reference: false,
                ..Default::default()
            },
            controls: false,
        },
        ..LiveOptions::default()
    };
    let plain = &place
        .subjects
        .iter()
        .find(|subject| subject.name == "plain")
        .unwrap();
    let rows = place
        .laboratory(&mut Seen::default(), |lab| {
            let side = (*plain, &plain.variants[0]);
            let mut live = Live {
                cache: lab.cache,
                observer: &mut *lab.observer,
                stop: lab.stop,
            };
            live.compare(side, side, &options)
        })
        .unwrap();
    assert_eq!(rows.len(), 3);
    let estimate = rows[0].outcome.as_ref().unwrap();
    assert!(estimate.blocks > 0 && estimate.ratio.value > 0.0);
}

#[test]
fn a_run_compared_with_itself_shows_no_change() {
    let place = Place::with(&["plain"]);
    let record = place.measure(&mut Seen::default(), &quick(&[]));
    let rows = compare_runs(&record, &record, &[], &ComparisonSettings::default());
    assert_eq!(rows.len(), 3, "{rows:?}");
    for row in &rows {
        let comparison = row.comparison.as_ref().unwrap();
        assert_eq!(comparison.log_ratio.value, 0.0);
        assert_eq!(comparison.verdict, Verdict::Indistinguishable);
    }
    let mut other = record.clone();
    other
        .results
        .retain(|result| result.identity.test != "self.same");
    let rows = compare_runs(&record, &other, &[], &ComparisonSettings::default());
    let missing = rows.iter().find(|row| row.b.is_none()).unwrap();
    assert_eq!(missing.why_not, "the second run has no figure");
}

#[test]
fn a_cost_that_is_not_told_from_its_control_gets_instruction_counts() {
    if antiphon_lab::subject::find_command("valgrind").is_none() {
        eprintln!("not tried: valgrind is not installed");
        return;
    }
    let place = Place::with(&["plain"]);
    let options = Options {
        only: vec!["self.same".into()],
        count_instructions: true,
        ..quick(&[])
    };
    let record = place.measure(&mut Seen::default(), &options);
    let Outcome::Frame(estimate) = &record.results[0].outcome else {
        panic!("{:?}", record.results)
    };
    let indistinguishable = |kind| kind == FindingKind::IndistinguishableFromControl;
    let asked = estimate
        .findings
        .iter()
        .any(|finding| indistinguishable(finding.kind));
    // On a busy machine the two copies may differ; then there is nothing to ask.
    assert_eq!(estimate.resources.instructions.is_some(), asked);
}
