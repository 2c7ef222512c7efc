//! A row of a suite: its templates, their matrix, and its method of measurement.

use super::{
    Entered, OfGroup, SECONDS_MOST, TIME_MOST_S, any_placed, except, placed, waits_for_disk,
};
use crate::document::{Item, Section, did_you_mean};
use crate::patterns::Patterns;
use crate::protocol::GAPS_TIME_NS;
use crate::suite::matrix::placeholders;
use crate::suite::{Argument, DelaySweep, Matrix, ProgramRow, Row, RowKind};
use std::collections::BTreeSet;

const KINDS: [&str; 8] = [
    "frame",
    "latency",
    "series",
    "clock",
    "interference",
    "delay_curve",
    "program",
    "load",
];

/// A row must not multiply into more tests than anyone would wait for.
const TESTS_PER_ROW: usize = 10_000;

/// Most operations of a series, or readings of a clock. All are kept, also in memory, where they
/// take some gigabytes.
const OPERATIONS_MOST: u64 = 100_000_000;

/// Address space of a process, MiB: 128 TiB.
const MEMORY_MOST_MIB: u64 = 1 << 27;

/// Ten years, ns.
const TIME_MOST_NS: u64 = TIME_MOST_S * 1_000_000_000;

/// Points of a delay curve in each factor of ten, at most.
const POINTS_MOST: u64 = 500;

/// Rounds of whole programs at most.
const ROUNDS_MOST: u64 = 10_000;

pub(super) fn read(section: Section<'_>, of_group: &OfGroup, entered: &mut Entered) -> Option<Row> {
    let test = section.require("test")?;
    let label = section.require("label");
    let each = section
        .get("each")
        .map(|item| matrix(&item))
        .unwrap_or_default();
    // Before anything makes its combinations.
    if each.count().is_none_or(|many| many > TESTS_PER_ROW) {
        test.fault("the row has too many tests", "shorten its matrix");
        return None;
    }
    let quick = restriction(&section, "quick", &each);
    let own_runs = section.get("runs").map(|item| placed(&item));
    let own_quick = section.get("quick_runs").map(|item| any_placed(&item));
    let quick_runs = own_quick
        .or_else(|| own_runs.clone())
        .unwrap_or_else(|| of_group.quick_runs.clone());
    let row = Row {
        test: test.string().unwrap_or_default(),
        label: label.as_ref().and_then(Item::string).unwrap_or_default(),
        kind: kind(&section, &each),
        runs: own_runs.unwrap_or_else(|| of_group.runs.clone()),
        quick_runs,
        waits_for_disk: waits_for_disk(&section).unwrap_or(of_group.waits_for_disk),
        arg: argument(&section, &each),
        subjects: subjects(&section),
        except: except::exceptions(&section, &each),
        passing: by(&section, "passing", &each),
        steps: by(&section, "steps", &each),
        line: by(&section, "line", &each),
        each,
        quick,
    };
    let kind = row.kind.name();
    section.finish();
    let every = row.test == "*";
    if every && kind != "clock" {
        test.fault(
            "`*` stands for every clock of a subject",
            "write the test's name, or `kind = \"clock\"`",
        );
        return None;
    }
    let clock = if every { &["clock"][..] } else { &[] };
    let argument = match &row.arg {
        Some(Argument::Of(placeholder)) => Some(placeholder.as_str()),
        _ => None,
    };
    let sound = templates(&test, &row.each, &[], Some(argument))
        & label.is_none_or(|label| templates(&label, &row.each, clock, None));
    if sound && !every {
        enter(&test, &row, entered);
    }
    Some(row)
}

/// Enters the row's tests; a test that two rows measure in the same way is a fault.
fn enter(test: &Item<'_>, row: &Row, entered: &mut Entered) {
    let kind = row.kind.name();
    for instance in row.instances(false) {
        let argument = (instance.test.clone(), row.arg_of(&instance));
        let name = instance.test;
        let permitted = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.-".contains(c);
        if kind != "clock" && !name.chars().all(permitted) {
            test.fault(
                format!("`{name}` is no test's name"),
                "use lower-case letters, digits, `_`, `-` and dots",
            );
            return;
        }
        let is_new = entered.arguments.insert(argument);
        let first = *entered.tests.entry(name.clone()).or_insert(kind);
        if !is_new || first != kind {
            test.fault(
                format!("another row has the test `{name}`"),
                "remove one, restrict one row's `each`, or give them other arguments",
            );
            return;
        }
    }
}

/// Checks a template's placeholders against the matrix.
///
/// For the test's name every placeholder of the matrix must also occur. `name` then holds the
/// placeholder of the argument, if there is one.
pub(super) fn templates(
    item: &Item<'_>,
    each: &Matrix,
    extra: &[&str],
    name: Option<Option<&str>>,
) -> bool {
    let Some(template) = item.as_string() else {
        return false;
    };
    let names = match placeholders(template) {
        Ok(names) => names,
        Err(wrong) => {
            item.fault(wrong, "write placeholders as `{name}`");
            return false;
        }
    };
    let known = || {
        each.0
            .iter()
            .map(|(name, _)| name.as_str())
            .chain(extra.iter().copied())
    };
    let mut sound = true;
    for name in &names {
        if !known().any(|known| known == *name) {
            let help = match did_you_mean(name, known()) {
                help if help.is_empty() => "give its values in `each`".to_owned(),
                help => help,
            };
            item.fault(format!("`{{{name}}}` is no placeholder of this row"), help);
            sound = false;
        }
    }
    let is_used = |placeholder: &str, argument: Option<&str>| {
        names.contains(&placeholder) || argument == Some(placeholder)
    };
    let mut placeholders = each.0.iter();
    let unused = name
        .and_then(|argument| placeholders.find(|(placeholder, _)| !is_used(placeholder, argument)));
    if let Some((name, _)) = unused {
        item.fault(
            format!("the placeholder `{name}` of `each` is not used"),
            format!("put `{{{name}}}` into the name, or remove it from `each`"),
        );
        sound = false;
    }
    sound
}

fn matrix(item: &Item<'_>) -> Matrix {
    let Some(section) = item.section() else {
        return Matrix::default();
    };
    let mut matrix = Matrix::default();
    for (name, values) in section.entries() {
        let list = values.strings().unwrap_or_default();
        if list.is_empty() {
            values.fault(
                "a placeholder needs at least one value",
                "write a list of strings",
            );
        }
        let distinct: BTreeSet<_> = list.iter().collect();
        if distinct.len() < list.len() {
            values.fault("a value is listed twice", "remove one");
        }
        matrix.0.push((name.to_owned(), list));
    }
    matrix
}

/// Reads some of the values of a row's placeholders.
pub(super) fn restriction(section: &Section<'_>, key: &'static str, each: &Matrix) -> Matrix {
    let Some(item) = section.get(key) else {
        return Matrix::default();
    };
    let Some(table) = item.section() else {
        return Matrix::default();
    };
    let placeholders = || each.0.iter().map(|(name, _)| name.as_str());
    for (name, values) in table.entries() {
        let Some(known) = each.values(name) else {
            values.fault(
                format!("`{name}` is no placeholder of this row"),
                did_you_mean(name, placeholders()),
            );
            continue;
        };
        for value in values.as_list().unwrap_or_default() {
            let Some(word) = value.as_string() else {
                continue;
            };
            if !known.iter().any(|known| known == word) {
                value.fault(
                    format!("`{word}` is no value of `{name}` in `each`"),
                    did_you_mean(word, known.iter().map(String::as_str)),
                );
            }
        }
    }
    matrix(&item)
}

/// Reads a number, or a placeholder whose values are numbers.
fn argument(section: &Section<'_>, each: &Matrix) -> Option<Argument> {
    let item = section.get("arg")?;
    let Some(template) = item.as_string() else {
        return item.count().map(Argument::Number);
    };
    let placeholder = template.strip_prefix('{').and_then(|t| t.strip_suffix('}'));
    let values = placeholder.and_then(|name| each.values(name));
    let are_numbers =
        values.is_some_and(|values| values.iter().all(|value| value.parse::<u64>().is_ok()));
    if !are_numbers {
        item.fault(
            format!("`{template}` is no placeholder of whole numbers"),
            "write a number, or a placeholder of this row such as `{bytes}`",
        );
        return None;
    }
    placeholder.map(|name| Argument::Of(name.to_owned()))
}

/// Reads `{ by = "placeholder" }`, whose values must be numbers.
fn by(section: &Section<'_>, key: &'static str, each: &Matrix) -> Option<String> {
    let table = section.get(key)?.section()?;
    let item = table.require("by");
    table.finish();
    let item = item?;
    let name = item.string()?;
    let placeholders = each.0.iter().map(|(name, _)| name.as_str());
    match each.values(&name) {
        None => item.fault(
            format!("`{name}` is no placeholder of this row"),
            did_you_mean(&name, placeholders),
        ),
        Some(values) if values.iter().any(|value| value.parse::<f64>().is_err()) => item.fault(
            format!("the values of `{name}` are not all numbers"),
            "name a placeholder of sizes or counts",
        ),
        Some(_) => return Some(name),
    }
    None
}

fn kind(section: &Section<'_>, each: &Matrix) -> RowKind {
    let item = section.get("kind");
    let word = item.as_ref().map_or(Some("frame".to_owned()), Item::string);
    match word.as_deref() {
        None | Some("frame") => RowKind::Frame,
        Some("latency") => RowKind::Latency {
            count: required_count(section, "count", OPERATIONS_MOST),
            interval_ns: section
                .count_up_to("interval_ns", TIME_MOST_NS)
                .unwrap_or(0),
        },
        Some("series") => RowKind::Series {
            count: required_count(section, "count", OPERATIONS_MOST),
            memory_limit_mib: section.count_up_to("memory_limit_mib", MEMORY_MOST_MIB),
        },
        Some("clock") => RowKind::Clock {
            count: required_count(section, "count", OPERATIONS_MOST),
        },
        Some("interference") => interference(section),
        Some("delay_curve") => RowKind::DelayCurve(sweep(section)),
        Some("program") => RowKind::Program(program(section, each)),
        Some("load") => RowKind::Load(super::load::row(section, each)),
        Some(other) => {
            if let Some(item) = item {
                item.fault(
                    format!("`{other}` is no kind of row"),
                    did_you_mean(other, KINDS.into_iter()),
                );
            }
            RowKind::Frame
        }
    }
}

/// Patterns of subjects.
pub(super) fn subjects(section: &Section<'_>) -> Vec<String> {
    let Some(item) = section.get("subjects") else {
        return Vec::new();
    };
    let patterns = item.strings().unwrap_or_default();
    if let Err(why) = Patterns::new(&patterns) {
        item.fault(
            why.to_string(),
            "write subjects as `name/variant`, with `*` for any part",
        );
    }
    patterns
}

fn program(section: &Section<'_>, each: &Matrix) -> ProgramRow {
    let list = |key| {
        let items = section.get(key)?.list()?;
        for item in &items {
            templates(item, each, &[], None);
        }
        let word = |item: &Item<'_>| item.string().unwrap_or_default();
        Some(items.iter().map(word).collect::<Vec<_>>())
    };
    let name = section.require("program");
    if let Some(item) = &name {
        templates(item, each, &[], None);
    }
    let arguments = list("arguments").unwrap_or_default();
    ProgramRow {
        program: name.and_then(|item| item.string()).unwrap_or_default(),
        quick_arguments: list("quick_arguments").unwrap_or_else(|| arguments.clone()),
        arguments,
        limit_s: section
            .count_up_to("limit_seconds", TIME_MOST_S)
            .unwrap_or(120),
        rounds: section.count_up_to("rounds", ROUNDS_MOST),
    }
}

fn required_count(section: &Section<'_>, key: &'static str, most: u64) -> u64 {
    section
        .require(key)
        .and_then(|item| item.count_up_to(most))
        .unwrap_or(1)
}

fn required_seconds(section: &Section<'_>) -> f64 {
    section
        .require("seconds")
        .and_then(|item| item.positive_up_to(SECONDS_MOST))
        .unwrap_or(1.0)
}

/// Reads the seconds of a quick run, if they differ.
fn quick_seconds(section: &Section<'_>) -> Option<f64> {
    section.positive_up_to("quick_seconds", SECONDS_MOST)
}

fn interference(section: &Section<'_>) -> RowKind {
    let seconds = required_seconds(section);
    let quick_seconds = quick_seconds(section).unwrap_or(seconds);
    let most = *GAPS_TIME_NS.end() as f64 / 1e9;
    if seconds.max(quick_seconds) > most {
        section.fault(
            format!("a subject looks for interference at most {most} s"),
            format!("write {most} or less"),
        );
    }
    RowKind::Interference {
        seconds,
        quick_seconds,
    }
}

fn sweep(section: &Section<'_>) -> DelaySweep {
    let seconds = required_seconds(section);
    let points_per_decade = required_count(section, "points_per_decade", POINTS_MOST);
    let sweep = DelaySweep {
        from_ns: required_count(section, "from_ns", TIME_MOST_NS),
        to_ns: required_count(section, "to_ns", TIME_MOST_NS),
        points_per_decade,
        quick_points_per_decade: section
            .count_up_to("quick_points_per_decade", POINTS_MOST)
            .unwrap_or(points_per_decade),
        seconds,
        quick_seconds: quick_seconds(section).unwrap_or(seconds),
    };
    if sweep.from_ns > sweep.to_ns {
        section.fault("`from_ns` is above `to_ns`", "exchange them");
    }
    sweep
}
