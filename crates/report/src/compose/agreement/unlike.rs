//! Figures of two runs that differ in kind. Their disagreement is not one of like with like.

use crate::document::{Note, Unit, Weight};
use crate::number;
use antiphon_lab::{Agreement, Apart, SlicesDiffer, WaitsDiffer};
use std::collections::BTreeSet;

/// Returns all notes of this kind.
pub(super) fn notes(agreements: &[Agreement], runs: (i64, i64)) -> Vec<Note> {
    let mut notes = slices(agreements, runs);
    notes.extend(sleep(agreements, runs));
    notes.extend(priorities(agreements, runs));
    notes.extend(wakes(agreements, runs));
    notes.extend(apart(agreements, runs));
    notes.extend(waited(agreements, runs));
    notes
}

/// Notes subjects whose slices differ in length between the runs, so that their figures are not
/// alike.
fn slices(agreements: &[Agreement], runs: (i64, i64)) -> Vec<Note> {
    let length = |slice_ms: Option<u64>| match slice_ms {
        Some(slice_ms) => format!("of {slice_ms} ms"),
        None => "as short as in most subjects".to_owned(),
    };
    let note = |of: &SlicesDiffer| Note {
        help: "compare two runs in which they are as long".into(),
        ..Note::new(
            Weight::Warning,
            of.subject.clone(),
            format!(
                "its slices (`slice_ms` in its file) were {} in run {}, and {} in run {}, so that its figures differ in kind: long slices hold what its run-time does in \
                 bursts, such as collecting what was thrown away",
                length(of.slice_ms.0),
                runs.0,
                length(of.slice_ms.1),
                runs.1
            ),
        )
    };
    let each: BTreeSet<&SlicesDiffer> = agreements.iter().flat_map(|of| &of.slices).collect();
    each.into_iter().map(note).collect()
}

/// Returns the run in which something was so, then the other, if it was so in one alone.
fn in_one(
    agreements: &[Agreement],
    runs: (i64, i64),
    of: fn(&Agreement) -> (bool, bool),
) -> Option<(i64, i64)> {
    let (is_first, _) = agreements.iter().map(of).find(|(a, b)| a != b)?;
    Some(order(is_first, runs))
}

/// Returns the runs in order, or reversed.
fn order(is_first: bool, runs: (i64, i64)) -> (i64, i64) {
    match is_first {
        true => runs,
        false => (runs.1, runs.0),
    }
}

/// Notes that processors were kept awake in one of the runs alone. Those of an earlier version
/// slept while turns waited.
fn sleep(agreements: &[Agreement], runs: (i64, i64)) -> Option<Note> {
    let (awake, asleep) = in_one(agreements, runs, |of| of.awake)?;
    let text = format!(
        "processors were kept awake while turns waited in run {awake}, and not in run {asleep}, so that what waits differs in kind: who wakes a processor up is \
         charged with it"
    );
    Some(Note {
        help: "compare two runs of the same version".into(),
        ..Note::new(Weight::Warning, "operations that wait", text)
    })
}

/// Subjects whose turns were ordinary in one of the runs, and in real time in the other.
fn priorities(agreements: &[Agreement], runs: (i64, i64)) -> Vec<Note> {
    let differ = agreements
        .iter()
        .filter(|of| of.ordinary.0 != of.ordinary.1);
    let each: BTreeSet<(&str, bool)> = differ
        .map(|of| (of.identity.subject.as_str(), of.ordinary.0))
        .collect();
    let note = |(subject, is_first): (&str, bool)| {
        let (ordinary, other) = order(is_first, runs);
        let text = format!(
            "its turns were ordinary in run {ordinary}, as its run-time looks for other work before it waits for a server (`looks_for_work` in its file), and in real time in run {other}, \
             where it looks for longer, so that its figures differ in kind"
        );
        Note {
            help: "compare two runs of the same version".into(),
            ..Note::new(Weight::Warning, subject, text)
        }
    };
    each.into_iter().map(note).collect()
}

/// Notes that the generator polled in one of the runs alone. That of an earlier version always
/// slept.
fn wakes(agreements: &[Agreement], runs: (i64, i64)) -> Option<Note> {
    let (polled, slept) = in_one(agreements, runs, |of| of.polled)?;
    let text = format!(
        "the generator polled while it waited in run {polled}, and slept in run {slept}, so that figures differ in kind: a server is charged with waking who sleeps, and \
         who sleeps has its answers later"
    );
    Some(Note {
        help: "compare two runs of the same version".into(),
        ..Note::new(Weight::Warning, "servers under load", text)
    })
}

/// Servers whose processor was nearer to the generator's in the one run than in the other.
fn apart(agreements: &[Agreement], runs: (i64, i64)) -> Option<Note> {
    let all: Vec<(Apart, Apart)> = agreements.iter().filter_map(|of| of.moved).collect();
    let (first, second) = all.first()?;
    let ns = |apart: &Apart| number::quantity(Unit::Nanoseconds, apart.median_ns);
    let text = format!(
        "{}: the processors of server and generator were farther apart in the one run than in the other, so that what both do together differs in kind: a cache line took \
         {} there and back in run {}, and {} in run {}",
        number::counted(all.len(), "ratio"),
        ns(first),
        runs.0,
        ns(second),
        runs.1
    );
    Some(Note {
        help: "measure again, for longer: the host of a virtual machine moves its processors; or have them pinned there. Runs of an earlier version may have had two threads of one \
               core"
            .into(),
        ..Note::new(Weight::Warning, "servers under load", text)
    })
}

/// Servers that waited for requests in the one run, and not in the other.
fn waited(agreements: &[Agreement], runs: (i64, i64)) -> Option<Note> {
    let all = agreements
        .iter()
        .filter_map(|of| Some((of, of.waited.as_ref()?)));
    let all: Vec<(&Agreement, &WaitsDiffer)> = all.collect();
    let (of, most) = all
        .iter()
        .max_by(|(_, one), (_, other)| one.by().total_cmp(&other.by()))?;
    let times = |waits: f64| number::significant(waits, 2);
    let text = format!(
        "{}: the threads of a server waited, and were woken, another number of times a request in the one run than in the other, so that figures differ in kind: to be woken is \
         part of what a request costs. Farthest apart is {} under `{}`, with {} in run {} and {} in run {}",
        number::counted(all.len(), "ratio"),
        most.subject,
        of.identity.test,
        times(most.a_request.0),
        runs.0,
        times(most.a_request.1),
        runs.1
    );
    Some(Note {
        help: "measure again, for longer; a closed loop over many connections to a server that has a processor of its own mostly leaves it no time to wait".into(),
        ..Note::new(Weight::Warning, "servers under load", text)
    })
}
