//! Analyses clock readings from standard input, one a line, as `antiphon doctor` does for a
//! subject's clock.

use antiphon_measure::{ClockEstimate, Interference, zero_strings};
use std::io::BufRead;

fn main() {
    let readings: Vec<i64> = std::io::stdin()
        .lock()
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| line.trim().parse().ok())
        .collect();
    match ClockEstimate::from_readings(&readings) {
        Ok(clock) => println!(
            "{clock:#?}\nstrings of zeros: {:?}",
            zero_strings(&readings, &clock)
        ),
        Err(error) => println!("{error}"),
    }
    if let Ok(interference) = Interference::from_readings(&readings, None) {
        println!(
            "beta {:.5}, {:?}, {:?}",
            interference.beta, interference.case, interference.periodic
        );
    }
}
