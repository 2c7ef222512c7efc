//! A subject of known truth: it answers batches and single slices by a formula, a seed, and a clock
//! of its own.

use crate::synthetic::Noise;
use crate::{
    Batch, BatchRequest, FrameError, FramePlan, PairPlan, PairStep, Role, Side, Slice, Step,
    ThreadReport, reference_checksum,
};

/// Properties of the subject and its machine.
#[derive(Clone, Debug)]
pub(crate) struct Truth {
    /// Times of one iteration of control, test and reference, ns.
    pub(crate) control_ns: f64,
    pub(crate) test_ns: f64,
    pub(crate) reference_ns: f64,
    /// Clock: resolution and cost of a reading, ns.
    pub(crate) resolution_ns: f64,
    pub(crate) reading_ns: f64,
    /// Relative noise of a slice.
    pub(crate) noise: f64,
    /// Slowing down of everything over one second.
    pub(crate) drift: f64,
    /// Period and duration of interruptions, ns.
    pub(crate) interruption: Option<(f64, f64)>,
    /// Time between turbo states, ns, and the factor of the slower one.
    pub(crate) turbo: Option<(f64, f64)>,
    /// Random delays of 50 µs in the mean, how many in a ms.
    pub(crate) hits: f64,
    /// Whether the frames' work was removed.
    pub(crate) dead: bool,
    /// Switches per operation.
    pub(crate) switches: f64,
    /// Whether they are made by yielding, which counts as involuntary.
    pub(crate) yields: bool,
    /// Preemptions by other load in each slice.
    pub(crate) preemptions: u64,
    /// Constant time of each slice of control and test beside its iterations, ns.
    pub(crate) constant_ns: f64,
    /// Iterations above which the test costs more by a factor.
    pub(crate) dearer_from: Option<(u64, f64)>,
    /// Number of first batches with waits, and wait of each of their slices of control and test for
    /// the processor, ns.
    pub(crate) waits: (u64, f64),
    /// Factor by which every other batch's test costs more.
    pub(crate) mood: f64,
    pub(crate) threads: Vec<ThreadReport>,
}

impl Default for Truth {
    fn default() -> Self {
        Truth {
            control_ns: 3.0,
            test_ns: 23.0,
            reference_ns: 18.0,
            resolution_ns: 1.0,
            reading_ns: 25.0,
            noise: 0.001,
            drift: 0.0,
            interruption: None,
            turbo: None,
            hits: 0.0,
            dead: false,
            switches: 0.0,
            yields: false,
            preemptions: 0,
            constant_ns: 0.0,
            dearer_from: None,
            waits: (0, 0.0),
            mood: 1.0,
            threads: Vec::new(),
        }
    }
}

/// The truth at work.
pub(crate) struct Subject {
    truth: Truth,
    noise: Noise,
    batches: u64,
    pub(crate) now_ns: f64,
}

impl Subject {
    pub(crate) fn new(truth: Truth, seed: u64) -> Self {
        Subject {
            truth,
            noise: Noise::new(seed),
            batches: 0,
            now_ns: 1e9,
        }
    }

    pub(crate) fn slice(&mut self, block: u32, role: Role, iterations: u64) -> Slice {
        let truth = &self.truth;
        let each = match role {
            Role::Control => truth.control_ns,
            Role::Test if self.batches % 2 == 1 => truth.test_ns * truth.mood,
            Role::Test => truth.test_ns,
            Role::Reference => truth.reference_ns,
        };
        let turns = if truth.dead && role == Role::Test {
            1.0
        } else {
            iterations as f64
        };
        let slow = match truth.turbo {
            Some((between, factor)) if (self.now_ns / between) as u64 % 2 == 1 => factor,
            _ => 1.0,
        };
        let drift = 1.0 + truth.drift * (self.now_ns - 1e9) / 1e9;
        let each = match truth.dearer_from {
            Some((n, factor)) if role == Role::Test && iterations > n => each * factor,
            _ => each,
        };
        let constant = if role == Role::Reference {
            0.0
        } else {
            truth.constant_ns
        };
        let waits = match truth.waits {
            (batches, wait_ns) if role != Role::Reference && self.batches <= batches => wait_ns,
            _ => 0.0,
        };
        let mut length = truth.reading_ns
            + constant
            + waits
            + turns * each * slow * drift * (1.0 + truth.noise * self.noise.normal());
        if self.noise.uniform() < truth.hits * length / 1e6 {
            length += 50_000.0 * self.noise.exponential();
        }
        if let Some((period, duration)) = truth.interruption {
            let before = (self.now_ns / period).floor();
            let after = ((self.now_ns + length) / period).floor();
            length += (after - before) * duration;
        }
        let length = length.max(truth.reading_ns);
        let tick = |t: f64| ((t / truth.resolution_ns).floor() * truth.resolution_ns) as u64;
        let (start, end) = (tick(self.now_ns), tick(self.now_ns + length));
        let switches = if role == Role::Test {
            truth.switches * iterations as f64
        } else {
            0.0
        } as u64;
        let yielded = if truth.yields { switches } else { 0 };
        self.now_ns += length + 300.0;
        Slice {
            start_ns: start,
            elapsed_ns: end - start,
            voluntary: switches - yielded,
            involuntary: yielded + self.truth.preemptions,
            checksum: if role == Role::Reference {
                reference_checksum(iterations)
            } else {
                iterations
            },
            ..crate::synthetic::slice(block, role, iterations, 0)
        }
    }

    pub(crate) fn batch(&mut self, request: &BatchRequest) -> Batch {
        let begin = self.now_ns;
        self.batches += 1;
        let mut slices = Vec::new();
        for block in 0..request.blocks {
            for role in [
                Role::Reference,
                Role::Control,
                Role::Test,
                Role::Test,
                Role::Control,
                Role::Reference,
            ] {
                let iterations = if role == Role::Reference {
                    request.reference_iterations
                } else {
                    request.iterations
                };
                if iterations > 0 {
                    slices.push(self.slice(block, role, iterations));
                }
            }
        }
        let warm = request.warmup as f64 * (self.truth.control_ns + self.truth.test_ns)
            + self.truth.test_ns;
        self.now_ns += 200_000.0 + if self.truth.dead { 0.0 } else { warm };
        Batch {
            slices,
            threads: self.truth.threads.clone(),
            wall_ns: (self.now_ns - begin) as u64,
        }
    }
}

/// Runs a plan to its end; returns its requests and their answers.
pub(crate) fn run(
    plan: &mut FramePlan,
    subject: &mut Subject,
) -> Result<Vec<(BatchRequest, Batch)>, FrameError> {
    let mut asked = Vec::new();
    while let Step::Run(request) = plan.next() {
        assert!(asked.len() < 10_000, "the plan does not end");
        let batch = subject.batch(&request);
        plan.take(&request, &batch)?;
        asked.push((request, batch));
    }
    Ok(asked)
}

/// Runs a pair to its end on one machine; gives the number of slices.
pub(crate) fn run_pair(
    plan: &mut PairPlan,
    a: &mut Subject,
    b: &mut Subject,
) -> Result<usize, FrameError> {
    let mut count = 0;
    while let PairStep::Slice {
        side,
        iterations,
        warmup,
    } = plan.next()
    {
        assert!(count < 1_000_000, "the plan does not end");
        let (own, other) = match side {
            Side::A => (&mut *a, &mut *b),
            Side::B => (&mut *b, &mut *a),
        };
        own.slice(0, Role::Test, warmup);
        let slice = own.slice(0, Role::Test, iterations);
        own.now_ns += 30_000.0;
        other.now_ns = own.now_ns;
        plan.take(side, &slice)?;
        count += 1;
    }
    Ok(count)
}
