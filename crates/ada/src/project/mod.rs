//! GNAT project files: the sources of a project, and how it compiles them.
//!
//! The language is that of GPRbuild's project manager: attributes, variables, scenario variables
//! with `case`, packages, and projects that are named in with clauses, extended, or aggregated.
//! Scenario variables take their values from the environment.

mod parser;
mod tokens;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::error::Error;
use parser::Parser;

/// A project's sources and compiler switches.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// The Ada sources, including those of with'ed and extended projects.
    pub files: Vec<PathBuf>,
    /// The switches of the project's own compiler package for Ada.
    pub switches: Vec<String>,
    /// Descriptions of missing files and directories.
    pub missing: Vec<String>,
    /// The reason why `gprls` is not asked about this project. An empty one needs no words.
    pub unasked: Option<String>,
}

/// Limit of nesting of projects that name each other.
const DEPTH_MAX: usize = 200;

/// Reads a project and those that it depends on.
///
/// # Errors
/// A file that cannot be read, or that is no project.
pub(crate) fn read(path: &Path) -> Result<Sources, Error> {
    let mut reader = Reader::default();
    let root = reader.load(path, 0)?;
    let mut sources = Sources {
        switches: reader.switches(&root),
        ..Sources::default()
    };
    let mut files = Vec::new();
    for key in reader.order.clone() {
        if let Some(project) = reader.known.get(&key) {
            files.extend(reader.sources(project, &mut sources.missing)?);
        }
    }
    // What `gprls` does with a project file that was not found here is unknown.
    let not_found = (!reader.missing.is_empty()).then(String::new);
    sources.unasked = reader.unasked.or(not_found);
    sources.missing.append(&mut reader.missing);
    sources.files = files;
    Ok(sources)
}

/// A string, or a list of them.
#[derive(Debug, Clone)]
enum Value {
    One(String),
    Many(Vec<String>),
}

impl Value {
    fn list(self) -> Vec<String> {
        match self {
            Value::One(one) => vec![one],
            Value::Many(many) => many,
        }
    }

    fn text(&self) -> String {
        match self {
            Value::One(one) => one.clone(),
            Value::Many(many) => many.concat(),
        }
    }
}

/// A project, evaluated.
#[derive(Debug, Clone, Default)]
struct Project {
    home: PathBuf,
    /// Attributes by package (empty for the project's own), name and index, in lower case.
    attributes: BTreeMap<(String, String, String), Value>,
    variables: HashMap<String, Value>,
    /// The projects that its with clauses name and the one that it extends, by lower-case name.
    named: HashMap<String, PathBuf>,
    extended: Option<PathBuf>,
}

impl Project {
    fn attribute(&self, package: &str, name: &str, index: &str) -> Option<&Value> {
        let key = (package.into(), name.into(), index.into());
        self.attributes.get(&key)
    }

    fn list(&self, package: &str, name: &str, index: &str) -> Option<Vec<String>> {
        Some(self.attribute(package, name, index)?.clone().list())
    }

    fn text(&self, package: &str, name: &str, index: &str) -> Option<String> {
        Some(self.attribute(package, name, index)?.text())
    }
}

#[derive(Debug, Default)]
struct Reader {
    known: HashMap<PathBuf, Project>,
    /// The projects in the order of precedence of their sources: extending projects before extended
    /// ones.
    order: Vec<PathBuf>,
    loading: HashSet<PathBuf>,
    missing: Vec<String>,
    unasked: Option<String>,
}

impl Reader {
    /// Loads a project, and first those that it names. Returns its path in normal form.
    fn load(&mut self, path: &Path, depth: usize) -> Result<PathBuf, Error> {
        let key = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        if self.known.contains_key(&key) || !self.loading.insert(key.clone()) {
            return Ok(key);
        }
        let bytes = std::fs::read(path).map_err(|cause| Error::File {
            path: path.into(),
            cause,
        })?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some(reason) = effect_of_reading(&text) {
            let reason = format!("{} {reason}", path.display());
            self.unasked.get_or_insert(reason);
        }
        let project = Parser::of(path, &text, home_of(path), self, depth).project()?;
        let extended = project.extended.clone();
        let aggregated = project.list("", "project_files", "").unwrap_or_default();
        let home = project.home.clone();
        self.known.insert(key.clone(), project);
        self.order.push(key.clone());
        // An extended project comes after the extending one.
        if let Some(base) = extended
            && let Some(position) = self.order.iter().position(|p| *p == base)
        {
            let base = self.order.remove(position);
            self.order.push(base);
        }
        for pattern in aggregated {
            for found in matching(&home, &pattern) {
                self.load(&found, depth + 1)?;
            }
        }
        Ok(key)
    }

    /// Returns the file of a project that another names.
    fn find(&self, home: &Path, name: &str) -> Option<PathBuf> {
        let mut file = PathBuf::from(name);
        if file
            .extension()
            .is_none_or(|e| !e.eq_ignore_ascii_case("gpr"))
        {
            file.as_mut_os_string().push(".gpr");
        }
        let mut folders = vec![home.to_path_buf()];
        for variable in ["GPR_PROJECT_PATH", "ADA_PROJECT_PATH"] {
            let value = std::env::var_os(variable).unwrap_or_default();
            folders.extend(std::env::split_paths(&value));
        }
        folders.push("/usr/share/gpr".into());
        folders.push("/usr/lib/gnat".into());
        folders
            .into_iter()
            .map(|d| d.join(&file))
            .find(|p| p.is_file())
    }

    /// Returns the switches for Ada. Switches for warnings or style checks are left out, because
    /// both programs are checked alike.
    fn switches(&self, root: &Path) -> Vec<String> {
        let Some(project) = self.known.get(root) else {
            return vec![];
        };
        let given = ["default_switches", "switches"]
            .iter()
            .find_map(|name| project.list("compiler", name, "ada"));
        let is_wanted = |s: &String| {
            s.starts_with("-gnat") && !s.starts_with("-gnatw") && !s.starts_with("-gnaty")
        };
        given
            .unwrap_or_default()
            .into_iter()
            .filter(is_wanted)
            .collect()
    }

    /// Returns the Ada sources of one project.
    fn sources(&self, project: &Project, missing: &mut Vec<String>) -> Result<Vec<PathBuf>, Error> {
        let languages = project.list("", "languages", "");
        let is_ada = languages.is_none_or(|l| l.iter().any(|x| x.eq_ignore_ascii_case("ada")));
        let is_aggregate = project.attribute("", "project_files", "").is_some();
        if !is_ada || is_aggregate {
            return Ok(vec![]);
        }
        let folders = project
            .list("", "source_dirs", "")
            .unwrap_or(vec![".".into()]);
        let excluded_folders: Vec<PathBuf> = project
            .list("", "excluded_source_dirs", "")
            .unwrap_or_default()
            .iter()
            .map(|d| project.home.join(d))
            .collect();
        let only = self.names(project, "source_files", "source_list_file")?;
        let mut without: HashSet<String> = HashSet::new();
        for (list, file) in [
            ("excluded_source_files", "excluded_source_list_file"),
            ("locally_removed_files", ""),
        ] {
            without.extend(self.names(project, list, file)?.unwrap_or_default());
        }
        let suffix = |names: [&str; 2], default: &str| {
            let given = names.iter().find_map(|n| project.text("naming", n, "ada"));
            given.unwrap_or_else(|| default.to_string())
        };
        let spec = suffix(["spec_suffix", "specification_suffix"], ".ads");
        let body = suffix(["body_suffix", "implementation_suffix"], ".adb");
        let separate = suffix(["separate_suffix", "separate_suffix"], &body);
        let separate = project
            .text("naming", "separate_suffix", "")
            .unwrap_or(separate);
        let suffixes = [spec, body, separate];
        let exceptions: HashSet<String> = project
            .attributes
            .iter()
            .filter(|((package, name, _), _)| {
                package == "naming"
                    && matches!(
                        name.as_str(),
                        "spec" | "body" | "specification" | "implementation"
                    )
            })
            .map(|(_, value)| value.text())
            .collect();
        let is_source = |name: &str| {
            let is_named =
                exceptions.contains(name) || suffixes.iter().any(|s| name.ends_with(s.as_str()));
            is_named && only.as_ref().is_none_or(|o| o.contains(name)) && !without.contains(name)
        };
        let mut found = Vec::new();
        for folder in folders {
            let (above, is_deep) = match folder.strip_suffix("**") {
                Some(above) => (above.trim_end_matches('/'), true),
                None => (folder.as_str(), false),
            };
            let above = project
                .home
                .join(if above.is_empty() { "." } else { above });
            if !above.is_dir() {
                missing.push(format!("{}: there is no such folder", above.display()));
                continue;
            }
            let mut open = vec![above];
            while let Some(folder) = open.pop() {
                if excluded_folders.contains(&folder) {
                    continue;
                }
                let unreadable = |cause| Error::File {
                    path: folder.clone(),
                    cause,
                };
                for entry in std::fs::read_dir(&folder).map_err(unreadable)? {
                    let entry = entry.map_err(unreadable)?;
                    // `file_type` does not follow links, so a link to a parent directory cannot
                    // cause an endless loop.
                    let kind = entry.file_type().map_err(unreadable)?;
                    let name = entry.file_name().to_string_lossy().into_owned();
                    if kind.is_dir() {
                        if is_deep {
                            open.push(entry.path());
                        }
                    } else if is_source(&name) {
                        found.push(entry.path());
                    }
                }
            }
        }
        Ok(found)
    }

    /// Returns names of files, which are listed or in a file of names.
    fn names(
        &self,
        project: &Project,
        list: &str,
        file: &str,
    ) -> Result<Option<HashSet<String>>, Error> {
        if let Some(names) = project.list("", list, "") {
            return Ok(Some(names.into_iter().collect()));
        }
        let Some(file) = project.text("", file, "") else {
            return Ok(None);
        };
        let path = project.home.join(file);
        let bytes = std::fs::read(&path).map_err(|cause| Error::File {
            path: path.clone(),
            cause,
        })?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let names = text
            .lines()
            .map(|l| l.split("--").next().unwrap_or("").trim().to_string())
            .filter(|l| !l.is_empty());
        Ok(Some(names.collect()))
    }
}

/// Returns what `gprls` would do with a project file beside reading it.
fn effect_of_reading(text: &str) -> Option<&'static str> {
    // GNAT ends a line, and so a comment, at other signs than we do.
    let is_hiding = |c: char| match c {
        '\n' | '\r' | '\t' => false,
        '\u{2028}' | '\u{2029}' => true,
        _ => c.is_control(),
    };
    if text.contains(is_hiding) || text.replace("\r\n", "\n").contains('\r') {
        return Some("has control characters");
    }
    let makes_folders = text.to_ascii_lowercase().contains("create_missing_dirs");
    makes_folders.then_some("may have folders made (Create_Missing_Dirs)")
}

fn home_of(path: &Path) -> PathBuf {
    let home = path.parent().filter(|p| !p.as_os_str().is_empty());
    home.unwrap_or(Path::new(".")).to_path_buf()
}

/// Returns the project files that match a pattern of an aggregate project: `dir/*.gpr`,
/// `dir/**/*.gpr`, or a path.
fn matching(home: &Path, pattern: &str) -> Vec<PathBuf> {
    let (folder, name) = pattern.rsplit_once('/').unwrap_or((".", pattern));
    let (folder, is_deep) = match folder.strip_suffix("**") {
        Some(above) => (above.trim_end_matches('/'), true),
        None => (folder, false),
    };
    let folder = home.join(if folder.is_empty() { "." } else { folder });
    let Some((before, after)) = name.split_once('*') else {
        return vec![folder.join(name)];
    };
    let mut found = Vec::new();
    let mut open = vec![folder];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_folder = entry.file_type().is_ok_and(|t| t.is_dir());
            if is_folder && is_deep {
                open.push(entry.path());
            } else if !is_folder && name.starts_with(before) && name.ends_with(after) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}
