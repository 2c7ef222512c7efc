//! GNAT project files: the sources of a project, and how it compiles them.
//!
//! The language is that of GPRbuild's project manager: attributes, variables, scenario variables
//! with `case`, packages, and projects that are named in with clauses, extended, or aggregated.
//! Scenario variables take their values from the environment.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::error::Error;

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
        let mut parser = Parser {
            path,
            tokens: tokens(&text),
            at: 0,
            project: Project {
                home: home_of(path),
                ..Project::default()
            },
            reader: self,
            depth,
        };
        if depth > DEPTH_MAX {
            return Err(parser.error("projects name each other in too long a chain"));
        }
        parser.project()?;
        let project = parser.project;
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

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Sign(char),
    /// `:=` and `=>`.
    Arrow,
}

/// Splits a text into tokens with their lines.
fn tokens(text: &str) -> Vec<(Token, usize)> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            if rest.starts_with("--") {
                break;
            }
            let length;
            let token = if first == '"' {
                let mut text = String::new();
                let mut chars = rest.char_indices().skip(1).peekable();
                let mut end = rest.len();
                while let Some((at, c)) = chars.next() {
                    if c != '"' {
                        text.push(c);
                    } else if chars.next_if(|&(_, next)| next == '"').is_some() {
                        text.push('"');
                    } else {
                        end = at + 1;
                        break;
                    }
                }
                length = end;
                Token::Text(text)
            } else if first.is_alphanumeric() || first == '_' {
                length = rest
                    .find(|c: char| !c.is_alphanumeric() && c != '_')
                    .unwrap_or(rest.len());
                Token::Word(rest[..length].to_lowercase())
            } else if rest.starts_with(":=") || rest.starts_with("=>") {
                length = 2;
                Token::Arrow
            } else {
                length = first.len_utf8();
                Token::Sign(first)
            };
            found.push((token, index + 1));
            rest = rest[length..].trim_start();
        }
    }
    found
}

struct Parser<'a> {
    path: &'a Path,
    tokens: Vec<(Token, usize)>,
    at: usize,
    project: Project,
    reader: &'a mut Reader,
    depth: usize,
}

impl Parser<'_> {
    fn error(&self, text: &str) -> Error {
        let last = self.tokens.get(self.at).or(self.tokens.last());
        Error::Project {
            path: self.path.into(),
            line: last.map_or(1, |t| t.1),
            text: text.into(),
        }
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|t| &t.0)
    }

    fn takes(&mut self, token: &Token) -> bool {
        let is_there = self.peek() == Some(token);
        self.at += usize::from(is_there);
        is_there
    }

    fn word(&mut self, word: &str) -> bool {
        self.takes(&Token::Word(word.into()))
    }

    fn sign(&mut self, sign: char) -> bool {
        self.takes(&Token::Sign(sign))
    }

    fn need(&mut self, sign: char) -> Result<(), Error> {
        if self.sign(sign) {
            return Ok(());
        }
        Err(self.error(&format!("`{sign}` is missing in the project file")))
    }

    fn name(&mut self) -> Result<String, Error> {
        match self.peek() {
            Some(Token::Word(word)) => {
                let mut name = word.clone();
                self.at += 1;
                while self.sign('.') {
                    match self.peek() {
                        Some(Token::Word(word)) => {
                            name = format!("{name}.{word}");
                            self.at += 1;
                        }
                        _ => return Err(self.error("a name is missing in the project file")),
                    }
                }
                Ok(name)
            }
            _ => Err(self.error("a name is missing in the project file")),
        }
    }

    fn text(&mut self) -> Result<String, Error> {
        match self.peek() {
            Some(Token::Text(text)) => {
                let text = text.clone();
                self.at += 1;
                Ok(text)
            }
            _ => Err(self.error("a string is missing in the project file")),
        }
    }

    /// Evaluates the whole file.
    fn project(&mut self) -> Result<(), Error> {
        loop {
            let before = self.at;
            self.word("limited");
            if !self.word("with") {
                self.at = before;
                break;
            }
            loop {
                let named = self.text()?;
                self.depend(&named)?;
                if !self.sign(',') {
                    break;
                }
            }
            self.need(';')?;
        }
        while [
            "abstract",
            "aggregate",
            "library",
            "standard",
            "configuration",
        ]
        .iter()
        .any(|w| self.word(w))
        {}
        if !self.word("project") {
            return Err(self.error("this is no project file"));
        }
        self.name()?;
        if self.word("extends") {
            self.word("all");
            let named = self.text()?;
            self.project.extended = self.depend(&named)?;
            self.inherit();
        }
        if !self.word("is") {
            return Err(self.error("`is` is missing in the project file"));
        }
        self.declarations("", 0, true)
    }

    /// Loads a project that this one names.
    fn depend(&mut self, named: &str) -> Result<Option<PathBuf>, Error> {
        let Some(file) = self.reader.find(&self.project.home, named) else {
            let text = format!("{}: project {named} was not found", self.path.display());
            self.reader.missing.push(text);
            return Ok(None);
        };
        let key = self.reader.load(&file, self.depth + 1)?;
        let stem = file.file_stem().unwrap_or_default();
        let name = stem.to_string_lossy().to_lowercase().replace('-', ".");
        self.project.named.insert(name, key.clone());
        Ok(Some(key))
    }

    /// Copies the packages and variables of the extended project. The extending one has sources of
    /// its own.
    fn inherit(&mut self) {
        let base = self.project.extended.as_ref();
        let Some(base) = base.and_then(|b| self.reader.known.get(b)) else {
            return;
        };
        let packages = base
            .attributes
            .iter()
            .filter(|((p, _, _), _)| !p.is_empty());
        self.project
            .attributes
            .extend(packages.map(|(k, v)| (k.clone(), v.clone())));
        self.project.variables = base.variables.clone();
    }

    /// Evaluates declarations up to `end` or the next `when`; they take effect if `is_live`.
    fn declarations(&mut self, package: &str, depth: usize, is_live: bool) -> Result<(), Error> {
        if depth > DEPTH_MAX {
            return Err(self.error("the project file is nested too deeply"));
        }
        loop {
            match self.peek() {
                None => return Err(self.error("`end` is missing in the project file")),
                Some(Token::Word(word)) if word == "end" || word == "when" => return Ok(()),
                _ => {}
            }
            if self.word("for") {
                self.attribute(package, is_live)?;
            } else if self.word("case") {
                self.case(package, depth, is_live)?;
            } else if self.word("package") {
                self.package(depth, is_live)?;
            } else if self.word("type") {
                self.skip_past(';');
            } else if self.word("null") {
                self.need(';')?;
            } else {
                let name = self.name()?;
                if self.sign(':') {
                    self.name()?;
                }
                if !self.takes(&Token::Arrow) {
                    return Err(self.error("a declaration of the project file is not understood"));
                }
                let value = self.expression(depth)?;
                self.need(';')?;
                if is_live {
                    self.project.variables.insert(name, value);
                }
            }
        }
    }

    fn skip_past(&mut self, sign: char) {
        while self.peek().is_some() && !self.sign(sign) {
            self.at += 1;
        }
    }

    /// `for Name (index) use value;`
    fn attribute(&mut self, package: &str, is_live: bool) -> Result<(), Error> {
        let name = self.name()?;
        let mut index = String::new();
        if self.sign('(') {
            index = match self.peek() {
                Some(Token::Text(text)) => text.to_lowercase(),
                _ => "others".into(),
            };
            self.skip_past(')');
        }
        if !self.word("use") {
            return Err(self.error("`use` is missing in the project file"));
        }
        let value = self.expression(0)?;
        // Skips `at 1`, for a file with several units.
        while self.peek().is_some() && self.peek() != Some(&Token::Sign(';')) {
            self.at += 1;
        }
        self.need(';')?;
        if is_live {
            let key = (package.to_string(), name, index);
            self.project.attributes.insert(key, value);
        }
        Ok(())
    }

    /// `case Variable is when "a" | "b" => …`
    fn case(&mut self, package: &str, depth: usize, is_live: bool) -> Result<(), Error> {
        let selector = self.expression(depth)?.text();
        if !self.word("is") {
            return Err(self.error("`is` is missing in the project file"));
        }
        let mut is_taken = false;
        while self.word("when") {
            let mut matches = self.word("others");
            if !matches {
                loop {
                    matches |= self.text()? == selector;
                    if !self.sign('|') {
                        break;
                    }
                }
            }
            if !self.takes(&Token::Arrow) {
                return Err(self.error("`=>` is missing in the project file"));
            }
            self.declarations(package, depth + 1, is_live && matches && !is_taken)?;
            is_taken |= matches;
        }
        self.word("end");
        self.word("case");
        self.need(';')
    }

    /// `package P is … end P;`, `package P renames Q.P;`, `package P extends Q.P is … end P;`
    fn package(&mut self, depth: usize, is_live: bool) -> Result<(), Error> {
        let name = self.name()?;
        let renames = self.word("renames");
        if renames || self.word("extends") {
            let other = self.name()?;
            let (project, package) = other.rsplit_once('.').unwrap_or(("", &other));
            let key = self.project.named.get(project);
            let found = key.and_then(|k| self.reader.known.get(k));
            let copied: Vec<_> = found
                .into_iter()
                .flat_map(|p| &p.attributes)
                .filter(|((p, _, _), _)| p == package)
                .map(|((_, n, i), v)| ((name.clone(), n.clone(), i.clone()), v.clone()))
                .collect();
            if is_live {
                self.project.attributes.extend(copied);
            }
        }
        if !renames {
            if !self.word("is") {
                return Err(self.error("`is` is missing in the project file"));
            }
            self.declarations(&name, depth + 1, is_live)?;
            self.word("end");
            self.name()?;
        }
        self.need(';')
    }

    /// Evaluates terms that are joined by `&`: a list if one of them is a list.
    fn expression(&mut self, depth: usize) -> Result<Value, Error> {
        let mut value = self.term(depth)?;
        while self.sign('&') {
            let next = self.term(depth)?;
            value = match (value, next) {
                (Value::One(left), Value::One(right)) => Value::One(left + &right),
                (left, right) => {
                    let mut all = left.list();
                    all.extend(right.list());
                    Value::Many(all)
                }
            };
        }
        Ok(value)
    }

    fn term(&mut self, depth: usize) -> Result<Value, Error> {
        if depth > DEPTH_MAX {
            return Err(self.error("the project file is nested too deeply"));
        }
        if let Some(Token::Text(_)) = self.peek() {
            return Ok(Value::One(self.text()?));
        }
        if self.sign('(') {
            let mut all = Vec::new();
            while !self.sign(')') {
                all.extend(self.expression(depth + 1)?.list());
                if !self.sign(',') && self.peek() != Some(&Token::Sign(')')) {
                    return Err(self.error("`)` is missing in the project file"));
                }
            }
            return Ok(Value::Many(all));
        }
        let name = self.name()?;
        if matches!(name.as_str(), "external" | "external_as_list") {
            return self.external(&name, depth);
        }
        if self.sign('\'') {
            let attribute = self.name()?;
            let mut index = String::new();
            if self.sign('(') {
                index = self.text()?.to_lowercase();
                self.need(')')?;
            }
            return Ok(self.value_of(&name, &attribute, &index));
        }
        if self.sign('(') {
            // A function of strings: as far as sources are concerned, its result is its first
            // parameter.
            let value = self.expression(depth + 1)?;
            self.skip_past(')');
            return Ok(value);
        }
        let value = self.project.variables.get(&name).cloned();
        Ok(value
            .or_else(|| self.variable_elsewhere(&name))
            .unwrap_or(Value::Many(vec![])))
    }

    /// `external ("NAME", "default")`, from the environment.
    fn external(&mut self, function: &str, depth: usize) -> Result<Value, Error> {
        self.need('(')?;
        let name = self.text()?;
        let default = if self.sign(',') {
            Some(self.expression(depth + 1)?)
        } else {
            None
        };
        self.need(')')?;
        let value = std::env::var(&name).ok();
        if function == "external_as_list" {
            let separator = default.map_or(",".into(), |d| d.text());
            let all = value.unwrap_or_default();
            let parts = all.split(separator.as_str()).filter(|p| !p.is_empty());
            return Ok(Value::Many(parts.map(String::from).collect()));
        }
        Ok(value
            .map(Value::One)
            .or(default)
            .unwrap_or(Value::One(String::new())))
    }

    /// Returns a variable of another project: `Shared.Mode`.
    fn variable_elsewhere(&self, name: &str) -> Option<Value> {
        let (project, variable) = name.rsplit_once('.')?;
        let key = self.project.named.get(project)?;
        self.reader.known.get(key)?.variables.get(variable).cloned()
    }

    /// `project'Attribute`, `Shared'Source_Dirs`, `Shared.Compiler'Switches ("Ada")`.
    fn value_of(&self, prefix: &str, attribute: &str, index: &str) -> Value {
        let known = |name: &str| {
            let key = self.project.named.get(name)?;
            self.reader.known.get(key)
        };
        let (project, package) = match (known(prefix), prefix.rsplit_once('.')) {
            (Some(project), _) => (project, ""),
            (None, Some((name, package))) => match known(name) {
                Some(project) => (project, package),
                None => (&self.project, package),
            },
            (None, None) if prefix == "project" => (&self.project, ""),
            (None, None) => (&self.project, prefix),
        };
        let value = project.attribute(package, attribute, index);
        value.cloned().unwrap_or(Value::Many(vec![]))
    }
}
