//! Conclusions from the figures: the size of changes, and the functions behind them.

use super::Sides;
use super::cache::{PerOperation, changes, of_event};
use super::heap::{Held, Holder, held, largest_holder, most};
use crate::document::{Note, Unit, Weight};
use crate::number;
use antiphon_lab::profile::{Function, Profile, place};

/// A change of less than this share of the whole is none.
const SMALLEST: f64 = 0.005;

/// Events to report, in the singular and plural.
const TOLD: [(&str, &str); 7] = [
    ("Ir", "Instructions"),
    ("Dr", "Data reads"),
    ("D1mr", "Read misses of the first cache"),
    ("DLmr", "Read misses of the last cache"),
    ("Dw", "Data writes"),
    ("D1mw", "Write misses of the first cache"),
    ("DLmw", "Write misses of the last cache"),
];

pub(super) fn notes(sides: &Sides) -> Vec<Note> {
    let texts = match sides.after {
        Some(after) if sides.before.repeats && after.repeats => differences(sides.before, after),
        // A doubtful total has no explanation, because its changes may be chance.
        Some(_) => Vec::new(),
        None => vec![peak(sides.before)],
    };
    let note = |text| Note::new(Weight::Info, "", text);
    texts.into_iter().map(note).collect()
}

fn bytes(bytes: u64) -> String {
    number::quantity(Unit::Bytes, bytes as f64)
}

fn share(share: f64) -> String {
    number::quantity(Unit::Share, share)
}

fn peak(profile: &Profile) -> String {
    let peak = profile.heap.peak();
    let total = bytes(peak.bytes());
    match largest_holder(peak) {
        Some((place, held)) => format!(
            "The heap takes {total} at most, of which {place} holds {} ({}).",
            bytes(held),
            share(held as f64 / peak.bytes() as f64)
        ),
        None => format!("The heap takes {total} at most."),
    }
}

fn differences(before: &Profile, after: &Profile) -> Vec<String> {
    let mut texts = vec![of_heap(before, after)];
    texts.extend(at_peaks(before, after).or_else(|| elsewhere(before, after)));
    let changes = changes(before, after);
    let counts = |(event, words): &(&str, &str)| of_counts(before, after, &changes, event, words);
    let counts: Vec<String> = TOLD.iter().filter_map(counts).collect();
    if counts.is_empty() {
        texts.push("Nothing that cachegrind counts changed by half a per cent or more.".into());
    }
    texts.extend(counts);
    texts
}

/// Returns "from A to B (26 %)" and the direction, unless it does not change.
fn moved(before: f64, after: f64, written: impl Fn(f64) -> String) -> Option<(bool, String)> {
    let change = (after - before) / before.max(f64::MIN_POSITIVE);
    (change.abs() >= SMALLEST).then(|| {
        let by = match before > 0.0 {
            true => format!(" ({})", share(change.abs())),
            false => String::new(),
        };
        let text = format!("from {} to {}{by}", written(before), written(after));
        (change > 0.0, text)
    })
}

fn of_heap(before: &Profile, after: &Profile) -> String {
    let (was, is) = (before.heap.peak().bytes(), after.heap.peak().bytes());
    match moved(was as f64, is as f64, |value| bytes(value as u64)) {
        Some((true, moved)) => format!("The heap's peak rises {moved}."),
        Some((false, moved)) => format!("The heap's peak falls {moved}."),
        None => format!("The heap's peak is {}, as before.", bytes(is)),
    }
}

/// Memory of one holder before and after, in bytes.
struct Pair {
    was: u64,
    is: u64,
}

impl Pair {
    fn rise(&self) -> f64 {
        self.is as f64 - self.was as f64
    }
}

fn bytes_of(side: &Held, holder: Holder) -> u64 {
    side.get(&holder).copied().unwrap_or_default()
}

/// Pairs each holder of two sides, either of which may lack it.
fn pairs<'a>(was: &Held<'a>, is: &Held<'a>) -> Vec<(Holder<'a>, Pair)> {
    let new = is.keys().filter(|holder| !was.contains_key(holder));
    let pair = |holder: &Holder<'a>| {
        let (was, is) = (bytes_of(was, *holder), bytes_of(is, *holder));
        (*holder, Pair { was, is })
    };
    was.keys().chain(new).map(pair).collect()
}

/// Returns the size in words. A holder that massif omits holds less than its limit.
fn held_bytes(held: u64) -> String {
    match held {
        0 => "no more than a thousandth of the heap".into(),
        held => bytes(held),
    }
}

/// Returns the function that makes at least half of the peak's change, if there is one. Its memory
/// at both peaks is compared.
fn at_peaks(before: &Profile, after: &Profile) -> Option<String> {
    let (was, is) = (before.heap.peak(), after.heap.peak());
    let (was_bytes, is_bytes) = (was.bytes() as f64, is.bytes() as f64);
    let rise = is_bytes - was_bytes;
    moved(was_bytes, is_bytes, |_| String::new())?;
    let part = |pair: &Pair| pair.rise() / rise;
    let pairs = pairs(&held(was), &held(is));
    let most = pairs
        .iter()
        .max_by(|(_, a), (_, b)| part(a).total_cmp(&part(b)));
    let (holder, pair) = most.filter(|(_, pair)| part(pair) >= 0.5)?;
    let of_peak = match pair.was {
        0 => String::new(),
        held => format!(", {} of the peak", share(held as f64 / was_bytes)),
    };
    let at_a_time = if pair.was > 0 { " at a time" } else { "" };
    Some(format!(
        "Most of that is what `{holder}` allocates: {}{at_a_time} before{of_peak}, {} after.",
        held_bytes(pair.was),
        held_bytes(pair.is)
    ))
}

/// Returns the function whose own maximum changed most, if the peak's change is not its doing.
fn elsewhere(before: &Profile, after: &Profile) -> Option<String> {
    let pairs = pairs(&most(&before.heap), &most(&after.heap));
    let size = |pair: &Pair| pair.was.abs_diff(pair.is);
    let (holder, pair) = pairs.iter().max_by_key(|(_, pair)| size(pair))?;
    let peaks = [before, after].map(|side| side.heap.peak().bytes());
    if (size(pair) as f64) < SMALLEST * peaks[0].max(peaks[1]) as f64 {
        return None;
    }
    let (was, is) = (held_bytes(pair.was), held_bytes(pair.is));
    // Of the side where it held more.
    Some(match pair.rise() > 0.0 {
        true => format!(
            "`{holder}` held {was} at a time; now {is}{}.",
            at_the_peak(after, *holder, pair.is)
        ),
        false => format!(
            "`{holder}` held {was} at a time{}; now {is}.",
            at_the_peak(before, *holder, pair.was)
        ),
    })
}

/// Returns the part of a holder's maximum that existed at the heap's peak.
fn at_the_peak(profile: &Profile, holder: Holder, most: u64) -> String {
    let peak = profile.heap.peak();
    match bytes_of(&held(peak), holder) {
        0 => ", though not at the peak".into(),
        held if (held as f64) < (1.0 - SMALLEST) * most as f64 => {
            format!(", though only {} at the peak", bytes(held))
        }
        held => format!(", {} of the peak", share(held as f64 / peak.bytes() as f64)),
    }
}

fn of_counts(
    before: &Profile,
    after: &Profile,
    changes: &[(&Function, PerOperation)],
    event: &str,
    words: &str,
) -> Option<String> {
    let was = of_event(before, &before.cache.total, event);
    let is = of_event(after, &after.cache.total, event);
    let written = |value: f64| number::significant(value, 3);
    let (rises, moved) = moved(was, is, written)?;
    let verb = if rises { "rise" } else { "fall" };
    Some(format!(
        "{words} {verb} {moved}{}.",
        culprits(changes, event, is - was)
    ))
}

/// Returns the functions behind a change: the one or two with most of it.
fn culprits(changes: &[(&Function, PerOperation)], event: &str, change: f64) -> String {
    let of = |counts: &PerOperation| counts[place(event)] / change;
    let mut parts: Vec<_> = changes
        .iter()
        .map(|(function, counts)| (*function, of(counts)))
        .collect();
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let shown = if parts.first().is_some_and(|(_, part)| *part >= 0.75) {
        1
    } else {
        2
    };
    let parts = parts.iter().take(shown).filter(|(_, part)| *part >= 0.1);
    let parts: Vec<String> = parts
        .map(|(function, part)| format!("{} of that in `{}`", share(*part), function.name))
        .collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!(": {}", parts.join(", ")),
    }
}

#[cfg(test)]
mod tests;
