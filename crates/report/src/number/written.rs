//! A value with its interval, as it is written.

use super::digits::rounded;
use super::{Scale, fixed, last_place, push_unit, scale_for, significant};
use crate::document::Unit;

/// Largest offset of an interval's middle from its value, relative to the half width, for the form
/// ±. Beyond it ± would show the nearer limit as far as the other.
const UNEVEN: f64 = 0.25;

/// Largest half width for the form ±, relative to the value, unless zero lies within. Beyond it ±
/// would hide the value's nearness to zero, or reach past it.
const WIDE: f64 = 1.0 / 3.0;

/// The last place that is written: five decimals.
const LAST: i32 = -5;

/// Significant digits of a half width.
const DIGITS: usize = 2;

/// Digits of a value beside a limit that does not support as many.
const ENOUGH: usize = 3;

/// A value, its possible error, and their unit, written to the digits that its interval supports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The value.
    pub value: String,
    /// Possible error.
    pub spread: Spread,
    /// The unit's symbol.
    pub unit: &'static str,
}

/// Possible error of a value, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Nothing is written: the interval has no width, or a limit that is not known.
    None,
    /// The larger half width, of a value near the middle of its interval, which is not wide beside
    /// it.
    Half(String),
    /// Both limits.
    Limits(String, String),
}

impl Written {
    /// Returns `12.3 ± 1.4 ns`, or `132 µs (98 to 5927)`.
    pub fn line(&self) -> String {
        let mut line = self.value.clone();
        if let Spread::Half(half) = &self.spread {
            line.push_str(&format!(" ± {half}"));
        }
        push_unit(&mut line, self.unit);
        if let Spread::Limits(low, high) = &self.spread {
            line.push_str(&format!(" ({low} to {high})"));
        }
        line
    }
}

/// Writes `value` with its interval `low ..= high`, in `scale`.
pub fn interval_in(scale: Scale, value: f64, low: f64, high: f64) -> Written {
    let [value, low, high] = [value, low, high].map(|of| of / scale.factor);
    let (below, above) = (value - low, high - value);
    let (near, far) = (below.min(above), below.max(above));
    let one_sign = low >= 0.0 || high <= 0.0;
    let wide = one_sign && far > WIDE * value.abs();
    let even = (above - below).abs() <= UNEVEN * (above + below);
    let (value, spread) = if !value.is_finite() {
        ("–".into(), Spread::None)
    } else if !(far.is_finite() && far > 0.0) {
        (significant(value, 3), Spread::None)
    } else if even && !wide {
        let place = place_of(far);
        let half = Spread::Half(rounded(far, place));
        (rounded(value, place), half)
    } else {
        let (fine, coarse) = (place_between(value, near, far), place_of(far));
        let limit = |limit, distance: f64| {
            let place = if distance < far { fine } else { coarse };
            match one_sign {
                true => rounded(limit, unlike_zero(limit, place)),
                false => rounded(limit, place),
            }
        };
        let limits = Spread::Limits(limit(low, below), limit(high, above));
        (rounded(value, fine), limits)
    };
    Written {
        value,
        spread,
        unit: scale.symbol,
    }
}

/// Writes a value with its interval in the scale that suits the value. A count that does not vary
/// is written as it is.
pub fn interval(unit: Unit, value: f64, low: f64, high: f64) -> Written {
    if unit == Unit::Count && low == high && value.fract() == 0.0 {
        return Written {
            value: fixed(value, 0),
            spread: Spread::None,
            unit: "",
        };
    }
    let size = if value.abs() > 0.0 {
        value
    } else {
        (high - low) / 2.0
    };
    interval_in(scale_for(unit, size), value, low, high)
}

/// Returns the place, as a power of ten, to which a half width of this size supports digits: that
/// of its second one.
pub(super) fn place_of(half: f64) -> i32 {
    last_place(half, DIGITS).max(LAST)
}

/// Returns the place of a bound's last digit: its first, or its second from ten on and if the first
/// is 1.
pub(super) fn place_of_bound(bound: f64) -> i32 {
    let leading = bound / 10f64.powf(bound.log10().floor());
    let digits = if leading < 1.95 || bound >= 10.0 {
        2
    } else {
        1
    };
    last_place(bound, digits).max(LAST)
}

/// Returns this place, or that of the limit's first significant digit if it would look like zero.
fn unlike_zero(limit: f64, place: i32) -> i32 {
    let size = limit.abs();
    if size > 0.0 && size < 0.5 * 10f64.powi(place) {
        last_place(size, 1).max(LAST)
    } else {
        place
    }
}

/// Returns the last place of a value between very uneven limits.
///
/// It is the place that the nearer limit supports. Beyond the farther limit's support it is at most
/// three significant digits.
fn place_between(value: f64, near: f64, far: f64) -> i32 {
    let nearer = if near > 0.0 { place_of(near) } else { LAST };
    let enough = match value.abs() > 0.0 {
        true => last_place(value, ENOUGH),
        false => 0,
    };
    nearer.max(enough.min(place_of(far)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::THIN;

    fn line(value: f64, low: f64, high: f64) -> String {
        let written = interval(Unit::Nanoseconds, value, low, high);
        written.line().replace(THIN, " ")
    }

    #[test]
    fn digits_follow_the_interval() {
        assert_eq!(line(12.3456, 12.30, 12.40), "12.346 ± 0.054 ns");
        assert_eq!(line(12.3456, 11.0, 13.7), "12.3 ± 1.4 ns");
        assert_eq!(line(870.4, 868.0, 872.8), "870.4 ± 2.4 ns");
        assert_eq!(line(39_123.0, 39_000.0, 39_300.0), "39.12 ± 0.18 µs");
        assert_eq!(
            line(20_400_000.0, 20_100_000.0, 20_700_000.0),
            "20.40 ± 0.30 ms"
        );
        assert_eq!(line(0.0, -0.02, 0.02), "0.000 ± 0.020 ns");
        assert_eq!(
            line(-0.3, -0.5, 0.1),
            "\u{2212}0.30 ns (\u{2212}0.50 to 0.10)"
        );
    }

    #[test]
    fn digits_that_an_interval_does_not_support_are_zeros() {
        let ns = scale_for(Unit::Nanoseconds, 1.0);
        let line = |value: f64, low: f64, high: f64| {
            let written = interval_in(ns, value, low, high);
            written.line().replace(THIN, " ")
        };
        let even = |value: f64, half: f64| line(value, value - half, value + half);
        assert_eq!(even(698_983.0, 187_964.0), "700 000 ± 190 000 ns");
        assert_eq!(even(56_216.0, 7948.0), "56 200 ± 7900 ns");
        assert_eq!(even(1234.0, 99.6), "1230 ± 100 ns");
        assert_eq!(
            line(1_000_290.0, 636_691.0, 1_514_304.0),
            "1 000 000 ns (640 000 to 1 510 000)"
        );
        // A limit that is not zero does not look like it.
        assert_eq!(line(3600.0, 30.0, 7500.0), "3600 ns (30 to 7500)");
    }

    #[test]
    fn what_was_counted_is_written_as_it_is() {
        let line = |value: f64, low: f64, high: f64| {
            let written = interval(Unit::Count, value, low, high);
            written.line().replace(THIN, " ")
        };
        assert_eq!(line(1_234_567.0, 1_234_567.0, 1_234_567.0), "1 234 567");
        assert_eq!(line(4.0, 4.0, 4.0), "4");
        assert_eq!(line(17_020.0, 12_530.0, 21_510.0), "17 000 ± 4500");
    }

    #[test]
    fn an_interval_that_lies_unevenly_is_told_by_its_limits() {
        assert_eq!(line(132e3, 98e3, 5927e3), "132 µs (98 to 5900)");
        // By more than a quarter, on either side.
        assert_eq!(line(100.0, 90.0, 116.0), "100 ± 16 ns");
        assert_eq!(line(100.0, 90.0, 118.0), "100 ns (90 to 118)");
        assert_eq!(line(100.0, 82.0, 110.0), "100 ns (82 to 110)");
        // Each limit has the digits that its distance supports. The value has those of the nearer
        // one, but only a few beyond the other's.
        assert_eq!(line(13.234, 13.21, 19.2), "13.2 ns (13.2 to 19.2)");
        assert_eq!(line(1.3234, 1.301, 59.27), "1.32 ns (1.30 to 59)");
        assert_eq!(line(1.3234, 1.3234, 59.27), "1.32 ns (1.32 to 59)");
        assert_eq!(
            line(39.1234, 39.1219, 39.1334),
            "39.123 ns (39.122 to 39.133)"
        );
        assert_eq!(line(0.0, -0.02, 0.1), "0.00 ns (\u{2212}0.02 to 0.10)");
        let ratio = interval(Unit::Ratio, 1.05, 1.02, 1.8);
        assert_eq!(ratio.line(), "1.05× (1.02 to 1.80)");
    }

    #[test]
    fn a_wide_interval_of_one_sign_is_told_by_its_limits() {
        // ± would reach below zero, where none of the interval lies.
        assert_eq!(
            line(3_610_623.0, 983_039.0, 7_659_519.0),
            "3.6 ms (1.0 to 7.7)"
        );
        assert_eq!(line(4.0, 0.0, 7.5), "4.0 ns (0.0 to 7.5)");
        // A limit that is not zero does not look like it.
        assert_eq!(line(36.0, 0.3, 75.0), "36 ns (0.3 to 75)");
        assert_eq!(
            line(-36.0, -75.0, -0.3),
            "\u{2212}36 ns (\u{2212}75 to \u{2212}0.3)"
        );
        // By more than a third of the value.
        assert_eq!(line(100.0, 67.0, 133.0), "100 ± 33 ns");
        assert_eq!(line(100.0, 66.0, 134.0), "100 ns (66 to 134)");
        // About zero, where ± reaches as far as the interval.
        assert_eq!(line(0.6, -2.1, 3.3), "0.6 ± 2.7 ns");
    }

    #[test]
    fn a_value_without_interval_has_three_digits() {
        assert_eq!(line(1234.5, 1234.5, 1234.5), "1.23 µs");
        assert_eq!(line(1234.5, f64::NEG_INFINITY, f64::INFINITY), "1.23 µs");
        assert_eq!(line(1234.5, 1200.0, f64::INFINITY), "1.23 µs");
        assert_eq!(line(f64::NAN, 0.0, 1.0), "– ns");
    }
}
