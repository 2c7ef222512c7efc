//! The unit in which a quantity is read most easily.

use crate::document::Unit;

/// A unit with its size in the base unit (ns, bytes, …).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Symbol behind the number; empty for bare numbers.
    pub symbol: &'static str,
    /// Base units in one.
    pub factor: f64,
}

impl Scale {
    const fn new(symbol: &'static str, factor: f64) -> Self {
        Scale { symbol, factor }
    }
}

const TIMES: [Scale; 4] = [
    Scale::new("ns", 1.0),
    Scale::new("µs", 1e3),
    Scale::new("ms", 1e6),
    Scale::new("s", 1e9),
];

const SIZES: [Scale; 4] = [
    Scale::new("B", 1.0),
    Scale::new("KiB", 1024.0),
    Scale::new("MiB", 1024.0 * 1024.0),
    Scale::new("GiB", 1024.0 * 1024.0 * 1024.0),
];

const RATES: [Scale; 3] = [
    Scale::new("/s", 1.0),
    Scale::new("k/s", 1e3),
    Scale::new("M/s", 1e6),
];

const BANDWIDTHS: [Scale; 4] = [
    Scale::new("B/s", 1.0),
    Scale::new("kB/s", 1e3),
    Scale::new("MB/s", 1e6),
    Scale::new("GB/s", 1e9),
];

/// Returns the scale in which `value` (in base units) is read most easily.
pub fn scale_for(unit: Unit, value: f64) -> Scale {
    match unit {
        Unit::Nanoseconds => largest_below(&TIMES, value),
        Unit::Bytes => largest_below(&SIZES, value),
        Unit::PerSecond => largest_below(&RATES, value),
        Unit::BytesPerSecond => largest_below(&BANDWIDTHS, value),
        Unit::Ticks => Scale::new("ticks", 1.0),
        Unit::Count => Scale::new("", 1.0),
        Unit::Ratio => Scale::new("×", 1.0),
        Unit::Share => Scale::new("%", 0.01),
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

/// Number of a unit from which values are easier to read in the next one.
const LONG: f64 = 1e5;

/// Least part of a unit that the smallest of several values may have.
const PART: f64 = 0.1;

/// Returns the scale for values that stand together; `None` (each its own) if they span more than
/// four decades.
///
/// It is that of the smallest. The next one is used if the largest would have six digits and the
/// smallest stays at least a tenth.
pub fn common_scale(unit: Unit, values: &[f64]) -> Option<Scale> {
    let sizes = values
        .iter()
        .map(|v| v.abs())
        .filter(|v| *v > 0.0 && v.is_finite());
    let (small, large) = sizes.fold((f64::INFINITY, 0.0_f64), |(s, l), v| (s.min(v), l.max(v)));
    (large > 0.0 && large / small < 1e4).then(|| {
        let scale = scale_for(unit, small);
        let next = scale_for(unit, small / PART);
        if large >= LONG * scale.factor {
            next
        } else {
            scale
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_shares_a_scale_unless_it_spans_decades() {
        assert_eq!(
            common_scale(Unit::Nanoseconds, &[5.0, 40_000.0])
                .unwrap()
                .symbol,
            "ns"
        );
        assert_eq!(common_scale(Unit::Nanoseconds, &[5.0, 60_000.0]), None);
        let symbol = |values: &[f64]| common_scale(Unit::Nanoseconds, values).unwrap().symbol;
        assert_eq!(symbol(&[230.0, 698_983.0]), "µs");
        assert_eq!(symbol(&[230.0, 98_983.0]), "ns");
        // 0.09 µs would have fewer digits than it is read with.
        assert_eq!(symbol(&[90.0, 698_983.0]), "ns");
        assert_eq!(common_scale(Unit::Nanoseconds, &[]), None);
    }
}
