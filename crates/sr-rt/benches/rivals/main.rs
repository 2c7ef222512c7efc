//! What a nap(0), a hand-over by P and V, an uncontended P and V, and a process's life cost C that is like the generated one, beside Go in one run.
//!
//! The library is built as the command embeds it: optimized as a whole. On one processor what counts is the processor's time; on two the
//! wall's, which needs an idle machine.

#[path = "../../../fiber/benches/rivals/compare.rs"]
mod compare;
#[path = "../../../fiber/benches/rivals/go.rs"]
mod go;

use std::path::{Path, PathBuf};
use std::process::Command;

use compare::{Costs, compare};

/// Settings of the library's profile.
const PROFILE: [&str; 4] = [
    "profile.release.opt-level=3",
    "profile.release.lto=\"fat\"",
    "profile.release.codegen-units=1",
    "profile.release.panic=\"abort\"",
];

fn main() {
    // `cargo test` runs benchmarks as tests: then there is nothing to measure.
    if std::env::args().any(|a| a == "--test") {
        return;
    }
    let folder = std::env::temp_dir().join(format!("antiphon-sr-rt-{}", std::process::id()));
    let library = build_library(&folder);
    let one = build(&library, &folder.join("one"), &[]);
    let called = build(&library, &folder.join("called"), &["-DSR_PLAIN_CALLS"]);
    let many = build(&library, &folder.join("many"), &["-DSR_MANY"]);
    let (many_one, many_two) = (many.clone(), many);
    compare(
        "one processor",
        vec![
            ("go", Box::new(|| go::run(1))),
            ("sr, one server", Box::new(move || run(&one, 1))),
            ("sr, without the gate", Box::new(move || run(&called, 1))),
            ("sr, many (1)", Box::new(move || run(&many_one, 1))),
        ],
    );
    compare(
        "two processors",
        vec![
            ("go", Box::new(|| go::run(2))),
            ("sr, many (2)", Box::new(move || run(&many_two, 2))),
        ],
    );
    let _ = std::fs::remove_dir_all(folder);
}

fn build_library(folder: &Path) -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["rustc", "--lib", "--crate-type", "staticlib", "--release"])
        .arg("--target-dir")
        .arg(folder);
    for setting in PROFILE {
        cargo.args(["--config", setting]);
    }
    assert!(cargo.status().expect("cargo").success(), "the library");
    folder.join("release/libantiphon_sr_rt.a")
}

fn build(library: &Path, program: &Path, flags: &[&str]) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let status = Command::new("cc")
        .args(["-O2", "-fwrapv", "-mno-red-zone"])
        .args(flags)
        .arg("-I")
        .arg(root.join("include"))
        .arg(root.join("benches/rivals/primitives.c"))
        .arg(library)
        .args(["-lm", "-lpthread", "-ldl", "-o"])
        .arg(program)
        .status();
    assert!(status.expect("a C compiler").success(), "primitives.c");
    program.to_owned()
}

/// The four costs that the program prints.
fn run(program: &Path, servers: usize) -> Option<Costs> {
    let output = Command::new(program)
        .arg(servers.to_string())
        .env("ANTIPHON_SR", format!("servers={servers}"))
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let costs: Vec<f64> = text.split_whitespace().flat_map(str::parse).collect();
    costs.try_into().ok()
}
