//! The runs of both programs under each schedule, and whether what differs is more than luck.

use std::path::{Path, PathBuf};
use std::time::Duration;

use antiphon_runner::{End, Output};

use super::compare::{self, Comparison};
use super::schedule::Schedule;
use super::{Cost, Error, Finding, Options, noise};

/// How often the original runs again before a difference is believed.
pub(super) const CONFIRMATIONS: usize = 2;

/// The runs under one schedule, and what they showed.
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

/// What the original does under any schedule, its translation may do under every one.
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

/// Runs the original again where its translation seems to differ: what a few runs have in common may be luck, above all in programs that
/// draw random numbers or are cut off at the time limit. Whether anything ran.
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
        // A program that does not end costs the whole limit each time: two runs tell as much as many.
        if is_endless && outputs.len() >= 2 {
            break;
        }
    }
    Ok(outputs)
}
