//! Translation: rendezvous to protected objects, as edits that keep layout and comments.

pub mod accepting;
pub mod calling;
mod ceiling;
pub mod code;
pub mod context;
mod counter;
mod declarations;
mod exceptions;
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

use std::collections::HashSet;

use crate::analysis::Analysis;
use crate::edit::{self, Edit, Edited};
use crate::source::Program;

/// What to do about input and output inside protected actions (RM 9.5.1 (18) calls it potentially blocking; GNAT does it).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Io {
    /// Translate, and say so.
    #[default]
    Allow,
    /// Keep such tasks.
    Refuse,
}

/// What becomes of tasks that accept calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scheme {
    /// Tasks that only serve become protected objects; others stay (section 6 of the paper).
    #[default]
    Servers,
    /// Tasks stay, their rendezvous go through protected objects (section 5 of the paper).
    General,
    /// As `General`, with one object a task and the calls of it merged.
    Optimised,
}

/// How a task finds out which of several entries is called, under the general scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Selector {
    /// A protected object that all calls go through (figure 4 of the paper).
    #[default]
    Object,
    /// None: clients call the object of an entry's rendezvous, and a selective accept polls these objects.
    None,
}

/// How to translate.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// What becomes of tasks that accept calls.
    pub scheme: Scheme,
    /// How selective accepts choose under `Scheme::General`.
    pub selector: Selector,
    /// Input and output inside protected actions.
    pub io: Io,
    /// Translate servers that work beside their callers, so that the callers wait for that work.
    pub force: bool,
    /// Only the tasks with these names; all if empty.
    pub only: Vec<String>,
}

impl Options {
    /// The form of the general scheme, if that was asked for.
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
    /// The edits, in the program's own places.
    pub edits: Vec<Edit>,
    /// The files that changed.
    pub files: Vec<Edited>,
    /// The names of the tasks that were replaced.
    pub replaced: Vec<String>,
}

impl Translation {
    /// A unified diff.
    pub fn diff(&self, program: &Program) -> String {
        edit::diff(program, &self.files)
    }
}

/// Replaces what the analysis found to be replaceable.
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
    let mut edits: Vec<Edit> = Vec::new();
    let mut replaced = Vec::new();
    let mut taken: HashSet<String> = HashSet::new();
    for task in &analysis.tasks {
        if !analysis.options.wants(&task.task.name) {
            continue;
        }
        let Some(Ok(found)) = analysis.replacement(task, &taken) else {
            continue;
        };
        // Two tasks may need the same with clause, or the same change of an interface.
        let is_shared =
            |e: &Edit| edits.contains(e) && (!e.range.is_empty() || e.text.starts_with("with "));
        let new: Vec<Edit> = found.edits.into_iter().filter(|e| !is_shared(e)).collect();
        let overlaps = new.iter().any(|e| {
            edits.iter().any(|o| {
                o.file == e.file && o.range.start < e.range.end && e.range.start < o.range.end
            })
        });
        if overlaps {
            continue;
        }
        taken.extend(found.declared);
        edits.extend(new);
        replaced.push(task.task.name.clone());
    }
    let edits = place::merged(edits);
    let edits = style::fit(analysis.program, edits);
    let files = edit::apply(analysis.program, &edits);
    Translation {
        edits,
        files,
        replaced,
    }
}

impl Translation {
    /// The translated program.
    ///
    /// # Errors
    /// Syntax errors, if a translation made something that is no Ada; that is a fault of ours.
    pub fn program(&self, original: &Program) -> Result<Program, crate::Error> {
        Program::parse(original.sources.iter().enumerate().map(|(file, source)| {
            let text = self
                .files
                .iter()
                .find(|e| e.file == file)
                .map_or(&source.text, |e| &e.text);
            (source.path.clone(), source.encode(text))
        }))
    }
}
