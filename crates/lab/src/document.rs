//! TOML files read key by key. All faults of a file are reported together, each with file, line,
//! column, key and help.

use std::cell::RefCell;
use std::fmt;
use std::num::IntErrorKind;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// One fault of a file, at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file as it was named.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The key, with the path to it, such as `group[2].row[1].test`; empty for a fault of syntax.
    pub key: String,
    /// Description of the fault.
    pub message: String,
    /// Advice to the user; empty if the message is enough.
    pub help: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: ", self.file, self.line, self.column)?;
        if !self.key.is_empty() {
            write!(f, "`{}`: ", self.key)?;
        }
        write!(f, "{}", self.message)?;
        if !self.help.is_empty() {
            write!(f, "; {}", self.help)?;
        }
        Ok(())
    }
}

/// All faults of one file, in the order of their places; at least one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Faults(pub Vec<Fault>);

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{fault}")?;
        }
        Ok(())
    }
}

/// A file being read, and the faults found in it so far.
pub(crate) struct Document<'d> {
    file: &'d str,
    text: &'d str,
    faults: RefCell<Vec<(usize, Fault)>>,
}

impl<'d> Document<'d> {
    /// Reads `text` with `read`; its result counts only without faults.
    pub(crate) fn read<T>(
        file: &'d str,
        text: &'d str,
        read: impl FnOnce(Section<'_>) -> T,
    ) -> Result<T, Faults> {
        let document = Document {
            file,
            text,
            faults: RefCell::new(Vec::new()),
        };
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            let at = error.span().map_or(0, |span| span.start);
            document.fault(at, "", error.message().replace('\n', ", "), "");
        }
        if !document.faults.borrow().is_empty() {
            return Err(document.into_faults());
        }
        let value = read(Section::new(
            &document,
            String::new(),
            0..0,
            table.get_ref(),
        ));
        if document.faults.borrow().is_empty() {
            Ok(value)
        } else {
            Err(document.into_faults())
        }
    }

    fn into_faults(self) -> Faults {
        let mut faults = self.faults.into_inner();
        faults.sort_by_key(|(at, _)| *at);
        faults.dedup();
        Faults(faults.into_iter().map(|(_, fault)| fault).collect())
    }

    fn fault(&self, at: usize, key: &str, message: impl Into<String>, help: impl Into<String>) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let fault = Fault {
            file: self.file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            key: key.to_owned(),
            message: message.into(),
            help: help.into(),
        };
        self.faults.borrow_mut().push((at, fault));
    }
}

/// One table of a document.
///
/// A key is allowed if it is requested; [`Section::finish`] reports all others.
pub(crate) struct Section<'d> {
    document: &'d Document<'d>,
    path: String,
    span: Range<usize>,
    entries: Vec<(&'d str, Range<usize>, Item<'d>)>,
    asked: RefCell<Vec<&'static str>>,
}

/// One value of a document.
#[derive(Clone)]
pub(crate) struct Item<'d> {
    document: &'d Document<'d>,
    path: String,
    span: Range<usize>,
    value: &'d DeValue<'d>,
}

/// Returns the name of a value's type, with its article.
fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// Returns help of the form `did you mean …?`: the nearest of `known`, or all of them.
pub(crate) fn did_you_mean<'k>(word: &str, known: impl Iterator<Item = &'k str> + Clone) -> String {
    match nearest(word, known.clone()) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None if known.clone().next().is_some() => {
            format!("known here: {}", known.collect::<Vec<_>>().join(", "))
        }
        None => String::new(),
    }
}

/// Returns the word of `known` nearest to `word`, if it is near enough: some of `word` is in it.
pub(crate) fn nearest<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let (distance, candidate) = known
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .min()?;
    let length = word.chars().count();
    (distance < length && distance <= 2.max(length / 3)).then_some(candidate)
}

impl<'d> Section<'d> {
    fn new(
        document: &'d Document<'d>,
        path: String,
        span: Range<usize>,
        table: &'d DeTable<'d>,
    ) -> Self {
        let mut entries: Vec<_> = table
            .iter()
            .map(|(key, value)| {
                let name: &'d str = key.get_ref();
                let path = if path.is_empty() {
                    name.to_owned()
                } else {
                    format!("{path}.{name}")
                };
                (name, key.span(), Item::new(document, path, value))
            })
            .collect();
        // Order of the file, which is the order of a matrix.
        entries.sort_by_key(|(_, span, _)| span.start);
        Section {
            document,
            path,
            span,
            entries,
            asked: RefCell::new(Vec::new()),
        }
    }

    /// Returns the value of `key`, if the table has it.
    pub(crate) fn get(&self, key: &'static str) -> Option<Item<'d>> {
        self.asked.borrow_mut().push(key);
        let found = self.entries.iter().find(|(name, ..)| *name == key);
        found.map(|(_, _, item)| item.clone())
    }

    /// Returns the value of `key`; reports a fault if it is missing.
    pub(crate) fn require(&self, key: &'static str) -> Option<Item<'d>> {
        let found = self.get(key);
        if found.is_none() {
            self.fault(format!("the key `{key}` is missing"), "add it");
        }
        found
    }

    /// Returns a required string; empty after a fault.
    pub(crate) fn required_string(&self, key: &'static str) -> String {
        self.require(key)
            .and_then(|item| item.string())
            .unwrap_or_default()
    }

    /// Returns an optional string.
    pub(crate) fn string(&self, key: &'static str) -> Option<String> {
        self.get(key).and_then(|item| item.string())
    }

    /// Returns an optional positive number.
    pub(crate) fn positive(&self, key: &'static str) -> Option<f64> {
        self.get(key).and_then(|item| item.positive())
    }

    /// Returns an optional positive number of at most `most`.
    pub(crate) fn positive_up_to(&self, key: &'static str, most: f64) -> Option<f64> {
        self.get(key).and_then(|item| item.positive_up_to(most))
    }

    /// Returns an optional whole number of at least 1.
    pub(crate) fn count(&self, key: &'static str) -> Option<u64> {
        self.get(key).and_then(|item| item.count())
    }

    /// Returns an optional whole number from 1 to `most`.
    pub(crate) fn count_up_to(&self, key: &'static str, most: u64) -> Option<u64> {
        self.get(key).and_then(|item| item.count_up_to(most))
    }

    /// Returns all entries in the order of the file, for tables with free keys.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&'d str, Item<'d>)> {
        self.entries
            .iter()
            .map(|(name, _, item)| (*name, item.clone()))
    }

    /// Reports a fault of the whole table.
    pub(crate) fn fault(&self, message: impl Into<String>, help: impl Into<String>) {
        self.document
            .fault(self.span.start, &self.path, message, help);
    }

    /// Reports every key that was not asked for.
    pub(crate) fn finish(self) {
        let asked = self.asked.borrow();
        for (name, span, item) in &self.entries {
            if !asked.contains(name) {
                let help = did_you_mean(name, asked.iter().copied());
                self.document
                    .fault(span.start, &item.path, "unknown key", help);
            }
        }
    }
}

impl<'d> Item<'d> {
    fn new(document: &'d Document<'d>, path: String, value: &'d Spanned<DeValue<'d>>) -> Self {
        Item {
            document,
            path,
            span: value.span(),
            value: value.get_ref(),
        }
    }

    /// Reports a fault of this value.
    pub(crate) fn fault(&self, message: impl Into<String>, help: impl Into<String>) {
        self.document
            .fault(self.span.start, &self.path, message, help);
    }

    fn wrong<T>(&self, wanted: &str) -> Option<T> {
        self.fault(
            format!("{} where {wanted} is wanted", kind_of(self.value)),
            format!("write {wanted}"),
        );
        None
    }

    /// Returns the value as a string; reports a fault if it is none.
    pub(crate) fn string(&self) -> Option<String> {
        let text = self.as_string().map(str::to_owned);
        text.or_else(|| self.wrong("a string"))
    }

    /// Returns the value if it is a string, without a fault otherwise.
    pub(crate) fn as_string(&self) -> Option<&'d str> {
        match self.value {
            DeValue::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the value as a list; reports a fault if it is none.
    pub(crate) fn list(&self) -> Option<Vec<Item<'d>>> {
        self.as_list().or_else(|| self.wrong("a list"))
    }

    /// Returns the value if it is a list, without a fault otherwise.
    pub(crate) fn as_list(&self) -> Option<Vec<Item<'d>>> {
        match self.value {
            DeValue::Array(list) => Some(self.elements(list)),
            _ => None,
        }
    }

    fn elements(&self, list: &'d DeArray<'d>) -> Vec<Item<'d>> {
        list.iter()
            .enumerate()
            .map(|(index, value)| {
                Item::new(
                    self.document,
                    format!("{}[{}]", self.path, index + 1),
                    value,
                )
            })
            .collect()
    }

    /// Returns the value as a list of strings.
    pub(crate) fn strings(&self) -> Option<Vec<String>> {
        let list = self.list()?;
        list.iter().map(Item::string).collect()
    }

    /// Returns the value as a number.
    pub(crate) fn number(&self) -> Option<f64> {
        let parsed = match self.value {
            DeValue::Integer(digits) => i64::from_str_radix(digits.as_str(), digits.radix())
                .ok()
                .map(|whole| whole as f64),
            DeValue::Float(digits) => digits.as_str().parse().ok(),
            _ => return self.wrong("a number"),
        };
        match parsed {
            Some(number) if f64::is_finite(number) => Some(number),
            _ => {
                self.fault("the number is out of range", "write a smaller one");
                None
            }
        }
    }

    /// Returns the value as a number above 0.
    pub(crate) fn positive(&self) -> Option<f64> {
        let number = self.number()?;
        if number > 0.0 {
            return Some(number);
        }
        self.fault("the number must be above 0", "write a larger one");
        None
    }

    /// Returns the value as a number above 0 and at most `most`.
    pub(crate) fn positive_up_to(&self, most: f64) -> Option<f64> {
        let number = self.positive()?;
        if number <= most {
            return Some(number);
        }
        self.too_large(most)
    }

    fn too_large<T>(&self, most: impl fmt::Display) -> Option<T> {
        self.fault(
            format!("the number must be at most {most}"),
            "write a smaller one",
        );
        None
    }

    /// Returns the value as a boolean.
    pub(crate) fn boolean(&self) -> Option<bool> {
        match self.value {
            DeValue::Boolean(value) => Some(*value),
            _ => self.wrong("`true` or `false`"),
        }
    }

    /// Returns the value as a whole number of at least 1.
    pub(crate) fn count(&self) -> Option<u64> {
        self.count_up_to(u64::MAX)
    }

    /// Returns the value as a whole number from 1 to `most`.
    pub(crate) fn count_up_to(&self, most: u64) -> Option<u64> {
        let DeValue::Integer(digits) = self.value else {
            return self.wrong("a whole number");
        };
        match u64::from_str_radix(digits.as_str(), digits.radix()) {
            Ok(count @ 1..) if count <= most => Some(count),
            Ok(1..) => self.too_large(most),
            Err(error) if *error.kind() == IntErrorKind::PosOverflow => self.too_large(most),
            _ => {
                self.fault("the number must be 1 or more", "write a larger one");
                None
            }
        }
    }

    /// Returns the value as a table.
    pub(crate) fn section(&self) -> Option<Section<'d>> {
        match self.value {
            DeValue::Table(table) => Some(Section::new(
                self.document,
                self.path.clone(),
                self.span.clone(),
                table,
            )),
            _ => self.wrong("a table"),
        }
    }

    /// Returns the value as a list of tables.
    pub(crate) fn sections(&self) -> Vec<Section<'d>> {
        let list = self.list().unwrap_or_default();
        list.iter().filter_map(Item::section).collect()
    }
}
