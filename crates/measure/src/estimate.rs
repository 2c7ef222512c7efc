//! Estimate of a cost: its intervals, its raw evidence, and all remarks for a reader.

use crate::findings::ONE_BLOCK;
use crate::{InstructionCount, PLACEMENT_FLOOR_NS};
use serde::{Deserialize, Deserializer, Serialize};

/// A value with the limits of its confidence interval. All three have the same unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The estimate itself.
    pub value: f64,
    /// Lower limit; −∞ (in JSON `null`) where none is known.
    #[serde(deserialize_with = "lower")]
    pub low: f64,
    /// Upper limit; ∞ (in JSON `null`) where none is known.
    #[serde(deserialize_with = "upper")]
    pub high: f64,
}

fn lower<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NEG_INFINITY))
}

fn upper<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::INFINITY))
}

impl Interval {
    /// Creates a value of unknown error.
    pub fn open(value: f64) -> Self {
        Interval {
            value,
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
        }
    }

    /// Returns both limits; `None` if one is not known.
    pub fn limits(&self) -> Option<(f64, f64)> {
        (self.low.is_finite() && self.high.is_finite()).then_some((self.low, self.high))
    }

    /// Returns the quotient of two costs that were not measured in turns.
    ///
    /// The limits come from the farthest ends of both, and are 0 and ∞ if a side has none. `None`
    /// if this cost is not above zero, or the other may be nothing.
    pub fn over(&self, other: &Interval) -> Option<Interval> {
        if self.value <= 0.0 || self.high <= 0.0 {
            return None;
        }
        let value = self.value / other.value;
        let (low, high) = match (self.limits(), other.limits()) {
            (Some((low, high)), Some((least, most))) => (low.max(0.0) / most, high / least),
            _ => (0.0, f64::INFINITY),
        };
        (other.low > 0.0 || (other.limits().is_none() && other.value > 0.0)).then_some(Interval {
            value,
            low,
            high,
        })
    }

    /// Returns half the distance of the limits.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Returns the half width as a fraction of the value; a very large number, not infinity, if the
    /// value is zero.
    pub fn relative_half_width(&self) -> f64 {
        (self.half_width() / self.value.abs().max(f64::MIN_POSITIVE)).min(1e9)
    }

    /// Checks that `value` lies within the limits.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Checks that some value lies within the limits of both.
    pub fn overlaps(&self, other: &Interval) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    /// Limits at least `by` away from the value.
    pub(crate) fn widened(self, by: f64) -> Self {
        Interval {
            value: self.value,
            low: self.low.min(self.value - by),
            high: self.high.max(self.value + by),
        }
    }
}

/// The cost of one operation, from all slices of a test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Median of paired differences (test − control), ns per operation, with its bootstrap
    /// interval.
    pub cost_ns: Interval,
    /// The same median with its sign-test interval, ns per operation.
    pub sign_cost_ns: Interval,
    /// Median of ln(test / control) with its sign-test interval.
    pub log_ratio: Interval,
    /// Median of ln(test frame / reference frame), each per iteration; `None` without reference
    /// slices.
    pub log_ratio_to_reference: Option<Interval>,
    /// The paper's figures, kept beside the median.
    pub paper: PaperFigures,
    /// Medians of the frames themselves, ns per iteration.
    pub frames: FrameTimes,
    /// Per-operation resource use of the test frame less the control frame.
    pub resources: Resources,
    /// Iterations of a slice (N of one slice).
    pub iterations: u64,
    /// Blocks that the estimate rests on.
    pub blocks: usize,
    /// Total iterations over all test slices: the N of equation 4.
    pub total_iterations: u64,
    /// Outlying slices of control and test: above the upper quartile by three quartile distances.
    /// They are kept.
    #[serde(default)]
    pub outliers: usize,
    /// Reason for the end of the measurement.
    pub stopped: Stopped,
    /// Half width of `cost_ns` as a fraction of its value.
    pub relative_half_width: f64,
    /// Everything that a reader must know of this figure.
    pub findings: Vec<Finding>,
}

impl Estimate {
    /// Removes the limits if there is one block only. Another block may give another cost. The
    /// clock's error, some ns in a commit of milliseconds, is no measure of that.
    pub fn open_if_one_block(&mut self) {
        if self.blocks > 1 {
            return;
        }
        let intervals = [
            &mut self.cost_ns,
            &mut self.sign_cost_ns,
            &mut self.log_ratio,
        ];
        for interval in intervals
            .into_iter()
            .chain(&mut self.log_ratio_to_reference)
        {
            *interval = Interval::open(interval.value);
        }
        self.relative_half_width = self.cost_ns.relative_half_width();
        // Stored runs may speak of limits.
        let reported = self.findings.iter_mut();
        for finding in reported.filter(|finding| finding.text.starts_with("one block only")) {
            finding.text = ONE_BLOCK.to_owned();
        }
    }

    /// Checks whether the cost is indistinguishable from its control. It must then not be published
    /// as a number.
    ///
    /// That is so if the interval contains zero, or lies within the effect of loop placement
    /// ([`PLACEMENT_FLOOR_NS`]). Without limits, it is so if the cost is no larger than its
    /// control.
    pub fn is_like_control(&self) -> bool {
        let kind = FindingKind::IndistinguishableFromControl;
        self.holds_nothing(&self.cost_ns)
            || self.findings.iter().any(|finding| finding.kind == kind)
    }

    /// Makes the same check for another time of this operation, by its limits alone.
    pub fn holds_nothing(&self, time: &Interval) -> bool {
        match time.limits() {
            Some((low, high)) => {
                time.contains(0.0) || low.abs().max(high.abs()) <= PLACEMENT_FLOOR_NS
            }
            None => time.value.abs() <= self.frames.control_ns.max(PLACEMENT_FLOOR_NS),
        }
    }

    /// Updates the findings after a change of the interval.
    ///
    /// The finding that the cost is indistinguishable from its control stands exactly if the
    /// interval contains zero. The finding of a dearer control goes if the interval no longer shows
    /// it.
    pub fn hold_against_zero(&mut self) {
        let kind = FindingKind::IndistinguishableFromControl;
        if self.cost_ns.high >= -PLACEMENT_FLOOR_NS {
            self.findings
                .retain(|finding| finding.kind != FindingKind::ControlDearer);
        }
        let reported = self.findings.iter().any(|finding| finding.kind == kind);
        if self.cost_ns.limits().is_none() || !self.cost_ns.contains(0.0) {
            self.findings.retain(|finding| finding.kind != kind);
        } else if !reported {
            let text = format!(
                "the interval of the cost, {:.3} to {:.3} ns, contains zero: not distinguishable from the control",
                self.cost_ns.low, self.cost_ns.high
            );
            self.findings.push(Finding { kind, text });
        }
    }

    /// Adds the instruction counts, if there are any, to the findings of an indistinguishable cost.
    /// The caller does so once, after all other findings.
    pub fn tell_instructions(&mut self) {
        let Some(count) = &self.resources.instructions else {
            return;
        };
        let differ = count.in_words();
        let opinion = match count.per_operation() {
            0.0 => format!(
                "and the instruction counts, which leave out the kernel's work, agree: {differ}"
            ),
            more if more > 0.0 => {
                format!("though it executes {differ} outside the kernel, which the processor hides")
            }
            _ => format!("and it executes {differ} outside the kernel"),
        };
        for finding in &mut self.findings {
            if matches!(
                finding.kind,
                FindingKind::IndistinguishableFromControl | FindingKind::WithinFloor
            ) {
                finding.text = format!("{}; {opinion}", finding.text);
            }
        }
    }
}

/// The figures by the method of 1986: minima taken separately, and the long-loop mean with and
/// without β.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PaperFigures {
    /// Minimum of the control frame, ns per iteration.
    pub minimum_control_ns: f64,
    /// Minimum of the test frame, ns per iteration.
    pub minimum_test_ns: f64,
    /// Difference of the two minima, ns per operation.
    pub minima_difference_ns: f64,
    /// Mean of the test slices less the mean of the control slices, ns per operation (equation 3).
    pub mean_raw_ns: f64,
    /// The mean times 1 − β (equation 20); `None` without a known β.
    pub mean_corrected_ns: Option<f64>,
    /// Accuracy by the clock alone: τ / N over all slices, ns (equation 4).
    pub clock_accuracy_ns: f64,
}

/// Medians of whole frames, ns per iteration.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrameTimes {
    /// The control frame.
    pub control_ns: f64,
    /// The test frame.
    pub test_ns: f64,
    /// The reference frame, if it ran.
    pub reference_ns: Option<f64>,
}

/// Resource use per operation: test less control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Resources {
    /// Voluntary context switches. A run-time system that hands over by yielding makes involuntary
    /// ones: see [`switches`](Self::switches).
    pub voluntary: f64,
    /// Involuntary context switches.
    pub involuntary: f64,
    /// Minor page faults.
    pub minor_faults: f64,
    /// Major page faults.
    pub major_faults: f64,
    /// Time ready but not running, ns; `None` where the system does not tell.
    pub wait_ns: Option<f64>,
    /// Instructions of both frames, where they were counted.
    #[serde(default, deserialize_with = "crate::instructions::stored")]
    pub instructions: Option<InstructionCount>,
}

impl Resources {
    /// Returns all context switches, voluntary or not, which a test declares to expect.
    pub fn switches(&self) -> f64 {
        self.voluntary + self.involuntary
    }
}

/// Reason for the end of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// The interval reached the wanted width.
    IntervalReached,
    /// The time budget was spent.
    BudgetSpent,
    /// The user interrupted; the measurements are kept.
    Interrupted,
}

/// A remark on a figure for its reader.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Kind of the finding; stable, for programs.
    pub kind: FindingKind,
    /// Text of one sentence with its numbers.
    pub text: String,
}

/// The kinds of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The interval of the cost contains zero.
    IndistinguishableFromControl,
    /// The cost is not zero, but no larger than the effect of loop placement on such figures.
    WithinFloor,
    /// The frame did not grow with N: its work was removed (an error).
    DeadCode,
    /// Equal work was claimed and the checksums differ (an error).
    UnequalWork,
    /// The cost drifted during the run.
    Drift,
    /// Many slices are outliers.
    Outliers,
    /// Slices had another number of context switches than declared.
    UnexpectedSwitches,
    /// A thread ran under another policy or on another processor than the result's identity says
    /// (an error).
    WrongPlacement,
    /// The distribution of slices has several modes.
    SeveralModes,
    /// A slice is shorter than 100 clock readings.
    ShortSlice,
    /// The interval of the cost lies below zero by more than the placement of loops explains.
    ControlDearer,
    /// There were too few blocks for an interval at the level of the others.
    FewBlocks,
    /// The two processors that it ran on were near to each other at one time and far at another.
    ProcessorsMoved,
    /// Anything else worth saying.
    Note,
}
