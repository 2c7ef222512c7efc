//! Inner loops of ASP, SOR and a product of matrices.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{built, programs, words};

/// The flags of generated C that hand-written C has, too.
const FLAGS: [&str; 4] = ["-std=gnu11", "-O3", "-fwrapv", "-fexceptions"];

const SERIES: u32 = 7;

fn c_program(name: &str, folder: &Path) -> PathBuf {
    let to = folder.join(format!("{name}-c"));
    let ended = Command::new("cc")
        .args(FLAGS)
        .arg("-include")
        .arg(programs().join("head.h"))
        .arg(programs().join(format!("{name}.c")))
        .arg("-o")
        .arg(&to)
        .status();
    assert!(ended.expect("a C compiler").success());
    to
}

pub fn measure() {
    let folder = tempfile::tempdir().expect("a folder");
    println!("inner loops, ratio to hand-written C      with checks  without");
    for name in ["asp", "sor", "matrix"] {
        let unit = programs().join(format!("{name}.imp"));
        let mut variants = vec![c_program(name, folder.path())];
        for checks in [true, false] {
            variants.push(built(&unit, checks, folder.path()).path);
        }
        let mut best = [u64::MAX; 3];
        let mut answers = Vec::new();
        // The variants take turns.
        for _ in 0..SERIES {
            for (time, program) in best.iter_mut().zip(&variants) {
                let said = words(program, 1);
                *time = said[0].parse::<u64>().expect("microseconds").min(*time);
                answers.push(said[1].clone());
            }
        }
        assert!(answers.iter().all(|it| *it == answers[0]), "{answers:?}");
        let ratio = |time: u64| time as f64 / best[0] as f64;
        println!(
            "  {name:<8} {:>8} µs in C {:>21.2} {:>8.2}",
            best[0],
            ratio(best[1]),
            ratio(best[2])
        );
    }
}
