//! Languages that compile at run time: figures of subjects and servers that were not warm, and
//! their compilers' processor time.
//!
//! A subject stays cold if the time for its warm-up ends before the rule holds.

use super::view::{RunColumn, View};
use crate::document::{Mark, Weight};
use antiphon_lab::{Outcome, ResultRecord, WarmUp};

/// Mark of a figure that may be too high, because its subject was not warm.
pub const NOT_WARM: &str = "not warm";

const COMPILERS: &str = " What HotSpot’s compiler threads use is taken off Java’s processor time; V8’s cannot be told apart, and what they use is in JavaScript’s.";

/// Returns the mark of a figure that was not warm after one or more of its starts.
pub fn mark(is_cold: bool) -> Option<Mark> {
    is_cold.then(|| Mark {
        weight: Weight::Warning,
        word: NOT_WARM.into(),
    })
}

/// Checks whether a result's subject was not warm.
pub fn is_subject_cold(result: &ResultRecord) -> bool {
    any_cold(&result.warm_ups)
}

/// Checks whether a result says that its subject, or its server, was not warm.
pub fn says_so(result: &ResultRecord) -> bool {
    is_subject_cold(result) || any_cold(warm_ups(result))
}

/// Checks whether the server of a load was not warm.
///
/// A server is warmed once after each start, which the first of its loads records. That load is in
/// this placement, or in another one of the same processes. All starts count for all loads; a
/// resumed run may have some after a load's measurement.
pub fn is_server_cold(view: &View, result: &ResultRecord) -> bool {
    let own = RunColumn::of(&result.identity);
    let warmed = |with: &dyn Fn(&RunColumn) -> bool| -> Vec<&WarmUp> {
        let results = view.run.results.iter();
        let same = results.filter(|other| with(&RunColumn::of(&other.identity)));
        same.flat_map(warm_ups).collect()
    };
    let here = warmed(&|column| *column == own);
    let all = match here.is_empty() {
        true => warmed(&|column| (&column.subject, &column.policy) == (&own.subject, &own.policy)),
        false => here,
    };
    any_cold(all)
}

/// Returns the warm-ups of a load's server, start by start; nothing if another load has them.
fn warm_ups(result: &ResultRecord) -> &[WarmUp] {
    match &result.outcome {
        Outcome::Load(load) => &load.warm_ups,
        _ => &[],
    }
}

/// The languages whose programs a virtual machine compiles while they run.
const COMPILED_LATE: [&str; 2] = ["Java", "JavaScript"];

/// Checks whether a subject's program runs on a virtual machine.
pub fn is_virtual_machine(view: &View, subject: &str) -> bool {
    let mut subjects = view.run.subjects.iter();
    subjects.any(|of| of.id == subject && COMPILED_LATE.contains(&of.language.as_str()))
}

/// Returns the text on processor time of languages that compile at run time; nothing without such a
/// language.
pub fn compilers(view: &View) -> &'static str {
    let mut subjects = view.run.subjects.iter();
    match subjects.any(|subject| COMPILED_LATE.contains(&subject.language.as_str())) {
        true => COMPILERS,
        false => "",
    }
}

fn any_cold<'w>(warm_ups: impl IntoIterator<Item = &'w WarmUp>) -> bool {
    warm_ups.into_iter().any(|warm_up| !warm_up.is_warm)
}
