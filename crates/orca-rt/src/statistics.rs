//! Counts of operations as a table or as JSON.

use std::collections::BTreeMap;

use orca::{MachineStatistics, TypeStatistics};

/// The columns: their names in a table and in JSON, and their values.
type Column = (&'static str, &'static str, fn(&TypeStatistics) -> u64);

const COLUMNS: [Column; 6] = [
    ("local reads", "local_reads", |it| it.local_reads),
    ("local writes", "local_writes", |it| it.local_writes),
    ("remote calls", "remote_calls", |it| it.remote_calls),
    ("ordered writes", "ordered_writes", |it| it.ordered_writes),
    ("blocked", "blocked", |it| it.blocked),
    ("guard retries", "retries", |it| it.retries),
];

/// Returns the sums over all machines, by type of object.
fn by_type(machines: &[MachineStatistics]) -> BTreeMap<&str, TypeStatistics> {
    let mut sums: BTreeMap<&str, TypeStatistics> = BTreeMap::new();
    for (name, of) in machines.iter().flat_map(|it| &it.types) {
        sums.entry(name).or_default().add(of);
    }
    sums
}

/// Returns the sum of one machine.
fn of_machine(machine: &MachineStatistics) -> TypeStatistics {
    let mut sum = TypeStatistics::default();
    machine.types.values().for_each(|of| sum.add(of));
    sum
}

/// Returns the moves of objects, which all machines know.
fn moves(machines: &[MachineStatistics]) -> &[String] {
    machines.first().map_or(&[], |it| &it.moves)
}

/// Returns a table of types, a table of machines, and the moves.
pub fn text(machines: &[MachineStatistics]) -> String {
    let counts = |of: &TypeStatistics| COLUMNS.map(|(.., value)| value(of).to_string());
    let names = COLUMNS.map(|(name, ..)| name.to_owned());
    let mut types = vec![[&["object".into(), "objects".into()], &names[..]].concat()];
    for (name, of) in by_type(machines) {
        types.push([&[name.to_owned(), of.objects.to_string()], &counts(&of)[..]].concat());
    }
    let mut rows = vec![[&["machine".into()], &names[..]].concat()];
    for machine in machines {
        let of = of_machine(machine);
        rows.push([&[machine.machine.to_string()], &counts(&of)[..]].concat());
    }
    let mut text = table(&types) + &table(&rows);
    for why in moves(machines) {
        text += &format!("move: {why}\n");
    }
    text
}

/// Aligns the first column to the left and the others to the right.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max();
    let widths: Vec<_> = (0..columns).map(|it| width(it).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        text += &format!("{:<1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            text += &format!("  {cell:>width$}");
        }
        text.push('\n');
    }
    text
}

/// Returns one object on one line.
pub fn json(machines: &[MachineStatistics]) -> String {
    let counts = |of: &TypeStatistics| {
        let fields = COLUMNS.map(|(_, name, value)| format!("\"{name}\":{}", value(of)));
        fields.join(",")
    };
    let sums = by_type(machines);
    let types = sums.iter().map(|(name, of)| {
        let (objects, moves) = (of.objects, of.moves);
        let name = quoted(name);
        format!(
            "{{\"object\":{name},\"objects\":{objects},{},\"moves\":{moves}}}",
            counts(of)
        )
    });
    let rows = machines.iter().map(|machine| {
        let of = of_machine(machine);
        format!("{{\"machine\":{},{}}}", machine.machine, counts(&of))
    });
    let moves = moves(machines).iter().map(|why| quoted(why));
    let list = |all: &mut dyn Iterator<Item = String>| all.collect::<Vec<_>>().join(",");
    format!(
        "{{\"types\":[{}],\"machines\":[{}],\"moves\":[{}]}}\n",
        list(&mut types.into_iter()),
        list(&mut rows.into_iter()),
        list(&mut moves.into_iter())
    )
}

/// Returns a text as a string of JSON.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for sign in text.chars() {
        match sign {
            '"' | '\\' => quoted.extend(['\\', sign]),
            sign if sign < ' ' => quoted += &format!("\\u{:04x}", sign as u32),
            sign => quoted.push(sign),
        }
    }
    quoted + "\""
}
