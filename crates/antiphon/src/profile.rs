//! `antiphon profile`: heap and cache misses of a subject, alone or before and after a change.

use crate::cli::Cli;
use crate::exit::Exit;
use crate::interruption::interruption;
use crate::output::{print_document, print_styled, say, text_options};
use crate::progress::Progress;
use crate::report::write;
use crate::subjects::{self, Chosen};
use antiphon_lab::build::Cache;
use antiphon_lab::clear_leftovers;
use antiphon_lab::profile::{Profile, Work, profile, warnings};
use antiphon_lab::run::{Event, Observer};
use antiphon_report::document::Block;
use antiphon_report::{compose_memory, export};
use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// `antiphon profile`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  antiphon profile ada-symbols/oversized parse --against ada-symbols/fitting
  antiphon profile c call.inter.none --iterations 10000
  antiphon profile my/subject parse --html - -- --config test.xml

With --against the page and the text say what changed and in which functions. Counts, not times: policy, placement
and other load make no difference.")]
pub struct Options {
    /// Subject: NAME, NAME/VARIANT, DIR or DIR/VARIANT
    pub subject: String,

    /// One of its programs, or a test of an instrumented subject
    pub test: String,

    /// What is given to the program, after `--`
    #[arg(last = true, value_name = "ARGUMENT")]
    pub arguments: Vec<String>,

    /// The subject that became of it: it does the same, and is shown as after the change
    #[arg(long, value_name = "SUBJECT")]
    pub against: Option<String>,

    /// The argument of a test that takes one
    #[arg(long, value_name = "N")]
    pub arg: Option<u64>,

    /// How often the frame of a test is run
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub iterations: u64,

    /// Seconds that each run under valgrind may take; there are three of each subject, four of a test
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub limit: u64,

    /// Where the page goes (`-`: standard output, instead of the text)
    #[arg(
        long,
        value_name = "FILE",
        default_value = "antiphon-profile.html",
        conflicts_with = "json"
    )]
    pub html: PathBuf,

    /// Print JSON, and write no page
    #[arg(long)]
    pub json: bool,
}

/// Both profiles, as JSON shows them.
#[derive(Serialize)]
struct Both<'a> {
    before: &'a Profile,
    after: Option<&'a Profile>,
}

/// Profiles, prints, and writes the page.
pub fn run(cli: &Cli, options: &Options) -> Result<Exit> {
    let stop = interruption()?;
    let (before, after) = match &options.against {
        Some(other) => {
            let [before, after] = subjects::pair(cli, [&options.subject, other])?;
            (before, Some(after))
        }
        None => (subjects::one(cli, &options.subject)?, None),
    };
    std::iter::once(&before)
        .chain(&after)
        .try_for_each(refuse)?;
    clear_leftovers(&Cache::of_user());
    let before = profile_of(&before, options, &stop)?;
    let after = after.map(|after| profile_of(&after, options, &stop));
    let after = after.transpose()?;
    let mut warnings = warnings(std::iter::once(&before).chain(&after));
    warnings.sort_unstable();
    for text in warnings {
        say(format_args!("warning: {text}"));
    }
    if options.json {
        let (before, after) = (&before, after.as_ref());
        print_document("antiphon.profile", 1, Both { before, after })?;
        return Ok(Exit::Done);
    }
    let mut document = compose_memory(&before, after.as_ref());
    write(&options.html, export::html::render(&document).as_bytes())?;
    if options.html.as_os_str() != "-" {
        let folded = |block: &Block| matches!(block, Block::Table(table) if table.folded);
        for section in &mut document.sections {
            section.blocks.retain(|block| !folded(block));
        }
        print_styled(&export::text::render(&document, text_options()))?;
    }
    Ok(Exit::Done)
}

/// Languages whose programs run on a virtual machine with a just-in-time compiler, even if their
/// subjects are not warmed.
const COMPILED_WHILE_RUNNING: [&str; 2] = ["Java", "JavaScript"];

/// Refuses subjects that cannot be profiled, before they are built.
fn refuse(chosen: &Chosen) -> Result<()> {
    let subject = &chosen.subject;
    let id = format!("{}/{}", subject.name, chosen.variant.name);
    // A server needs a port and runs until it is ended. A profile provides neither.
    if subject.serves {
        bail!(
            "{id} is a server, which is not profiled: it runs until it is ended; `antiphon measure SUITE --subjects {id}` tells its memory and processor time under load"
        );
    }
    if subject.warms || COMPILED_WHILE_RUNNING.contains(&subject.language.as_str()) {
        bail!(
            "{id} runs on a virtual machine with a compiler of its own, which is not profiled: valgrind would count the machine, not the program; take the machine's own tools (`java -XX:StartFlightRecording`, `node --cpu-prof` and `--heap-prof`), or `antiphon measure` for times and storage"
        );
    }
    Ok(())
}

fn profile_of(chosen: &Chosen, options: &Options, stop: &AtomicBool) -> Result<Profile> {
    let id = format!("{}/{}", chosen.subject.name, chosen.variant.name);
    let work = work(chosen, &id, options)?;
    let mut progress = Progress::new();
    progress.event(Event::Building {
        subject: &id,
        policy: "other",
    });
    let built = Cache::of_user().build(&chosen.subject, &chosen.variant, "other", stop);
    let built = built.map_err(|error| {
        let context = format!("cannot profile {id}; {}", error.help());
        anyhow::Error::from(error).context(context)
    })?;
    drop(progress);
    say(format_args!("{id} under massif and cachegrind …"));
    let limit = Duration::from_secs(options.limit);
    profile(&built, &work, limit, stop).with_context(|| format!("cannot profile {id}"))
}

/// Returns the work that the words of the command line mean for this subject.
fn work(chosen: &Chosen, id: &str, options: &Options) -> Result<Work> {
    if !chosen.subject.programs.is_empty() {
        if options.arg.is_some() {
            bail!("{id} is a subject of whole programs: give its arguments after `--`, not --arg");
        }
        return Ok(Work::Program {
            name: options.test.clone(),
            arguments: options.arguments.clone(),
        });
    }
    if !options.arguments.is_empty() {
        bail!("{id} speaks the subject protocol: its tests take --arg, nothing after `--`");
    }
    Ok(Work::Frame {
        test: options.test.clone(),
        arg: options.arg,
        iterations: options.iterations,
    })
}
