//! The command `antiphon`: parse, call one crate, print.

mod cli;
mod compare;
mod doctor;
mod embedded;
mod exit;
mod findings;
mod generate;
mod home;
mod interruption;
mod launch;
mod list;
mod load;
mod measure;
mod orca;
mod output;
mod profile;
mod progress;
mod pvm;
mod report;
mod runs;
mod sr;
mod start;
mod store;
mod subjects;
mod translate;

use clap::Parser;
use clap::error::{ContextKind, ContextValue};
use cli::{Cli, Verb};
use exit::Exit;
use std::path::Path;

fn main() -> Exit {
    let cli = Cli::try_parse().unwrap_or_else(|error| with_verb_of_file(error).exit());
    let done = match &cli.verb {
        None => start::run(&cli),
        Some(verb) => execute(&cli, verb),
    };
    done.unwrap_or_else(|error| {
        output::say(format_args!("antiphon: {}", exit::message(&error)));
        exit::of_error(&error)
    })
}

/// Adds the verb that takes a file of this kind, if the file stands in a verb's place.
fn with_verb_of_file(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let Some((_, verb)) = language_of(Path::new(word)) else {
        return error;
    };
    let tip = format!("`antiphon {verb} {word}` takes such a file");
    error.insert(
        ContextKind::Suggested,
        ContextValue::StyledStrs(vec![tip.into()]),
    );
    error
}

/// Returns the language of a file by its ending, and the verb that takes it.
fn language_of(file: &Path) -> Option<(&'static str, &'static str)> {
    match file.extension()?.to_str()? {
        "sr" => Some(("SR", "sr run")),
        "adb" | "ads" => Some(("Ada", "translate")),
        "imp" | "spf" => Some(("Orca", "orca run")),
        _ => None,
    }
}

fn execute(cli: &Cli, verb: &Verb) -> anyhow::Result<Exit> {
    match verb {
        Verb::Doctor(options) => doctor::run(cli, options),
        Verb::List(options) => list::run(cli, options),
        Verb::Measure(options) => measure::run(cli, options),
        Verb::Report(options) => report::run(cli, options),
        Verb::Compare(options) => compare::run(cli, options),
        Verb::Runs(options) => runs::run(cli, options),
        Verb::Profile(options) => profile::run(cli, options),
        Verb::Launch(options) => launch::run(options),
        Verb::Pvm(options) => pvm::run(options),
        Verb::Load(options) => load::run(options),
        Verb::Translate(options) => translate::run(options),
        Verb::Sr(options) => sr::run(options),
        Verb::Orca(options) => orca::run(options),
        Verb::Generate(options) => generate::run(options),
        Verb::Subject(options) => subject(options),
    }
}

fn subject(options: &cli::Subject) -> anyhow::Result<Exit> {
    Ok(Exit::Subject(match &options.which {
        cli::OwnSubject::Layer => antiphon_layer::run(),
        cli::OwnSubject::LayerSim { network, members } => antiphon_layer::count(network, *members),
        cli::OwnSubject::Identity => {
            output::print(&embedded::identity())?;
            return Ok(Exit::Done);
        }
    }))
}
