//! The heap over time, and its holders.

use super::{Sides, name};
use crate::document::{
    Axis, AxisUnit, Block, Cell, Drawn, Plot, Point, Row, RowKind, Section, Series, Table, Unit,
};
use crate::number;
use antiphon_lab::profile::{Heap, Profile, Snapshot};
use std::collections::BTreeMap;
use std::fmt;

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

/// Returns the largest holder at a moment, in words.
fn largest(snapshot: &Snapshot) -> String {
    let total = number::quantity(Unit::Bytes, snapshot.bytes() as f64);
    match largest_holder(snapshot) {
        Some((place, bytes)) => format!(
            "{total}, of which {} by {place}",
            number::quantity(Unit::Bytes, bytes as f64),
        ),
        None => total,
    }
}

/// Allocator of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Holder<'a> {
    /// A function by its name, without file and line, which a change of the source moves.
    Function(&'a str),
    /// Functions without names in this file, without its folder, which is another for each build.
    Object(&'a str),
}

impl<'a> Holder<'a> {
    fn of(place: &'a str) -> Self {
        if let Some(path) = place.strip_prefix("??? (in ") {
            let path = path.strip_suffix(')').unwrap_or(path);
            return Holder::Object(path.rsplit('/').next().unwrap_or(path));
        }
        // Names in C++ have parentheses, too: `each(void (*)(int)) (file.cpp:12)`.
        let in_file = place.split_once(" (in /");
        let named = in_file.or_else(|| place.rsplit_once(" ("));
        Holder::Function(named.map_or(place, |(function, _)| function))
    }
}

impl fmt::Display for Holder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Holder::Function(name) => f.write_str(name),
            Holder::Object(file) => write!(f, "??? in {file}"),
        }
    }
}

/// Memory of each holder, in bytes.
pub(super) type Held<'a> = BTreeMap<Holder<'a>, u64>;

/// Sums the memory of each holder at a moment: massif has a site for each allocating address.
pub(super) fn held(snapshot: &Snapshot) -> Held<'_> {
    let mut held = Held::new();
    for site in &snapshot.sites {
        *held.entry(Holder::of(&site.place)).or_default() += site.bytes;
    }
    held
}

/// Returns the largest holder at a moment and its bytes. Its name has file and line if it is one
/// place.
pub(super) fn largest_holder(snapshot: &Snapshot) -> Option<(String, u64)> {
    let (holder, bytes) = held(snapshot).into_iter().max_by_key(|(_, bytes)| *bytes)?;
    let places = snapshot.sites.iter().map(|site| &site.place);
    let mut places = places.filter(|place| Holder::of(place) == holder);
    let name = match (places.next(), places.next()) {
        (Some(only), None) => only.clone(),
        _ => holder.to_string(),
    };
    Some((name, bytes))
}

/// Returns the maximum of each holder at any moment.
pub(super) fn most(heap: &Heap) -> Held<'_> {
    let mut most = Held::new();
    for (holder, bytes) in heap.snapshots.iter().flat_map(held) {
        let held = most.entry(holder).or_default();
        *held = bytes.max(*held);
    }
    most
}

fn sites(sides: &Sides) -> Table {
    let most: Vec<_> = sides.each().map(|side| self::most(&side.heap)).collect();
    let mut holders: Vec<Holder> = most.iter().flat_map(|side| side.keys().copied()).collect();
    holders.sort_unstable();
    holders.dedup();
    let held = |holder: &Holder| -> Vec<u64> {
        let of = |side: &Held| side.get(holder).copied().unwrap_or_default();
        most.iter().map(of).collect()
    };
    holders.sort_by_key(|holder| std::cmp::Reverse(held(holder).into_iter().max()));
    let rows = holders.iter().take(SITES).map(|holder| Row {
        label: holder.to_string(),
        place: callers(sides, *holder),
        kind: RowKind::Measured,
        subject: None,
        cells: cells(&held(holder)),
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

/// Returns the callers of a holder's largest site.
fn callers(sides: &Sides, wanted: Holder) -> String {
    let snapshots = sides.each().flat_map(|side| &side.heap.snapshots);
    let sites = snapshots.flat_map(|snapshot| &snapshot.sites);
    let of_holder = sites.filter(|site| Holder::of(&site.place) == wanted);
    match of_holder.max_by_key(|site| site.bytes) {
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

#[cfg(test)]
mod tests {
    use super::Holder;

    #[test]
    fn functions_have_their_whole_names() {
        let whole = Holder::Function("each(void (*)(int))");
        assert_eq!(Holder::of("each(void (*)(int)) (file.cpp:12)"), whole);
        assert_eq!(Holder::of("each(void (*)(int)) (in /opt/a (b)/c)"), whole);
        assert_eq!(Holder::of("main"), Holder::Function("main"));
        assert_eq!(Holder::of("??? (in /lib/l.so)"), Holder::Object("l.so"));
    }
}
