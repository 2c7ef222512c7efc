//! `antiphon generate`: man pages and completions, from the definition of the command line.

use crate::cli::{Cli, Generate, Generated};
use crate::exit::Exit;
use anyhow::{Context, Result};
use clap::{CommandFactory, ValueEnum};
use clap_complete::Shell;
use std::fs;
use std::path::Path;

/// Writes the requested files.
pub fn run(options: &Generate) -> Result<Exit> {
    let directory = &options.directory;
    match options.what {
        Generated::Man => man_pages(directory)?,
        Generated::Completions => completions(directory)?,
    }
    Ok(Exit::Done)
}

fn man_pages(directory: &Path) -> Result<()> {
    create(directory)?;
    clap_mangen::generate_to(Cli::command(), directory)
        .with_context(|| format!("cannot write man pages to {}", directory.display()))
}

/// Each shell looks for completions in a folder of its own below `share`.
fn completions(share: &Path) -> Result<()> {
    for shell in Shell::value_variants() {
        let folder = match shell {
            Shell::Bash => "bash-completion/completions",
            Shell::Zsh => "zsh/site-functions",
            Shell::Fish => "fish/vendor_completions.d",
            _ => continue,
        };
        let folder = share.join(folder);
        create(&folder)?;
        let written = clap_complete::generate_to(*shell, &mut Cli::command(), "antiphon", &folder)
            .with_context(|| format!("cannot write completions to {}", folder.display()))?;
        if *shell == Shell::Bash {
            // bash-completion looks a file up by the bare name of the command.
            fs::rename(&written, folder.join("antiphon"))?;
        }
    }
    Ok(())
}

fn create(directory: &Path) -> Result<()> {
    fs::create_dir_all(directory)
        .with_context(|| format!("cannot create the folder {}", directory.display()))
}
