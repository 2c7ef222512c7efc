//! The profiles of a suite.

use super::models::{run, subject};
use super::{Tests, identified};
use crate::document::{Item, Section, did_you_mean};
use crate::suite::{Part, Profile};

pub(super) fn profiles(top: &Section<'_>, tests: &Tests, subjects: &[String]) -> Vec<Profile> {
    identified(top.get("profile"), "profile", |section, id| {
        read(section, id, tests, subjects)
    })
}

fn read(section: Section<'_>, id: String, tests: &Tests, subjects: &[String]) -> Profile {
    let profile = Profile {
        id,
        title: section.required_string("title"),
        text: section.string("text").unwrap_or_default(),
        unit: section.required_string("unit"),
        subject: subject(&section, subjects),
        run: run(&section),
        tests: programs(section.require("tests"), tests),
        parts: section
            .require("parts")
            .iter()
            .flat_map(Item::sections)
            .map(part)
            .collect(),
    };
    section.finish();
    profile
}

fn part(section: Section<'_>) -> Part {
    let part = Part {
        counter: section.required_string("counter"),
        title: section.required_string("title"),
    };
    section.finish();
    part
}

/// Tests that rows of the suite measure as programs.
fn programs(item: Option<Item<'_>>, tests: &Tests) -> Vec<String> {
    let Some(item) = item else { return Vec::new() };
    for element in item.as_list().unwrap_or_default() {
        let name = element.as_string().unwrap_or_default();
        if tests.get(name) != Some(&"program") {
            element.fault(
                format!("no row of this suite has the test `{name}` as a program"),
                did_you_mean(name, tests.keys().map(String::as_str)),
            );
        }
    }
    item.strings().unwrap_or_default()
}
