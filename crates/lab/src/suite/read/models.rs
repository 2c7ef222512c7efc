//! The tables of execution models of a suite.

use super::{Tests, identified, limits, one_of, parse_placed};
use crate::document::{Item, Section, did_you_mean};
use crate::suite::{Model, ModelClaim, ModelColumn, Models, Placed};
use antiphon_measure::RunFigure;

/// The words for models.
const MODELS: [Model; 3] = [
    Model::Concurrent,
    Model::Cooperative,
    Model::ParallelCooperative,
];

pub(super) fn models(top: &Section<'_>, tests: &Tests, subjects: &[String]) -> Vec<Models> {
    identified(top.get("models"), "table", |section, id| {
        read(section, id, tests, subjects)
    })
}

fn read(section: Section<'_>, id: String, tests: &Tests, subjects: &[String]) -> Models {
    let rows = section.get("rows").and_then(|item| item.strings());
    let mut models = Models {
        id,
        title: section.required_string("title"),
        text: section.string("text").unwrap_or_default(),
        source: section.string("source").unwrap_or_default(),
        by: section.string("by").unwrap_or_default(),
        rows: rows.unwrap_or_else(|| vec![String::new()]),
        figure: figure(&section),
        columns: Vec::new(),
        claims: Vec::new(),
    };
    for item in section.require("column").iter().flat_map(Item::sections) {
        let column = column(item, &models, tests, subjects);
        models.columns.push(column);
    }
    if models.columns.iter().any(|c| !c.published.is_empty()) && models.source.is_empty() {
        section.fault(
            "published figures without a `source`",
            "say where they are from",
        );
    }
    for item in section.get("claim").iter().flat_map(Item::sections) {
        let claim = claim(item, &models);
        models.claims.push(claim);
    }
    section.finish();
    models
}

/// Reads the figure of a table; by default it is the time of runs.
fn figure(section: &Section<'_>) -> RunFigure {
    let is = |key| section.get(key).and_then(|item| item.boolean()) == Some(true);
    let (each, cpu) = (is("per_operation"), is("cpu_per_operation"));
    let Some(item) = section.get("share_of") else {
        if each && cpu {
            section.fault(
                "both `per_operation` and `cpu_per_operation`",
                "a figure is one or the other: take one out",
            );
        }
        return match (cpu, each) {
            (true, _) => RunFigure::CpuPerOperation,
            (false, true) => RunFigure::TimePerOperation,
            (false, false) => RunFigure::Time,
        };
    };
    let names = item.strings().unwrap_or_default();
    let [of, whole] = names.as_slice() else {
        let count = names.len();
        item.fault(
            format!("{count} names where two counters are due"),
            "name the counter that is divided, and the one that it is divided by",
        );
        return RunFigure::Time;
    };
    if each || cpu {
        item.fault(
            "both `share_of` and `per_operation`",
            "a figure is one or the other: take one out",
        );
    }
    RunFigure::Share {
        of: of.clone(),
        whole: whole.clone(),
    }
}

fn column(
    section: Section<'_>,
    models: &Models,
    tests: &Tests,
    subjects: &[String],
) -> ModelColumn {
    let column = ModelColumn {
        title: section.required_string("title"),
        model: model(&section),
        test: section.required_string("test"),
        subject: subject(&section, subjects),
        run: run(&section),
        published: published(&section, models),
    };
    if models
        .columns
        .iter()
        .any(|other| other.title == column.title)
    {
        section.fault(
            format!("another column has the title `{}`", column.title),
            "choose another",
        );
    }
    for row in &models.rows {
        let test = column.test(row);
        if tests.get(&test) != Some(&"program") {
            section.fault(
                format!("no row of this suite has the test `{test}` as a program"),
                "add the row, or take this one out of the table",
            );
        }
    }
    section.finish();
    column
}

fn model(section: &Section<'_>) -> Option<Model> {
    let is_unknown = |word: &str| format!("`{word}` is no model");
    one_of(&section.get("model")?, &MODELS, Model::word, is_unknown)
}

pub(super) fn subject(section: &Section<'_>, subjects: &[String]) -> String {
    let Some(item) = section.require("subject") else {
        return String::new();
    };
    let name = item.string().unwrap_or_default();
    known(&item, &name, "subject of this suite", subjects.iter());
    name
}

pub(super) fn run(section: &Section<'_>) -> Placed {
    let item = section.require("run");
    let placed = item.as_ref().and_then(|item| parse_placed(&item.string()?));
    if let (Some(item), None) = (&item, &placed) {
        item.fault("no policy and placement", "write one, such as `other.same`");
    }
    placed.unwrap_or(Placed {
        policy: String::new(),
        placement: String::new(),
    })
}

/// Reads one figure for each row of the table, or none at all; `""` stands for an unpublished row.
fn published(section: &Section<'_>, models: &Models) -> Vec<Option<f64>> {
    let Some(item) = section.get("published") else {
        return Vec::new();
    };
    let list = item.list().unwrap_or_default();
    let figure = |item: &Item<'_>| match item.as_string() {
        Some("") => Some(None),
        _ => item.number().map(Some),
    };
    let figures: Vec<Option<f64>> = list.iter().filter_map(figure).collect();
    if figures.len() != models.rows.len() {
        item.fault(
            format!("{} figures for {} rows", figures.len(), models.rows.len()),
            "give one for each row, or \"\" where nothing was published",
        );
    }
    figures
}

fn claim(section: Section<'_>, models: &Models) -> ModelClaim {
    let (at_least, at_most) = limits(&section);
    let titles = || models.columns.iter().map(|column| &column.title);
    let names = |key, what: &str, known_names: &mut dyn FnMut(&Item<'_>, &str, &str)| {
        let item = section.get(key)?;
        for element in item.list().unwrap_or_default() {
            known_names(&element, element.as_string().unwrap_or_default(), what);
        }
        item.strings()
    };
    let column = &mut |item: &Item<'_>, name: &str, what: &str| known(item, name, what, titles());
    let row = &mut |item: &Item<'_>, name: &str, what: &str| {
        known(item, name, what, models.rows.iter());
    };
    let of = names("of", "column of this table", column).unwrap_or_default();
    if of.is_empty() {
        section.fault("a claim is about a column", "name one in `of`");
    }
    let claim = ModelClaim {
        text: section.required_string("text"),
        of,
        against: against(&section, models),
        rows: names("rows", "row of this table", row).unwrap_or_else(|| models.rows.clone()),
        at_least,
        at_most,
    };
    section.finish();
    claim
}

/// Reads the column that a claim compares with. Without one there must be columns of the model CP,
/// or figures that are shares already.
fn against(section: &Section<'_>, models: &Models) -> Option<String> {
    let Some(item) = section.get("against") else {
        if !models.of_shares() && models.concurrent().next().is_none() {
            section.fault(
                "nothing to compare with: no column has the model `CP`",
                "name a column in `against`",
            );
        }
        return None;
    };
    let name = item.string()?;
    let titles = models.columns.iter().map(|column| &column.title);
    known(&item, &name, "column of this table", titles);
    Some(name)
}

/// Reports a fault unless the name is one of these.
pub(super) fn known<'n>(
    item: &Item<'_>,
    name: &str,
    what: &str,
    names: impl Iterator<Item = &'n String> + Clone,
) {
    if !names.clone().any(|known| known == name) {
        item.fault(
            format!("`{name}` is no {what}"),
            did_you_mean(name, names.map(String::as_str)),
        );
    }
}
