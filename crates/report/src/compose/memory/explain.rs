//! What a reader would say of the figures: how much changed, and which functions that was in.

use super::Sides;
use super::cache::{PerOperation, changes, of_event};
use super::heap::{function, most_by_function};
use crate::document::{Note, Unit, Weight};
use crate::number;
use antiphon_lab::profile::{Function, Profile, place};

/// A change of less than this share of the whole is none.
const SMALLEST: f64 = 0.005;

/// What is told of, with words for one and for more.
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
        Some(after) => differences(sides.before, after),
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
    match peak.sites.first() {
        Some(site) => format!(
            "The heap takes {total} at most, of which {} hold {} ({}).",
            site.place,
            bytes(site.bytes),
            share(site.bytes as f64 / peak.bytes() as f64)
        ),
        None => format!("The heap takes {total} at most."),
    }
}

fn differences(before: &Profile, after: &Profile) -> Vec<String> {
    let mut texts = vec![of_heap(before, after)];
    texts.extend(of_site(before, after));
    let changes = changes(before, after);
    let told = TOLD.iter();
    texts
        .extend(told.filter_map(|(event, words)| of_counts(before, after, &changes, event, words)));
    if texts.len() == 1 {
        texts.push("Nothing that cachegrind counts changed by half a per cent or more.".into());
    }
    texts
}

/// "from A to B (26 %)" and which way, unless it does not change.
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

/// The function that held most more, or less, than it does now.
fn of_site(before: &Profile, after: &Profile) -> Option<String> {
    let (was, is) = (
        most_by_function(&before.heap),
        most_by_function(&after.heap),
    );
    let held = |side: &std::collections::BTreeMap<&str, u64>, name: &str| {
        side.get(name).copied().unwrap_or_default()
    };
    let names = was.keys().chain(is.keys());
    let change = |name: &&&str| held(&was, name).abs_diff(held(&is, name));
    let name = names.max_by_key(change)?;
    let (was, is) = (held(&was, name), held(&is, name));
    let largest = before.heap.peak().bytes().max(after.heap.peak().bytes());
    if (was.abs_diff(is) as f64) < SMALLEST * largest as f64 {
        return None;
    }
    let site = before.heap.peak().sites.first();
    let at_peak = site.filter(|site| function(&site.place) == *name);
    let at_peak = at_peak.map_or(String::new(), |site| {
        let part = site.bytes as f64 / before.heap.peak().bytes() as f64;
        format!(", {} of the peak", share(part))
    });
    let after = match is {
        0 => "no more than a thousandth of the heap".into(),
        is => bytes(is),
    };
    Some(format!(
        "Most of that is what `{name}` allocates: {} at a time before{at_peak}, {after} after.",
        bytes(was)
    ))
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

/// The functions that a change was in: the one or two that have most of it.
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
