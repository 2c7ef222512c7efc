//! The time to compile and start programs of about 90 lines, in Orca and in SR.

use std::path::Path;
use std::time::{Duration, Instant};

use antiphon_sr::{EmitOptions, Input};

use crate::{built_with, words};

fn file(of: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(of)
}

fn sr(cache: &Path, flag: &str) {
    let file = file("../sr/tests/programs/local_operations.sr");
    let input = Input::read(&[file], None).expect("it is read");
    let program = input.analyse(None).program.expect("it is sound");
    let options = EmitOptions {
        checks: true,
        loops: false,
        points: false,
        lines: true,
    };
    let text = antiphon_sr::emit(&program, &input.sources, &options);
    let linking = antiphon_sr::build::Linking {
        flags: vec![flag.to_owned()],
        ..antiphon_sr::build::Linking::default()
    };
    let job = antiphon_sr::build::Job::new(cache, &input.sources, "", linking).expect("a job");
    let built = job.build(&text, "").expect("it compiles");
    let ended = antiphon_runner::Program::new(built.path).run();
    assert!(!ended.expect("it starts").stdout.is_empty());
}

fn orca(cache: &Path, flag: &str) {
    let program = built_with(&file("tests/programs/tsp/tsp.imp"), true, cache, &[flag]);
    assert!(!words(&program.path, 1).is_empty());
}

fn time(run: impl Fn(&Path, &str)) -> Duration {
    // The flag makes another program of it: it is compiled, and the run-time is there already.
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), "-DROUND=1");
    let began = Instant::now();
    run(folder.path(), "-DROUND=2");
    began.elapsed()
}

pub fn measure() {
    let mut best = [Duration::MAX; 2];
    for _ in 0..5 {
        best[0] = best[0].min(time(orca));
        best[1] = best[1].min(time(sr));
    }
    let ratio = best[0].as_secs_f64() / best[1].as_secs_f64();
    println!(
        "compile and start: Orca {:.0} ms, SR {:.0} ms, ratio {ratio:.2}",
        best[0].as_secs_f64() * 1e3,
        best[1].as_secs_f64() * 1e3
    );
}
