//! Limits of the distance of costs from lines, for costs that are known within intervals.

use crate::{Interval, Line};

/// Costs that may move, beyond which combinations of them are too many to be tried.
const MOVING_MOST: usize = 10;

/// Remainder of a zero deviation after rounding.
const ROUNDING: f64 = 1e-9;

/// Returns the part by which the farthest of the costs must miss every line, wherever each lies in
/// its interval.
///
/// No choice of costs is nearer to any line, and so none to its own; some choice is as near to some
/// line. It is 0 if a line passes through all intervals.
///
/// A line misses no cost by more than the part t if, at each number, it is between low / (1 + t)
/// and high / (1 − t). By Helly's theorem a line passes through all these segments if one passes
/// through any three of them. Of three, the middle one must meet the space between the others. The
/// farthest of the threes decides, and each has its t in closed form.
pub(crate) fn least(points: &[(f64, Interval)]) -> f64 {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut least = 0.0_f64;
    for (first, left) in sorted.iter().enumerate() {
        for (second, right) in sorted.iter().enumerate().skip(first + 2) {
            let middles = &sorted[first + 1..second];
            let forced = middles.iter().map(|middle| forced(left, middle, right));
            least = forced.fold(least, f64::max);
        }
    }
    if least < ROUNDING { 0.0 } else { least }
}

/// Returns the part by which a line must miss the farthest of three, in the order of their numbers.
///
/// Three of one number do not matter: each two of them are compared beside a cost of another
/// number.
fn forced(left: &(f64, Interval), middle: &(f64, Interval), right: &(f64, Interval)) -> f64 {
    let width = right.0 - left.0;
    if width <= 0.0 {
        return 0.0;
    }
    let share = (right.0 - middle.0) / width;
    let chord = |left: f64, right: f64| share * left + (1.0 - share) * right;
    // Costs are above zero, whatever their intervals say.
    let low = |of: &(f64, Interval)| of.1.low.max(0.0);
    let highest = chord(left.1.high, right.1.high);
    let lowest = chord(low(left), low(right));
    // more / (1 + t) = less / (1 − t)
    let apart = |more: f64, less: f64| (more - less) / (more + less);
    apart(low(middle), highest).max(apart(lowest, middle.1.high))
}

/// Returns a bound on the part by which the farthest of the costs misses their own line, wherever
/// each lies in its interval.
///
/// It is ∞ if a line may come down to zero at one of the numbers, or an interval does. It is ∞
/// also if intervals are so wide that this cannot be excluded.
///
/// `through` is any line; one near to the costs makes a good bound for many of them.
pub(crate) fn most(points: &[(f64, Interval)], through: &Line) -> f64 {
    if points.iter().any(|(_, cost)| cost.low <= 0.0) {
        return f64::INFINITY;
    }
    let moving = points.iter().filter(|(_, cost)| cost.low < cost.high);
    if moving.count() > MOVING_MOST {
        return by_squares(points, through);
    }
    let mut reach = Reach::new(points);
    reach.extend(0, Sums::default());
    let ranges = reach.ranges.iter();
    ranges.map(|range| deviation(*range)).fold(0.0, f64::max)
}

/// Returns the largest deviation of a cost from a line whose value is this multiple of the cost.
fn deviation((least, most): (f64, f64)) -> f64 {
    match least > 0.0 || most < 0.0 {
        true => (1.0 / least - 1.0).abs().max((1.0 / most - 1.0).abs()),
        false => f64::INFINITY, // it may be nothing
    }
}

/// Returns a bound by squares: the fitted line has the least sum of squares. No deviation therefore
/// exceeds the root of another line's worst sum.
fn by_squares(points: &[(f64, Interval)], through: &Line) -> f64 {
    let worst = |(number, cost): &(f64, Interval)| {
        let at = |end: f64| (through.at(*number) / end - 1.0).powi(2);
        at(cost.low).max(at(cost.high))
    };
    let root = points.iter().map(worst).sum::<f64>().sqrt();
    match root < 1.0 {
        true => root / (1.0 - root), // of the cost, and so more of the line
        false => f64::INFINITY,
    }
}

/// Weights of a cost in the fit: u = 1 / cost, and u².
#[derive(Clone, Copy)]
struct Weight {
    number: f64,
    once: f64,
    squared: f64,
}

/// Sums over costs of u² and of u, each with powers of the number: the normal equations.
#[derive(Clone, Copy, Default)]
struct Sums {
    squared: [f64; 3],
    once: [f64; 2],
}

impl Sums {
    fn with(self, of: &Weight) -> Sums {
        let [all, first, second] = self.squared;
        let more = of.squared * of.number;
        Sums {
            squared: [all + of.squared, first + more, second + more * of.number],
            once: [self.once[0] + of.once, self.once[1] + of.once * of.number],
        }
    }
}

/// Range of the line through all costs at one cost, as multiples of that cost.
///
/// With u = 1 / cost this is a quotient of two polynomials (Cramer's rule), each of at most the
/// second degree in each u. The coefficients of such a polynomial in Bernstein's form over the box
/// of intervals are its values at certain points. There u and u² are those of the lower end, of
/// the upper end, or of neither: (low + high) / 2 and low · high. The polynomial lies within its
/// coefficients. The quotient lies within the quotients of theirs, because the denominator's are
/// all above zero.
///
/// The outermost quotients are reached if they belong to ends alone, which is the line through
/// these ends. Ends alone would not be enough. A cost of several times its line has so little
/// weight that a smaller one may draw the line farther off.
struct Reach {
    choices: Vec<Vec<Weight>>,
    chosen: Vec<Weight>,
    ranges: Vec<(f64, f64)>,
}

impl Reach {
    fn new(points: &[(f64, Interval)]) -> Reach {
        let weight = |cost: &Interval| cost.value.powi(-2);
        let all: f64 = points.iter().map(|(_, cost)| weight(cost)).sum();
        let sum = points.iter().map(|(number, cost)| number * weight(cost));
        // Numbers from their mean on: else the difference of large products is lost in rounding.
        let mean = sum.sum::<f64>() / all;
        let choices = points.iter().map(|(n, cost)| choices(n - mean, cost));
        Reach {
            choices: choices.collect(),
            chosen: Vec::new(),
            ranges: vec![(f64::INFINITY, f64::NEG_INFINITY); points.len()],
        }
    }

    /// Tries all choices for the costs from one on, with those before it chosen.
    fn extend(&mut self, at: usize, sums: Sums) {
        let Some(count) = self.choices.get(at).map(Vec::len) else {
            return self.widen(&sums);
        };
        for index in 0..count {
            let weight = self.choices[at][index];
            self.chosen.push(weight);
            self.extend(at + 1, sums.with(&weight));
            self.chosen.pop();
        }
    }

    /// Extends the ranges by the line through the chosen costs.
    fn widen(&mut self, sums: &Sums) {
        for (range, weight) in self.ranges.iter_mut().zip(&self.chosen) {
            let given = given(sums, weight);
            *range = match given.is_finite() {
                true => (range.0.min(given), range.1.max(given)),
                false => (f64::NEG_INFINITY, f64::INFINITY),
            };
        }
    }
}

/// Returns the choices of a cost for the fit: either end and the middle form, or the cost alone.
fn choices(number: f64, cost: &Interval) -> Vec<Weight> {
    let (low, high) = (1.0 / cost.high, 1.0 / cost.low);
    let weight = |once: f64, squared: f64| Weight {
        number,
        once,
        squared,
    };
    let end = weight(low, low * low);
    match low < high {
        true => vec![
            end,
            weight((low + high) / 2.0, low * high),
            weight(high, high * high),
        ],
        false => vec![end],
    }
}

/// Returns the multiple of its cost that a line gives at one cost.
///
/// Its u counts twice, in the line and as the line's factor. If u and u² belong to neither end,
/// the product of the two is corrected.
fn given(sums: &Sums, of: &Weight) -> f64 {
    let ([all, first, second], [once, more]) = (sums.squared, sums.once);
    let number = of.number;
    let determinant = all * second - first * first;
    let line = second * once - first * more + (all * more - first * once) * number;
    let lever = second - 2.0 * number * first + number * number * all;
    (of.once * line + (of.squared - of.once * of.once) * lever) / determinant
}
