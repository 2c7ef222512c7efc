//! Suites that ask for costs: subjects take turns once more, one of them twice under two names, those that need it are warmed, and what others used is
//! watched.

use crate::common::{Place, Seen, quick};
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
test = "self.dearer"
label = "dearer"
[[findings]]
id = "f"
title = "F"
source = "nobody"
claim = [{ text = "It is no cheaper than itself", quantity = "cpu", of = "warm/v", against = "plain/v", tests = ["self.dearer"], run = "other.same", at_least = 0.1 }]
"#
);

fn measured() -> RunRecord {
    let place = Place::with(&["plain", "warm"]);
    place.measure_suite(&mut Seen::default(), COSTLY, &quick(&[]))
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
    let costs = |subject: &str| {
        let own = |result: &&antiphon_lab::ResultRecord| result.identity.subject == subject;
        let costs = record.results.iter().find(own).unwrap().costs.as_ref();
        costs.unwrap().clone()
    };
    let (plain, long) = (costs("plain/v"), costs("long/v"));
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
    // Slices of 40 ms and of 3. Of all starts: one may have been tried while it had to wait for its processor, and is then as long as the time on the wall allows.
    let iterations =
        |of: &antiphon_lab::Costs| of.rounds.clone().into_iter().map(|of| of.iterations);
    let (longest, shortest) = (iterations(&long).max(), iterations(&plain).min());
    // Who does not come before other programs may wait for his processor each time that slices are tried, and then the wall's time alone limits both kinds.
    let is_ordinary = |told: &String| told.contains("measured at the ordinary priority");
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
    let record = measured();
    let of = |subject: &str| {
        let own = |result: &&antiphon_lab::ResultRecord| result.identity.subject == subject;
        record.results.iter().find(own).unwrap()
    };
    for result in ["plain/v", "warm/v"].map(of) {
        assert_eq!(
            result.starts.len(),
            1,
            "its time is that of the start that was asked for"
        );
        let costs = result.costs.as_ref().unwrap();
        let started: Vec<u32> = costs.held.iter().map(|held| held.start).collect();
        let all: Vec<u32> = (0..started.len() as u32).collect();
        assert_eq!(started, all);
        let has_rounds = |start: &u32| costs.rounds.iter().any(|round| round.start == *start);
        assert!(started.iter().all(has_rounds), "{costs:?}");
    }
    let (plain, warm) = (of("plain/v"), of("warm/v"));
    let costs = warm.costs.as_ref().unwrap();
    if costs.waits() {
        return; // A machine so busy settles nothing by another start.
    }
    assert!(costs.held.len() > 1, "{costs:?}");
    assert_eq!(warm.warm_ups.len(), costs.held.len(), "each was warmed");
    // All rounds as calm ones: where the machine was calm in one start alone, no other would be told of.
    let calm = |of: &antiphon_lab::Costs| {
        let mut of = of.clone();
        of.rounds.iter_mut().for_each(|round| round.slowed = 0.0);
        of
    };
    let (costs, base) = (calm(costs), calm(plain.costs.as_ref().unwrap()));
    let starts = costs.starts(&base, |round| Some(round.both_ns())).unwrap();
    assert!(starts.deviation().is_some(), "{starts:?}");
}

#[test]
fn what_a_subject_holds_is_read_after_each_round_unless_it_is_a_virtual_machine() {
    let place = Place::with(&["plain", "warm", "leaks"]);
    let suite = COSTLY.replacen(r#""plain/v", "#, r#""plain/v", "leaks/v", "#, 1);
    let record = place.measure_suite(&mut Seen::default(), &suite, &quick(&[]));
    let held = |subject: &str| {
        let own = |result: &&antiphon_lab::ResultRecord| result.identity.subject == subject;
        let costs = record.results.iter().find(own).unwrap().costs.as_ref();
        let rounds = costs.unwrap().rounds.iter().filter(|of| of.start == 0);
        rounds.map(|round| round.held_bytes).collect::<Vec<_>>()
    };
    assert!(held("warm/v").iter().all(|bytes| *bytes == 0));
    assert!(held("plain/v").iter().all(|bytes| *bytes > 0));
    let leaks = held("leaks/v");
    assert!(leaks.len() >= 5 && leaks.is_sorted(), "{leaks:?}");
    // A turn that something slowed is taken again: then more of them are before the first reading, too.
    assert!(2 * leaks[leaks.len() - 1] > 3 * leaks[0], "{leaks:?}");
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
    let record = place.measure_suite(&mut Seen::default(), suite, &quick(&[]));
    // By how much it holds more, and the part of that in what it had reserved.
    let grown = |name: &str| {
        let subject = format!("{name}/v");
        let own = |result: &&antiphon_lab::ResultRecord| result.identity.subject == subject;
        let costs = record.results.iter().find(own).unwrap().costs.as_ref();
        let rounds = costs.unwrap().rounds.iter().filter(|of| of.start == 0);
        let rounds: Vec<_> = rounds.collect();
        let (first, last) = (rounds[0], rounds[rounds.len() - 1]);
        assert_eq!(first.walked_bytes, 0);
        let grown = last.held_bytes.saturating_sub(first.held_bytes);
        assert!(grown >= 128 << 10, "{name}: {rounds:?}");
        (grown, last.walked_bytes)
    };
    let (grown_buffer, filled) = grown("fills-buffer");
    assert!(filled > grown_buffer / 10 * 9, "{filled} of {grown_buffer}");
    for name in ["leaks", "fills-arena"] {
        let (grown, filled) = grown(name);
        assert!(filled < grown / 2, "{name}: {filled} of {grown}");
    }
}

#[test]
fn what_is_not_granted_is_told_once_and_kept_with_the_run() {
    if limit_permits_real_time() {
        return;
    }
    let place = Place::with(&["plain", "warm"]);
    let mut seen = Seen::default();
    // It is what it takes to come before others.
    let record = without(CapabilitySet::SYS_NICE, || {
        place.measure_suite(&mut seen, COSTLY, &quick(&[]))
    });
    let told = |part: &str| {
        seen.warnings
            .iter()
            .filter(|told| told.contains(part))
            .count()
    };
    assert_eq!(
        told("turns are not taken in real time (SCHED_RR)"),
        1,
        "{:?}",
        seen.warnings
    );
    assert_eq!(told("cannot be stopped"), 0, "{:?}", seen.warnings);
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
        // The first whose processor time is told from nothing, which on a busy machine may be the twin.
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
        // On a busy machine it may not be told from nothing, and then is compared with nothing.
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
    let told: Vec<_> = agreements(&earlier, &later)
        .into_iter()
        .map(|of| (of.identity.subject, of.slices))
        .collect();
    let (twin, warm) = (twin_of("plain/v"), "warm/v".to_owned());
    assert_eq!(told, [(twin, Vec::new()), (warm, vec![differ])]);
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
        let text = COSTLY.replacen(sound, faulty, 1);
        let said = Suite::parse("costly.toml", &text).unwrap_err().to_string();
        assert!(said.contains(fault), "{said}");
    }
}
