//! The headlines of a suite.

use super::{Entered, one_of, parse_placed};
use crate::document::{Item, Section, did_you_mean};
use crate::suite::matrix::placeholders;
use crate::suite::{Basis, ClaimSets, Headline, HeadlineQuantity, HeadlineRow, Placed};

/// Sets of claims of a suite, with their ids.
pub(super) type KnownSets = [(ClaimSets, Vec<String>); 4];

pub(super) fn headlines(
    top: &Section<'_>,
    entered: &Entered,
    subjects: &[String],
    sets: &KnownSets,
) -> Vec<Headline> {
    let sections = top.get("headline").map(|item| item.sections());
    let sections = sections.unwrap_or_default().into_iter();
    sections
        .map(|section| read(section, entered, subjects, sets))
        .collect()
}

/// Keys of headlines besides those that name the basis.
const OTHERS: [&str; 8] = [
    "of", "quantity", "less", "subject", "run", "test", "arg", "ids",
];

fn read(
    section: Section<'_>,
    entered: &Entered,
    subjects: &[String],
    sets: &KnownSets,
) -> Headline {
    let keys = ["against", "curve", "claims"];
    let given: Vec<&str> = keys
        .into_iter()
        .filter(|key| section.get(key).is_some())
        .collect();
    let basis = match given[..] {
        ["claims"] => claims(&section, sets),
        ["curve"] => curve(&section, entered, subjects),
        ["against"] => ratio(&section, entered, subjects),
        _ => {
            section.fault(
                "a headline stands on two rows, a curve or claims",
                "give it `of` and `against`, or `curve`, or `claims`",
            );
            // Its other keys are no further faults.
            for key in OTHERS {
                section.get(key);
            }
            nothing()
        }
    };
    let names: (&[&str], &str) = match basis {
        Basis::Ratio { .. } => (&["ratio", "of", "against"], "ratio"),
        Basis::Curve { .. } => (&["slope", "growth", "first", "last", "from", "to"], ""),
        Basis::Claims { .. } => (&["hold", "fail", "open", "all"], "all"),
    };
    let headline = Headline {
        text: template(section.require("text"), names),
        basis,
    };
    if let Basis::Ratio { less: Some(_), .. } = headline.basis {
        template(section.get("less"), names);
    }
    section.finish();
    headline
}

/// A basis that stands in the place of a faulty one.
fn nothing() -> Basis {
    Basis::Claims {
        of: ClaimSets::Models,
        ids: Vec::new(),
    }
}

/// Reads a template that may have these placeholders. It must have the one named apart, or any if
/// that is empty: a headline without a number says nothing.
fn template(item: Option<Item<'_>>, (names, needed): (&[&str], &str)) -> String {
    let Some(item) = item else {
        return String::new();
    };
    let text = item.string().unwrap_or_default();
    let found = match placeholders(&text) {
        Ok(found) => found,
        Err(fault) => {
            item.fault(fault, "write placeholders as `{name}`");
            return text;
        }
    };
    for name in &found {
        if !names.contains(name) {
            item.fault(
                format!("there is no `{{{name}}}` in this headline"),
                did_you_mean(name, names.iter().copied()),
            );
        }
    }
    let has_needed = match needed {
        "" => !found.is_empty(),
        needed => found.contains(&needed),
    };
    if !has_needed && !text.is_empty() {
        let of = if needed.is_empty() { names[0] } else { needed };
        item.fault(
            "a headline needs its number",
            format!("write `{{{of}}}` where it stands"),
        );
    }
    text
}

fn claims(section: &Section<'_>, sets: &KnownSets) -> Basis {
    let item = section.get("claims");
    let kind = item.as_ref().and_then(|item| {
        let is_unknown = |word: &str| format!("`{word}` is no kind of claims");
        one_of(item, &ClaimSets::ALL, ClaimSets::word, is_unknown)
    });
    let of = kind.unwrap_or(ClaimSets::Models);
    let known = sets.iter().find(|(known, _)| *known == of);
    let known: &[String] = known.map_or(&[], |(_, ids)| ids);
    if let (Some(item), Some(kind), true) = (&item, kind, known.is_empty()) {
        item.fault(
            format!("this suite has no claims in `{}`", kind.word()),
            "add them, or remove the headline",
        );
    }
    let ids = section.get("ids");
    for element in ids.iter().flat_map(|item| item.list().unwrap_or_default()) {
        let id = element.as_string().unwrap_or_default();
        if !known.iter().any(|known| known == id) {
            element.fault(
                format!("`{id}` is no set of claims in `{}`", of.word()),
                did_you_mean(id, known.iter().map(String::as_str)),
            );
        }
    }
    Basis::Claims {
        of,
        ids: ids.and_then(|item| item.strings()).unwrap_or_default(),
    }
}

fn ratio(section: &Section<'_>, entered: &Entered, subjects: &[String]) -> Basis {
    let quantity = quantity(section);
    let mut kinds = Vec::new();
    let mut side = |key| {
        let item = section.require(key);
        let inner = item.as_ref().and_then(Item::section);
        let Some(inner) = inner else {
            return empty();
        };
        let row = row(section, &inner, subjects);
        kinds.extend(kind(&inner, &row, row.alone(), quantity, entered));
        inner.finish();
        row
    };
    let (of, against) = (side("of"), side("against"));
    if let [one, other] = kinds[..]
        && one != other
    {
        section.fault(
            format!("a row of kind {one} beside one of kind {other}"),
            "compare rows of one kind",
        );
    }
    Basis::Ratio {
        quantity,
        of,
        against,
        less: section.string("less"),
    }
}

fn curve(section: &Section<'_>, entered: &Entered, subjects: &[String]) -> Basis {
    let quantity = quantity(section);
    let inner = section.require("curve").and_then(|item| item.section());
    let Some(inner) = inner else {
        return nothing();
    };
    let of = row(section, &inner, subjects);
    let numbers = numbers(&inner);
    for number in &numbers {
        if kind(&inner, &of, of.at(*number), quantity, entered).is_none() {
            break;
        }
    }
    inner.finish();
    Basis::Curve {
        quantity,
        of,
        numbers,
    }
}

fn numbers(section: &Section<'_>) -> Vec<u64> {
    let Some(item) = section.require("numbers") else {
        return Vec::new();
    };
    let list = item.list().unwrap_or_default();
    let whole = |item: &Item<'_>| Some(item.number()? as u64);
    let numbers: Vec<u64> = list.iter().filter_map(whole).collect();
    if numbers.len() < 2 || !numbers.is_sorted_by(|a, b| a < b) {
        item.fault(
            "a curve goes over two or more ascending numbers",
            "write them as `[1, 10, 100]`",
        );
    }
    numbers
}

fn quantity(section: &Section<'_>) -> HeadlineQuantity {
    let found = section.get("quantity").and_then(|item| {
        let is_unknown = |word: &str| format!("`{word}` is no quantity of a headline");
        let all = &HeadlineQuantity::ALL;
        one_of(&item, all, HeadlineQuantity::word, is_unknown)
    });
    found.unwrap_or(HeadlineQuantity::Time)
}

fn empty() -> HeadlineRow {
    HeadlineRow {
        label: String::new(),
        test: String::new(),
        arg: None,
        subject: String::new(),
        run: no_place(),
    }
}

fn no_place() -> Placed {
    Placed {
        policy: String::new(),
        placement: String::new(),
    }
}

/// Reads a row of a headline. What both rows have in common stands in the headline itself.
fn row(outer: &Section<'_>, inner: &Section<'_>, subjects: &[String]) -> HeadlineRow {
    let either = |key| {
        let common = outer.get(key);
        inner.get(key).or(common)
    };
    let required = |key| {
        let found = either(key);
        if found.is_none() {
            inner.fault(
                format!("the key `{key}` is missing"),
                "add it here, or to the headline for both rows",
            );
        }
        found
    };
    let subject = required("subject");
    let name = subject.as_ref().and_then(Item::string).unwrap_or_default();
    if let Some(item) = &subject {
        super::models::known(item, &name, "subject of this suite", subjects.iter());
    }
    let run = required("run");
    let placed = run.as_ref().and_then(|item| parse_placed(&item.string()?));
    if let (Some(item), None) = (&run, &placed) {
        item.fault("no policy and placement", "write one, such as `other.same`");
    }
    HeadlineRow {
        label: inner.required_string("label"),
        test: required("test")
            .and_then(|item| item.string())
            .unwrap_or_default(),
        arg: either("arg").and_then(|item| item.string()),
        subject: name,
        run: placed.unwrap_or_else(no_place),
    }
}

/// Returns the kind of a headline's row; a fault if the suite has no such test, or if its kind does
/// not give the quantity.
fn kind(
    section: &Section<'_>,
    row: &HeadlineRow,
    test: (String, Option<u64>),
    quantity: HeadlineQuantity,
    entered: &Entered,
) -> Option<&'static str> {
    if row.test.is_empty() {
        return None;
    }
    let arguments = entered.arguments.iter();
    let arguments = arguments.filter(|(name, _)| *name == test.0).count();
    // A test with one argument needs none here.
    let is_there = entered.arguments.contains(&test) || (test.1.is_none() && arguments == 1);
    let kind = entered.tests.get(&test.0).copied();
    let Some(kind) = kind.filter(|_| is_there) else {
        let with = test.1.map_or(String::new(), |arg| format!(" with {arg}"));
        section.fault(
            format!("no row of this suite has the test `{}`{with}", test.0),
            "add the row, or name another in the headline",
        );
        return None;
    };
    if !quantity.kinds().contains(&kind) {
        section.fault(
            format!("a row of kind {kind} has no `{}`", quantity.word()),
            format!("name a row of kind {}", quantity.kinds().join(" or ")),
        );
        return None;
    }
    Some(kind)
}
