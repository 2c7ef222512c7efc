//! Variants of programs: their savings in time and context switches against the original.

mod claims;
mod plot;
mod sizes;
mod tables;

use super::slug;
use super::verdict::Judged;
use super::view::{RunColumn, View};
use crate::document::{Block, Section};
use antiphon_lab::suite::{Program, Quantity, Savings};
use antiphon_measure::{Estimate, Interval};

/// Returns a section for each comparison with measurements.
pub fn sections(view: &View) -> Vec<Section> {
    let all = view.layout.savings.iter();
    let all = all.map(|savings| Comparison::of(view, savings));
    all.filter_map(|comparison| section(&comparison)).collect()
}

/// Returns the claims that can be tried, each with the id of its comparison.
pub fn judged(view: &View) -> Vec<(String, Judged)> {
    let of_savings = |savings: &Savings| {
        let judged = claims::judged(&Comparison::of(view, savings), &id(savings));
        let id = savings.id.clone();
        judged.into_iter().map(move |judged| (id.clone(), judged))
    };
    view.layout.savings.iter().flat_map(of_savings).collect()
}

fn id(savings: &Savings) -> String {
    format!("savings-{}", slug(&savings.id))
}

fn section(comparison: &Comparison) -> Option<Section> {
    let savings = comparison.savings;
    let changes = changes(comparison);
    if changes.is_empty() {
        return None;
    }
    let mut blocks = Vec::new();
    if !savings.text.is_empty() {
        let text = savings.text.split_whitespace().collect::<Vec<_>>();
        blocks.push(Block::Prose {
            text: text.join(" "),
        });
    }
    for of in [Quantity::Run, Quantity::Time, Quantity::Switches] {
        blocks.push(Block::Table(tables::table(comparison, of)));
    }
    blocks.extend(claims::blocks(comparison));
    blocks.push(Block::Plot(plot::plot(comparison, &changes)));
    blocks.extend(sizes::blocks(comparison));
    Some(Section {
        id: id(savings),
        title: savings.title.clone(),
        blocks,
    })
}

/// A comparison in a run.
struct Comparison<'a> {
    view: &'a View<'a>,
    savings: &'a Savings,
    /// The columns of the run in which the base of some program was measured.
    columns: Vec<RunColumn>,
    /// Columns with measurements in some size.
    sized_columns: Vec<RunColumn>,
}

impl<'a> Comparison<'a> {
    fn of(view: &'a View<'a>, savings: &'a Savings) -> Self {
        let base = &savings.base;
        let programs = || savings.programs.iter();
        let own = programs().map(|p| p.test(base)).collect();
        let sized = |p: &'a Program| p.sizes.iter().map(|size| p.sized_test(base, size));
        Comparison {
            view,
            savings,
            columns: columns(view, own),
            sized_columns: columns(view, programs().flat_map(sized).collect()),
        }
    }

    /// Checks whether the program counts its switches itself in this column.
    fn is_counted(&self, column: &RunColumn) -> bool {
        self.savings.counted.as_ref() == Some(&column.subject)
    }

    /// Returns the columns that tell of a quantity.
    ///
    /// A program that counts its switches is slower for it. It compares the running task with the
    /// previous one, which tells of switches on one processor only.
    fn columns(&self, of: Quantity) -> Vec<&RunColumn> {
        let tells = |column: &&RunColumn| match (self.is_counted(column), of) {
            (false, _) => true,
            (true, Quantity::Switches) => on_one_processor(column),
            (true, Quantity::Time | Quantity::Run) => false,
        };
        self.columns.iter().filter(tells).collect()
    }

    /// Returns a quantity of a test, with its interval.
    fn amount(
        &self,
        of: Quantity,
        program: &Program,
        test: &str,
        column: &RunColumn,
    ) -> Option<Interval> {
        let estimate = self.view.estimate(test, column)?;
        Some(match of {
            Quantity::Switches => switches(estimate),
            Quantity::Time => estimate.cost_ns,
            Quantity::Run => whole_run(program, estimate),
        })
    }
}

/// Returns the columns in which any of these tests was measured.
fn columns(view: &View, tests: Vec<String>) -> Vec<RunColumn> {
    let results = view.run.results.iter();
    view.columns(results.filter(|result| tests.contains(&result.identity.test)))
}

/// Returns a variant's name for readers: words in names of tests are joined by underscores.
fn shown(variant: &str) -> String {
    variant.replace('_', " ")
}

/// Checks for one processor, because elsewhere the scheduler decides the number of switches.
fn on_one_processor(column: &RunColumn) -> bool {
    column.placement == "same"
}

fn exactly(value: f64) -> Interval {
    Interval {
        value,
        low: value,
        high: value,
    }
}

/// Returns voluntary and involuntary switches, because run-time systems also hand over by yielding.
fn switches(estimate: &Estimate) -> Interval {
    let all = estimate.resources.switches();
    exactly(if all.abs() < 1e-9 { 0.0 } else { all })
}

/// Returns the test frame, about as exact as its difference from the control.
fn whole_run(program: &Program, estimate: &Estimate) -> Interval {
    if program.idle_control {
        return estimate.cost_ns;
    }
    let (whole, cost) = (estimate.frames.test_ns, estimate.cost_ns);
    Interval {
        value: whole,
        low: whole + cost.low - cost.value,
        high: whole + cost.high - cost.value,
    }
}

/// Returns `now` as a share of `before`; `None` if there was nothing to save.
fn share(now: Interval, before: Interval) -> Option<Interval> {
    if now.limits().is_none() || before.limits().is_none() {
        return (before.value > 0.0).then(|| Interval::open(now.value / before.value));
    }
    (before.low > 0.0).then(|| Interval {
        value: now.value / before.value,
        low: (now.low / before.high).min(now.low / before.low),
        high: (now.high / before.low).max(now.high / before.high),
    })
}

/// Savings of one variant of one program under the conditions of one column, as shares of the base.
struct Change<'a> {
    program: &'a Program,
    variant: &'a str,
    column: &'a RunColumn,
    time: f64,
    switches: f64,
}

/// Returns the changes for which both shares are known: without switches, none can be saved.
fn changes<'a>(comparison: &'a Comparison<'a>) -> Vec<Change<'a>> {
    let mut all = Vec::new();
    for column in comparison.columns(Quantity::Time) {
        for program in &comparison.savings.programs {
            for variant in &comparison.savings.variants {
                let saved = |of| {
                    let amount =
                        |name: &str| comparison.amount(of, program, &program.test(name), column);
                    let share = share(amount(variant)?, amount(&comparison.savings.base)?)?;
                    Some(1.0 - share.value)
                };
                let (Some(time), Some(switches)) =
                    (saved(Quantity::Time), saved(Quantity::Switches))
                else {
                    continue;
                };
                all.push(Change {
                    program,
                    variant,
                    column,
                    time,
                    switches,
                });
            }
        }
    }
    all
}
