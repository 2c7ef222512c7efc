//! Evidence behind figures, as the script shows it. Most figures have the same labels, and many the
//! same texts: both are kept once. The rest is compressed, so that a page of all suites is small.

use crate::document::Fact;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;
use std::collections::HashMap;

/// All evidence of a page.
#[derive(Default)]
pub struct Evidence {
    figures: Vec<Vec<Fact>>,
}

/// Evidence in the form that the script reads.
#[derive(Serialize)]
struct Unrepeated<'e> {
    /// Lists of labels.
    labels: Vec<Vec<&'e str>>,
    /// Texts that occur more than once.
    texts: Vec<&'e str>,
    /// For each figure, in the order of the page, the number of its list of labels, and a text for
    /// each label.
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
    /// Keeps the evidence of the next figure of the page.
    pub fn keep(&mut self, facts: &[Fact]) {
        self.figures.push(facts.to_vec());
    }

    /// Returns the evidence as JSON, compressed (RFC 1950) and in base64.
    pub fn packed(&self) -> String {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        // Neither fails: the texts are UTF-8, and the bytes go to memory.
        let _ = serde_json::to_writer(&mut encoder, &self.unrepeated());
        STANDARD.encode(encoder.finish().unwrap_or_default())
    }

    /// Returns the evidence with everything in it once.
    fn unrepeated(&self) -> Unrepeated<'_> {
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
        Unrepeated {
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
        let packed = serde_json::to_string(&evidence.unrepeated()).expect("JSON");
        let expected = r#"{"labels":[["N","Stopped"]],"texts":["narrow enough"],"figures":[[0,["12",0]],[0,["13",0]]]}"#;
        assert_eq!(packed, expected);
    }
}
