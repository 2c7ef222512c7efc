//! Time to read and judge 100 000 lines: `cargo bench -p antiphon-ada`. The aim is 2 s.

use std::path::{Path, PathBuf};
use std::time::Instant;

use antiphon_ada::{Analysis, Program, translate};

const LINES: usize = 100_000;

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut sources: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the tests' programs") {
        let path = entry.expect("a readable folder").path();
        if path.is_file() {
            sources.push(std::fs::read_to_string(path).expect("a readable program"));
        }
    }
    let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    let mut lines = 0;
    while lines < LINES {
        let source = &sources[files.len() % sources.len()];
        lines += source.lines().count();
        files.push((
            PathBuf::from(format!("p{}.adb", files.len())),
            source.clone().into_bytes(),
        ));
    }
    let count = files.len();
    let start = Instant::now();
    let program = Program::parse(files).expect("programs that compile");
    let read = start.elapsed();
    let analysis = Analysis::of(&program, translate::Options::default());
    let judged = start.elapsed();
    let tasks = analysis.tasks.len();
    println!(
        "{lines} lines in {count} files, {tasks} tasks: read {read:.2?}, names and verdicts {:.2?}, together {judged:.2?}",
        judged - read
    );
}
