//! The heap over time, and who holds it.

use super::{Sides, name};
use crate::document::{
    Axis, AxisUnit, Block, Cell, Drawn, Plot, Point, Row, RowKind, Section, Series, Table, Unit,
};
use crate::number;
use antiphon_lab::profile::{Heap, Profile, Snapshot};
use std::collections::BTreeMap;

/// Sites shown.
const SITES: usize = 12;

pub(super) fn section(sides: &Sides) -> Section {
    Section {
        id: "heap".into(),
        title: "Heap".into(),
        blocks: vec![Block::Plot(plot(sides)), Block::Table(sites(sides))],
    }
}

fn plot(sides: &Sides) -> Plot {
    let series = sides.each().enumerate();
    Plot {
        title: "Heap over the run".into(),
        description: sides.each().map(peak).collect::<Vec<_>>().join(" "),
        caption: "What programs asked for with what the allocator adds; at most a hundred moments, the largest among them.".into(),
        categories: Vec::new(),
        x: axis("Instructions since the start", AxisUnit::Count),
        y: axis("Heap", AxisUnit::Bytes),
        series: series.map(|(number, profile)| self::series(number, profile)).collect(),
        guides: Vec::new(),
    }
}

fn peak(profile: &Profile) -> String {
    let peak = profile.heap.peak();
    format!(
        "{} takes {} at most, after {} instructions.",
        name(profile),
        number::quantity(Unit::Bytes, peak.bytes() as f64),
        number::count(peak.instructions)
    )
}

fn axis(title: &str, unit: AxisUnit) -> Axis {
    Axis {
        title: title.into(),
        unit,
        log: false,
    }
}

fn series(number: usize, profile: &Profile) -> Series {
    let point = |snapshot: &Snapshot| Point {
        text: largest(snapshot),
        ..Point::at(snapshot.instructions as f64, snapshot.bytes() as f64)
    };
    Series {
        name: name(profile),
        subject: Some(number),
        shape: number,
        drawn: Drawn::Points,
        points: profile.heap.snapshots.iter().map(point).collect(),
    }
}

/// Who holds most at a moment.
fn largest(snapshot: &Snapshot) -> String {
    let total = number::quantity(Unit::Bytes, snapshot.bytes() as f64);
    match snapshot.sites.first() {
        Some(site) => format!(
            "{total}, of which {} by {}",
            number::quantity(Unit::Bytes, site.bytes as f64),
            site.place
        ),
        None => total,
    }
}

/// A function that allocates: its name without file and line, which a change of the source moves.
pub(super) fn function(place: &str) -> &str {
    place.split(" (").next().unwrap_or(place)
}

/// The most that each allocating function held at one moment.
pub(super) fn most_by_function(heap: &Heap) -> BTreeMap<&str, u64> {
    let mut most: BTreeMap<&str, u64> = BTreeMap::new();
    for snapshot in &heap.snapshots {
        let mut now: BTreeMap<&str, u64> = BTreeMap::new();
        for site in &snapshot.sites {
            *now.entry(function(&site.place)).or_default() += site.bytes;
        }
        for (function, bytes) in now {
            let held = most.entry(function).or_default();
            *held = bytes.max(*held);
        }
    }
    most
}

fn sites(sides: &Sides) -> Table {
    let most: Vec<_> = sides
        .each()
        .map(|side| most_by_function(&side.heap))
        .collect();
    let mut functions: Vec<&str> = most.iter().flat_map(|side| side.keys().copied()).collect();
    functions.sort_unstable();
    functions.dedup();
    let held = |function: &str| -> Vec<u64> {
        let of = |side: &BTreeMap<&str, u64>| side.get(function).copied().unwrap_or_default();
        most.iter().map(of).collect()
    };
    functions.sort_by_key(|function| std::cmp::Reverse(held(function).into_iter().max()));
    let rows = functions.iter().take(SITES).map(|function| Row {
        label: (*function).to_owned(),
        place: callers(sides, function),
        kind: RowKind::Measured,
        subject: None,
        cells: cells(&held(function)),
    });
    Table {
        title: "Who holds it".into(),
        caption: "The most that each allocating function held at one of those moments; nothing stands for less than a thousandth of the heap.".into(),
        corner: "Allocated by".into(),
        columns: sides.columns("at most"),
        rows: rows.collect(),
        folded: false,
    }
}

/// Who called the function for most of what it held.
fn callers(sides: &Sides, wanted: &str) -> String {
    let snapshots = sides.each().flat_map(|side| &side.heap.snapshots);
    let sites = snapshots.flat_map(|snapshot| &snapshot.sites);
    let of_function = sites.filter(|site| function(&site.place) == wanted);
    match of_function.max_by_key(|site| site.bytes) {
        Some(site) if !site.callers.is_empty() => format!("called by {}", site.callers.join(", ")),
        _ => String::new(),
    }
}

fn cells(held: &[u64]) -> Vec<Cell> {
    let bytes = |bytes: f64| Cell::Number {
        value: bytes,
        unit: Unit::Bytes,
    };
    let mut cells: Vec<Cell> = held.iter().map(|held| bytes(*held as f64)).collect();
    if let [before, after] = held {
        cells.push(bytes(*after as f64 - *before as f64));
    }
    cells
}
