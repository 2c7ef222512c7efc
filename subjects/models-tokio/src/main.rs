//! The programs of execution models as tasks of tokio: `models PROGRAM ARGUMENTS`.
//!
//! Those in concurrent style (`_cp`) run on the runtime of several threads and synchronize with what tokio has for it. Those in
//! cooperative style (`_cm`) run on the runtime of one thread; they share plain cells, and yield until what they wait for has come.

mod database;
mod dining;
mod jacobi;
mod micro;
mod producer;
mod work;

use std::future::Future;
use std::process::ExitCode;
use std::time::Instant;
use tokio::task::{JoinSet, LocalSet};

/// What a run tells: its answer, and what it counted.
#[derive(Default)]
pub struct Told {
    answer: String,
    operations: u64,
    turns: u64,
}

impl From<String> for Told {
    fn from(answer: String) -> Self {
        Told {
            answer,
            ..Told::default()
        }
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, words)) = words.split_first() else {
        eprintln!("models: give the name of a program and its arguments");
        return ExitCode::from(2);
    };
    let arguments: Result<Vec<usize>, _> = words.iter().map(|word| word.parse()).collect();
    let Ok(arguments) = arguments else {
        eprintln!("models: an argument of `{name}` is no whole number");
        return ExitCode::from(2);
    };
    let began = Instant::now();
    let Some(told) = run(name, &arguments) else {
        eprintln!(
            "models: there is no program `{name}` with {} arguments",
            arguments.len()
        );
        return ExitCode::from(2);
    };
    let elapsed_ns = began.elapsed().as_nanos();
    print!("@@ run elapsed_ns={elapsed_ns}");
    if told.operations > 0 {
        print!(" operations={}", told.operations);
    }
    if told.turns > 0 {
        print!(" turns={}", told.turns);
    }
    println!("\n{}", told.answer);
    ExitCode::SUCCESS
}

/// Runs a program; `None` if there is none of this name with so many arguments.
fn run(name: &str, arguments: &[usize]) -> Option<Told> {
    Some(match (name, arguments) {
        ("loop", &[tasks, iterations]) => parallel(micro::lone_loops(tasks, iterations)),
        ("sharing", &[chunks, work]) => parallel(micro::share(chunks, work)),
        ("sync_cp", &[rounds]) => parallel(micro::hand_over(rounds)),
        ("sync_cm", &[rounds]) => alone(micro::give_way(rounds)),
        ("dp_cp", &[philosophers, meals, work]) if philosophers > 1 => {
            parallel(dining::concurrent(philosophers, meals, work))
        }
        ("dp_cm", &[philosophers, meals, work]) if philosophers > 1 => {
            alone(dining::cooperative(philosophers, meals, work))
        }
        ("pc_cp", &[items, work]) => parallel(producer::concurrent(items, work)),
        ("pc_cm", &[items, work]) => alone(producer::cooperative(items, work)),
        ("rw_cp", &[readers, writers, rounds, work]) => {
            parallel(database::concurrent([readers, writers, rounds, work]))
        }
        ("rw_cm", &[readers, writers, rounds, work]) => {
            alone(database::cooperative([readers, writers, rounds, work]))
        }
        // A worker has a row at least.
        ("ji_cp", &[size, workers, iterations]) if (1..=size).contains(&workers) => {
            parallel(jacobi::concurrent(size, workers, iterations))
        }
        ("ji_cm", &[size, workers, iterations]) if (1..=size).contains(&workers) => {
            alone(jacobi::cooperative(size, workers, iterations))
        }
        _ => return None,
    })
}

/// Runs a program on as many threads as there are processors.
fn parallel(program: impl Future<Output = Told> + Send + 'static) -> Told {
    let runtime = tokio::runtime::Builder::new_multi_thread().build();
    let runtime = runtime.expect("threads can be started");
    let main = runtime.spawn(program);
    runtime.block_on(main).expect("a program does not panic")
}

/// Runs a program on this thread alone.
fn alone(program: impl Future<Output = Told>) -> Told {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.expect("a runtime of this thread needs nothing");
    LocalSet::new().block_on(&runtime, program)
}

/// Waits for all tasks and adds up what they give.
pub async fn total(mut tasks: JoinSet<u32>) -> u32 {
    let mut sum = 0u32;
    while let Some(ended) = tasks.join_next().await {
        sum = sum.wrapping_add(ended.expect("a task does not panic"));
    }
    sum
}
