//! Rows of load on servers, and claims about servers.

use super::models::{known, run};
use super::row::templates;
use super::{Tests, identified, limits, one_of};
use crate::document::{Item, Section};
use crate::record::Generator;
use crate::suite::{LoadRow, Matrix, ServerClaim, ServerQuantity, Servers, fill};
use antiphon_load::Load;

/// Most connections of the generator.
const CONNECTIONS_MOST: usize = 10_000;

/// Largest share of a server's rate in closed loop. That rate is about its capacity, beyond which
/// ever more requests would wait.
const PERCENT_MOST: usize = 100;

/// A longer round is no round.
const ROUND_MOST_S: f64 = 600.0;

pub(super) fn row(section: &Section<'_>, each: &Matrix) -> LoadRow {
    let seconds = |key| {
        let item = section.get(key)?;
        let number = item.positive()?;
        if number > ROUND_MOST_S {
            item.fault(
                "a round of load takes at most ten minutes",
                format!("write {ROUND_MOST_S} or less"),
            );
        }
        Some(number)
    };
    if section.get("seconds").is_none() {
        section.fault(
            "a row of load needs `seconds`",
            "say how long a round sends requests",
        );
    }
    let length = seconds("seconds").unwrap_or(1.0);
    let boolean = |key| section.get(key).and_then(|item| item.boolean());
    let row = LoadRow {
        path: section.required_string("path"),
        body: section.required_string("body"),
        connections: connections(section, each),
        keep_alive: boolean("keep_alive").unwrap_or(true),
        per_second: section.positive_up_to("per_second", Load::RATE_MAX),
        percent_of_closed: percent_of_closed(section, each),
        freeze_ms: section.count("freeze_ms"),
        by: by(section),
        sleeps: boolean("sleeps").unwrap_or(false),
        seconds: length,
        quick_seconds: seconds("quick_seconds").unwrap_or(length),
    };
    if !row.path.is_empty() && !row.path.starts_with('/') {
        section.fault("`path` does not begin with a slash", "write it as `/api`");
    }
    if row.freeze_ms.is_some() && row.per_second.is_none() {
        section.fault(
            "a freeze shows on an open schedule alone",
            "give `per_second` too",
        );
    }
    if is_frozen_too_long(&row) {
        section.fault(
            "a freeze is not shorter than its round",
            "write a shorter `freeze_ms`",
        );
    }
    if row.percent_of_closed.is_some() && row.per_second.is_some() {
        section.fault(
            "a schedule has one rate",
            "remove `per_second` or `percent_of_closed`",
        );
    }
    let rate = match &row.percent_of_closed {
        Some(_) => Some("percent_of_closed"),
        None => row.per_second.map(|_| "per_second"),
    };
    if row.sleeps && row.by != Generator::Antiphon {
        section.fault(
            format!("{} sleeps while it waits anyway", row.by.word()),
            "remove `sleeps` or `by`",
        );
    }
    if let (Some(rate), true) = (rate, row.by != Generator::Antiphon) {
        section.fault(
            format!("{} has no open schedule here", row.by.word()),
            format!("remove `{rate}` or `by`"),
        );
    }
    row
}

/// Checks whether a freeze would leave nothing of a round of a full or a quick run.
fn is_frozen_too_long(row: &LoadRow) -> bool {
    let round_s = row.seconds.min(row.quick_seconds);
    let freeze_s = row.freeze_ms.map(|ms| ms as f64 / 1e3);
    freeze_s.is_some_and(|freeze_s| freeze_s >= round_s)
}

/// Reads the template of the number of connections.
fn connections(section: &Section<'_>, each: &Matrix) -> String {
    let Some(item) = section.require("connections") else {
        return "1".to_owned();
    };
    numbers(&item, each, "number of connections", CONNECTIONS_MOST)
}

/// Reads the template of the requested part of a server's capacity.
fn percent_of_closed(section: &Section<'_>, each: &Matrix) -> Option<String> {
    let item = section.get("percent_of_closed")?;
    Some(numbers(
        &item,
        each,
        "percentage of what a server answers",
        PERCENT_MOST,
    ))
}

/// Reads a template that gives a whole number from 1 to `most` in each instance.
fn numbers(item: &Item<'_>, each: &Matrix, what: &str, most: usize) -> String {
    let template = item.string().unwrap_or_default();
    if !templates(item, each, &[], None) {
        return template;
    }
    for instance in each.instances(&template, &template) {
        let number = fill(&template, &instance.values);
        let permitted = |count: &usize| (1..=most).contains(count);
        if number.parse::<usize>().ok().filter(permitted).is_none() {
            item.fault(
                format!("`{number}` is no {what}"),
                format!("write 1 to {most}, as a string"),
            );
            break;
        }
    }
    template
}

fn by(section: &Section<'_>) -> Generator {
    let found = section.get("by").and_then(|item| {
        let is_unknown = |word: &str| format!("`{word}` is no generator");
        one_of(&item, &Generator::ALL, Generator::word, is_unknown)
    });
    found.unwrap_or(Generator::Antiphon)
}

/// Reads claims about servers under load (rows of kind `load`), or about subjects (`frame`).
pub(super) fn claims(
    top: &Section<'_>,
    key: &'static str,
    kind: &'static str,
    tests: &Tests,
    subjects: &[String],
) -> Vec<Servers> {
    identified(top.get(key), "set of claims", |section, id| {
        let claims = section.require("claim");
        let claims = claims.iter().flat_map(Item::sections);
        let servers = Servers {
            id,
            title: section.required_string("title"),
            text: section.string("text").unwrap_or_default(),
            source: section.required_string("source"),
            claims: claims
                .map(|claim| self::claim(claim, kind, tests, subjects))
                .collect(),
        };
        section.finish();
        servers
    })
}

fn claim(
    section: Section<'_>,
    kind: &'static str,
    tests: &Tests,
    subjects: &[String],
) -> ServerClaim {
    let quantity = quantity(&section, kind);
    let (at_least, at_most) = limits_of(&section, quantity);
    let subject = |item: Option<Item<'_>>| {
        let Some(item) = item else {
            return String::new();
        };
        let name = item.string().unwrap_or_default();
        known(&item, &name, "subject of this suite", subjects.iter());
        name
    };
    let claim = ServerClaim {
        text: section.required_string("text"),
        quantity,
        of: subject(section.require("of")),
        against: subject(against(&section, kind, quantity)),
        tests: of_kind(&section, kind, tests),
        run: run(&section),
        published: section.positive("published"),
        at_least,
        at_most,
    };
    section.finish();
    claim
}

/// Reads the base of a claim. Some figures of loads do not depend on the machine, so their claims
/// may stand alone.
fn against<'d>(section: &Section<'d>, kind: &str, quantity: ServerQuantity) -> Option<Item<'d>> {
    let may_stand_alone = kind == "load" && ServerQuantity::ABSOLUTE.contains(&quantity);
    match (section.get("against"), may_stand_alone) {
        (None, false) => section.require("against"),
        (Some(item), _) if quantity == ServerQuantity::Starved => {
            item.fault(
                "there is no share of starved connections",
                "remove `against`, and give the limit as a number of connections",
            );
            None
        }
        (item, _) => item,
    }
}

/// Reads the limits of a claim: of a share, or of a figure in its own unit. The absence of starved
/// connections is a limit, too.
fn limits_of(section: &Section<'_>, quantity: ServerQuantity) -> (f64, f64) {
    if quantity != ServerQuantity::Starved {
        return limits(section);
    }
    let most = section.require("at_most").and_then(|item| {
        let most = item.number()?;
        if most < 0.0 {
            item.fault("there are no fewer connections than 0", "write 0 or more");
        }
        Some(most)
    });
    (f64::NEG_INFINITY, most.unwrap_or(f64::INFINITY))
}

fn quantity(section: &Section<'_>, kind: &str) -> ServerQuantity {
    let all = match kind {
        "load" => ServerQuantity::OF_LOADS.as_slice(),
        _ => ServerQuantity::OF_FRAMES.as_slice(),
    };
    let found = section.require("quantity").and_then(|item| {
        let is_unknown = |word: &str| format!("`{word}` is nothing that is claimed here");
        one_of(&item, all, ServerQuantity::word, is_unknown)
    });
    found.unwrap_or(ServerQuantity::Cpu)
}

/// Reads the tests of a claim, which rows of the suite must have.
fn of_kind(section: &Section<'_>, kind: &'static str, tests: &Tests) -> Vec<String> {
    let Some(item) = section.require("tests") else {
        return Vec::new();
    };
    for element in item.list().unwrap_or_default() {
        let test = element.as_string().unwrap_or_default();
        if tests.get(test) != Some(&kind) {
            element.fault(
                format!("no row of this suite has the test `{test}` as a {kind}"),
                "add the row, or take this one out of the claim",
            );
        }
    }
    item.strings().unwrap_or_default()
}
