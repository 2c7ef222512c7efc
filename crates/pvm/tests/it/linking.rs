//! How programs are linked.

use std::path::Path;
use std::process::Command;

use crate::support::{Place, archive, libraries, root, run};

/// Libraries that a static library in Rust needs.
const SYSTEM: [&str; 4] = ["-lpthread", "-ldl", "-lm", "-lgcc_s"];

#[test]
fn two_libraries_in_rust_go_into_one_program_in_either_order() {
    let place = Place::ours();
    let (own, pandas) = (libraries().join("libpvm3.a"), archive("libpanda"));
    for (order, archives) in [
        ("own first", [&own, &pandas]),
        ("own last", [&pandas, &own]),
    ] {
        let program = place.programs().join("both");
        run(Command::new("cc")
            .args(["-std=c11", "-D_GNU_SOURCE", "-O1", "-Wall", "-Werror", "-o"])
            .arg(&program)
            .arg(root().join("tests/c/both.c"))
            .arg("-I")
            .arg(root().join("include"))
            .arg("-I")
            .arg(root().join("../panda-c/include"))
            .args(archives)
            .args(SYSTEM));
        let output = place.program(&program).run();
        let output = output.unwrap_or_else(|error| panic!("{order}: {error}"));
        assert_eq!(output.stdout, b"both\n", "{order}");
    }
}

/// Returns the symbols that a library exports.
fn shown(library: &Path, how: &str) -> Vec<String> {
    let listed = run(Command::new("nm")
        .args([how, "--defined-only", "--extern-only"])
        .arg(library));
    let names = listed.lines().filter_map(|line| line.split(' ').nth(2));
    names.map(str::to_owned).collect()
}

#[test]
fn nothing_but_pvms_names_is_seen() {
    for (library, how) in [
        ("libpvm3.so.3", "--dynamic"),
        ("libpvm3.a", "--portability"),
    ] {
        let how = if how == "--portability" {
            "--format=bsd"
        } else {
            how
        };
        let names = shown(&libraries().join(library), how);
        assert!(
            names.iter().any(|name| name == "pvm_packf"),
            "{library}: {names:?}"
        );
        let is_pvms = |name: &String| {
            ["pvm", "Pvm"].iter().any(|start| name.starts_with(start)) || name == "lpvmerr"
        };
        let others: Vec<_> = names.iter().filter(|name| !is_pvms(name)).collect();
        assert!(others.is_empty(), "{library}: {others:?}");
    }
}
