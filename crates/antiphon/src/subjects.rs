//! Subjects by name or by folder.

use antiphon_lab::subject::{Subject, Variant, select};
use anyhow::{Context, Result, bail};
use std::path::Path;

/// All subjects in the home folder. One that cannot be read is named, and the others go on.
pub fn all(home: &Path) -> Result<Vec<Subject>> {
    let folder = home.join("subjects");
    let (subjects, errors) = Subject::discover(&folder);
    for error in &errors {
        eprintln!("antiphon: {error}");
    }
    if subjects.is_empty() {
        bail!("no subject can be read in {}", folder.display());
    }
    Ok(subjects)
}

/// One subject in one variant, with ownership, for comparisons of builds from different folders.
pub struct Chosen {
    /// The subject.
    pub subject: Subject,
    /// Which of its variants.
    pub variant: Variant,
}

/// `NAME`, `NAME/VARIANT`, `DIR` or `DIR/VARIANT`.
pub fn choose(known: &[Subject], wanted: &str) -> Result<Chosen> {
    let path = Path::new(wanted);
    if path.join("subject.toml").is_file() {
        return in_folder(path, None);
    }
    let above = path
        .parent()
        .filter(|folder| folder.join("subject.toml").is_file());
    if let (Some(folder), Some(variant)) = (above, path.file_name()) {
        return in_folder(folder, Some(&variant.to_string_lossy()));
    }
    let (subject, variant) = select(known, wanted)?;
    Ok(Chosen {
        subject: subject.clone(),
        variant: variant.clone(),
    })
}

/// The subject in a folder, in the variant asked for or its first.
pub fn in_folder(folder: &Path, variant: Option<&str>) -> Result<Chosen> {
    let subject = Subject::load(folder)?;
    let variant = match variant {
        Some(name) => subject.variant(name)?.clone(),
        None => subject
            .variants
            .first()
            .context("a subject has at least one variant")?
            .clone(),
    };
    Ok(Chosen { subject, variant })
}
