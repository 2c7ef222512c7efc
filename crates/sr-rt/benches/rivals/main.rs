//! Compares four costs of generated C with those of Go in one run. They are a nap(0), a hand-over
//! by P and V, an uncontended P and V, and the life of a process. The C programs are like generated
//! ones.
//!
//! The library is built as the command embeds it: optimized as a whole. On one processor, processor
//! time is measured. On two, wall time is measured, which needs an idle machine.

#[path = "../../../fiber/benches/rivals/compare.rs"]
mod compare;
#[path = "../../../fiber/benches/rivals/go.rs"]
mod go;

use std::path::{Path, PathBuf};
use std::process::Command;

use compare::{Costs, compare};

fn main() {
    // `cargo test` runs benchmarks as tests; there is nothing to measure then.
    if std::env::args().any(|a| a == "--test") {
        return;
    }
    let folder = std::env::temp_dir().join(format!("antiphon-sr-rt-{}", std::process::id()));
    let runtime = antiphon_runtimes::SR.unpacked(&folder);
    let runtime = runtime.expect("the run-time's files can be written");
    let one = build(&runtime, &folder.join("one"), &[]);
    let called = build(&runtime, &folder.join("called"), &["-DSR_PLAIN_CALLS"]);
    let many = build(&runtime, &folder.join("many"), &["-DSR_MANY"]);
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

fn build(runtime: &Path, program: &Path, flags: &[&str]) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let status = Command::new("cc")
        .args(["-O2", "-fwrapv", "-mno-red-zone"])
        .args(flags)
        .arg("-I")
        .arg(runtime)
        .arg(root.join("benches/rivals/primitives.c"))
        .arg(runtime.join(antiphon_runtimes::SR.archive))
        .args(["-lm", "-lpthread", "-ldl", "-o"])
        .arg(program)
        .status();
    assert!(status.expect("a C compiler").success(), "primitives.c");
    program.to_owned()
}

/// Runs the program, and returns the four costs that it prints.
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
