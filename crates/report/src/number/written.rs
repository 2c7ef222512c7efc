//! A value with its interval, as it is written.

use super::{Scale, fixed, push_unit, scale_for, significant};
use crate::document::Unit;

/// An interval whose middle is farther from the value than this part of its half width is told by its limits: ± would claim of the nearer one that it is as far as the other.
const UNEVEN: f64 = 0.25;

/// A half width beyond this part of the value is told by its limits, unless zero lies within: ± would hide how near to zero the value may be, or reach past it.
const WIDE: f64 = 1.0 / 3.0;

/// Decimals at most.
const DECIMALS: usize = 4;

/// A value, how far it may be off, and their unit, written to the digits that its interval supports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The value.
    pub value: String,
    /// How far it may be off.
    pub spread: Spread,
    /// The unit's symbol.
    pub unit: &'static str,
}

/// How far a value may be off, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Nothing is written: the interval has no width, or a limit that is not known.
    None,
    /// The larger half width, of a value in the middle of its interval or near it, which is not wide beside it.
    Half(String),
    /// Both limits.
    Limits(String, String),
}

impl Written {
    /// `12.3 ± 1.4 ns`, or `132 µs (98 to 5927)`.
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
        let decimals = decimals_of(far);
        let half = Spread::Half(fixed(far, decimals));
        (fixed(value, decimals), half)
    } else {
        let (fine, coarse) = (decimals_between(value, near, far), decimals_of(far));
        let limit = |limit, distance: f64| {
            let decimals = if distance < far { fine } else { coarse };
            match one_sign {
                true => fixed(limit, unlike_zero(limit, decimals)),
                false => fixed(limit, decimals),
            }
        };
        let limits = Spread::Limits(limit(low, below), limit(high, above));
        (fixed(value, fine), limits)
    };
    Written {
        value,
        spread,
        unit: scale.symbol,
    }
}

/// Writes a value with its interval in the scale that suits the value.
pub fn interval(unit: Unit, value: f64, low: f64, high: f64) -> Written {
    let size = if value.abs() > 0.0 {
        value
    } else {
        (high - low) / 2.0
    };
    interval_in(scale_for(unit, size), value, low, high)
}

/// Decimals that a half width of this size supports: its first significant digit, its second when the first is 1; at most 4.
pub(super) fn decimals_of(half: f64) -> usize {
    let exponent = half.log10().floor();
    let leading = half / 10f64.powf(exponent);
    let digits = if leading < 1.95 { 1.0 } else { 0.0 };
    (digits - exponent).clamp(0.0, DECIMALS as f64) as usize
}

/// These decimals, or where a limit would look like zero, those that its first significant digit needs; at most 4.
fn unlike_zero(limit: f64, decimals: usize) -> usize {
    let size = limit.abs();
    if size > 0.0 && size < 0.5 * 10f64.powf(-(decimals as f64)) {
        (-size.log10().floor()).clamp(0.0, DECIMALS as f64) as usize
    } else {
        decimals
    }
}

/// Decimals of a value between limits of which one is much nearer than the other: what the nearer one supports, but no more than three significant digits where the
/// other does not support them.
fn decimals_between(value: f64, near: f64, far: f64) -> usize {
    let nearer = if near > 0.0 {
        decimals_of(near)
    } else {
        DECIMALS
    };
    let three = match value.abs() > 0.0 {
        true => (2.0 - value.abs().log10().floor()).clamp(0.0, DECIMALS as f64) as usize,
        false => 0,
    };
    nearer.min(three.max(decimals_of(far)))
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
        assert_eq!(line(12.3456, 12.30, 12.40), "12.35 ± 0.05 ns");
        assert_eq!(line(12.3456, 11.0, 13.7), "12.3 ± 1.4 ns");
        assert_eq!(line(870.4, 868.0, 872.0), "870 ± 2 ns");
        assert_eq!(line(39_123.0, 39_000.0, 39_300.0), "39.12 ± 0.18 µs");
        assert_eq!(
            line(20_400_000.0, 20_100_000.0, 20_700_000.0),
            "20.4 ± 0.3 ms"
        );
        assert_eq!(line(0.0, -0.02, 0.02), "0.00 ± 0.02 ns");
        assert_eq!(line(-0.3, -0.5, 0.1), "\u{2212}0.3 ns (\u{2212}0.5 to 0.1)");
    }

    #[test]
    fn an_interval_that_lies_unevenly_is_told_by_its_limits() {
        assert_eq!(line(132e3, 98e3, 5927e3), "132 µs (98 to 5927)");
        // By more than a quarter, on either side.
        assert_eq!(line(100.0, 90.0, 116.0), "100 ± 16 ns");
        assert_eq!(line(100.0, 90.0, 118.0), "100 ns (90 to 118)");
        assert_eq!(line(100.0, 82.0, 110.0), "100 ns (82 to 110)");
        // Each limit to the digits that its distance supports, and the value to those of the nearer one, but to no more than one cares for beside the other.
        assert_eq!(line(13.234, 13.21, 19.2), "13.2 ns (13.2 to 19)");
        assert_eq!(line(1.3234, 1.301, 59.27), "1.32 ns (1.30 to 59)");
        assert_eq!(line(1.3234, 1.3234, 59.27), "1.32 ns (1.32 to 59)");
        assert_eq!(
            line(39.1234, 39.1219, 39.1334),
            "39.123 ns (39.122 to 39.133)"
        );
        assert_eq!(line(0.0, -0.02, 0.1), "0.00 ns (\u{2212}0.02 to 0.10)");
        let ratio = interval(Unit::Ratio, 1.05, 1.02, 1.8);
        assert_eq!(ratio.line(), "1.05× (1.02 to 1.8)");
    }

    #[test]
    fn a_wide_interval_of_one_sign_is_told_by_its_limits() {
        // ± would reach below zero, where none of the interval lies.
        assert_eq!(line(3_610_623.0, 983_039.0, 7_659_519.0), "4 ms (1 to 8)");
        assert_eq!(line(4.0, 0.0, 7.5), "4 ns (0 to 8)");
        // A limit that is not zero does not look like it.
        assert_eq!(line(3.6, 0.3, 7.5), "4 ns (0.3 to 8)");
        assert_eq!(
            line(-3.6, -7.5, -0.3),
            "\u{2212}4 ns (\u{2212}8 to \u{2212}0.3)"
        );
        // By more than a third of the value.
        assert_eq!(line(100.0, 67.0, 133.0), "100 ± 33 ns");
        assert_eq!(line(100.0, 66.0, 134.0), "100 ns (66 to 134)");
        // About zero, where ± reaches as far as the interval.
        assert_eq!(line(0.6, -2.1, 3.3), "1 ± 3 ns");
    }

    #[test]
    fn a_value_without_interval_has_three_digits() {
        assert_eq!(line(1234.5, 1234.5, 1234.5), "1.23 µs");
        assert_eq!(line(1234.5, f64::NEG_INFINITY, f64::INFINITY), "1.23 µs");
        assert_eq!(line(1234.5, 1200.0, f64::INFINITY), "1.23 µs");
        assert_eq!(line(f64::NAN, 0.0, 1.0), "– ns");
    }
}
