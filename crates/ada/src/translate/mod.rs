//! Translation of rendezvous to protected objects, as edits that keep layout and comments.

pub mod accepting;
pub(crate) mod callers;
pub mod calling;
pub(crate) mod ceiling;
pub mod code;
pub mod context;
mod counter;
mod declarations;
pub(crate) mod exceptions;
mod first_use;
pub mod general;
pub mod layout;
mod let_go;
pub mod machine;
mod nested;
pub mod obstacles;
mod place;
mod stages;
mod statement_names;
mod style;
mod timing;
mod unsynchronized;
mod visibility;
mod write;

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::analysis::{Analysis, TaskReport};
use crate::edit::{self, Edit, Edited};
use crate::effects::Oracle;
use crate::profile::Profile;
use crate::source::Program;

/// Treatment of input and output inside protected actions (RM 9.5.1 (18) calls it potentially
/// blocking; GNAT allows it).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Io {
    /// Translate such tasks, with a note.
    #[default]
    Allow,
    /// Keep such tasks.
    Refuse,
}

/// The translation of tasks that accept calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scheme {
    /// Pure servers become protected objects; other tasks stay (section 6 of the paper).
    #[default]
    Servers,
    /// Tasks stay, and their rendezvous go through protected objects (section 5 of the paper).
    General,
    /// Like `General`, with one object per task and merged calls of it.
    Optimised,
}

/// How a task finds out which of several entries is called, under the general scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Selector {
    /// A protected object that all calls go through (figure 4 of the paper).
    #[default]
    Object,
    /// None: clients call the object of an entry's rendezvous, and a selective accept polls these
    /// objects.
    None,
}

/// How to translate.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The translation of tasks that accept calls.
    pub scheme: Scheme,
    /// How selective accepts choose under `Scheme::General`.
    pub selector: Selector,
    /// Input and output inside protected actions.
    pub io: Io,
    /// Translate servers that work concurrently with their callers, which then wait for that work.
    pub force: bool,
    /// The profile for which the translation is meant, and whose rules barriers follow.
    pub profile: Option<Profile>,
    /// Units and subprograms that do not block although their source was not given.
    pub assumed: Vec<String>,
    /// Only the tasks with these names; all if empty.
    pub only: Vec<String>,
}

impl Options {
    /// Returns the form of the general scheme, if that was asked for.
    pub fn form(&self) -> Option<general::Form> {
        match (self.scheme, self.selector) {
            (Scheme::Servers, _) => None,
            (Scheme::General, Selector::Object) => Some(general::Form::Apart),
            (Scheme::General, Selector::None) => Some(general::Form::Polling),
            (Scheme::Optimised, _) => Some(general::Form::Merged),
        }
    }

    /// Whether a task is among those that the user named.
    pub fn wants(&self, task: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|n| n.eq_ignore_ascii_case(task))
    }
}

/// Edited files, and which tasks were replaced.
#[derive(Debug)]
pub struct Translation {
    /// The edits, with places in the original program.
    pub edits: Vec<Edit>,
    /// The files that changed.
    pub files: Vec<Edited>,
    /// The names of the tasks that were replaced.
    pub replaced: Vec<String>,
}

impl Translation {
    /// Returns a unified diff.
    pub fn diff(&self, program: &Program) -> String {
        edit::diff(program, &self.files)
    }
}

/// Returns the edits that replace one task alone, if a protected object replaces it.
pub(crate) fn edits_of(
    analysis: &Analysis,
    report: &TaskReport,
    oracle: &Oracle,
) -> Option<Vec<Edit>> {
    // A server that calls others must be translated together with them.
    if analysis.options.form().is_some() || analysis.calls_servers(report.task.id) {
        return None;
    }
    let found = analysis
        .replacement(report, &HashSet::new(), oracle)?
        .ok()?;
    let mut edits = style::fit(
        analysis.program,
        place::merged(analysis.program, found.edits),
    );
    edits.sort_by_key(|e| (e.file, e.range.start, e.range.end));
    Some(edits)
}

/// Replaces the tasks that the analysis found replaceable.
pub fn translate(analysis: &Analysis) -> Translation {
    if let Some(form) = analysis.options.form() {
        let (edits, replaced) = general::translate(analysis, form);
        let edits = style::fit(analysis.program, edits);
        let files = edit::apply(analysis.program, &edits);
        return Translation {
            edits,
            files,
            replaced,
        };
    }
    let mut edits = Edits::default();
    let mut replaced = Vec::new();
    let mut taken: HashSet<String> = HashSet::new();
    let oracle = analysis.oracle();
    let mut all_called_are_there = true;
    for task in analysis.callees_first() {
        let calls = analysis.calls_servers(task.task.id);
        if !analysis.options.wants(&task.task.name) || calls && !all_called_are_there {
            continue;
        }
        let Some(found) = analysis.replacement(task, &taken, &oracle) else {
            continue;
        };
        let found = found.ok().filter(|found| edits.take(found.edits.clone()));
        let Some(found) = found else {
            all_called_are_there = false;
            continue;
        };
        taken.extend(found.declared);
        replaced.push(task.task.name.clone());
    }
    let edits = place::merged(analysis.program, edits.all);
    let edits = style::fit(analysis.program, edits);
    let files = edit::apply(analysis.program, &edits);
    Translation {
        edits,
        files,
        replaced,
    }
}

/// The edits of several tasks, none of which overlap.
#[derive(Debug, Default)]
struct Edits {
    all: Vec<Edit>,
    known: HashSet<(usize, usize, usize, String)>,
    /// The starts and ends of each file's edits.
    spans: HashMap<usize, BTreeMap<usize, usize>>,
}

impl Edits {
    /// Takes the edits of a task, unless one overlaps with another task's.
    fn take(&mut self, edits: Vec<Edit>) -> bool {
        let key = |e: &Edit| (e.file, e.range.start, e.range.end, e.text.clone());
        // Two tasks may need the same with clause, the same type, or the same change of an
        // interface.
        let is_shared = |e: &Edit| self.known.contains(&key(e));
        let new: Vec<Edit> = edits.into_iter().filter(|e| !is_shared(e)).collect();
        if new.iter().any(|e| self.overlaps(e)) {
            return false;
        }
        for edit in &new {
            self.known.insert(key(edit));
            if !edit.range.is_empty() {
                let spans = self.spans.entry(edit.file).or_default();
                spans.insert(edit.range.start, edit.range.end);
            }
        }
        self.all.extend(new);
        true
    }

    fn overlaps(&self, edit: &Edit) -> bool {
        let Some(spans) = self.spans.get(&edit.file) else {
            return false;
        };
        let before = spans
            .range(..edit.range.end.max(edit.range.start))
            .next_back();
        before.is_some_and(|(_, &end)| edit.range.start < end)
    }
}

impl Translation {
    /// Returns the translated program.
    ///
    /// # Errors
    /// Syntax errors, if a translation is not valid Ada. That is an error of this crate.
    pub fn program(&self, original: &Program) -> Result<Program, crate::Error> {
        let texts: HashMap<usize, &String> = self.files.iter().map(|e| (e.file, &e.text)).collect();
        Program::parse(original.sources.iter().enumerate().map(|(file, source)| {
            let text = texts.get(&file).copied().unwrap_or(&source.text);
            (source.path.clone(), source.encode(text))
        }))
    }
}
