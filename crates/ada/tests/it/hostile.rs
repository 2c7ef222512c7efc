//! Damaged sources: no panic, no hang, and an answer that names a place.
//!
//! Some changes damage text at random. Others usually keep the syntax, so that they reach names,
//! graphs and translations too; their seed repeats them. `ANTIPHON_DAMAGED` sets the number of
//! programs that are damaged in this way (1000 by default; `make soak` uses more).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use antiphon_ada::translate::Scheme;
use antiphon_ada::translate::context::is_reserved;
use antiphon_ada::{Analysis, Error, Program, explain, sarif, translate};
use proptest::prelude::*;

use crate::common::{folder, number};
use crate::generator::Rng;

/// Runs the whole front end on a source. Returns whether it could be read.
fn chew(source: Vec<u8>, all_options: &[translate::Options]) -> bool {
    match Program::parse([(PathBuf::from("p.adb"), source)]) {
        Ok(program) => {
            for options in all_options {
                let analysis = Analysis::of(&program, options.clone());
                explain::text(&analysis);
                sarif::log(&analysis);
                translate::translate(&analysis).diff(&program);
            }
            true
        }
        Err(Error::Syntax(errors)) => {
            let has_place = |e: &antiphon_ada::SyntaxError| e.place.line > 0 && e.place.column > 0;
            assert!(errors.iter().all(has_place));
            false
        }
        Err(other) => panic!("{other}"),
    }
}

/// Runs the front end on a source under every scheme.
fn chew_by_all_schemes(source: Vec<u8>) {
    let options =
        [Scheme::Servers, Scheme::General, Scheme::Optimised].map(|scheme| translate::Options {
            scheme,
            force: true,
            ..translate::Options::default()
        });
    chew(source, &options);
}

/// Returns the sources of some folders, including those of subfolders.
fn sources(folders: &[&str]) -> Vec<String> {
    let files = |name: &&str| antiphon_ada::input::files(&folder(name)).unwrap();
    let mut files: Vec<PathBuf> = folders.iter().flat_map(files).collect();
    files.sort();
    let text = |file: &PathBuf| std::fs::read_to_string(file).unwrap();
    files.iter().map(text).collect()
}

/// Cuts a source at blanks and line ends into words that can be dropped, doubled and swapped.
fn words(source: &[u8]) -> Vec<Vec<u8>> {
    source
        .split_inclusive(|b| matches!(b, b' ' | b'\n' | b';'))
        .map(<[u8]>::to_vec)
        .collect()
}

fn every_source() -> Vec<String> {
    sources(&["programs", "general"])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn mutated_words(which in 0usize..100, changes in prop::collection::vec((any::<u16>(), any::<u16>(), 0u8..4), 1..6)) {
        let all = every_source();
        let mut words = words(all[which % all.len()].as_bytes());
        for (at, other, what) in changes {
            let (at, other) = (usize::from(at) % words.len(), usize::from(other) % words.len());
            match what {
                0 => { words.remove(at); }
                1 => words.insert(at, words[other].clone()),
                2 => words.swap(at, other),
                _ => words[at] = words[other].clone(),
            }
        }
        chew_by_all_schemes(words.concat());
    }

    #[test]
    fn mutated_bytes(which in 0usize..100, changes in prop::collection::vec((any::<u32>(), any::<u8>()), 1..10)) {
        let all = every_source();
        let mut source = all[which % all.len()].clone().into_bytes();
        for (at, byte) in changes {
            let at = at as usize % source.len();
            source[at] = byte;
        }
        chew_by_all_schemes(source);
    }

    #[test]
    fn truncated(which in 0usize..100, at in any::<u32>()) {
        let all = every_source();
        let source = all[which % all.len()].as_bytes();
        chew_by_all_schemes(source[..at as usize % source.len()].to_vec());
    }
}

/// Returns the ranges of a source's identifiers, except reserved words.
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

/// Whether a line seems to be a whole statement or declaration, judged by its end.
fn is_whole(line: &str) -> bool {
    line.trim_end().ends_with(';') && !line.trim_start().starts_with("end")
}

/// Makes one change; `other` is another program to take pieces from.
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

#[test]
fn damaged_programs_are_answered() {
    let count = number("ANTIPHON_DAMAGED", 1000);
    let all = sources(&["programs"]);
    let mut read = 0;
    for seed in 0..count {
        let mut rng = Rng::new(seed);
        let (Some(source), Some(other)) = (pick(&all, &mut rng), pick(&all, &mut rng)) else {
            panic!("no programs")
        };
        let mut source = source.clone();
        for _ in 0..=rng.below(3) {
            source = damage(&source, other, &mut rng);
        }
        let options = translate::Options {
            force: rng.chance(50),
            ..translate::Options::default()
        };
        let given = source.clone().into_bytes();
        let force = options.force;
        match catch_unwind(AssertUnwindSafe(|| chew(given, &[options]))) {
            Ok(was_read) => read += u64::from(was_read),
            Err(_) => panic!("seed {seed}, force {force}:\n{source}"),
        }
    }
    // Damage that always ends at the parser would not test the rest.
    assert!(read > count / 5, "only {read} of {count} could be read");
}

#[test]
fn deep_nesting_is_refused_with_its_place() {
    let deep = format!(
        "procedure P is\n   X : Integer := {}1{};\nbegin\n   null;\nend P;\n",
        "(".repeat(20_000),
        ")".repeat(20_000)
    );
    let Err(Error::Syntax(errors)) = Program::parse([(PathBuf::from("p.adb"), deep.into_bytes())])
    else {
        panic!("not refused")
    };
    assert_eq!(errors[0].place.line, 2);
    let blocks = format!(
        "procedure P is\nbegin\n{}null;\n{}end P;\n",
        "if X then\n".repeat(5_000),
        "end if;\n".repeat(5_000)
    );
    chew_by_all_schemes(blocks.into_bytes());
}

#[test]
fn what_cannot_be_read_is_named() {
    let error = Program::read(["/nowhere/at/all.adb"])
        .unwrap_err()
        .to_string();
    assert!(error.contains("/nowhere/at/all.adb"), "{error}");
    let empty = tempfile::tempdir().unwrap();
    let error = Program::read([empty.path()]).unwrap_err();
    assert!(matches!(error, Error::NoSource { .. }), "{error}");
}

#[test]
fn a_hundred_thousand_lines_are_all_analysed() {
    // The benchmark measures the time; this only checks that nothing is lost.
    let path = folder("programs").join("exceptions.adb");
    let one = std::fs::read_to_string(path).unwrap();
    let alone = Program::parse([(PathBuf::from("p.adb"), one.clone().into_bytes())]).unwrap();
    let tasks = Analysis::of(&alone, translate::Options::default())
        .tasks
        .len();
    let files = (0..20).map(|n| {
        (
            PathBuf::from(format!("p{n}.adb")),
            one.replace("Exceptions", &format!("P{n}")).into_bytes(),
        )
    });
    let program = Program::parse(files).unwrap();
    let analysis = Analysis::of(&program, translate::Options::default());
    assert!(tasks > 0);
    assert_eq!(analysis.tasks.len(), 20 * tasks);
}

/// Code after an exit must not be repeated for each exit before it.
#[test]
fn many_exits_do_not_multiply() {
    let exits: String = (0..60)
        .map(|n| format!("         exit when X = {n};\n         X := X + 1;\n"))
        .collect();
    let text = format!(
        "procedure P is\n   task S is\n      entry A;\n      entry B;\n   end S;\n   task body S is\n      X : Integer := 0;\n   begin\n      loop\n         accept A;\n{exits}      end loop;\n      loop\n         accept B do\n            accept A;\n         end B;\n{exits}      end loop;\n   end S;\nbegin\n   S.A;\nend P;\n"
    );
    let program = Program::parse([(PathBuf::from("p.adb"), text.into_bytes())]).unwrap();
    let analysis = Analysis::of(&program, translate::Options::default());
    assert_eq!(translate::translate(&analysis).replaced, ["S"]);
}

/// Inside an accept, procedures cannot share code, so code that would multiply is refused.
#[test]
fn loops_behind_loops_with_exits_do_not_multiply() {
    let one = "            loop\n               exit when X = N;\n               X := X + 1;\n               exit when X > 3;\n               accept A;\n            end loop;\n";
    let text = format!(
        "procedure P is\n   task S is\n      entry A;\n      entry B (N : in Integer);\n   end S;\n   task body S is\n      X : Integer := 0;\n   begin\n      loop\n         accept B (N : in Integer) do\n{}         end B;\n      end loop;\n   end S;\nbegin\n   S.B (3);\nend P;\n",
        one.repeat(30)
    );
    let program = Program::parse([(PathBuf::from("p.adb"), text.into_bytes())]).unwrap();
    let analysis = Analysis::of(&program, translate::Options::default());
    assert!(explain::text(&analysis).contains("too many to be written out"));
}
