//! Go's goroutines, if Go is installed: a small program, built once, that prints its four costs.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use super::Costs;

/// Nanoseconds an operation; none without Go.
pub fn run(processors: usize) -> Option<Costs> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    let program = PROGRAM.get_or_init(build).as_ref()?;
    let output = Command::new(program)
        .arg(processors.to_string())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let costs: Vec<f64> = text.split_whitespace().flat_map(str::parse).collect();
    costs.try_into().ok()
}

fn build() -> Option<PathBuf> {
    let source = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../fiber/benches/rivals/goroutines.go"
    );
    let program = std::env::temp_dir().join(format!("antiphon-goroutines-{}", std::process::id()));
    let status = Command::new("go")
        .args(["build", "-o"])
        .arg(&program)
        .arg(source)
        .status()
        .ok()?;
    status.success().then_some(program)
}
