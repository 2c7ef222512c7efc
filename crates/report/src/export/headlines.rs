//! Words of headlines that all formats share.

use crate::document::{Headline, Headlines, Measured, Told, Unit};
use crate::number;

/// Returns a figure with its interval, as `872 ± 4 ns`.
pub fn value(figure: &Measured) -> String {
    match figure.limits() {
        Some((low, high)) => number::interval(figure.unit, figure.value, low, high).line(),
        None => number::quantity(figure.unit, figure.value),
    }
}

/// Returns the interval of a headline's number in words; `None` if it has no number, or a count.
pub fn between(one: &Headline) -> Option<String> {
    let number = one.number.filter(|_| one.told != Told::Claims)?;
    let Some((low, high)) = number.limits() else {
        return Some("no interval: one round alone".into());
    };
    Some(match number.unit {
        Unit::Ratio => format!("interval {} times", number::factors(low, high)),
        unit => format!("interval {}", number::range(unit, low, high)),
    })
}

/// Returns the sentence with its interval and marks, for formats without pictures.
pub fn line(one: &Headline) -> String {
    let marks = one.marks.iter().map(|mark| mark.word.clone());
    let beside: Vec<String> = between(one).into_iter().chain(marks).collect();
    match beside.is_empty() {
        true => one.text.clone(),
        false => format!("{} ({})", one.text, beside.join("; ")),
    }
}

/// Returns the sentences of a suite in lines.
pub fn lines(of: &Headlines) -> impl Iterator<Item = String> + '_ {
    of.sentences.iter().map(line)
}
