//! Agreement of two runs about languages.

mod unlike;

use super::arranged;
use super::typical::{InBoth, in_both};
use super::view::View;
use crate::document::{Block, Cell, Column, Document, Row, RowKind, Section, Table, Unit};
use crate::number;
use antiphon_lab::{Agreed, Agreement, Measured, RunRecord};
use antiphon_measure::Interval;

/// Kinds of measurement, with their names.
const KINDS: [(Measured, &str); 6] = [
    (Measured::InProcess, "in the subject's own processes"),
    (Measured::Waiting, "there, of operations that mostly wait"),
    (Measured::Unplaced, "there, on whatever processors"),
    (Measured::WithServer, "with a database server"),
    (Measured::Program, "whole programs"),
    (Measured::Load, "servers under load"),
];

/// The part of the ratios that must agree.
const PART: f64 = 0.9;

/// Differences between ratios of two runs, in order.
struct Differences(Vec<f64>);

impl Differences {
    fn of<'a>(all: impl Iterator<Item = &'a Agreement>) -> Differences {
        let mut differences: Vec<f64> = all.map(Agreement::difference).collect();
        differences.sort_by(f64::total_cmp);
        Differences(differences)
    }

    /// Returns the smallest difference that this part does not exceed; 0 without any.
    fn at(&self, part: f64) -> f64 {
        let index = (part * self.0.len() as f64).ceil() as usize;
        let found = self.0.get(index.max(1) - 1);
        found.copied().unwrap_or_default()
    }

    fn within(&self, threshold: f64) -> f64 {
        let within = self.0.iter().filter(|difference| **difference <= threshold);
        within.count() as f64 / (self.0.len() as f64).max(1.0)
    }
}

/// Checks that nine in ten ratios differ by at most the threshold.
///
/// Only ratios from the subjects' own processes count, or all ratios if there are none of these.
pub fn agrees(agreements: &[Agreement], threshold: f64) -> bool {
    let own = |of: &&Agreement| of.by == Measured::InProcess;
    let differences = match agreements.iter().any(|of| own(&of)) {
        true => Differences::of(agreements.iter().filter(own)),
        false => Differences::of(agreements.iter()),
    };
    differences.at(PART) <= threshold
}

/// Returns a summary sentence: the ratios that agree, those that agree only by their intervals, and
/// the others.
fn summary(agreements: &[Agreement], threshold: f64) -> String {
    let that = |wanted: Agreed| {
        agreements
            .iter()
            .filter(move |of| of.verdict(threshold) == wanted)
    };
    let not: Vec<String> = that(Agreed::Not)
        .map(|of| {
            format!(
                "{} ({})",
                label(of),
                number::quantity(Unit::Share, of.difference())
            )
        })
        .collect();
    let mut text = format!(
        "{} of {} ratios within {}, {} more within their intervals, {} neither",
        that(Agreed::Closely).count(),
        agreements.len(),
        percent(threshold),
        that(Agreed::WithinIntervals).count(),
        not.len(),
    );
    if !not.is_empty() {
        text.push_str(": ");
        text.push_str(&not.join(", "));
    }
    text.push('.');
    text
}

fn label(of: &Agreement) -> String {
    let identity = &of.identity;
    let argument = identity.arg.map(|argument| format!(" {argument}"));
    format!(
        "{}{} of {}",
        identity.test,
        argument.unwrap_or_default(),
        identity.subject
    )
}

/// Returns the agreement of subjects' typical ratios, in a sentence and a table, the farthest
/// first; nothing without any.
fn of_typical(typical: &[InBoth], threshold: f64, runs: (i64, i64)) -> Vec<Block> {
    if typical.is_empty() {
        return Vec::new();
    }
    let mut groups: Vec<&str> = typical.iter().map(|of| of.group.as_str()).collect();
    groups.dedup();
    let reported = |group: &&str| {
        let own = typical.iter().filter(|of| of.group == **group);
        let within = own.clone().filter(|of| of.difference() <= threshold);
        format!("{} of {} of {group}", within.count(), own.count())
    };
    let text = format!(
        "Typical ratios, of a subject over the operations of a group that both runs have here, within {}: {}.",
        percent(threshold),
        groups.iter().map(reported).collect::<Vec<_>>().join(", ")
    );
    let mut ordered: Vec<&InBoth> = typical.iter().collect();
    ordered.sort_by(|a, b| b.difference().total_cmp(&a.difference()));
    let number = |value, unit| Cell::Number { value, unit };
    let each = |of: &&InBoth| {
        let place = format!(
            "{} as a ratio to {} · {}",
            of.column.subject,
            of.base,
            of.column.conditions()
        );
        let cells = vec![
            number(of.ratios.0.value, Unit::Ratio),
            number(of.ratios.1.value, Unit::Ratio),
            number(of.difference(), Unit::Share),
        ];
        row(of.group.clone(), place, cells)
    };
    let table = Table {
        title: "Typical ratios, the farthest apart first".into(),
        caption: "Over the operations of a group: the median of the geometric means of any two of their ratios.".into(),
        corner: "Group".into(),
        columns: in_both_runs(runs).map(Column::titled).into(),
        rows: ordered.iter().map(each).collect(),
        folded: false,
    };
    vec![Block::Prose { text }, Block::Table(table)]
}

/// Returns the threshold as given, in per cent.
fn percent(threshold: f64) -> String {
    format!("{} %", (threshold * 1e4).round() / 100.0)
}

/// Composes the document: agreement by kind of measurement, then every ratio, the farthest first.
///
/// Operations are in the groups of the first run. If its suite cannot be read they are in none, and
/// the document says so.
pub fn compose_agreement(
    agreements: &[Agreement],
    threshold: f64,
    first: &RunRecord,
    second: i64,
) -> Document {
    let (layout, fault) = arranged(first);
    let view = View::new(first, &layout);
    let all = agreements.iter().cloned();
    let typical = in_both(&view, all.map(|of| (of.identity, of.base, of.ratios)));
    let mut document = document(agreements, &typical, threshold, (first.id, second));
    document.summary.extend(fault);
    document
}

fn document(
    agreements: &[Agreement],
    typical: &[InBoth],
    threshold: f64,
    runs: (i64, i64),
) -> Document {
    let by_kind = KINDS.iter().filter_map(|(kind, name)| {
        let of_kind = || agreements.iter().filter(|of| of.by == *kind);
        let differences = Differences::of(of_kind());
        let possible = of_kind()
            .filter(|of| of.ratios.0.overlaps(&of.ratios.1))
            .count();
        let shares = [
            differences.at(0.5),
            differences.at(PART),
            differences.at(1.0),
            differences.within(threshold),
            possible as f64 / (differences.0.len() as f64).max(1.0),
        ];
        let share = |value| Cell::Number {
            value,
            unit: Unit::Share,
        };
        let mut cells = vec![Cell::count(differences.0.len() as f64)];
        cells.extend(shares.map(share));
        (!differences.0.is_empty()).then(|| row((*name).to_owned(), String::new(), cells))
    });
    let mut ordered: Vec<&Agreement> = agreements.iter().collect();
    ordered.sort_by(|a, b| b.difference().total_cmp(&a.difference()));
    let ratio = |of: &Interval| Cell::Number {
        value: of.value,
        unit: Unit::Ratio,
    };
    let each = ordered.iter().map(|of| {
        let identity = &of.identity;
        let agreed = match of.verdict(threshold) {
            Agreed::Closely => format!("within {}", percent(threshold)),
            Agreed::WithinIntervals => "within the intervals".to_owned(),
            Agreed::Not => "no".to_owned(),
        };
        let place = format!(
            "as a ratio to {} · {}, {}",
            of.base, identity.policy, identity.placement
        );
        let difference = Cell::Number {
            value: of.difference(),
            unit: Unit::Share,
        };
        let cells = vec![
            ratio(&of.ratios.0),
            ratio(&of.ratios.1),
            difference,
            Cell::Text { text: agreed },
        ];
        row(label(of), place, cells)
    });
    let titles = ["Ratios", "half within", "nine in ten within", "all within"];
    let mut columns: Vec<Column> = titles.map(Column::titled).into();
    columns.push(Column::titled(format!("within {}", percent(threshold))));
    columns.push(Column::titled("intervals overlap"));
    let tables = [
        Table {
            title: "Differences of ratios, as parts of them".into(),
            caption: "Ratios of processor time an operation, of each subject to the first one in the same test and with the same database, or to its first variant where variants are compared.".into(),
            corner: "Measured".into(),
            columns,
            rows: by_kind.collect(),
            folded: false,
        },
        Table {
            title: "Every ratio, the farthest apart first".into(),
            corner: "Operation".into(),
            columns: in_both_runs(runs).into_iter().chain(["agrees".into()]).map(Column::titled).collect(),
            rows: each.collect(),
            ..Table::default()
        },
    ];
    let mut blocks = vec![Block::Prose {
        text: summary(agreements, threshold),
    }];
    blocks.extend(of_typical(typical, threshold, runs));
    let notes = unlike::notes(agreements, runs);
    blocks.extend((!notes.is_empty()).then_some(Block::Notes { notes }));
    blocks.extend(tables.map(Block::Table));
    Document {
        title: format!(
            "Do runs {} and {} agree in what they say of languages?",
            runs.0, runs.1
        ),
        sections: vec![Section {
            id: "agreement".into(),
            title: "Processor time an operation, as ratios between subjects".into(),
            blocks,
        }],
        ..Document::default()
    }
}

/// Returns the headings of a ratio in the one run, in the other, and of their difference.
fn in_both_runs(runs: (i64, i64)) -> [String; 3] {
    [
        format!("run {}", runs.0),
        format!("run {}", runs.1),
        "difference".to_owned(),
    ]
}

fn row(label: String, place: String, cells: Vec<Cell>) -> Row {
    Row {
        label,
        place,
        kind: RowKind::Measured,
        subject: None,
        cells,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Note, Weight};
    use antiphon_lab::{Apart, SlicesDiffer, WaitsDiffer};

    fn exactly(value: f64) -> Interval {
        Interval {
            value,
            low: value,
            high: value,
        }
    }

    fn agreements(by: Measured, differences: &[f64]) -> Vec<Agreement> {
        let agreement = |difference: &f64| Agreement {
            identity: antiphon_lab::Identity {
                test: "t".into(),
                arg: None,
                subject: "s/v".into(),
                policy: "other".into(),
                placement: "same".into(),
            },
            base: "b/v".into(),
            by,
            ratios: (exactly(2.0), exactly(2.0 * (1.0 - difference))),
            slices: Vec::new(),
            awake: (true, true),
            ordinary: (false, false),
            polled: (false, false),
            moved: None,
            waited: None,
        };
        differences.iter().map(agreement).collect()
    }

    #[test]
    fn nine_in_ten_decide() {
        let nine = [0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.025];
        let of = |last: &[f64]| agreements(Measured::InProcess, &[&nine[..], last].concat());
        assert!(agrees(&of(&[0.5]), 0.03));
        assert!(!agrees(&of(&[0.5]), 0.02));
        assert!(!agrees(&of(&[0.5, 0.5]), 0.03));
    }

    #[test]
    fn each_ratio_has_a_verdict_and_all_have_a_sentence() {
        let mut all = agreements(Measured::InProcess, &[0.0, 0.029, 0.04, 0.5]);
        // The third may equal the other run's ratio, by its own interval; the last may not.
        all[2].ratios.0.low = 1.5;
        let verdicts: Vec<Agreed> = all.iter().map(|of| of.verdict(0.03)).collect();
        let expected = [
            Agreed::Closely,
            Agreed::Closely,
            Agreed::WithinIntervals,
            Agreed::Not,
        ];
        assert_eq!(verdicts, expected);
        let plain = |text: String| text.replace('\u{202f}', " ");
        let said = plain(summary(&all, 0.03));
        assert_eq!(
            said,
            "2 of 4 ratios within 3 %, 1 more within their intervals, 1 neither: t of s/v (50.0 %)."
        );
        let said = plain(summary(&all[..3], 0.05));
        assert_eq!(
            said,
            "3 of 3 ratios within 5 %, 0 more within their intervals, 0 neither."
        );
    }

    #[test]
    fn the_document_tells_of_every_ratio_how_it_agrees() {
        let all = agreements(Measured::InProcess, &[0.01, 0.5]);
        let document = document(&all, &[], 0.03, (1, 2));
        let blocks = &document.sections[0].blocks;
        assert!(matches!(&blocks[0], Block::Prose { text } if *text == summary(&all, 0.03)));
        let Block::Table(each) = &blocks[2] else {
            panic!("{blocks:?}")
        };
        let last = |row: &Row| row.cells.last().cloned();
        let reported: Vec<_> = each.rows.iter().map(last).collect();
        let text = |text: String| Some(Cell::Text { text });
        assert_eq!(
            reported,
            [text("no".into()), text(format!("within {}", percent(0.03)))]
        );
        assert_eq!(each.columns.len(), each.rows[0].cells.len());
    }

    /// Returns the notes about runs 11 and 12.
    fn notes(all: &[Agreement]) -> Vec<Note> {
        let document = document(all, &[], 0.03, (11, 12));
        let blocks = document.sections.into_iter().flat_map(|of| of.blocks);
        let notes = blocks.filter_map(|block| match block {
            Block::Notes { notes } => Some(notes),
            _ => None,
        });
        notes.flatten().collect()
    }

    /// Returns the single note about two ratios among three that differ in something.
    fn noted(differ: impl Fn(&mut Agreement)) -> Note {
        let mut all = agreements(Measured::WithServer, &[0.01, 0.5, 0.5]);
        assert_eq!(notes(&all), []);
        all[1..].iter_mut().for_each(differ);
        let mut said = notes(&all);
        assert_eq!(said.len(), 1, "{said:?}");
        said.remove(0)
    }

    #[test]
    fn processors_that_slept_in_one_run_are_told_of_once() {
        let note = noted(|of| of.awake = (false, true));
        let which = "kept awake while turns waited in run 12, and not in run 11";
        assert!(note.text.contains(which), "{}", note.text);
    }

    #[test]
    fn a_generator_that_polled_in_one_run_is_told_of_once() {
        let note = noted(|of| of.polled = (false, true));
        let which = "polled while it waited in run 12, and slept in run 11";
        assert!(note.text.contains(which), "{}", note.text);
    }

    #[test]
    fn a_subject_whose_turns_were_ordinary_in_one_run_is_named_once() {
        let note = noted(|of| of.ordinary = (false, true));
        let subject = &agreements(Measured::WithServer, &[0.01])[0]
            .identity
            .subject;
        assert_eq!(note.about, *subject);
        let reported = |what: &str| assert!(note.text.contains(what), "{}", note.text);
        reported("ordinary in run 12");
        reported("in real time in run 11");
    }

    #[test]
    fn processors_that_were_farther_apart_in_one_run_are_told_of_once() {
        let moved = Apart::of([120.0]).zip(Apart::of([330.0]));
        let note = noted(|of| of.moved = moved);
        let reported = |what: &str| {
            let text = note.text.replace('\u{202f}', " ");
            assert!(text.contains(what), "{text}");
        };
        reported("2 ratios: the processors");
        reported("120 ns there and back in run 11, and 330 ns in run 12");
    }

    #[test]
    fn servers_that_were_woken_in_one_run_are_told_of_once() {
        let waited = WaitsDiffer {
            subject: "s/v".into(),
            a_request: (0.02, 0.98),
        };
        let note = noted(|of| of.waited = Some(waited.clone()));
        let reported = |what: &str| assert!(note.text.contains(what), "{}", note.text);
        reported("2 ratios: the threads of a server waited");
        reported("s/v under `t`, with 0.020 in run 11 and 0.98 in run 12");
    }

    #[test]
    fn a_subject_whose_slices_were_longer_in_one_run_is_named_once() {
        let note = noted(|of| {
            of.slices.push(SlicesDiffer {
                subject: "js/v".into(),
                slice_ms: (None, Some(64)),
            });
        });
        assert_eq!(
            (note.weight, note.about.as_str()),
            (Weight::Warning, "js/v")
        );
        let lengths = "were as short as in most subjects in run 11, and of 64 ms in run 12";
        assert!(note.text.contains(lengths), "{}", note.text);
    }

    #[test]
    fn servers_decide_only_where_nothing_else_was_measured() {
        let mut all = agreements(Measured::WithServer, &[0.5]);
        assert!(!agrees(&all, 0.03));
        all.extend(agreements(Measured::InProcess, &[0.01]));
        assert!(agrees(&all, 0.03));
    }
}
