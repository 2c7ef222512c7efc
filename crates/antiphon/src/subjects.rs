//! Subjects by name or by folder.

use crate::cli::Cli;
use crate::exit::Missing;
use crate::home::home;
use crate::output::say;
use antiphon_lab::subject::{Subject, SubjectError, Variant, find_command, select};
use anyhow::{Result, anyhow};
use std::path::Path;

/// Returns all subjects in the home folder. Unreadable ones are named on standard error.
pub fn all(home: &Path) -> Result<Vec<Subject>> {
    let folder = home.join("subjects");
    let (subjects, errors) = Subject::discover(&folder);
    for error in &errors {
        say(format_args!("antiphon: {error}"));
    }
    if subjects.is_empty() {
        let none = format!("no subject can be read in {}", folder.display());
        return Err(Missing(none).into());
    }
    Ok(subjects)
}

/// Has the subjects that need the original SR's compiler take the one in this folder.
pub fn use_original_sr(subjects: &mut [Subject], folder: &Path) -> Result<()> {
    let folder = std::path::absolute(folder)?;
    let places = ["sr", "bin/sr"].map(|place| folder.join(place).display().to_string());
    let Some(compiler) = places.iter().find(|place| find_command(place).is_some()) else {
        let [place, other] = &places;
        let none = format!(
            "--with-sr: neither {place} nor {other} is a program; give the folder where SR 2.3.3 is installed"
        );
        return Err(Missing(none).into());
    };
    for subject in subjects {
        subject.use_program("sr", compiler);
    }
    Ok(())
}

/// One subject in one variant, with ownership, for comparisons of builds from different folders.
pub struct Chosen {
    /// The subject.
    pub subject: Subject,
    /// Its chosen variant.
    pub variant: Variant,
}

/// Returns two subjects, each given as `NAME`, `NAME/VARIANT`, `DIR` or `DIR/VARIANT`. Folders need
/// no home.
pub fn pair(cli: &Cli, wanted: [&str; 2]) -> Result<[Chosen; 2]> {
    let [a, b] = wanted.map(by_folder);
    let (a, b) = (a.transpose()?, b.transpose()?);
    let known = match (&a, &b) {
        (Some(_), Some(_)) => Vec::new(),
        _ => all(&home(cli)?)?,
    };
    let named = |found: Option<Chosen>, wanted| match found {
        Some(chosen) => Ok(chosen),
        None => by_name(&known, wanted),
    };
    Ok([named(a, wanted[0])?, named(b, wanted[1])?])
}

/// Returns one subject, given as in [`pair`].
pub fn one(cli: &Cli, wanted: &str) -> Result<Chosen> {
    match by_folder(wanted) {
        Some(found) => Ok(found?),
        None => by_name(&all(&home(cli)?)?, wanted),
    }
}

fn by_folder(wanted: &str) -> Option<Result<Chosen, SubjectError>> {
    let path = Path::new(wanted);
    let is_subject = |folder: &Path| folder.join("subject.toml").is_file();
    if is_subject(path) {
        return Some(in_folder(path, None));
    }
    let folder = path.parent().filter(|folder| is_subject(folder))?;
    let variant = path.file_name()?.to_string_lossy();
    Some(in_folder(folder, Some(&variant)))
}

fn by_name(known: &[Subject], wanted: &str) -> Result<Chosen, anyhow::Error> {
    let (subject, variant) = select(known, wanted).map_err(|error| match &error {
        SubjectError::Unknown { what, .. } if what == "subject" => {
            anyhow!("`{wanted}` is no folder with a `subject.toml`, and {error}")
        }
        _ => error.into(),
    })?;
    Ok(Chosen {
        subject: subject.clone(),
        variant: variant.clone(),
    })
}

/// Returns the subject in a folder, in the given variant or its first.
pub fn in_folder(folder: &Path, variant: Option<&str>) -> Result<Chosen, SubjectError> {
    let subject = Subject::load(folder)?;
    let variant = match variant {
        Some(name) => subject.variant(name)?.clone(),
        None => subject.variants[0].clone(), // a subject has at least one
    };
    Ok(Chosen { subject, variant })
}
