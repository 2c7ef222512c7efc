//! Separate charts for bars of many series: beyond the number of patterns, series are
//! indistinguishable.

use crate::document::{Plot, Point, Series};
use crate::grouped::grouped;
use std::borrow::Cow;

/// Series of a chart.
pub(super) const MOST: usize = 8;

/// Common parts of series' names, such as `sql-rust/sqlite · other, same`: the variant, the
/// conditions, or both.
const KEYS: [fn(&str) -> String; 3] = [
    |name| variant(name).to_owned(),
    |name| place(name).to_owned(),
    |name| format!("{} · {}", variant(name), place(name)),
];

fn place(name: &str) -> &str {
    name.split_once(" · ").map_or("", |(_, place)| place)
}

fn variant(name: &str) -> &str {
    let subject = name.split(" · ").next().unwrap_or_default();
    let variant = subject.split_once('/').map_or("", |(_, variant)| variant);
    variant.split(' ').next().unwrap_or_default()
}

/// Returns the plot, or the parts of one with rows and too many series.
pub(super) fn parts(plot: &Plot) -> Vec<Cow<'_, Plot>> {
    if plot.categories.is_empty() || plot.series.len() <= MOST {
        return vec![Cow::Borrowed(plot)];
    }
    let keyed =
        |key: &fn(&str) -> String| grouped(plot.series.iter().map(|one| (key(&one.name), one)));
    let groupings = KEYS.iter().map(keyed);
    let fitting = groupings.filter(|groups| groups.iter().all(|(_, group)| group.len() <= MOST));
    // Of fewer charts more can be compared.
    let fewest = fitting.map(packed).min_by_key(Vec::len);
    let groups = fewest.unwrap_or_else(|| in_order(&plot.series));
    let parts = groups.into_iter();
    let parts = parts.map(|(name, series)| Cow::Owned(part(plot, &name, series)));
    parts.collect()
}

/// Series of a part, and the name of the part.
type Group<'s> = (String, Vec<&'s Series>);

/// Combines small groups, as many as there is room for.
fn packed(groups: Vec<Group<'_>>) -> Vec<Group<'_>> {
    let mut packed: Vec<Group> = Vec::new();
    for (name, group) in groups {
        match packed.last_mut() {
            Some((names, last)) if last.len() + group.len() <= MOST => {
                *names = format!("{names}, {name}");
                last.extend(group);
            }
            _ => packed.push((name, group)),
        }
    }
    packed
}

fn in_order(series: &[Series]) -> Vec<Group<'_>> {
    let count = series.len().div_ceil(MOST);
    let parts = series.chunks(series.len().div_ceil(count)).enumerate();
    let named = parts.map(|(at, part)| (format!("{} of {count}", at + 1), part.iter().collect()));
    named.collect()
}

/// Returns some series of a plot, with the rows that they have points in.
fn part(plot: &Plot, name: &str, series: Vec<&Series>) -> Plot {
    let has_points = |row: usize| {
        let mut points = series.iter().flat_map(|one| &one.points);
        points.any(|point| point.y as usize == row)
    };
    let rows: Vec<usize> = (0..plot.categories.len())
        .filter(|row| has_points(*row))
        .collect();
    let moved = |point: &Point| {
        let row = rows.iter().position(|row| *row == point.y as usize)?;
        Some(Point {
            y: row as f64,
            ..point.clone()
        })
    };
    let series = series.iter().map(|one| Series {
        points: one.points.iter().filter_map(moved).collect(),
        ..(*one).clone()
    });
    Plot {
        title: format!("{}: {name}", plot.title),
        categories: rows
            .iter()
            .map(|row| plot.categories[*row].clone())
            .collect(),
        series: series.collect(),
        ..plot.clone()
    }
}
