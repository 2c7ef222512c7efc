//! Precision of the laboratory beside criterion and hyperfine, on the same operation, in one run
//! with other load on both processors.
//!
//! The operation is a dependent chain of 20 steps, some 25 ns. The more expensive one has 21 steps
//! and costs exactly 5 % more. Each tool gets the same time for each try. Run it with `cargo bench
//! -p antiphon-lab --bench precision`.

mod chain;
mod laboratory;
mod load;
mod rivals;

use std::env;
use std::time::Duration;

/// Tries of each tool.
const TRIES: usize = 20;
/// Time of one try.
const TRY: Duration = Duration::from_millis(200);

fn main() {
    let words: Vec<String> = env::args().collect();
    let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    match words.as_slice() {
        // This program is also its own child, with these arguments.
        ["spin"] => load::spin(),
        ["chain", steps, iterations] => chain::run_program(steps, iterations),
        ["criterion", folder] => rivals::criterion_child(folder.as_ref(), TRY),
        _ => bench(),
    }
}

fn bench() {
    let subject = match laboratory::Laboratory::build() {
        Ok(subject) => subject,
        Err(reason) => {
            return println!(
                "The C subject cannot be built, so there is nothing to compare: {reason}"
            );
        }
    };
    println!(
        "A/A: ratio of an operation to itself, less 1 (median and largest of {TRIES} tries of 1 s)"
    );
    same(
        &subject,
        "does not block, idle machine",
        "self.same",
        laboratory::Conditions::other(),
    );
    same(
        &subject,
        "blocks, FIFO, one processor",
        "self.handoff",
        laboratory::Conditions::fifo(),
    );
    let load = load::start();
    same(
        &subject,
        "does not block, load on all processors",
        "self.same",
        laboratory::Conditions::other(),
    );
    same(
        &subject,
        "blocks, FIFO, load on all processors",
        "self.handoff",
        laboratory::Conditions::fifo(),
    );

    println!("\nA true 5 % (ratio 1.05), {TRIES} tries of {TRY:?} under load on all processors");
    println!(
        "{:28} {:>9} {:>9} {:>11}",
        "tool", "median", "spread", "wrong sign"
    );
    let mut tools = rivals::present();
    let mut ratios: Vec<Vec<f64>> = vec![Vec::new(); tools.len() + 1];
    for _ in 0..TRIES {
        // In turns, so that all see the same weather.
        match subject.ratio("self.dearer", TRY, laboratory::Conditions::other()) {
            Ok(ratio) => ratios[0].push(ratio),
            Err(reason) => println!("antiphon: {reason}"),
        }
        for (tool, ratios) in tools.iter_mut().zip(&mut ratios[1..]) {
            ratios.extend(tool.ratio(TRY));
        }
    }
    drop(load);
    line("antiphon", &ratios[0]);
    for (tool, ratios) in tools.iter().zip(&ratios[1..]) {
        line(tool.name(), ratios);
    }
}

/// Prints one line of the A/A table.
fn same(
    subject: &laboratory::Laboratory,
    what: &str,
    test: &str,
    conditions: laboratory::Conditions,
) {
    let tries = (0..TRIES).map(|_| subject.ratio(test, Duration::from_secs(1), conditions));
    match tries.collect::<Result<Vec<f64>, String>>() {
        Err(reason) => println!("  {what:42} not measured: {reason}"),
        Ok(ratios) => {
            let mut off: Vec<f64> = ratios.iter().map(|ratio| (ratio - 1.0).abs()).collect();
            off.sort_by(f64::total_cmp);
            println!(
                "  {what:42} {:.6}  {:.6}",
                off[off.len() / 2],
                off[off.len() - 1]
            );
        }
    }
}

/// Prints one line of the 5 % table: the spread is the standard deviation over the mean.
fn line(name: &str, ratios: &[f64]) {
    if ratios.is_empty() {
        return println!("{name:28} not measured");
    }
    let mut sorted = ratios.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    let variance = ratios.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / ratios.len() as f64;
    let wrong = ratios.iter().filter(|ratio| **ratio <= 1.0).count();
    println!(
        "{name:28} {:>9.4} {:>8.3}% {:>8}/{}",
        sorted[sorted.len() / 2],
        100.0 * variance.sqrt() / mean,
        wrong,
        ratios.len()
    );
}
