//! A program contains only those parts of its run-time that it uses.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{MODELS, built};

/// Returns the functions and data of an executable, by their linkers' names, one a line.
fn symbols(executable: &Path) -> String {
    let output = Command::new("nm").arg(executable).output().expect("nm");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("names in UTF-8")
}

/// Returns the symbols of a program for one processor with this body.
fn symbols_of(name: &str, body: &str) -> String {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.sr"));
    std::fs::write(&file, format!("resource main()\n{body}\nend\n")).unwrap();
    let executable = built(&[file], MODELS[2], &[]).unwrap_or_else(|message| panic!("{message}"));
    symbols(&executable.path)
}

#[test]
fn a_program_without_virtual_machines_holds_nothing_of_panda() {
    let symbols = symbols_of("plain", "  write(1)");
    // Rust's symbols name their crates.
    assert!(symbols.contains("antiphon_fiber"), "{symbols}");
    assert!(!symbols.contains("panda"), "{symbols}");
}

#[test]
fn a_program_holds_only_the_functions_that_it_calls() {
    let plain = symbols_of("plain", "  write(1)");
    assert!(plain.contains(" sr_write\n"), "{plain}");
    assert!(!plain.contains(" sr_scanf\n"), "{plain}");
    assert!(!plain.contains("_gate_"), "{plain}");
    let other = symbols_of(
        "other",
        "  var n: int\n  sem s := 1\n  scanf(\"%d\", n)\n  P(s)\n  nap(n)",
    );
    assert!(!other.contains(" sr_write\n"), "{other}");
    assert!(other.contains(" sr_scanf\n"), "{other}");
    assert!(other.contains(" sr1_gate_"), "{other}");
    assert!(!other.contains(" srn_gate_"), "{other}");
}
