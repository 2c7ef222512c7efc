//! Profiles: division of programs' use into parts that they count.

use super::Placed;

/// A table of programs and their parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Short name, unique.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Description of the parts in a sentence or two.
    pub text: String,
    /// Counted unit, such as `instructions`.
    pub unit: String,
    /// The subject, as `name/variant`.
    pub subject: String,
    /// Policy and placement.
    pub run: Placed,
    /// The tests, one a row.
    pub tests: Vec<String>,
    /// The parts, which together are the whole.
    pub parts: Vec<Part>,
}

/// A part of the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The counter that the program prints.
    pub counter: String,
    /// Heading.
    pub title: String,
}
