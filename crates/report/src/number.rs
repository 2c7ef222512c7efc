//! Written form of numbers: units chosen by size, digits chosen by the width of the interval.
//!
//! All times come in as nanoseconds. A value never shows a digit that its interval does not
//! support. The half width has two significant digits, and the value ends at the same place, be it
//! decimals or tens, hundreds and thousands. An uneven interval is written by its two limits.

mod digits;
mod scale;
mod written;

use crate::document::Unit;

use digits::rounded;
pub use digits::{count, counted, fixed, last_place, printed, significant};
pub use scale::{Scale, common_scale, scale_for};
pub use written::{Spread, Written, interval, interval_in};
use written::{place_of, place_of_bound};

/// Narrow no-break space, between thousands and before units.
const THIN: char = '\u{202f}';

/// Formats a value to three significant digits with its unit.
pub fn quantity(unit: Unit, value: f64) -> String {
    let scale = scale_for(unit, value);
    let mut text = significant(value / scale.factor, 3);
    push_unit(&mut text, scale.symbol);
    text
}

/// Formats a bound to one significant digit with its unit; to two from ten on and if it begins with
/// 1.
pub fn rough(unit: Unit, value: f64) -> String {
    let scale = scale_for(unit, value);
    let scaled = value / scale.factor;
    let mut text = rounded(scaled, place_of_bound(scaled.abs().max(1e-4)));
    push_unit(&mut text, scale.symbol);
    text
}

/// Formats a whole number of base units exactly (buffer sizes, counts), other values as
/// [`quantity`].
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

/// Formats how many times one figure is another: to two digits, three of factors near 1.
pub fn factor(value: f64) -> String {
    let digits = if (0.5..1.5).contains(&value) { 3 } else { 2 };
    significant(value, digits)
}

/// Formats a factor as [`factor`] does, with a third digit where two would leave its interval.
pub fn factor_within(value: f64, low: f64, high: f64) -> String {
    let text = factor(value);
    let is_within = |text: &str| {
        text.parse()
            .map_or(true, |shown: f64| (low..=high).contains(&shown))
    };
    match is_within(&text) {
        true => text,
        false => significant(value, 3),
    }
}

/// Formats the limits of a factor, such as `18.2 to 19.7`.
pub fn factors(low: f64, high: f64) -> String {
    // One digit of the half width: a reader compares factors, and does not add them.
    let place = last_place(((high - low) / 2.0).max(1e-4), 1);
    format!("{} to {}", rounded(low, place), rounded(high, place))
}

/// Formats smallest and largest to three significant digits in one unit; a single value if both
/// look the same.
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

/// Formats both limits of an interval, in brackets.
pub fn limits(unit: Unit, low: f64, high: f64) -> String {
    if !(low.is_finite() && high.is_finite()) {
        return "no limits".into();
    }
    let scale = scale_for(unit, low.abs().max(high.abs()));
    let place = place_of(((high - low) / 2.0 / scale.factor).max(1e-4));
    let mut text = format!(
        "[{}, {}]",
        rounded(low / scale.factor, place),
        rounded(high / scale.factor, place)
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
        assert_eq!(plain(&rough(Unit::Nanoseconds, 0.5)), "0.5 ns");
        assert_eq!(plain(&rough(Unit::Nanoseconds, 26.3)), "26 ns");
        assert_eq!(plain(&rough(Unit::Nanoseconds, 263.0)), "260 ns");
    }

    #[test]
    fn a_factor_lies_within_its_interval() {
        assert_eq!(factor_within(364.1, 361.0, 367.0), "364");
        assert_eq!(factor_within(364.1, 350.0, 380.0), "360");
        assert_eq!(factor_within(29.8, 29.7, 30.0), "30");
        let (unknown, none) = (f64::INFINITY, f64::NEG_INFINITY);
        assert_eq!(factor_within(364.1, none, unknown), "360");
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
            "[11.90, 12.50] ns"
        );
        assert_eq!(
            plain(&limits(Unit::Nanoseconds, 312.0, 748.0)),
            "[310, 750] ns"
        );
    }
}
