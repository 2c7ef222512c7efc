//! The comparisons of variants of a suite.

mod claim;

use super::models::known;
use super::{Tests, identified};
use crate::document::{Item, Section};
use crate::suite::{Program, PublishedVariant, Savings};

pub(super) fn savings(top: &Section<'_>, tests: &Tests, subjects: &[String]) -> Vec<Savings> {
    identified(top.get("savings"), "comparison", |section, id| {
        read(section, id, tests, subjects)
    })
}

fn read(section: Section<'_>, id: String, tests: &Tests, subjects: &[String]) -> Savings {
    let variants = section.require("variants").and_then(|item| item.strings());
    let mut savings = Savings {
        id,
        title: section.required_string("title"),
        text: section.string("text").unwrap_or_default(),
        source: section.string("source").unwrap_or_default(),
        base: section.required_string("base"),
        variants: variants.unwrap_or_default(),
        counted: counted(&section, subjects),
        sizes_of: section.string("sizes_of").unwrap_or_else(|| "size".into()),
        programs: Vec::new(),
        claims: Vec::new(),
    };
    for program in section.require("programs").iter().flat_map(Item::sections) {
        let program = read_program(program, &savings, tests);
        savings.programs.push(program);
    }
    let publishes = savings.programs.iter().any(|p| !p.published.is_empty());
    if publishes && savings.source.is_empty() {
        section.fault(
            "published figures without a `source`",
            "say where they are from",
        );
    }
    for claim in section.get("claim").iter().flat_map(Item::sections) {
        savings.claims.push(claim::read(claim, &savings));
    }
    section.finish();
    savings
}

/// Reads the subject whose program counts its switches: one of the suite's.
fn counted(section: &Section<'_>, subjects: &[String]) -> Option<String> {
    let item = section.get("counted")?;
    let name = item.string()?;
    known(&item, &name, "subject of this suite", subjects.iter());
    Some(name)
}

/// Returns the base and the other variants.
fn all_variants(savings: &Savings) -> Vec<String> {
    let base = std::iter::once(&savings.base);
    base.chain(&savings.variants).cloned().collect()
}

fn read_program(section: Section<'_>, savings: &Savings, tests: &Tests) -> Program {
    let program = Program {
        test: section.required_string("test"),
        label: section.required_string("label"),
        idle_control: section
            .get("idle_control")
            .and_then(|item| item.boolean())
            .unwrap_or_default(),
        sizes: section
            .get("sizes")
            .and_then(|item| item.strings())
            .unwrap_or_default(),
        published: published(&section, savings),
    };
    let own = all_variants(savings).into_iter();
    let own = own.map(|variant| program.test(&variant));
    let sized = program.sizes.iter();
    let sized = sized.map(|size| program.sized_test(&savings.base, size));
    for test in own.chain(sized) {
        if tests.get(&test) != Some(&"frame") {
            section.fault(
                format!("no row of this suite has the test `{test}` as a frame"),
                "add the row, or take the variant or the size out",
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
    let variants = all_variants(savings);
    let mut all = Vec::new();
    for (variant, item) in table.entries() {
        known(
            &item,
            variant,
            "variant of this comparison",
            variants.iter(),
        );
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
