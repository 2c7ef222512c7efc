//! Rounds with near processors of server and generator, beside others with far ones.

use crate::compose::figure::range;
use crate::compose::view::RunColumn;
use crate::document::{Note, Unit, Weight};
use crate::number;
use antiphon_lab::{Apart, ResultRecord};

/// Notes a change of the processors' distance, once for all loads under one policy and placement;
/// nothing without one.
pub(super) fn note(results: &[&ResultRecord]) -> Option<Note> {
    let loads = results.iter().filter_map(|of| of.load());
    let seen = Apart::of(loads.flat_map(|load| load.distances()));
    let apart = seen.filter(Apart::is_of_both_kinds)?;
    let text = format!(
        "the processors of server and generator were not always as far apart, as the host of a virtual machine moves them: a cache line took {} there and back, {} in the median, and \
         where it takes longer a request costs more. Figures are of all rounds",
        range(&apart),
        number::quantity(Unit::Nanoseconds, apart.median_ns)
    );
    let about = RunColumn::of(&results.first()?.identity).conditions();
    Some(Note::new(Weight::Info, about, text))
}
