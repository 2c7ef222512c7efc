//! Bare numbers: significant digits, decimals, and thousands apart.

use super::THIN;

/// Formats to `digits` significant digits, without exponents, thousands apart.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞" } else { "\u{2212}∞" }.into();
    }
    if value.is_nan() {
        return "–".into();
    }
    let rounded = format!("{:.*e}", digits.saturating_sub(1), value);
    let exponent = exponent(&rounded);
    if exponent >= digits as i32 {
        return fixed(rounded.parse().unwrap_or(value), 0);
    }
    fixed(value, (digits as i32 - 1 - exponent).clamp(0, 6) as usize)
}

/// Returns the place of the last of a value's first `digits` digits, as a power of ten.
///
/// For 187 and two digits it is 1, the tens. 9.96 is written as 10 then, so that its place is 0.
pub fn last_place(value: f64, digits: usize) -> i32 {
    let after = digits.saturating_sub(1);
    exponent(&format!("{value:.after$e}")) - after as i32
}

/// Returns the power of ten in scientific notation.
fn exponent(scientific: &str) -> i32 {
    let (_, power) = scientific.split_once('e').unwrap_or_default();
    power.parse().unwrap_or(0)
}

/// Formats to a place, which is a power of ten: decimals below 0, above it whole tens, hundreds and
/// so on.
pub(super) fn rounded(value: f64, place: i32) -> String {
    if place <= 0 {
        return fixed(value, place.unsigned_abs() as usize);
    }
    let step = 10f64.powi(place);
    fixed((value / step).round() * step, 0)
}

/// Formats a count of things, in the singular or plural.
pub fn counted(count: usize, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", self::count(count as u64))
}

/// Formats a published number: its shortest form, thousands apart.
pub fn printed(value: f64) -> String {
    let text = value.to_string();
    let decimals = text
        .split_once('.')
        .map_or(0, |(_, fraction)| fraction.len());
    fixed(value, decimals)
}

/// Formats a whole number, thousands apart.
pub fn count(value: u64) -> String {
    group(&value.to_string())
}

/// Formats to this many decimals, thousands apart, with a true minus sign; `-0.0` is written `0.0`.
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

/// Inserts thin spaces between thousands, from five digits on.
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

    #[test]
    fn thousands_are_apart_and_zero_has_no_sign() {
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(count(1234), "1234");
        assert_eq!(fixed(-0.001, 1), "0.0");
        assert_eq!(fixed(-12345.6, 1), "\u{2212}12\u{202f}345.6");
        assert_eq!(printed(17.7), "17.7");
        assert_eq!(printed(1_000_000.0), "1\u{202f}000\u{202f}000");
    }

    #[test]
    fn places_are_those_of_the_digits_as_written() {
        assert_eq!(last_place(187.0, 2), 1);
        assert_eq!(last_place(0.0612, 2), -3);
        assert_eq!(last_place(9.94, 2), -1);
        assert_eq!(last_place(9.96, 2), 0);
        assert_eq!(rounded(187_964.0, 4), "190\u{202f}000");
        assert_eq!(rounded(-187.0, 1), "\u{2212}190");
        assert_eq!(rounded(-4.0, 1), "0");
        assert_eq!(rounded(1.25, -1), "1.2");
    }
}
