//! Exceptions of a row.

use super::row::{restriction, subjects};
use crate::document::Section;
use crate::suite::{Exception, Matrix};

pub(super) fn exceptions(row: &Section<'_>, each: &Matrix) -> Vec<Exception> {
    let sections = row.get("except").map(|item| item.sections());
    let sections = sections.unwrap_or_default().into_iter();
    sections.map(|section| exception(section, each)).collect()
}

fn exception(section: Section<'_>, each: &Matrix) -> Exception {
    let exception = Exception {
        subjects: subjects(&section),
        each: restriction(&section, "each", each),
        because: section.required_string("because"),
    };
    if exception.subjects.is_empty() && exception.each.0.is_empty() {
        section.fault(
            "it excepts the whole row",
            "name `subjects`, values in `each`, or both, or remove the row",
        );
    }
    section.finish();
    exception
}
