//! Basic statistics: order statistics and their intervals, trends, modes, and corrections for
//! repeated looks.

mod modes;
mod order;
mod trend;

pub(crate) use modes::modes;
pub(crate) use order::{Ranked, at_least, mean, median, median_of, quantile};
pub(crate) use trend::trend;

/// Returns the level of each of `looks` intervals such that all of them together hold with
/// `confidence` (Šidák).
///
/// It is valid for any dependence between Gaussian statistics, so also for repeated looks at
/// growing data.
pub(crate) fn sidak(confidence: f64, looks: u32) -> f64 {
    confidence
        .clamp(0.5, 0.9999)
        .powf(1.0 / f64::from(looks.max(1)))
}

/// Returns the two-sided normal quantile of a level, such as 1.96 for 0.95.
pub(crate) fn normal_quantile(level: f64) -> f64 {
    use statrs::function::erf::erf_inv;
    std::f64::consts::SQRT_2 * erf_inv(level.clamp(0.0, 1.0 - 1e-12))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sidak_of_one_look_is_the_confidence_itself() {
        assert!((sidak(0.95, 1) - 0.95).abs() < 1e-12);
        assert!((sidak(0.95, 6).powi(6) - 0.95).abs() < 1e-12);
    }

    #[test]
    fn normal_quantile_of_95_percent() {
        assert!((normal_quantile(0.95) - 1.959_964).abs() < 1e-4);
    }
}
