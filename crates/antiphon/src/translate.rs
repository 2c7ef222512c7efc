//! `antiphon translate`: rendezvous to protected objects.

use crate::exit::Exit;
use crate::output::{print, print_document, print_file, print_json, print_line, say};
use antiphon_ada::names::Names;
use antiphon_ada::profile::{Profile, violations};
use antiphon_ada::translate::{Io, Options, Scheme, Selector, Translation, translate};
use antiphon_ada::verdict::Class;
use antiphon_ada::{Analysis, Program, edit, explain, sarif, verify};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// `antiphon translate`
#[derive(Debug, Args)]
#[command(after_help = "\
Without --write, --output or --diff nothing is changed: every task gets a verdict with its reasons.

Examples:
  antiphon translate main.adb                      what each task is, and why
  antiphon translate --diff *.adb *.ads            what would be changed
  antiphon translate --verify --output new src/    build both, run both, compare, and write the translation
  antiphon translate --write --only Buffer p.gpr   one task, in place
  antiphon translate --format sarif src/ > log.sarif")]
pub struct Translate {
    /// Ada files, directories (DIR/** with subdirectories), GNAT project files, or Alire crates
    #[arg(required = true, value_name = "FILE")]
    pub inputs: Vec<PathBuf>,

    /// Only these tasks
    #[arg(long, value_name = "TASK")]
    pub only: Vec<String>,

    /// Show the reasons of every verdict, also when something is written
    #[arg(long)]
    pub explain: bool,

    /// How verdicts are shown
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,

    /// Print a unified diff
    #[arg(long)]
    pub diff: bool,

    /// Edit the files in place
    #[arg(long, conflicts_with = "output")]
    pub write: bool,

    /// Write all files, translated or not, to this folder
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,

    /// Build both programs with GNAT, run both under several schedules, and compare what they print
    #[arg(long)]
    pub verify: bool,

    /// The file of the main subprogram, for --verify
    #[arg(long, value_name = "FILE", requires = "verify")]
    pub main: Option<PathBuf>,

    /// Runs of each program under each schedule, for --verify
    #[arg(long, default_value_t = 5, value_name = "N", requires = "verify", value_parser = clap::value_parser!(u16).range(1..))]
    pub runs: u16,

    /// Seconds after which a program counts as one that does not end, for --verify
    #[arg(long, default_value_t = 10, value_name = "SECONDS", requires = "verify", value_parser = clap::value_parser!(u16).range(1..))]
    pub time_limit: u16,

    /// File that the programs read as standard input, for --verify
    #[arg(long, value_name = "FILE", requires = "verify")]
    pub stdin: Option<PathBuf>,

    /// Further switches for the compiler, for --verify; those of a project are used as well
    #[arg(
        long,
        value_name = "SWITCHES",
        requires = "verify",
        allow_hyphen_values = true
    )]
    pub switches: Option<String>,

    /// What becomes of tasks that accept calls
    #[arg(long, value_enum, default_value_t = SchemeName::Servers)]
    pub scheme: SchemeName,

    /// How a task that waits for several entries finds out which is called, with --scheme general
    #[arg(long, value_enum, default_value_t = SelectorName::Object)]
    pub selector: SelectorName,

    /// Input and output in protected actions: the RM calls it potentially blocking, GNAT does it
    #[arg(long, value_enum, default_value_t = InputOutput::Allow)]
    pub io: InputOutput,

    /// Units and subprograms whose source is not given, and that do not block
    #[arg(long, value_name = "NAME")]
    pub assume_nonblocking: Vec<String>,

    /// Translate servers that work beside their callers too: the callers then wait for that work
    #[arg(long)]
    pub force: bool,

    /// Write barriers as a profile wants them, and list what still stands in its way
    #[arg(long, value_enum)]
    pub profile: Option<ProfileName>,
}

/// The format of verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// An array with an object a task
    Json,
    /// SARIF 2.1.0, for editors and code review
    Sarif,
}

/// The translation of tasks that accept calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemeName {
    /// Tasks that only serve become protected objects, others stay
    Servers,
    /// All stay tasks, and each entry's rendezvous go through a protected object: costs more than rendezvous
    General,
    /// As general, with one object a task and the calls of it merged
    Optimised,
}

/// The way selective accepts choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SelectorName {
    /// A protected object that all calls go through
    Object,
    /// No such object: the task polls its entries
    None,
}

/// The treatment of input and output in protected actions.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum InputOutput {
    /// Translate, and say so
    Allow,
    /// Keep such tasks
    Refuse,
}

/// A profile by name.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ProfileName {
    /// RM D.13.1
    Jorvik,
    /// RM D.13
    Ravenscar,
}

impl ProfileName {
    fn profile(self) -> Profile {
        match self {
            ProfileName::Jorvik => Profile::Jorvik,
            ProfileName::Ravenscar => Profile::Ravenscar,
        }
    }
}

/// Reads the program, analyses it, and does what the options ask. The answer is no if a check found
/// a difference.
pub fn run(options: &Translate) -> Result<Exit> {
    if options.selector == SelectorName::None && options.scheme != SchemeName::General {
        bail!("--selector none is a variant of --scheme general: give that too");
    }
    refuse_other_languages(&options.inputs)?;
    let program = Program::read(&options.inputs)?;
    for what in &program.left_out {
        eprintln!("antiphon: {what}");
    }
    let analysis = Analysis::of(
        &program,
        Options {
            scheme: match options.scheme {
                SchemeName::Servers => Scheme::Servers,
                SchemeName::General => Scheme::General,
                SchemeName::Optimised => Scheme::Optimised,
            },
            selector: match options.selector {
                SelectorName::Object => Selector::Object,
                SelectorName::None => Selector::None,
            },
            io: match options.io {
                InputOutput::Allow => Io::Allow,
                InputOutput::Refuse => Io::Refuse,
            },
            force: options.force,
            assumed: options.assume_nonblocking.clone(),
            only: options.only.clone(),
            profile: options.profile.map(ProfileName::profile),
        },
    );
    check_names(&analysis, options)?;
    let translation = translate(&analysis);
    let changes = options.diff || options.write || options.output.is_some() || options.verify;
    if options.explain || !changes || options.format != Format::Text {
        show(&analysis, options.format)?;
    }
    if !changes && options.format == Format::Text {
        say(next(translation.replaced.len()));
    }
    if options.diff {
        print_file(translation.diff(&program).as_bytes())?;
    }
    if let Some(profile) = options.profile {
        list_violations(&program, &translation, profile.profile())?;
    }
    let agrees = !options.verify || check(&program, &translation, options)?;
    if agrees {
        write(&program, &translation, options)?;
    } else if options.write || options.output.is_some() {
        say("antiphon: nothing was written, since the check found a difference");
    }
    Ok(if agrees { Exit::Done } else { Exit::No })
}

/// Checks that no file is a program in SR or Orca, whose text would be one large syntax error.
fn refuse_other_languages(inputs: &[PathBuf]) -> Result<()> {
    for file in inputs.iter().filter(|path| path.is_file()) {
        match crate::language_of(file) {
            None | Some(("Ada", _)) => {}
            Some((language, verb)) => bail!(
                "{file} is a program in {language} by its ending, and only Ada is translated; `antiphon {verb} {file}` runs it",
                file = file.display()
            ),
        }
    }
    Ok(())
}

/// Returns the next step after the verdicts.
fn next(translated: usize) -> String {
    match translated {
        0 => "antiphon: no task can be replaced; make a change that a line above names, and ask again".to_owned(),
        count => format!(
            "antiphon: {count} task(s) can be replaced: --diff shows how, --verify tries it, --write or -o DIR does it"
        ),
    }
}

/// Checks that each named task exists and can be translated.
fn check_names(analysis: &Analysis, options: &Translate) -> Result<()> {
    for name in &options.only {
        let found = analysis
            .tasks
            .iter()
            .find(|t| t.task.name.eq_ignore_ascii_case(name));
        let Some(found) = found else {
            let known: Vec<&str> = analysis
                .tasks
                .iter()
                .map(|t| t.task.name.as_str())
                .collect();
            bail!(
                "there is no task {name}; the tasks are {}",
                known.join(", ")
            );
        };
        if matches!(
            found.verdict.class,
            Class::Handshake | Class::General | Class::Kept
        ) {
            say(format_args!(
                "antiphon: task {name} stays a task; --explain says why"
            ));
        }
    }
    Ok(())
}

fn show(analysis: &Analysis, format: Format) -> Result<()> {
    match format {
        Format::Text => print(&explain::text(analysis)),
        Format::Json => {
            let tasks = serde_json::json!({ "tasks": explain::json(analysis) });
            print_document("antiphon.tasks", 1, tasks)
        }
        Format::Sarif => print_json(&serde_json::to_string_pretty(&sarif::log(analysis))?),
    }
}

fn list_violations(program: &Program, translation: &Translation, profile: Profile) -> Result<()> {
    let translated = translation.program(program)?;
    let found = violations(&translated, &Names::of(&translated), profile);
    for violation in &found {
        print_line(format_args!(
            "{}: {} ({})",
            violation.place, violation.text, violation.restriction
        ))?;
    }
    print_line(format_args!(
        "{} in the way of the profile after translation; places are those of the translated files",
        found.len()
    ))
}

fn check(program: &Program, translation: &Translation, options: &Translate) -> Result<bool> {
    if translation.replaced.is_empty() {
        say("antiphon: no task is translated, so there is nothing to check");
        return Ok(true);
    }
    let input = match &options.stdin {
        Some(path) => std::fs::read(path).with_context(|| path.display().to_string())?,
        None => Vec::new(),
    };
    let given = options.switches.iter().flat_map(|s| s.split_whitespace());
    let switches = program.switches.iter().cloned();
    let report = verify::verify(
        program,
        &translation.files,
        &verify::Options {
            main: options.main.clone(),
            runs: usize::from(options.runs),
            time_limit: Duration::from_secs(u64::from(options.time_limit)),
            input,
            switches: switches.chain(given.map(String::from)).collect(),
            ..verify::Options::default()
        },
    )?;
    print(&report.text())?;
    Ok(report.agrees())
}

fn write(program: &Program, translation: &Translation, options: &Translate) -> Result<()> {
    if options.write {
        edit::write_in_place(program, &translation.files)?;
    }
    if let Some(directory) = &options.output {
        edit::write_to(program, &translation.files, directory)?;
    }
    if options.write || options.output.is_some() {
        say(format_args!(
            "antiphon: {} task(s) replaced in {} file(s)",
            translation.replaced.len(),
            translation.files.len()
        ));
    }
    Ok(())
}
