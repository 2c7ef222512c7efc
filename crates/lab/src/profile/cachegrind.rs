//! Instructions, reads, writes and cache misses by function, as cachegrind writes them.

use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// Events of cachegrind, by its names and in words.
pub const EVENTS: [(&str, &str); 9] = [
    ("Ir", "instructions"),
    ("I1mr", "misses of the first instruction cache"),
    ("ILmr", "misses of the last cache by instructions"),
    ("Dr", "data reads"),
    ("D1mr", "read misses of the first data cache"),
    ("DLmr", "read misses of the last cache"),
    ("Dw", "data writes"),
    ("D1mw", "write misses of the first data cache"),
    ("DLmw", "write misses of the last cache"),
];

/// A count for each of [`EVENTS`]. Counts are signed, because a difference of two runs may be
/// slightly negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts(pub [i64; EVENTS.len()]);

/// Returns the index of an event in [`EVENTS`], by cachegrind's name.
///
/// # Panics
/// There is no such event.
#[must_use]
pub fn place(event: &str) -> usize {
    let place = EVENTS.iter().position(|(name, _)| *name == event);
    place.expect("an event of cachegrind's")
}

impl Counts {
    /// Returns the count of an event of [`EVENTS`], by cachegrind's name.
    ///
    /// # Panics
    /// There is no such event.
    #[must_use]
    pub fn of(&self, event: &str) -> i64 {
        self.0[place(event)]
    }

    /// Subtracts other counts.
    #[must_use]
    pub fn less(mut self, other: &Counts) -> Counts {
        for (count, other) in self.0.iter_mut().zip(other.0) {
            *count -= other;
        }
        self
    }

    fn is_none(&self) -> bool {
        self.0 == [0; EVENTS.len()]
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        for (count, other) in self.0.iter_mut().zip(other.0) {
            *count += other;
        }
    }
}

/// A function of the program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Function {
    /// Its name, as the linker knows it; `???` where nothing is known.
    pub name: String,
    /// The file's name without its folders; `???` where that is not known.
    pub file: String,
}

/// Counts of a run: total and by function.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CacheUse {
    /// The caches that cachegrind simulated, in its words: size, line, associativity.
    pub caches: Vec<String>,
    /// Counts of all functions together.
    pub total: Counts,
    /// Counts of each function that has any.
    #[serde(serialize_with = "as_list")]
    pub functions: BTreeMap<Function, Counts>,
}

/// Serializes functions as a list, because JSON has only strings as keys.
fn as_list<S: serde::Serializer>(
    functions: &BTreeMap<Function, Counts>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(functions)
}

impl CacheUse {
    /// Reads cachegrind's file.
    ///
    /// # Errors
    /// The line that is none of cachegrind's.
    pub(super) fn read(text: &str) -> Result<CacheUse, String> {
        let mut use_ = CacheUse::default();
        let mut order = Vec::new();
        let mut function = Function {
            name: "???".into(),
            file: "???".into(),
        };
        for line in text.lines() {
            if let Some(cache) = line.strip_prefix("desc: ") {
                use_.caches.push(single_spaced(cache));
            } else if let Some(events) = line.strip_prefix("events: ") {
                order = places(events);
            } else if let Some(path) = line.strip_prefix("fl=") {
                function.file = path.rsplit('/').next().unwrap_or(path).to_owned();
            } else if let Some(name) = line.strip_prefix("fn=") {
                function.name = name.to_owned();
            } else if line.starts_with(|first: char| first.is_ascii_digit()) {
                let counts = counts(line, &order)?;
                *use_.functions.entry(function.clone()).or_default() += counts;
                use_.total += counts;
            }
        }
        match use_.functions.is_empty() {
            true => Err("it holds no counts".into()),
            false => Ok(use_),
        }
    }

    /// Subtracts another run of the same program.
    #[must_use]
    pub fn without(mut self, other: &CacheUse) -> CacheUse {
        self.total = self.total.less(&other.total);
        for (function, counts) in &other.functions {
            let own = self.functions.entry(function.clone()).or_default();
            *own = own.less(counts);
        }
        self.functions.retain(|_, counts| !counts.is_none());
        self
    }
}

fn single_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the index in [`EVENTS`] of each column of the file.
fn places(events: &str) -> Vec<Option<usize>> {
    let place = |event| EVENTS.iter().position(|(name, _)| *name == event);
    events.split_whitespace().map(place).collect()
}

/// Parses the counts of a line: its source line number, then a count for each event. Trailing zeros
/// may be missing.
fn counts(line: &str, order: &[Option<usize>]) -> Result<Counts, String> {
    let mut counts = Counts::default();
    for (word, place) in line.split_whitespace().skip(1).zip(order) {
        let count: i64 = word
            .parse()
            .map_err(|_| format!("`{word}` is no count in the line `{line}`"))?;
        if let Some(place) = place {
            counts.0[*place] = count;
        }
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::{CacheUse, Function};

    const FILE: &str = "desc: I1 cache:         32768 B, 64 B, 8-way associative\ncmd: ./a\nevents: Ir Dr D1mr Dw\nfl=/src/a.c\nfn=big\n3 10 4 1 2\n4 5\nfn=main\n\
        9 7 1 0 1\nsummary: 22 5 1 3\n";

    fn function(name: &str) -> Function {
        Function {
            name: name.into(),
            file: "a.c".into(),
        }
    }

    #[test]
    fn adds_up_the_lines_of_a_function() {
        let read = CacheUse::read(FILE).unwrap();
        assert_eq!(read.caches, ["I1 cache: 32768 B, 64 B, 8-way associative"]);
        let big = &read.functions[&function("big")];
        assert_eq!((big.of("Ir"), big.of("Dr"), big.of("D1mr")), (15, 4, 1));
        assert_eq!((read.total.of("Ir"), read.total.of("Dw")), (22, 3));
    }

    #[test]
    fn what_two_runs_share_drops_out() {
        let more = FILE.replace("4 5\n", "4 5 1\n3 100 40 10 20\n");
        let more = CacheUse::read(&more).unwrap();
        let difference = more.without(&CacheUse::read(FILE).unwrap());
        assert_eq!(difference.functions.len(), 1);
        assert_eq!(difference.functions[&function("big")].of("Dr"), 41);
        assert_eq!(difference.total.of("Ir"), 100);
    }

    #[test]
    fn names_the_line_that_is_none_of_cachegrinds() {
        assert!(
            CacheUse::read("events: Ir\n")
                .unwrap_err()
                .contains("no counts")
        );
        let broken = FILE.replace("3 10", "3 ten");
        assert!(
            CacheUse::read(&broken)
                .unwrap_err()
                .contains("`3 ten 4 1 2`")
        );
    }
}
