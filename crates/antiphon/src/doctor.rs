//! `antiphon doctor`: what this machine can do, and whether a subject keeps the protocol.

use crate::cli::{Cli, Doctor};
use crate::exit::Exit;
use crate::home::home;
use crate::progress::Progress;
use crate::subjects;
use antiphon_lab::build::{Cache, compiler};
use antiphon_lab::conformance::{self, Check};
use antiphon_lab::machine::{Advice, ClockReport, clock_reports, interference};
use antiphon_lab::run::{Event, Observer};
use antiphon_lab::subject::Subject;
use antiphon_lab::{Launch, Machine};
use antiphon_measure::Interference;
use anyhow::{Context, Result};
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// How long the machine's interference is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// Looks at the machine, or at one subject.
pub fn run(cli: &Cli, options: &Doctor) -> Result<Exit> {
    match &options.subject {
        Some(folder) => check_subject(folder, options),
        None => machine(cli, options),
    }
}

// --- A subject -------------------------------------------------------------------------------------------------------------

fn check_subject(folder: &Path, options: &Doctor) -> Result<Exit> {
    let chosen = subjects::in_folder(folder, options.variant.as_deref())?;
    let id = format!("{}/{}", chosen.subject.name, chosen.variant.name);
    let mut progress = Progress::new();
    progress.event(Event::Building {
        subject: &id,
        policy: "other",
    });
    let built = Cache::of_user().build(&chosen.subject, &chosen.variant, "other")?;
    let checks = conformance::check(&Launch::new(id.clone(), built.run, built.folder));
    let failed = checks.iter().filter(|check| !check.passed).count();
    if options.json {
        println!("{}", serde_json::to_string_pretty(&checks)?);
    } else {
        checks.iter().for_each(print_check);
        println!(
            "\n{id}: {} rules kept, {failed} broken",
            checks.len() - failed
        );
    }
    Ok(if failed == 0 { Exit::Done } else { Exit::No })
}

fn print_check(check: &Check) {
    let mark = if check.passed { "ok  " } else { "FAIL" };
    println!("{mark} {:28} {}", check.name, check.evidence);
    if !check.passed {
        println!("     {:28} mend: {}", "", check.mend);
    }
}

// --- The machine -----------------------------------------------------------------------------------------------------------

/// What `doctor` found, as JSON shows it.
#[derive(Serialize)]
struct Findings {
    machine: Machine,
    subjects: Vec<Toolchain>,
    clocks: Vec<ClockReport>,
    interference: Option<Interference>,
    advice: Vec<Advice>,
}

/// A subject's needs.
#[derive(Serialize)]
struct Toolchain {
    subject: String,
    language: String,
    version: Option<String>,
    missing: Vec<String>,
    install: Option<String>,
}

fn machine(cli: &Cli, options: &Doctor) -> Result<Exit> {
    let home = home(cli)?;
    let found = Findings {
        machine: Machine::collect(),
        subjects: subjects::all(&home)?.iter().map(toolchain).collect(),
        clocks: clock_reports(),
        interference: interference(LOOK).ok(),
        advice: Machine::advice(),
    };
    if options.json {
        println!(
            "{}",
            serde_json::to_string_pretty(&found).context("cannot write JSON")?
        );
    } else {
        print_machine(&found);
    }
    let missing = found
        .subjects
        .iter()
        .any(|subject| !subject.missing.is_empty());
    Ok(if missing { Exit::Missing } else { Exit::Done })
}

fn toolchain(subject: &Subject) -> Toolchain {
    let missing = subject.missing();
    let packages: Vec<&str> = missing.iter().map(|need| need.package.as_str()).collect();
    Toolchain {
        subject: subject.name.clone(),
        language: subject.language.clone(),
        version: if missing.is_empty() {
            compiler(subject).ok()
        } else {
            None
        },
        missing: missing.iter().map(|need| need.command.clone()).collect(),
        install: (!packages.is_empty()).then(|| format!("apt-get install {}", packages.join(" "))),
    }
}

fn print_machine(found: &Findings) {
    let machine = &found.machine;
    println!("Machine");
    println!(
        "  {} · {} processors · {:.1} GiB",
        machine.processor,
        machine.processors,
        machine.memory_bytes as f64 / f64::from(1 << 30)
    );
    println!("  {} · {}", machine.system, machine.kernel);

    println!("\nToolchains");
    for subject in &found.subjects {
        match (&subject.version, &subject.install) {
            (_, Some(install)) => println!(
                "  {:8} missing {}: {install}",
                subject.language,
                subject.missing.join(", ")
            ),
            (Some(version), None) => println!("  {:8} {version}", subject.language),
            (None, None) => println!(
                "  {:8} the compiler does not tell its version",
                subject.language
            ),
        }
    }

    println!("\nClocks                       resolution   cost of a reading");
    for clock in &found.clocks {
        match &clock.estimate {
            Some(estimate) => println!(
                "  {:26} {:>9.0} ns   {:>9.1} ns",
                clock.name, estimate.resolution, estimate.cost
            ),
            None => println!("  {:26} its readings do not tell", clock.name),
        }
    }

    println!("\nInterference of the operating system, over {LOOK:?}");
    match &found.interference {
        Some(interference) => print_interference(interference),
        None => println!("  the readings do not tell"),
    }

    println!("\nFor steadier numbers");
    for advice in &found.advice {
        println!("  {}: {}", advice.topic, advice.state);
        if let Some(change) = &advice.change {
            println!("      → {change}");
        }
    }
}

fn print_interference(interference: &Interference) {
    println!(
        "  {:.3} % of the time is lost (β)",
        100.0 * interference.beta
    );
    for function in &interference.periodic {
        println!(
            "  every {:.3} ms for {:.2} µs, seen {} times",
            function.period_ns / 1e6,
            function.duration_ns / 1e3,
            function.occurrences
        );
    }
    let longest = interference
        .gaps
        .iter()
        .map(|gap| gap.1)
        .fold(0.0, f64::max);
    if longest > 0.0 {
        println!("  longest interruption {:.1} µs", longest / 1e3);
    }
}
