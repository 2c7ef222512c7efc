//! Whole runs: every kind of item, its stored data, and the reports to the user.

use crate::common::{Place, SUITE, Seen, outcome, quick};
use antiphon_lab::Outcome;
use antiphon_lab::run::{Options, RunError};
use antiphon_lab::store::Raw;
use antiphon_lab::suite::Suite;
use antiphon_measure::{
    ClockEstimate, CountedBy, Estimate, Finding, FindingKind, Interference, InterferenceCase,
    gap_threshold_ns,
};

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
fn processes_that_no_later_item_needs_are_ended_before_it() {
    let frames = |placement: &str, what: &str| {
        format!(
            "[[group]]\nid = '{placement}'\ntitle = 'T'\nruns = ['other.{placement}']\n\
             [[group.row]]\ntest = 'self.{{what}}'\nlabel = 'L'\neach = {{ what = [{what}] }}\n"
        )
    };
    let head = &SUITE[..SUITE.find("[[group]]").unwrap()];
    let text = head.to_owned() + &frames("same", "'same', 'dearer'") + &frames("free", "'handoff'");
    let place = Place::with(&["plain"]);
    let mut seen = Seen {
        looked_for_in: Some(place.folder().to_owned()),
        ..Seen::default()
    };
    place.measure_suite(&mut seen, &text, &quick(&[]));
    let lives = seen.lives.iter().map(|(of, lives)| (of.as_str(), *lives));
    let expected = [("same", false), ("same", true), ("free", false)];
    assert_eq!(lives.collect::<Vec<_>>(), expected);
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
        (_, Raw::Note { .. }),
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
    // A quick run has fewer values of a row.
    let left_out = SUITE.replace(
        "each = { what = [\"same\", \"dearer\", \"handoff\"] }",
        "each = { what = [\"same\", \"dearer\", \"handoff\"] }\nquick = { what = [\"same\"] }",
    );
    let quick_suite = Suite::parse("small.toml", &left_out).unwrap();
    let left_out = place.laboratory(&mut Seen::default(), |lab| {
        let options = Options {
            only: vec!["self.dearer".into()],
            ..quick(&[])
        };
        lab.measure(&quick_suite, &left_out, &options).unwrap_err()
    });
    assert!(
        left_out.to_string().contains("without --quick"),
        "{left_out}"
    );
    assert!(
        nothing.to_string().contains("groups are frames, series"),
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
fn a_cost_that_is_not_told_from_its_control_gets_instruction_counts() {
    if antiphon_lab::subject::find_command("valgrind").is_none() {
        eprintln!("not tried: valgrind is not installed");
        return;
    }
    // Each subject has a separate process under callgrind, and one of them talks between its
    // answers.
    let place = Place::with(&["plain", "talks"]);
    let options = Options {
        only: vec!["self.same".into()],
        count_instructions: true,
        ..quick(&["plain", "talks"])
    };
    let mut seen = Seen::default();
    let record = place.measure(&mut seen, &options);
    for subject in ["plain/v", "talks/v"] {
        let Outcome::Frame(estimate) = outcome(&record, subject, "self.same") else {
            panic!("{:?}", record.results)
        };
        reported_instructions(estimate, &seen.warnings);
    }
}

#[test]
fn instructions_of_all_are_counted_where_they_are_asked_for() {
    if antiphon_lab::subject::find_command("valgrind").is_none() {
        eprintln!("not tried: valgrind is not installed");
        return;
    }
    let place = Place::with(&["plain"]);
    let options = Options {
        only: vec!["self.dearer".into()],
        count_instructions: true,
        instructions_of_all: true,
        ..quick(&["plain"])
    };
    let mut seen = Seen::default();
    let record = place.measure(&mut seen, &options);
    let Outcome::Frame(estimate) = outcome(&record, "plain/v", "self.dearer") else {
        panic!("{:?}", record.results)
    };
    let count = estimate.resources.instructions;
    assert!(
        count.is_some_and(|count| count.per_operation() > 0.0),
        "{count:?} {:?}",
        seen.warnings
    );
}

#[test]
fn instructions_of_a_subject_that_other_processes_may_work_for_are_not_counted() {
    let place = Place::with(&["counts-switches"]);
    let mut seen = Seen::default();
    let options = Options {
        only: vec!["self.same".into()],
        count_instructions: true,
        ..quick(&["counts-switches"])
    };
    let record = place.measure(&mut seen, &options);
    let Outcome::Frame(estimate) = outcome(&record, "counts-switches/v", "self.same") else {
        panic!("{:?}", record.results)
    };
    assert!(estimate.resources.instructions.is_none());
    let of_counts = |reported: &String| reported.contains("instructions");
    assert!(!seen.warnings.iter().any(of_counts), "{:?}", seen.warnings);
}

#[test]
fn counts_that_the_time_does_not_reach_are_told() {
    let place = Place::with(&["plain"]);
    let mut seen = Seen::default();
    let options = Options {
        only: vec!["self.same".into()],
        time_budget_s: Some(0.001),
        count_instructions: true,
        ..quick(&[])
    };
    let record = place.measure(&mut seen, &options);
    let Outcome::Frame(estimate) = &record.results[0].outcome else {
        panic!("{:?}", record.results)
    };
    let counted = estimate.resources.instructions.is_some();
    let reported = |text: &String| text.contains("not checked by instruction counts: 1");
    assert_eq!(
        seen.warnings.iter().any(reported),
        estimate.is_like_control() && !counted,
        "{:?}",
        seen.warnings
    );
}

fn reported_instructions(estimate: &Estimate, warnings: &[String]) {
    // On a busy machine the two copies may differ. Then no count is due, unless the processor
    // counts beside every time. The time for counts may also be over.
    let counted = estimate.resources.instructions;
    let is_left_out = |text: &String| text.contains("not checked by instruction counts");
    match counted.map(|count| count.by) {
        Some(CountedBy::Processor) => {}
        None if warnings.iter().any(is_left_out) => return,
        _ => assert_eq!(
            counted.is_some(),
            estimate.is_like_control(),
            "{warnings:?}"
        ),
    }
    let indistinguishable =
        |finding: &&Finding| finding.kind == FindingKind::IndistinguishableFromControl;
    for finding in estimate.findings.iter().filter(indistinguishable) {
        let said = finding
            .text
            .matches("no difference in instructions")
            .count();
        assert_eq!(said, 1, "{}", finding.text);
    }
}

/// A suite of nothing but the subject's clocks.
const CLOCKS: &str = r#"
name = "clocks"
title = "Clocks"
subjects = ["coarse-clock/v"]
[quick]
seconds_per_row = 0.1
relative_half_width = 0.5
[full]
seconds_per_row = 0.1
relative_half_width = 0.5
[[group]]
id = "clocks"
title = "Clocks"
runs = ["other.same"]
[[group.row]]
test = "*"
label = "{clock}"
kind = "clock"
count = 2000
"#;

#[test]
fn a_coarse_clock_is_read_until_it_has_ticked_often() {
    let place = Place::with(&["coarse-clock"]);
    let suite = Suite::parse("clocks.toml", CLOCKS).unwrap();
    let run = place.laboratory(&mut Seen::default(), |lab| {
        lab.measure(&suite, CLOCKS, &quick(&[])).unwrap()
    });
    let record = place.store().load(run).unwrap();
    let Outcome::Clock { estimate, .. } = outcome(&record, "coarse-clock/v", "steady") else {
        panic!("{:?}", record.results)
    };
    // 2000 readings hold one tick or two, so 4 ms might be a thousand readings as well as two
    // thousand. A loop holds a hundred ticks.
    assert_eq!(estimate.resolution, 4e6);
    assert!(
        (estimate.cost / (4e6 / 1500.0) - 1.0).abs() < 0.01,
        "{estimate:?}"
    );
    assert_eq!(estimate.ticks, 100);
    let saved = place.store().resume(run).unwrap();
    let ticks = saved.raw[0].iter().find_map(|(_, raw)| match raw {
        Raw::Gaps { seen, .. } => Some(ClockEstimate::from_tick_loop(seen).unwrap()),
        _ => None,
    });
    assert_eq!(ticks.as_ref(), Some(estimate));
}

/// A suite with rows under both policies, of which no subject lists one.
const POLICIES: &str = r#"
name = "policies"
title = "Policies"
subjects = ["plain/v"]
[quick]
seconds_per_row = 0.02
relative_half_width = 0.5
[full]
seconds_per_row = 0.02
relative_half_width = 0.5
[[group]]
id = "ordinary"
title = "Ordinary"
runs = ["other.same"]
[[group.row]]
test = "self.same"
label = "same"
[[group]]
id = "urgent"
title = "Urgent"
runs = ["fifo.same"]
[[group.row]]
test = "{who}"
label = "{who}"
each = { who = ["self.dearer", "nobody.has.this"] }
"#;

#[test]
fn subjects_are_built_for_the_policies_that_the_chosen_rows_need() {
    let fifo = antiphon_runner::Policy::Fifo { priority: 50 };
    let both: &[&str] = match fifo.permitted() {
        Ok(()) => &["other", "fifo"],
        Err(_) => &["other"],
    };
    for (only, policies) in [
        (&[][..], both),
        (&["ordinary"], &["other"]),
        (&["self.dearer"], &both[both.len() - 1..]),
        (&["self.same", "nobody.*"], &["other"]),
    ] {
        let place = Place::with(&["plain"]);
        let suite = Suite::parse("policies.toml", POLICIES).unwrap();
        let mut seen = Seen::default();
        let options = Options {
            only: only.iter().map(|only| (*only).to_owned()).collect(),
            ..quick(&[])
        };
        place.laboratory(&mut seen, |lab| {
            lab.measure(&suite, POLICIES, &options).unwrap()
        });
        assert_eq!(seen.built_for, policies, "{only:?}");
    }
}

/// Checks the warning about rows that no subject lists. A quick run leaves some rows out on
/// purpose, without a warning.
#[test]
fn rows_that_no_subject_lists_are_told_of_unless_they_are_left_out_of_quick_runs() {
    let rows = r#"
[[group.row]]
test = "nobody.has.it"
label = "nobody"
[[group.row]]
test = "nobody.has.that"
label = "only in full runs"
quick_runs = []
"#;
    let text = format!("{POLICIES}{rows}");
    let suite = Suite::parse("policies.toml", &text).unwrap();
    let mut seen = Seen::default();
    Place::with(&["plain"]).laboratory(&mut seen, |lab| {
        lab.measure(&suite, &text, &quick(&[])).unwrap()
    });
    let reported = |row| {
        let row = format!("row `{row}`");
        seen.warnings.iter().any(|reported| reported.contains(&row))
    };
    assert!(reported("nobody.has.it"), "{:?}", seen.warnings);
    assert!(!reported("nobody.has.that"), "{:?}", seen.warnings);
}
