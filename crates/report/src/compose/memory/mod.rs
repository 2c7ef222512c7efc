//! Memory use of a subject, alone or before and after a change: from valgrind's profiles to a
//! document.

mod cache;
mod explain;
mod heap;

use crate::document::{Column, Document, Fact, Note, Weight};
use crate::number;
use antiphon_lab::profile::{Profile, Work, warnings};

/// One profile, or two of which the second follows a change of the first.
pub(super) struct Sides<'a> {
    pub(super) before: &'a Profile,
    pub(super) after: Option<&'a Profile>,
}

/// Composes the document of a profile, or of the changes from it to another.
#[must_use]
pub fn compose_memory(profile: &Profile, against: Option<&Profile>) -> Document {
    let sides = Sides {
        before: profile,
        after: against,
    };
    let subjects: Vec<String> = sides.each().map(name).collect();
    Document {
        title: match &subjects[..] {
            [before, after] => format!("Memory: {before}, then {after}"),
            _ => format!("Memory: {}", subjects[0]),
        },
        subtitle: "The heap by massif, instructions and cache misses by cachegrind.".into(),
        summary: doubts(&sides)
            .into_iter()
            .chain(explain::notes(&sides))
            .collect(),
        facts: facts(&sides),
        subjects,
        sections: vec![heap::section(&sides), cache::section(&sides)],
        ..Document::default()
    }
}

/// Returns the doubts about the counts, each once.
fn doubts(sides: &Sides) -> Vec<Note> {
    let note = |text| Note::new(Weight::Warning, "Warning", text);
    warnings(sides.each()).into_iter().map(note).collect()
}

/// Returns subject and work in one line.
fn name(profile: &Profile) -> String {
    match &profile.work {
        Work::Program { name, arguments } if arguments.is_empty() => {
            format!("{} {name}", profile.subject)
        }
        Work::Program { name, arguments } => {
            format!("{} {name} {}", profile.subject, arguments.join(" "))
        }
        Work::Frame { test, arg, .. } => {
            let arg = arg.map(|arg| format!(" {arg}")).unwrap_or_default();
            format!("{} {test}{arg}", profile.subject)
        }
    }
}

fn facts(sides: &Sides) -> Vec<Fact> {
    let caches = sides.before.cache.caches.iter();
    let caches = caches.filter_map(|cache| cache.split_once(':'));
    let simulated =
        |(label, text): (&str, &str)| Fact::new(format!("Simulated {label}"), text.trim());
    let mut facts: Vec<Fact> = caches.map(simulated).collect();
    if let Work::Frame { iterations, .. } = &sides.before.work {
        let text = format!(
            "{} operations; the heap is that of the whole process, all else is what the test takes beyond its control: functions of the control alone are below 0",
            number::count(*iterations)
        );
        facts.push(Fact::new("Measured in", text));
    }
    facts.push(Fact::new(
        "Not counted",
        "what the kernel does for the program: instructions and misses are those of user mode",
    ));
    facts
}

impl<'a> Sides<'a> {
    pub(super) fn each(&self) -> impl Iterator<Item = &'a Profile> {
        std::iter::once(self.before).chain(self.after)
    }

    /// Returns a column for each side, and one for the change if there are two.
    pub(super) fn columns(&self, what: &str) -> Vec<Column> {
        let side = |(number, profile): (usize, &Profile)| Column {
            title: profile.subject.clone(),
            subtitle: what.into(),
            subject: Some(number),
        };
        let mut columns: Vec<Column> = self.each().enumerate().map(side).collect();
        if self.after.is_some() {
            columns.push(Column::titled("Change"));
        }
        columns
    }
}
