//! Units and the files that hold them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use antiphon_lang::{Diagnostic, ReadError, Sources, Span, nearest, read};

use crate::lexer::Dialect;
use crate::parser::parse;
use crate::standard;
use crate::syntax::{Declaration, Unit};

/// The least number of characters of a unit's name in its file's name.
const NAME_LENGTH: usize = 10;

/// The folders of units, and the settings for reading them.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// Folders with units, after the folder of the unit that imports.
    pub folders: Vec<PathBuf>,
    /// The settings for reading files.
    pub dialect: Dialect,
}

/// The two halves of a unit.
#[derive(Debug, Clone, Default)]
pub struct Halves {
    /// The specification.
    pub specification: Option<Unit>,
    /// The implementation.
    pub implementation: Option<Unit>,
}

/// All units of a program, as they are written.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The files.
    pub sources: Sources,
    /// The units by name.
    pub units: BTreeMap<String, Halves>,
    /// Syntax errors, and imports of missing units.
    pub diagnostics: Vec<Diagnostic>,
    /// The requested units.
    pub roots: Vec<String>,
    /// Whether local objects are passed IN by reference.
    pub objects_by_reference: bool,
}

/// Reads the units of these files and all units that they import.
///
/// # Errors
/// A file cannot be read.
pub fn load(files: &[PathBuf], search: &Search) -> Result<Loaded, ReadError> {
    let mut loader = Loader {
        search,
        loaded: Loaded {
            objects_by_reference: search.dialect.objects_by_reference,
            ..Loaded::default()
        },
        pending: Vec::new(),
    };
    for path in files {
        let other = sibling(path);
        let bytes = read(path)?;
        let unit = loader.parse(path, bytes);
        let Some(unit) = unit else { continue };
        let name = unit.name.text.clone();
        loader.check_file_name(path, &unit);
        loader.enter(path, unit);
        if let Some(other) = other.filter(|other| !files.contains(other)) {
            let bytes = read(&other)?;
            if let Some(unit) = loader.parse(&other, bytes) {
                loader.check_file_name(&other, &unit);
                loader.enter(&other, unit);
            }
        }
        if !loader.loaded.roots.contains(&name) {
            loader.loaded.roots.push(name);
        }
    }
    loader.run()?;
    Ok(loader.loaded)
}

/// Returns the file with the other half of a unit, if there is one.
fn sibling(path: &Path) -> Option<PathBuf> {
    let extension = match path.extension()?.to_str()? {
        "imp" => "spf",
        "spf" => "imp",
        _ => return None,
    };
    Some(path.with_extension(extension)).filter(|path| path.is_file())
}

/// A unit that another one imports.
struct Wanted {
    name: String,
    span: Span,
    folder: PathBuf,
}

struct Loader<'a> {
    search: &'a Search,
    loaded: Loaded,
    pending: Vec<Wanted>,
}

impl Loader<'_> {
    fn parse(&mut self, path: &Path, bytes: Vec<u8>) -> Option<Unit> {
        let file = self.loaded.sources.add(path, bytes);
        let (unit, diagnostics) = parse(&self.loaded.sources, file, &self.search.dialect);
        self.loaded.diagnostics.extend(diagnostics);
        unit
    }

    /// Checks that a file has the name of its unit, or the beginning of that name.
    fn check_file_name(&mut self, path: &Path, unit: &Unit) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        if !unit.name.text.starts_with(&*stem) {
            let message = format!("unit \"{}\" is in a file named {stem}", unit.name.text);
            let help = format!(
                "other units find it by its name only: name the file {}",
                unit.name.text
            );
            let warning = Diagnostic::warning(unit.name.span, message).help(help);
            self.loaded.diagnostics.push(warning);
        }
    }

    fn enter(&mut self, path: &Path, unit: Unit) {
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        for declaration in &unit.declarations {
            let mut want = |name: &crate::syntax::Name| {
                self.pending.push(Wanted {
                    name: name.text.clone(),
                    span: name.span,
                    folder: folder.clone(),
                });
            };
            match declaration {
                Declaration::Import {
                    from: Some(from), ..
                } => want(from),
                Declaration::Import { from: None, names } => names.iter().for_each(want),
                Declaration::Instance { generic, .. } => want(generic),
                _ => {}
            }
        }
        let name = unit.name.clone();
        let halves = self.loaded.units.entry(name.text.clone()).or_default();
        let half = match unit.is_specification {
            true => &mut halves.specification,
            false => &mut halves.implementation,
        };
        if half.is_some() {
            let message = format!("unit \"{}\" is in two files", name.text);
            self.loaded
                .diagnostics
                .push(Diagnostic::error(name.span, message));
            return;
        }
        *half = Some(unit);
    }

    fn run(&mut self) -> Result<(), ReadError> {
        while let Some(wanted) = self.pending.pop() {
            if !self.loaded.units.contains_key(&wanted.name) {
                self.find(&wanted)?;
            }
        }
        Ok(())
    }

    fn find(&mut self, wanted: &Wanted) -> Result<(), ReadError> {
        // A wrong name is reported once.
        self.loaded.units.entry(wanted.name.clone()).or_default();
        let mut folders = vec![wanted.folder.clone()];
        folders.extend(self.search.folders.iter().cloned());
        let mut is_found = false;
        let specification = folders
            .iter()
            .find_map(|folder| file_of(folder, &wanted.name, "spf"));
        if let Some(path) = &specification {
            is_found = true;
            self.read_half(path, wanted)?;
            // The implementation is first looked for beside the specification.
            folders.insert(0, path.parent().map(Path::to_path_buf).unwrap_or_default());
        }
        let implementation = folders
            .iter()
            .find_map(|folder| file_of(folder, &wanted.name, "imp"));
        if let Some(path) = implementation.filter(|_| is_found) {
            self.read_half(&path, wanted)?;
        }
        if !is_found {
            is_found = self.read_standard(wanted);
        }
        if !is_found {
            let message = format!("there is no unit \"{}\"", wanted.name);
            let mut error = Diagnostic::error(wanted.span, message);
            let mut known: Vec<&str> = self.loaded.units.keys().map(String::as_str).collect();
            for name in standard::names() {
                known.push(name);
            }
            error = match nearest(&wanted.name, known.into_iter()) {
                Some(like) => error.help(format!("did you mean {like}?")),
                None => error.help(format!(
                    "its specification {}.spf is neither beside this file nor in a folder of -I",
                    wanted.name
                )),
            };
            self.loaded.diagnostics.push(error);
        }
        Ok(())
    }

    fn read_half(&mut self, path: &Path, wanted: &Wanted) -> Result<(), ReadError> {
        let bytes = read(path)?;
        self.take_half(path, bytes, wanted);
        Ok(())
    }

    fn read_standard(&mut self, wanted: &Wanted) -> bool {
        let mut is_found = false;
        for (file, text) in standard::files_of(&wanted.name) {
            is_found = true;
            let path = Path::new("<standard>").join(file);
            self.take_half(&path, text.as_bytes().to_vec(), wanted);
        }
        is_found
    }

    fn take_half(&mut self, path: &Path, bytes: Vec<u8>, wanted: &Wanted) {
        let Some(unit) = self.parse(path, bytes) else {
            return;
        };
        if unit.name.text != wanted.name {
            let message = format!(
                "the file holds unit \"{}\", not \"{}\"",
                unit.name.text, wanted.name
            );
            self.loaded
                .diagnostics
                .push(Diagnostic::error(unit.name.span, message));
            return;
        }
        self.enter(path, unit);
    }
}

/// Returns the file of a unit in a folder, by its whole name or by the first ten characters.
fn file_of(folder: &Path, name: &str, extension: &str) -> Option<PathBuf> {
    let cut: String = name.chars().take(NAME_LENGTH).collect();
    let names = [name, cut.as_str()].map(|name| folder.join(format!("{name}.{extension}")));
    names.into_iter().find(|path| path.is_file())
}

/// Returns the implementation in a folder that has the process OrcaMain.
///
/// # Errors
/// The folder or a file in it cannot be read.
pub fn main_of(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "imp")
            && has_main(&String::from_utf8_lossy(&std::fs::read(&path)?))
        {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn has_main(text: &str) -> bool {
    let code = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default());
    let mut words = code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric()));
    words.any(|word| word == "OrcaMain")
}
