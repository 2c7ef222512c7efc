//! Rounds in which the processors of server and generator were near to each other, beside others in which they were far.

use super::outcome;
use crate::compose::view::RunColumn;
use crate::document::{Note, Unit, Weight};
use crate::number;
use antiphon_lab::{Apart, ResultRecord};

/// What is said of it, once for all loads under one policy and placement; nothing where they stayed where they were.
pub(super) fn note(results: &[&ResultRecord]) -> Option<Note> {
    let loads = results.iter().filter_map(|of| outcome(of));
    let seen: Vec<f64> = loads.flat_map(|load| load.distances()).collect();
    let apart = Apart::of(seen.iter().copied()).filter(Apart::is_of_both_kinds)?;
    let is_near =
        |ns: &&f64| Apart::of([apart.least_ns, **ns]).is_some_and(|of| !of.is_of_both_kinds());
    let near = seen.iter().filter(is_near).count() as f64 / seen.len() as f64;
    let text = format!(
        "the processors of server and generator were near to each other in {} of the rounds, and far in others, as the host of a virtual machine moves them: a cache line took {} there \
         and back, and where it takes longer a request costs more. Figures are of all rounds",
        number::quantity(Unit::Share, near),
        number::range(Unit::Nanoseconds, apart.least_ns, apart.most_ns)
    );
    let about = RunColumn::of(&results.first()?.identity).conditions();
    Some(Note::new(Weight::Info, about, text))
}
