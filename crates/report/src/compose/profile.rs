//! Profiles: division of a program's use into parts.

use super::programs::counter;
use super::slug;
use super::view::{RunColumn, View};
use crate::document::{Block, Cell, Column, Row, RowKind, Section, Table, Unit};
use antiphon_lab::suite::Profile;
use antiphon_lab::{Outcome, ResultRecord};

/// Returns a section for each profile with measurements.
pub fn sections(view: &View) -> Vec<Section> {
    let profiles = view.layout.profiles.iter();
    profiles
        .filter_map(|profile| section(view, profile))
        .collect()
}

fn section(view: &View, profile: &Profile) -> Option<Section> {
    let rows: Vec<Row> = profile
        .tests
        .iter()
        .filter_map(|test| find(view, profile, test))
        .map(|result| row(view, profile, result))
        .collect();
    if rows.is_empty() {
        return None;
    }
    let parts = profile.parts.iter().map(|part| Column::titled(&part.title));
    let table = Table {
        title: profile.title.clone(),
        caption: format!("Parts of all {}.", profile.unit),
        corner: "Program".into(),
        columns: std::iter::once(Column::titled(format!("All {}", profile.unit)))
            .chain(parts)
            .collect(),
        rows,
        folded: false,
    };
    let text: Vec<&str> = profile.text.split_whitespace().collect();
    Some(Section {
        id: format!("profile-{}", slug(&profile.id)),
        title: profile.title.clone(),
        blocks: vec![
            Block::Prose {
                text: text.join(" "),
            },
            Block::Table(table),
        ],
    })
}

fn find<'a>(view: &View<'a>, profile: &Profile, test: &str) -> Option<&'a ResultRecord> {
    let column = RunColumn {
        subject: profile.subject.clone(),
        policy: profile.run.policy.clone(),
        placement: profile.run.placement.clone(),
    };
    view.find(test, &column)
}

fn row(view: &View, profile: &Profile, result: &ResultRecord) -> Row {
    Row {
        label: view.label(&result.identity),
        place: String::new(),
        kind: RowKind::Measured,
        subject: None,
        cells: cells(profile, result),
    }
}

/// Returns the whole, and each part as a share of it.
fn cells(profile: &Profile, result: &ResultRecord) -> Vec<Cell> {
    if let Outcome::Absent { reason, listed, .. } = &result.outcome {
        let missing = Cell::absent(reason, *listed);
        let others = std::iter::repeat_n(Cell::Empty, profile.parts.len());
        return std::iter::once(missing).chain(others).collect();
    }
    let counts = profile.parts.iter();
    let counts: Vec<f64> = counts
        .map(|part| counter(result, &part.counter).unwrap_or_default())
        .collect();
    let whole: f64 = counts.iter().sum();
    let share = |count: &f64| Cell::Number {
        value: count / whole.max(1.0),
        unit: Unit::Share,
    };
    std::iter::once(Cell::count(whole))
        .chain(counts.iter().map(share))
        .collect()
}
