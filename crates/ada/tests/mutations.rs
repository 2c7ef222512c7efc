//! Thousands of our own programs, each damaged in a way that its seed repeats: whatever the front end is given, it answers.
//!
//! `hostile.rs` damages text at random; here most changes keep the syntax, so that names, graphs and translations are reached too.

#[path = "generator/rng.rs"]
mod rng;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use antiphon_ada::translate::context::is_reserved;
use antiphon_ada::{Analysis, Error, Program, explain, sarif, translate};
use rng::Rng;

const CASES: u64 = 2_000;

fn sources() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut files = antiphon_ada::input::files(&folder).unwrap();
    files.sort();
    files
        .iter()
        .map(|f| std::fs::read_to_string(f).unwrap())
        .collect()
}

/// Where the identifiers of a source are, reserved words apart.
fn identifiers(source: &str) -> Vec<std::ops::Range<usize>> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in source.char_indices() {
        match (start, is_part(c)) {
            (None, true) if c.is_alphabetic() => start = Some(at),
            (Some(from), false) => {
                found.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    found.retain(|r| !is_reserved(&source[r.clone()].to_lowercase()));
    found
}

/// Whether a line is a whole statement or declaration, as far as its end tells.
fn is_whole(line: &str) -> bool {
    line.trim_end().ends_with(';') && !line.trim_start().starts_with("end")
}

/// One change; `other` is another program to take pieces from.
fn damage(source: &str, other: &str, rng: &mut Rng) -> String {
    let mut lines: Vec<&str> = source.split_inclusive('\n').collect();
    let whole: Vec<usize> = (0..lines.len()).filter(|&i| is_whole(lines[i])).collect();
    let (Some(&one), Some(&two)) = (pick(&whole, rng), pick(&whole, rng)) else {
        return source.to_string();
    };
    match rng.below(8) {
        0..=2 => {
            let names = identifiers(source);
            let (Some(here), Some(there)) = (pick(&names, rng), pick(&names, rng)) else {
                return source.to_string();
            };
            let (before, after) = (&source[..here.start], &source[here.end..]);
            return format!("{before}{}{after}", &source[there.clone()]);
        }
        3 => lines.insert(one, lines[two]),
        4 => lines.swap(one, two),
        5 => {
            lines.remove(one);
        }
        6 => {
            let more: Vec<&str> = other.split_inclusive('\n').collect();
            let from = rng.below(more.len());
            lines.truncate(one);
            lines.extend(&more[from..]);
        }
        _ => lines.truncate(one),
    }
    lines.concat()
}

fn pick<'a, T>(from: &'a [T], rng: &mut Rng) -> Option<&'a T> {
    (!from.is_empty()).then(|| &from[rng.below(from.len())])
}

/// Everything that is done with a program; whether it could be read.
fn chew(source: String, force: bool) -> bool {
    match Program::parse([(PathBuf::from("p.adb"), source.into_bytes())]) {
        Ok(program) => {
            let options = translate::Options {
                force,
                ..translate::Options::default()
            };
            let analysis = Analysis::of(&program, options);
            explain::text(&analysis);
            sarif::log(&analysis);
            translate::translate(&analysis).diff(&program);
            true
        }
        Err(Error::Syntax(errors)) => {
            assert!(errors.iter().all(|e| e.place.line > 0));
            false
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn damaged_programs_are_answered() {
    let all = sources();
    let mut read = 0;
    for seed in 0..CASES {
        let mut rng = Rng::new(seed);
        let (Some(source), Some(other)) = (pick(&all, &mut rng), pick(&all, &mut rng)) else {
            panic!("no programs")
        };
        let mut source = source.clone();
        for _ in 0..=rng.below(3) {
            source = damage(&source, other, &mut rng);
        }
        let force = rng.chance(50);
        let given = source.clone();
        match catch_unwind(AssertUnwindSafe(|| chew(given, force))) {
            Ok(was_read) => read += u64::from(was_read),
            Err(_) => panic!("seed {seed}, force {force}:\n{source}"),
        }
    }
    // Damage that always ends at the parser would try nothing behind it.
    assert!(read > CASES / 5, "only {read} of {CASES} could be read");
}
