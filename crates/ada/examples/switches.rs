//! Context switches and processor time of an operation, before and after each form of the general
//! scheme.
//!
//! `cargo run --release -p antiphon-ada --example switches -- FILE OPERATIONS` runs the program on
//! one processor. It runs under FIFO where that is permitted, so that the switches do not depend on
//! the load. The result is divided by the program's number of operations.

use std::time::Duration;

use antiphon_ada::translate::{self, Scheme, Selector};
use antiphon_ada::verify::{self, Cost, Schedule};
use antiphon_ada::{Analysis, Program};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), Some(operations)) = (arguments.next(), arguments.next()) else {
        return Err("give a file and the number of operations that its program does".into());
    };
    let operations: f64 = operations.parse()?;
    let program = Program::read([&file])?;
    println!("{:12} {:>9} {:>9}", "", "switches", "us of CPU");
    let schemes = [
        (Scheme::General, Selector::Object, "general"),
        (Scheme::General, Selector::None, "no selector"),
        (Scheme::Optimised, Selector::Object, "optimised"),
        (Scheme::Servers, Selector::Object, "servers"),
    ];
    for (position, (scheme, selector, name)) in schemes.into_iter().enumerate() {
        let options = translate::Options {
            scheme,
            selector,
            ..translate::Options::default()
        };
        let analysis = Analysis::of(&program, options);
        let translation = translate::translate(&analysis);
        let one = [Schedule::Fifo];
        let schedule = one[0]
            .unavailable()
            .map_or(one[0], |_| Schedule::OneProcessor);
        let options = verify::Options {
            runs: 5,
            time_limit: Duration::from_secs(60),
            schedules: vec![schedule],
            ..verify::Options::default()
        };
        let report = verify::verify(&program, &translation.files, &options)?;
        if !report.agrees() {
            return Err(report.text().into());
        }
        let (before, after) = report.costs();
        if position == 0 {
            println!("{}", row("rendezvous", before, operations));
        }
        println!("{}", row(name, after, operations));
    }
    Ok(())
}

fn row(name: &str, cost: Cost, operations: f64) -> String {
    let runs = cost.runs as f64 * operations;
    let switches = (cost.voluntary_switches + cost.involuntary_switches) as f64 / runs;
    format!(
        "{name:12} {switches:9.2} {:9.2}",
        cost.cpu_ns as f64 / 1e3 / runs
    )
}
