//! Two sides (runs, compilers, machines) compared, each by several process starts, and many tests judged together.
//!
//! Costs are taken relative to the reference operation of the same run, so that a change of the processor's speed between the
//! runs cancels.

use crate::statistics::{at_least, mean, normal_quantile};
use crate::{Estimate, Finding, FindingKind, Interval};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Standard deviation of the log of a figure between process starts where it cannot be seen because a side has one start
/// only: 1.4 % was measured over 30 starts of one 20 ns operation on a busy machine.
pub const ASSUMED_START_DEVIATION: f64 = 0.014;

/// The same for an operation that blocks, without FIFO scheduling: pairing alone left 8 to 18 %. Under FIFO, with which it left 0.1 to
/// 0.4 %, the figure between starts is that of other operations.
pub const ASSUMED_BLOCKING_DEVIATION: f64 = 0.18;
/// Context switches an operation from which on it counts as blocking.
const BLOCKS: f64 = 0.1;

/// How to judge.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonSettings {
    /// A change matters beyond this fraction, such as 0.05.
    pub threshold: f64,
    /// Confidence of the intervals, and one less the error that the verdicts may have, such as 0.95.
    pub confidence: f64,
    /// How many comparisons at once are allowed for.
    pub correction: Correction,
}

impl Default for ComparisonSettings {
    fn default() -> Self {
        ComparisonSettings {
            threshold: 0.05,
            confidence: 0.95,
            correction: Correction::Holm,
        }
    }
}

/// Correction for many comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Correction {
    /// Holm (1979): the chance of one wrong verdict among all is bounded. For gates.
    Holm,
    /// Benjamini and Hochberg (1995): the share of wrong ones among the verdicts is bounded. For surveys.
    BenjaminiHochberg,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The cost (test − control), in units of the reference operation.
    CostToReference,
    /// The cost in ns: a side has no reference.
    Cost,
    /// The whole test frame in units of the reference: the cost of a side is not distinguishable from its control.
    FrameToReference,
    /// The whole test frame in ns.
    Frame,
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// B is dearer than A by more than the threshold.
    Regression,
    /// B is cheaper than A by more than the threshold.
    Improvement,
    /// Neither is shown.
    Indistinguishable,
}

/// One test on two sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// What is compared.
    pub basis: Basis,
    /// ln(B / A).
    pub log_ratio: Interval,
    /// B / A.
    pub ratio: Interval,
    /// Process starts of A and of B.
    pub starts: (usize, usize),
    /// Standard deviation of the log between process starts: seen, or [`ASSUMED_START_DEVIATION`] or
    /// [`ASSUMED_BLOCKING_DEVIATION`].
    pub start_deviation: f64,
    /// Probability of so large a change if the true one were within the threshold.
    pub p: f64,
    /// The same, corrected for all comparisons made together.
    pub corrected_p: f64,
    /// The answer.
    pub verdict: Verdict,
    /// Whether the interval lies wholly within the threshold: shown to be equal as far as it matters.
    pub equivalent: bool,
    /// What a reader must know.
    pub findings: Vec<Finding>,
}

/// Compares one test, each side given by the estimates of its process starts; `fifo` if both ran under FIFO scheduling. `None` if a side has none, or no
/// positive time, or both have one start and one of these one block.
pub fn compare(
    a: &[Estimate],
    b: &[Estimate],
    fifo: bool,
    settings: &ComparisonSettings,
) -> Option<Comparison> {
    let basis = basis(a, b);
    let (left, right) = (side(a, basis)?, side(b, basis)?);
    let log_ratio = right.centre - left.centre;
    let mut findings = notes(a, b, basis);
    let (between, freedom) = match pooled(&left, &right) {
        Some((variance, freedom)) => (variance, freedom),
        // One block of one start: nothing tells how far it may be off.
        None if a.iter().chain(b).any(is_open) => return None,
        None => {
            let assumed = assumed_deviation(a, b, fifo);
            let text = format!(
                "each side has one process start only; {:.1} % is assumed for the deviation between starts",
                100.0 * assumed
            );
            findings.push(Finding {
                kind: FindingKind::Note,
                text,
            });
            (assumed.powi(2), 1e6)
        }
    };
    // Seen deviation between starts holds the deviation within them already; the larger of the two is used.
    let part = |s: &Summary| (between.max(s.within)) / s.starts as f64;
    let deviation = (part(&left) + part(&right)).sqrt().max(1e-12);
    let t = StudentsT::new(0.0, 1.0, freedom).ok()?;
    let half = deviation * t.inverse_cdf(0.5 + settings.confidence.clamp(0.5, 0.9999) / 2.0);
    let limit = settings.threshold.abs().ln_1p();
    // Beyond the threshold on the side where the estimate lies; two sides are open.
    let p = (2.0 * t.sf((log_ratio.abs() - limit) / deviation)).min(1.0);
    let log_ratio = Interval {
        value: log_ratio,
        low: log_ratio - half,
        high: log_ratio + half,
    };
    let exp = |v: f64| v.clamp(-700.0, 700.0).exp();
    let mut comparison = Comparison {
        basis,
        log_ratio,
        ratio: Interval {
            value: exp(log_ratio.value),
            low: exp(log_ratio.low),
            high: exp(log_ratio.high),
        },
        starts: (left.starts, right.starts),
        start_deviation: between.sqrt(),
        p,
        corrected_p: p,
        verdict: Verdict::Indistinguishable,
        equivalent: log_ratio.low > -limit && log_ratio.high < limit,
        findings,
    };
    judge(std::slice::from_mut(&mut comparison), settings);
    Some(comparison)
}

/// Whether an estimate has no limits.
fn is_open(estimate: &Estimate) -> bool {
    estimate.cost_ns.limits().is_none()
}

/// What is assumed where no deviation between starts is seen: more for operations that the scheduler has a part in.
fn assumed_deviation(a: &[Estimate], b: &[Estimate], fifo: bool) -> f64 {
    let blocks = |e: &Estimate| e.resources.switches().abs() >= BLOCKS;
    match !fifo && a.iter().chain(b).any(blocks) {
        true => ASSUMED_BLOCKING_DEVIATION,
        false => ASSUMED_START_DEVIATION,
    }
}

/// Corrects the comparisons for each other and sets their verdicts. Give it all comparisons that a decision rests on.
pub fn judge(comparisons: &mut [Comparison], settings: &ComparisonSettings) {
    let p: Vec<f64> = comparisons.iter().map(|c| c.p).collect();
    let corrected = correct(&p, settings.correction);
    for (comparison, corrected_p) in comparisons.iter_mut().zip(corrected) {
        comparison.corrected_p = corrected_p;
        comparison.verdict = if corrected_p >= 1.0 - settings.confidence {
            Verdict::Indistinguishable
        } else if comparison.log_ratio.value > 0.0 {
            Verdict::Regression
        } else {
            Verdict::Improvement
        };
    }
}

/// Corrected probabilities, in the order given.
pub fn correct(p: &[f64], correction: Correction) -> Vec<f64> {
    let n = p.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|i, j| p[*i].total_cmp(&p[*j]));
    let mut corrected = vec![1.0; n];
    match correction {
        Correction::Holm => {
            let mut largest = 0.0_f64;
            for (rank, i) in order.iter().enumerate() {
                largest = largest.max((p[*i] * (n - rank) as f64).min(1.0));
                corrected[*i] = largest;
            }
        }
        Correction::BenjaminiHochberg => {
            let mut smallest = 1.0_f64;
            for (rank, i) in order.iter().enumerate().rev() {
                smallest = smallest.min(p[*i] * n as f64 / (rank + 1) as f64);
                corrected[*i] = smallest;
            }
        }
    }
    corrected
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

/// The logs of one side.
struct Summary {
    centre: f64,
    /// Mean variance of one start's figure, from its own interval.
    within: f64,
    /// Sum of squared deviations between starts.
    squares: f64,
    starts: usize,
}

fn side(estimates: &[Estimate], basis: Basis) -> Option<Summary> {
    let figures: Vec<(f64, f64)> = estimates.iter().filter_map(|e| figure(e, basis)).collect();
    if figures.is_empty() {
        return None;
    }
    let logs: Vec<f64> = figures.iter().map(|f| f.0).collect();
    let centre = mean(&logs);
    Some(Summary {
        centre,
        within: mean(&figures.iter().map(|f| f.1).collect::<Vec<_>>()),
        squares: logs.iter().map(|l| (l - centre).powi(2)).sum(),
        starts: logs.len(),
    })
}

/// ln of an estimate's figure, and its variance. Intervals are at least of level 0.95, so the variance errs upwards. Without limits it is 0: then other
/// starts tell it, or there is no comparison.
fn figure(estimate: &Estimate, basis: Basis) -> Option<(f64, f64)> {
    // Of few blocks the limits are the range seen, which holds the median less often.
    let z = normal_quantile(0.95_f64.min(f64::midpoint(1.0, at_least(estimate.blocks))));
    let reference = estimate.frames.reference_ns;
    let (value, half_width) = match basis {
        Basis::CostToReference | Basis::Cost => {
            (estimate.cost_ns.value, estimate.cost_ns.half_width())
        }
        Basis::FrameToReference | Basis::Frame => {
            (estimate.frames.test_ns, estimate.cost_ns.half_width())
        }
    };
    let unit = match basis {
        Basis::CostToReference | Basis::FrameToReference => reference?,
        Basis::Cost | Basis::Frame => 1.0,
    };
    let log = (value / unit).ln();
    let variance = match is_open(estimate) || z <= 0.0 {
        true => 0.0,
        false => (half_width / value / z).powi(2),
    };
    // A reference that was disturbed moves the ratio to it, however well the cost is known.
    let to_reference = match (basis, estimate.log_ratio_to_reference) {
        (Basis::CostToReference | Basis::FrameToReference, Some(log)) if log.limits().is_some() => {
            (log.half_width() / z).powi(2)
        }
        _ => 0.0,
    };
    let variance = variance.max(to_reference);
    (value > 0.0 && unit > 0.0 && log.is_finite() && variance.is_finite())
        .then_some((log, variance))
}

/// Variance between starts, pooled over both sides, and its degrees of freedom; `None` where no side has two starts.
fn pooled(a: &Summary, b: &Summary) -> Option<(f64, f64)> {
    let freedom = (a.starts + b.starts).saturating_sub(2) as f64;
    (freedom > 0.0).then(|| ((a.squares + b.squares) / freedom, freedom))
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
