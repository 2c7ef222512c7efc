//! The second opinion on costs that cannot be told from their control's: instruction counts, as far as the time for them reaches.

use super::engine::Engine;
use super::seats::launch;
use super::{Event, Options, RunError};
use crate::instructions::{CountRequest, Counter, NoCount};
use crate::record::{Identity, Outcome, ResultRecord};
use antiphon_measure::FindingKind;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Time for all counts of a quick and of a full run. Under callgrind a subject takes a second or two to start, and a count some tenth of one.
const QUICK_LIMIT: Duration = Duration::from_secs(10);
const FULL_LIMIT: Duration = Duration::from_secs(120);

/// The smaller number of iterations, from which the slope is taken.
const FEW: u64 = 8;
/// How many more the larger number has: requests of equal numbers differ by some ten instructions.
const MORE: (u64, u64) = (64, 4096);

/// Counts the instructions of every frame whose interval contains zero, and adds them to its result.
pub(super) fn ask(engine: &mut Engine<'_, '_>, options: &Options) -> Result<(), RunError> {
    let mut limit = if options.quick {
        QUICK_LIMIT
    } else {
        FULL_LIMIT
    };
    // The suite's own budget leaves room for the counts; the user's is all there is.
    if let Some(remaining) = engine
        .budget
        .remaining()
        .filter(|_| options.time_budget_s.is_some())
    {
        limit = limit.min(Duration::from_secs_f64(remaining));
    }
    let begun = Instant::now();
    // Callgrind knows neither policy nor placement: one count serves all of a test's results.
    let mut counted: HashMap<Identity, f64> = HashMap::new();
    let mut counters = Counters::default();
    let mut skipped = 0;
    for position in 0..engine.items.len() {
        let Some(result) = engine
            .result(position)
            .filter(|result| is_asked(result))
            .cloned()
        else {
            continue;
        };
        let key = unplaced(&result.identity);
        if !counted.contains_key(&key) {
            if engine.interrupted() || begun.elapsed() >= limit {
                skipped += 1;
                continue;
            }
            match counters.count(engine, &result, limit) {
                Some(Ok(per_operation)) => {
                    counted.insert(key.clone(), per_operation);
                }
                Some(Err(NoCount::Missing)) => {
                    engine.tell(Event::Warning(&NoCount::Missing.to_string()));
                    return Ok(());
                }
                Some(Err(error)) => engine.tell(Event::Warning(&error.to_string())),
                None => {}
            }
        }
        if let Some(per_operation) = counted.get(&key) {
            add(engine, position, result, *per_operation)?;
        }
    }
    if skipped > 0 && !engine.interrupted() {
        let text = format!(
            "{skipped} costs that cannot be told from their control's were not checked by instruction counts: the {:.0} s for that were over; {}",
            limit.as_secs_f64(),
            if options.quick {
                "measure without --quick, or fewer rows with --only, to have them all"
            } else {
                "measure fewer rows at a time with --only to have them all"
            }
        );
        engine.tell(Event::Warning(&text));
    }
    Ok(())
}

/// Whether a result needs the opinion and does not have it.
fn is_asked(result: &ResultRecord) -> bool {
    let Outcome::Frame(estimate) = &result.outcome else {
        return false;
    };
    let indistinguishable = |kind| kind == FindingKind::IndistinguishableFromControl;
    estimate.resources.instructions.is_none()
        && estimate
            .findings
            .iter()
            .any(|finding| indistinguishable(finding.kind))
}

fn unplaced(identity: &Identity) -> Identity {
    Identity {
        policy: String::new(),
        placement: String::new(),
        ..identity.clone()
    }
}

/// The subjects that run under callgrind.
#[derive(Default)]
struct Counters {
    running: HashMap<String, Counter>,
}

impl Counters {
    /// Instructions per operation; `None` if there is no build to count in.
    fn count(
        &mut self,
        engine: &Engine<'_, '_>,
        result: &ResultRecord,
        limit: Duration,
    ) -> Option<Result<f64, NoCount>> {
        let identity = &result.identity;
        let build = (identity.subject.clone(), identity.policy.clone());
        let built = engine.seats.builds.get(&build)?;
        let launch = launch(built, "other", engine.seats.processors.placement("free"));
        let request = CountRequest {
            test: &identity.test,
            arg: identity.arg,
            iterations: iterations(engine, result),
            limit: limit.max(Duration::from_secs(1)),
        };
        // After a failure the process is started again for the next test.
        let mut counter = match self.running.remove(&identity.subject) {
            Some(counter) => counter,
            None => match Counter::start(&launch) {
                Ok(counter) => counter,
                Err(error) => return Some(Err(error)),
            },
        };
        let counted = counter.count(&request);
        if counted.is_ok() {
            self.running.insert(identity.subject.clone(), counter);
        }
        Some(counted.map(|count| count.per_operation()))
    }
}

/// The two numbers of iterations: some slices of them, as far as the test permits.
fn iterations(engine: &Engine<'_, '_>, result: &ResultRecord) -> (u64, u64) {
    let of_slice = match &result.outcome {
        Outcome::Frame(estimate) => estimate.iterations,
        _ => 0,
    };
    let name = (
        result.identity.subject.clone(),
        result.identity.test.clone(),
    );
    let most = engine.tests.get(&name).and_then(|test| test.most);
    let more = of_slice.saturating_mul(4).clamp(MORE.0, MORE.1);
    let many = (FEW + more).min(most.unwrap_or(u64::MAX)).max(2);
    (FEW.min(many / 2), many)
}

fn add(
    engine: &mut Engine<'_, '_>,
    position: usize,
    mut result: ResultRecord,
    per_operation: f64,
) -> Result<(), RunError> {
    result.outcome = match result.outcome {
        Outcome::Frame(estimate) => {
            Outcome::Frame(Box::new(estimate.with_instructions(per_operation)))
        }
        other => other,
    };
    engine.replace(position, result)
}
