//! Sources that are not as they should be: no panic, no hang, and an answer that names a place.

use std::path::{Path, PathBuf};

use antiphon_ada::translate::Scheme;
use antiphon_ada::{Analysis, Error, Program, explain, sarif, translate};
use proptest::prelude::*;

/// Everything the front end does, on whatever it is given.
fn chew(bytes: Vec<u8>) {
    match Program::parse([(PathBuf::from("p.adb"), bytes)]) {
        Ok(program) => {
            for scheme in [Scheme::Servers, Scheme::General, Scheme::Optimised] {
                let options = translate::Options {
                    scheme,
                    force: true,
                    ..translate::Options::default()
                };
                let analysis = Analysis::of(&program, options);
                explain::text(&analysis);
                sarif::log(&analysis);
                let translation = translate::translate(&analysis);
                translation.diff(&program);
            }
        }
        Err(Error::Syntax(errors)) => assert!(
            errors
                .iter()
                .all(|e| e.place.line > 0 && e.place.column > 0)
        ),
        Err(other) => panic!("{other}"),
    }
}

fn sources() -> Vec<Vec<u8>> {
    let folders = ["tests/programs", "tests/general"];
    let mut files: Vec<PathBuf> = folders
        .iter()
        .map(|f| Path::new(env!("CARGO_MANIFEST_DIR")).join(f))
        .flat_map(|f| std::fs::read_dir(f).unwrap())
        .map(|e| e.unwrap().path())
        .filter(|p| p.is_file())
        .collect();
    files.sort();
    files.iter().map(|f| std::fs::read(f).unwrap()).collect()
}

/// Cuts a source at blanks and line ends into words that can be dropped, doubled and swapped.
fn words(source: &[u8]) -> Vec<Vec<u8>> {
    source
        .split_inclusive(|b| matches!(b, b' ' | b'\n' | b';'))
        .map(<[u8]>::to_vec)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn mutated_words(which in 0usize..100, changes in prop::collection::vec((any::<u16>(), any::<u16>(), 0u8..4), 1..6)) {
        let all = sources();
        let mut words = words(&all[which % all.len()]);
        for (at, other, what) in changes {
            let (at, other) = (usize::from(at) % words.len(), usize::from(other) % words.len());
            match what {
                0 => { words.remove(at); }
                1 => words.insert(at, words[other].clone()),
                2 => words.swap(at, other),
                _ => words[at] = words[other].clone(),
            }
        }
        chew(words.concat());
    }

    #[test]
    fn mutated_bytes(which in 0usize..100, changes in prop::collection::vec((any::<u32>(), any::<u8>()), 1..10)) {
        let all = sources();
        let mut source = all[which % all.len()].clone();
        for (at, byte) in changes {
            let at = at as usize % source.len();
            source[at] = byte;
        }
        chew(source);
    }

    #[test]
    fn truncated(which in 0usize..100, at in any::<u32>()) {
        let all = sources();
        let source = &all[which % all.len()];
        chew(source[..at as usize % source.len()].to_vec());
    }
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
    chew(blocks.into_bytes());
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
    // The time that this takes is in the benchmark; here only that nothing is lost.
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/exceptions.adb");
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

/// Code after an exit must not be made twice for each exit before it.
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

/// Inside an accept there are no procedures to share code: what would multiply is refused.
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
