//! Limits of the distance of costs from a line, against known cases and against costs drawn from
//! within their intervals.

use crate::{Interval, farthest, line};

type Points = Vec<(f64, Interval)>;

fn points(of: &[(f64, f64, f64, f64)]) -> Points {
    let point = |(number, value, low, high): &(f64, f64, f64, f64)| {
        let (value, low, high) = (*value, *low, *high);
        (*number, Interval { value, low, high })
    };
    of.iter().map(point).collect()
}

/// Costs that are known exactly, of 1, 2, 3 ….
fn exact(costs: &[f64]) -> Points {
    let numbered = (1..).map(f64::from).zip(costs);
    let all: Vec<_> = numbered.map(|(n, cost)| (n, *cost, *cost, *cost)).collect();
    points(&all)
}

fn missed(points: &Points, costs: &[f64]) -> f64 {
    let costs: Vec<_> = points
        .iter()
        .map(|p| p.0)
        .zip(costs.iter().copied())
        .collect();
    line(&costs).unwrap().farthest
}

/// Returns the largest deviation with each cost at an end of its interval.
fn at_ends(points: &Points) -> f64 {
    let end = |index: usize, ends: u32| match ends >> index & 1 {
        0 => points[index].1.low,
        _ => points[index].1.high,
    };
    let costs = |ends: u32| -> Vec<f64> { (0..points.len()).map(|i| end(i, ends)).collect() };
    let all = (0..1_u32 << points.len()).map(|ends| missed(points, &costs(ends)));
    all.fold(0.0, f64::max)
}

/// Checks whether some line misses no cost, wherever in its interval, by more than the part. Such a
/// line passes through the ends of two of its permitted segments.
fn has_line(points: &Points, part: f64) -> bool {
    let may = |cost: &Interval| (cost.low / (1.0 + part), cost.high / (1.0 - part));
    let meets = |at: &dyn Fn(f64) -> f64| {
        points.iter().all(|(number, cost)| {
            let (low, high) = may(cost);
            let slack = 1e-12 * high;
            low - slack <= at(*number) && at(*number) <= high + slack
        })
    };
    let ends = |(number, cost): &(f64, Interval)| {
        let (low, high) = may(cost);
        [(*number, low), (*number, high)]
    };
    let all: Vec<_> = points.iter().flat_map(ends).collect();
    all.iter().any(|from| {
        let others = all.iter().filter(|to| to.0 > from.0);
        others
            .map(|to| (to.1 - from.1) / (to.0 - from.0))
            .any(|slope| meets(&|number| from.1 + slope * (number - from.0)))
    })
}

/// Numbers from 0 to 1, always the same (SplitMix64).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns costs near some line, with intervals of up to this multiple of their value.
    fn points(&mut self, count: usize, times: f64) -> Points {
        let (begin, step) = (100.0 * self.next(), 10.0 * self.next());
        let point = |index| {
            // Some have the same number.
            let number = (index as f64 / 1.3).floor().powi(2) + 1.0;
            let value = (begin + step * number) * (0.8 + 0.4 * self.next());
            let low = value / times.powf(self.next());
            (number, value, low, value * times.powf(self.next()))
        };
        let all: Vec<_> = (0..count).map(point).collect();
        points(&all)
    }

    /// Returns a cost within each interval, often at an end.
    fn costs(&mut self, points: &Points) -> Vec<f64> {
        let cost = |(_, cost): &(f64, Interval)| {
            let share = (2.0 * self.next() - 0.5).clamp(0.0, 1.0);
            cost.low * (cost.high / cost.low).powf(share)
        };
        points.iter().map(cost).collect()
    }
}

#[test]
fn costs_that_a_line_passes_through_need_not_miss_it() {
    // A run of sql-go/mariadb, through which 76 980 ns + 640 ns passes.
    let found = farthest(&points(&[
        (1.0, 77_542.0, 72_660.0, 77_622.0),
        (10.0, 83_339.0, 83_290.0, 87_225.0),
        (100.0, 119_484.0, 115_954.0, 205_019.0),
        (1000.0, 428_772.0, 409_212.0, 754_932.0),
    ]));
    let found = found.unwrap();
    assert_eq!(found.low, 0.0, "{found:?}");
    assert!((found.value - 0.040_149).abs() < 1e-6, "{found:?}");
    assert!((found.high - 0.746_944).abs() < 1e-6, "{found:?}");
}

#[test]
fn the_line_is_put_through_other_costs_anew() {
    // Both are of one run. The ends of sql-java/mariadb are farther from their own line than from
    // that of the values; those of sql-ada/postgresql are nearer.
    let java = points(&[
        (1.0, 41_184.0, 33_436.0, 65_648.0),
        (10.0, 36_564.0, 35_358.0, 56_237.0),
        (100.0, 59_951.0, 54_640.0, 113_868.0),
        (1000.0, 264_422.0, 231_944.0, 463_249.0),
    ]);
    let ada = points(&[
        (1.0, 34_964.0, 34_807.0, 35_956.0),
        (10.0, 39_195.0, 37_950.0, 46_075.0),
        (100.0, 63_729.0, 62_459.0, 64_649.0),
        (1000.0, 337_531.0, 319_822.0, 537_635.0),
    ]);
    for (points, high) in [(java, 0.983_957), (ada, 0.210_262)] {
        let found = farthest(&points).unwrap();
        assert!((found.high - high).abs() < 1e-6, "{found:?}");
        assert!((at_ends(&points) - found.high).abs() < 1e-9, "{found:?}");
    }
}

#[test]
fn what_every_line_must_miss_is_known() {
    let low = |points: &Points| farthest(points).unwrap().low;
    let near = |found: f64, known: f64| assert!((found - known).abs() < 1e-12, "{found}");
    near(low(&exact(&[1.0, 1.0, 3.0])), 1.0 / 3.0); // 1 against 2
    near(low(&exact(&[1.0, 3.0, 1.0])), 1.0 / 2.0); // 3 against 1
    near(low(&exact(&[1.0, 1.0, 3.0, 4.0, 5.0])), 1.0 / 3.0);
    let mut wide = exact(&[1.0, 1.0, 3.0]);
    wide[1].1.high = 1.5;
    near(low(&wide), 1.0 / 7.0); // 1.5 against 2
}

#[test]
fn a_cost_of_many_times_its_line_may_be_farther_off_when_it_is_less() {
    let points = points(&[
        (1.0, 20.0, 8.0, 32.0),
        (2.0, 6.0, 6.0, 6.0),
        (3.0, 20.0, 8.0, 32.0),
    ]);
    let within = || (8..=32).map(f64::from);
    let all = within().flat_map(|left| within().map(move |right| [left, 6.0, right]));
    let inner = all.map(|costs| missed(&points, &costs)).fold(0.0, f64::max);
    let high = farthest(&points).unwrap().high;
    assert!(at_ends(&points) < inner - 0.5, "{inner}");
    assert!(inner < high, "{inner} {high}");
    // 9/89 is the least coefficient: of an outer cost at its upper end, with the other at neither.
    assert!((high - 80.0 / 9.0).abs() < 1e-9, "{high}");
}

#[test]
fn of_one_moving_cost_the_farthest_is_at_an_end() {
    let one = |low: f64, high: f64, others: [f64; 2]| {
        let mut points = exact(&[(low + high) / 2.0, others[0], others[1]]);
        (points[0].1.low, points[0].1.high) = (low, high);
        points
    };
    for points in [one(1.0, 3.0, [6.0, 10.0]), one(4.0, 12.0, [8.0, 8.0])] {
        let (high, ends) = (farthest(&points).unwrap().high, at_ends(&points));
        assert!((high - ends).abs() < 1e-12, "{high} {ends}");
    }
}

#[test]
fn costs_that_are_known_exactly_are_as_far_as_they_are() {
    let bent = farthest(&exact(&[1.0, 1.1, 1.5, 2.0])).unwrap();
    assert!(0.0 < bent.low && bent.low < bent.value, "{bent:?}");
    assert!((bent.high - bent.value).abs() < 1e-12, "{bent:?}");
    let straight = farthest(&exact(&[1.0, 2.0, 3.0, 4.0])).unwrap();
    assert_eq!(straight.low, 0.0);
    assert!(straight.high < 1e-12, "{straight:?}");
}

#[test]
fn costs_of_one_number_are_held_against_each_other() {
    let all = [
        (1.0, 1.5, 1.0, 2.0),
        (1.0, 3.5, 3.0, 4.0),
        (2.0, 4.0, 1.0, 8.0),
        (3.0, 4.0, 1.0, 8.0),
    ];
    let found = farthest(&points(&all)).unwrap();
    assert!((found.low - 0.2).abs() < 1e-12, "{found:?}"); // 2 against 3
    assert_eq!(farthest(&points(&all[..3])), None, "two numbers");
    let one = [all[0], all[0], all[0], all[2], all[3]];
    assert_eq!(farthest(&points(&one)).unwrap().low, 0.0);
}

#[test]
fn a_line_that_may_come_down_to_zero_bounds_nothing() {
    let steep = points(&[
        (1.0, 10.0, 1.0, 100.0),
        (2.0, 10.0, 1.0, 100.0),
        (3.0, 10.0, 1.0, 100.0),
        (4.0, 10.0, 1.0, 100.0),
    ]);
    let found = farthest(&steep).unwrap();
    assert_eq!((found.low, found.high), (0.0, f64::INFINITY));
    let below_zero = points(&[
        (1.0, 1.0, -1.0, 1.0),
        (2.0, 5.0, 5.0, 5.0),
        (3.0, 1.0, -1.0, 1.0),
    ]);
    let found = farthest(&below_zero).unwrap();
    assert!((found.low - 2.0 / 3.0).abs() < 1e-12, "{found:?}"); // 5 against 1
    assert_eq!(found.high, f64::INFINITY);
}

#[test]
fn a_value_outside_its_interval_is_taken_in() {
    let mut points = exact(&[1.0, 2.0, 3.0]);
    points[1].1.low = 2.5;
    points[1].1.high = 2.6;
    let found = farthest(&points).unwrap();
    assert_eq!(found.low, 0.0, "{found:?}");
    assert!(found.high > 0.1, "{found:?}");
}

/// Costs drawn from within their intervals are not beyond the limits, nor is their value.
fn hold(draw: &mut Draw, points: &Points, draws: usize) {
    let found = farthest(points).unwrap();
    assert!(found.low <= found.value && found.value <= found.high);
    for _ in 0..draws {
        let far = missed(points, &draw.costs(points));
        let within = found.low - 1e-9 <= far && far <= found.high * (1.0 + 1e-9) + 1e-9;
        assert!(within, "{far} of {found:?}: {points:?}");
    }
}

#[test]
fn no_costs_within_their_intervals_are_beyond_the_limits() {
    let mut draw = Draw(1);
    for round in 0..400 {
        let times = [1.001, 1.03, 1.3, 3.0][round % 4];
        let points = draw.points(4 + round % 3, times);
        hold(&mut draw, &points, 40);
        let found = farthest(&points).unwrap();
        assert!(has_line(&points, found.low + 1e-9), "{found:?}: {points:?}");
        let nearer = found.low - 1e-7;
        assert!(
            nearer < 0.0 || !has_line(&points, nearer),
            "{found:?}: {points:?}"
        );
        if times < 1.1 {
            let ends = at_ends(&points);
            assert!(
                (found.high / ends - 1.0).abs() < 1e-6,
                "{ends}, {found:?}: {points:?}"
            );
        }
    }
}

#[test]
fn of_many_costs_the_bound_is_wider_and_holds() {
    let mut draw = Draw(2);
    for round in 0..20 {
        let points = draw.points(11 + round, 1.02);
        hold(&mut draw, &points, 40);
    }
    let few = (0..40).map(|n| f64::from(n) + 10.0);
    let many: Vec<_> = few.map(|n| (n, 5.0 * n, 4.99 * n, 5.01 * n)).collect();
    let found = farthest(&points(&many)).unwrap();
    assert!(0.002 < found.high && found.high < 0.02, "{found:?}");
}
