//! Agreement of other generators with ours, which measured the same load on the same server beside
//! them.

use super::{in_most_rounds, is_disturbed};
use crate::compose::processor_time::DISTURBED;
use crate::compose::verdict::{self, Fate, Limits};
use crate::compose::view::View;
use crate::document::{Block, Row, Section, Unit};
use crate::number;
use antiphon_lab::{Generator, LoadOutcome, LoadRound, ResultRecord};
use antiphon_measure::Interval;

/// Another generator's figure as a share of ours.
const AGREES: Limits = Limits {
    at_least: 0.9,
    at_most: 1.1,
};

const CAPTION: &str = "Figures by another generator as shares of ours, taken within the rounds that both measured. They agree where the whole interval is within the \
                       limits. A generator that sends less since it was busy for more than nine tenths of its time itself says nothing against ours.";

/// Compared quantity.
struct Compared {
    title: &'static str,
    of: fn(&LoadRound) -> f64,
    /// Whether a fully busy generator reduces it.
    is_rate: bool,
}

const COMPARED: [Compared; 2] = [
    Compared {
        title: "requests a second",
        of: |round| round.per_second,
        is_rate: true,
    },
    Compared {
        title: "processor time of the server a request",
        of: LoadRound::cpu_ns,
        is_rate: false,
    },
];

/// Returns the section; `None` if no other generator measured beside ours.
pub(super) fn section(view: &View, results: &[&ResultRecord]) -> Option<Section> {
    let rivals = results.iter().filter(|result| {
        result
            .load()
            .is_some_and(|load| load.task.by != Generator::Antiphon)
    });
    let rows: Vec<Row> = rivals
        .filter_map(|rival| Some((*rival, beside(view, rival, results)?)))
        .flat_map(|(rival, ours)| {
            COMPARED
                .iter()
                .filter_map(move |of| row(view, rival, ours, of))
        })
        .collect();
    (!rows.is_empty()).then(|| Section {
        id: "load-rivals".into(),
        title: "Do other generators agree with ours?".into(),
        blocks: vec![Block::Table(verdict::table(
            "Other generators, as shares of ours",
            CAPTION,
            rows,
        ))],
    })
}

/// Returns our own generator's result of the same load on the same server, preferably in the
/// rival's group.
///
/// Rivals sleep during their waits, but this makes no different load: over many connections they
/// hardly ever sleep.
fn beside<'r>(
    view: &View,
    rival: &ResultRecord,
    results: &[&'r ResultRecord],
) -> Option<&'r ResultRecord> {
    let task = &rival.load()?.task;
    let is_same = |other: &&&ResultRecord| {
        let (own, of) = (&rival.identity, &other.identity);
        (&own.subject, &own.policy, &own.placement) == (&of.subject, &of.policy, &of.placement)
            && other.load().is_some_and(|load| {
                let ours = antiphon_lab::LoadTask {
                    by: task.by,
                    seconds: task.seconds,
                    sleeps: task.sleeps,
                    ..load.task.clone()
                };
                load.task.by == Generator::Antiphon && ours == *task
            })
    };
    let same: Vec<&ResultRecord> = results.iter().filter(is_same).copied().collect();
    let group = view.group_of(rival);
    let in_group = same.iter().find(|other| view.group_of(other) == group);
    in_group.or(same.first()).copied()
}

fn row(view: &View, rival: &ResultRecord, ours: &ResultRecord, of: &Compared) -> Option<Row> {
    let (rival_load, our_load) = (rival.load()?, ours.load()?);
    let share = rival_load.ratio(our_load, of.of)?;
    let fate = fate(rival_load, share, of);
    let word = rival_load.task.by.word();
    let mut words: Vec<String> = [rival_load, our_load]
        .iter()
        .filter(|load| is_disturbed(load))
        .map(|_| DISTURBED.to_owned())
        .collect();
    words.dedup();
    let percent = |share| number::quantity(Unit::Share, share);
    let reported = format!(
        "{} ({} to {}) with {}",
        percent(share.value),
        percent(share.low),
        percent(share.high),
        view.label(&ours.identity)
    );
    Some(verdict::row(
        &format!("{word} agrees on {}", of.title),
        format!(
            "{}: {} of what ours has",
            rival.identity.subject,
            AGREES.words()
        ),
        verdict::weakened(&[fate], &[words]),
        Some(reported),
    ))
}

fn fate(rival: &LoadOutcome, share: Interval, of: &Compared) -> Fate {
    let is_limited = of.is_rate && in_most_rounds(rival, LoadRound::generator_was_busy);
    match AGREES.fate(share) {
        Fate::Fails | Fate::Undecided if is_limited && share.value < 1.0 => Fate::Limited,
        fate => fate,
    }
}
