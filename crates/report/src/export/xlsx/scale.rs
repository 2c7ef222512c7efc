//! Range, ticks and number format of a chart's axis: by the rules of the page, rounded to where a
//! spreadsheet begins its ticks.

use crate::document::{Axis, AxisUnit};
use rust_xlsxwriter::{ChartAxis, ChartAxisCrossing};

/// Approximate number of ticks.
const TICKS: f64 = 6.0;
/// Span of a logarithmic axis below which each tick is twice the one before.
const DOUBLED: f64 = 40.0;
/// Span above which the axis begins at a power of ten.
const DECADES: f64 = 100.0;

/// An axis with its ends.
pub(super) struct Scale {
    pub(super) low: f64,
    high: f64,
    ticks: Ticks,
    unit: AxisUnit,
}

enum Ticks {
    Step(f64),
    Powers(u16),
}

/// Checks for a logarithmic axis: that of its plot is, and some value has a place on it.
pub(super) fn is_log(axis: &Axis, values: impl IntoIterator<Item = f64>) -> bool {
    axis.log
        && values
            .into_iter()
            .any(|value| value > 0.0 && value.is_finite())
}

impl Scale {
    /// Returns the axis that holds all of the values; `None` if it can hold none.
    pub(super) fn of(unit: AxisUnit, is_log: bool, values: &[f64]) -> Option<Scale> {
        let can_stand = |value: &&f64| value.is_finite() && (!is_log || **value > 0.0);
        let held = || values.iter().filter(can_stand).copied();
        let (low, high) = (held().reduce(f64::min)?, held().reduce(f64::max)?);
        Some(match (is_log, unit) {
            (false, _) => linear(unit, low, high),
            (true, AxisUnit::Bytes) => sizes(low, high),
            // Percentiles begin with none.
            (true, AxisUnit::Nines) => powers(unit, low, high, 10, decade),
            (true, _) => logarithmic(unit, low, high),
        })
    }

    /// Checks for equal quotients at equal distances.
    pub(super) fn is_log(&self) -> bool {
        matches!(self.ticks, Ticks::Powers(_))
    }

    pub(super) fn set(&self, axis: &mut ChartAxis) {
        axis.set_min(self.low).set_max(self.high);
        match self.ticks {
            Ticks::Step(step) => axis.set_major_unit(step),
            // Calc reads the step alone, and Excel the base.
            Ticks::Powers(base) => axis
                .set_log_base(base)
                .set_major_unit(base)
                .set_crossing(ChartAxisCrossing::Min),
        };
        axis.set_num_format(self.format());
    }

    /// Returns the format of the ticks. Each has a suitable unit; on a linear axis all have the
    /// largest one, for comparison.
    fn format(&self) -> String {
        let units = units(self.unit);
        match self.ticks {
            Ticks::Step(step) => {
                let most = self.high.abs().max(self.low.abs());
                plain(unit_for(units, most), step)
            }
            Ticks::Powers(10) if self.unit == AxisUnit::Share => {
                format!("[<{PERCENT}]0.0##{PER_CENT};#,##0{PER_CENT}")
            }
            Ticks::Powers(10) => self.format_of_decades(units),
            Ticks::Powers(_) => plain(unit_for(units, self.low), self.low),
        }
    }

    /// Returns a format for decades, which distinguishes at most three sizes.
    fn format_of_decades(&self, units: &[Symbol]) -> String {
        let smallest = units.last().copied().unwrap_or_default();
        let section = |digits: &str, unit: Symbol| {
            format!("{digits}{}{}", ",".repeat(unit.thousands), unit.words())
        };
        let used = |unit: &&Symbol| unit.size() <= self.high && unit.size() * 1000.0 > self.low;
        let mut used: Vec<Symbol> = units.iter().filter(used).copied().collect();
        if used.is_empty() {
            used.push(smallest);
        }
        if self.low < 1.0 {
            let larger = used.iter().rev().find(|unit| unit.thousands > 0);
            let below = section("0.0##", smallest);
            return match larger {
                Some(larger) => format!(
                    "[<1]{below};[<1000]{};{}",
                    section("0", smallest),
                    section("#,##0", *larger)
                ),
                None => format!("[<1]{below};{}", section("#,##0", smallest)),
            };
        }
        let is_cut = used.len() > 3;
        used.truncate(3);
        let last = used.len() - 1;
        let sections = used
            .iter()
            .enumerate()
            .map(|(index, unit)| match index == last {
                true if is_cut => section("0.0##", *unit),
                true => section("#,##0", *unit),
                false => format!("[>={:.0}]{}", unit.size(), section("#,##0", *unit)),
            });
        sections.collect::<Vec<_>>().join(";")
    }
}

/// A hundredth, and the words behind it: a sign outside of quotes multiplies by a hundred.
const PERCENT: f64 = 0.01;
const PER_CENT: &str = "\" \"%";

/// A unit: its symbol, and how many thousands it is of the base unit.
#[derive(Clone, Copy, Default)]
struct Symbol {
    symbol: &'static str,
    thousands: usize,
}

impl Symbol {
    fn size(self) -> f64 {
        match self.symbol {
            "%" => PERCENT,
            _ => 1000_f64.powi(self.thousands as i32),
        }
    }

    fn words(self) -> String {
        match self.symbol {
            "" => String::new(),
            "×" => "\"×\"".into(),
            "%" => PER_CENT.into(),
            symbol => format!("\" {symbol}\""),
        }
    }
}

/// Returns the units, the largest first.
///
/// A format divides by thousands alone, so sizes and their ticks are in powers of ten here. Powers
/// of two would get wrong labels, such as 33 kB.
fn units(unit: AxisUnit) -> &'static [Symbol] {
    const fn of(symbol: &'static str, thousands: usize) -> Symbol {
        Symbol { symbol, thousands }
    }
    const TIME: [Symbol; 4] = [of("s", 3), of("ms", 2), of("µs", 1), of("ns", 0)];
    const RATE: [Symbol; 3] = [of("M/s", 2), of("k/s", 1), of("/s", 0)];
    const BANDWIDTH: [Symbol; 4] = [of("GB/s", 3), of("MB/s", 2), of("kB/s", 1), of("B/s", 0)];
    const SIZE: [Symbol; 4] = [of("GB", 3), of("MB", 2), of("kB", 1), of("B", 0)];
    const TIMES: [Symbol; 1] = [of("×", 0)];
    const SHARE: [Symbol; 1] = [of("%", 0)];
    const NUMBER: [Symbol; 1] = [of("", 0)];
    match unit {
        AxisUnit::Nanoseconds => &TIME,
        AxisUnit::PerSecond => &RATE,
        AxisUnit::BytesPerSecond => &BANDWIDTH,
        AxisUnit::Bytes => &SIZE,
        AxisUnit::Ratio => &TIMES,
        AxisUnit::Share => &SHARE,
        AxisUnit::Count | AxisUnit::Nines => &NUMBER,
    }
}

/// Returns the largest unit of which a value has at least one.
fn unit_for(units: &[Symbol], value: f64) -> Symbol {
    let fitting = units.iter().find(|unit| unit.size() <= value);
    fitting.or(units.last()).copied().unwrap_or_default()
}

/// Formats numbers in a unit, with enough decimals to distinguish one step from the next.
fn plain(unit: Symbol, step: f64) -> String {
    let digit = (step / unit.size()).log10().floor();
    let decimals = if digit < 0.0 { -digit as usize } else { 0 };
    let point = if decimals > 0 { "." } else { "" };
    format!(
        "#,##0{point}{}{}{}",
        "0".repeat(decimals.min(9)),
        ",".repeat(unit.thousands),
        unit.words()
    )
}

fn linear(unit: AxisUnit, low: f64, high: f64) -> Scale {
    let pad = match (high - low) * 0.04 {
        0.0 if high == 0.0 => 1.0,
        0.0 => high.abs() * 0.1,
        // Of a difference that is next to none, so that there are two ends.
        pad => pad.max(high.abs() * 1e-6),
    };
    let bottom = if low >= 0.0 && low < pad {
        0.0
    } else {
        low - pad
    };
    let top = if high < 0.0 && -high < pad {
        0.0
    } else {
        high + pad
    };
    let step = round_up((top - bottom) / TICKS);
    Scale {
        // Without the sign of a zero.
        low: (bottom / step).floor() * step + 0.0,
        high: (top / step).ceil() * step + 0.0,
        ticks: Ticks::Step(step),
        unit,
    }
}

fn logarithmic(unit: AxisUnit, low: f64, high: f64) -> Scale {
    let pad = (high / low).powf(0.04).max(1.06);
    let (low, high) = (low / pad, high * pad);
    match high / low {
        span if span < DOUBLED => powers(unit, low, high, 2, round_down),
        span if span < DECADES => powers(unit, low, high, 10, round_down),
        _ => powers(unit, low, high, 10, decade),
    }
}

/// Returns the scale of sizes, without parts of a byte unless there are some.
fn sizes(low: f64, high: f64) -> Scale {
    let scale = logarithmic(AxisUnit::Bytes, low, high);
    Scale {
        low: scale.low.max(low.min(1.0)),
        ..scale
    }
}

fn powers(unit: AxisUnit, low: f64, high: f64, base: u16, first: fn(f64) -> f64) -> Scale {
    Scale {
        low: first(low),
        high: round_up(high),
        ticks: Ticks::Powers(base),
        unit,
    }
}

fn decade(value: f64) -> f64 {
    power_of_ten(value.log10().floor())
}

/// Returns the next of 1, 2, 5, 10, 20, 50 … from the value on.
fn round_up(value: f64) -> f64 {
    let power = decade(value);
    let steps = [1.0, 2.0, 5.0].map(|digit| digit * power);
    let fits = |step: &f64| *step >= value * (1.0 - 1e-9);
    let next = power_of_ten(value.log10().floor() + 1.0);
    steps.into_iter().find(fits).unwrap_or(next)
}

/// Returns the last of these up to the value.
fn round_down(value: f64) -> f64 {
    let power = decade(value);
    let steps = [5.0, 2.0].map(|digit| digit * power);
    let fits = |step: &f64| *step <= value * (1.0 + 1e-9);
    steps.into_iter().find(fits).unwrap_or(power)
}

/// Returns a power of ten. Negative powers are as near as possible to their decimal form.
fn power_of_ten(power: f64) -> f64 {
    match power < 0.0 {
        true => 1.0 / 10_f64.powi(-power as i32),
        false => 10_f64.powi(power as i32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(unit: AxisUnit, is_log: bool, values: &[f64]) -> (f64, f64, String) {
        let scale = Scale::of(unit, is_log, values).expect("an axis");
        (scale.low, scale.high, scale.format())
    }

    #[test]
    fn an_axis_holds_what_is_on_it() {
        use AxisUnit::{Count, Nanoseconds};
        let (low, high, format) = of(Nanoseconds, false, &[0.0, 4.2e6]);
        assert_eq!((low, high, format.as_str()), (0.0, 5e6, "#,##0,,\" ms\""));
        let (low, high, _) = of(Count, false, &[-3.0, 5.0]);
        assert!(low <= -3.0 && high >= 5.0 && low >= -6.0 && high <= 8.0);
        assert_eq!(of(Count, false, &[0.0]).0, 0.0);
        assert_eq!(of(Count, false, &[-5.0, -1.0]).1.to_string(), "0");
        let (low, high, format) = of(Nanoseconds, true, &[0.0, -1.0, 30.0, 40e3]);
        assert_eq!((low, high), (10.0, 1e5));
        assert_eq!(format, "[>=1000]#,##0,\" µs\";#,##0\" ns\"");
        let (low, high, format) = of(Nanoseconds, true, &[60.0, 150.0]);
        assert_eq!((low, high, format.as_str()), (50.0, 200.0, "#,##0\" ns\""));
        assert!(Scale::of(Count, true, &[0.0, f64::INFINITY]).is_none());
    }

    #[test]
    fn ticks_have_the_unit_that_suits_them() {
        use AxisUnit::{Nanoseconds, Ratio};
        assert_eq!(of(Ratio, false, &[0.2, 1.1]).2, "#,##0.0\"×\"");
        let below = of(Nanoseconds, true, &[0.2, 3000.0]).2;
        assert_eq!(below, "[<1]0.0##\" ns\";[<1000]0\" ns\";#,##0,\" µs\"");
        let all = of(Nanoseconds, true, &[3.0, 2e9]).2;
        assert_eq!(
            all,
            "[>=1000000000]#,##0,,,\" s\";[>=1000000]#,##0,,\" ms\";0.0##,\" µs\""
        );
    }

    #[test]
    fn sizes_have_ticks_that_are_round_in_their_unit() {
        let sizes = Scale::of(AxisUnit::Bytes, true, &[1.0, 1e6]).expect("an axis");
        assert_eq!((sizes.low, sizes.high), (1.0, 2e6));
        assert!(matches!(sizes.ticks, Ticks::Powers(10)));
        // Twice as much each, from 5 kB on.
        let few = Scale::of(AxisUnit::Bytes, true, &[8192.0, 65_536.0]).expect("an axis");
        assert!(few.low == 5e3 && matches!(few.ticks, Ticks::Powers(2)));
        assert_eq!(few.format(), "#,##0,\" kB\"");
        let linear = Scale::of(AxisUnit::Bytes, false, &[0.0, 150.0 * 1_048_576.0]);
        let linear = linear.expect("an axis");
        assert!(matches!(linear.ticks, Ticks::Step(5e7)));
        assert_eq!(linear.format(), "#,##0,,\" MB\"");
    }

    #[test]
    fn shares_are_written_in_per_cent() {
        use AxisUnit::Share;
        assert_eq!(of(Share, false, &[0.1, 1.0]).2, "#,##0\" \"%");
        assert_eq!(of(Share, false, &[0.011, 0.013]).2, "#,##0.00\" \"%");
        assert_eq!(
            of(Share, true, &[0.002, 3.0]).2,
            "[<0.01]0.0##\" \"%;#,##0\" \"%"
        );
    }
}
