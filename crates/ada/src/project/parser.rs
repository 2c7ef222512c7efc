//! Parses and evaluates a project file in one pass.

use std::path::{Path, PathBuf};

use super::tokens::{Token, tokens};
use super::{DEPTH_MAX, Project, Reader, Value};
use crate::error::Error;

/// A parser of one file, which has the reader load the projects that the file names.
pub(super) struct Parser<'a> {
    path: &'a Path,
    tokens: Vec<(Token, usize)>,
    at: usize,
    project: Project,
    reader: &'a mut Reader,
    depth: usize,
}

impl<'a> Parser<'a> {
    /// Makes the parser of a file. `depth` counts the projects that name each other on the way.
    pub fn of(
        path: &'a Path,
        text: &str,
        home: PathBuf,
        reader: &'a mut Reader,
        depth: usize,
    ) -> Self {
        Parser {
            path,
            tokens: tokens(text),
            at: 0,
            project: Project {
                home,
                ..Project::default()
            },
            reader,
            depth,
        }
    }

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
    pub fn project(mut self) -> Result<Project, Error> {
        if self.depth > DEPTH_MAX {
            return Err(self.error("projects name each other in too long a chain"));
        }
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
        self.declarations("", 0, true)?;
        Ok(self.project)
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
