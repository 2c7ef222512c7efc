//! Evidence behind figures, as the script shows it. Most figures have the same labels, and many the
//! same texts: both are kept once.

use crate::document::Fact;
use serde::Serialize;
use std::collections::HashMap;

/// All evidence of a page.
#[derive(Default)]
pub struct Evidence {
    figures: Vec<Vec<Fact>>,
}

/// Evidence in the form that the script reads.
#[derive(Serialize)]
pub struct Packed<'e> {
    /// Lists of labels.
    labels: Vec<Vec<&'e str>>,
    /// Texts that occur more than once.
    texts: Vec<&'e str>,
    /// For each figure the number of its list of labels, and a text for each label.
    figures: Vec<(usize, Vec<Text<'e>>)>,
}

/// A text, or the number of one that occurs more than once.
#[derive(Serialize)]
#[serde(untagged)]
enum Text<'e> {
    Once(&'e str),
    Kept(usize),
}

impl Evidence {
    /// Keeps the evidence of a figure and gives its number.
    pub fn keep(&mut self, facts: &[Fact]) -> usize {
        self.figures.push(facts.to_vec());
        self.figures.len() - 1
    }

    /// Returns the evidence with everything in it once.
    pub fn packed(&self) -> Packed<'_> {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for fact in self.figures.iter().flatten() {
            *counts.entry(&fact.text).or_default() += 1;
        }
        let (mut labels, mut texts) = (Numbered::default(), Numbered::default());
        let figures = self.figures.iter().map(|facts| {
            let names: Vec<&str> = facts.iter().map(|fact| fact.label.as_str()).collect();
            let number = labels.number(names);
            let texts = facts
                .iter()
                .map(|fact| match counts.get(fact.text.as_str()) {
                    Some(2..) => Text::Kept(texts.number(fact.text.as_str())),
                    _ => Text::Once(&fact.text),
                });
            (number, texts.collect())
        });
        let figures = figures.collect();
        Packed {
            labels: labels.all,
            texts: texts.all,
            figures,
        }
    }
}

/// Things with numbers, each once.
struct Numbered<T> {
    all: Vec<T>,
    numbers: HashMap<T, usize>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Numbered {
            all: Vec::new(),
            numbers: HashMap::new(),
        }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Numbered<T> {
    fn number(&mut self, one: T) -> usize {
        let next = self.all.len();
        let number = *self.numbers.entry(one.clone()).or_insert(next);
        if number == next {
            self.all.push(one);
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_occurs_twice_is_kept_once() {
        let mut evidence = Evidence::default();
        evidence.keep(&[Fact::new("N", "12"), Fact::new("Stopped", "narrow enough")]);
        evidence.keep(&[Fact::new("N", "13"), Fact::new("Stopped", "narrow enough")]);
        let packed = serde_json::to_string(&evidence.packed()).expect("JSON");
        let expected = r#"{"labels":[["N","Stopped"]],"texts":["narrow enough"],"figures":[[0,["12",0]],[0,["13",0]]]}"#;
        assert_eq!(packed, expected);
    }
}
