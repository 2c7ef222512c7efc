//! The claims of a comparison of variants.

use super::super::limits;
use super::super::models::known;
use super::all_variants;
use crate::document::{Section, did_you_mean};
use crate::suite::{Claim, Quantity, Savings};

/// Quantities of a claim.
const QUANTITIES: [(&str, Quantity); 3] = [
    ("switches", Quantity::Switches),
    ("time", Quantity::Time),
    ("run", Quantity::Run),
];

pub(super) fn read(section: Section<'_>, savings: &Savings) -> Claim {
    let (at_least, at_most) = limits(&section);
    let programs: Vec<String> = savings.programs.iter().map(|p| p.test.clone()).collect();
    let claim = Claim {
        text: section.required_string("text"),
        of: quantity(&section),
        variants: names(&section, "variants", "variant", &all_variants(savings)),
        against: against(&section, savings),
        programs: match section.get("programs") {
            Some(_) => names(&section, "programs", "program", &programs),
            None => programs,
        },
        at_least,
        at_most,
    };
    section.finish();
    claim
}

fn quantity(section: &Section<'_>) -> Quantity {
    let found = section.require("of").and_then(|item| {
        let word = item.string()?;
        let found = QUANTITIES.iter().find(|(name, _)| *name == word);
        if found.is_none() {
            item.fault(
                format!("`{word}` is nothing that is claimed of variants"),
                did_you_mean(&word, QUANTITIES.iter().map(|(name, _)| *name)),
            );
        }
        found
    });
    found.map_or(Quantity::Switches, |(_, quantity)| *quantity)
}

fn against(section: &Section<'_>, savings: &Savings) -> String {
    let Some(item) = section.get("against") else {
        return savings.base.clone();
    };
    let name = item.string().unwrap_or_default();
    let variants = all_variants(savings);
    known(&item, &name, "variant of this comparison", variants.iter());
    name
}

/// Reads a list of names that the comparison must know.
fn names(
    section: &Section<'_>,
    key: &'static str,
    thing: &str,
    known_names: &[String],
) -> Vec<String> {
    let Some(item) = section.require(key) else {
        return Vec::new();
    };
    let what = format!("{thing} of this comparison");
    for element in item.as_list().unwrap_or_default() {
        if let Some(name) = element.as_string() {
            known(&element, name, &what, known_names.iter());
        }
    }
    item.strings().unwrap_or_default()
}
