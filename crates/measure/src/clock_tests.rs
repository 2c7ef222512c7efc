//! Clocks of known resolution.

use crate::synthetic::{Periodic, clock_readings};
use crate::{ClockError, ClockEstimate, ClockGap, GapLoop, ResolutionBy, zero_strings};

const TICK: Periodic = Periodic {
    period_ns: 1e6,
    duration_ns: 4000.0,
    phase_ns: 300_000.0,
};

fn estimate(resolution: f64, cost: f64, jitter: f64, interruptions: &[Periodic]) -> ClockEstimate {
    ClockEstimate::from_readings(&clock_readings(
        20_000,
        resolution,
        cost,
        jitter,
        interruptions,
        7,
    ))
    .unwrap()
}

fn near(a: f64, b: f64, part: f64) -> bool {
    (a - b).abs() <= part * b
}

#[test]
fn periodic_series_give_tau_by_second_differences() {
    for (tau, cost) in [
        (10.0, 23.0),
        (10.0, 27.3),
        (100.0, 110.0),
        (1000.0, 3550.0),
        (2.0, 24.7),
    ] {
        let clock = estimate(tau, cost, 0.0, &[]);
        assert_eq!(clock.by, ResolutionBy::SecondDifferences);
        assert_eq!(clock.resolution, tau, "{tau} {cost}");
        assert!(near(clock.cost, cost, 0.01), "{tau} {cost}: {}", clock.cost);
    }
}

#[test]
fn a_loop_shorter_than_tau_gives_it_by_first_differences() {
    for (tau, cost) in [(1000.0, 31.0), (10_000.0, 95.0), (100.0, 60.0)] {
        let clock = estimate(tau, cost, 0.0, &[]);
        assert_eq!(clock.by, ResolutionBy::FirstDifferences);
        assert_eq!(clock.resolution, tau);
        assert!(near(clock.cost, cost, 0.02), "{tau} {cost}: {}", clock.cost);
    }
}

#[test]
fn interruptions_are_counted_and_change_neither_figure() {
    for (tau, cost, jitter) in [
        (1.0, 25.0, 2.0),
        (2.0, 24.7, 1.5),
        (1000.0, 31.0, 2.0),
        (100.0, 250.0, 40.0),
    ] {
        let clock = estimate(tau, cost, jitter, &[TICK]);
        assert_eq!(clock.resolution, tau, "{tau} {cost}");
        assert!(near(clock.cost, cost, 0.03), "{tau} {cost}: {}", clock.cost);
    }
    let clock = estimate(1.0, 50.0, 2.0, &[TICK]);
    assert_eq!(clock.gaps, 1, "20 000 readings of 50 ns last 1 ms");
}

#[test]
fn a_grain_that_conversion_hides_is_found() {
    // Counters of 24 MHz and 19.2 MHz read in ns.
    for tau in [1000.0 / 24.0, 1000.0 / 19.2] {
        for cost in [18.0, 60.0, 131.0] {
            let clock = estimate(tau, cost, 3.0, &[TICK]);
            assert!(
                near(clock.resolution, tau, 0.002),
                "{tau} {cost}: {}",
                clock.resolution
            );
        }
    }
}

#[test]
fn regular_costs_of_the_loop_are_not_a_grain() {
    // The clock has 1 ns. Its loop is 40 ns longer in each eighth turn, which stores into another
    // cache line.
    let mut now = 0;
    let readings: Vec<i64> = (0..8000)
        .map(|i| {
            now += 25 + i % 3 / 2 + if i % 8 == 0 { 40 } else { 0 };
            now
        })
        .collect();
    let clock = ClockEstimate::from_readings(&readings).unwrap();
    assert_eq!(clock.resolution, 1.0);
}

#[test]
fn a_few_damaged_readings_do_not_hide_the_grain() {
    let mut readings = clock_readings(20_000, 1000.0, 400.0, 10.0, &[], 3);
    for i in [500, 7000, 15_000] {
        readings[i] += 137;
    }
    let clock = ClockEstimate::from_readings(&readings).unwrap();
    assert_eq!(clock.resolution, 1000.0);
}

#[test]
fn zero_strings_are_as_long_as_equation_12_says() {
    for (tau, cost) in [(10.0, 21.0), (10.0, 29.0), (100.0, 115.0), (1000.0, 50.0)] {
        let readings = clock_readings(20_000, tau, cost, 0.0, &[], 1);
        let clock = ClockEstimate::from_readings(&readings).unwrap();
        let strings = zero_strings(&readings, &clock).unwrap();
        assert!(strings.agree(), "{tau} {cost}: {strings:?}");
        assert!(strings.observed > 1.0);
    }
    let noisy = clock_readings(20_000, 1.0, 25.0, 8.0, &[], 1);
    let clock = ClockEstimate::from_readings(&noisy).unwrap();
    assert_eq!(zero_strings(&noisy, &clock), None);
}

#[test]
fn steps_back_are_counted() {
    let mut readings = clock_readings(2000, 1.0, 25.0, 1.0, &[], 5);
    readings[1000] -= 5000;
    let clock = ClockEstimate::from_readings(&readings).unwrap();
    assert_eq!(clock.steps_back, 1);
    assert_eq!(clock.resolution, 1.0);
}

#[test]
fn series_that_cannot_tell_say_so() {
    let of = |readings: &[i64]| ClockEstimate::from_readings(readings).unwrap_err();
    assert_eq!(of(&[1, 2]), ClockError::TooFew { readings: 2 });
    assert_eq!(of(&[7; 100]), ClockError::StoodStill { readings: 100 });
    let exact: Vec<i64> = (0..100).map(|i| i * 40).collect();
    assert_eq!(of(&exact), ClockError::NoVariation { difference: 40 });
}

#[test]
fn a_clock_that_ticks_once_in_the_series_still_has_a_cost() {
    let readings: Vec<i64> = (0..100_000)
        .map(|i| if i < 60_000 { 0 } else { 4_000_000 })
        .collect();
    let clock = ClockEstimate::from_readings(&readings).unwrap();
    assert_eq!(
        (clock.resolution, clock.by),
        (4e6, ResolutionBy::FirstDifferences)
    );
    assert!((clock.cost - 40.0).abs() < 0.01, "{}", clock.cost);
}

#[test]
fn a_coarse_clock_that_ticked_seldom_is_an_upper_bound() {
    let coarse =
        |ticks: i64| -> Vec<i64> { (0..ticks * 500).map(|i| i / 500 * 4_000_000).collect() };
    let few = ClockEstimate::from_readings(&coarse(4)).unwrap();
    assert!(few.is_upper_bound() && few.ticks == 3, "{few:?}");
    let many = ClockEstimate::from_readings(&coarse(30)).unwrap();
    assert!(!many.is_upper_bound() && many.ticks == 29, "{many:?}");
    // A fine clock moves with every reading; twenty of them are few, but it is not coarse.
    let fine = estimate(1.0, 25.3, 0.0, &[]);
    assert!(!fine.is_upper_bound(), "{fine:?}");
}

#[test]
fn ticks_alone_tell_of_a_clock_that_mostly_stands_still() {
    // 4 ms a tick, one of them missed because the reader was preempted; 5 ns a reading.
    let moved: Vec<i64> = (0..25)
        .map(|i| 4_000_000 * (i + i64::from(i > 11)))
        .collect();
    let estimate = ClockEstimate::from_ticks(&moved, 20_000_000).unwrap();
    assert_eq!((estimate.resolution, estimate.ticks), (4e6, 24));
    assert!(near(estimate.cost, 5.0, 0.01) && !estimate.is_upper_bound());
    for moved in [&[][..], &[7]] {
        assert!(ClockEstimate::from_ticks(moved, 1000).is_err());
    }
}

#[test]
fn a_loop_of_ticks_tells_what_a_reading_costs() {
    // A hundred ticks of 4 ms, with 5 ns a reading. The reader waited for the processor for a fifth
    // of the time.
    let tick = |i: u64| ClockGap {
        start_ns: 4_000_000 * i,
        duration_ns: 4_000_000,
    };
    let seen = GapLoop {
        readings: 64_000_000,
        elapsed_ns: 400_000_000,
        wait_ns: Some(80_000_000),
        gaps: 100,
        lost_ns: 400_000_000,
        kept: (0..100).map(tick).collect(),
    };
    let estimate = ClockEstimate::from_tick_loop(&seen).unwrap();
    assert_eq!((estimate.resolution, estimate.ticks), (4e6, 100));
    assert!(near(estimate.cost, 5.0, 0.001), "{estimate:?}");
    let silent = GapLoop {
        kept: Vec::new(),
        ..seen
    };
    assert_eq!(
        ClockEstimate::from_tick_loop(&silent),
        Err(ClockError::StoodStill {
            readings: 64_000_000
        })
    );
}
