//! The neutral document: what every exporter reads. It knows nothing of HTML, sheets or terminals.

mod plot;

pub use plot::{Axis, AxisUnit, Drawn, Guide, Plot, Point, Series};

use serde::Serialize;

/// A report.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Document {
    /// What was measured, in a few words.
    pub title: String,
    /// One line below the title.
    pub subtitle: String,
    /// The summary: one sentence each.
    pub summary: Vec<Note>,
    /// Conditions of the run: machine, compilers, date, load.
    pub facts: Vec<Fact>,
    /// Who is compared: names of colours.
    pub subjects: Vec<String>,
    /// The body.
    pub sections: Vec<Section>,
}

/// A label and what it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// Label.
    pub label: String,
    /// Text.
    pub text: String,
}

impl Fact {
    /// A fact from its label and text.
    pub fn new(label: impl Into<String>, text: impl Into<String>) -> Self {
        Fact {
            label: label.into(),
            text: text.into(),
        }
    }
}

/// A part of the body with a title of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Section {
    /// Unique within the document; `[a-z0-9-]+`.
    pub id: String,
    /// Title.
    pub title: String,
    /// What is in it.
    pub blocks: Vec<Block>,
}

/// One piece of a section.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "block", rename_all = "snake_case")]
pub enum Block {
    /// A paragraph.
    Prose {
        /// Plain text.
        text: String,
    },
    /// A table.
    Table(Table),
