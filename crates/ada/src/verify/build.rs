//! Building a program with GNAT.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use antiphon_runner::{End, Program as Command};

use super::Error;
use crate::edit::{self, Edited};
use crate::names::Names;
use crate::source::Program;

/// GNAT's builder and its unit splitter.
#[derive(Debug, Clone)]
pub struct Toolchain {
    gnatmake: PathBuf,
    gnatchop: PathBuf,
}

/// A built program.
#[derive(Debug, Clone)]
pub(super) struct Built {
    /// The executable.
    pub executable: PathBuf,
    /// The compiler's messages.
    pub said: Vec<String>,
}

/// Time limit of a compilation. Large programs may take minutes; a longer compilation hangs.
const BUILD_LIMIT: Duration = Duration::from_secs(600);

impl Toolchain {
    /// Returns the first GNAT in `PATH`.
    pub fn find() -> Option<Toolchain> {
        Some(Toolchain {
            gnatmake: find("gnatmake")?,
            gnatchop: find("gnatchop")?,
        })
    }

    /// Builds the program with its edits, in a directory of its own. The inner result is the
    /// compiler's.
    pub(super) fn build(
        &self,
        program: &Program,
        edited: &[Edited],
        main: &str,
        directory: &Path,
        detects_blocking: bool,
        switches: &[String],
    ) -> Result<Result<Built, Vec<String>>, Error> {
        let given = directory.join("given");
        let sources = directory.join("src");
        let failed = |cause| Error::Scratch {
            path: directory.to_path_buf(),
            cause,
        };
        std::fs::create_dir_all(&sources).map_err(failed)?;
        let files = edit::write_to(program, edited, &given).map_err(|e| match e {
            crate::Error::File { path, cause } => Error::Scratch { path, cause },
            other => Error::Main(other.to_string()),
        })?;
        // Files are split into units with GNAT's file names, so that any naming works. The splitter
        // parses them, so it needs the version of the language.
        let versions = switches.iter().filter(|switch| is_version(switch));
        let chop = Command::new(&self.gnatchop)
            .args(["-q", "-w"])
            .args(versions)
            .args(&files)
            .arg(&sources)
            .time_limit(BUILD_LIMIT)
            .run()?;
        if chop.end != End::Exited(0) {
            return Ok(Err(lines(&chop)));
        }
        if detects_blocking {
            std::fs::write(sources.join("gnat.adc"), "pragma Detect_Blocking;\n")
                .map_err(failed)?;
        }
        let executable = directory.join("program");
        let make = Command::new(&self.gnatmake)
            .args(["-q", "-gnatwa"])
            .args(switches)
            .arg("-o")
            .arg(&executable)
            .arg(main)
            .cwd(&sources)
            .time_limit(BUILD_LIMIT)
            .run()?;
        let said = lines(&make);
        Ok(if make.end == End::Exited(0) {
            Ok(Built { executable, said })
        } else {
            Err(said)
        })
    }
}

/// Returns whether a switch chooses a version of the language, as `-gnat2022` and `-gnatX` do.
fn is_version(switch: &str) -> bool {
    let rest = switch.strip_prefix("-gnat");
    rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit() || first == 'X'))
}

fn lines(output: &antiphon_runner::Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .chain(output.stderr.lines())
        .filter(|l| !l.trim().is_empty())
        .map(String::from)
        .collect()
}

fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|d| d.join(name))
        .find(|p| p.is_file())
}

/// Returns warnings about the translation that the original does not have. Places are ignored,
/// because lines move.
///
/// GNAT analyses the flow of data around calls of protected entries, but not around those of tasks.
/// So warnings about lines that the translation did not change concern the original and do not
/// count.
pub(super) fn new_warnings(
    original: &Program,
    before: &[String],
    translation: &Built,
) -> Vec<String> {
    let key = |line: &str| {
        line.splitn(4, ':')
            .nth(3)
            .unwrap_or(line)
            .trim()
            .to_string()
    };
    // A statement may occur in several entries of the translation. Repeated warnings about it are
    // not new.
    let known: HashSet<String> = before.iter().map(|l| key(l)).collect();
    let old: HashSet<&str> = original
        .sources
        .iter()
        .flat_map(|s| s.text.lines())
        .map(str::trim)
        .collect();
    let mut new = Vec::new();
    for line in &translation.said {
        let is_copied = translation
            .line_of(line)
            .is_some_and(|text| old.contains(text.trim()));
        if !known.contains(&key(line)) && !is_copied && !translation.is_of_family(line) {
            new.push(line.clone());
        }
    }
    new
}

impl Built {
    /// Returns the source lines up to the line of a message.
    fn lines_to(&self, message: &str) -> Option<Vec<String>> {
        let mut parts = message.split(':');
        let (file, number) = (parts.next()?, parts.next()?.parse::<usize>().ok()?);
        let text = std::fs::read(self.executable.parent()?.join("src").join(file)).ok()?;
        let text = String::from_utf8_lossy(&text);
        Some(text.lines().take(number).map(String::from).collect())
    }

    /// Returns the source line of a message.
    fn line_of(&self, message: &str) -> Option<String> {
        self.lines_to(message)?.pop()
    }

    /// Whether a message says that a parameter of a family's entry body is not modified. GNAT warns
    /// of every such parameter, because it does not see the assignments in these bodies.
    fn is_of_family(&self, message: &str) -> bool {
        let is_about_modes = message.contains("is not modified [-gnatwk]")
            || message.contains("mode could be \"in\" instead of \"in out\" [-gnatwk]");
        let lines = self.lines_to(message).filter(|_| is_about_modes);
        let head = lines.and_then(|lines| {
            let mut heads = lines.into_iter().rev();
            heads.find(|l| l.trim_start().to_lowercase().starts_with("entry "))
        });
        head.is_some_and(|h| h.to_lowercase().contains("(for "))
    }
}

/// Returns GNAT's file name of the main subprogram. It is that of the given file, or of the only
/// parameterless library procedure that no with clause names.
pub(super) fn main_unit(program: &Program, given: Option<&Path>) -> Result<String, Error> {
    let mut found = Vec::new();
    for source in &program.sources {
        let tree = &source.tree;
        for unit in tree.all(tree.root(), "compilation_unit") {
            let body = tree.child(unit, "subprogram_body");
            let spec = body.and_then(|b| tree.child(b, "procedure_specification"));
            let Some(name) = spec
                .filter(|&s| tree.child(s, "formal_part").is_none())
                .and_then(|s| tree.role(s, "name"))
            else {
                continue;
            };
            let is_given =
                given.is_none_or(|g| g == source.path || g.file_name() == source.path.file_name());
            if is_given {
                found.push((Names::key(source.text(name)), source.path.clone()));
            }
        }
    }
    let withed = |name: &str| {
        program.sources.iter().any(|s| {
            let tree = &s.tree;
            tree.all(tree.root(), "compilation_unit")
                .filter_map(|u| tree.child(u, "with_clause"))
                .any(|w| tree.walk(w).any(|n| Names::key(s.text(n)) == name))
        })
    };
    if found.len() > 1 {
        found.retain(|(name, _)| !withed(name));
    }
    match &found[..] {
        [(name, _)] => Ok(format!("{}.adb", name.replace('.', "-"))),
        [] => Err(Error::Main("there is no main subprogram (a library procedure without parameters) to run; name it with --main".into())),
        several => {
            let list: Vec<String> = several.iter().map(|(_, p)| p.display().to_string()).collect();
            Err(Error::Main(format!("there are several main subprograms ({}); choose one with --main", list.join(", "))))
        }
    }
}
