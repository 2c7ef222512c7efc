//! The published tables of a suite.

use super::{Tests, identified};
use crate::document::{Item, Section, did_you_mean};
use crate::suite::{Column, Figures, Published, PublishedRow, PublishedValue};

const UNITS: [&str; 5] = ["", "ns", "us", "ms", "s"];

pub(super) fn published(top: &Section<'_>, tests: &Tests) -> Vec<Published> {
    identified(top.get("published"), "table", |section, id| {
        table(section, id, tests)
    })
}

fn table(section: Section<'_>, id: String, tests: &Tests) -> Published {
    let columns = section
        .require("columns")
        .map(|item| item.sections())
        .unwrap_or_default();
    let columns: Vec<_> = columns
        .into_iter()
        .map(|column| read_column(column, tests))
        .collect();
    let rows = section
        .require("rows")
        .map(|item| item.sections())
        .unwrap_or_default();
    let rows = rows
        .into_iter()
        .map(|row| read_row(row, columns.len()))
        .collect();
    let table = Published {
        id,
        title: section.required_string("title"),
        source: section.required_string("source"),
        columns,
        rows,
    };
    section.finish();
    table
}

fn read_column(section: Section<'_>, tests: &Tests) -> Column {
    let unit = section.get("unit");
    let unit = unit.and_then(|item| read_unit(&item)).unwrap_or_default();
    let mut given: Vec<Figures> = Vec::new();
    given.extend(names(&section, "tests", Some((tests, "frame"))).map(Figures::Tests));
    given.extend(names(&section, "slope", Some((tests, "frame"))).map(Figures::Slope));
    given.extend(names(&section, "clock_resolution", None).map(Figures::ClockResolution));
    given.extend(
        names(&section, "delay_method", Some((tests, "delay_curve"))).map(Figures::DelayMethod),
    );
    given.extend(
        names(&section, "delay_resolution", Some((tests, "delay_curve")))
            .map(Figures::DelayResolution),
    );
    if given.len() != 1 {
        section.fault(
            "a column needs exactly one of `tests`, `slope`, `clock_resolution`, `delay_method` and `delay_resolution`",
            "say which of today's figures belong in it",
        );
    }
    let column = Column {
        title: section.required_string("title"),
        unit,
        figures: given
            .into_iter()
            .next()
            .unwrap_or(Figures::Tests(Vec::new())),
    };
    section.finish();
    column
}

fn read_unit(item: &Item<'_>) -> Option<String> {
    let unit = item.string()?;
    if !UNITS.contains(&unit.as_str()) {
        item.fault(
            format!("`{unit}` is no unit"),
            "write `ns`, `us`, `ms`, `s` or nothing",
        );
    }
    Some(unit)
}

/// Reads a list of tests; with `tests` they must be tests of the wanted kind in this suite.
fn names(
    section: &Section<'_>,
    key: &'static str,
    tests: Option<(&Tests, &str)>,
) -> Option<Vec<String>> {
    let item = section.get(key)?;
    for element in item.as_list().unwrap_or_default() {
        let (Some(name), Some((tests, wanted))) = (element.as_string(), tests) else {
            continue;
        };
        match tests.get(name) {
            None => element.fault(
                format!("no row of this suite has the test `{name}`"),
                did_you_mean(
                    name,
                    tests
                        .keys()
                        .map(String::as_str)
                        .filter(|known| near(known, name)),
                ),
            ),
            Some(kind) if *kind != wanted && !(wanted == "frame" && *kind == "latency") => element
                .fault(
                    format!("`{name}` is of kind {kind}"),
                    format!("name tests of kind {wanted}"),
                ),
            Some(_) => {}
        }
    }
    Some(item.strings().unwrap_or_default())
}

/// Checks for tests of the same family, so that the advice does not list hundreds.
fn near(known: &str, name: &str) -> bool {
    strsim::damerau_levenshtein(known, name) <= 4
}

fn read_row(section: Section<'_>, columns: usize) -> PublishedRow {
    let item = section.require("values");
    let list = item.as_ref().and_then(Item::list).unwrap_or_default();
    if let Some(item) = item.filter(|_| list.len() != columns) {
        item.fault(
            format!("{} values for {columns} columns", list.len()),
            "give one value a column",
        );
    }
    let row = PublishedRow {
        label: section.required_string("label"),
        values: list.iter().filter_map(value).collect(),
    };
    section.finish();
    row
}

/// Reads a number, a pair of numbers, or words.
fn value(item: &Item<'_>) -> Option<PublishedValue> {
    if let Some(words) = item.as_string() {
        return Some(PublishedValue::Words(words.to_owned()));
    }
    let Some(pair) = item.as_list() else {
        return item.number().map(PublishedValue::Number);
    };
    let numbers: Vec<f64> = pair.iter().filter_map(Item::number).collect();
    match numbers[..] {
        [low, high] if low <= high => Some(PublishedValue::Range(low, high)),
        _ => {
            item.fault(
                "a range is two numbers, the lower one first",
                "write `[low, high]`",
            );
            None
        }
    }
}
