//! How numbers are written: units chosen by size, digits chosen by the width of the interval.
//!
//! All times come in as nanoseconds. A value never shows a digit that its interval does not support: the half width is
//! written with one significant digit (two when it begins with 1) and the value with as many decimals.

use crate::document::Unit;

/// Narrow no-break space, between thousands and before units.
const THIN: char = '\u{202f}';

/// A unit with its size in the base unit (ns, bytes, …).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// What is written behind the number; empty for bare numbers.
    pub symbol: &'static str,
    /// How many base units it holds.
    pub factor: f64,
}

const TIMES: [Scale; 4] = [
    Scale {
        symbol: "ns",
        factor: 1.0,
    },
    Scale {
        symbol: "µs",
        factor: 1e3,
    },
    Scale {
        symbol: "ms",
        factor: 1e6,
    },
    Scale {
        symbol: "s",
        factor: 1e9,
    },
];

const SIZES: [Scale; 4] = [
    Scale {
        symbol: "B",
        factor: 1.0,
    },
    Scale {
        symbol: "KiB",
        factor: 1024.0,
    },
    Scale {
        symbol: "MiB",
        factor: 1024.0 * 1024.0,
    },
    Scale {
        symbol: "GiB",
        factor: 1024.0 * 1024.0 * 1024.0,
    },
];

const RATES: [Scale; 3] = [
    Scale {
        symbol: "/s",
        factor: 1.0,
    },
    Scale {
        symbol: "k/s",
        factor: 1e3,
    },
    Scale {
        symbol: "M/s",
        factor: 1e6,
    },
];

const BANDWIDTHS: [Scale; 4] = [
    Scale {
        symbol: "B/s",
        factor: 1.0,
    },
    Scale {
        symbol: "kB/s",
        factor: 1e3,
    },
    Scale {
        symbol: "MB/s",
        factor: 1e6,
    },
    Scale {
        symbol: "GB/s",
        factor: 1e9,
    },
];

/// The scale in which `value` (in base units) is read most easily.
pub fn scale_for(unit: Unit, value: f64) -> Scale {
    match unit {
        Unit::Nanoseconds => largest_below(&TIMES, value),
        Unit::Bytes => largest_below(&SIZES, value),
        Unit::PerSecond => largest_below(&RATES, value),
        Unit::BytesPerSecond => largest_below(&BANDWIDTHS, value),
        Unit::Ticks => Scale {
            symbol: "ticks",
            factor: 1.0,
        },
        Unit::Count => Scale {
            symbol: "",
            factor: 1.0,
        },
        Unit::Ratio => Scale {
            symbol: "×",
            factor: 1.0,
        },
        Unit::Share => Scale {
            symbol: "%",
            factor: 0.01,
        },
    }
}

fn largest_below(scales: &[Scale], value: f64) -> Scale {
    let reach = value.abs() * 1.0005; // 999.6 ns is written 1.00 µs
    scales
        .iter()
        .rev()
        .find(|scale| reach >= scale.factor)
        .copied()
        .unwrap_or(scales[0])
}

/// The scale for values that stand together: that of the smallest, unless they span more than four decades (`None`: each its own).
pub fn common_scale(unit: Unit, values: &[f64]) -> Option<Scale> {
    let sizes = values
        .iter()
        .map(|v| v.abs())
        .filter(|v| *v > 0.0 && v.is_finite());
    let (small, large) = sizes.fold((f64::INFINITY, 0.0_f64), |(s, l), v| (s.min(v), l.max(v)));
    (large > 0.0 && large / small < 1e4).then(|| scale_for(unit, small))
}

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

/// To `digits` significant digits, without exponents, thousands apart.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !value.is_finite() {
        return "–".into();
    }
    let rounded = format!("{:.*e}", digits.saturating_sub(1), value);
    let exponent: i32 = rounded
        .split_once('e')
        .and_then(|(_, e)| e.parse().ok())
        .unwrap_or(0);
    if exponent >= digits as i32 {
        return fixed(rounded.parse().unwrap_or(value), 0);
    }
    fixed(value, (digits as i32 - 1 - exponent).clamp(0, 6) as usize)
}

/// A count of things, in the singular or plural.
pub fn counted(count: usize, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", self::count(count as u64))
}

/// A published number: its shortest form, thousands apart.
pub fn printed(value: f64) -> String {
    let text = value.to_string();
    let decimals = text
        .split_once('.')
        .map_or(0, |(_, fraction)| fraction.len());
    fixed(value, decimals)
}

/// A whole number, thousands apart.
pub fn count(value: u64) -> String {
    group(&value.to_string())
}

/// To so many decimals, thousands apart, with a true minus sign; `-0.0` is written `0.0`.
pub fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{:.*}", decimals, value.abs());
    let zero = text.bytes().all(|b| b == b'0' || b == b'.');
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let mut out = String::new();
    if value < 0.0 && !zero {
        out.push('\u{2212}');
    }
    out.push_str(&group(whole));
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// Thin spaces between thousands, from five digits on.
fn group(digits: &str) -> String {
    if digits.len() < 5 {
        return digits.into();
    }
    let mut out = String::with_capacity(digits.len() * 2);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(THIN);
        }
        out.push(digit);
    }
    out
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
        assert_eq!(plain(&printed(17.7)), "17.7");
        assert_eq!(plain(&printed(1_000_000.0)), "1 000 000");
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

    #[test]
    fn thousands_are_apart_and_zero_has_no_sign() {
        assert_eq!(plain(&count(1_234_567)), "1 234 567");
        assert_eq!(count(1234), "1234");
        assert_eq!(fixed(-0.001, 1), "0.0");
        assert_eq!(plain(&fixed(-12345.6, 1)), "\u{2212}12 345.6");
    }

    #[test]
    fn a_row_shares_a_scale_unless_it_spans_decades() {
        assert_eq!(
            common_scale(Unit::Nanoseconds, &[5.0, 40_000.0])
                .unwrap()
                .symbol,
            "ns"
        );
        assert_eq!(common_scale(Unit::Nanoseconds, &[5.0, 60_000.0]), None);
        assert_eq!(common_scale(Unit::Nanoseconds, &[]), None);
    }
}
