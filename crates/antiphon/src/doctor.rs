//! `antiphon doctor`: the capabilities of this machine, and whether a subject keeps the protocol.

use crate::cli::{Cli, Doctor};
use crate::exit::{self, Exit};
use crate::home::home;
use crate::interruption::interruption;
use crate::list;
use crate::output::{print, print_document, print_line, say};
use crate::progress::Progress;
use crate::subjects;
use antiphon_lab::build::{Cache, compiler};
use antiphon_lab::conformance::{self, Check};
use antiphon_lab::machine::{
    Advice, ClockReport, advice_on_apart, apart_over, chosen_processors, clock_reports,
    interference,
};
use antiphon_lab::run::{Event, Observer};
use antiphon_lab::subject::{Need, Remedy, Subject};
use antiphon_lab::{Apart, Launch, Machine, Services};
use antiphon_measure::Interference;
use antiphon_outside as outside;
use antiphon_report::document::Unit;
use antiphon_report::number;
use anyhow::Result;
use serde::Serialize;
use serde_json::json;
use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long to measure the machine's interference, and the distance of its processors.
const LOOK: Duration = Duration::from_secs(1);

/// Checks the machine, or one subject.
pub fn run(cli: &Cli, options: &Doctor) -> Result<Exit> {
    let stop = interruption()?;
    let exit = match &options.subject {
        Some(folder) => check_subject(folder, options, &stop),
        None => machine(cli, options, &stop),
    }?;
    Ok(match stop.load(Ordering::Relaxed) {
        true => Exit::Interrupted,
        false => exit,
    })
}

// --- A subject -------------------------------------------------------------------------------------------------------------

fn check_subject(folder: &Path, options: &Doctor, stop: &AtomicBool) -> Result<Exit> {
    let chosen = subjects::in_folder(folder, options.variant.as_deref())?;
    let id = format!("{}/{}", chosen.subject.name, chosen.variant.name);
    if chosen.subject.serves {
        anyhow::bail!(
            "{id} is a server, which speaks no protocol of ours; `antiphon measure SUITE --subjects {id}` puts it under load"
        );
    }
    if !chosen.subject.programs.is_empty() {
        anyhow::bail!(
            "{id} is a subject of whole programs, which speak no protocol; `antiphon measure SUITE --subjects {id}` runs them"
        );
    }
    let mut progress = Progress::new();
    progress.event(Event::Building {
        subject: &id,
        policy: "other",
    });
    let built = Cache::of_user().build(&chosen.subject, &chosen.variant, "other", stop);
    let built = built.map_err(|error| {
        let context = format!("cannot check {id}; {}", error.help());
        anyhow::Error::from(error).context(context)
    })?;
    drop(progress);
    let services = Services::default();
    let mut launch = Launch::new(id.clone(), built.run.clone(), built.folder.clone());
    launch.env.clone_from(&built.environment);
    launch.env.extend(services.environment(&built)?);
    let checks = conformance::check_unless(&launch, stop);
    let failed = checks.iter().filter(|check| !check.passed).count();
    if options.json {
        let kept = checks.len() - failed;
        let found = json!({ "subject": id, "kept": kept, "broken": failed, "checks": checks });
        print_document("antiphon.conformance", 1, found)?;
    } else {
        let lines: String = checks.iter().map(line).collect();
        let kept = checks.len() - failed;
        print_line(format_args!(
            "{lines}\n{id}: {kept} rules kept, {failed} broken"
        ))?;
    }
    Ok(if failed == 0 { Exit::Done } else { Exit::No })
}

fn line(check: &Check) -> String {
    // A subject's words must not look like another line of ours.
    let sign = if check.passed { "ok  " } else { "FAIL" };
    let (evidence, help) = (outside::line(&check.evidence), outside::line(check.help));
    let line = format!("{sign} {:28} {evidence}\n", check.name);
    match check.passed {
        true => line,
        false => line + &format!("     {:28} mend: {help}\n", ""),
    }
}

// --- The machine -----------------------------------------------------------------------------------------------------------

/// The findings of `doctor`, as JSON shows them.
#[derive(Serialize)]
struct Findings {
    machine: Machine,
    subjects: Vec<Toolchain>,
    clocks: Vec<ClockReport>,
    interference: Option<Interference>,
    /// The distance of the two processors that runs use.
    core_to_core: Option<Apart>,
    advice: Vec<Advice>,
    /// The commands that a first look needs.
    install_for_first_look: Vec<String>,
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

fn machine(cli: &Cli, options: &Doctor, stop: &AtomicBool) -> Result<Exit> {
    // The machine can be checked without a home.
    let found = home(cli).and_then(|home| Ok((subjects::all(&home)?, home)));
    let found = found.map(|(subjects, home)| {
        let needed = list::install_for_first_look(&home, &subjects);
        (subjects, needed)
    });
    let (subjects, needed) = found.unwrap_or_else(|error| {
        say(format_args!("antiphon: {}", exit::message(&error)));
        (Vec::new(), Vec::new())
    });
    // After Ctrl-C no further check begins, and the results so far are printed.
    let goes_on = || !stop.load(Ordering::Relaxed);
    let (core_to_core, on_apart) = goes_on().then(apart).unwrap_or_default();
    let looked_at = subjects.iter().take_while(|_| goes_on());
    let found = Findings {
        machine: Machine::collect(),
        subjects: looked_at.flat_map(toolchains).collect(),
        clocks: goes_on().then(clock_reports).unwrap_or_default(),
        interference: goes_on().then(|| interference(LOOK).ok()).flatten(),
        core_to_core,
        advice: Machine::advice().into_iter().chain(on_apart).collect(),
        install_for_first_look: needed,
    };
    match options.json {
        true => print_document("antiphon.doctor", 1, &found)?,
        false => print(&machine_text(&found))?,
    }
    let is_ready = !subjects.is_empty() && found.install_for_first_look.is_empty();
    Ok(match is_ready {
        true => Exit::Done,
        false => Exit::Missing,
    })
}

/// Returns the distance of the two processors that runs use, and advice about it. On one processor
/// it returns nothing.
fn apart() -> (Option<Apart>, Option<Advice>) {
    let (main, partner) = chosen_processors();
    if main == partner {
        return (None, None);
    }
    let seen = apart_over(partner, main, LOOK);
    let advice = advice_on_apart((partner, main), seen.as_ref());
    (seen, Some(advice))
}

/// Returns a subject's needs, and those of each variant that lacks more.
fn toolchains(subject: &Subject) -> Vec<Toolchain> {
    let own = subject.missing().into_iter().cloned().collect();
    let mut toolchains = vec![toolchain(subject, subject.name.clone(), own)];
    for variant in &subject.variants {
        let missing = variant.missing();
        if !missing.is_empty() {
            let name = format!("{}/{}", subject.name, variant.name);
            toolchains.push(toolchain(subject, name, missing));
        }
    }
    toolchains
}

fn toolchain(subject: &Subject, name: String, missing: Vec<Need>) -> Toolchain {
    let Remedy {
        packages,
        lines,
        newer,
    } = Remedy::of(&missing);
    let installed =
        (!packages.is_empty()).then(|| format!("apt-get install {}", packages.join(" ")));
    let made = lines.into_iter().map(str::to_owned);
    let steps: Vec<String> = installed.into_iter().chain(made).chain(newer).collect();
    Toolchain {
        subject: name,
        language: subject.language.clone(),
        version: if missing.is_empty() {
            compiler(subject).ok()
        } else {
            None
        },
        missing: missing.iter().map(wanted).collect(),
        install: (!steps.is_empty()).then(|| steps.join("; ")),
    }
}

/// Returns the name of a missing thing, in plain text.
fn wanted(need: &Need) -> String {
    need.wanted().replace('`', "")
}

fn machine_text(found: &Findings) -> String {
    let machine = &found.machine;
    let gib = machine.memory_bytes as f64 / f64::from(1 << 30);
    [
        format!(
            "Machine\n  {} · {} processors · {gib:.1} GiB\n  {} · {}\n",
            machine.processor, machine.processors, machine.system, machine.kernel
        ),
        format!(
            "\nToolchains\n{}",
            lines(&found.subjects, "no subjects to look at", toolchain_line)
        ),
        format!(
            "\n{:28} {:>12}   {:>12}\n{}",
            "Clocks",
            "resolution",
            "a reading",
            lines(&found.clocks, "none can be read", clock_line)
        ),
        format!(
            "\nInterference of the operating system, over {} s\n{}",
            LOOK.as_secs(),
            match &found.interference {
                Some(interference) => interference_text(interference),
                None => "  the readings do not tell\n".to_owned(),
            }
        ),
        format!(
            "\nFor steadier numbers\n{}",
            lines(&found.advice, "nothing to change", advice_line)
        ),
        match &found.install_for_first_look[..] {
            [] => String::new(),
            commands => format!("\nFor a first look: {}\n", commands.join("; ")),
        },
    ]
    .concat()
}

/// Returns one line each, or `none` if there are none. Subjects that share a toolchain share its
/// line, at the place of the first.
fn lines<T>(of: &[T], none: &str, line: impl Fn(&T) -> String) -> String {
    let mut lines: Vec<String> = of.iter().map(|one| format!("  {}\n", line(one))).collect();
    let mut seen = HashSet::new();
    lines.retain(|line| seen.insert(line.clone()));
    match &lines[..] {
        [] => format!("  {none}\n"),
        _ => lines.concat(),
    }
}

fn toolchain_line(toolchain: &Toolchain) -> String {
    let language = outside::line(&toolchain.language);
    match (&toolchain.version, &toolchain.install) {
        // Names the subject: some subjects of a language may lack what others have.
        (_, Some(install)) => {
            let missing = toolchain.missing.join(", ");
            let subject = &toolchain.subject;
            format!("{language:8} missing {missing} for {subject}; install with: {install}")
        }
        (Some(version), None) => format!("{language:8} {}", outside::line(version)),
        (None, None) => format!("{language:8} the compiler does not tell its version"),
    }
}

fn clock_line(clock: &ClockReport) -> String {
    match &clock.estimate {
        Some(estimate) => format!(
            "{:26} {:>12}   {:>12}",
            clock.name,
            nanoseconds(estimate.resolution),
            nanoseconds(estimate.cost)
        ),
        None => format!("{:26} its readings do not tell", clock.name),
    }
}

fn nanoseconds(value: f64) -> String {
    number::quantity(Unit::Nanoseconds, value)
}

fn advice_line(advice: &Advice) -> String {
    let state = format!("{}: {}", advice.topic, advice.state);
    match &advice.change {
        Some(change) => format!("{state}\n      → {change}"),
        None => state,
    }
}

fn interference_text(interference: &Interference) -> String {
    let mut text = format!(
        "  {:.3} % of the time is lost (β)\n",
        100.0 * interference.beta
    );
    for function in &interference.periodic {
        text += &format!(
            "  every {} for {}, seen {} times\n",
            nanoseconds(function.period_ns),
            nanoseconds(function.duration_ns),
            function.occurrences
        );
    }
    let gaps = interference.gaps.iter().map(|gap| gap.1);
    let longest = gaps.fold(0.0, f64::max);
    if longest > 0.0 {
        text += &format!("  longest interruption {}\n", nanoseconds(longest));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_with_its_subject() {
        let of = |subject: &str| Toolchain {
            subject: subject.into(),
            language: "Ada".into(),
            version: None,
            missing: vec!["ews.gpr".into()],
            install: Some("sh get.sh".into()),
        };
        let both = [of("rest-ada-libraries/ews"), of("rest-ada-libraries/aws")];
        let text = lines(&both, "", toolchain_line);
        for subject in both {
            let reported = format!("missing ews.gpr for {}; install", subject.subject);
            assert!(text.contains(&reported), "{text}");
        }
    }
}
