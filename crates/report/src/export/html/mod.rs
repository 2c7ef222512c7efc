//! One self-contained page: no network, no framework; style and script are in the page, data in
//! JSON beside them.
//!
//! Everything from a subject passes through the template's escaping, through JSON in which `<` is
//! written `\u003c`, or is packed in base64.

mod evidence;
mod headlines;
mod plot;
mod table;

use crate::document::{Block, Document, Fact, Note, Place, Section, Table, Weight};
use evidence::Evidence;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use plot::Plots;
use serde::Serialize;

const STYLE: &str = include_str!("../../../assets/report.css");
/// One function around all files keeps their names private.
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("../../../assets/script/basics.js"),
    include_str!("../../../assets/script/plots.js"),
    include_str!("../../../assets/script/reading.js"),
    include_str!("../../../assets/script/page.js"),
    "})();\n",
);
/// No request leaves the page, with any content.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Renders the page.
pub fn render(document: &Document) -> String {
    let mut page = Page {
        subjects: &document.subjects,
        evidence: Evidence::default(),
        plots: Plots::default(),
    };
    let body = page.body(document);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="color-scheme" content="light dark";
                title { (document.title) " – Antiphon" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (body)
                div #evidence role="region" aria-label="Evidence of a figure" hidden {}
                script #plot-data type="application/json" { (PreEscaped(json(&page.plots.data()))) }
                script #packed-evidence type="text/plain" { (page.evidence.packed()) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
    .into_string()
}

/// Writes JSON that may stand in a script element.
fn json(data: &impl Serialize) -> String {
    let text = serde_json::to_string(data).unwrap_or_else(|_| "{}".into());
    text.replace('<', "\\u003c")
}

/// A page under construction, with the data that the script will need.
struct Page<'a> {
    subjects: &'a [String],
    evidence: Evidence,
    plots: Plots<'a>,
}

impl<'a> Page<'a> {
    fn body(&mut self, document: &'a Document) -> Markup {
        let sections: Vec<Markup> = document.sections.iter().map(|s| self.section(s)).collect();
        let address = |place: &Place| address(document, place);
        let found = headlines::opening(&document.headlines, &address);
        html! {
            a.skip href="#figures" { "Skip to the figures" }
            (masthead(document, &found))
            div.columns {
                nav.contents aria-label="Contents" {
                    p.kicker { "Contents" }
                    ol {
                        @for (head, rest) in document.parts() { (contents(head, rest)) }
                    }
                }
                main #figures {
                    @for section in &sections { (section) }
                    @if sections.is_empty() { p.prose { "This run has no results." } }
                }
            }
            footer { "Made by Antiphon, a laboratory for concurrent programs. This page needs no network." }
        }
    }

    fn section(&mut self, section: &'a Section) -> Markup {
        let blocks: Vec<Markup> = section
            .blocks
            .iter()
            .enumerate()
            .map(|(index, block)| self.block(block, &block_id(section, index)))
            .collect();
        html! {
            section id=(section.id) {
                h2 { (section.title) }
                @for block in &blocks { (block) }
            }
        }
    }

    fn block(&mut self, block: &'a Block, id: &str) -> Markup {
        match block {
            Block::Prose { text } => html! { p.prose { (prose(text)) } },
            Block::Table(found) => table::table(found, id, &mut self.evidence),
            Block::Plot(found) => self.plots.figure(found),
            Block::Notes { notes: found } => long_notes(found),
            Block::Facts { facts: found } => conditions(found, self.subjects, "facts"),
        }
    }
}

/// Returns the address of a block within the page.
fn block_id(section: &Section, index: usize) -> String {
    format!("{}-{}", section.id, index + 1)
}

/// Returns the address of the table that a headline stands on: that of its row, else the first of
/// its section. `None` if the document has no such section.
fn address(document: &Document, place: &Place) -> Option<String> {
    let mut sections = document.sections.iter();
    let section = sections.find(|section| section.id == place.section)?;
    let has_row = |table: &Table| table.rows.iter().any(|row| row.label == place.row);
    let table = |fits: &dyn Fn(&Table) -> bool| {
        let mut blocks = section.blocks.iter();
        blocks.position(|block| matches!(block, Block::Table(table) if fits(table)))
    };
    let found = table(&has_row).or_else(|| table(&|_| true));
    Some(found.map_or_else(|| section.id.clone(), |index| block_id(section, index)))
}

/// Returns the contents of one part of the document, folded below its first section. A document of
/// several runs has too many sections for a plain list.
fn contents(head: Option<&Section>, rest: &[Section]) -> Markup {
    let link = |section: &Section| html! { a href={ "#" (section.id) } { (section.title) } };
    html! {
        @match head {
            Some(head) if rest.is_empty() => li { (link(head)) },
            Some(head) => li {
                details {
                    summary { (link(head)) }
                    ol { @for section in rest { li { (link(section)) } } }
                }
            },
            None => @for section in rest { li { (link(section)) } },
        }
    }
}

/// Most subjects that are shown unfolded. More of them would push the results down the page.
const SUBJECTS_SHOWN: usize = 6;
/// Most names of colours that are shown: two lines or three.
const COLOURS_SHOWN: usize = 24;

fn masthead(document: &Document, found: &Markup) -> Markup {
    html! {
        header.masthead {
            p.kicker { "Antiphon" }
            h1 { (document.title) }
            @if document.headlines.is_empty() {
                @if !document.subtitle.is_empty() { p.lede { (prose(&document.subtitle)) } }
                (notes(&document.summary))
                (conditions(&document.facts, &document.subjects, "conditions"))
                (names_of_colours(&document.subjects))
            } @else {
                (found)
                (trust(document))
            }
        }
    }
}

/// Returns what a reader needs to trust the headlines: warnings in sight, the rest folded.
fn trust(document: &Document) -> Markup {
    let is_info = |note: &&Note| note.weight == Weight::Info;
    let (info, warnings): (Vec<&Note>, Vec<&Note>) = document.summary.iter().partition(is_info);
    html! {
        (notes(warnings))
        details.folded.about open data-folds {
            summary { "What was measured, on which machine, with what" }
            @if !document.subtitle.is_empty() { p.lede { (prose(&document.subtitle)) } }
            (notes(info))
            (conditions(&document.facts, &document.subjects, "conditions"))
            (names_of_colours(&document.subjects))
        }
    }
}

fn names_of_colours(subjects: &[String]) -> Markup {
    html! {
        @match subjects.len() {
            0 => {},
            1..=COLOURS_SHOWN => (colours(subjects)),
            count => details.folded open data-folds {
                summary { "Colours of the " (count) " subjects" }
                (colours(subjects))
            },
        }
    }
}

/// Returns facts of a run, those of its subjects folded if they are many.
fn conditions(all: &[Fact], subjects: &[String], class: &str) -> Markup {
    let is_of_subject = |fact: &&Fact| subjects.contains(&fact.label);
    let (of_subjects, of_run): (Vec<&Fact>, Vec<&Fact>) = all.iter().partition(is_of_subject);
    if of_subjects.len() <= SUBJECTS_SHOWN {
        return facts(all, class);
    }
    html! {
        (facts(of_run, class))
        details.folded open data-folds {
            summary { "Languages, compilers, flags and settings of the " (of_subjects.len()) " subjects" }
            (facts(of_subjects, class))
        }
    }
}

fn colours(subjects: &[String]) -> Markup {
    html! {
        p.subjects aria-label="Colours" {
            @for (index, subject) in subjects.iter().enumerate() {
                span class={ "subject " (colour(Some(index))) } { (subject) }
            }
        }
    }
}

/// Marks up text in which `…` is code.
fn prose(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

fn facts<'a>(facts: impl IntoIterator<Item = &'a Fact>, class: &str) -> Markup {
    let mut facts = facts.into_iter().peekable();
    html! {
        @if facts.peek().is_some() {
            dl class=(class) {
                @for fact in facts {
                    div { dt { (fact.label) } dd { (prose(&fact.text)) } }
                }
            }
        }
    }
}

fn notes<'a>(notes: impl IntoIterator<Item = &'a Note>) -> Markup {
    let mut notes = notes.into_iter().peekable();
    html! {
        @if notes.peek().is_some() {
            ul.notes {
                @for note in notes { (one_note(note)) }
            }
        }
    }
}

/// Most notes of a list that stand open on a page with scripts.
const NOTES_SHOWN: usize = 6;

/// Returns notes, the later ones of many folded.
fn long_notes(all: &[Note]) -> Markup {
    let shown = match all.len() > NOTES_SHOWN + 1 {
        true => NOTES_SHOWN,
        false => all.len(),
    };
    let (first, rest) = all.split_at(shown);
    html! {
        (notes(first))
        @if !rest.is_empty() {
            details.folded open data-folds {
                summary { (rest.len()) " more notes" }
                (notes(rest))
            }
        }
    }
}

fn one_note(note: &Note) -> Markup {
    html! {
        li class=(weight(note.weight)) {
            @if note.weight != Weight::Info { span.sign { (weight_word(note.weight)) } " " }
            @if !note.about.is_empty() { strong { (note.about) } ": " }
            (prose(&note.text))
            @if !note.help.is_empty() { p.help { (prose(&note.help)) } }
            @if !note.quote.is_empty() {
                details open data-folds { summary { "Its last words" } pre { (note.quote) } }
            }
        }
    }
}

fn weight(weight: Weight) -> &'static str {
    match weight {
        Weight::Info => "info",
        Weight::Warning => "warning",
        Weight::Error => "error",
    }
}

fn weight_word(weight: Weight) -> &'static str {
    match weight {
        Weight::Info => "note",
        Weight::Warning => "warning",
        Weight::Error => "error",
    }
}

/// Returns the class of a subject's colour; there are eight.
fn colour(subject: Option<usize>) -> String {
    subject.map_or(String::new(), |index| format!("s{}", index % 8))
}
