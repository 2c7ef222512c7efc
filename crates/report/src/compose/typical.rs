//! Costs of subjects against their bases, over a whole group of operations.

mod operations;

use super::cold;
use super::view::{RunColumn, View};
use crate::document::{Block, Cell, Column, Fact, Figure, Row, RowKind, Section, Table, Unit};
use crate::number;
use antiphon_lab::suite::Compare;
use antiphon_lab::{Compared, Identity, ResultRecord, compared, typical};
use antiphon_measure::Interval;

/// Fewer ratios have nothing in common that one of them does not say.
const LEAST: usize = 3;

const PROSE: &str = "How many times the processor time of the first subject (over the same database, where there is one; in some suites of the first variant of the same subject) a subject needs over a group of operations: the median of \
                     the geometric means of any two of their ratios (Hodges and Lehmann, of logarithms), with limits that follow from theirs. One operation that is unlike the others \
                     draws it little, so two runs agree in it more closely than in single ratios.";

/// A column: a group of operations under one policy and placement.
#[derive(Clone, Debug, PartialEq)]
struct Place {
    group: usize,
    policy: String,
    placement: String,
}

impl Place {
    fn of(view: &View, identity: &Identity) -> Option<Self> {
        Some(Place {
            group: view.group_of_test(&identity.test)?,
            policy: identity.policy.clone(),
            placement: identity.placement.clone(),
        })
    }
}

/// Collected values of a subject in a group of operations.
#[derive(Clone, Debug, PartialEq)]
struct Over<T> {
    place: Place,
    subject: String,
    base: String,
    /// Value of each operation.
    each: Vec<(Identity, T)>,
}

/// Collects the values of the same subject, against the same base, in the same group. Groups of few
/// operations are left out.
fn over<T>(view: &View, all: impl IntoIterator<Item = (Identity, String, T)>) -> Vec<Over<T>> {
    let mut found: Vec<Over<T>> = Vec::new();
    for (identity, base, said) in all {
        let Some(place) = Place::of(view, &identity) else {
            continue;
        };
        let same = |of: &&mut Over<T>| {
            of.place == place && of.subject == identity.subject && of.base == base
        };
        match found.iter_mut().find(same) {
            Some(of) => of.each.push((identity, said)),
            None => found.push(Over {
                place,
                subject: identity.subject.clone(),
                base,
                each: vec![(identity, said)],
            }),
        }
    }
    found.retain(|of| of.each.len() >= LEAST);
    found.sort_by_key(|of| of.place.group);
    found
}

/// Returns the section; `None` without any ratio.
pub fn section(view: &View) -> Option<Section> {
    let single = compared(view.run);
    let reported = |of: &Compared| (of.identity.clone(), of.base.clone(), of.ratio);
    let all = over(view, single.iter().map(reported));
    let mut tables: Vec<Table> = table(view, &all).into_iter().collect();
    if view.layout.compare == Compare::Variants && !single.is_empty() {
        tables.push(operations::table(view, &single));
    }
    if tables.is_empty() {
        return None;
    }
    let prose = Block::Prose { text: PROSE.into() };
    let tables = tables.into_iter().map(Block::Table);
    Some(Section {
        id: "typical".into(),
        title: "Processor time on the whole".into(),
        blocks: std::iter::once(prose).chain(tables).collect(),
    })
}

/// Returns the table of groups; `None` if no group has enough ratios.
fn table(view: &View, all: &[Over<Interval>]) -> Option<Table> {
    let mut places: Vec<&Place> = Vec::new();
    for of in all {
        if !places.contains(&&of.place) {
            places.push(&of.place);
        }
    }
    (!places.is_empty()).then(|| Table {
        title: "Typical ratios of processor time".into(),
        caption: "Where a database’s server has a part, it is included. The evidence of a figure names the least and the largest ratio of its operations.".into(),
        corner: "Subject".into(),
        columns: places.iter().map(|place| heading(view, place)).collect(),
        rows: rows(view, all, &places),
        folded: false,
    })
}

fn heading(view: &View, place: &Place) -> Column {
    Column {
        title: view.layout.groups[place.group].title.clone(),
        subtitle: format!("{}, {}", place.policy, place.placement),
        ..Column::default()
    }
}

/// Returns each subject with its base, in order of colour.
fn pairs<'p>(
    view: &View,
    all: impl Iterator<Item = (&'p str, &'p str)>,
) -> Vec<(&'p str, &'p str)> {
    let mut pairs = Vec::new();
    for pair in all {
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    pairs.sort_by_key(|(subject, _)| view.colour(subject));
    pairs
}

/// Returns a row for each subject and its base.
fn rows(view: &View, all: &[Over<Interval>], places: &[&Place]) -> Vec<Row> {
    let pairs = pairs(view, all.iter().map(|of| (&*of.subject, &*of.base)));
    let row = |(subject, base): (&str, &str)| {
        let find = |place: &&Place| {
            let fits = |of: &&Over<Interval>| {
                of.place == **place && (of.subject.as_str(), of.base.as_str()) == (subject, base)
            };
            all.iter().find(fits)
        };
        let cell = |place| find(place).map_or(Cell::Empty, |of| cell(view, of));
        self::row(view, subject, base, places.iter().map(cell).collect())
    };
    pairs.into_iter().map(row).collect()
}

/// Returns a row of a subject's costs against another's.
fn row(view: &View, subject: &str, base: &str, cells: Vec<Cell>) -> Row {
    Row {
        label: subject.to_owned(),
        place: format!("as a ratio to {base}"),
        kind: RowKind::Derived,
        subject: view.colour(subject),
        cells,
    }
}

fn cell(view: &View, of: &Over<Interval>) -> Cell {
    let ratios: Vec<Interval> = of.each.iter().map(|(_, ratio)| *ratio).collect();
    let Some(common) = typical(&ratios) else {
        return Cell::Empty;
    };
    let mut ordered: Vec<&(Identity, Interval)> = of.each.iter().collect();
    ordered.sort_by(|a, b| a.1.value.total_cmp(&b.1.value));
    let reported = |of: &&(Identity, Interval)| {
        format!(
            "{} ({})",
            number::quantity(Unit::Ratio, of.1.value),
            view.label(&of.0)
        )
    };
    let mut figure = Figure::resolved(common, Unit::Ratio);
    figure.detail = vec![Fact::new("Operations", number::count(of.each.len() as u64))];
    let cold = of
        .each
        .iter()
        .filter(|(of_each, _)| is_cold(view, of_each, &of.base));
    let cold = cold.count();
    figure.marks.extend(cold::mark(cold > 0));
    if cold > 0 {
        let text = format!("in {} of these", number::count(cold as u64));
        figure.detail.push(Fact::new("A side was not warm", text));
    }
    figure.detail.extend(
        ordered
            .first()
            .map(|of| Fact::new("The least ratio", reported(of))),
    );
    figure.detail.extend(
        ordered
            .last()
            .map(|of| Fact::new("The largest ratio", reported(of))),
    );
    Cell::Figure(Box::new(figure))
}

/// Returns the results of a ratio's two sides.
fn sides<'v>(view: &View<'v>, of: &Identity, base: &str) -> impl Iterator<Item = &'v ResultRecord> {
    view.of_test(&of.test).filter(move |result| {
        let other = &result.identity;
        of.is_beside(other) && [of.subject.as_str(), base].contains(&other.subject.as_str())
    })
}

/// Checks whether a side of a ratio was not warm.
fn is_cold(view: &View, of: &Identity, base: &str) -> bool {
    let is_cold = |result| cold::is_subject_cold(result) || cold::is_server_cold(view, result);
    sides(view, of, base).any(is_cold)
}

/// A typical ratio in two runs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct InBoth {
    /// The group's title.
    pub group: String,
    /// Subject, policy and placement.
    pub column: RunColumn,
    /// The subject that it is compared with.
    pub base: String,
    /// Ratios in the one run and in the other, over the same operations.
    pub ratios: (Interval, Interval),
}

impl InBoth {
    /// Returns the distance of the second from the first, as a fraction of it.
    pub fn difference(&self) -> f64 {
        (self.ratios.1.value / self.ratios.0.value - 1.0).abs()
    }
}

/// Returns the typical ratios that two runs have, arranged as the first is.
pub(super) fn in_both(
    view: &View,
    all: impl IntoIterator<Item = (Identity, String, (Interval, Interval))>,
) -> Vec<InBoth> {
    let both = |of: Over<(Interval, Interval)>| {
        let (first, second): (Vec<Interval>, Vec<Interval>) =
            of.each.iter().map(|(_, both)| *both).unzip();
        Some(InBoth {
            group: view.layout.groups[of.place.group].title.clone(),
            column: RunColumn {
                subject: of.subject,
                policy: of.place.policy,
                placement: of.place.placement,
            },
            base: of.base,
            ratios: (typical(&first)?, typical(&second)?),
        })
    };
    over(view, all).into_iter().filter_map(both).collect()
}
