//! Which of the findings about subjects hold in this run: the words come from the figures.

use super::{marks, marks_of_turns, of_both, of_subject};
use crate::compose::cold::{self, NOT_WARM};
use crate::compose::load::{Trial, claims_table, needs_warmth};
use crate::compose::view::{RunColumn, View};
use crate::document::{Block, Section};
use antiphon_lab::suite::{ServerClaim, ServerQuantity};
use antiphon_lab::{Costs, HeldAfter, ResultRecord};
use antiphon_measure::{Interval, farthest};

/// The section of findings; `None` where none can be tried.
pub(super) fn section(view: &View) -> Option<Section> {
    let findings = view.layout.findings.iter();
    let blocks: Vec<Block> = findings
        .flat_map(|findings| claims_table(findings, &|claim, test| trial(view, claim, test)))
        .collect();
    (!blocks.is_empty()).then(|| Section {
        id: "spent-claims".into(),
        title: "What was found elsewhere, and whether it holds here".into(),
        blocks,
    })
}

/// A claim in one test. A deviation is one of all tests together, and tried with the first.
fn trial(view: &View, claim: &ServerClaim, test: &str) -> Option<Trial> {
    let find = |subject: &String| view.find(test, &column(claim, subject));
    let (ours, theirs) = (find(&claim.of)?, find(&claim.against)?);
    let share = match claim.quantity {
        ServerQuantity::Deviation if claim.tests.first().is_some_and(|first| first == test) => {
            deviation(view, claim)
        }
        ServerQuantity::Time => ours.time()?.over(&theirs.time()?),
        ServerQuantity::Cpu => ours
            .costs
            .as_ref()?
            .ratio(theirs.costs.as_ref()?, of_subject),
        ServerQuantity::BothCpu => ours.costs.as_ref()?.ratio(theirs.costs.as_ref()?, of_both),
        ServerQuantity::Memory => {
            let held = |costs: &Costs| costs.memory(|held| Some(held.subject.pss_bytes));
            share(ours, theirs, held)
        }
        ServerQuantity::ServerMemory => {
            let server = |after: &HeldAfter| Some(after.server.as_ref()?.held.pss_bytes);
            share(ours, theirs, |costs: &Costs| costs.memory(server))
        }
        ServerQuantity::Threads => {
            let held = |costs: &Costs| costs.threads(|held| Some(held.subject.threads));
            share(ours, theirs, held)
        }
        _ => None,
    };
    let share = share?;
    let sides = sides(view, claim, test);
    let is_cold =
        needs_warmth(claim.quantity) && sides.iter().any(|side| cold::is_subject_cold(side));
    Some(Trial {
        test: match claim.quantity {
            ServerQuantity::Deviation => format!("{} tests together", claim.tests.len()),
            _ => view.label(&ours.identity),
        },
        share,
        possible: share, // nothing generates load for these
        is_cold,
        words: words(claim, &sides, is_cold),
    })
}

/// The results that a claim rests on in a test: those of either side, of a deviation in all of its tests.
fn sides<'a>(view: &View<'a>, claim: &ServerClaim, test: &str) -> Vec<&'a ResultRecord> {
    let alone = [test.to_owned()];
    let tests = match claim.quantity {
        ServerQuantity::Deviation => &claim.tests[..],
        _ => &alone,
    };
    let sides = [&claim.of, &claim.against].map(|subject| column(claim, subject));
    let results = tests
        .iter()
        .flat_map(|test| sides.iter().filter_map(|side| view.find(test, side)));
    results.collect()
}

/// What weakens their figures, but for what the verdict tells.
fn words(claim: &ServerClaim, sides: &[&ResultRecord], is_cold: bool) -> Vec<String> {
    // Processor time has turns of its own, and what disturbed the time is nothing to it.
    let marks = |result: &&ResultRecord| match claim.quantity {
        ServerQuantity::Cpu | ServerQuantity::BothCpu => marks_of_turns(result),
        _ => marks(result),
    };
    let mut words: Vec<String> = Vec::new();
    for mark in sides.iter().flat_map(marks) {
        let is_told = is_cold && mark.word == NOT_WARM;
        if !is_told && !words.contains(&mark.word) {
            words.push(mark.word);
        }
    }
    words
}

fn column(claim: &ServerClaim, subject: &str) -> RunColumn {
    RunColumn {
        subject: subject.to_owned(),
        policy: claim.run.policy.clone(),
        placement: claim.run.placement.clone(),
    }
}

fn share(
    ours: &ResultRecord,
    theirs: &ResultRecord,
    of: impl Fn(&Costs) -> Option<Interval>,
) -> Option<Interval> {
    of(ours.costs.as_ref()?)?.over(&of(theirs.costs.as_ref()?)?)
}

/// How far the costs in the claim's tests are from a straight line, as a share of how far the others' are: from 0 where ours may be on one or the others'
/// are not bounded, to ∞ where the others' may be on one or ours are not bounded.
fn deviation(view: &View, claim: &ServerClaim) -> Option<Interval> {
    let of = |subject: &String| {
        let column = column(claim, subject);
        let lines = view.layout.groups.iter().flat_map(|group| &group.lines);
        let points = lines.flat_map(|sweep| &sweep.points);
        let points = points.filter(|(_, test)| claim.tests.contains(test));
        let costs =
            points.filter_map(|(number, test)| Some((*number, view.find(test, &column)?.time()?)));
        farthest(&costs.collect::<Vec<_>>())
    };
    let (ours, theirs) = (of(&claim.of)?, of(&claim.against)?);
    (theirs.value > 0.0).then(|| Interval {
        value: ours.value / theirs.value,
        low: ours.low.max(0.0) / theirs.high,
        high: match theirs.low > 0.0 {
            true => ours.high / theirs.low,
            false => f64::INFINITY, // even where ours are on one: 0 / 0
        },
    })
}
