//! Operations on shared objects, in the language and by the Rust face.

use std::hint::black_box;
use std::thread;
use std::time::Instant;

use antiphon_panda::platform::local::Local;
use antiphon_runner::Program as Child;
use orca::{Error, Orca, Placement};
use serde::{Deserialize, Serialize};

use crate::{built, programs, words_of};

#[orca::object]
#[derive(Clone, Default, Serialize, Deserialize)]
struct Number {
    x: i32,
}

#[orca::object]
impl Number {
    fn value(&self) -> i32 {
        self.x
    }

    fn increment(&mut self) -> i32 {
        self.x += 1;
        self.x
    }
}

fn time(rounds: u32, mut round: impl FnMut()) -> f64 {
    let began = Instant::now();
    for _ in 0..rounds {
        round();
    }
    began.elapsed().as_nanos() as f64 / f64::from(rounds)
}

fn by_rust(orca: &Orca) -> Result<[f64; 3], Error> {
    let copied = orca.create_at(Placement::Replicated, Number::default())?;
    let owned = orca.create_at(Placement::Owned(1), Number::default())?;
    let mut best = [f64::INFINITY; 3];
    for _ in 0..5 {
        let times = [
            time(200_000, || drop(black_box(copied.value()))),
            time(2000, || drop(black_box(owned.increment()))),
            time(2000, || drop(black_box(copied.increment()))),
        ];
        best.iter_mut()
            .zip(times)
            .for_each(|(best, it)| *best = best.min(it));
    }
    Ok(best)
}

fn in_rust() -> [f64; 3] {
    let sessions = Local::sessions(2).expect("sessions");
    let run = |session| thread::spawn(move || orca::run(&session, by_rust).expect("it ends"));
    let machines: Vec<_> = sessions.into_iter().map(run).collect();
    let ended = machines
        .into_iter()
        .map(|it| it.join().expect("no machine panics"));
    let main = ended.into_iter().flatten().next();
    main.expect("main has run").expect("nothing fails")
}

/// The argument under which this program measures the Rust face.
pub const IN_RUST: &str = "in-rust";

/// Prints the times of the Rust face.
pub fn print_rust() {
    println!("{}", in_rust().map(|it| it.to_string()).join(" "));
}

/// Runs a program on one processor. Returns the times that it prints.
fn times(program: Child) -> [f64; 3] {
    let said = words_of(program.affinity([0]), 2);
    let times = said.iter().map(|it| it.parse().expect("a time"));
    let times: Vec<f64> = times.collect();
    times.try_into().expect("three times")
}

pub fn measure() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = built(&programs().join("invoke.imp"), true, folder.path());
    let own = std::env::current_exe().expect("this program");
    let mut best = [[f64::INFINITY; 3]; 2];
    for _ in 0..3 {
        let both = [Child::new(&program.path), Child::new(&own).args([IN_RUST])];
        for (best, child) in best.iter_mut().zip(both) {
            let times = times(child);
            best.iter_mut()
                .zip(times)
                .for_each(|(best, it)| *best = best.min(it));
        }
    }
    println!("two machines on one processor       Orca       Rust   ratio");
    let names = ["read of a copy", "remote operation", "write of all copies"];
    for (at, name) in names.iter().enumerate() {
        let (own, rust) = (best[0][at], best[1][at]);
        println!(
            "  {name:<24} {own:>8.1} ns {rust:>7.1} ns   {:.2}",
            own / rust
        );
    }
}
