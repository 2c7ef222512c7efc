//! Composition of a run and its suite into a document.

mod agreement;
mod bars;
mod clocks;
mod cold;
mod comparison;
mod costs;
mod curves;
mod delay;
pub(crate) mod figure;
mod findings;
mod growth;
mod header;
mod headlines;
mod interference;
mod latency;
mod lines;
mod load;
mod memory;
mod method;
mod models;
mod processor_time;
mod profile;
mod programs;
mod published;
mod savings;
mod slope;
mod start_variance;
mod storage;
mod together;
mod trends;
mod typical;
mod verdict;
pub(crate) mod view;

use crate::document::{Block, Document, Headlines, Note, Section, Weight};
use crate::layout::{Group, Layout};
pub use agreement::{agrees, compose_agreement};
use antiphon_lab::{Outcome, ResultRecord, RunRecord};
pub use comparison::compose_comparison;
pub(crate) use header::summary;
pub use memory::compose_memory;
pub(crate) use programs::peak_run;
use std::collections::HashMap;
pub use together::compose_together;
use view::View;

/// Composes the document of a run. If its suite cannot be read, results are not arranged, and the
/// document says so.
pub fn compose(run: &RunRecord) -> Document {
    let (layout, fault) = arranged(run);
    let mut document = compose_with(run, &layout);
    document.summary.extend(fault);
    document
}

/// Returns what runs found, in sentences: nothing of suites without headlines.
pub fn headlines_of(runs: &[RunRecord]) -> Vec<Headlines> {
    let of_run = |run: &RunRecord| {
        let (layout, _) = arranged(run);
        headlines::of_run(&View::new(run, &layout), &layout.title)
    };
    runs.iter().filter_map(of_run).collect()
}

/// Returns the arrangement of a run's suite, or none with the reason.
fn arranged(run: &RunRecord) -> (Layout, Option<Note>) {
    let (layout, fault) = Layout::of_run(run);
    (layout, fault.map(unread))
}

/// Notes that a suite cannot be read.
fn unread(why: String) -> Note {
    Note::new(Weight::Warning, "Suite", why)
}

/// Composes the document of a run, arranged as `layout` says.
pub fn compose_with(run: &RunRecord, layout: &Layout) -> Document {
    let view = View::new(run, layout);
    let mut document = header::document(&view);
    document.headlines = headlines::of_run(&view, &document.title)
        .into_iter()
        .collect();
    document.sections = document.headlines.iter().filter_map(pictured).collect();
    document.sections.extend(sections(&view));
    document
        .sections
        .push(method::section(std::iter::once(run)));
    document
}

/// Returns the section of a suite's picture; `None` without enough to draw.
fn pictured(found: &Headlines) -> Option<Section> {
    Some(Section {
        id: "picture".into(),
        title: "The findings in one picture".into(),
        blocks: vec![Block::Plot(headlines::picture(found)?)],
    })
}

/// Returns all sections of a run but the closing explanation.
fn sections(view: &View) -> Vec<Section> {
    let mut sections = models::sections(view);
    sections.extend(profile::sections(view));
    sections.extend(load::sections(view));
    sections.extend(processor_time::sections(view));
    sections.extend(typical::section(view));
    sections.extend(start_variance::section(view));
    for (index, group) in view.layout.groups.iter().enumerate() {
        let results = results_of(view, Some(index));
        if !results.is_empty() {
            sections.push(section(view, group, &results));
        }
    }
    let others = results_of(view, None);
    if !others.is_empty() {
        let group = Group {
            id: "others".into(),
            title: "Other results".into(),
            text: "Results that the suite kept with this run does not name.".into(),
            ..Group::default()
        };
        sections.push(section(view, &group, &others));
    }
    sections.extend(curves::sections(view));
    sections.extend(published::section(view));
    sections.extend(savings::sections(view));

    sections.extend(findings::section(view));
    sections
}

fn results_of<'a>(view: &View<'a>, group: Option<usize>) -> Vec<&'a ResultRecord> {
    let of_group = |r: &&ResultRecord| view.group_of(r) == group;
    view.run.results.iter().filter(of_group).collect()
}

fn section(view: &View, group: &Group, results: &[&ResultRecord]) -> Section {
    let mut blocks = Vec::new();
    if !group.text.is_empty() {
        blocks.push(Block::Prose {
            text: group.text.clone(),
        });
    }
    blocks.extend(costs::blocks(view, group, results));
    blocks.extend(processor_time::blocks(view, group, results));
    blocks.extend(programs::blocks(view, group, results));
    blocks.extend(load::blocks(view, group, results));
    blocks.extend(trends::blocks(view, group, results));
    blocks.extend(lines::blocks(view, group, results));
    blocks.extend(clocks::blocks(view, results));
    blocks.extend(interference::blocks(view, results));
    blocks.extend(delay::blocks(view, results));
    blocks.extend(latency::blocks(view, results));
    blocks.extend(storage::blocks(view, results));
    Section {
        id: format!("group-{}", slug(&group.id)),
        title: group.title.clone(),
        blocks,
    }
}

/// Reduces an id to lower-case letters, digits and hyphens.
fn slug(id: &str) -> String {
    id.chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .collect()
}

/// The kinds of outcomes that are shown in a way of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Frame,
    Latency,
    Delay,
    Storage,
    Clock,
    Interference,
    Program,
    Load,
}

impl Kind {
    fn of(outcome: &Outcome) -> Option<Kind> {
        match outcome {
            Outcome::Frame(_) => Some(Kind::Frame),
            Outcome::Latency(_) => Some(Kind::Latency),
            Outcome::DelayCurve(_) => Some(Kind::Delay),
            Outcome::Storage(_) => Some(Kind::Storage),
            Outcome::Clock { .. } => Some(Kind::Clock),
            Outcome::Interference(_) => Some(Kind::Interference),
            Outcome::Program { .. } => Some(Kind::Program),
            Outcome::Load(_) => Some(Kind::Load),
            Outcome::Absent { .. } => None,
        }
    }
}

/// Returns the results of one kind. An absent result has the kind that another subject gave for its
/// test.
fn of_kind<'a>(results: &[&'a ResultRecord], kind: Kind) -> Vec<&'a ResultRecord> {
    let mut given: HashMap<&str, Kind> = HashMap::new();
    for result in results {
        if let Some(kind) = Kind::of(&result.outcome) {
            given.entry(&result.identity.test).or_insert(kind);
        }
    }
    let kind_of = |result: &ResultRecord| {
        let other = || given.get(result.identity.test.as_str()).copied();
        Kind::of(&result.outcome).or_else(other)
    };
    let is_of_kind = |result: &&&ResultRecord| kind_of(result).unwrap_or(Kind::Frame) == kind;
    results.iter().filter(is_of_kind).copied().collect()
}
