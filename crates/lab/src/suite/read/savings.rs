//! The comparisons of variants of a suite.

use super::Tests;
use crate::document::{Item, Section, did_you_mean};
use crate::suite::{Program, PublishedVariant, Savings};
use std::collections::BTreeSet;

pub(super) fn savings(top: &Section<'_>, tests: &Tests) -> Vec<Savings> {
    let mut ids = BTreeSet::new();
    let sections = top
        .get("savings")
        .map(|item| item.sections())
        .unwrap_or_default();
    let mut all = Vec::new();
    for section in sections {
        let savings = read(section, &mut ids, tests);
        all.push(savings);
    }
    all
}

fn read(section: Section<'_>, ids: &mut BTreeSet<String>, tests: &Tests) -> Savings {
    let id = section.required_string("id");
    if !id.is_empty() && !ids.insert(id.clone()) {
        section.fault(
            format!("another comparison has the id `{id}`"),
            "choose another",
        );
    }
    let variants = section.require("variants").and_then(|item| item.strings());
    let variants = variants.unwrap_or_default();
    let savings = Savings {
        id,
        title: section.required_string("title"),
        text: section.string("text").unwrap_or_default(),
        source: section.required_string("source"),
        base: section.required_string("base"),
        claimed: claimed(&section, &variants),
        programs: Vec::new(),
        variants,
    };
    let programs = section
        .require("programs")
        .map(|item| item.sections())
        .unwrap_or_default();
    let programs = programs
        .into_iter()
        .map(|program| read_program(program, &savings, tests))
        .collect();
    section.finish();
    Savings {
        programs,
        ..savings
    }
}

fn claimed(section: &Section<'_>, variants: &[String]) -> Vec<String> {
    let Some(item) = section.get("claimed") else {
        return Vec::new();
    };
    for element in item.as_list().unwrap_or_default() {
        if let Some(name) = element.as_string() {
            known_variant(&element, name, variants.iter().map(String::as_str));
        }
    }
    item.strings().unwrap_or_default()
}

fn known_variant<'v>(item: &Item<'_>, name: &str, known: impl Iterator<Item = &'v str> + Clone) {
    if !known.clone().any(|variant| variant == name) {
        item.fault(
            format!("`{name}` is no variant of this comparison"),
            did_you_mean(name, known),
        );
    }
}

fn read_program(section: Section<'_>, savings: &Savings, tests: &Tests) -> Program {
    let program = Program {
        test: section.required_string("test"),
        label: section.required_string("label"),
        switches_at_most: section.positive("switches_at_most").unwrap_or(1.0),
        published: published(&section, savings),
    };
    for variant in std::iter::once(&savings.base).chain(&savings.variants) {
        let test = program.test(variant);
        if tests.get(&test) != Some(&"frame") {
            section.fault(
                format!("no row of this suite has the test `{test}` as a frame"),
                "add the row, or take the variant out",
            );
        }
    }
    section.finish();
    program
}

fn published(section: &Section<'_>, savings: &Savings) -> Vec<PublishedVariant> {
    let Some(table) = section.get("published").and_then(|item| item.section()) else {
        return Vec::new();
    };
    let known =
        std::iter::once(savings.base.as_str()).chain(savings.variants.iter().map(String::as_str));
    let mut all = Vec::new();
    for (variant, item) in table.entries() {
        known_variant(&item, variant, known.clone());
        let numbers = item.list().unwrap_or_default();
        let numbers: Vec<f64> = numbers.iter().filter_map(Item::number).collect();
        match numbers[..] {
            [seconds, switches] => all.push(PublishedVariant {
                variant: variant.to_owned(),
                seconds,
                switches,
            }),
            _ => item.fault(
                "published figures are a time and a number of switches",
                "write `[seconds, switches]`",
            ),
        }
    }
    all
}
