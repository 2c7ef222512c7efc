//! The language of `docs/guide/language-runtime.md`. The document shows the example, and no process
//! waits for ever when another ends early.

use std::sync::{Arc, Barrier};
use std::thread;

use antiphon_panda::Session;
use antiphon_panda::platform::Local;

#[allow(dead_code, reason = "the example's main is for processes")]
#[path = "../../../examples/language.rs"]
mod example;

use example::Runtime;

#[test]
fn the_document_shows_the_example() {
    let document = include_str!("../../../../../docs/guide/language-runtime.md");
    let (before, _) = document
        .split_once("The program is `crates/panda/examples/language.rs`")
        .expect("the line below the program");
    let (_, fenced) = before.rsplit_once("```rust,no_run\n").expect("a program");
    let (shown, _) = fenced.split_once("```").expect("its end");
    let (_, program) = include_str!("../../../examples/language.rs")
        .split_once("\n\n")
        .expect("a line on what it is");
    assert!(
        shown == program,
        "copy crates/panda/examples/language.rs into docs/guide/language-runtime.md"
    );
}

/// Runs a program at each rank, and returns the results by rank.
fn run<R: Send + 'static>(
    size: u32,
    program: impl Fn(&Session, Runtime) -> R + Send + Sync + 'static,
) -> Vec<R> {
    let program = Arc::new(program);
    let start = |session: Session| {
        let program = program.clone();
        thread::spawn(move || program(&session, Runtime::begin(session.clone()).unwrap()))
    };
    let threads: Vec<_> = Local::sessions(size)
        .unwrap()
        .into_iter()
        .map(start)
        .collect();
    threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect()
}

#[test]
fn guards_hold_here_and_elsewhere() {
    let values = run(3, |session, runtime| {
        runtime.add("sum", i64::from(session.rank())).unwrap();
        for place in 0..3 {
            runtime.wait_for(place, "sum", 3).unwrap();
        }
        // A variable without additions is 0.
        runtime.wait_for(session.rank(), "other", 0).unwrap();
        runtime.end().is_ok()
    });
    assert_eq!(values, [true; 3]);
}

#[test]
fn who_waits_for_one_that_ended_is_told() {
    let all_wait = Barrier::new(3);
    let reported = run(3, move |session, runtime| {
        let rank = session.rank();
        all_wait.wait();
        if rank == 2 {
            // This process ends without an addition.
            return Vec::new();
        }
        runtime.add("sum", 1).unwrap();
        let here = runtime.wait_for(rank, "sum", 3).unwrap_err();
        let there = runtime.wait_for(1 - rank, "sum", 3).unwrap_err();
        // Neither process ends before the other has received all.
        session.communicator(&[0, 1]).unwrap().barrier().unwrap();
        vec![here.to_string(), there.to_string()]
    });
    for says in reported[..2].iter().flatten() {
        assert!(says.contains("without a reply"), "{says}");
    }
}
