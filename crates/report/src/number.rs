//! How numbers are written: units chosen by size, digits chosen by the width of the interval.
//!
//! All times come in as nanoseconds. A value never shows a digit that its interval does not support: the half width is
//! written with one significant digit (two when it begins with 1) and the value with as many decimals.

mod digits;
mod scale;

use crate::document::Unit;

pub use digits::{count, counted, fixed, printed, significant};
pub use scale::{Scale, common_scale, scale_for};

/// Narrow no-break space, between thousands and before units.
const THIN: char = '\u{202f}';

/// A value, its half width and their unit, written to the digits that the half width supports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The value.
    pub value: String,
    /// The half width, or empty where it is zero or not finite.
    pub half_width: String,
    /// The unit's symbol.
    pub unit: &'static str,
}

impl Written {
    /// Value, plus-minus and unit in one line.
    pub fn line(&self) -> String {
        let mut line = self.value.clone();
        if !self.half_width.is_empty() {
            line.push_str(&format!(" ± {}", self.half_width));
        }
        push_unit(&mut line, self.unit);
        line
    }
}

/// Writes `value` with the larger half width of `low ..= high`, in `scale`.
pub fn interval_in(scale: Scale, value: f64, low: f64, high: f64) -> Written {
    let half = (value - low).max(high - value) / scale.factor;
    let value = value / scale.factor;
    if !value.is_finite() {
        return Written {
            value: "–".into(),
            half_width: String::new(),
            unit: scale.symbol,
        };
    }
    if !(half.is_finite() && half > 0.0) {
        return Written {
            value: significant(value, 3),
            half_width: String::new(),
            unit: scale.symbol,
        };
    }
    let decimals = decimals_of(half);
    Written {
        value: fixed(value, decimals),
        half_width: fixed(half, decimals),
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
fn decimals_of(half: f64) -> usize {
    let exponent = half.log10().floor();
    let leading = half / 10f64.powf(exponent);
    let digits = if leading < 1.95 { 1.0 } else { 0.0 };
    (digits - exponent).clamp(0.0, 4.0) as usize
}

/// A value to three significant digits with its unit.
pub fn quantity(unit: Unit, value: f64) -> String {
    let scale = scale_for(unit, value);
    let mut text = significant(value / scale.factor, 3);
    push_unit(&mut text, scale.symbol);
    text
}

/// A value to one significant digit, two when it begins with 1, with its unit: for bounds.
pub fn rough(unit: Unit, value: f64) -> String {
    let scale = scale_for(unit, value);
    let scaled = value / scale.factor;
    let mut text = fixed(scaled, decimals_of(scaled.abs().max(1e-4)));
    push_unit(&mut text, scale.symbol);
    text
}

/// A whole number of base units where it is one (buffer sizes, counts), otherwise as [`quantity`].
pub fn exact(unit: Unit, value: f64) -> String {
    let scale = scale_for(unit, value);
    let scaled = value / scale.factor;
    if scaled.fract() != 0.0 {
        return quantity(unit, value);
    }
    let mut text = fixed(scaled, 0);
    push_unit(&mut text, scale.symbol);
    text
}

/// Smallest and largest to three significant digits in one unit; a single value where they do not differ as written.
pub fn range(unit: Unit, low: f64, high: f64) -> String {
    let Some(scale) = common_scale(unit, &[low, high]) else {
        return format!("{} – {}", quantity(unit, low), quantity(unit, high));
    };
    let (from, to) = (
        significant(low / scale.factor, 3),
        significant(high / scale.factor, 3),
    );
    let mut text = if from == to {
        from
    } else {
        format!("{from} – {to}")
    };
    push_unit(&mut text, scale.symbol);
    text
}

/// Both limits of an interval, in brackets.
pub fn limits(unit: Unit, low: f64, high: f64) -> String {
    if !(low.is_finite() && high.is_finite()) {
        return "no limits".into();
    }
    let scale = scale_for(unit, low.abs().max(high.abs()));
    let decimals = decimals_of(((high - low) / 2.0 / scale.factor).max(1e-4));
    let mut text = format!(
        "[{}, {}]",
        fixed(low / scale.factor, decimals),
        fixed(high / scale.factor, decimals)
    );
    push_unit(&mut text, scale.symbol);
    text
}

fn push_unit(text: &mut String, symbol: &str) {
    if symbol == "×" {
        text.push('×');
    } else if !symbol.is_empty() {
        text.push(THIN);
        text.push_str(symbol);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        text.replace(THIN, " ")
    }

    #[test]
    fn digits_follow_the_interval() {
        let line = |v, l, h| plain(&interval(Unit::Nanoseconds, v, l, h).line());
        assert_eq!(line(12.3456, 12.30, 12.40), "12.35 ± 0.05 ns");
        assert_eq!(line(12.3456, 11.0, 13.7), "12.3 ± 1.4 ns");
        assert_eq!(line(870.4, 868.0, 872.0), "870 ± 2 ns");
        assert_eq!(line(39_123.0, 39_000.0, 39_300.0), "39.12 ± 0.18 µs");
        assert_eq!(
            line(20_400_000.0, 20_100_000.0, 20_700_000.0),
            "20.4 ± 0.3 ms"
        );
        assert_eq!(line(0.0, -0.02, 0.02), "0.00 ± 0.02 ns");
        assert_eq!(line(-0.3, -0.5, 0.1), "\u{2212}0.3 ± 0.4 ns");
    }

    #[test]
    fn a_value_without_interval_has_three_digits() {
        assert_eq!(
            plain(&interval(Unit::Nanoseconds, 1234.5, 1234.5, 1234.5).line()),
            "1.23 µs"
        );
        assert_eq!(interval(Unit::Nanoseconds, f64::NAN, 0.0, 1.0).value, "–");
    }

    #[test]
    fn units_change_where_the_digits_do() {
        assert_eq!(plain(&quantity(Unit::Nanoseconds, 999.4)), "999 ns");
        assert_eq!(plain(&quantity(Unit::Nanoseconds, 999.6)), "1.00 µs");
        assert_eq!(plain(&quantity(Unit::Bytes, 4096.0)), "4.00 KiB");
        assert_eq!(plain(&exact(Unit::Bytes, 4096.0)), "4 KiB");
        assert_eq!(plain(&exact(Unit::Bytes, 4000.0)), "3.91 KiB");
        assert_eq!(plain(&quantity(Unit::Share, 0.0123)), "1.23 %");
        assert_eq!(quantity(Unit::Ratio, 2.5), "2.50×");
        assert_eq!(plain(&quantity(Unit::Ratio, 10_812.0)), "10 800×");
        assert_eq!(plain(&rough(Unit::Nanoseconds, 0.0612)), "0.06 ns");
        assert_eq!(plain(&rough(Unit::Nanoseconds, 0.123)), "0.12 ns");
    }

    #[test]
    fn ranges_have_one_unit() {
        assert_eq!(
            plain(&range(Unit::Nanoseconds, 3100.0, 4150.0)),
            "3.10 – 4.15 µs"
        );
        assert_eq!(plain(&range(Unit::Nanoseconds, 250.0, 250.1)), "250 ns");
        assert_eq!(
            plain(&range(Unit::Nanoseconds, 1.0, 1e6)),
            "1.00 ns – 1.00 ms"
        );
        assert_eq!(
            plain(&limits(Unit::Nanoseconds, 11.9, 12.5)),
            "[11.9, 12.5] ns"
        );
    }
}
