//! The evidence behind figures, as the script shows it: labels are kept once, each figure refers to them.

use crate::document::Fact;
use serde::Serialize;

/// All evidence of a page.
#[derive(Default, Serialize)]
pub struct Evidence {
    labels: Vec<String>,
    figures: Vec<Vec<(usize, String)>>,
}

impl Evidence {
    /// Keeps the evidence of a figure and gives its number.
    pub fn keep(&mut self, facts: &[Fact]) -> usize {
        let entries = facts
            .iter()
            .map(|fact| (self.label(&fact.label), fact.text.clone()))
            .collect();
        self.figures.push(entries);
        self.figures.len() - 1
    }

    fn label(&mut self, label: &str) -> usize {
        if let Some(known) = self.labels.iter().position(|other| other == label) {
            return known;
        }
        self.labels.push(label.to_string());
        self.labels.len() - 1
    }
}
