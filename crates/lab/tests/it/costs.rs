//! Suites that ask for costs: subjects take turns once more, one of them twice under two names.
//! Some are warmed, and use by others is watched.

use crate::common::{Place, Seen, faults_after, quick};
use crate::powers::{limit_permits_real_time, without};
use antiphon_lab::suite::Suite;
use antiphon_lab::{Outcome, RunRecord, SlicesDiffer, agreements, original_of, twin_of};
use rustix::thread::CapabilitySet;

const COSTLY: &str = concat!(
    r#"
name = "costly"
title = "Costly"
subjects = ["plain/v", "warm/v"]
twins = ["plain/v"]
costs = true
"#,
    include_str!("../common/small_sizes.toml"),
    r#"[[group]]
id = "frames"
title = "Frames"
runs = ["other.same"]
[[group.row]]
test = "probe.dear"
label = "dear"
[[findings]]
id = "f"
title = "F"
source = "nobody"
claim = [{ text = "It is no cheaper than itself", quantity = "cpu", of = "warm/v", against = "plain/v", tests = ["probe.dear"], run = "other.same", at_least = 0.1 }]
"#
);

/// Runs at most, where a busy machine leaves no time for what a test looks at.
const TRIES: u32 = 5;

fn measured() -> RunRecord {
    let place = Place::with(&["plain", "warm"]);
    place.measure_suite(&mut Seen::default(), COSTLY, &quick(&[]))
}

/// Measures until a run shows what is looked for.
fn measured_until<T>(
    measure: impl Fn() -> RunRecord,
    shows: impl Fn(&RunRecord) -> Option<T>,
) -> T {
    (0..TRIES)
        .find_map(|_| shows(&measure()))
        .unwrap_or_else(|| panic!("none of {TRIES} runs shows it"))
}

fn costs_of(record: &RunRecord, subject: &str) -> antiphon_lab::Costs {
    let own = |result: &&antiphon_lab::ResultRecord| result.identity.subject == subject;
    let costs = record.results.iter().find(own).unwrap().costs.as_ref();
    costs.expect("the suite asks for costs").clone()
}

#[test]
fn subjects_take_turns_and_are_watched() {
    let record = measured();
    let names: Vec<&str> = record
        .results
        .iter()
        .map(|result| result.identity.subject.as_str())
        .collect();
    let twin = twin_of("plain/v");
    assert_eq!(names, ["plain/v", twin.as_str(), "warm/v"]);
    assert_eq!(original_of(&twin), Some("plain/v"));
    assert!(record.subjects.iter().any(|subject| subject.id == twin));
    for result in &record.results {
        assert!(matches!(result.outcome, Outcome::Frame(_)), "{result:?}");
        let costs = result.costs.as_ref().expect("the suite asks for costs");
        assert!(costs.rounds.len() >= 5, "{costs:?}");
        assert!(costs.rounds.iter().all(|round| round.server_ns.is_none()));
        assert!(!costs.held.is_empty());
        assert!(costs.awake);
        assert_eq!(costs.slice_ms, None);
        assert_eq!(
            costs.foreign.len(),
            costs.held.len(),
            "each start's turns are watched"
        );
        let shares = costs.foreign.iter().map(|of| of.share);
        assert!(shares.into_iter().all(|share| (0.0..=1.0).contains(&share)));
        for held in &costs.held {
            assert!(held.subject.pss_bytes > 0 && held.subject.threads > 0);
        }
        let [foreign] = result.foreign.as_slice() else {
            panic!("{:?}", result.foreign)
        };
        assert!((0.0..=1.0).contains(&foreign.share) && foreign.attempts == 1);
    }
}

#[test]
fn who_asks_for_long_slices_has_them_and_takes_fewer_turns() {
    let place = Place::with(&["plain", "warm", "long"]);
    let suite = COSTLY.replacen(r#""plain/v", "#, r#""plain/v", "long/v", "#, 1);
    let record = place.measure_suite(&mut Seen::default(), &suite, &quick(&[]));
    let (plain, long) = (costs_of(&record, "plain/v"), costs_of(&record, "long/v"));
    assert_eq!((plain.slice_ms, long.slice_ms), (None, Some(40)));
    let rounds = |of: &antiphon_lab::Costs| -> Vec<u32> {
        let own = of.rounds.iter().filter(|round| round.start == 0);
        own.map(|round| round.round).collect()
    };
    let (all, some) = (rounds(&plain), rounds(&long));
    assert_eq!(some[..3], [0, 1, 2]);
    assert!(
        some.iter().all(|round| *round < 3 || round % 3 == 2),
        "{some:?}"
    );
    assert!(
        some.iter().all(|round| all.contains(round)),
        "they are paired"
    );
    // Slices of 40 ms and of 3. All starts count, because one may have waited for its processor
    // during the search and be limited by its elapsed time.
    let iterations =
        |of: &antiphon_lab::Costs| of.rounds.clone().into_iter().map(|of| of.iterations);
    let (longest, shortest) = (iterations(&long).max(), iterations(&plain).min());
    // Without priority, a subject may wait for its processor at each trial of a slice. Elapsed time
    // alone then limits both kinds.
    let is_ordinary = |reported: &String| reported.contains("measured at the ordinary priority");
    assert!(
        record.warnings.iter().any(is_ordinary) || longest > shortest.map(|of| 2 * of),
        "{long:?} {plain:?}"
    );
    assert!(long.ratio(&plain, |round| Some(round.subject_ns)).is_some());
}

#[test]
fn further_twins_are_of_full_runs_alone() {
    let text = COSTLY.replacen("costs = true", "full_twins = [\"warm/v\"]\ncosts = true", 1);
    let suite = Suite::parse("costly.toml", &text).unwrap();
    assert_eq!(suite.measured_twice(true), ["plain/v"]);
    assert_eq!(suite.measured_twice(false), ["plain/v", "warm/v"]);
}

#[test]
fn one_start_is_followed_by_another_that_says_whether_it_agrees() {
    let (record, starts) = measured_until(measured, |record| {
        Some((record.clone(), ratio_of_starts(record)?))
    });
    assert!(starts.deviation().is_some(), "{starts:?}");
    for subject in ["plain/v", "warm/v"] {
        let own = |result: &&antiphon_lab::ResultRecord| result.identity.subject == subject;
        let result = record.results.iter().find(own).unwrap();
        assert_eq!(
            result.starts.len(),
            1,
            "its time is that of the start that was asked for"
        );
        let costs = costs_of(&record, subject);
        let started: Vec<u32> = costs.held.iter().map(|held| held.start).collect();
        let all: Vec<u32> = (0..started.len() as u32).collect();
        assert_eq!(started, all);
        let has_rounds = |start: &u32| costs.rounds.iter().any(|round| round.start == *start);
        assert!(started.iter().all(has_rounds), "{costs:?}");
        if subject == "warm/v" {
            assert_eq!(result.warm_ups.len(), started.len(), "each was warmed");
        }
    }
}

/// The ratio of `warm/v` to `plain/v` in each start; `None` if the machine gave time for one alone.
fn ratio_of_starts(record: &RunRecord) -> Option<antiphon_lab::Starts> {
    // All rounds are set calm. If the machine was calm in one start alone, the others would not
    // count.
    let calm = |subject| {
        let mut costs = costs_of(record, subject);
        costs.rounds.iter_mut().for_each(|of| of.slowed = 0.0);
        costs
    };
    let (costs, base) = (calm("warm/v"), calm("plain/v"));
    let starts = costs.starts(&base, |round| Some(round.both_ns()))?;
    (starts.medians.len() > 1).then_some(starts)
}

#[test]
fn what_a_subject_holds_is_read_after_each_round_unless_it_is_a_virtual_machine() {
    let place = Place::with(&["plain", "warm", "leaks"]);
    let suite = COSTLY.replacen(r#""plain/v", "#, r#""plain/v", "leaks/v", "#, 1);
    let record = place.measure_suite(&mut Seen::default(), &suite, &quick(&[]));
    let held = |subject: &str| {
        let costs = costs_of(&record, subject);
        let rounds = costs.rounds.into_iter().filter(|of| of.start == 0);
        rounds.map(|round| round.held_bytes).collect::<Vec<_>>()
    };
    assert!(held("warm/v").iter().all(|bytes| *bytes == 0));
    assert!(held("plain/v").iter().all(|bytes| *bytes > 0));
    let leaks = held("leaks/v");
    assert!(leaks.len() >= 5 && leaks.is_sorted(), "{leaks:?}");
    // Each round leaks in two slices at least.
    let least = (leaks.len() as u64 - 1) * 2 * (256 << 10);
    assert!(leaks[leaks.len() - 1] - leaks[0] >= least, "{leaks:?}");
}

#[test]
fn a_buffer_that_is_filled_is_told_from_what_leaks() {
    let subjects = ["leaks", "fills-buffer", "fills-arena"];
    let place = Place::with(&subjects);
    let names = subjects.map(|name| format!("\"{name}/v\"")).join(", ");
    let suite = COSTLY
        .replace(r#""plain/v", "warm/v""#, &names)
        .replace(r#"twins = ["plain/v"]"#, "twins = []");
    let suite = &suite[..suite.find("[[findings]]").unwrap()];
    let measure = || place.measure_suite(&mut Seen::default(), suite, &quick(&[]));
    let shows = |record: &RunRecord| {
        Some(Growths {
            leaks: Growth::of(record, "leaks/v")?,
            buffer: Growth::of(record, "fills-buffer/v")?,
            arena: Growth::of(record, "fills-arena/v")?,
        })
    };
    let Growths {
        leaks,
        buffer,
        arena,
    } = measured_until(measure, shows);
    assert!(buffer.filled > buffer.grown / 10 * 9, "{buffer:?}");
    for leaking in [leaks, arena] {
        assert!(leaking.filled < leaking.grown / 2, "{leaking:?}");
    }
}

struct Growths {
    leaks: Growth,
    buffer: Growth,
    arena: Growth,
}

/// Growth of a subject's memory over its rounds, and the part of that in what it had reserved,
/// bytes.
#[derive(Debug)]
struct Growth {
    grown: u64,
    filled: u64,
}

impl Growth {
    /// `None` if it grew too little: turns of a busy machine are repeated, and fill the buffer
    /// before the first reading.
    fn of(record: &RunRecord, subject: &str) -> Option<Growth> {
        let costs = costs_of(record, subject);
        let rounds: Vec<_> = costs.rounds.iter().filter(|of| of.start == 0).collect();
        let (first, last) = (rounds.first()?, rounds.last()?);
        assert_eq!(first.walked_bytes, 0);
        let grown = last.held_bytes.saturating_sub(first.held_bytes);
        (grown >= 48 << 10).then_some(Growth {
            grown,
            filled: last.walked_bytes,
        })
    }
}

#[test]
fn what_is_not_granted_is_told_once_and_kept_with_the_run() {
    if limit_permits_real_time() {
        return;
    }
    let place = Place::with(&["plain", "warm"]);
    let mut seen = Seen::default();
    // This power is what raises priorities.
    let record = without(CapabilitySet::SYS_NICE, || {
        place.measure_suite(&mut seen, COSTLY, &quick(&[]))
    });
    let reported = |part: &str| {
        seen.warnings
            .iter()
            .filter(|reported| reported.contains(part))
            .count()
    };
    assert_eq!(
        reported("turns are not taken in real time (SCHED_RR)"),
        1,
        "{:?}",
        seen.warnings
    );
    assert_eq!(reported("cannot be stopped"), 0, "{:?}", seen.warnings);
    assert!(!record.warnings.is_empty());
    assert!(
        record
            .warnings
            .iter()
            .all(|kept| seen.warnings.contains(kept))
    );
}

#[test]
fn only_who_needs_it_is_warmed() {
    let record = measured();
    let slices = |subject: &str| {
        let of = |result: &&antiphon_lab::ResultRecord| result.identity.subject == subject;
        let result = record.results.iter().find(of).unwrap();
        let warm_ups = result.warm_ups.iter();
        warm_ups.map(|warm_up| warm_up.slices.len()).sum::<usize>()
    };
    assert!(slices("warm/v") > 0);
    assert_eq!((slices("plain/v"), slices(&twin_of("plain/v"))), (0, 0));
}

#[test]
fn a_run_agrees_with_itself() {
    let record = measured();
    for agreement in agreements(&record, &record) {
        assert_eq!(agreement.difference(), 0.0);
        // The base is the first subject with a clear processor time, which on a busy machine may be
        // the twin.
        let base = original_of(&agreement.base).unwrap_or(&agreement.base);
        assert_eq!(base, "plain/v");
        assert_eq!(agreement.slices, []);
    }
}

#[test]
fn a_run_whose_slices_were_longer_differs_in_kind() {
    let mut earlier = measured();
    let costs = earlier.results.iter_mut().flat_map(|of| &mut of.costs);
    for round in costs.flat_map(|costs| &mut costs.rounds) {
        // On a busy machine its cost may be indistinguishable from none, and is then compared with
        // nothing.
        round.subject_ns = 10.0;
    }
    let mut later = earlier.clone();
    for result in &mut later.results {
        let asks = result.identity.subject == "warm/v";
        result.costs.as_mut().unwrap().slice_ms = asks.then_some(64);
    }
    assert_eq!(later.slice_ms("warm/v"), Some(64));
    assert_eq!(later.slice_ms("plain/v"), None);
    let differ = SlicesDiffer {
        subject: "warm/v".into(),
        slice_ms: (None, Some(64)),
    };
    let reported: Vec<_> = agreements(&earlier, &later)
        .into_iter()
        .map(|of| (of.identity.subject, of.slices))
        .collect();
    let (twin, warm) = (twin_of("plain/v"), "warm/v".to_owned());
    assert_eq!(reported, [(twin, Vec::new()), (warm, vec![differ])]);
}

#[test]
fn a_twin_must_be_measured_at_all_and_a_claim_must_fit_its_rows() {
    for (sound, faulty, fault) in [
        (
            r#"twins = ["plain/v"]"#,
            r#"twins = ["plane/v"]"#,
            "`plane/v` is no subject of this suite",
        ),
        (
            r#"twins = ["plain/v"]"#,
            r#"full_twins = ["plane/v"]"#,
            "`plane/v` is no subject of this suite",
        ),
        (
            r#"quantity = "cpu""#,
            r#"quantity = "p99""#,
            "`p99` is nothing that is claimed here",
        ),
    ] {
        let said = faults_after(COSTLY, sound, faulty);
        assert!(said.contains(fault), "{said}");
    }
}
