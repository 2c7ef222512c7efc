//! One run of a program.

use crate::record::Absence;
use crate::run::Task;
use crate::run::account::Account;
use crate::run::engine::{Engine, Failure};
use crate::run::process_pool::program_launch;
use antiphon_measure::WholeRun;
use antiphon_runner::{End, Error as RunnerError, Output, Program};
use std::path::Path;
use std::time::Duration;

/// Runs a program in a round, or, in none, to count.
pub(super) fn run(
    engine: &Engine<'_, '_>,
    position: usize,
    round: Option<u32>,
) -> Result<(Account, WholeRun), Failure> {
    let item = &engine.items[position];
    let Task::Program {
        program,
        arguments,
        limit_s,
        ..
    } = &item.task
    else {
        unreachable!("members of a set are programs");
    };
    let identity = &item.identity;
    let build = (identity.subject.clone(), identity.policy.clone());
    let Some(built) = engine.processes.builds.get(&build) else {
        let reason = format!("there is no build of {} for this policy", identity.subject);
        return badly(Absence::new(reason, "see why its build failed"));
    };
    let placement = engine.processes.processors.placement(&identity.placement);
    let launch = program_launch(built, &identity.policy, placement, program, arguments);
    let mut launch = match launch {
        Ok(launch) => launch,
        Err(path) => return badly(lacking(&path)),
    };
    launch.start_limit = Duration::from_secs(*limit_s);
    if round.is_none() {
        launch.env.extend(built.counting.iter().cloned());
    }
    let Some(program) = launch.program() else {
        return badly(Absence::new("its subject has no `run`", "give it one"));
    };
    finish(&program.comes_first(), engine, round.unwrap_or_default())
}

fn badly<T>(absence: Absence) -> Result<T, Failure> {
    Err(Failure::Absent(absence))
}

/// Returns the absence of a program that was not built. Its subject leaves out programs without a
/// toolchain on this machine.
fn lacking(path: &Path) -> Absence {
    let reason = format!("the build left no {}", path.display());
    Absence::new(reason, "see the subject's README for what it needs")
}

fn finish(
    program: &Program,
    engine: &Engine<'_, '_>,
    round: u32,
) -> Result<(Account, WholeRun), Failure> {
    let output = match program.run_unless(engine.lab.stop) {
        Ok(output) => output,
        Err(RunnerError::Interrupted { .. }) => return Err(Failure::Interrupted),
        Err(error) => return badly(Absence::of_message(error)),
    };
    let spoke = |reason: String, help: &str| {
        badly(Absence::new(reason, help).with_last_words(&output.stderr))
    };
    if output.end != End::Exited(0) {
        let reason = format!("it {}", output.end);
        return spoke(reason, "run the program by hand to see why");
    }
    let stdout = String::from_utf8_lossy(&output.stdout);
    match Account::read(&stdout, &output.stderr) {
        Ok(account) => {
            let run = whole_run(&output, &account, round);
            Ok((account, run))
        }
        Err(why) => spoke(
            why,
            "docs/reference/subjects.md says what a whole program prints",
        ),
    }
}

fn whole_run(output: &Output, account: &Account, round: u32) -> WholeRun {
    let usage = &output.usage;
    WholeRun {
        round,
        elapsed_ns: account.elapsed_ns,
        wall_ns: usage.wall.as_nanos() as u64,
        user_ns: usage.user.as_nanos() as u64,
        system_ns: usage.system.as_nanos() as u64,
        peak_rss_bytes: usage.peak_rss_bytes,
        peak_rss_floor_bytes: Some(usage.peak_rss_floor_bytes),
        voluntary: usage.voluntary_switches,
        involuntary: usage.involuntary_switches,
        counters: account.counters.clone(),
    }
}
