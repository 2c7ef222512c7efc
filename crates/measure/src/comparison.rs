//! Comparison of two sides (runs, compilers, builds), each by several process starts, with many
//! tests judged together.
//!
//! A start is one draw of addresses, environment and place in memory, which move a figure by per
//! cents. The verdict therefore rests on the difference between starts, and one start of a side
//! gives none. Costs of runs are taken relative to the reference operation of the same run. A
//! change of the processor's speed between the runs thus cancels.

use crate::statistics::{at_least, mean, median_of, normal_quantile};
use crate::{Estimate, Finding, FindingKind, Interval, PLACEMENT_FLOOR_NS, PairEstimate};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Least number of starts of each side for a verdict.
pub const FEWEST_STARTS: usize = 3;

/// Settings of the judgement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonSettings {
    /// A change matters beyond this fraction, such as 0.05.
    pub threshold: f64,
    /// Confidence of each interval, and of all verdicts of slower and faster together (Holm, 1979),
    /// such as 0.99.
    pub confidence: f64,
}

impl Default for ComparisonSettings {
    fn default() -> Self {
        ComparisonSettings {
            threshold: 0.05,
            confidence: 0.99,
        }
    }
}

/// Compared quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The cost (test − control), in units of the reference operation.
    CostToReference,
    /// The cost in ns: a side has no reference.
    Cost,
    /// The whole test frame in units of the reference: the cost of a side is not distinguishable
    /// from its control.
    FrameToReference,
    /// The whole test frame in ns: the cost of a side is not distinguishable from its control, and
    /// a side has no reference.
    Frame,
    /// The whole test frame, in slices of both sides that took turns.
    Interleaved,
    /// A whole run of a program, or a request to a server.
    Run,
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// B takes longer than A by more than the limit.
    Slower,
    /// B takes less than A by more than the limit.
    Faster,
    /// The whole interval lies within the limit.
    Same,
    /// None of these is shown.
    CannotTell,
}

/// One test on two sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Compared quantity.
    pub basis: Basis,
    /// ln(B / A); without limits where a side has fewer than [`FEWEST_STARTS`].
    pub log_ratio: Interval,
    /// B / A.
    pub ratio: Interval,
    /// Process starts of A and of B.
    pub starts: (usize, usize),
    /// Medians of the compared figure over the starts, of A and of B, ns.
    pub each_ns: (f64, f64),
    /// Logarithm by which the placement of loops in memory alone may move the ratio:
    /// [`PLACEMENT_FLOOR_NS`] of the shorter side.
    pub floor: f64,
    /// Logarithm within which a difference counts as none: the threshold, or the floor if that is
    /// more.
    pub limit: f64,
    /// Probability of so large a change if the true one were as large as the limit.
    pub p: f64,
    /// The probability, corrected for all comparisons made together.
    pub corrected_p: f64,
    /// The answer.
    pub verdict: Verdict,
    /// Remarks for the reader.
    pub findings: Vec<Finding>,
}

/// Effort for a verdict after [`Verdict::CannotTell`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Needed {
    /// Approximate number of starts of each side, if the next ones differ as these did.
    pub starts: usize,
    /// Threshold, as a fraction, within which present knowledge shows the sides to be the same;
    /// `None` without an interval.
    pub threshold: Option<f64>,
}

impl Comparison {
    /// Returns the largest possible difference of the sides, as a fraction: the farther end of the
    /// interval, or the floor if that is more.
    pub fn same_within(&self) -> f64 {
        self.farther_end().max(self.floor).exp_m1()
    }

    /// Returns the effort for a verdict. The width of an interval falls with the root of the
    /// starts.
    pub fn needed(&self) -> Needed {
        let (a, b) = self.starts;
        let starts = a.min(b).max(1);
        if self.log_ratio.limits().is_none() {
            return Needed {
                starts: STARTS_TO_BEGIN_WITH,
                threshold: None,
            };
        }
        let distance = (self.log_ratio.value.abs() - self.limit).abs();
        let factor = (self.log_ratio.half_width() / distance.max(1e-6)).powi(2);
        // If the interval alone would do, the correction for the other rows still needs more.
        let more = (starts as f64 * factor.max(1.5)).ceil();
        Needed {
            starts: (more as usize).max(starts + 1),
            threshold: Some(self.farther_end().exp_m1()),
        }
    }

    fn farther_end(&self) -> f64 {
        self.log_ratio.low.abs().max(self.log_ratio.high.abs())
    }
}

/// Starts of each side that are advised where nothing is known of how far they differ.
const STARTS_TO_BEGIN_WITH: usize = 12;

/// Compares one test of two runs, each side given by the estimates of its process starts. `None` if
/// a side has no positive time.
pub fn compare(
    a: &[Estimate],
    b: &[Estimate],
    settings: &ComparisonSettings,
) -> Option<Comparison> {
    let basis = basis(a, b);
    let (left, right) = (side(a, basis)?, side(b, basis)?);
    let each_ns = |side: &[Estimate]| median_by(side, |e| figure_ns(e, basis));
    let each_ns = (each_ns(a), each_ns(b));
    Some(Comparison {
        findings: notes(a, b, basis),
        ..of_sides(basis, &left, &right, each_ns, settings)
    })
}

/// Compares whole runs of a program, or costs of a server's requests by epochs. `None` if a side
/// has no positive figure.
///
/// Each side is given by a positive figure of each process start.
pub fn compare_figures(a: &[f64], b: &[f64], settings: &ComparisonSettings) -> Option<Comparison> {
    let logs = |figures: &[f64]| {
        let logs = figures.iter().filter(|figure| **figure > 0.0);
        summary(&logs.map(|figure| (figure.ln(), 0.0)).collect::<Vec<_>>())
    };
    let (left, right) = (logs(a)?, logs(b)?);
    let each_ns = (median_of(a), median_of(b));
    Some(of_sides(Basis::Run, &left, &right, each_ns, settings))
}

/// Compares one test of two builds, whose slices took turns in each of several starts of both.
/// `None` without starts.
pub fn compare_pairs(pairs: &[PairEstimate], settings: &ComparisonSettings) -> Option<Comparison> {
    let logs: Vec<(f64, f64)> = pairs
        .iter()
        .map(|pair| (pair.log_ratio.value, variance(&pair.log_ratio, pair.blocks)))
        .collect();
    let both = summary(&logs)?;
    let each_ns = (
        median_by(pairs, |pair| pair.test_ns.0),
        median_by(pairs, |pair| pair.test_ns.1),
    );
    let spread = (both.starts >= FEWEST_STARTS).then(|| Spread {
        deviation: both.variance_of_mean().sqrt(),
        freedom: both.freedom(),
    });
    let starts = (both.starts, both.starts);
    Some(comparison(
        Basis::Interleaved,
        both.centre,
        spread,
        starts,
        each_ns,
        settings,
    ))
}

fn median_by<T>(of: &[T], figure: impl Fn(&T) -> f64) -> f64 {
    median_of(&of.iter().map(figure).collect::<Vec<_>>())
}

/// Uncertainty of the difference of two sides.
struct Spread {
    deviation: f64,
    freedom: f64,
}

/// Compares two sides with independent starts, whose spreads may differ (Welch, 1947).
fn of_sides(
    basis: Basis,
    a: &Summary,
    b: &Summary,
    each_ns: (f64, f64),
    settings: &ComparisonSettings,
) -> Comparison {
    let (of_a, of_b) = (a.variance_of_mean(), b.variance_of_mean());
    let spread = (a.starts.min(b.starts) >= FEWEST_STARTS).then(|| {
        let squares = of_a.powi(2) / a.freedom() + of_b.powi(2) / b.freedom();
        Spread {
            deviation: (of_a + of_b).sqrt(),
            freedom: match squares > 0.0 {
                true => (of_a + of_b).powi(2) / squares,
                false => a.freedom().min(b.freedom()),
            },
        }
    });
    let starts = (a.starts, b.starts);
    comparison(
        basis,
        b.centre - a.centre,
        spread,
        starts,
        each_ns,
        settings,
    )
}

fn comparison(
    basis: Basis,
    log_ratio: f64,
    spread: Option<Spread>,
    starts: (usize, usize),
    each_ns: (f64, f64),
    settings: &ComparisonSettings,
) -> Comparison {
    // A whole run is of many loops.
    let floor = match basis {
        Basis::Run => 0.0,
        _ => (PLACEMENT_FLOOR_NS / each_ns.0.min(each_ns.1).max(1e-3)).ln_1p(),
    };
    let limit = settings.threshold.abs().ln_1p().max(floor);
    let known = spread.and_then(|spread| {
        let t = StudentsT::new(0.0, 1.0, spread.freedom).ok()?;
        let deviation = spread.deviation.max(1e-12);
        let half = deviation * t.inverse_cdf(0.5 + settings.confidence.clamp(0.5, 0.9999) / 2.0);
        let interval = Interval {
            value: log_ratio,
            low: log_ratio - half,
            high: log_ratio + half,
        };
        // Beyond the limit on the side where the estimate lies; two sides are open.
        let p = (2.0 * t.sf((log_ratio.abs() - limit) / deviation)).min(1.0);
        Some((interval, p))
    });
    let (log_ratio, p) = known.unwrap_or((Interval::open(log_ratio), 1.0));
    let exp = |v: f64| v.clamp(-700.0, 700.0).exp();
    let mut comparison = Comparison {
        basis,
        log_ratio,
        ratio: match log_ratio.limits() {
            None => Interval::open(exp(log_ratio.value)),
            Some((low, high)) => Interval {
                value: exp(log_ratio.value),
                low: exp(low),
                high: exp(high),
            },
        },
        starts,
        each_ns,
        floor,
        limit,
        p,
        corrected_p: p,
        verdict: Verdict::CannotTell,
        findings: Vec::new(),
    };
    judge([&mut comparison], settings);
    comparison
}

/// Corrects the comparisons for each other and sets their verdicts. A caller gives all comparisons
/// of one decision.
pub fn judge<'c>(
    comparisons: impl IntoIterator<Item = &'c mut Comparison>,
    settings: &ComparisonSettings,
) {
    let comparisons: Vec<&mut Comparison> = comparisons.into_iter().collect();
    let p: Vec<f64> = comparisons.iter().map(|c| c.p).collect();
    for (comparison, corrected_p) in comparisons.into_iter().zip(holm(&p)) {
        comparison.corrected_p = corrected_p;
        comparison.verdict = if corrected_p < 1.0 - settings.confidence {
            match comparison.log_ratio.value > 0.0 {
                true => Verdict::Slower,
                false => Verdict::Faster,
            }
        } else if comparison.farther_end() <= comparison.limit {
            Verdict::Same
        } else {
            Verdict::CannotTell
        };
    }
}

/// Corrects probabilities by Holm (1979), in the given order: the chance of one wrong verdict among
/// all is bounded.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|i, j| p[*i].total_cmp(&p[*j]));
    let mut corrected = vec![1.0; p.len()];
    let mut largest = 0.0_f64;
    for (rank, i) in order.iter().enumerate() {
        largest = largest.max((p[*i] * (p.len() - rank) as f64).min(1.0));
        corrected[*i] = largest;
    }
    corrected
}

/// Checks for an estimate without limits.
fn is_open(estimate: &Estimate) -> bool {
    estimate.cost_ns.limits().is_none()
}

fn basis(a: &[Estimate], b: &[Estimate]) -> Basis {
    let all = || a.iter().chain(b);
    let referenced = all().all(|e| e.frames.reference_ns.is_some_and(|ns| ns > 0.0));
    let distinguishable = all().all(|e| e.cost_ns.low > 0.0 || is_open(e) && !e.is_like_control());
    match (distinguishable, referenced) {
        (true, true) => Basis::CostToReference,
        (true, false) => Basis::Cost,
        (false, true) => Basis::FrameToReference,
        (false, false) => Basis::Frame,
    }
}

/// The logs of the starts of one side, or of pairs.
struct Summary {
    centre: f64,
    /// Variance between starts.
    between: f64,
    /// Mean variance of one start's figure, from its own interval.
    within: f64,
    starts: usize,
}

impl Summary {
    /// Returns the variance of the mean. The difference between starts includes the uncertainty
    /// within them. The larger of both is used, because a few starts may agree by chance.
    fn variance_of_mean(&self) -> f64 {
        self.between.max(self.within) / self.starts as f64
    }

    fn freedom(&self) -> f64 {
        self.starts.saturating_sub(1).max(1) as f64
    }
}

/// Summarises logs, each with the variance of its error; `None` of none.
fn summary(logs: &[(f64, f64)]) -> Option<Summary> {
    let values: Vec<f64> = logs.iter().map(|log| log.0).collect();
    let variances: Vec<f64> = logs.iter().map(|log| log.1).collect();
    let centre = mean(&values);
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    (!logs.is_empty()).then(|| Summary {
        centre,
        between: squares / (logs.len() - 1).max(1) as f64,
        within: mean(&variances),
        starts: logs.len(),
    })
}

fn side(estimates: &[Estimate], basis: Basis) -> Option<Summary> {
    let figures: Vec<(f64, f64)> = estimates.iter().filter_map(|e| figure(e, basis)).collect();
    summary(&figures)
}

/// Returns the variance behind an interval over this many blocks.
///
/// Intervals have at least level 0.95, so it is too large rather than too small. Without limits it
/// is 0, and other starts tell it.
fn variance(interval: &Interval, blocks: usize) -> f64 {
    // Of few blocks the limits are the range seen, which holds the median less often.
    let z = normal_quantile(0.95_f64.min(f64::midpoint(1.0, at_least(blocks))));
    match interval.limits() {
        Some(_) if z > 0.0 => (interval.half_width() / z).powi(2),
        _ => 0.0,
    }
}

/// Returns the figure of a start, ns.
fn figure_ns(estimate: &Estimate, basis: Basis) -> f64 {
    match basis {
        Basis::CostToReference | Basis::Cost => estimate.cost_ns.value,
        _ => estimate.frames.test_ns,
    }
}

/// Returns ln of an estimate's figure, and its variance.
fn figure(estimate: &Estimate, basis: Basis) -> Option<(f64, f64)> {
    let reference = estimate.frames.reference_ns;
    let value = figure_ns(estimate, basis);
    let unit = match basis {
        Basis::CostToReference | Basis::FrameToReference => reference?,
        _ => 1.0,
    };
    let log = (value / unit).ln();
    let own = variance(&estimate.cost_ns, estimate.blocks) / value.powi(2);
    // A reference that was disturbed moves the ratio to it, however well the cost is known.
    let to_reference = match (basis, estimate.log_ratio_to_reference) {
        (Basis::CostToReference | Basis::FrameToReference, Some(log)) => {
            variance(&log, estimate.blocks)
        }
        _ => 0.0,
    };
    let variance = own.max(to_reference);
    (value > 0.0 && unit > 0.0 && log.is_finite() && variance.is_finite())
        .then_some((log, variance))
}

fn notes(a: &[Estimate], b: &[Estimate], basis: Basis) -> Vec<Finding> {
    let mut notes = Vec::new();
    let mut note = |text: &str| {
        notes.push(Finding {
            kind: FindingKind::Note,
            text: text.to_owned(),
        })
    };
    if matches!(basis, Basis::FrameToReference | Basis::Frame) {
        note(
            "the cost of a side is not distinguishable from its control; whole test frames are compared",
        );
    }
    if matches!(basis, Basis::Cost | Basis::Frame) {
        note(
            "a side has no reference slices; a change of the processor's speed between the runs is not taken out",
        );
    }
    let grave = [
        FindingKind::WrongPlacement,
        FindingKind::UnequalWork,
        FindingKind::UnexpectedSwitches,
    ];
    if a.iter()
        .chain(b)
        .flat_map(|e| &e.findings)
        .any(|f| grave.contains(&f.kind))
    {
        note(
            "a side has findings of wrong placement, unequal work or unexpected switches; read them first",
        );
    }
    notes
}

#[cfg(test)]
#[path = "comparison_tests.rs"]
mod tests;
