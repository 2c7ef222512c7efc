//! One self-contained page: no network, no framework; style and script are in the page, data in JSON beside them.
//!
//! Everything from a subject passes through the template's escaping or through JSON in which `<` is written `\u003c`.

mod evidence;
mod plot;
mod table;

use crate::document::{Block, Document, Fact, Note, Section, Weight};
use evidence::Evidence;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use plot::Plots;
use serde::Serialize;

const STYLE: &str = include_str!("../../../assets/report.css");
/// One function around all files, so that their names are nobody else's.
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("../../../assets/script/basics.js"),
    include_str!("../../../assets/script/plots.js"),
    include_str!("../../../assets/script/reading.js"),
    include_str!("../../../assets/script/page.js"),
    "})();\n",
);
/// No request leaves the page, whatever is in it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// What the script reads.
#[derive(Serialize)]
struct Data<'a> {
    evidence: &'a Evidence,
    plots: &'a [plot::PlotData<'a>],
}

/// The page.
pub fn render(document: &Document) -> String {
    let mut page = Page {
        subjects: &document.subjects,
        evidence: Evidence::default(),
        plots: Plots::default(),
    };
    let body = page.body(document);
    let data = Data {
        evidence: &page.evidence,
        plots: page.plots.data(),
    };
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
                script #data type="application/json" { (PreEscaped(json(&data))) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
    .into_string()
}

/// JSON that may stand in a script element.
fn json(data: &impl Serialize) -> String {
    let text = serde_json::to_string(data).unwrap_or_else(|_| "{}".into());
    text.replace('<', "\\u003c")
}

/// A page as it is built: what the script will need is gathered on the way.
struct Page<'a> {
    subjects: &'a [String],
    evidence: Evidence,
    plots: Plots<'a>,
}

impl<'a> Page<'a> {
    fn body(&mut self, document: &'a Document) -> Markup {
        let sections: Vec<Markup> = document.sections.iter().map(|s| self.section(s)).collect();
        html! {
            a.skip href="#figures" { "Skip to the figures" }
            (masthead(document))
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
            .map(|block| self.block(block))
            .collect();
        html! {
            section id=(section.id) {
                h2 { (section.title) }
                @for block in &blocks { (block) }
            }
        }
    }

    fn block(&mut self, block: &'a Block) -> Markup {
        match block {
            Block::Prose { text } => html! { p.prose { (prose(text)) } },
            Block::Table(found) => table::table(found, &mut self.evidence),
            Block::Plot(found) => self.plots.figure(found),
            Block::Notes { notes: found } => notes(found),
            Block::Facts { facts: found } => conditions(found, self.subjects, "facts"),
        }
    }
}

/// The part of the contents that a part of the document has: folded below what begins it, as a document of several runs has more sections than anybody reads over.
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

/// What more subjects are is folded: what was found should not begin a page below it.
const SUBJECTS_SHOWN: usize = 6;
/// So many names of colours are two lines or three.
const COLOURS_SHOWN: usize = 24;

fn masthead(document: &Document) -> Markup {
    html! {
        header.masthead {
            p.kicker { "Antiphon" }
            h1 { (document.title) }
            @if !document.subtitle.is_empty() { p.lede { (prose(&document.subtitle)) } }
            (notes(&document.summary))
            (conditions(&document.facts, &document.subjects, "conditions"))
            @match document.subjects.len() {
                0 => {},
                1..=COLOURS_SHOWN => (colours(&document.subjects)),
                count => details.folded {
                    summary { "Colours of the " (count) " subjects" }
                    (colours(&document.subjects))
                },
            }
        }
    }
}

/// Facts of a run, those of its subjects folded if they are many.
fn conditions(all: &[Fact], subjects: &[String], class: &str) -> Markup {
    let is_of_subject = |fact: &&Fact| subjects.contains(&fact.label);
    let (of_subjects, of_run): (Vec<&Fact>, Vec<&Fact>) = all.iter().partition(is_of_subject);
    if of_subjects.len() <= SUBJECTS_SHOWN {
        return facts(all, class);
    }
    html! {
        (facts(of_run, class))
        details.folded {
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

/// Text in which `…` is code.
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

fn notes(notes: &[Note]) -> Markup {
    html! {
        @if !notes.is_empty() {
            ul.notes {
                @for note in notes { (one_note(note)) }
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
            @if !note.mend.is_empty() { p.mend { (prose(&note.mend)) } }
            @if !note.quote.is_empty() {
                details { summary { "Its last words" } pre { (note.quote) } }
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

/// The class that sets a subject's colour; there are eight.
fn colour(subject: Option<usize>) -> String {
    subject.map_or(String::new(), |index| format!("s{}", index % 8))
}
