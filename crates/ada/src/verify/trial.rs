//! The runs of both programs under each schedule, and the check whether differences are more than
//! chance.

use std::path::{Path, PathBuf};
use std::time::Duration;

use antiphon_runner::{End, Output};

use super::compare::{self, Comparison};
use super::schedule::Schedule;
use super::{Cost, Error, Finding, Options, noise};

/// How often the original runs again before a difference is reported.
pub(super) const CONFIRMATIONS: usize = 2;

/// The runs under one schedule, and their results.
pub(super) struct Trial {
    pub finding: Finding,
    original: PathBuf,
    before: Vec<Output>,
    after: Vec<Output>,
}

impl Trial {
    fn new(schedule: Schedule, original: &Path) -> Trial {
        Trial {
            finding: Finding {
                schedule,
                skipped: None,
                comparison: Comparison::default(),
                original: Cost::default(),
                translation: Cost::default(),
            },
            original: original.to_path_buf(),
            before: vec![],
            after: vec![],
        }
    }

    pub(super) fn skipped(schedule: Schedule, why: String) -> Trial {
        let mut trial = Trial::new(schedule, Path::new(""));
        trial.finding.skipped = Some(why);
        trial
    }

    pub(super) fn of(
        schedule: Schedule,
        original: &Path,
        translation: &Path,
        options: &Options,
    ) -> Result<Trial, Error> {
        let mut trial = Trial::new(schedule, original);
        trial.before = run(original, schedule, options, &mut trial.finding.original)?;
        trial.after = run(
            translation,
            schedule,
            options,
            &mut trial.finding.translation,
        )?;
        Ok(trial)
    }
}

impl Trial {
    /// Whether the translation ended by a failure where the original does not end.
    pub(super) fn fails_alone(&self) -> bool {
        self.finding
            .comparison
            .differences
            .contains(&FAILURE.to_string())
    }

    /// Accepts an exception of the main subprogram as no difference: it ends the translation, and
    /// also the original's main subprogram.
    pub(super) fn excuse(&mut self, exception: &str) {
        let raised = format!("raised {exception}");
        let is_it = |o: &Output| {
            o.end != End::Exited(1) || o.stderr.to_uppercase().contains(&raised.to_uppercase())
        };
        if self.after.iter().all(is_it) {
            let differences = &mut self.finding.comparison.differences;
            differences.retain(|d| d != FAILURE);
        }
    }
}

/// The difference that an unhandled exception of the main subprogram causes if the original does
/// not end.
const FAILURE: &str = "the translation ended with exit code 1";

/// Compares all trials. The translation may do under every schedule what the original does under
/// any.
pub(super) fn compare_all(trials: &mut [Trial]) {
    let found: Vec<Comparison> = {
        let all: Vec<&Output> = trials.iter().flat_map(|t| &t.before).collect();
        let compared = trials.iter();
        compared
            .map(|t| compare::compare(&all, t.before.len(), &t.after))
            .collect()
    };
    for (trial, comparison) in trials.iter_mut().zip(found) {
        if trial.finding.skipped.is_none() {
            trial.finding.comparison = comparison;
        }
    }
}

/// Runs the original again where its translation seems to differ, because the common output of a
/// few runs may be chance. This applies above all to programs that draw random numbers or are
/// stopped at the time limit. Returns whether anything ran.
pub(super) fn confirm(trials: &mut [Trial], options: &Options) -> Result<bool, Error> {
    let mut ran = false;
    for trial in trials {
        if trial.finding.comparison.differences.is_empty() {
            continue;
        }
        let schedule = trial.finding.schedule;
        let cost = &mut trial.finding.original;
        trial
            .before
            .extend(run(&trial.original, schedule, options, cost)?);
        ran = true;
    }
    Ok(ran)
}

fn run(
    executable: &Path,
    schedule: Schedule,
    options: &Options,
    cost: &mut Cost,
) -> Result<Vec<Output>, Error> {
    let mut outputs: Vec<Output> = Vec::new();
    let _noise =
        (schedule == Schedule::Perturbed).then(|| noise::Noise::start(3, options.runs as u64));
    for number in 0..options.runs {
        let output = schedule
            .apply(executable, number)
            .time_limit(options.time_limit)
            .grace(Duration::ZERO)
            .input(options.input.clone())
            .run()?;
        cost.add(&output);
        let is_endless = matches!(output.end, End::TimedOut { .. });
        outputs.push(output);
        // A program that does not end costs the whole limit each time, so two runs must suffice.
        if is_endless && outputs.len() >= 2 {
            break;
        }
    }
    Ok(outputs)
}
