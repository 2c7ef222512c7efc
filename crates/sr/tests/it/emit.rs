//! The generated C stays readable: it is compared with reviewed files.
//!
//! After an intended change, `ANTIPHON_BLESS=1 cargo test -p antiphon-sr emit` writes the files
//! again. Review the difference.

use std::path::{Path, PathBuf};

use antiphon_sr::{EmitOptions, Input, emit};

/// Returns the C of a program in this folder. Paths in it are relative, and so the same everywhere.
fn written(file: &str, options: EmitOptions) -> String {
    let input = Input::read(&[PathBuf::from("tests/emitted").join(file)], None).unwrap();
    let checked = input.analyse(None);
    assert!(checked.diagnostics.is_empty(), "{:?}", checked.diagnostics);
    emit(&checked.program.unwrap(), &input.sources, &options)
}

fn compare(name: &str, c: &str) {
    let path = Path::new("tests/emitted").join(name);
    if std::env::var_os("ANTIPHON_BLESS").is_some() {
        std::fs::write(&path, c).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    let differs = expected.lines().zip(c.lines()).position(|(a, b)| a != b);
    assert!(
        expected == c,
        "{} differs from line {} on",
        path.display(),
        differs.map_or(expected.lines().count(), |at| at) + 1
    );
}

#[test]
fn a_small_program_is_readable() {
    compare("small.c", &written("small.sr", EmitOptions::default()));
}

#[test]
fn without_checks_subscripts_are_not_looked_at() {
    let options = EmitOptions {
        checks: false,
        loops: false,
        ..EmitOptions::default()
    };
    let c = written("small.sr", options);
    assert!(!c.contains("sr_offset"), "{c}");
    assert!(!c.contains("SR_LOOP"), "{c}");
}

#[test]
fn every_statement_says_its_line() {
    let options = EmitOptions {
        lines: true,
        ..EmitOptions::default()
    };
    let c = written("small.sr", options);
    assert!(
        c.contains("#line 10 \"tests/emitted/small.sr\""),
        "the line of fa is missing in {c}"
    );
}
