//! Languages that compile while they run: figures of subjects and servers that were not warm, since the time for warming was over before the rule held, and
//! what compilers are to processor time.

use super::view::{RunColumn, View};
use crate::document::{Mark, Weight};
use antiphon_lab::{Outcome, ResultRecord, WarmUp};

/// The mark of a figure that may be dearer than it lasts.
pub const NOT_WARM: &str = "not warm";

const COMPILERS: &str = " What HotSpot’s compiler threads use is taken off Java’s processor time; V8’s cannot be told apart, and what they use is in JavaScript’s.";

/// The mark of what was not warm after one of its starts or more.
pub fn mark(is_cold: bool) -> Option<Mark> {
    is_cold.then(|| Mark {
        weight: Weight::Warning,
        word: NOT_WARM.into(),
    })
}

/// Whether a result's subject was not.
pub fn is_subject_cold(result: &ResultRecord) -> bool {
    any_cold(&result.warm_ups)
}

/// Whether a result says that its subject, or its server, was not.
pub fn says_so(result: &ResultRecord) -> bool {
    is_subject_cold(result) || any_cold(warm_ups(result))
}

/// Whether the server of a load was not. One is warmed once after each start, which is kept with the first of its loads: in this placement, or in another that
/// the same processes served. All starts count for all loads: of a run that was gone on with, also those after a load was measured.
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

/// How the server of a load became warm, start by start; nothing where that is kept with another load.
fn warm_ups(result: &ResultRecord) -> &[WarmUp] {
    match &result.outcome {
        Outcome::Load(load) => &load.warm_ups,
        _ => &[],
    }
}

/// The languages whose programs a virtual machine compiles while they run.
const COMPILED_LATE: [&str; 2] = ["Java", "JavaScript"];

/// Whether a subject's program runs on a virtual machine.
pub fn is_virtual_machine(view: &View, subject: &str) -> bool {
    let mut subjects = view.run.subjects.iter();
    subjects.any(|of| of.id == subject && COMPILED_LATE.contains(&of.language.as_str()))
}

/// What is to be said of processor time where languages compile while they run; nothing where none does.
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
