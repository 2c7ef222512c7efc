//! A frame: batches as its plan asks for them, each stored as it arrives.

use super::Item;
use super::engine::{Engine, Failure};
use crate::record::{Absence, Identity};
use crate::store::Raw;
use antiphon_measure::{
    Batch, BatchRequest, ClockFacts, Estimate, Expected, FrameError, FramePlan, FrameSettings, Step,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The name under which a plan's conditions are stored before its batches.
const CONDITIONS: &str = "frame";

/// Everything that a frame's plan is made of: with the batches it gives the same estimate again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Conditions {
    pub(crate) clock: ClockFacts,
    pub(crate) expected: Expected,
    pub(crate) settings: FrameSettings,
}

impl Conditions {
    fn plan(&self) -> FramePlan {
        FramePlan::new(self.clock, self.expected.clone(), self.settings.clone())
    }

    fn raw(&self) -> Raw {
        Raw::Note {
            name: CONDITIONS.to_owned(),
            json: serde_json::to_string(self).expect("conditions are always writable as JSON"),
        }
    }
}

pub(super) fn measure(
    engine: &mut Engine<'_, '_>,
    position: usize,
    start: u32,
    share: f64,
) -> Result<Estimate, Failure> {
    let item = engine.items[position].clone();
    let test = engine.test(&item).cloned();
    engine.warm_up = super::warm::up(engine, position, start)?;
    let mut plan = begin(engine, position, start, share, &item)?;
    // The whole budget may go into one batch of an operation that takes that long.
    let limit =
        engine.processes.hang_limit + Duration::from_secs_f64(10.0 * engine.sizes.seconds_per_row);
    while let Step::Run(request) = plan.next() {
        if engine.interrupted() {
            plan.interrupt();
            break;
        }
        let live = engine
            .processes
            .live(&item.identity, start)
            .map_err(Failure::Absent)?;
        let answer = live
            .session
            .batch(&item.identity.test, item.identity.arg, &request, limit);
        let batch = engine.took(position, start, answer)?;
        engine.append(position, start, &raw(&item, &request, &batch))?;
        engine.claims.note(test.as_ref(), &item, position, &batch);
        plan.take(&request, &batch)
            .map_err(|error| Failure::Absent(Absence::of_message(error)))?;
    }
    let whose = (item.identity.subject.clone(), item.identity.policy.clone());
    match plan.estimate(engine.betas.get(&whose).copied()) {
        Ok(mut estimate) => {
            super::counted::add(engine, position, start, &mut estimate, limit);
            Ok(estimate)
        }
        Err(FrameError::NothingMeasured) if engine.interrupted() => Err(Failure::Interrupted),
        Err(error) => Err(Failure::Absent(Absence::of_message(error))),
    }
}

/// Creates the plan, advanced by stored batches of this start.
fn begin(
    engine: &mut Engine<'_, '_>,
    position: usize,
    start: u32,
    share: f64,
    item: &Item,
) -> Result<FramePlan, Failure> {
    let stored = std::mem::take(&mut engine.stored[position]);
    let replayed = replay(&stored, start);
    engine.stored[position] = stored;
    if let Some(plan) = replayed {
        return Ok(plan);
    }
    let conditions = conditions(engine, item, start, share)?;
    engine.append(position, start, &conditions.raw())?;
    Ok(conditions.plan())
}

/// Returns the newest plan of a start after its stored batches; `None` if nothing usable is stored.
fn replay(stored: &[(u32, Raw)], start: u32) -> Option<FramePlan> {
    let mut replayed: Option<FramePlan> = None;
    for (_, raw) in stored.iter().filter(|(of, _)| *of == start) {
        match raw {
            Raw::Note { name, json } if name == CONDITIONS => {
                let conditions: Conditions = serde_json::from_str(json).ok()?;
                replayed = Some(conditions.plan());
            }
            Raw::Batch { batch, .. } => {
                let plan = replayed.as_mut()?;
                let Step::Run(request) = plan.next() else {
                    continue;
                };
                plan.take(&request, batch).ok()?;
            }
            _ => {}
        }
    }
    replayed
}

fn conditions(
    engine: &mut Engine<'_, '_>,
    item: &Item,
    start: u32,
    share: f64,
) -> Result<Conditions, Failure> {
    let identity = &item.identity;
    let clock = engine
        .processes
        .live(identity, start)
        .map_err(Failure::Absent)?
        .clock;
    let expected = expected(engine, item);
    let budget_s = engine.sizes.seconds_per_row * share;
    let settings = FrameSettings {
        relative_half_width: engine.sizes.relative_half_width,
        budget_ns: (budget_s * 1e9) as u64,
        most_iterations: engine.test(item).and_then(|test| test.most),
        ..FrameSettings::default()
    };
    Ok(Conditions {
        clock,
        expected,
        settings,
    })
}

/// Returns the promises of an item's identity about its threads.
pub(super) fn expected(engine: &Engine<'_, '_>, item: &Item) -> Expected {
    let identity = &item.identity;
    let test = engine.test(item);
    let switches = test.and_then(|test| test.switches);
    Expected {
        switches_per_operation: switches,
        policy: identity.policy.clone(),
        placement: engine.processes.processors.placement(&identity.placement),
        blocking: switches.is_some_and(|switches| switches > 0.0)
            || test.is_some_and(|test| test.threads > 1 || test.arg.as_deref() == Some("ns"))
            || waits_for_others(engine, identity),
        work: test.and_then(|test| test.work.clone()),
        threads: test.map_or(1, |test| test.threads.into()),
    }
}

/// Checks whether an operation waits for its database's server, or for the disk.
fn waits_for_others(engine: &Engine<'_, '_>, identity: &Identity) -> bool {
    engine.processes.server(identity).is_some() || engine.waits_for_disk.contains(&identity.test)
}

/// Returns a batch in its stored form.
pub(super) fn raw(item: &Item, request: &BatchRequest, batch: &Batch) -> Raw {
    Raw::Batch {
        asked: serde_json::to_string(request).expect("a request is always writable as JSON"),
        arg: item.identity.arg,
        batch: batch.clone(),
    }
}
