//! Findings about subjects, judged by this run's figures.

use super::{marks, marks_of_turns, of_both, of_subject};
use crate::compose::cold::{self, NOT_WARM};
use crate::compose::load::{self, Trial, claims_table, needs_warmth};
use crate::compose::verdict::Judged;
use crate::compose::view::{RunColumn, View};
use crate::document::{Block, Section};
use antiphon_lab::suite::{ServerClaim, ServerQuantity};
use antiphon_lab::{Costs, HeldAfter, ResultRecord};
use antiphon_measure::{Interval, farthest};

/// Id of the section of claims.
const SECTION: &str = "spent-claims";

/// Returns the claims about subjects that can be tried.
pub fn judged(view: &View) -> Vec<(String, Judged)> {
    let trial = |claim: &ServerClaim, test: &str| trial(view, claim, test);
    load::judged(&view.layout.findings, SECTION, &trial)
}

/// Returns the section of findings; `None` if none can be tried.
pub(super) fn section(view: &View) -> Option<Section> {
    let findings = view.layout.findings.iter();
    let blocks: Vec<Block> = findings
        .flat_map(|findings| claims_table(findings, &|claim, test| trial(view, claim, test)))
        .collect();
    (!blocks.is_empty()).then(|| Section {
        id: SECTION.into(),
        title: "What was found elsewhere, and whether it holds here".into(),
        blocks,
    })
}

/// Tries a claim in one test. A deviation belongs to all tests together, and is tried with the
/// first.
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

/// Returns the results behind a claim in a test: those of either side, for a deviation in all of
/// its tests.
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

/// Returns the weaknesses of their figures, except those that the verdict tells.
fn words(claim: &ServerClaim, sides: &[&ResultRecord], is_cold: bool) -> Vec<String> {
    // Processor time has separate turns, so disturbances of the time do not concern it.
    let marks = |result: &&ResultRecord| match claim.quantity {
        ServerQuantity::Cpu | ServerQuantity::BothCpu => marks_of_turns(result),
        _ => marks(result),
    };
    let mut words: Vec<String> = Vec::new();
    for mark in sides.iter().flat_map(marks) {
        let is_reported = is_cold && mark.word == NOT_WARM;
        if !is_reported && !words.contains(&mark.word) {
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

/// Returns the distance of the costs in the claim's tests from a straight line, as a share of the
/// others' distance.
///
/// It is from 0 if our costs may be on a line or the others' distance has no bound. It is to ∞ if
/// the others' may be on a line or our distance has no bound.
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
