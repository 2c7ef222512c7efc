//! Several runs in one document: a part for each, under one head.

use super::view::{View, subjects_of};
use super::{arranged, header, headlines, method, sections, slug};
use crate::document::{Block, Document, Note, Section};
use crate::layout::Layout;
use antiphon_lab::{Machine, RunRecord};

/// Composes the document of several runs, such as of two suites measured together. For one run it
/// equals [`compose`](super::compose).
pub fn compose_together(runs: &[RunRecord]) -> Document {
    if let [run] = runs {
        return super::compose(run);
    }
    let arranged: Vec<(Layout, Option<Note>)> = runs.iter().map(arranged).collect();
    let subjects = subjects_of(runs);
    let one_machine = runs
        .windows(2)
        .all(|pair| same(&pair[0].machine, &pair[1].machine));
    let mut document = Document {
        title: "Antiphon".into(),
        subjects: subjects.clone(),
        ..Document::default()
    };
    if let Some(run) = runs.first().filter(|_| one_machine) {
        document.facts = header::machine_facts(run);
    }
    let mut titles = Vec::new();
    for (run, (layout, fault)) in runs.iter().zip(&arranged) {
        let view = View::with_subjects(run, layout, subjects.clone());
        let part = part(&view, fault.clone(), one_machine, &mut document.summary);
        titles.push(part.title.clone());
        let own_id = |id: &str| format!("run-{}-{id}", run.id);
        let own = |section: Section| Section {
            id: own_id(&section.id),
            ..section
        };
        let mut part = own(part);
        let found = headlines::of_run(&view, &part.title);
        let picture = found.as_ref().and_then(headlines::picture);
        part.blocks.splice(0..0, picture.map(Block::Plot));
        document.headlines.extend(found.map(|mut found| {
            found.section = part.id.clone();
            let places = found
                .sentences
                .iter_mut()
                .filter_map(|one| one.stands_on.as_mut());
            places.for_each(|place| place.section = own_id(&place.section));
            found
        }));
        document.heads.push(part.id.clone());
        document.sections.push(part);
        document
            .sections
            .extend(sections(&view).into_iter().map(own));
    }
    document.title = title(&titles);
    let method = method::section(runs.iter());
    document.heads.push(method.id.clone());
    document.sections.push(method);
    document
}

/// Returns a title. It has at most two titles of runs, because the summary below has them all.
fn title(titles: &[String]) -> String {
    match titles {
        [_, _, _, ..] => format!("What {} runs measured", titles.len()),
        few => few.join(" · "),
    }
}

/// Returns the head of a run's part. Its summary goes to the document's.
fn part(view: &View, fault: Option<Note>, one_machine: bool, summary: &mut Vec<Note>) -> Section {
    let head = header::document(view);
    let mut notes = head.summary.into_iter();
    summary.extend(notes.next().map(|tally| Note {
        about: head.title.clone(),
        ..tally
    }));
    let notes: Vec<Note> = notes.chain(fault).collect();
    let facts = match one_machine {
        true => header::run_facts(view.run),
        false => head.facts,
    };
    let text = head.subtitle;
    let mut blocks = vec![
        Block::Prose { text },
        Block::Notes { notes },
        Block::Facts { facts },
    ];
    blocks.retain(|block| match block {
        Block::Prose { text } => !text.is_empty(),
        Block::Notes { notes } => !notes.is_empty(),
        _ => true,
    });
    Section {
        id: format!("suite-{}", slug(&view.run.suite)),
        title: head.title,
        blocks,
    }
}

/// Checks whether runs were made on one machine, under any load.
fn same(a: &Machine, b: &Machine) -> bool {
    let known = |m: &Machine| (m.host.clone(), m.processor.clone(), m.kernel.clone());
    known(a) == known(b)
}
