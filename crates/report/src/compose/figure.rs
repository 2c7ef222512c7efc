//! Figure of an estimate: value, standing, marks, and the evidence behind it.

use super::view::{RunColumn, fatal};
use crate::document::{Cell, Fact, Figure, Mark, Standing, Unit, Weight};
use crate::number::{self, Spread};
use antiphon_lab::{Apart, Identity, ResultRecord};
use antiphon_measure::{
    CountedBy, Estimate, FindingKind, InstructionCount, Interval, PLACEMENT_FLOOR_NS, Stopped,
};

/// Returns the figure of a frame: the time of an operation, with its process starts and turns as
/// evidence.
pub fn figure(result: &ResultRecord, estimate: &Estimate) -> Figure {
    let by_turns = result.time_of_turns();
    let time = by_turns.unwrap_or(estimate.cost_ns);
    Figure {
        value: time.value,
        low: time.low,
        high: time.high,
        unit: Unit::Nanoseconds,
        standing: standing_of(by_turns, estimate),
        switches: Some(estimate.resources.switches()),
        instructions: shown_instructions(estimate).map(rounded),
        marks: marks(by_turns, estimate)
            .into_iter()
            .chain(super::processor_time::marks(result))
            .collect(),
        detail: detail(result, estimate),
    }
}

/// Returns the instructions to show beside a cost: counts by callgrind, which are requested, and
/// those of a cost that its control hides. The processor's counts of all frames are in the
/// evidence.
fn shown_instructions(estimate: &Estimate) -> Option<InstructionCount> {
    let is_opinion =
        |count: &InstructionCount| count.by == CountedBy::Callgrind || estimate.is_like_control();
    estimate.resources.instructions.filter(is_opinion)
}

/// Returns the reliability of an operation's time.
pub fn standing(result: &ResultRecord, estimate: &Estimate) -> Standing {
    standing_of(result.time_of_turns(), estimate)
}

fn standing_of(by_turns: Option<Interval>, estimate: &Estimate) -> Standing {
    if let Some(reason) = fatal(estimate) {
        return Standing::Withheld {
            reason: reason.into(),
        };
    }
    match is_like_control(by_turns, estimate) {
        true => Standing::LikeControl,
        false => Standing::Resolved,
    }
}

fn is_like_control(by_turns: Option<Interval>, estimate: &Estimate) -> bool {
    match by_turns {
        Some(time) => estimate.holds_nothing(&time),
        None => estimate.is_like_control(),
    }
}

/// Returns the largest possible size of an indistinguishable cost, ns. It is at least the effect of
/// loop placement, and ∞ if nothing tells.
pub fn bound(low: f64, high: f64) -> f64 {
    low.abs().max(high.abs()).max(PLACEMENT_FLOOR_NS)
}

/// Returns the text in place of costs that are indistinguishable from their control.
pub fn like_control(unit: Unit, bound: f64) -> String {
    match bound.is_finite() {
        true => format!("≈ control (< {})", number::rough(unit, bound)),
        false => "≈ control".into(),
    }
}

/// Returns the cell of two costs without a ratio (see [`Interval::over`]).
pub fn cell_without_ratio() -> Cell {
    Cell::Missing {
        reason: "no ratio: one of the costs may be nothing".into(),
    }
}

/// Returns the weaknesses of a time, in a word or two each: its small basis, a negative value, and
/// findings in slices.
fn marks(by_turns: Option<Interval>, estimate: &Estimate) -> Vec<Mark> {
    let (time, alone) = match by_turns {
        Some(time) => (time, "one round"),
        None => (estimate.cost_ns, "one block"),
    };
    let kinds = estimate.findings.iter().map(|finding| finding.kind);
    let kinds: Vec<FindingKind> = kinds.filter(|kind| is_of(by_turns, *kind)).collect();
    let is_below = time.high < 0.0
        && !is_like_control(by_turns, estimate)
        && !kinds.contains(&FindingKind::ControlDearer);
    let words = [
        time.limits().is_none().then_some(alone),
        is_below.then_some("below zero"),
    ];
    let warning = |word: &str| Mark {
        weight: Weight::Warning,
        word: word.into(),
    };
    let mut marks: Vec<Mark> = words.into_iter().flatten().map(warning).collect();
    for kind in kinds {
        let mark = word(kind).map(|word| Mark {
            weight: weight(kind),
            word: word.into(),
        });
        marks.extend(mark.filter(|mark| !marks.contains(mark)));
    }
    marks
}

/// Checks whether a finding in a frame's slices concerns the shown time. Findings on the slices'
/// own quality do not, if that is the time of turns.
pub fn is_of_shown(result: &ResultRecord, kind: FindingKind) -> bool {
    is_of(result.time_of_turns(), kind)
}

/// Checks whether a finding concerns the time of turns: it is about the work, or about its threads.
fn is_of(by_turns: Option<Interval>, kind: FindingKind) -> bool {
    if by_turns.is_none() {
        return true;
    }
    match kind {
        FindingKind::DeadCode
        | FindingKind::UnequalWork
        | FindingKind::UnexpectedSwitches
        | FindingKind::WrongPlacement
        | FindingKind::Note => true,
        FindingKind::Drift
        | FindingKind::Outliers
        | FindingKind::SeveralModes
        | FindingKind::ShortSlice
        | FindingKind::ControlDearer
        | FindingKind::WithinFloor
        | FindingKind::FewBlocks
        | FindingKind::ProcessorsMoved
        | FindingKind::IndistinguishableFromControl => false,
    }
}

/// Returns the word for a finding in a table; `None` if the cell's own form says it.
pub fn word(kind: FindingKind) -> Option<&'static str> {
    match kind {
        FindingKind::IndistinguishableFromControl | FindingKind::WithinFloor => None,
        FindingKind::DeadCode => Some("dead code"),
        FindingKind::UnequalWork => Some("unequal work"),
        FindingKind::Drift => Some("drift"),
        FindingKind::Outliers => Some("outliers"),
        FindingKind::UnexpectedSwitches => Some("switches"),
        FindingKind::WrongPlacement => Some("placement"),
        FindingKind::SeveralModes => Some("modes"),
        FindingKind::ShortSlice => Some("short slice"),
        FindingKind::ControlDearer => Some("control dearer"),
        FindingKind::FewBlocks => Some("few blocks"),
        FindingKind::ProcessorsMoved => Some("near and far"),
        FindingKind::Note => Some("note"),
    }
}

/// Returns the name of a kind of finding in a heading.
pub fn name(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::IndistinguishableFromControl => "Not distinguishable from the control",
        FindingKind::WithinFloor => "Within what the placement of loops moves",
        FindingKind::DeadCode => "Work was removed by the compiler",
        FindingKind::UnequalWork => "Unequal work",
        FindingKind::Drift => "Drift during the run",
        FindingKind::Outliers => "Outlying slices",
        FindingKind::UnexpectedSwitches => "Unexpected context switches",
        FindingKind::WrongPlacement => "Wrong policy or processor",
        FindingKind::SeveralModes => "Several modes",
        FindingKind::ShortSlice => "Slices shorter than 100 clock readings",
        FindingKind::ControlDearer => "The control is dearer",
        FindingKind::FewBlocks => "Few blocks",
        FindingKind::ProcessorsMoved => "Processors near to each other and far",
        FindingKind::Note => "Notes",
    }
}

/// Returns the weight of a kind of finding.
pub fn weight(kind: FindingKind) -> Weight {
    match kind {
        FindingKind::DeadCode | FindingKind::UnequalWork | FindingKind::WrongPlacement => {
            Weight::Error
        }
        FindingKind::Drift
        | FindingKind::UnexpectedSwitches
        | FindingKind::ControlDearer
        | FindingKind::SeveralModes
        | FindingKind::ShortSlice
        | FindingKind::ProcessorsMoved => Weight::Warning,
        FindingKind::IndistinguishableFromControl
        | FindingKind::WithinFloor
        | FindingKind::Outliers
        | FindingKind::FewBlocks
        | FindingKind::Note => Weight::Info,
    }
}

fn detail(result: &ResultRecord, estimate: &Estimate) -> Vec<Fact> {
    let identity = &result.identity;
    let mut facts = vec![
        Fact::new("Test", identity.test.clone()),
        Fact::new("Subject", identity.subject.clone()),
        Fact::new("Policy, placement", verified(identity, estimate)),
    ];
    if let Some(time) = result.time_of_turns() {
        facts.push(Fact::new("Time in turns", with_limits(&time)));
    }
    facts.extend(cost_facts(estimate));
    facts.extend(starts(&result.starts));
    facts.extend(paper_facts(estimate));
    facts.extend(effort_facts(estimate));
    facts.extend(resource_facts(estimate));
    facts.extend(super::processor_time::facts(result));
    facts.extend(
        result
            .apart()
            .map(|apart| Fact::new("Core-to-core latency", range(&apart))),
    );
    for finding in &estimate.findings {
        facts.push(Fact::new(name(finding.kind), finding.text.clone()));
    }
    facts
}

/// Returns the least and largest distance of processors.
pub fn range(apart: &Apart) -> String {
    number::range(Unit::Nanoseconds, apart.least_ns, apart.most_ns)
}

fn verified(identity: &Identity, estimate: &Estimate) -> String {
    let conditions = RunColumn::of(identity).conditions();
    let wrong = estimate
        .findings
        .iter()
        .any(|f| f.kind == FindingKind::WrongPlacement);
    match wrong {
        true => format!("asked: {conditions}; the threads reported otherwise"),
        false => format!("{conditions}; as the threads reported"),
    }
}

fn with_limits(interval: &Interval) -> String {
    let (low, high) = (interval.low, interval.high);
    let written = number::interval(Unit::Nanoseconds, interval.value, low, high);
    match written.spread {
        Spread::Limits(..) => written.line(),
        Spread::Half(_) | Spread::None => {
            let limits = number::limits(Unit::Nanoseconds, low, high);
            format!("{}, {limits}", written.line())
        }
    }
}

fn as_ratio(log: &Interval) -> String {
    let ratio = |v: f64| number::significant(v.exp(), 5);
    if log.limits().is_none() {
        return format!("{}, no limits", ratio(log.value));
    }
    format!(
        "{} [{}, {}]",
        ratio(log.value),
        ratio(log.low),
        ratio(log.high)
    )
}

fn cost_facts(estimate: &Estimate) -> Vec<Fact> {
    let mut facts = vec![
        Fact::new("Cost, bootstrap", with_limits(&estimate.cost_ns)),
        Fact::new("Cost, sign test", with_limits(&estimate.sign_cost_ns)),
        Fact::new("Test ÷ control", as_ratio(&estimate.log_ratio)),
    ];
    if let Some(ratio) = &estimate.log_ratio_to_reference {
        facts.push(Fact::new("Test ÷ reference", as_ratio(ratio)));
    }
    facts
}

/// Returns the cost of each start of the subject's process; nothing for one start.
fn starts(starts: &[Estimate]) -> Option<Fact> {
    let cost = |e: &Estimate| {
        let cost = &e.cost_ns;
        number::interval(Unit::Nanoseconds, cost.value, cost.low, cost.high).line()
    };
    let costs: Vec<String> = starts.iter().map(cost).collect();
    (costs.len() > 1)
        .then(|| Fact::new(format!("{} process starts", costs.len()), costs.join("; ")))
}

fn paper_facts(estimate: &Estimate) -> Vec<Fact> {
    let (paper, ns) = (&estimate.paper, |v| number::quantity(Unit::Nanoseconds, v));
    let minima = format!(
        "{} ({} − {})",
        ns(paper.minima_difference_ns),
        ns(paper.minimum_test_ns),
        ns(paper.minimum_control_ns)
    );
    let corrected = paper.mean_corrected_ns.map_or("β unknown".into(), ns);
    vec![
        Fact::new("Paper: minima", minima),
        Fact::new(
            "Paper: mean",
            format!("{} raw; {corrected} × (1 − β)", ns(paper.mean_raw_ns)),
        ),
        Fact::new("Clock accuracy τ/N", ns(paper.clock_accuracy_ns)),
    ]
}

fn effort_facts(estimate: &Estimate) -> Vec<Fact> {
    let n = format!(
        "{} a slice × {} blocks; {} in all",
        number::count(estimate.iterations),
        number::count(estimate.blocks as u64),
        number::count(estimate.total_iterations)
    );
    let frames = format!(
        "test {}, control {}",
        number::quantity(Unit::Nanoseconds, estimate.frames.test_ns),
        number::quantity(Unit::Nanoseconds, estimate.frames.control_ns)
    );
    vec![
        Fact::new("N", n),
        Fact::new("Stopped because", stopped(estimate)),
        Fact::new("Frames", frames),
    ]
}

fn stopped(estimate: &Estimate) -> String {
    let width = number::quantity(Unit::Share, estimate.relative_half_width);
    match estimate.stopped {
        Stopped::BudgetSpent if estimate.cost_ns.limits().is_none() => {
            "the time was spent; one block tells no limits".into()
        }
        Stopped::IntervalReached => format!("the interval was narrow enough (±\u{202f}{width})"),
        Stopped::BudgetSpent if estimate.relative_half_width.is_finite() => {
            format!("the time was spent (±\u{202f}{width})")
        }
        Stopped::BudgetSpent => "the time was spent".into(),
        Stopped::Interrupted => "the run was interrupted".into(),
    }
}

fn resource_facts(estimate: &Estimate) -> Vec<Fact> {
    let used = &estimate.resources;
    let per_op = |v: f64| number::significant(v, 3);
    let mut facts = vec![
        Fact::new(
            "Switches per operation",
            format!(
                "{} voluntary, {} involuntary",
                per_op(used.voluntary),
                per_op(used.involuntary)
            ),
        ),
        Fact::new(
            "Faults per operation",
            format!(
                "{} minor, {} major",
                per_op(used.minor_faults),
                per_op(used.major_faults)
            ),
        ),
    ];
    if let Some(wait) = used.wait_ns {
        facts.push(Fact::new(
            "Ready but waiting",
            number::quantity(Unit::Nanoseconds, wait),
        ));
    }
    if let Some(count) = used.instructions {
        facts.push(Fact::new("Instructions", instructions(&count)));
    }
    facts
}

/// Returns the instructions of the operation, rounded to their meaningful places.
fn rounded(count: InstructionCount) -> f64 {
    let places = 10f64.powi(count.decimals() as i32);
    (count.per_operation() * places).round() / places
}

/// Returns instructions in words: the difference, both frames, the means of the count, and cycles
/// if they were counted.
fn instructions(count: &InstructionCount) -> String {
    let by = match count.by {
        CountedBy::Callgrind => "callgrind",
        CountedBy::Processor => "the processor's counters",
    };
    let places = count.decimals();
    let mut text = format!(
        "{} (control {:.places$}, test {:.places$} an iteration, difference ± {}; by {by}, without the kernel's work)",
        count.in_words(),
        count.control,
        count.test,
        number::significant(count.within, 1),
    );
    if let Some(cycles) = count.cycles {
        text.push_str(&format!(", {} cycles", number::significant(cycles, 3)));
    }
    text
}
