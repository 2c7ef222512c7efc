//! Headlines: what a run found, in at most five sentences a suite.
//!
//! A suite names the rows, curves and claims. The largest differences come first, then the claims
//! of others, and at the end what this run cannot tell.

use super::figure;
use super::published::with_floor;
use super::slope::slope;
use super::verdict::{Fate, Judged};
use super::view::{RunColumn, View, fatal};
use super::{load, models, processor_time, programs, results_of, savings, slug};
use crate::document::{
    Axis, AxisUnit, Bar, Drawn, Guide, Headline, Headlines, Mark, Measured, Picture, Place, Plot,
    Point, Series, Standing, Told, Unit,
};
use crate::number;
use antiphon_lab::suite::Headline as Asked;
use antiphon_lab::suite::{Basis, ClaimSets, HeadlineQuantity, HeadlineRow, ServerQuantity, fill};
use antiphon_lab::{HeldAfter, LoadRound, Outcome, ResultRecord};
use antiphon_measure::{Interval, RunFigure, run_figure, run_ratio};

/// Most sentences of a suite.
const MOST: usize = 5;

/// Returns the headlines of a run; `None` if its suite has none.
pub fn of_run(view: &View, title: &str) -> Option<Headlines> {
    let asked = &view.layout.headlines;
    let answers: Vec<Answer> = asked
        .iter()
        .filter_map(|asked| answer(view, asked))
        .collect();
    (!answers.is_empty()).then(|| Headlines {
        title: title.into(),
        section: String::new(),
        sentences: chosen(answers),
    })
}

/// Returns the picture of a suite: how many times one figure of each sentence is the other. `None`
/// with fewer than two of them.
pub fn picture(found: &Headlines) -> Option<Plot> {
    let factors: Vec<(String, Measured)> = found.sentences.iter().filter_map(factor_of).collect();
    let values = || factors.iter().map(|(_, factor)| factor.value);
    let (least, most) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
    let point = |(index, (_, factor)): (usize, &(String, Measured))| Point {
        x: factor.value,
        y: index as f64,
        interval: factor.limits(),
        text: match factor.limits() {
            Some((low, high)) => format!("{} times", number::factors(low, high)),
            None => "no interval: one round alone".into(),
        },
    };
    (factors.len() > 1).then(|| Plot {
        title: format!("{}: how many times", found.title),
        description: format!(
            "{} with their intervals, from {} to {} times. The findings have the same numbers.",
            number::counted(factors.len(), "ratio"),
            number::factor(least),
            number::factor(most)
        ),
        caption: String::new(),
        categories: factors.iter().map(|(about, _)| about.clone()).collect(),
        x: Axis {
            title: "Times the other".into(),
            unit: AxisUnit::Ratio,
            // All are above 1, where the axis begins.
            log: most >= 10.0,
        },
        y: Axis {
            title: String::new(),
            unit: AxisUnit::Count,
            log: false,
        },
        series: vec![Series {
            name: "ratio".into(),
            subject: Some(0),
            shape: 0,
            drawn: Drawn::Points,
            points: factors.iter().enumerate().map(point).collect(),
        }],
        guides: vec![Guide::Vertical {
            at: 1.0,
            text: "equal".into(),
        }],
    })
}

/// Returns what a sentence compares, the larger first, with its factor; `None` of curves and claims.
fn factor_of(one: &Headline) -> Option<(String, Measured)> {
    let factor = one.number.filter(|number| number.unit == Unit::Ratio)?;
    let Some(Picture::Bars { bars }) = &one.picture else {
        return None;
    };
    let [of, against] = &bars[..] else {
        return None;
    };
    let (more, less) = match of.figure.value < against.figure.value {
        true => (against, of),
        false => (of, against),
    };
    let Measured {
        value, low, high, ..
    } = factor;
    let factor = match inverse(Interval { value, low, high }) {
        turned if value < 1.0 => Measured::of(turned, Unit::Ratio),
        _ => factor,
    };
    (one.told == Told::Found).then(|| (format!("{} ÷ {}", more.label, less.label), factor))
}

/// An answer of a run to what a suite asks.
enum Answer {
    /// A sentence, with the factor by which its figures differ.
    Found(Headline, f64),
    /// Claims of others.
    Claims(Headline),
    /// The intervals leave it open.
    Open(Headline),
    /// Something without a figure, with the reason.
    Missing(String, String),
}

/// Returns the sentences to show: the largest differences first, and one about all that is open.
fn chosen(answers: Vec<Answer>) -> Vec<Headline> {
    let (mut found, mut claims) = (Vec::new(), Vec::new());
    let (mut open, mut missing) = (Vec::new(), Vec::new());
    for answer in answers {
        match answer {
            Answer::Found(headline, factor) => found.push((factor, headline)),
            Answer::Claims(headline) => claims.push(headline),
            Answer::Open(headline) => open.push(headline),
            Answer::Missing(about, why) => missing.push((about, why)),
        }
    }
    found.sort_by(|a, b| size(b.0).total_cmp(&size(a.0)));
    let last = untold(open, &missing);
    let rest = MOST - usize::from(last.is_some());
    claims.truncate(rest);
    found.truncate(rest - claims.len());
    let found = found.into_iter().map(|(_, headline)| headline);
    found.chain(claims).chain(last).collect()
}

/// Returns the size of a factor: as large for a half as for twice.
fn size(factor: f64) -> f64 {
    factor.ln().abs()
}

/// Returns one sentence about everything that the run does not tell; `None` if it tells all.
fn untold(mut open: Vec<Headline>, missing: &[(String, String)]) -> Option<Headline> {
    if let ([_], []) = (&open[..], missing) {
        return open.pop();
    }
    let mut sentences = Vec::new();
    if !open.is_empty() {
        let about: Vec<&str> = open.iter().map(|one| one.about.as_str()).collect();
        sentences.push(format!("This run cannot tell {}.", listed(&about)));
    }
    if let Some((_, why)) = missing.first() {
        let about: Vec<&str> = missing.iter().map(|(about, _)| about.as_str()).collect();
        let only = if missing.len() > 1 { "the first: " } else { "" };
        let about = listed(&about);
        sentences.push(format!("This run has no figure for {about} ({only}{why})."));
    }
    (!sentences.is_empty()).then(|| Headline {
        text: sentences.join(" "),
        about: "What this run cannot tell".into(),
        told: Told::Nothing,
        number: None,
        marks: Vec::new(),
        picture: None,
        stands_on: open.into_iter().find_map(|one| one.stands_on),
    })
}

/// Most things that one sentence names.
const NAMED: usize = 3;

/// Joins what a run does not tell.
fn listed(all: &[&str]) -> String {
    match all {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] if all.len() <= NAMED => format!("{}, nor {last}", first.join(", ")),
        _ => {
            let more = all.len() - NAMED;
            format!("{}, nor {more} more", all[..NAMED].join(", "))
        }
    }
}

/// Returns the answer of a run; `None` if none of the subjects was asked for.
fn answer(view: &View, asked: &Asked) -> Option<Answer> {
    match &asked.basis {
        Basis::Ratio {
            quantity,
            of,
            against,
            less,
        } => Some(ratio(
            view,
            asked,
            *quantity,
            (of, against),
            less.as_deref(),
        )),
        Basis::Curve {
            quantity,
            of,
            numbers,
        } => Some(curve(view, asked, *quantity, of, numbers)),
        Basis::Claims { of, ids } => claims(view, asked, *of, ids),
    }
}

// --- Two rows ------------------------------------------------------------------------------------

fn ratio(
    view: &View,
    asked: &Asked,
    quantity: HeadlineQuantity,
    (of, against): (&HeadlineRow, &HeadlineRow),
    less: Option<&str>,
) -> Answer {
    let about = format!("{} from {}", of.label, against.label);
    let figure_of = |row: &HeadlineRow| Row::find(view, row, row.alone(), quantity);
    let (ours, theirs) = match (figure_of(of), figure_of(against)) {
        (Ok(ours), Ok(theirs)) => (ours, theirs),
        (Err(why), _) | (_, Err(why)) => {
            let about = format!("{} against {}", of.label, against.label);
            return Answer::Missing(about, why);
        }
    };
    let Some(factor) = ours.over(&theirs, quantity) else {
        return Answer::Missing(about, "one of the two may be nothing".into());
    };
    let unit = unit(quantity);
    let bars = [(of, &ours), (against, &theirs)].map(|(row, figure)| Bar {
        label: row.label.clone(),
        figure: Measured::of(figure.figure, unit),
        subject: view.colour(&row.subject),
    });
    let mut headline = Headline {
        text: String::new(),
        about,
        told: Told::Found,
        number: Some(Measured::of(factor, Unit::Ratio)),
        marks: marks([&ours, &theirs]),
        picture: Some(Picture::Bars { bars: bars.into() }),
        stands_on: place(view, ours.result),
    };
    let values = [ours.figure, theirs.figure].map(|of| number::quantity(unit, of.value));
    let [our_value, their_value] = values;
    if factor.limits().is_some() && factor.contains(1.0) {
        headline.text = format!(
            "This run cannot tell {}: {our_value} against {their_value}, {} times.",
            headline.about,
            number::factors(factor.low, factor.high)
        );
        headline.told = Told::Nothing;
        return Answer::Open(headline);
    }
    let (template, shown) = match less.filter(|_| factor.value < 1.0) {
        Some(less) => (less, inverse(factor)),
        None => (asked.text.as_str(), factor),
    };
    headline.number = Some(Measured::of(shown, Unit::Ratio));
    let values = [
        (
            "ratio",
            number::factor_within(shown.value, shown.low, shown.high),
        ),
        ("of", our_value),
        ("against", their_value),
    ];
    headline.text = sentence(template, values);
    Answer::Found(headline, factor.value)
}

fn inverse(factor: Interval) -> Interval {
    match factor.limits() {
        Some((low, high)) => Interval {
            value: 1.0 / factor.value,
            low: 1.0 / high,
            high: 1.0 / low,
        },
        None => Interval::open(1.0 / factor.value),
    }
}

/// Fills a template, and ends it as a sentence.
fn sentence<const N: usize>(template: &str, values: [(&str, String); N]) -> String {
    let values = values.map(|(name, value)| (name.to_owned(), value));
    let text = fill(template, &values);
    match text.ends_with(['.', '!', '?']) {
        true => text,
        false => format!("{text}."),
    }
}

fn unit(quantity: HeadlineQuantity) -> Unit {
    match quantity {
        HeadlineQuantity::Requests => Unit::PerSecond,
        HeadlineQuantity::Memory => Unit::Bytes,
        _ => Unit::Nanoseconds,
    }
}

/// Returns the weaknesses of the figures, each once.
fn marks<'r>(rows: impl IntoIterator<Item = &'r Row<'r>>) -> Vec<Mark> {
    let mut all: Vec<Mark> = Vec::new();
    for mark in rows.into_iter().flat_map(|row| &row.marks) {
        if !all.contains(mark) {
            all.push(mark.clone());
        }
    }
    all
}

/// Returns the table of a result's group.
fn place(view: &View, result: &ResultRecord) -> Option<Place> {
    let group = view.layout.groups.get(view.group_of(result)?)?;
    Some(Place {
        section: format!("group-{}", slug(&group.id)),
        row: view.label(&result.identity),
    })
}

// --- Figures -------------------------------------------------------------------------------------

/// A figure of a headline.
struct Row<'a> {
    result: &'a ResultRecord,
    figure: Interval,
    marks: Vec<Mark>,
}

impl<'a> Row<'a> {
    /// Finds the figure of a row, or the reason why there is none.
    fn find(
        view: &View<'a>,
        row: &HeadlineRow,
        (test, arg): (String, Option<u64>),
        quantity: HeadlineQuantity,
    ) -> Result<Row<'a>, String> {
        let under = |policy: &str| {
            let column = RunColumn {
                subject: row.subject.clone(),
                policy: policy.to_owned(),
                placement: row.run.placement.clone(),
            };
            let fits = |result: &&ResultRecord| {
                column.is_of(&result.identity) && (arg.is_none() || result.identity.arg == arg)
            };
            view.of_test(&test).find(fits)
        };
        // Without permission for FIFO, its rows are measured under `other`.
        let found = under(&row.run.policy).or_else(|| under("other"));
        let result = found.ok_or_else(|| format!("{test} of {} was not measured", row.subject))?;
        Ok(Row {
            result,
            figure: value(result, quantity)?,
            marks: weaknesses(view, result),
        })
    }

    /// Returns this figure as a multiple of another.
    fn over(&self, other: &Row, quantity: HeadlineQuantity) -> Option<Interval> {
        let (ours, theirs) = (self.result, other.result);
        let costs = || Some((ours.costs.as_ref()?, theirs.costs.as_ref()?));
        match (&ours.outcome, &theirs.outcome) {
            (Outcome::Program { .. }, Outcome::Program { .. }) => {
                let runs = (programs::runs(ours), programs::runs(theirs));
                let in_turns = run_ratio(runs.0, runs.1, &run_figure_of(quantity));
                in_turns.or_else(|| self.figure.over(&other.figure))
            }
            (Outcome::Load(load), Outcome::Load(to)) => load::ratio(of_server(quantity)?, load, to),
            _ => match quantity {
                HeadlineQuantity::Cpu => {
                    let (ours, theirs) = costs()?;
                    ours.ratio(theirs, processor_time::of_subject)
                }
                HeadlineQuantity::BothCpu => {
                    let (ours, theirs) = costs()?;
                    ours.ratio(theirs, processor_time::of_both)
                }
                _ => self.figure.over(&other.figure),
            },
        }
    }
}

/// Returns the figure of a result, or the reason why there is none.
fn value(result: &ResultRecord, quantity: HeadlineQuantity) -> Result<Interval, String> {
    let costs = result.costs.as_ref();
    let found = match (&result.outcome, quantity) {
        (Outcome::Absent { reason, .. }, _) => return Err(reason.clone()),
        (Outcome::Frame(estimate), HeadlineQuantity::Time) => {
            if let Some(why) = fatal(estimate) {
                return Err(format!("its figure is withheld: {why}"));
            }
            if figure::standing(result, estimate) == Standing::LikeControl {
                return Err("its cost is not distinguishable from nothing".into());
            }
            result.time()
        }
        (Outcome::Frame(_), HeadlineQuantity::Cpu) => {
            costs.and_then(|costs| costs.median(processor_time::of_subject))
        }
        (Outcome::Frame(_), HeadlineQuantity::BothCpu) => {
            costs.and_then(|costs| costs.median(processor_time::of_both))
        }
        (Outcome::Frame(_), HeadlineQuantity::Memory) => {
            let held = |held: &HeldAfter| Some(held.subject.pss_bytes);
            costs.and_then(|costs| costs.memory(held))
        }
        (Outcome::Load(load), HeadlineQuantity::Cpu) => load.median(LoadRound::cpu_ns),
        (Outcome::Load(load), HeadlineQuantity::Requests) => load.median(|round| round.per_second),
        (Outcome::Load(load), HeadlineQuantity::P99) => load.latencies().p99,
        (Outcome::Load(load), HeadlineQuantity::Memory) => load.memory(),
        (Outcome::Program { .. }, _) => {
            run_figure(programs::runs(result), &run_figure_of(quantity))
        }
        _ => None,
    };
    found.ok_or_else(|| format!("its `{}` was not measured", quantity.word()))
}

fn run_figure_of(quantity: HeadlineQuantity) -> RunFigure {
    match quantity {
        HeadlineQuantity::TimePerOperation => RunFigure::TimePerOperation,
        _ => RunFigure::Time,
    }
}

fn of_server(quantity: HeadlineQuantity) -> Option<ServerQuantity> {
    match quantity {
        HeadlineQuantity::Cpu => Some(ServerQuantity::Cpu),
        HeadlineQuantity::Requests => Some(ServerQuantity::Requests),
        HeadlineQuantity::P99 => Some(ServerQuantity::P99),
        HeadlineQuantity::Memory => Some(ServerQuantity::Memory),
        HeadlineQuantity::Time | HeadlineQuantity::TimePerOperation | HeadlineQuantity::BothCpu => {
            None
        }
    }
}

/// Returns the marks of a result's figure that a reader of its table sees.
fn weaknesses(view: &View, result: &ResultRecord) -> Vec<Mark> {
    match &result.outcome {
        Outcome::Frame(estimate) => figure::figure(result, estimate).marks,
        Outcome::Load(_) => {
            let beside = results_of(view, view.group_of(result));
            load::marks(view, result, &beside)
        }
        _ => processor_time::mark(result).into_iter().collect(),
    }
}

// --- Curves --------------------------------------------------------------------------------------

fn curve(
    view: &View,
    asked: &Asked,
    quantity: HeadlineQuantity,
    of: &HeadlineRow,
    numbers: &[u64],
) -> Answer {
    let mut why = String::new();
    let mut rows: Vec<(u64, Row)> = Vec::new();
    for number in numbers {
        match Row::find(view, of, of.at(*number), quantity) {
            Ok(row) => rows.push((*number, row)),
            Err(reason) if why.is_empty() => why = reason,
            Err(_) => {}
        }
    }
    let (Some((from, first)), Some((to, last))) = (rows.first(), rows.last()) else {
        return Answer::Missing(of.label.clone(), why);
    };
    if from == to {
        return Answer::Missing(of.label.clone(), "one number alone was measured".into());
    }
    let unit = unit(quantity);
    let points: Vec<(f64, Interval)> = rows
        .iter()
        .map(|(number, row)| (*number as f64, of_line(row)))
        .collect();
    let slope = line(&points);
    let growth = last.figure.value / first.figure.value;
    let bounds: Vec<(f64, Measured)> = rows
        .iter()
        .map(|(number, row)| (*number as f64, Measured::of(row.figure, unit)))
        .collect();
    let mut headline = Headline {
        text: String::new(),
        about: format!("how {} grows", of.label),
        told: Told::Found,
        number: slope.map(|slope| Measured::of(slope, unit)),
        marks: marks(rows.iter().map(|(_, row)| row)),
        picture: Some(Picture::Curve { points: bounds }),
        stands_on: place(view, first.result),
    };
    let shown = |of: &Row| number::quantity(unit, of.figure.value);
    let is_open = slope.is_none_or(|slope| slope.limits().is_some() && slope.contains(0.0));
    if is_open || growth.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
        headline.text = format!(
            "This run cannot tell {}: {} with {}, {} with {}.",
            headline.about,
            shown(first),
            number::count(*from),
            shown(last),
            number::count(*to)
        );
        headline.told = Told::Nothing;
        return Answer::Open(headline);
    }
    let slope = slope.map_or(f64::NAN, |slope| slope.value);
    let values = [
        ("slope", number::quantity(unit, slope)),
        ("growth", number::factor(growth)),
        ("first", shown(first)),
        ("last", shown(last)),
        ("from", number::count(*from)),
        ("to", number::count(*to)),
    ];
    headline.text = sentence(&asked.text, values);
    Answer::Found(headline, growth)
}

/// Returns the figure for a line through costs of different loops.
fn of_line(row: &Row) -> Interval {
    match (&row.result.outcome, row.figure.limits()) {
        (Outcome::Frame(_), Some(_)) => with_floor(row.figure),
        _ => row.figure,
    }
}

/// Returns the slope; without limits if a figure has none.
fn line(points: &[(f64, Interval)]) -> Option<Interval> {
    if points.iter().all(|(_, figure)| figure.limits().is_some()) {
        return slope(points);
    }
    let exact = |(number, figure): &(f64, Interval)| {
        let (value, low, high) = (figure.value, figure.value, figure.value);
        (*number, Interval { value, low, high })
    };
    let exact: Vec<(f64, Interval)> = points.iter().map(exact).collect();
    slope(&exact).map(|slope| Interval::open(slope.value))
}

// --- Claims --------------------------------------------------------------------------------------

/// Returns how many claims hold; `None` if none can be tried.
fn claims(view: &View, asked: &Asked, of: ClaimSets, ids: &[String]) -> Option<Answer> {
    let all = match of {
        ClaimSets::Models => models::judged(view),
        ClaimSets::Savings => savings::judged(view),
        ClaimSets::Servers => load::judged_of_servers(view),
        ClaimSets::Findings => processor_time::judged(view),
    };
    let is_asked = |(id, _): &(String, Judged)| ids.is_empty() || ids.contains(id);
    let all: Vec<Judged> = all
        .into_iter()
        .filter(is_asked)
        .map(|(_, one)| one)
        .collect();
    let first = all.first()?;
    let count = |fate| all.iter().filter(|one| one.fate == fate).count();
    let (hold, fail) = (count(Fate::Holds), count(Fate::Fails));
    let open = all.len() - hold - fail;
    let values = [
        ("hold", hold.to_string()),
        ("fail", fail.to_string()),
        ("open", open.to_string()),
        ("all", all.len().to_string()),
    ];
    let mut text = sentence(&asked.text, values);
    if open > 0 && !asked.text.contains("{open}") {
        text.push_str(&format!(" Of {open} this run cannot tell."));
    }
    if let Some(farthest) = farthest(&all) {
        text.push_str(&format!(" {}", refuted(farthest)));
    }
    let part = |name: &str, count| (name.to_owned(), count);
    Some(Answer::Claims(Headline {
        text,
        about: "claims of others".into(),
        told: Told::Claims,
        number: Some(Measured::of(exactly(hold as f64), Unit::Count)),
        marks: Vec::new(),
        picture: Some(Picture::Parts {
            parts: vec![
                part("confirmed", hold),
                part("cannot be told", open),
                part("refuted", fail),
            ],
        }),
        stands_on: Some(Place {
            section: first.section.clone(),
            row: String::new(),
        }),
    }))
}

fn exactly(value: f64) -> Interval {
    Interval {
        value,
        low: value,
        high: value,
    }
}

/// Returns the failed claim whose figure is farthest beyond its limits.
fn farthest(all: &[Judged]) -> Option<&Judged> {
    let failed = all.iter().filter(|one| one.fate == Fate::Fails);
    let beyond = |one: &Judged| one.limits.beyond(one.weakest.value);
    failed.max_by(|a, b| beyond(a).total_cmp(&beyond(b)))
}

fn refuted(one: &Judged) -> String {
    format!(
        "Farthest off: “{}” (here {}, claimed {}).",
        one.text.trim_end_matches('.'),
        number::quantity(one.unit, one.weakest.value),
        one.limits.words_in(one.unit)
    )
}
