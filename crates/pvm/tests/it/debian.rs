//! Programs that Debian has compiled for PVM's own library, not rebuilt.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::support::{Place, libraries};

/// Returns a compiled program's output with this library, or `None` where the program is not
/// installed.
fn shown(program: &str, args: &[&str], input: &str) -> Option<String> {
    let path = Path::new("/usr/bin").join(program);
    if !path.is_file() {
        let is_ci = std::env::var_os("CI").is_some();
        assert!(!is_ci, "Debian's package pvm-examples is missing");
        return None;
    }
    let output = Place::ours().program(path).args(args).input(input).run();
    // Some return from `main` without a value, so any exit code is accepted.
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Checks that a program writes certain lines, in any order.
#[track_caller]
fn writes(program: &str, args: &[&str], input: &str, lines: &[&str]) {
    let Some(shown) = shown(program, args, input) else {
        return;
    };
    for line in lines {
        assert!(
            shown.contains(line),
            "{program} does not write {line:?}:\n{shown}"
        );
    }
}

/// PVM's own console and daemon, which this library replaces.
const REPLACED: [&str; 2] = ["/usr/bin/pvm", "/usr/bin/pvmd"];

#[test]
fn the_names_that_compiled_programs_look_for_are_there() {
    let names = |file: &Path, which: &str| -> BTreeSet<String> {
        let output = Command::new("nm").args(["-D", which]).arg(file).output();
        let listed = output.expect("nm runs").stdout;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        let names = listed
            .lines()
            .filter_map(|line| line.split(' ').next_back());
        let names = names.map(|name| name.split('@').next().unwrap_or_default().to_owned());
        names.collect()
    };
    let ours = names(&libraries().join("libpvm3.so.3"), "--defined-only");
    let listed = Command::new("dpkg")
        .args(["-L", "pvm", "pvm-examples"])
        .output();
    let Ok(listed) = listed else {
        return;
    };
    for file in String::from_utf8_lossy(&listed.stdout).lines() {
        let is_program = file.starts_with("/usr/bin/") && !REPLACED.contains(&file);
        if !is_program {
            continue;
        }
        let wanted = names(Path::new(file), "--undefined-only");
        let lacking: Vec<_> = wanted
            .iter()
            .filter(|name| name.to_lowercase().starts_with("pvm") && !ours.contains(*name))
            .collect();
        assert!(lacking.is_empty(), "{file}: {lacking:?}");
    }
}

#[test]
fn a_master_and_its_slaves() {
    let lines = [
        "Spawning 3 worker tasks ... SUCCESSFUL",
        "I got 200.000000 from 0; (expecting 200.000000)",
        "I got 100.000000 from 1; (expecting 100.000000)",
        "I got 300.000000 from 2; (expecting 300.000000)",
    ];
    writes("master1", &[], "", &lines);
}

#[test]
fn a_greeting() {
    writes(
        "hello.pvm",
        &[],
        "",
        &["i'm t40001", "from t40002: hello, world from "],
    );
}

#[test]
fn masters_in_fortran() {
    let lines = [
        "I got     200.0000000 from   0 (expected     200.0000000 )",
        "I got     100.0000000 from   1 (expected     100.0000000 )",
        "I got     300.0000000 from   2 (expected     300.0000000 )",
    ];
    writes("fmaster1", &[], "3\n", &lines);
    writes(
        "hitc",
        &[],
        "",
        &["hosts detected in configuration", "I got result from tid:"],
    );
}

#[test]
fn groups_and_reductions() {
    writes(
        "gexample",
        &[],
        "5 3\n",
        &["--> Using 3 processors <--", "The 1-Norm is 15"],
    );
    writes("joinleave", &[], "", &["Joined 1100 times"]);
    writes(
        "tst",
        &[],
        "",
        &[
            "joined prognosis 0, negative 0",
            "left prognosis 0, negative 0",
        ],
    );
}
