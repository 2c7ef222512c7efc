//! The command `antiphon`: parse, call one crate, print.

mod cli;
mod compare;
mod doctor;
mod exit;
mod generate;
mod home;
mod interruption;
mod launch;
mod load;
mod measure;
mod output;
mod profile;
mod progress;
mod report;
mod runs;
mod sr;
mod store;
mod subjects;
mod translate;

use clap::Parser;
use cli::{Cli, Verb};
use exit::Exit;

fn main() -> Exit {
    let cli = Cli::parse();
    let done = match &cli.verb {
        Verb::Doctor(options) => doctor::run(&cli, options),
        Verb::Measure(options) => measure::run(&cli, options),
        Verb::Report(options) => report::run(&cli, options),
        Verb::Compare(options) => compare::run(&cli, options),
        Verb::Runs(options) => runs::run(&cli, options),
        Verb::Profile(options) => profile::run(&cli, options),
        Verb::Launch(options) => launch::run(options),
        Verb::Load(options) => load::run(options),
        Verb::Translate(options) => translate::run(options),
        Verb::Sr(options) => sr::run(options),
        Verb::Generate(options) => generate::run(options),
        Verb::Subject(options) => Ok(subject(options)),
    };
    done.unwrap_or_else(|error| {
        output::say(format_args!("antiphon: {}", exit::message(&error)));
        exit::of_error(&error)
    })
}

fn subject(options: &cli::Subject) -> Exit {
    Exit::Subject(match &options.which {
        cli::OwnSubject::Layer => antiphon_layer::run(),
        cli::OwnSubject::LayerSim { network, members } => antiphon_layer::count(network, *members),
    })
}
