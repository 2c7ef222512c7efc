//! Comparison of execution models: tables in the published form, their ratios as plots, and the
//! conclusions that still hold.

mod claims;
mod plot;
mod tables;

use super::programs::{self, runs};
use super::verdict::Judged;
use super::view::{RunColumn, View};
use super::{processor_time, slug};
use crate::document::{Block, Mark, Section};
use antiphon_lab::ResultRecord;
use antiphon_lab::suite::{Model, ModelColumn, Models};
use antiphon_measure::{Interval, WholeRun, run_figure, run_ratio};

/// Returns the conclusions that can be tried, each with the id of its table.
pub fn judged(view: &View) -> Vec<(String, Judged)> {
    claims::judged(&tables(view))
}

/// Returns the conclusions first, then a section for each table with measurements.
pub fn sections(view: &View) -> Vec<Section> {
    let tables = tables(view);
    let mut sections: Vec<Section> = claims::section(&tables).into_iter().collect();
    sections.extend(tables.iter().map(section));
    sections
}

/// Returns the tables with measurements.
fn tables<'a>(view: &'a View<'a>) -> Vec<Compared<'a>> {
    let models = view.layout.models.iter();
    models
        .map(|models| Compared { view, models })
        .filter(|compared| !compared.rows().is_empty())
        .collect()
}

fn section(compared: &Compared) -> Section {
    let models = compared.models;
    let mut blocks = Vec::new();
    if !models.text.is_empty() {
        let text: Vec<&str> = models.text.split_whitespace().collect();
        blocks.push(Block::Prose {
            text: text.join(" "),
        });
    }
    blocks.push(Block::Table(tables::table(compared)));
    blocks.extend(plot::plot(compared).map(Block::Plot));
    let results = compared.results();
    blocks.push(Block::Table(programs::table(
        compared.view,
        &models.title,
        &results,
    )));
    Section {
        id: format!("models-{}", slug(&models.id)),
        title: models.title.clone(),
        blocks,
    }
}

/// A table of models in a run.
struct Compared<'a> {
    view: &'a View<'a>,
    models: &'a Models,
}

impl<'a> Compared<'a> {
    /// Returns the rows with measurements.
    fn rows(&self) -> Vec<&'a str> {
        let rows = self.models.rows.iter().map(String::as_str);
        rows.filter(|row| {
            let mut columns = self.models.columns.iter();
            columns.any(|column| !self.runs(column, row).is_empty())
        })
        .collect()
    }

    fn result(&self, column: &ModelColumn, row: &str) -> Option<&'a ResultRecord> {
        let test = column.test(row);
        let asked = place(column);
        // Without permission for FIFO, its rows are measured under `other`.
        let instead = RunColumn {
            policy: "other".into(),
            ..asked.clone()
        };
        let found = self.view.find(&test, &asked);
        found.or_else(|| self.view.find(&test, &instead))
    }

    /// Returns all results of the table, row by row, each once: two rows may be counters of the
    /// same program.
    fn results(&self) -> Vec<&'a ResultRecord> {
        let columns = &self.models.columns;
        let of_row = |row| columns.iter().filter_map(move |c| self.result(c, row));
        let mut results: Vec<&ResultRecord> = Vec::new();
        for result in self.rows().into_iter().flat_map(of_row) {
            if !results.iter().any(|known| std::ptr::eq(*known, result)) {
                results.push(result);
            }
        }
        results
    }

    fn runs(&self, column: &ModelColumn, row: &str) -> &'a [WholeRun] {
        self.result(column, row).map_or(&[], runs)
    }

    /// Returns the fastest column of general concurrent programming in a row.
    fn fastest(&self, row: &str) -> Option<&'a ModelColumn> {
        let median = |column: &ModelColumn| self.figure(column, row).map(|figure| figure.value);
        let columns = self.models.concurrent();
        columns
            .filter_map(|(_, column)| Some((median(column)?, column)))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, column)| column)
    }

    /// Returns the weakness of a column's figure in a row.
    fn mark(&self, column: &ModelColumn, row: &str) -> Option<Mark> {
        processor_time::mark(self.result(column, row)?)
    }

    /// Returns the weakness of a column's share: that of its figure, or of its base.
    fn mark_of_share(
        &self,
        column: &ModelColumn,
        against: Option<&ModelColumn>,
        row: &str,
    ) -> Option<Mark> {
        let other = || self.mark(self.other(against, row)?, row);
        self.mark(column, row).or_else(other)
    }

    /// Returns the base of a column's share; `None` if figures are shares by themselves.
    fn other<'m>(&'m self, against: Option<&'m ModelColumn>, row: &str) -> Option<&'m ModelColumn> {
        match against {
            None if self.models.of_shares() => None,
            None => self.fastest(row),
            named => named,
        }
    }

    /// Returns the figure of a column in a row: ns, or a share.
    fn figure(&self, column: &ModelColumn, row: &str) -> Option<Interval> {
        run_figure(self.runs(column, row), &self.models.figure(row))
    }

    /// Returns the figure of a column as a share of another's, or of the fastest of general
    /// concurrent programming.
    ///
    /// Figures that are shares are not compared unless a column is named.
    fn share(
        &self,
        column: &ModelColumn,
        against: Option<&ModelColumn>,
        row: &str,
    ) -> Option<Interval> {
        if against.is_none() && self.models.of_shares() {
            return self.figure(column, row);
        }
        let against = self.other(against, row)?;
        let figure = self.models.figure(row);
        run_ratio(self.runs(column, row), self.runs(against, row), &figure)
    }

    /// Returns the same share of the published figures.
    fn published_share(
        &self,
        column: &ModelColumn,
        against: Option<&ModelColumn>,
        row: &str,
    ) -> Option<f64> {
        let other = match against {
            Some(column) => self.published(column, row)?,
            None if self.models.of_shares() => 1.0,
            None => {
                let columns = self.models.concurrent();
                let figures = columns.filter_map(|(_, column)| self.published(column, row));
                figures.reduce(f64::min)?
            }
        };
        Some(self.published(column, row)? / other)
    }

    /// Returns the published figure of a column in a row: s, µs or a share.
    fn published(&self, column: &ModelColumn, row: &str) -> Option<f64> {
        let index = self.models.rows.iter().position(|known| known == row)?;
        column.published.get(index).copied().flatten()
    }
}

/// Returns the place of a column's results.
fn place(column: &ModelColumn) -> RunColumn {
    RunColumn {
        subject: column.subject.clone(),
        policy: column.run.policy.clone(),
        placement: column.run.placement.clone(),
    }
}

/// Returns the columns with a ratio to general concurrent programming.
fn with_ratio(models: &Models) -> impl Iterator<Item = (&ModelColumn, Model)> {
    let columns = models.columns.iter();
    let cooperative = columns.filter_map(|column| Some((column, column.model?)));
    cooperative.filter(|(_, model)| *model != Model::Concurrent)
}
